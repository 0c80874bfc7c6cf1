//! Two sets of runs of a test: how much slower one is, how sure that is, and where the difference went.
//!
//! ```text
//!  arguments ──► sets ──► runs (an account each) ──► cases ──► comparable? ──► figures ──► rows of the difference ──► verdict
//! ```
//!
//! [`sets`] reads which runs belong together; [`grouping`] divides one list of runs by a property. [`run`] asks each archive for the
//! account of its window ([`crate::path`]), so that the duration of a run is the sum of its rows; `site`, `modules` and `plan` give
//! what is in it names that are the same in the next build, and [`kept`] keeps it for the next comparison, [`baseline`] for one without the recordings. [`case`] compares the runs of a test case: [`comparable`] says what
//! speaks against a comparison before any number is shown, [`units`] tells what repeats, [`figures`] compares the duration, with and
//! without disturbances, and [`difference`] has the difference of the means as rows that add up to it in whole nanoseconds. Of these,
//! `speed` finds what a common factor of all code explains, [`family`] tells which are no chance, and `select` picks those that
//! explain it, and [`graph`] has the rows of all levels as a tree. [`metrics`] and [`changes`] say what else differs, and [`gates`]
//! whether it stays within limits. [`stacks`] reads the CPU time of all runs by stack, for reports. Numbers come from the crate `tracesift-statistics`.
//! `calls` tells which metrics a recording of Linux would have only a part of.

mod account;
pub(crate) mod apart;
pub mod baseline;
mod calls;
pub mod case;
pub mod changes;
pub mod comparable;
pub mod difference;
pub mod family;
pub mod figures;
pub mod gate;
pub mod gates;
pub mod graph;
pub mod grouping;
pub mod kept;
pub mod metrics;
pub(crate) mod modules;
mod plan;
pub mod run;
mod select;
pub mod sets;
mod site;
mod speed;
pub mod stacks;
pub(crate) mod times;
mod tree;
pub mod units;
pub mod verdict;

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use tracesift_extract::input::test_name;
use tracesift_grammar::Status;
use tracesift_statistics::holm;
pub use tracesift_statistics::outliers::outliers;
pub use tracesift_statistics::{Confidence, Problem, Side, Verdict};

pub use self::case::{Case, CaseResult};
pub use self::run::Measure;
pub use self::units::RunOrder;

use self::grouping::Grouping;
use self::kept::KeptAccounts;
use self::plan::Plans;
use self::run::Run;
use crate::answer::Failure;
use crate::path::AccountQuery;
pub use crate::path::rows::Detail;
use crate::recording::{Source, is_cancelled};

/// A set of runs.
#[derive(Clone, Debug, Default)]
pub struct Set {
    /// What it is called.
    pub label: String,
    /// Its archives.
    pub sources: Vec<Source>,
    /// Its runs that were measured before ([`baseline`]).
    pub measured: Vec<Run>,
}

/// How runs are compared.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is compared as their duration.
    pub measure: Measure,
    /// Confidence of intervals and verdicts.
    pub confidence: Confidence,
    /// The smallest change that matters, as a ratio: 0.01 is 1 %.
    pub least: f64,
    /// Rows that explain the difference.
    pub top: usize,
    /// The level of these rows; `None`: as coarse as one cause explains each.
    pub level: Option<Detail>,
    /// The seed of random labellings; `None`: made of the ids of the runs.
    pub seed: Option<u64>,
    /// Whether runs are compared that differ in ways which stop a comparison.
    pub force: bool,
    /// Whether the duration chose the sets, so that it cannot be tested.
    pub is_chosen: bool,
    /// Accounts of earlier comparisons; `None`: each is made anew.
    pub kept: Option<Arc<KeptAccounts>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            measure: Measure::Window,
            confidence: Confidence::default(),
            least: 0.01,
            top: 10,
            level: None,
            seed: None,
            force: false,
            is_chosen: false,
            kept: None,
        }
    }
}

/// A comparison of sets, case by case.
#[derive(Debug, Default)]
pub struct Compared {
    /// The cases that two sets have, by the label of the second set, then by name.
    pub cases: Vec<Case>,
    /// Cases that one set of two has alone: name, and label of that set.
    pub unpaired: Vec<(String, String)>,
    /// Names of the recordings of tests that failed: they are left out.
    pub failed: Vec<String>,
    /// Runs that belong to neither set.
    pub neither: usize,
    /// Where a property divides runs and no case has two sets: the values that the runs have.
    pub found: Option<String>,
    /// The runs of the last set, of all cases.
    pub last: Vec<Run>,
    /// Archives that have no account, with the reason.
    pub failures: Vec<Failure>,
}

impl Compared {
    /// By case: the p of its undisturbed time, corrected for the number of cases (Holm). `None` where it was not tested.
    #[must_use]
    pub fn corrected(&self) -> Vec<Option<f64>> {
        let p = |case: &Case| case.result.as_ref().and_then(|result| result.undisturbed.p());
        let tested: Vec<f64> = self.cases.iter().filter_map(p).collect();
        let mut corrected = holm(&tested).into_iter();
        self.cases.iter().map(|case| p(case).and_then(|_| corrected.next())).collect()
    }

    /// The geometric mean of the ratios of all cases with a result: of the durations, and without disturbances.
    #[must_use]
    pub fn mean_ratios(&self) -> Option<[f64; 2]> {
        let results: Vec<&CaseResult> = self.cases.iter().filter_map(|case| case.result.as_ref()).collect();
        let mean = |ratio: fn(&CaseResult) -> f64| {
            (results.iter().map(|result| ratio(result).ln()).sum::<f64>() / results.len() as f64).exp()
        };
        (!results.is_empty())
            .then(|| [mean(|result| 1.0 + result.duration.change()), mean(|result| 1.0 + result.undisturbed.change())])
    }
}

/// Compares each set but the first with the first one. If the watch of a source is cancelled meanwhile, there is no case, and
/// [`Failure::cancelled`] is the only failure.
///
/// # Errors
/// The numbers cannot be compared: see [`Problem`].
pub fn compare(sets: &[Set], accounts: &AccountQuery, settings: &Settings) -> Result<Compared, Problem> {
    let mut compared = Compared::default();
    let mut measured: Vec<BTreeMap<String, Vec<Run>>> = Vec::new();
    for set in sets {
        let mut runs = measure(&set.sources, accounts, settings, &mut compared);
        runs.extend(set.measured.iter().cloned());
        let mut cases: BTreeMap<String, Vec<Run>> = BTreeMap::new();
        runs.into_iter().for_each(|run| cases.entry(run.case.clone()).or_default().push(run));
        measured.push(cases);
    }
    let Some((first, others)) = measured.split_first() else { return Ok(compared) };
    let is_cancelled = || sets.iter().any(|set| is_cancelled(&set.sources));
    for (set, of_set) in sets.iter().skip(1).zip(others) {
        let labels = [sets[0].label.clone(), set.label.clone()];
        for (name, a) in first {
            if is_cancelled() {
                break;
            }
            match of_set.get(name) {
                Some(b) => {
                    compared.cases.push(Case::of(name.clone(), [a.clone(), b.clone()], labels.clone(), settings)?)
                }
                None => compared.unpaired.push((name.clone(), labels[0].clone())),
            }
        }
        let alone = of_set.keys().filter(|name| !first.contains_key(*name));
        compared.unpaired.extend(alone.map(|name| (name.clone(), labels[1].clone())));
    }
    compared.last = measured.pop().into_iter().flatten().flat_map(|(_, runs)| runs).collect();
    Ok(compared.finish(is_cancelled()))
}

/// Compares the two sets into which a property divides runs. It is cancelled as [`compare`] is.
///
/// # Errors
/// The numbers cannot be compared: see [`Problem`].
pub fn compare_by(
    sources: &[Source],
    grouping: &Grouping,
    accounts: &AccountQuery,
    settings: &Settings,
) -> Result<Compared, Problem> {
    let settings = Settings { is_chosen: grouping.is_by_duration(), ..settings.clone() };
    let mut compared = Compared::default();
    let mut cases: BTreeMap<String, Vec<Run>> = BTreeMap::new();
    for run in measure(sources, accounts, &settings, &mut compared) {
        cases.entry(grouping.case(&run)).or_default().push(run);
    }
    let labels = grouping.labels();
    let found = grouping.found(cases.values().flatten());
    for (name, runs) in cases {
        if is_cancelled(sources) {
            break;
        }
        let (sets, neither) = grouping.divide(runs);
        compared.neither += neither;
        match [0, 1].map(|place: usize| sets[place].is_empty()) {
            [false, false] => compared.cases.push(Case::of(name, sets, labels.clone(), &settings)?),
            [true, true] => {}
            [is_first_empty, _] => compared.unpaired.push((name, labels[usize::from(is_first_empty)].clone())),
        }
    }
    compared.found = found.filter(|_| compared.cases.is_empty());
    Ok(compared.finish(is_cancelled(sources)))
}

impl Compared {
    /// Everything in its order; half a comparison is none.
    fn finish(mut self, is_cancelled: bool) -> Self {
        if is_cancelled {
            return Self { failures: vec![Failure::cancelled()], ..Self::default() };
        }
        self.failures.sort_by(|a, b| a.path.cmp(&b.path));
        self.failed.sort();
        self.unpaired.sort();
        self.unpaired.dedup();
        self
    }
}

/// The runs of archives, without those of tests that failed.
pub(crate) fn measure(
    sources: &[Source],
    accounts: &AccountQuery,
    settings: &Settings,
    compared: &mut Compared,
) -> Vec<Run> {
    let plans = Plans::beside(sources.iter().map(|source| source.archive.as_path()));
    let (failed, passed): (Vec<&Source>, Vec<&Source>) = sources.iter().partition(|source| has_failed(source, &plans));
    let name = |source: &&Source| source.shown.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    compared.failed.extend(failed.iter().map(name));
    let measured: Vec<Result<Run, Failure>> = passed
        .into_par_iter()
        .map(|source| {
            let run = Run::measure_planned(source, accounts, settings.measure, settings.kept.as_deref(), &plans);
            source.watch.archive_is_through();
            run
        })
        .collect();
    let mut runs = Vec::new();
    for run in measured {
        match run {
            Ok(run) => runs.push(run),
            Err(failure) => compared.failures.push(failure),
        }
    }
    runs
}

/// Whether the test of a recording failed, by its name or by the plan that it was a run of.
fn has_failed(source: &Source, plans: &Plans) -> bool {
    let name = source.shown.file_stem().unwrap_or_default().to_string_lossy();
    let by_name = test_name(&name).is_some_and(|test| test.status == Some(Status::Failed));
    by_name || plans.run_of(&source.archive).is_some_and(|run| run.has_failed)
}
