//! Many figures at once: methods, waits, counters.
//!
//! With hundreds of figures some differ by chance. Here the chance that *any* is flagged where nothing differs is α
//! (the family-wise error). Each figure is held against the largest statistic of all figures under each labelling
//! (Westfall and Young): figures that move together, as a method and its callers do, cost nothing, and with thousands of
//! figures something can still be found. Runs that are too few to permute are tested with a moderated t and Holm's
//! correction.

use std::ops::Range;

use crate::adjust::holm;
use crate::byte_sums::ByteSums;
use crate::confidence::Confidence;
use crate::design::Side;
use crate::permutations::Labellings;
use crate::problem::Problem;
use crate::robust::median_of;
use crate::stabilise::Stabiliser;
use crate::statistic::SMALLEST_VARIANCE;
use crate::student::two_sided_tail;
use crate::two_sets::Method;

/// One figure of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key<'v> {
    /// One value per run, in the order in which the design was given its runs.
    pub values: &'v [f64],
    /// What one count is worth: the weight of a sample for CPU time, Σ l² / Σ l of the single waits for wait time, 1 for
    /// counts.
    pub quantum: f64,
}

/// The result of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// [`Method::Permutation`], [`Method::Welch`] (the moderated t) or [`Method::None`].
    pub method: Method,
    /// The scale on which the keys were compared.
    pub stabiliser: Stabiliser,
    /// By key, in the order given.
    pub keys: Vec<KeyTest>,
}

/// The test of one key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyTest {
    /// The moderated t, without its sign.
    pub statistic: f64,
    /// Whether B is larger on the scale on which keys are compared.
    pub is_increase: bool,
    /// The p of the key within the family.
    pub p: f64,
    /// The p of the key alone, for [`benjamini_hochberg`](crate::adjust::benjamini_hochberg).
    pub p_alone: f64,
}

/// Extra degrees of freedom of the variance of each key, at the median of the family.
const PRIOR_FREEDOM: f64 = 4.0;

/// Statistics that differ by less count as equal.
const SAME: f64 = 1e-9;

/// Labellings that are worked on together, so that their sums stay in the cache.
const BATCH: usize = 128;

impl Family {
    /// Tests all keys. Time and memory: a key takes 2 KiB per eight runs, and an addition per eight runs and labelling.
    ///
    /// # Errors
    /// A key has not one finite value per run, or a quantum that is not positive.
    pub fn test(labellings: &Labellings, keys: &[Key<'_>], confidence: Confidence) -> Result<Self, Problem> {
        let [family] = Self::test_groups(labellings, [keys], confidence)?;
        Ok(family)
    }

    /// Tests groups of keys as one family: the chance that *any* key of any group is flagged where nothing differs is α. Each
    /// group has a scale and a usual variance of its own, so that keys that vary wildly hide nothing in a group of steady ones.
    ///
    /// # Errors
    /// As [`Self::test`]; the number of a key counts from the first key of the first group.
    pub fn test_groups<const N: usize>(
        labellings: &Labellings,
        groups: [&[Key<'_>]; N],
        confidence: Confidence,
    ) -> Result<[Self; N], Problem> {
        let design = labellings.design();
        let mut columns: Vec<Column> = Vec::new();
        let mut ranges: Vec<(Range<usize>, Stabiliser)> = Vec::new();
        for keys in groups {
            let mut sorted = Vec::with_capacity(keys.len());
            for (index, key) in keys.iter().enumerate() {
                if !(key.quantum > 0.0 && key.quantum.is_finite()) {
                    return Err(Problem::Quantum(columns.len() + index));
                }
                sorted.push(design.by_position(key.values)?);
            }
            let keys: Vec<Key<'_>> =
                keys.iter().zip(&sorted).map(|(key, values)| Key { values, quantum: key.quantum }).collect();
            let stabiliser = Stabiliser::of(&keys, &sets(labellings));
            ranges.push((columns.len()..columns.len() + keys.len(), stabiliser));
            columns.extend(keys.iter().map(|key| Column::new(labellings, key, stabiliser)));
        }
        let moderated = Moderated::new(labellings, ranges.iter().map(|(range, _)| range.clone()).collect());
        let method = if labellings.can_decide(confidence.alpha()) {
            Method::Permutation
        } else if moderated.freedom > 0.0 && !design.has_strata() {
            Method::Welch
        } else {
            Method::None
        };
        let tests = match method {
            Method::Permutation => moderated.permute(labellings, &columns),
            Method::Welch => moderated.student(labellings, &columns),
            _ => moderated.observe(labellings, &columns).into_iter().map(|t| key_test(t, 1.0, 1.0)).collect(),
        };
        Ok(std::array::from_fn(|group| {
            let (range, stabiliser) = &ranges[group];
            Self { method, stabiliser: *stabiliser, keys: tests[range.clone()].to_vec() }
        }))
    }
}

/// The positions of each set within each stratum.
fn sets(labellings: &Labellings) -> Vec<Vec<usize>> {
    let design = labellings.design();
    let of = |stratum: &[usize], side| {
        stratum.iter().copied().filter(|&position| design.sides()[position] == side).collect::<Vec<_>>()
    };
    let strata = design.members_of_strata();
    let sets = strata.iter().flat_map(|stratum| [of(stratum, Side::A), of(stratum, Side::B)]);
    sets.filter(|set| !set.is_empty()).collect()
}

/// The values of a key, ready to be added up.
struct Column {
    sums: ByteSums,
    all: f64,
    /// The mean of the pivot's sum over all labellings.
    expected: f64,
    /// Sum of the squares around the mean.
    squares: f64,
}

impl Column {
    fn new(labellings: &Labellings, key: &Key<'_>, stabiliser: Stabiliser) -> Self {
        let mut values: Vec<f64> = key.values.iter().map(|&value| stabiliser.apply(value, key.quantum)).collect();
        for stratum in labellings.design().members_of_strata() {
            let mean = stratum.iter().map(|&position| values[position]).sum::<f64>() / stratum.len() as f64;
            stratum.iter().for_each(|&position| values[position] -= mean);
        }
        Self {
            sums: ByteSums::of(&values),
            all: values.iter().sum(),
            expected: labellings.expected_sum(&values),
            squares: values.iter().map(|value| value * value).sum(),
        }
    }
}

/// The moderated t of all keys.
struct Moderated {
    groups: Vec<Range<usize>>,
    pivots: f64,
    others: f64,
    freedom: f64,
}

/// The terms of one key's t that do not depend on the labelling.
#[derive(Clone, Copy)]
struct Terms {
    /// The part of the difference of the means that the other set's sum is.
    offset: f64,
    /// The mean difference of all labellings.
    expected: f64,
    squares: f64,
}

impl Moderated {
    fn new(labellings: &Labellings, groups: Vec<Range<usize>>) -> Self {
        let pivots = labellings.pivots() as f64;
        let others = labellings.design().runs() as f64 - pivots;
        Self { groups, pivots, others, freedom: pivots + others - 2.0 }
    }

    fn terms(&self, columns: &[Column]) -> Vec<Terms> {
        let terms = |column: &Column| {
            let offset = column.all / self.others;
            let expected = column.expected * (1.0 / self.pivots + 1.0 / self.others) - offset;
            Terms { offset, expected, squares: column.squares }
        };
        columns.iter().map(terms).collect()
    }

    /// Replaces the pivot's sums of a labelling, by key, by the signed squares of t, positive where the pivot is larger.
    /// The sum of squares around both means is that around the common mean less what the difference explains, so a sum per
    /// key and labelling is all that is needed.
    fn square(&self, terms: &[Terms], sums: &mut [f64], [variances, copy]: [&mut [f64]; 2]) {
        let unit = 1.0 / self.pivots + 1.0 / self.others;
        let explained = 1.0 / unit;
        let inverse = 1.0 / self.freedom.max(1.0);
        for ((sum, variance), of) in sums.iter_mut().zip(&mut *variances).zip(terms) {
            let full = *sum * unit - of.offset;
            *variance = (of.squares - full * full * explained).max(0.0) * inverse;
            *sum = full - of.expected;
        }
        copy.copy_from_slice(variances);
        let share = 1.0 / (PRIOR_FREEDOM + self.freedom);
        for group in &self.groups {
            let prior = PRIOR_FREEDOM * median_of(&mut copy[group.clone()]).unwrap_or(0.0);
            for (difference, variance) in sums[group.clone()].iter_mut().zip(&variances[group.clone()]) {
                let moderated = ((prior + self.freedom * *variance) * share).max(SMALLEST_VARIANCE) * unit;
                *difference = *difference * difference.abs() / moderated;
            }
        }
    }

    /// The signed t of the observed labelling, by key, positive where B is larger.
    fn observe(&self, labellings: &Labellings, columns: &[Column]) -> Vec<f64> {
        let Some(bits) = labellings.iter().next() else { return Vec::new() };
        let mut sums: Vec<f64> = columns.iter().map(|column| column.sums.sum(bits)).collect();
        let memory = [&mut vec![0.0; columns.len()][..], &mut vec![0.0; columns.len()]];
        self.square(&self.terms(columns), &mut sums, memory);
        sums.iter().map(|square| labellings.sign() * square.signum() * square.abs().sqrt()).collect()
    }

    fn student(&self, labellings: &Labellings, columns: &[Column]) -> Vec<KeyTest> {
        let t = self.observe(labellings, columns);
        let tail = |t: &f64| two_sided_tail(*t, self.freedom + PRIOR_FREEDOM).unwrap_or(1.0);
        let alone: Vec<f64> = t.iter().map(tail).collect();
        t.into_iter().zip(holm(&alone)).zip(alone).map(|((t, p), alone)| key_test(t, p, alone)).collect()
    }

    fn permute(&self, labellings: &Labellings, columns: &[Column]) -> Vec<KeyTest> {
        let observed = self.observe(labellings, columns);
        // Squares are compared, so that no root is taken.
        let limits: Vec<f64> = observed.iter().map(|t| (t.abs() - SAME).max(0.0).powi(2)).collect();
        let terms = self.terms(columns);
        let keys = columns.len();
        let all: Vec<&[u64]> = labellings.iter().collect();
        let mut largest = Vec::with_capacity(all.len());
        // By key: the labellings under which its own statistic is as large as observed.
        let mut alone = vec![0u32; keys];
        let mut sums = vec![0.0; keys * BATCH];
        let (mut variances, mut copy) = (vec![0.0; keys], vec![0.0; keys]);
        for batch in all.chunks(BATCH) {
            for (key, column) in columns.iter().enumerate() {
                for (&bits, place) in batch.iter().zip(sums[key..].iter_mut().step_by(keys)) {
                    *place = column.sums.sum(bits);
                }
            }
            for row in sums.chunks_exact_mut(keys.max(1)).take(batch.len()) {
                self.square(&terms, row, [&mut variances, &mut copy]);
                for ((square, limit), alone) in row.iter().zip(&limits).zip(&mut alone) {
                    *alone += u32::from(square.abs() >= *limit);
                }
                largest.push(row.iter().fold(0.0f64, |largest, square| largest.max(square.abs())));
            }
        }
        largest.sort_unstable_by(f64::total_cmp);
        let count = all.len() as f64;
        let within = |limit: f64| (largest.len() - largest.partition_point(|&largest| largest < limit)) as f64;
        let test = |((&t, &limit), alone)| key_test(t, within(limit) / count, f64::from(alone) / count);
        observed.iter().zip(&limits).zip(alone).map(test).collect()
    }
}

fn key_test(t: f64, p: f64, p_alone: f64) -> KeyTest {
    KeyTest { statistic: t.abs(), is_increase: t > 0.0, p, p_alone }
}
