//! Rounding that keeps sums: parts are rounded down, and what is missing goes to the largest remainders.

/// Parts as whole numbers, and their sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rounded {
    /// Each at most one away from its exact value.
    pub parts: Vec<i128>,
    /// The exact sum, rounded (halves away from 0); the parts add up to it.
    pub total: i128,
}

/// The fractions `numerator / denominator`, rounded so that they add up to their rounded sum. Of equal remainders the
/// first ones are rounded up. A denominator below 1 counts as 1; sums beyond `i128` end at its limits.
#[must_use]
pub fn largest_remainders(numerators: &[i128], denominator: i128) -> Rounded {
    let denominator = denominator.max(1);
    let sum = numerators.iter().fold(0i128, |sum, &part| sum.saturating_add(part));
    let total = divide_rounded(sum, denominator);
    Rounded { parts: rounded_to(numerators, denominator, total).unwrap_or_default(), total }
}

/// As [`largest_remainders`], but the parts add up to `total`: that of a row that is rounded with others of its level.
/// `None` if no rounding up or down of each part gives it.
#[must_use]
pub fn rounded_to(numerators: &[i128], denominator: i128, total: i128) -> Option<Vec<i128>> {
    let denominator = denominator.max(1);
    let mut parts: Vec<i128> = numerators.iter().map(|part| part.div_euclid(denominator)).collect();
    let floors = parts.iter().try_fold(0i128, |sum, &part| sum.checked_add(part))?;
    let missing = usize::try_from(total.checked_sub(floors)?).ok()?;
    if missing > parts.len() {
        return None;
    }
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(numerators[index].rem_euclid(denominator)));
    order[..missing].iter().for_each(|&index| parts[index] += 1);
    Some(parts)
}

/// `total` divided among parts by their weights: whole numbers that add up to `total`. All 0 if the weights are.
#[must_use]
pub fn apportion(total: i64, weights: &[u64]) -> Vec<i64> {
    let sum: i128 = weights.iter().copied().map(i128::from).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let numerators: Vec<i128> = weights.iter().map(|&weight| i128::from(total) * i128::from(weight)).collect();
    // At most 127 bits, as a weight is at most the sum. No part is larger than the total.
    let parts = rounded_to(&numerators, sum, i128::from(total)).unwrap_or_default();
    parts.into_iter().map(|part| i64::try_from(part).unwrap_or(total)).collect()
}

/// The quotient, halves away from 0. `divisor` is positive.
pub fn divide_rounded(dividend: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    quotient + if rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2) { dividend.signum() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{apportion, divide_rounded, largest_remainders, rounded_to};
    use proptest::prelude::*;

    #[test]
    fn halves_go_away_from_0() {
        assert_eq!([-3, -2, -1, 0, 1, 2, 3].map(|n| divide_rounded(n, 2)), [-2, -1, -1, 0, 1, 1, 2]);
        assert_eq!([-2, -1, 1, 2].map(|n| divide_rounded(n, 3)), [-1, 0, 0, 1]);
    }

    #[test]
    fn three_thirds() {
        let rounded = largest_remainders(&[1, 1, 1], 3);
        assert_eq!((rounded.parts, rounded.total), (vec![1, 0, 0], 1));
        assert_eq!(largest_remainders(&[], 7).total, 0);
        assert_eq!(rounded_to(&[1, 1], 3, 3), None);
        assert_eq!(apportion(10, &[0, 0]), [0, 0]);
    }

    proptest! {
        #[test]
        fn parts_add_up(parts in prop::collection::vec(any::<i64>(), 0..50), denominator in 1i64..) {
            let parts: Vec<i128> = parts.into_iter().map(i128::from).collect();
            let denominator = i128::from(denominator);
            let rounded = largest_remainders(&parts, denominator);
            prop_assert_eq!(rounded.parts.len(), parts.len());
            prop_assert_eq!(rounded.parts.iter().sum::<i128>(), rounded.total);
            for (exact, rounded) in parts.iter().zip(&rounded.parts) {
                prop_assert!((exact - rounded * denominator).abs() < denominator);
            }
            // The children of each part add up to it, however it was rounded.
            for (exact, rounded) in parts.iter().zip(&rounded.parts) {
                let children = [exact / 3, exact / 7, exact - exact / 3 - exact / 7];
                let children = rounded_to(&children, denominator, *rounded);
                prop_assert_eq!(children.map(|children| children.iter().sum()), Some(*rounded));
            }
        }

        #[test]
        fn shares_add_up(total in any::<i64>(), weights in prop::collection::vec(any::<u64>(), 1..50)) {
            prop_assume!(weights.iter().any(|&weight| weight > 0));
            let parts = apportion(total, &weights);
            prop_assert_eq!(parts.iter().copied().map(i128::from).sum::<i128>(), i128::from(total));
            let sum: f64 = weights.iter().map(|&weight| weight as f64).sum();
            for (part, weight) in parts.iter().zip(weights) {
                prop_assert!((*part as f64 - total as f64 * (weight as f64 / sum)).abs() <= 1.0 + 1e-9 * (total as f64).abs());
            }
        }
    }
}
