//! Medians and ranks.

/// The median of the values, the mean of the middle two if their number is even. Reorders them. `None` without values.
/// NaN counts as larger than all numbers.
pub fn median_of(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    if values.is_empty() {
        return None;
    }
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = if even { below.iter().copied().max_by(f64::total_cmp)? } else { upper };
    // Halves first: the sum of two large numbers may be infinite.
    Some(if lower == upper { upper } else { 0.5 * lower + 0.5 * upper })
}

/// As [`median_of`], of a copy.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    median_of(&mut values.to_vec())
}

/// The median distance from the median. `None` without values.
#[must_use]
pub fn median_deviation(values: &[f64]) -> Option<f64> {
    let center = median(values)?;
    median_of(&mut values.iter().map(|value| (value - center).abs()).collect::<Vec<_>>())
}

/// The shift of Hodges and Lehmann: the median of all differences of a value of `b` and a value of `a`. `None` if one is
/// empty. Takes memory for all pairs.
#[must_use]
pub fn hodges_lehmann(a: &[f64], b: &[f64]) -> Option<f64> {
    median_of(&mut differences(a, b))
}

/// All differences of a value of `b` and a value of `a`.
pub(crate) fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    b.iter().flat_map(|b| a.iter().map(move |a| b - a)).collect()
}

/// The ranks of the values, from 1. Equal values share the mean of their ranks.
#[must_use]
pub fn midranks(values: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    fill_midranks(values, 0.0, &mut Vec::new(), &mut ranks);
    ranks
}

/// As [`midranks`], in memory that is there. Neighbours that differ by no more than `same` count as equal.
pub(crate) fn fill_midranks(values: &[f64], same: f64, order: &mut Vec<usize>, ranks: &mut [f64]) {
    order.clear();
    order.extend(0..values.len());
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| values[b] - values[a] <= same) {
        let rank = before as f64 + (equal.len() + 1) as f64 / 2.0;
        equal.iter().for_each(|&index| ranks[index] = rank);
        before += equal.len();
    }
}

/// The correlation of neighbours in the sequence of ranks: 1 where a value tells the next, 0 where runs do not depend
/// on each other. `None` below three values, or if all are equal.
#[must_use]
pub fn rank_autocorrelation(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let ranks = midranks(values);
    let mean = (values.len() + 1) as f64 / 2.0;
    let spread: f64 = ranks.iter().map(|rank| (rank - mean).powi(2)).sum();
    let products: f64 = ranks.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    (spread > 0.0).then(|| products / spread)
}

#[cfg(test)]
mod tests {
    use super::{fill_midranks, hodges_lehmann, median, median_deviation, midranks, rank_autocorrelation};

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(median_deviation(&[1.0, 2.0, 4.0, 9.0]), Some(1.5));
        assert_eq!(hodges_lehmann(&[1.0, 2.0], &[]), None);
        assert_eq!(hodges_lehmann(&[1.0, 2.0, 4.0], &[10.0]), Some(8.0));
    }

    #[test]
    fn ranks() {
        assert_eq!(midranks(&[5.0, 1.0, 5.0, -2.0, 5.0]), [4.0, 2.0, 4.0, 1.0, 4.0]);
        assert_eq!(midranks(&[]), [0.0; 0]);
        // 0.1 + 0.2 is 0.3 but for the rounding.
        let mut ranks = [0.0; 3];
        fill_midranks(&[0.1 + 0.2, 0.3, 0.0], 1e-12, &mut Vec::new(), &mut ranks);
        assert_eq!(ranks, [2.5, 2.5, 1.0]);
    }

    #[test]
    fn neighbours() {
        assert_eq!(rank_autocorrelation(&[1.0, 2.0]), None);
        assert_eq!(rank_autocorrelation(&[1.0; 9]), None);
        let alternating: Vec<f64> = (0..40).map(|index| f64::from(index % 2)).collect();
        assert!(rank_autocorrelation(&alternating).expect("forty") < -0.9);
        let rising: Vec<f64> = (0..40).map(f64::from).collect();
        assert!(rank_autocorrelation(&rising).expect("forty") > 0.9);
    }
}
