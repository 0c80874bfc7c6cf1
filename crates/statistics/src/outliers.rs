//! Runs that stand apart from the others of their set. They are named, and they stay in all figures.

use crate::robust::{median, median_deviation};

/// Standard deviations from the median, the deviation being estimated from the median one.
const DEVIATIONS: f64 = 3.5;

/// The standard deviation of normal values whose median deviation is 1.
const NORMAL: f64 = 1.4826;

/// A run that is nearer to the median than this share is no outlier, however quiet the others are.
const LEAST_CHANGE: f64 = 0.05;

/// The indexes of the outliers of a set of positive values, ascending. Values without a logarithm are none.
#[must_use]
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let known: Vec<f64> = values.iter().filter(|&&value| has_logarithm(value)).map(|value| value.ln()).collect();
    let (Some(center), Some(deviation)) = (median(&known), median_deviation(&known)) else { return Vec::new() };
    let limit = (DEVIATIONS * NORMAL * deviation).max(LEAST_CHANGE.ln_1p());
    let is_outlier = |value: f64| has_logarithm(value) && (value.ln() - center).abs() > limit;
    (0..values.len()).filter(|&index| is_outlier(values[index])).collect()
}

/// By run: whether it lies between the 20 % shortest and the 20 % longest of its set, whose mean is then a trimmed one.
/// Of equal values, the later ones count as longer.
#[must_use]
pub fn central(values: &[f64]) -> Vec<bool> {
    let cut = values.len() / 5;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut central = vec![false; values.len()];
    order[cut..values.len() - cut].iter().for_each(|&index| central[index] = true);
    central
}

fn has_logarithm(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

#[cfg(test)]
mod tests {
    use super::{central, outliers};

    #[test]
    fn far_and_by_much() {
        assert_eq!(outliers(&[100.0, 101.0, 99.0, 100.5, 140.0, 60.0]), [4, 5]);
        // Ten deviations, but 1 %.
        assert_eq!(outliers(&[100.0, 100.1, 99.9, 100.0, 101.0]), [0; 0]);
        // All others are equal.
        assert_eq!(outliers(&[100.0, 100.0, 100.0, 106.0]), [3]);
        assert_eq!(outliers(&[1.0, 1.0, 0.0, f64::NAN, -1.0, f64::INFINITY]), [0; 0]);
        assert_eq!((outliers(&[]), outliers(&[1.0, 100.0])), (vec![], vec![]));
    }

    #[test]
    fn a_fifth_on_either_side() {
        assert_eq!(central(&[5.0, 1.0, 3.0, 2.0, 4.0]), [false, false, true, true, true]);
        assert_eq!(central(&[2.0, 1.0]), [true, true]);
    }
}
