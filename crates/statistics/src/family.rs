//! Many figures at once: methods, waits, counters.
//!
//! With hundreds of figures some differ by chance. Here the chance that *any* is flagged where nothing differs is α
//! (the family-wise error). Each figure is held against the largest statistic of all figures under each labelling
//! (Westfall and Young): figures that move together, as a method and its callers do, cost nothing, and with thousands of
//! figures something can still be found. Runs that are too few to permute are tested with a moderated t and Holm's
//! correction.

use crate::adjust::holm;
use crate::byte_sums::ByteSums;
use crate::confidence::Confidence;
use crate::design::Side;
use crate::permutations::Labellings;
use crate::problem::Problem;
use crate::robust::{median, median_of};
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
        let design = labellings.design();
        let mut sorted = Vec::with_capacity(keys.len());
        for (index, key) in keys.iter().enumerate() {
            if !(key.quantum > 0.0 && key.quantum.is_finite()) {
                return Err(Problem::Quantum(index));
            }
            sorted.push(design.by_position(key.values)?);
        }
        let keys: Vec<Key<'_>> =
            keys.iter().zip(&sorted).map(|(key, values)| Key { values, quantum: key.quantum }).collect();
        let stabiliser = Stabiliser::of(&keys, &sets(labellings));
        let columns = keys.iter().map(|key| Column::new(labellings, key, stabiliser)).collect::<Vec<_>>();
        let moderated = Moderated::new(labellings);
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
        Ok(Self { method, stabiliser, keys: tests })
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

/// The moderated t of a labelling.
struct Moderated {
    pivots: f64,
    others: f64,
    freedom: f64,
}

/// A difference on the scale, B − A, and the variance within the sets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Difference {
    difference: f64,
    variance: f64,
}

impl Moderated {
    fn new(labellings: &Labellings) -> Self {
        let pivots = labellings.pivots() as f64;
        let others = labellings.design().runs() as f64 - pivots;
        Self { pivots, others, freedom: pivots + others - 2.0 }
    }

    /// The difference of a labelling of which `sum` is the pivot's sum. The sum of squares around both means is that
    /// around the common mean less what the difference explains, so one sum per key and labelling is all that is needed.
    #[inline]
    fn difference(&self, column: &Column, sum: f64, sign: f64) -> Difference {
        let apart = |sum: f64| sum / self.pivots - (column.all - sum) / self.others;
        let full = apart(sum);
        let explained = full * full * self.pivots * self.others / (self.pivots + self.others);
        let variance = (column.squares - explained).max(0.0) / self.freedom.max(1.0);
        Difference { difference: sign * (full - apart(column.expected)), variance }
    }

    /// The part of t's denominator that the keys share, from the median of the variances.
    fn prior(&self, median_variance: f64) -> f64 {
        PRIOR_FREEDOM * median_variance
    }

    #[inline]
    fn t(&self, prior: f64, of: Difference) -> f64 {
        let variance = (prior + self.freedom * of.variance) / (PRIOR_FREEDOM + self.freedom);
        of.difference / (variance.max(SMALLEST_VARIANCE) * (1.0 / self.pivots + 1.0 / self.others)).sqrt()
    }

    /// The signed t of the observed labelling, by key.
    fn observe(&self, labellings: &Labellings, columns: &[Column]) -> Vec<f64> {
        let Some(bits) = labellings.iter().next() else { return Vec::new() };
        let of = |column: &Column| self.difference(column, column.sums.sum(bits), labellings.sign());
        let differences: Vec<Difference> = columns.iter().map(of).collect();
        let variances: Vec<f64> = differences.iter().map(|of| of.variance).collect();
        let prior = self.prior(median(&variances).unwrap_or(0.0));
        differences.into_iter().map(|of| self.t(prior, of)).collect()
    }

    fn student(&self, labellings: &Labellings, columns: &[Column]) -> Vec<KeyTest> {
        let t = self.observe(labellings, columns);
        let tail = |t: &f64| two_sided_tail(*t, self.freedom + PRIOR_FREEDOM).unwrap_or(1.0);
        let alone: Vec<f64> = t.iter().map(tail).collect();
        t.into_iter().zip(holm(&alone)).zip(alone).map(|((t, p), alone)| key_test(t, p, alone)).collect()
    }

    fn permute(&self, labellings: &Labellings, columns: &[Column]) -> Vec<KeyTest> {
        let observed = self.observe(labellings, columns);
        let keys = columns.len();
        let all: Vec<&[u64]> = labellings.iter().collect();
        let mut largest = Vec::with_capacity(all.len());
        // By key: the labellings under which its own statistic is as large as observed.
        let mut alone = vec![0u32; keys];
        let mut differences = vec![Difference::default(); keys * BATCH];
        let mut variances = vec![0.0; keys];
        for batch in all.chunks(BATCH) {
            for (key, column) in columns.iter().enumerate() {
                for (&bits, place) in batch.iter().zip(differences[key..].iter_mut().step_by(keys)) {
                    *place = self.difference(column, column.sums.sum(bits), 1.0);
                }
            }
            for row in differences.chunks_exact(keys.max(1)).take(batch.len()) {
                variances.iter_mut().zip(row).for_each(|(variance, of)| *variance = of.variance);
                let prior = self.prior(median_of(&mut variances).unwrap_or(0.0));
                let mut maximum = 0.0f64;
                for ((of, observed), alone) in row.iter().zip(&observed).zip(&mut alone) {
                    let t = self.t(prior, *of).abs();
                    maximum = maximum.max(t);
                    *alone += u32::from(t >= observed.abs() - SAME);
                }
                largest.push(maximum);
            }
        }
        largest.sort_unstable_by(f64::total_cmp);
        let count = all.len() as f64;
        let within = |t: f64| (largest.len() - largest.partition_point(|&largest| largest < t.abs() - SAME)) as f64;
        observed.iter().zip(alone).map(|(&t, alone)| key_test(t, within(t) / count, f64::from(alone) / count)).collect()
    }
}

fn key_test(t: f64, p: f64, p_alone: f64) -> KeyTest {
    KeyTest { statistic: t.abs(), is_increase: t > 0.0, p, p_alone }
}
