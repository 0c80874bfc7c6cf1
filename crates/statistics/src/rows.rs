//! Differences of means that add up exactly.
//!
//! Where the values of some rows add up to a total in every run, the differences of the rows' means add up to the
//! difference of the total's means. With n and m runs, each such difference is a whole number divided by nm. Rows are
//! kept as that whole number, and printed with [`largest_remainders`], so that they add up to the last digit.

use crate::confidence::Confidence;
use crate::remainders::{Rounded, largest_remainders};
use crate::welch::MeanDifference;

/// The difference of the means of a row, B − A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowDifference {
    /// n · Σ B − m · Σ A, for n runs of A and m of B.
    pub numerator: i128,
    /// n · m.
    pub denominator: i128,
    /// Half the width of the interval of Welch and Satterthwaite. `None` for one run against fewer than three, or against equal ones.
    pub half_width: Option<f64>,
}

impl RowDifference {
    /// The difference of two sets of runs. A run without the row has the value 0. `None` if a set is empty.
    #[must_use]
    pub fn of(a: &[i64], b: &[i64], confidence: Confidence) -> Option<Self> {
        let (&base, _) = a.split_first()?;
        b.first()?;
        let (n, m) = (a.len() as i128, b.len() as i128);
        let sum = |values: &[i64]| values.iter().copied().map(i128::from).sum::<i128>();
        // Large numbers that differ by little have their difference before they lose digits.
        let centered = |values: &[i64]| values.iter().map(|&v| (i128::from(v) - i128::from(base)) as f64).collect();
        let (of_a, of_b): (Vec<f64>, Vec<f64>) = (centered(a), centered(b));
        let half_width = MeanDifference::of(&of_a, &of_b).map(|means| means.half_width(confidence.level()));
        // Against a single run, equal values of the other set tell nothing of the noise: most rows are 0 in all runs but one.
        let is_constant = |values: &[i64]| values.iter().all(|value| *value == values[0]);
        let half_width = half_width.filter(|_| a.len() > 1 && b.len() > 1 || !(is_constant(a) && is_constant(b)));
        Some(Self { numerator: n * sum(b) - m * sum(a), denominator: n * m, half_width })
    }

    /// The difference of the means.
    #[must_use]
    pub fn value(&self) -> f64 {
        let whole = self.numerator.div_euclid(self.denominator);
        let rest = self.numerator.rem_euclid(self.denominator);
        whole as f64 + rest as f64 / self.denominator as f64
    }

    /// The interval of the difference; infinite where nothing is known of the noise.
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        let (value, half) = (self.value(), self.half_width.unwrap_or(f64::INFINITY));
        (value - half, value + half)
    }
}

/// The rows in whole units (1 for ns, 100,000 for tenths of a ms), rounded so that they add up to the rounded sum of all.
/// `None` if the rows do not have the same runs.
#[must_use]
pub fn rounded(rows: &[RowDifference], unit: u64) -> Option<Rounded> {
    let Some(first) = rows.first() else { return Some(Rounded::default()) };
    let same = rows.iter().all(|row| row.denominator == first.denominator);
    let numerators: Vec<i128> = rows.iter().map(|row| row.numerator).collect();
    same.then(|| largest_remainders(&numerators, first.denominator * i128::from(unit.max(1))))
}

#[cfg(test)]
mod tests {
    use super::{RowDifference, rounded};
    use crate::confidence::Confidence;
    use proptest::prelude::*;

    fn row(a: &[i64], b: &[i64]) -> RowDifference {
        RowDifference::of(a, b, Confidence::default()).expect("two sets")
    }

    #[test]
    fn extremes() {
        let widest = row(&[i64::MIN; 3], &[i64::MAX; 2]);
        assert_eq!(widest.numerator, 6 * (i128::from(i64::MAX) - i128::from(i64::MIN)));
        assert_eq!((widest.half_width, widest.value()), (Some(0.0), 2f64.powi(64)));
        assert_eq!(row(&[1], &[2]).interval(), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(row(&[0, 0, 0, 0], &[5]).interval(), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(row(&[0, 0, 0, 1], &[5]).half_width.is_some_and(|half| half > 0.5));
        assert_eq!(RowDifference::of(&[], &[1], Confidence::default()), None);
        // A difference of 1 beside 2^62 is not lost.
        let large = 1 << 62;
        let near = row(&[large, large + 2], &[large + 1, large + 3]);
        assert_eq!((near.value(), near.half_width.map(|half| half > 4.0 && half < 6.1)), (1.0, Some(true)));
    }

    proptest! {
        #[test]
        fn rows_add_up(
            runs in prop::collection::vec(prop::collection::vec(any::<i64>(), 6), 2..12),
            split in 1usize..11,
            unit in 1u64..1_000_000,
        ) {
            let split = split.min(runs.len() - 1);
            let rows: Vec<_> = (0..6).map(|index| {
                let values: Vec<i64> = runs.iter().map(|run| run[index] / 8).collect();
                row(&values[..split], &values[split..])
            }).collect();
            let total: Vec<i64> = runs.iter().map(|run| run.iter().map(|value| value / 8).sum()).collect();
            let total = row(&total[..split], &total[split..]);
            prop_assert_eq!(rows.iter().map(|row| row.numerator).sum::<i128>(), total.numerator);
            let printed = rounded(&rows, unit).expect("the same runs");
            prop_assert_eq!(printed.parts.iter().sum::<i128>(), printed.total);
            let total = total.value() / unit as f64;
            prop_assert!((printed.total as f64 - total).abs() <= 0.5 + 1e-9 * total.abs());
        }
    }
}
