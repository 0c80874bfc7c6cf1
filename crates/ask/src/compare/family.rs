//! The rows of all levels and the metrics as one family of figures, so that the chance that any of them is flagged where nothing differs is that
//! of a single test.

use std::collections::BTreeMap;

use clap::ValueEnum;
use tracesift_statistics::{Confidence, Family, Key, Problem, RowDifference, Speed};

use super::metrics::ComparedMetric;
use super::run::Run;
use super::units::Units;
use crate::path::rows::{Detail, Name};

/// A steady row can differ by less than this part of the mean duration and be no chance; nobody would look for the cause.
const LEAST_DIFFERENCE: f64 = 0.001;

/// Rows below this part of the mean duration are not tested.
const LEAST_PART: f64 = 0.005;

/// Smaller sets tell nothing of single rows.
const FEWEST: usize = 3;

/// A row of some level, in all runs.
#[derive(Clone, Debug)]
pub struct Node {
    /// What its time has in common.
    pub(crate) name: Name,
    /// Its level.
    pub(crate) detail: Detail,
    /// Its time in each run, ns.
    pub(crate) values: Vec<i64>,
    /// Its stretches in each run; of runs of code below the level of threads 0.
    pub(crate) leaves: Vec<u64>,
    /// Its samples in each run.
    pub(crate) samples: Vec<u64>,
    /// Sum of the squares of the lengths of its stretches, ns².
    squares: f64,
    /// The difference of the means, B − A.
    pub(crate) difference: RowDifference,
    /// What the common factor of all code explains of it, in the unit of its numerator.
    pub(crate) by_speed: i128,
    /// Its times as they are tested: without what the common factor explains.
    tested: Vec<f64>,
    /// The p within the family; `None`: it was not tested.
    pub(crate) p: Option<f64>,
    /// Whether the difference is no chance.
    pub(crate) is_flagged: bool,
}

impl Node {
    /// Its difference without what the common factor explains.
    pub(crate) fn own(&self) -> i128 {
        self.difference.numerator.saturating_sub(self.by_speed)
    }

    /// Whether its difference, at least `least` ns, has an interval on one side of 0: no row that is called no chance has one which
    /// is not.
    fn is_apart(&self, least: f64) -> bool {
        let delta = (self.own() as f64 / self.difference.denominator.max(1) as f64).abs();
        delta >= least && self.difference.half_width.is_none_or(|half| delta > half)
    }

    /// Its difference as it weighs among others.
    pub(crate) fn weight(&self) -> i128 {
        self.own().abs()
    }

    /// Takes out what the common factor explains of a run of code.
    pub(super) fn at_speed(&mut self, speed: &Speed, split: usize, units: &Units, confidence: Confidence) {
        if self.name.state != "run" || self.name.disturbance.is_some() {
            return;
        }
        let (a, b) = self.values.split_at(split.min(self.values.len()));
        self.by_speed = speed.split(a, b).speed;
        self.tested.iter_mut().take(split).for_each(|value| *value *= speed.factor);
        self.difference.half_width = half_width(units, &self.tested, confidence);
    }

    /// What one count of it is worth, ns: the weight of a sample of code, the length of a stretch that a nanosecond lies in.
    fn quantum(&self) -> f64 {
        let sum: f64 = self.values.iter().map(|value| *value as f64).sum();
        let samples: u64 = self.samples.iter().sum();
        let quantum = if self.name.state == "run" && samples > 0 {
            sum / samples as f64
        } else if sum > 0.0 {
            self.squares / sum
        } else {
            0.0
        };
        if quantum.is_finite() && quantum >= 1.0 { quantum } else { 1.0 }
    }
}

/// Half the width of the interval of a difference of means, over what repeats.
pub(super) fn half_width(units: &Units, values: &[f64], confidence: Confidence) -> Option<f64> {
    let means: Vec<i64> = units.means(values).into_iter().map(|value| value.round() as i64).collect();
    let (a, b) = means.split_at(units.split.min(means.len()));
    RowDifference::of(a, b, confidence)?.half_width
}

/// The name of a row at a level. A kind of disturbance is one row at the coarsest, whatever state it was found in.
pub(crate) fn name_at(name: &Name, detail: Detail) -> Name {
    let mut name = name.clone().coarse(detail);
    if detail == Detail::State && name.disturbance.is_some() {
        name.state = "";
    }
    name
}

/// All rows of runs at all levels, by level and name.
pub(super) fn nodes(runs: &[Run], split: usize, units: &Units, confidence: Confidence) -> Vec<Node> {
    struct Sums {
        values: Vec<i64>,
        leaves: Vec<u64>,
        samples: Vec<u64>,
        squares: f64,
    }
    let mut found: BTreeMap<(Detail, Name), Sums> = BTreeMap::new();
    for (place, run) in runs.iter().enumerate() {
        for row in &run.rows {
            for detail in Detail::value_variants().iter().copied() {
                let name = name_at(&row.name, detail);
                let sums = found.entry((detail, name)).or_insert_with(|| Sums {
                    values: vec![0; runs.len()],
                    leaves: vec![0; runs.len()],
                    samples: vec![0; runs.len()],
                    squares: 0.0,
                });
                sums.values[place] = sums.values[place].saturating_add(row.time);
                sums.leaves[place] += row.leaves.unwrap_or(0);
                sums.squares += row.squares;
                sums.samples[place] += row.samples;
            }
        }
    }
    let node = |((detail, name), Sums { values, leaves, samples, squares }): ((Detail, Name), Sums)| {
        let (a, b) = values.split_at(split.min(values.len()));
        let tested: Vec<f64> = values.iter().map(|value| *value as f64).collect();
        let difference = RowDifference {
            half_width: half_width(units, &tested, confidence),
            ..RowDifference::of(a, b, confidence)?
        };
        let (by_speed, p, is_flagged) = (0, None, false);
        Some(Node { name, detail, values, leaves, samples, squares, difference, by_speed, tested, p, is_flagged })
    };
    found.into_iter().filter_map(node).collect()
}

/// Tests the nodes below the level of states that have a part of the duration worth looking at, the kinds of disturbances, and the
/// metrics. Disturbances vary by far more than the test's own time, so each of the three has a usual spread of its own.
pub(super) fn test(
    nodes: &mut [Node],
    metrics: &mut [ComparedMetric],
    runs: &[Run],
    units: &Units,
    confidence: Confidence,
) -> Result<(), Problem> {
    if units.fewest() < FEWEST {
        return Ok(());
    }
    let sum = |values: &mut dyn Iterator<Item = i64>| values.map(|value| value as f64).sum::<f64>();
    let all = sum(&mut runs.iter().map(Run::duration));
    let least = LEAST_PART * all;
    let least_difference = LEAST_DIFFERENCE * all / runs.len().max(1) as f64;
    let is_tested = |node: &Node| {
        let is_fine = node.detail > Detail::State || node.name.disturbance.is_some();
        is_fine && sum(&mut node.values.iter().copied()) >= least && least > 0.0
    };
    let tested = (0..nodes.len()).filter(|place| is_tested(&nodes[*place]));
    let (own, disturbed): (Vec<usize>, Vec<usize>) = tested.partition(|place| nodes[*place].name.disturbance.is_none());
    let of_nodes = |places: &[usize]| -> Vec<(Vec<f64>, f64)> {
        places.iter().map(|place| (units.means(&nodes[*place].tested), nodes[*place].quantum())).collect()
    };
    let values = [of_nodes(&own), of_nodes(&disturbed), metrics.iter().map(|metric| metric.tested(units)).collect()];
    let keys = values.each_ref().map(|of_group| {
        of_group.iter().map(|(values, quantum)| Key { values, quantum: *quantum }).collect::<Vec<Key<'_>>>()
    });
    if keys.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let groups = Family::test_groups(&units.labellings, keys.each_ref().map(Vec::as_slice), confidence)?;
    let [of_own, of_disturbed, of_metrics] = groups.map(|family| family.keys);
    for (place, key) in own.into_iter().zip(of_own).chain(disturbed.into_iter().zip(of_disturbed)) {
        nodes[place].p = Some(key.p);
        nodes[place].is_flagged = confidence.rejects(key.p) && nodes[place].is_apart(least_difference);
    }
    for (metric, key) in metrics.iter_mut().zip(of_metrics) {
        metric.p = Some(key.p);
        metric.is_flagged = confidence.rejects(key.p);
    }
    Ok(())
}
