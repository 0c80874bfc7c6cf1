//! Two sets of runs of a test: how much slower one is, how sure that is, and where the difference went.
//!
//! ```text
//!  arguments ──► sets ──► runs (an account each) ──► cases ──► comparable? ──► figures ──► rows of the difference ──► verdict
//! ```
//!
//! [`sets`] reads which runs belong together. [`run`] asks each archive for the account of its window ([`crate::path`]), so that
//! the duration of a run is the sum of its rows. [`comparable`] says what speaks against a comparison before any number is
//! shown. [`figures`] compares the duration, with and without disturbances. [`difference`] has the difference of the means as rows
//! that add up to it in whole nanoseconds, [`family`] tells which of them are no chance, and [`select`] picks those that explain
//! it. Numbers come from the crate `tracesift-statistics`.

pub mod comparable;
pub mod difference;
pub mod family;
pub mod figures;
pub mod run;
pub mod select;
pub mod sets;
pub mod verdict;

use std::collections::BTreeMap;

use rayon::prelude::*;
use tracesift_statistics::order::interleaved_blocks;
pub use tracesift_statistics::{Confidence, Problem, Side, Verdict};

use tracesift_statistics::{Design, Labellings, seed_of};

use self::comparable::{Comparability, Reason, Severity};
use self::difference::Difference;
use self::figures::ComparedFigure;
use self::run::Run;
use crate::answer::Failure;
use crate::path::AccountQuery;
use crate::recording::Source;

/// With fewer turns of both sets, one counts as recorded after the other.
const FEWEST_TURNS: usize = 3;

/// A set of runs.
#[derive(Clone, Debug)]
pub struct Set {
    /// What it is called.
    pub label: String,
    /// Its archives.
    pub sources: Vec<Source>,
}

/// How runs are compared.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Confidence of intervals and verdicts.
    pub confidence: Confidence,
    /// The smallest change that matters, as a ratio: 0.01 is 1 %.
    pub least: f64,
    /// Rows that explain the difference.
    pub top: usize,
    /// The seed of random labellings; `None`: made of the ids of the runs.
    pub seed: Option<u64>,
    /// Whether runs are compared that differ in ways which stop a comparison.
    pub force: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { confidence: Confidence::default(), least: 0.01, top: 10, seed: None, force: false }
    }
}

/// A comparison of two sets, case by case.
#[derive(Debug)]
pub struct Compared {
    /// The labels of the two sets.
    pub labels: [String; 2],
    /// The cases that both sets have, by name.
    pub cases: Vec<Case>,
    /// Cases that one set has alone, with its place.
    pub unpaired: Vec<(String, usize)>,
    /// Archives that have no account, with the reason.
    pub failures: Vec<Failure>,
}

/// The comparison of one test case.
#[derive(Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The runs of the first set, then those of the second, each by time.
    pub runs: Vec<Run>,
    /// Number of runs of the first set.
    pub split: usize,
    /// Whether they can be compared.
    pub comparable: Comparability,
    /// The order in which they were recorded.
    pub order: RunOrder,
    /// The figures and the rows; `None` where the runs cannot be compared.
    pub result: Option<CaseResult>,
}

/// The order in which the runs of two sets were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOrder {
    /// Both sets alternate.
    Interleaved,
    /// In turn, but too seldom for blocks of both sets.
    Mixed,
    /// One set after the other.
    OneAfterOther,
}

impl RunOrder {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Interleaved => "interleaved",
            Self::Mixed => "mixed",
            Self::OneAfterOther => "one-after-other",
        }
    }
}

/// What a comparison says.
#[derive(Debug)]
pub struct CaseResult {
    /// The duration of the window.
    pub duration: ComparedFigure,
    /// The duration without disturbances.
    pub undisturbed: ComparedFigure,
    /// The difference of the mean durations, in rows.
    pub difference: Difference,
    /// One sentence.
    pub sentence: String,
}

impl Case {
    /// The runs of a set.
    #[must_use]
    pub fn set(&self, side: Side) -> &[Run] {
        let (a, b) = self.runs.split_at(self.split.min(self.runs.len()));
        if side == Side::A { a } else { b }
    }
}

/// Compares two sets.
///
/// # Errors
/// The numbers cannot be compared: see [`Problem`].
pub fn compare(sets: &[Set; 2], accounts: &AccountQuery, settings: &Settings) -> Result<Compared, Problem> {
    let mut failures = Vec::new();
    let mut cases: BTreeMap<String, [Vec<Run>; 2]> = BTreeMap::new();
    for (place, set) in sets.iter().enumerate() {
        let runs: Vec<Result<Run, Failure>> =
            set.sources.par_iter().map(|source| Run::measure(source, accounts)).collect();
        for run in runs {
            match run {
                Ok(run) => cases.entry(run.case.clone()).or_default()[place].push(run),
                Err(failure) => failures.push(failure),
            }
        }
    }
    failures.sort_by(|a, b| a.path.cmp(&b.path));
    let mut compared = Compared {
        labels: [0, 1].map(|place: usize| sets[place].label.clone()),
        cases: Vec::new(),
        unpaired: Vec::new(),
        failures,
    };
    for (name, [a, b]) in cases {
        match (a.is_empty(), b.is_empty()) {
            (false, false) => compared.cases.push(of_case(name, [a, b], &compared.labels, settings)?),
            (is_second, _) => compared.unpaired.push((name, usize::from(is_second))),
        }
    }
    Ok(compared)
}

fn of_case(name: String, sets: [Vec<Run>; 2], labels: &[String; 2], settings: &Settings) -> Result<Case, Problem> {
    let [mut a, mut b] = sets;
    a.sort_by(|x, y| x.order().cmp(&y.order()));
    b.sort_by(|x, y| x.order().cmp(&y.order()));
    let split = a.len();
    let runs: Vec<Run> = a.into_iter().chain(b).collect();
    let sides: Vec<Side> = (0..runs.len()).map(|place| if place < split { Side::A } else { Side::B }).collect();
    let (order, blocks) = order_of(&runs, &sides);
    let mut comparable = Comparability::of(&runs, split);
    if order == RunOrder::OneAfterOther && runs.len() > 2 {
        comparable.add(Reason::note(
            "order",
            "the sets were recorded one after the other: what changed with time counts as their difference",
        ));
    }
    let stops = comparable.worst() == Some(Severity::Stops) && !settings.force;
    let result = if stops { None } else { Some(result(&runs, split, (&sides, blocks), labels, settings)?) };
    Ok(Case { name, runs, split, comparable, order, result })
}

/// The order of the runs, and the number of the block of each, in the order of `runs`, where both sets alternate.
fn order_of(runs: &[Run], sides: &[Side]) -> (RunOrder, Option<Vec<usize>>) {
    let mut by_time: Vec<usize> = (0..runs.len()).collect();
    by_time.sort_by_key(|place| runs[*place].order());
    let in_order: Vec<Side> = by_time.iter().map(|place| sides[*place]).collect();
    if let Some(blocks) = interleaved_blocks(&in_order) {
        let mut of_run = vec![0; runs.len()];
        by_time.iter().zip(blocks).for_each(|(place, block)| of_run[*place] = block);
        return (RunOrder::Interleaved, Some(of_run));
    }
    let is_mixed = turns(&in_order) >= FEWEST_TURNS;
    (if is_mixed { RunOrder::Mixed } else { RunOrder::OneAfterOther }, None)
}

/// How often both sets have had their turn.
fn turns(sides: &[Side]) -> usize {
    let changes = sides.windows(2).filter(|pair| pair[0] != pair[1]).count();
    changes.div_ceil(2)
}

fn result(
    runs: &[Run],
    split: usize,
    (sides, blocks): (&[Side], Option<Vec<usize>>),
    labels: &[String; 2],
    settings: &Settings,
) -> Result<CaseResult, Problem> {
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let design = Design::new(&ids, sides)?;
    let design = if let Some(blocks) = blocks { design.with_blocks(&blocks)? } else { design };
    let labellings = Labellings::new(design, settings.seed.unwrap_or_else(|| seed_of(&ids)));
    let figure = |name, value: fn(&Run) -> i64| {
        let values: Vec<i64> = runs.iter().map(value).collect();
        ComparedFigure::of(name, &labellings, &values, split, settings)
    };
    let duration = figure("duration", Run::duration)?;
    let undisturbed = figure("undisturbed", Run::undisturbed)?;
    let difference = Difference::of(runs, split, &labellings, settings)?;
    let sentence = verdict::sentence(&duration, &undisturbed, &difference, labels);
    Ok(CaseResult { duration, undisturbed, difference, sentence })
}
