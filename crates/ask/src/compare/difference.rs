//! The difference of the mean durations, in rows that add up to it.

use tracesift_statistics::remainders::{largest_remainders, rounded_to};
use tracesift_statistics::{Labellings, Leaves, OftenLonger, Problem};

use super::Settings;
use super::family::{self, Node};
use super::run::Run;
use super::select::{self, Shown};
use crate::path::rows::{Detail, Name};

/// A row is missing in a set if this part of its runs does not have it.
const MOST: f64 = 0.8;

/// The difference of two sets.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The difference of the mean durations, B − A, ns.
    pub total: i128,
    /// All rows of the finest level. Their differences add up to the total.
    pub rows: Vec<DifferenceRow>,
    /// The rows that explain it, the largest first; with the last one, of all others, they add up to the total.
    pub shown: Vec<ShownRow>,
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

/// A row that explains the difference.
#[derive(Clone, Debug)]
pub struct ShownRow {
    /// What it is; `None`: all others.
    pub row: Option<DifferenceRow>,
    /// Its difference, ns.
    pub delta: i128,
    /// Rows of the finest level in it.
    pub rows: usize,
    /// Processes that had the CPU or took the time, the largest first.
    pub who: Vec<String>,
}

impl Difference {
    pub(super) fn of(
        runs: &[Run],
        split: usize,
        labellings: &Labellings,
        settings: &Settings,
    ) -> Result<Self, Problem> {
        let mut nodes = family::nodes(runs, split, settings.confidence);
        family::test(&mut nodes, runs, labellings, settings.confidence)?;
        let leaves: Vec<&Node> = nodes.iter().filter(|node| node.detail == Detail::Site).collect();
        let denominator = leaves.first().map_or(1, |node| node.difference.denominator);
        let numerators: Vec<i128> = leaves.iter().map(|node| node.difference.numerator).collect();
        let rounded = largest_remainders(&numerators, denominator);
        let rows: Vec<DifferenceRow> =
            leaves.iter().zip(&rounded.parts).map(|(node, delta)| DifferenceRow::new(node, *delta, split)).collect();
        let shown = select::select(&nodes, &rows, settings.top);
        let shown = shown.into_iter().map(|shown| ShownRow::new(shown, &rows, split)).collect();
        Ok(Self { total: rounded.total, rows, shown })
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
            half_width: node.difference.half_width,
            p: node.p,
            is_flagged: node.is_flagged,
            mark: mark(a, b),
            often_longer: split.map(|split| in_ns(split, node.difference.denominator, delta)),
        }
    }

    /// Its parts as a text: `worker runs pool2!new_check`.
    #[must_use]
    pub fn text(&self) -> String {
        select::text(&self.name)
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
        let Name { process, thread, ended_by, tag, site, for_tag, for_site, .. } = &self.name;
        [
            process.as_deref(),
            thread.as_deref(),
            *ended_by,
            tag.as_deref(),
            site.as_deref(),
            for_tag.as_deref(),
            for_site.as_deref(),
        ]
    }
}

impl ShownRow {
    fn new(shown: Shown, rows: &[DifferenceRow], split: usize) -> Self {
        let deltas = shown.rows.iter().filter_map(|place| rows.get(*place));
        let delta = deltas.clone().map(|row| row.delta).sum();
        let row = shown.node.map(|node| DifferenceRow::new(&node, delta, split));
        let who = if row.as_ref().is_some_and(|row| row.name.disturbance.is_some()) {
            who(deltas, delta)
        } else {
            Vec::new()
        };
        Self { row, delta, rows: shown.rows.len(), who }
    }
}

/// Who took the time of a disturbance: the processes with the largest parts of its difference.
fn who<'a>(rows: impl Iterator<Item = &'a DifferenceRow>, delta: i128) -> Vec<String> {
    let mut sums: std::collections::BTreeMap<&str, i128> = std::collections::BTreeMap::new();
    for row in rows {
        let name = if row.name.state == "ready" { &row.name.site } else { &row.name.process };
        if let Some(name) = name {
            *sums.entry(name).or_default() += row.delta;
        }
    }
    let mut sums: Vec<(&str, i128)> = sums.into_iter().filter(|(_, sum)| sum.signum() == delta.signum()).collect();
    sums.sort_by_key(|(name, sum)| (std::cmp::Reverse(sum.abs()), *name));
    sums.into_iter().take(3).map(|(name, _)| name.to_owned()).collect()
}

/// The two parts of a difference in ns: they add up to it where rounding allows that.
fn in_ns(OftenLonger { often, longer }: OftenLonger, denominator: i128, delta: i128) -> [i128; 2] {
    let numerators = [often, longer];
    let parts = rounded_to(&numerators, denominator, delta);
    let parts = parts.unwrap_or_else(|| largest_remainders(&numerators, denominator).parts);
    [0, 1].map(|place| parts.get(place).copied().unwrap_or(0))
}

/// Whether a row is missing in most runs of one set and there in most of the other.
fn mark(a: &[i64], b: &[i64]) -> Option<Mark> {
    let is_in = |set: &[i64]| set.iter().filter(|value| **value != 0).count() as f64 / set.len().max(1) as f64;
    let (in_a, in_b) = (is_in(a), is_in(b));
    let is_missing = |part: f64| part <= 1.0 - MOST + 1e-9;
    if is_missing(in_a) && in_b >= MOST {
        Some(Mark::New)
    } else if is_missing(in_b) && in_a >= MOST {
        Some(Mark::Gone)
    } else {
        None
    }
}
