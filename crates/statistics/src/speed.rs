//! The speed factor: everything is slower.
//!
//! Where code that did not change takes longer everywhere by the same factor, the cause is not that code: the clock, the
//! memory, efficient cores. The factor is the median of the ratios of all unchanged keys, so that the few keys that did
//! change do not move it.

use crate::confidence::Confidence;
use crate::robust::median;
use crate::welch::{mean, variance};

/// The values of a key of unchanged code, one per run. Keys with less than about 20 samples per run say little.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnchangedKey<'v> {
    /// By run of A.
    pub a: &'v [f64],
    /// By run of B.
    pub b: &'v [f64],
}

/// The factor of B's times to A's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// The median ratio of the means; above 1 B is slower.
    pub factor: f64,
    /// The interval of the factor, from the order of the ratios. Infinite, and 0 below, with too few keys: 95 % need 6.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Number of keys that have a ratio.
    pub keys: usize,
    /// The share of them whose ratio is the factor within 1.96 standard errors and 1 %.
    pub agreeing: f64,
}

/// A row's difference in two parts, in units of 1/nm, as
/// [`RowDifference::numerator`](crate::rows::RowDifference::numerator). They add up to it exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpeedSplit {
    /// What the speed factor explains.
    pub speed: i128,
    /// The rest, the row's own.
    pub own: i128,
}

/// Fewer keys than this show no common factor.
const FEWEST_KEYS: usize = 5;

/// A factor nearer to 1 than this is no finding.
const LEAST_CHANGE: f64 = 0.02;

/// Fewer keys that agree show no common factor.
const LEAST_AGREEING: f64 = 0.7;

/// How far the ratio of a key may be off, beside its standard errors.
const TOLERANCE: f64 = 0.01;

impl Speed {
    /// The factor of these keys. Keys whose mean is not positive and finite in both sets are left out. `None` without any.
    #[must_use]
    pub fn of(keys: &[UnchangedKey<'_>], confidence: Confidence) -> Option<Self> {
        let ratios: Vec<Ratio> = keys.iter().filter_map(Ratio::of).collect();
        let mut sorted: Vec<f64> = ratios.iter().map(|ratio| ratio.logarithm).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let center = median(&sorted)?;
        let agrees = |ratio: &&Ratio| (ratio.logarithm - center).abs() <= 1.96 * ratio.error + TOLERANCE;
        let agreeing = ratios.iter().filter(agrees).count() as f64 / ratios.len() as f64;
        let cut = outside(ratios.len(), confidence);
        let end = |index: usize| sorted.get(index).map(|logarithm| logarithm.exp());
        let low = cut.and_then(end).unwrap_or(0.0);
        let high = cut.and_then(|cut| end(sorted.len() - 1 - cut)).unwrap_or(f64::INFINITY);
        Some(Self { factor: center.exp(), low, high, keys: ratios.len(), agreeing })
    }

    /// Whether the factor is a finding: enough keys, of which most agree, an interval that excludes 1, and 2 % at least.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.keys >= FEWEST_KEYS
            && (self.low > 1.0 || self.high < 1.0)
            && (self.factor - 1.0).abs() >= LEAST_CHANGE
            && self.agreeing >= LEAST_AGREEING
    }

    /// Splits the difference of a row of run time, whose values are given by run.
    #[must_use]
    pub fn split(&self, a: &[i64], b: &[i64]) -> SpeedSplit {
        let sum = |values: &[i64]| values.iter().copied().map(i128::from).sum::<i128>();
        let (of_a, of_b) = (b.len() as i128 * sum(a), a.len() as i128 * sum(b));
        let speed = (of_a as f64 * (self.factor - 1.0)).round() as i128;
        SpeedSplit { speed, own: (of_b - of_a).saturating_sub(speed) }
    }
}

/// The ratio of the means of a key, on logarithms.
struct Ratio {
    logarithm: f64,
    /// Standard error; 0 with one run.
    error: f64,
}

impl Ratio {
    fn of(key: &UnchangedKey<'_>) -> Option<Self> {
        let (mean_a, mean_b) = (mean(key.a)?, mean(key.b)?);
        let logarithm = mean_b.ln() - mean_a.ln();
        let square = |values: &[f64], mean: f64| {
            variance(values).map_or(0.0, |variance| variance.sqrt() / mean).powi(2) / values.len() as f64
        };
        let error = (square(key.a, mean_a) + square(key.b, mean_b)).sqrt();
        (logarithm.is_finite() && mean_a > 0.0 && mean_b > 0.0).then_some(Self { logarithm, error })
    }
}

/// How many of `count` sorted values lie outside of the interval of their median on either side: the most for which the
/// chance that a fair coin falls on one side no more often is at most α/2. `None` if even none is too many.
fn outside(count: usize, confidence: Confidence) -> Option<usize> {
    // P(X = 0), P(X = 1) … of a fair coin; 0 for very many keys, where the first terms do not matter either.
    let mut logarithm = -(count as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    let mut cut = None;
    for heads in 0..count.div_ceil(2) {
        below += logarithm.exp();
        if !confidence.rejects(2.0 * below) {
            break;
        }
        cut = Some(heads);
        logarithm += ((count - heads) as f64 / (heads + 1) as f64).ln();
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::{Speed, SpeedSplit, UnchangedKey, outside};
    use crate::confidence::Confidence;

    #[test]
    fn order_statistics() {
        let cut = |count| outside(count, Confidence::default());
        // From the tables of the sign test: 6 values allow none outside, 9 one, 100 thirty-nine.
        let expected = [(0, None), (5, None), (6, Some(0)), (8, Some(0)), (9, Some(1)), (20, Some(5)), (100, Some(39))];
        for (count, expected) in expected {
            assert_eq!(cut(count), expected, "{count}");
        }
        assert!(cut(100_000).is_some_and(|cut| cut.abs_diff(49_690) < 10));
    }

    #[test]
    fn all_but_one_are_slower() {
        let a: Vec<Vec<f64>> = (1..=9).map(|key| vec![10.0 * f64::from(key); 3]).collect();
        let times = |key: usize| if key == 4 { 2.0 } else { 1.1 };
        let b: Vec<Vec<f64>> = a.iter().enumerate().map(|(key, a)| vec![a[0] * times(key); 2]).collect();
        let keys: Vec<_> = a.iter().zip(&b).map(|(a, b)| UnchangedKey { a, b }).collect();
        let speed = Speed::of(&keys, Confidence::default()).expect("keys");
        assert!((speed.factor - 1.1).abs() < 1e-12 && speed.is_accepted(), "{speed:?}");
        let split = speed.split(&[100, 100, 100], &[130, 130]);
        assert_eq!(split, SpeedSplit { speed: 60, own: 120 });
        let few = Speed::of(&keys[..5], Confidence::default()).expect("keys");
        assert_eq!((few.low, few.high, few.is_accepted()), (0.0, f64::INFINITY, false));
        assert_eq!(Speed::of(&[UnchangedKey { a: &[0.0], b: &[f64::NAN] }], Confidence::default()), None);
    }
}
