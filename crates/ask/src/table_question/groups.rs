//! Groups: places whose rows are one row of the answer.

use rustc_hash::FxHashMap;
use tracesift_analysis::{Distribution, IntervalUnion};

use super::names::Names;
use super::places::UNKNOWN;
use super::plan::{Plan, ROWS};
use super::reading::Read;
use super::sums::{Figures, TextCounts};

/// One row of the answer on its way.
#[derive(Debug)]
pub(super) struct Group {
    /// The values of the dimensions by which rows are grouped.
    pub(super) values: Vec<i64>,
    /// The cells of the plan.
    pub(super) cells: Vec<i64>,
    /// The time that the rows cover.
    pub(super) covered: IntervalUnion,
    /// The times of the rows.
    pub(super) times: Distribution,
    /// Of each dimension that measures are about the number of rows by value; the value of some may be unknown.
    pub(super) about: Vec<FxHashMap<i64, i64>>,
    /// Number of rows by text, for each list of texts of the plan.
    pub(super) texts: Vec<TextCounts>,
}

/// The groups of each range.
pub(super) fn of_ranges<R>(plan: &Plan<R>, mut read: Read<'_, R>, names: &mut Names<'_, R>) -> Vec<Vec<Group>> {
    let in_ranges = std::mem::take(&mut read.in_ranges);
    in_ranges.into_iter().map(|places| of_range(plan, &mut read, &places, names)).collect()
}

fn of_range<R>(plan: &Plan<R>, read: &mut Read<'_, R>, places: &[(u32, u32)], names: &mut Names<'_, R>) -> Vec<Group> {
    type Parts = (Figures, Vec<FxHashMap<i64, i64>>);
    let mut known: FxHashMap<Vec<i64>, usize> = FxHashMap::default();
    let mut groups: Vec<(Vec<i64>, Parts)> = Vec::new();
    let mut values = Vec::new();
    for (place, sums) in places {
        let numbers = &read.numbers[*place as usize * read.width..][..read.width];
        let mut value = |dimension: usize| names.value(dimension, numbers[plan.key_of(dimension)]);
        values.clear();
        values.extend(plan.by.iter().map(|dimension| value(*dimension)));
        let group = match known.get(&values) {
            Some(group) => *group,
            None => {
                let none = plan.about.iter().map(|_| FxHashMap::default()).collect();
                groups.push((values.clone(), (Figures::default(), none)));
                known.insert(values.clone(), groups.len() - 1);
                groups.len() - 1
            }
        };
        let (_, (figures, about)) = &mut groups[group];
        let rows = read.sums.rows(*sums as usize);
        for (counts, dimension) in about.iter_mut().zip(&plan.about) {
            *counts.entry(value(*dimension)).or_default() += rows;
        }
        read.sums.give(*sums as usize, figures);
    }
    let group = |(values, (figures, about)): (Vec<i64>, Parts)| Group {
        values,
        cells: figures.cells,
        covered: figures.union,
        times: Distribution::new(figures.times),
        about,
        texts: figures.texts,
    };
    groups.into_iter().map(group).collect()
}

impl Group {
    /// Number of rows.
    pub(super) fn rows(&self) -> i64 {
        self.cells[ROWS]
    }

    /// Number of rows by known value of a dimension that measures are about.
    pub(super) fn known<R>(&self, plan: &Plan<R>, dimension: usize) -> impl Iterator<Item = (i64, i64)> {
        let place = plan.about.iter().position(|about| *about == dimension);
        let counts = place.and_then(|place| self.about.get(place));
        counts.into_iter().flatten().map(|(value, rows)| (*value, *rows)).filter(|(value, _)| *value != UNKNOWN)
    }
}
