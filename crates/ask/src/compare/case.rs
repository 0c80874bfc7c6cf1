//! The comparison of one test case.

use tracesift_statistics::{Problem, Side};

use super::changes::Changes;
use super::comparable::{Comparability, Reason, Severity};
use super::difference::Difference;
use super::figures::ComparedFigure;
use super::gates::GateOutcome;
use super::metrics::Metrics;
use super::run::Run;
use super::times::of_one_clock;
use super::units::{RunOrder, Units};
use super::{Settings, apart, verdict};
use crate::path::rows::too_little_is_known;

/// The comparison of one test case.
#[derive(Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The labels of the two sets.
    pub labels: [String; 2],
    /// The runs of the first set, then those of the second, each by time.
    pub runs: Vec<Run>,
    /// Number of runs of the first set.
    pub split: usize,
    /// Whether they can be compared.
    pub comparable: Comparability,
    /// The order in which they were recorded.
    pub order: RunOrder,
    /// Whether the duration chose the sets, so that it cannot be tested.
    pub is_chosen: bool,
    /// The figures and the rows; `None` where the runs cannot be compared.
    pub result: Option<CaseResult>,
    /// What differs between the sets beside their time.
    pub changes: Changes,
    /// What its gates say, in the order in which they were given.
    pub gates: Vec<GateOutcome>,
}

/// What a comparison says.
#[derive(Debug)]
pub struct CaseResult {
    /// The duration of the window, or what the test measured.
    pub duration: ComparedFigure,
    /// The duration without disturbances.
    pub undisturbed: ComparedFigure,
    /// The difference of the mean durations, in rows.
    pub difference: Difference,
    /// Figures beside the time, tested together with the rows.
    pub metrics: Metrics,
    /// One sentence.
    pub sentence: String,
}

impl Case {
    /// Compares the runs of two sets.
    ///
    /// # Errors
    /// The numbers cannot be compared: see [`Problem`].
    pub fn of(name: String, sets: [Vec<Run>; 2], labels: [String; 2], settings: &Settings) -> Result<Self, Problem> {
        let split = sets[0].len();
        let mut runs: Vec<Run> = sets.into_iter().flatten().collect();
        of_one_clock(&mut runs);
        let (a, b) = runs.split_at_mut(split);
        [a, b].into_iter().for_each(|set| set.sort_by(|x, y| x.order().cmp(&y.order())));
        let units = Units::of(&runs, split, settings)?;
        let mut comparable = Comparability::of(&runs, split);
        if units.is_one_after_other && runs.len() > 2 && !settings.is_chosen {
            comparable.add(Reason::note(
                "order",
                "the sets were recorded one after the other: what changed with time counts as their difference",
            ));
        }
        if units.order == RunOrder::Unknown && runs.len() > 2 {
            comparable.add(Reason::note(
                "order",
                "nothing tells when some of the runs were recorded: the sets may have been recorded one after the other",
            ));
        }
        if units.has_machines {
            comparable.add(Reason::note("machines", "runs are compared within machines"));
        }
        if settings.is_chosen {
            comparable.add(Reason::note("sets", "the duration chose the sets, so that it has no p"));
        }
        let stops = comparable.worst() == Some(Severity::Stops) && !settings.force;
        let result = if stops { None } else { Some(result(&runs, split, &units, &labels, settings)?) };
        if let Some(result) = &result {
            let notes = apart::notes(&runs, split, &labels, &result.duration, &result.undisturbed);
            notes.into_iter().for_each(|note| comparable.add(note));
        }
        let changes = Changes::of(&runs, split);
        let (order, is_chosen) = (units.order, settings.is_chosen);
        Ok(Self { name, labels, runs, split, comparable, order, is_chosen, result, changes, gates: Vec::new() })
    }

    /// The runs of a set.
    #[must_use]
    pub fn set(&self, side: Side) -> &[Run] {
        let (a, b) = self.runs.split_at(self.split.min(self.runs.len()));
        if side == Side::A { a } else { b }
    }
}

fn result(
    runs: &[Run],
    split: usize,
    units: &Units,
    labels: &[String; 2],
    settings: &Settings,
) -> Result<CaseResult, Problem> {
    let figure = |name, value: fn(&Run) -> i64| {
        let values: Vec<i64> = runs.iter().map(value).collect();
        ComparedFigure::of(name, units, &values, split, settings)
    };
    let mut duration = figure("duration", Run::duration)?;
    let mut undisturbed = figure("undisturbed", Run::undisturbed)?;
    // Of a range of time somebody else chose the length; and what is left of a window that is hardly known is no time of the test.
    if has_equal_lengths(runs) {
        duration.leave_undecided();
    }
    if is_hardly_known(runs) {
        undisturbed.leave_undecided();
    }
    let mut metrics = Metrics::of(runs, split);
    let difference = Difference::of(runs, split, units, settings, &mut metrics.compared)?;
    let sentence = verdict::sentence(&duration, &undisturbed, &difference, labels);
    Ok(CaseResult { duration, undisturbed, difference, metrics, sentence })
}

/// Whether several windows are as long to the nanosecond.
pub(super) fn has_equal_lengths(runs: &[Run]) -> bool {
    runs.len() > 1 && runs.iter().all(|run| run.duration() == runs[0].duration())
}

/// Whether too much of the windows of all runs together is unknown.
pub(crate) fn is_hardly_known(runs: &[Run]) -> bool {
    let sum = |value: fn(&Run) -> i64| runs.iter().map(value).fold(0, i64::saturating_add);
    too_little_is_known(sum(Run::unknown), sum(Run::window))
}
