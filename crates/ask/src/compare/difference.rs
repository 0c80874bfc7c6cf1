//! The difference of the mean durations, in rows that add up to it.

use tracesift_statistics::remainders::{divide_rounded, largest_remainders, rounded_to};
use tracesift_statistics::robust::median;
use tracesift_statistics::{Leaves, OftenLonger, Problem, Speed};

use super::family::{self, Node};
use super::graph::{self, GraphNode};
use super::metrics::ComparedMetric;
use super::run::Run;
use super::select::{self, Shown, What};
use super::units::Units;
use super::{Settings, speed};
use crate::path::rows::{self, Detail, Name};

/// A row is missing in a set if this part of its runs does not have it.
const MOST: f64 = 0.8;

/// A run is named with a disturbance if it has so many times that of most runs.
const MUCH_MORE: f64 = 3.0;

/// And at least so much of it, ns.
const LEAST_NAMED: i64 = 1_000_000;

/// More runs are not named.
const MOST_RUNS: usize = 4;

/// The difference of two sets.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The difference of the mean durations, B − A, ns.
    pub total: i128,
    /// All rows of the finest level. Their differences add up to the total.
    pub rows: Vec<DifferenceRow>,
    /// The rows that explain it, the largest first; with the last one, of all others, they add up to the total.
    pub shown: Vec<ShownRow>,
    /// The factor by which all code of the second set runs longer, where there is one.
    pub speed: Option<Speed>,
    /// The rows of all levels, each followed by those that divide it.
    pub graph: Vec<GraphNode>,
}

/// Whether a row is in one set only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Only the second set has it.
    New,
    /// Only the first set has it.
    Gone,
}

impl Mark {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
        }
    }
}

/// A row of the difference.
#[derive(Clone, Debug)]
pub struct DifferenceRow {
    pub(crate) name: Name,
    /// Mean times of the two sets, ns.
    pub means: [f64; 2],
    /// The difference of the means, B − A, ns, rounded so that all rows add up.
    pub delta: i128,
    /// What of it the common factor of all code explains, ns. What follows is about the rest.
    pub by_speed: i128,
    /// Half the width of the interval of the difference, ns.
    pub half_width: Option<f64>,
    /// The p within the family of all rows; `None`: it was not tested.
    pub p: Option<f64>,
    /// Whether the difference is no chance.
    pub is_flagged: bool,
    /// Whether one set has it alone.
    pub mark: Option<Mark>,
    /// Of waits and ready time: what more or fewer of them, and what longer or shorter ones make of the difference, ns.
    pub often_longer: Option<[i128; 2]>,
}

/// What a part of the difference is.
#[derive(Clone, Debug)]
pub enum Part {
    /// A row of some level.
    Row(Box<DifferenceRow>),
    /// All code runs longer, or shorter, by one factor.
    Speed(Speed),
    /// Time that went from one method of a thread to another one: a method was renamed, or became part of another. The names of the
    /// methods, those that lost time first.
    Moved(Vec<String>),
    /// All others.
    Others,
}

/// A part that explains the difference.
#[derive(Clone, Debug)]
pub struct ShownRow {
    /// What it is.
    pub part: Part,
    /// Its difference, ns.
    pub delta: i128,
    /// Rows of the finest level in it.
    pub rows: usize,
    /// Whether it is a spin that grew with what another thread of the process did: that thread holds what is waited for.
    pub is_symptom: bool,
    /// Of a disturbance: the runs that have much more of it than the others, by place, the most first.
    pub most: Vec<usize>,
    /// Processes that had the CPU or took the time, the largest first.
    pub who: Vec<String>,
}

impl Difference {
    pub(super) fn of(
        runs: &[Run],
        split: usize,
        units: &Units,
        settings: &Settings,
        metrics: &mut [ComparedMetric],
    ) -> Result<Self, Problem> {
        let mut nodes = family::nodes(runs, split, units, settings.confidence);
        let speed = speed::common_factor(&nodes, runs, split, settings.confidence);
        if let Some(speed) = &speed {
            nodes.iter_mut().for_each(|node| node.at_speed(speed, split, units, settings.confidence));
        }
        // What goes with a choice by the duration cannot be tested.
        if !settings.is_chosen {
            family::test(&mut nodes, metrics, runs, units, settings.confidence)?;
        }
        let leaves: Vec<&Node> = nodes.iter().filter(|node| node.detail == Detail::For).collect();
        let denominator = leaves.first().map_or(1, |node| node.difference.denominator);
        let numerators: Vec<i128> = leaves.iter().map(|node| node.difference.numerator).collect();
        let rounded = largest_remainders(&numerators, denominator);
        let rows: Vec<DifferenceRow> =
            leaves.iter().zip(&rounded.parts).map(|(node, delta)| DifferenceRow::new(node, *delta, split)).collect();
        let duration = runs.iter().take(split).map(|run| run.duration() as f64).sum::<f64>() / split.max(1) as f64;
        let shown = select::select(&nodes, settings.level, settings.top, duration);
        let mut shown: Vec<ShownRow> = shown.into_iter().map(|shown| ShownRow::new(shown, &rows, split)).collect();
        causes_first(&mut shown);
        if let Some(speed) = speed {
            let delta: i128 = rows.iter().map(|row| row.by_speed).sum();
            let rows = rows.iter().filter(|row| row.by_speed != 0).count();
            let row = ShownRow {
                part: Part::Speed(speed),
                delta,
                rows,
                is_symptom: false,
                most: Vec::new(),
                who: Vec::new(),
            };
            let is_smaller = |other: &ShownRow| matches!(other.part, Part::Others) || other.delta.abs() < delta.abs();
            let place = shown.iter().position(is_smaller).unwrap_or(shown.len());
            shown.insert(place, row);
        }
        let graph = graph::of(&nodes, &rows);
        Ok(Self { total: rounded.total, rows, shown, speed, graph })
    }
}

impl DifferenceRow {
    pub(super) fn new(node: &Node, delta: i128, split: usize) -> Self {
        let (a, b) = node.values.split_at(split.min(node.values.len()));
        let (leaves_a, leaves_b) = node.leaves.split_at(split.min(node.leaves.len()));
        let mean =
            |values: &[i64]| values.iter().map(|value| *value as f64).sum::<f64>() / (values.len().max(1)) as f64;
        let sums = |values: &[i64], leaves: &[u64]| Leaves {
            runs: u32::try_from(values.len()).unwrap_or(u32::MAX),
            count: leaves.iter().sum(),
            sum: values.iter().fold(0_i64, |sum, value| sum.saturating_add(*value)),
        };
        let is_counted = matches!(node.name.state, "wait" | "ready");
        let split = is_counted.then(|| OftenLonger::of(sums(a, leaves_a), sums(b, leaves_b))).flatten();
        Self {
            name: node.name.clone(),
            means: [mean(a), mean(b)],
            delta,
            by_speed: divide_rounded(node.by_speed, node.difference.denominator.max(1)),
            half_width: node.difference.half_width,
            p: node.p,
            is_flagged: node.is_flagged,
            mark: mark(a, b),
            often_longer: split.map(|split| in_ns(split, node.difference.denominator, delta)),
        }
    }

    /// Its difference without what the common factor of all code explains, ns.
    #[must_use]
    pub fn own(&self) -> i128 {
        self.delta - self.by_speed
    }

    /// Its parts as a text: `worker runs pool2!new_check`.
    #[must_use]
    pub fn text(&self) -> String {
        rows::text(&self.name)
    }

    /// Its state: `run`, `ready`, `wait`, `unknown`; empty for a kind of disturbance.
    #[must_use]
    pub fn state(&self) -> &'static str {
        self.name.state
    }

    /// The kind of disturbance that it is.
    #[must_use]
    pub fn disturbance(&self) -> Option<&'static str> {
        self.name.disturbance.map(tracesift_analysis::disturbances::Kind::word)
    }

    /// Process, thread, what ended a wait, tag, site, and tag and site of the wait that it was for.
    #[must_use]
    pub fn names(&self) -> [Option<&str>; 7] {
        self.name.texts()
    }
}

impl ShownRow {
    fn new(shown: Shown, rows: &[DifferenceRow], split: usize) -> Self {
        let deltas = shown.rows.iter().filter_map(|place| rows.get(*place));
        let delta = deltas.clone().map(DifferenceRow::own).sum();
        let rows = shown.rows.len();
        let mut most = Vec::new();
        let (part, who) = match shown.what {
            What::Node(node) => {
                let is_disturbance = node.name.disturbance.is_some();
                let who = if is_disturbance { who(deltas.clone(), delta) } else { Vec::new() };
                most = if is_disturbance { most_in(&node.values) } else { Vec::new() };
                let whole = deltas.clone().map(|row| row.delta).sum();
                (Part::Row(Box::new(DifferenceRow::new(&node, whole, split))), who)
            }
            What::Moved(sites) => (Part::Moved(sites), Vec::new()),
            What::Others => (Part::Others, Vec::new()),
        };
        Self { part, delta, rows, is_symptom: false, most, who }
    }

    /// It as a text.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.part {
            Part::Row(row) => row.text(),
            Part::Speed(speed) => {
                let percent = 100.0 * (speed.factor - 1.0);
                let direction = if percent < 0.0 { "shorter" } else { "longer" };
                format!("all code runs {:.1} % {direction}: clock or memory speed", percent.abs())
            }
            Part::Moved(sites) => format!("moved from {}", sites.join(" to ")),
            Part::Others if self.rows == 1 => "all others (1 row)".to_owned(),
            Part::Others => format!("all others ({} rows)", self.rows),
        }
    }

    /// The row of some level that it is.
    #[must_use]
    pub fn row(&self) -> Option<&DifferenceRow> {
        if let Part::Row(row) = &self.part { Some(row) } else { None }
    }
}

/// Marks spins that grew with what another thread of the process did, and puts them behind it: who spins waits for a lock, and the
/// thread that holds it is the cause.
fn causes_first(shown: &mut Vec<ShownRow>) {
    let flagged = |shown: &ShownRow| shown.row().filter(|row| row.is_flagged && row.disturbance().is_none()).cloned();
    for place in (0..shown.len()).rev() {
        let Some(spin) = flagged(&shown[place]).filter(|row| is_spin(&row.name)) else { continue };
        let is_cause = |other: &ShownRow| {
            flagged(other).is_some_and(|row| {
                !is_spin(&row.name)
                    && row.name.process == spin.name.process
                    && row.name.thread != spin.name.thread
                    && other.delta.signum() == shown[place].delta.signum()
            })
        };
        let Some(cause) = shown.iter().position(is_cause) else { continue };
        shown[place].is_symptom = true;
        if cause > place {
            let row = shown.remove(place);
            shown.insert(cause, row);
        }
    }
}

fn is_spin(name: &Name) -> bool {
    let tag = name.tag.as_deref().unwrap_or_default();
    let site = name.site.as_deref().unwrap_or_default();
    let is_tagged = ["Linux\\Spin locks", "Waits\\Lock", "Waits\\Futex"].iter().any(|lock| tag.starts_with(lock));
    name.state == "run" && (is_tagged || site.contains("AwareLock::") || site.to_lowercase().contains("spin"))
}

/// Who took the time of a disturbance: the processes with the largest parts of its difference.
fn who<'a>(rows: impl Iterator<Item = &'a DifferenceRow>, delta: i128) -> Vec<String> {
    let mut sums: std::collections::BTreeMap<&str, i128> = std::collections::BTreeMap::new();
    for row in rows {
        let name = if row.name.state == "ready" { &row.name.site } else { &row.name.process };
        if let Some(name) = name {
            *sums.entry(name).or_default() += row.own();
        }
    }
    let mut sums: Vec<(&str, i128)> = sums.into_iter().filter(|(_, sum)| sum.signum() == delta.signum()).collect();
    sums.sort_by_key(|(name, sum)| (std::cmp::Reverse(sum.abs()), *name));
    sums.into_iter().take(3).map(|(name, _)| name.to_owned()).collect()
}

/// The runs that have much more of something than the others, the most first.
fn most_in(values: &[i64]) -> Vec<usize> {
    let usual = median(&values.iter().map(|value| *value as f64).collect::<Vec<_>>()).unwrap_or(0.0);
    let is_much = |place: &usize| values[*place] >= LEAST_NAMED && values[*place] as f64 > MUCH_MORE * usual;
    let mut places: Vec<usize> = (0..values.len()).filter(is_much).collect();
    places.sort_by_key(|place| (std::cmp::Reverse(values[*place]), *place));
    places.truncate(MOST_RUNS);
    places
}

/// The two parts of a difference in ns: they add up to it where rounding allows that.
fn in_ns(OftenLonger { often, longer }: OftenLonger, denominator: i128, delta: i128) -> [i128; 2] {
    let numerators = [often, longer];
    let parts = rounded_to(&numerators, denominator, delta);
    let parts = parts.unwrap_or_else(|| largest_remainders(&numerators, denominator).parts);
    [0, 1].map(|place| parts.get(place).copied().unwrap_or(0))
}

/// Whether a row is missing in most runs of one set, and there in most of the other, which have more of it: a single long one in the
/// first set is not gone.
fn mark(a: &[i64], b: &[i64]) -> Option<Mark> {
    let mean = |set: &[i64]| set.iter().map(|value| *value as f64).sum::<f64>() / set.len().max(1) as f64;
    let is_in = |set: &[i64]| set.iter().filter(|value| **value != 0).count() as f64 / set.len().max(1) as f64;
    let (in_a, in_b) = (is_in(a), is_in(b));
    let is_missing = |part: f64| part <= 1.0 - MOST + 1e-9;
    if is_missing(in_a) && in_b >= MOST && mean(b) > mean(a) {
        Some(Mark::New)
    } else if is_missing(in_b) && in_a >= MOST && mean(a) > mean(b) {
        Some(Mark::Gone)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Mark, mark};

    #[test]
    fn what_is_new_has_grown_and_what_is_gone_has_not() {
        assert_eq!(mark(&[0, 0, 0, 0, 0], &[3, 4, 3, 2, 0]), Some(Mark::New));
        assert_eq!(mark(&[3, 4, 3, 2, 1], &[0, 0, 0, 0, 1]), Some(Mark::Gone));
        // Nearly nothing in each run of the first set, and a long time in one run of the second.
        assert_eq!(mark(&[1, 1, 1, 1, 1], &[0, 0, 0, 0, 900]), None);
        assert_eq!(mark(&[900, 0, 0, 0, 0], &[1, 1, 1, 1, 1]), None);
        assert_eq!(mark(&[], &[]), None);
    }
}
