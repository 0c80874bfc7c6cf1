//! The runs of a test in the order of time: where it became slower or faster, and what changed there.
//!
//! ```text
//!  archives ──► runs (an account each) ──► cases ──► order ──► series ──► change points ──► places ──► what changed there
//! ```
//!
//! [`crate::compare`] makes the runs: accounts of their windows under names that are the same in the next build, kept for the next
//! time. [`order`] brings them in order. [`series`] takes duration, undisturbed time, CPU time and the larger rows of the accounts,
//! and asks `tracesift-statistics` where they change. Of one change several series tell: [`place`] joins what they say, and
//! [`events`] looks for the builds and facts that changed there. [`case`] compares the runs before with those after.

pub mod case;
pub mod events;
pub mod order;
pub mod place;
pub mod series;

use std::collections::BTreeMap;

pub use self::case::{CaseHistory, Latest, Outlier, Segment, Turn};
pub use self::events::Event;
pub use self::order::RunsOrder;
pub use self::series::Series;

use crate::answer::Failure;
use crate::compare::run::Run;
use crate::compare::{Compared, Problem, Settings, measure};
use crate::path::AccountQuery;
use crate::recording::{Source, is_cancelled};

/// The histories of the cases of some archives.
#[derive(Debug, Default)]
pub struct History {
    /// By name.
    pub cases: Vec<CaseHistory>,
    /// Names of the recordings of tests that failed: they are left out.
    pub failed: Vec<String>,
    /// Names of the recordings that have no place in the order, because nothing tells their time or the version: they are left out.
    pub without_place: Vec<String>,
    /// Archives that have no account, with the reason.
    pub failures: Vec<Failure>,
}

/// The histories of the cases of these archives. Of the settings, those of the figures and of the rows count. If the watch of a source
/// is cancelled meanwhile, there is no case, and [`Failure::cancelled`] is the only failure.
///
/// # Errors
/// The numbers cannot be compared: see [`Problem`].
pub fn history(
    sources: &[Source],
    order: &RunsOrder,
    accounts: &AccountQuery,
    settings: &Settings,
) -> Result<History, Problem> {
    let mut left_out = Compared::default();
    let runs = measure(sources, accounts, settings, &mut left_out);
    let (runs, without_place) = order.sorted(runs);
    let mut found = History {
        failed: left_out.failed,
        without_place: without_place.into_iter().map(|run| run.name).collect(),
        failures: left_out.failures,
        ..History::default()
    };
    let mut cases: BTreeMap<String, Vec<Run>> = BTreeMap::new();
    runs.into_iter().for_each(|run| cases.entry(run.case.clone()).or_default().push(run));
    for (name, runs) in cases {
        if is_cancelled(sources) {
            break;
        }
        found.cases.push(CaseHistory::of(name, runs, settings)?);
    }
    if is_cancelled(sources) {
        return Ok(History { failures: vec![Failure::cancelled()], ..History::default() });
    }
    found.failures.sort_by(|a, b| a.path.cmp(&b.path));
    found.failed.sort();
    found.without_place.sort();
    Ok(found)
}
