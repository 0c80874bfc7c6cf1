//! What gates say about each case: passed, failed, or undecided with the reason.

use tracesift_statistics::gate::{Decision, GateTest};
use tracesift_statistics::welch::mean;
use tracesift_statistics::{Figure, Method, holm};

use super::case::{Case, has_equal_lengths, is_hardly_known};
use super::comparable::Severity;
use super::gate::{Gate, GateFigure, GateUnit};
use super::units::Units;
use super::{Compared, Settings};
use crate::UsageError;
use crate::asked::Amount;

/// Facts that are named.
const MOST_NAMED: usize = 3;

/// Whether a gate was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateState {
    /// The change is within the limit, and that is no chance.
    Passed,
    /// The change is beyond the limit, and that is no chance.
    Failed,
    /// Neither is known.
    Undecided,
}

impl GateState {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
        }
    }
}

/// What a gate says about a case.
#[derive(Clone, Debug)]
pub struct GateOutcome {
    /// The gate.
    pub text: String,
    /// Whether it was kept.
    pub state: GateState,
    /// Why, without a full stop.
    pub reason: String,
    /// Runs per set that would decide.
    pub runs_needed: Option<u32>,
    /// The change: a ratio − 1, or a difference, as the limit. `None`: it is not known, or the first set has none of it.
    pub change: Option<f64>,
    /// The unit of the change.
    pub unit: GateUnit,
    /// The p of the hypothesis that the change is within the limit; `None` without a test.
    pub p: Option<f64>,
    /// The same, corrected for the number of cases (Holm).
    pub p_corrected: Option<f64>,
}

impl Compared {
    /// Decides gates for all cases. The p of a gate is corrected for the number of cases in which it is tested.
    ///
    /// # Errors
    /// The unit of a limit is not that of its metric.
    pub fn decide(&mut self, gates: &[Gate], settings: &Settings) -> Result<(), UsageError> {
        let units: Vec<Option<Units>> = self
            .cases
            .iter()
            .map(|case| Units::of(&case.runs, case.split, settings).ok().filter(|_| case.result.is_some()))
            .collect();
        for gate in gates {
            self.cases.iter().try_for_each(|case| check_unit(gate, case))?;
            let tested: Vec<Result<Tested<'_>, String>> = self
                .cases
                .iter()
                .zip(&units)
                .map(|(case, units)| Tested::of(gate, case, units.as_ref(), settings))
                .collect();
            let p: Vec<f64> = tested.iter().flatten().filter_map(Tested::p).collect();
            let mut corrected = holm(&p).into_iter();
            let outcomes: Vec<GateOutcome> = tested
                .iter()
                .map(|tested| match tested {
                    Ok(tested) => {
                        let corrected = tested.p().and_then(|_| corrected.next());
                        tested.outcome(gate, corrected, p.len(), settings)
                    }
                    Err(why) => undecided(gate, why.clone()),
                })
                .collect();
            self.cases.iter_mut().zip(outcomes).for_each(|(case, outcome)| case.gates.push(outcome));
        }
        Ok(())
    }

    /// The number of gates of all cases in a state.
    #[must_use]
    pub fn gates_in(&self, state: GateState) -> usize {
        self.cases.iter().flat_map(|case| &case.gates).filter(|gate| gate.state == state).count()
    }
}

fn undecided(gate: &Gate, reason: String) -> GateOutcome {
    GateOutcome {
        text: gate.to_string(),
        state: GateState::Undecided,
        reason,
        runs_needed: None,
        change: None,
        unit: gate.unit,
        p: None,
        p_corrected: None,
    }
}

/// A limit in bytes of a number of faults would be a wrong number.
fn check_unit(gate: &Gate, case: &Case) -> Result<(), UsageError> {
    let GateFigure::Metric(name) = gate.figure else { return Ok(()) };
    let Some(amount) = case.runs.iter().find_map(|run| run.metric(name).ok()) else { return Ok(()) };
    let (what, cure) = match (amount, gate.unit) {
        (_, GateUnit::Ratio)
        | (Amount::Time(_), GateUnit::Time)
        | (Amount::Bytes(_), GateUnit::Bytes)
        | (Amount::Count(_) | Amount::Number(_), GateUnit::Count) => return Ok(()),
        (Amount::Time(_), _) => ("a time", "%, ms or s"),
        (Amount::Bytes(_), _) => ("a size", "%, KB, MB or KiB, MiB"),
        (Amount::Count(_) | Amount::Number(_), _) => ("a number without a unit", "%, or no unit"),
    };
    Err(UsageError::new(format!("--fail-if '{gate}': {name} is {what}"), format!("its limit needs {cure}")))
}

/// Why nothing can be said of a case.
fn obstacle(gate: &Gate, case: &Case, settings: &Settings) -> Option<String> {
    if case.result.is_none() {
        return Some("the sets are not comparable".to_owned());
    }
    if case.is_chosen {
        return Some("the duration chose the sets".to_owned());
    }
    let differ = case.comparable.reasons.iter().filter(|reason| reason.severity == Severity::Confounds);
    let differ: Vec<&str> = differ.map(|reason| reason.key.as_str()).collect();
    if !differ.is_empty() && !settings.force {
        let more = differ.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = differ[..differ.len().min(MOST_NAMED)].join(", ");
        return Some(format!(
            "the sets differ in {named}{more}, which may be the cause (--force decides all the same)"
        ));
    }
    if gate.figure == GateFigure::Duration && has_equal_lengths(&case.runs) {
        return Some("all windows are equally long".to_owned());
    }
    if gate.figure.is_of_path() && is_hardly_known(&case.runs) {
        return Some("more than 2 % of the windows is unknown".to_owned());
    }
    None
}

/// A gate of a case, tested.
struct Tested<'u> {
    test: GateTest<'u>,
    change: Option<f64>,
    /// Whether the change lies on another side of the limit than that of most pairs of runs, which the test has.
    is_contradicted: bool,
}

impl<'u> Tested<'u> {
    fn of(gate: &Gate, case: &Case, units: Option<&'u Units>, settings: &Settings) -> Result<Self, String> {
        if let Some(why) = obstacle(gate, case, settings) {
            return Err(why);
        }
        let units = units.ok_or("the runs cannot be compared")?;
        let values = units.means(&gate.figure.values(&case.runs)?);
        let test =
            gate.test().test(&units.labellings, &values, settings.confidence).map_err(|problem| problem.to_string())?;
        let pairs = change_of_pairs(gate.unit, units, &values);
        let change = pairs.or_else(|| change_of_means(units, &values));
        let is_contradicted =
            pairs.is_none() && change.is_some_and(|change| gate.is_beyond(change) != test.is_beyond());
        Ok(Self { test, change, is_contradicted })
    }

    fn p(&self) -> Option<f64> {
        (self.test.method() != Method::None).then(|| self.test.p_beyond())
    }

    fn outcome(&self, gate: &Gate, corrected: Option<f64>, tests: usize, settings: &Settings) -> GateOutcome {
        let change =
            self.change.map_or_else(|| "no ratio to nothing".to_owned(), |change| change_text(change, gate.unit));
        let decision = self.test.decide(corrected.unwrap_or(1.0), tests);
        let (state, runs_needed) = match decision {
            Decision::Fails | Decision::Passes if self.is_contradicted => (GateState::Undecided, None),
            Decision::Fails => (GateState::Failed, None),
            Decision::Passes => (GateState::Passed, None),
            Decision::Undecided { runs_needed } => (GateState::Undecided, runs_needed),
        };
        let needed = || match runs_needed {
            Some(runs) => format!("about {runs} runs per set would decide"),
            None => "the change lies too near to the limit".to_owned(),
        };
        let is_too_few = self.test.is_beyond() && !settings.confidence.rejects(self.test.smallest_p(tests));
        let reason = match state {
            GateState::Failed => format!("the change is {change}, beyond the limit by more than chance"),
            GateState::Passed => format!("the change is {change}, within the limit by more than chance"),
            GateState::Undecided if self.test.method() == Method::None => {
                format!("the change is {change}, and nothing is known of the noise of so few runs")
            }
            GateState::Undecided if self.is_contradicted => {
                let side = if self.test.is_beyond() { "beyond" } else { "within" };
                format!("the change of the means is {change}, though most pairs of runs are {side} the limit")
            }
            GateState::Undecided if is_too_few => {
                format!("the change is {change}, and so few runs cannot fail one of {tests} test cases: {}", needed())
            }
            GateState::Undecided => {
                let side = if self.test.is_beyond() { "beyond" } else { "within" };
                format!("the change is {change}, {side} the limit, which may be chance: {}", needed())
            }
        };
        GateOutcome {
            state,
            reason,
            runs_needed,
            change: self.change,
            p: self.p(),
            p_corrected: corrected,
            ..undecided(gate, String::new())
        }
    }
}

/// The change of a figure in the unit of its limit: the median of the ratios or of the differences of all pairs of runs. `None` for a ratio
/// where some runs have none of it.
fn change_of_pairs(unit: GateUnit, units: &Units, values: &[f64]) -> Option<f64> {
    let figure = match unit {
        GateUnit::Ratio => Figure::logarithms(&units.labellings, values),
        _ => Figure::plain(&units.labellings, values),
    };
    let figure = figure.ok()?;
    Some(figure.scale().change(figure.shift()))
}

/// The ratio of the means, less one.
fn change_of_means(units: &Units, values: &[f64]) -> Option<f64> {
    let (a, b) = values.split_at(units.split.min(values.len()));
    let (a, b) = (mean(a)?, mean(b)?);
    if a > 0.0 { Some(b / a - 1.0) } else { (b == 0.0).then_some(0.0) }
}

/// A change as people read it: `+5.4 %`, `−12.0 ms`.
#[must_use]
pub fn change_text(change: f64, unit: GateUnit) -> String {
    let sign = if change < 0.0 { "−" } else { "+" };
    let size = change.abs();
    match unit {
        GateUnit::Ratio if size < 0.0995 => format!("{sign}{:.1} %", 100.0 * size),
        GateUnit::Ratio => format!("{sign}{:.0} %", 100.0 * size),
        GateUnit::Time => format!("{sign}{}", Amount::Time(size.round() as i64)),
        GateUnit::Bytes => format!("{sign}{}", Amount::Bytes(size.round() as i64)),
        GateUnit::Count => format!("{sign}{}", Amount::Number(size)),
    }
}

#[cfg(test)]
mod tests {
    use super::{GateUnit, change_text};

    #[test]
    fn changes_as_people_read_them() {
        assert_eq!(change_text(0.054, GateUnit::Ratio), "+5.4 %");
        assert_eq!(change_text(-0.5, GateUnit::Ratio), "−50 %");
        assert_eq!(change_text(-12e6, GateUnit::Time), "−12.0 ms");
        assert_eq!(change_text(2048.0, GateUnit::Bytes), "+2 KiB");
        assert_eq!(change_text(1204.0, GateUnit::Count), "+1,204.0");
    }
}
