//! The rows of all levels as one family of figures, so that the chance that any of them is flagged where nothing differs is that
//! of a single test.

use std::collections::BTreeMap;

use tracesift_statistics::{Confidence, Family, Key, Labellings, Problem, RowDifference};

use super::run::Run;
use crate::path::rows::{Detail, Name};

/// Rows below this part of the mean duration are not tested.
const LEAST_PART: f64 = 0.005;

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
    /// Sum of the squares of the lengths of its stretches, ns².
    squares: f64,
    samples: u64,
    /// The difference of the means, B − A.
    pub(crate) difference: RowDifference,
    /// The p within the family; `None`: it was not tested.
    pub(crate) p: Option<f64>,
    /// Whether the difference is no chance.
    pub(crate) is_flagged: bool,
}

impl Node {
    /// Its difference as it weighs among others.
    pub(crate) fn weight(&self) -> i128 {
        self.difference.numerator.abs()
    }

    /// What one count of it is worth, ns: the weight of a sample of code, the length of a stretch that a nanosecond lies in.
    fn quantum(&self) -> f64 {
        let sum: f64 = self.values.iter().map(|value| *value as f64).sum();
        let quantum = if self.name.state == "run" && self.samples > 0 {
            sum / self.samples as f64
        } else if sum > 0.0 {
            self.squares / sum
        } else {
            0.0
        };
        if quantum.is_finite() && quantum >= 1.0 { quantum } else { 1.0 }
    }
}

/// All rows of runs at all levels, by level and name.
pub(super) fn nodes(runs: &[Run], split: usize, confidence: Confidence) -> Vec<Node> {
    struct Sums {
        values: Vec<i64>,
        leaves: Vec<u64>,
        squares: f64,
        samples: u64,
    }
    let mut found: BTreeMap<(Detail, Name), Sums> = BTreeMap::new();
    for (place, run) in runs.iter().enumerate() {
        for row in &run.rows {
            for detail in [Detail::State, Detail::Who, Detail::Tag, Detail::Site] {
                let name = row.name.clone().coarse(detail);
                let sums = found.entry((detail, name)).or_insert_with(|| Sums {
                    values: vec![0; runs.len()],
                    leaves: vec![0; runs.len()],
                    squares: 0.0,
                    samples: 0,
                });
                sums.values[place] = sums.values[place].saturating_add(row.time);
                sums.leaves[place] += row.leaves.unwrap_or(0);
                sums.squares += row.squares;
                sums.samples += row.samples;
            }
        }
    }
    let node = |((detail, name), Sums { values, leaves, squares, samples }): ((Detail, Name), Sums)| {
        let (a, b) = values.split_at(split.min(values.len()));
        let difference = RowDifference::of(a, b, confidence)?;
        Some(Node { name, detail, values, leaves, squares, samples, difference, p: None, is_flagged: false })
    };
    found.into_iter().filter_map(node).collect()
}

/// Tests the nodes below the level of states that have a part of the duration worth looking at.
pub(super) fn test(
    nodes: &mut [Node],
    runs: &[Run],
    labellings: &Labellings,
    confidence: Confidence,
) -> Result<(), Problem> {
    let sum = |values: &mut dyn Iterator<Item = i64>| values.map(|value| value as f64).sum::<f64>();
    let least = LEAST_PART * sum(&mut runs.iter().map(Run::duration));
    let is_tested =
        |node: &Node| node.detail > Detail::State && sum(&mut node.values.iter().copied()) >= least && least > 0.0;
    let tested: Vec<usize> = (0..nodes.len()).filter(|place| is_tested(&nodes[*place])).collect();
    let values: Vec<Vec<f64>> =
        tested.iter().map(|place| nodes[*place].values.iter().map(|value| *value as f64).collect()).collect();
    let keys: Vec<Key<'_>> =
        tested.iter().zip(&values).map(|(place, values)| Key { values, quantum: nodes[*place].quantum() }).collect();
    if keys.is_empty() {
        return Ok(());
    }
    let family = Family::test(labellings, &keys, confidence)?;
    for (place, key) in tested.into_iter().zip(family.keys) {
        nodes[place].p = Some(key.p);
        nodes[place].is_flagged = confidence.rejects(key.p);
    }
    Ok(())
}
