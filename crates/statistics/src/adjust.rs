//! Corrections of many p at once. NaN counts as 1.

/// Holm's correction: with it, the chance that any of several true hypotheses is rejected stays at most α.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut largest = 0.0f64;
    adjusted(p, false, |rank, count, p| {
        largest = largest.max(p * (count - rank) as f64).min(1.0);
        largest
    })
}

/// The correction of Benjamini and Hochberg: of the hypotheses that are rejected with it, a share of α is true on average.
/// For exploring only.
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut smallest = 1.0f64;
    adjusted(p, true, |rank, count, p| {
        smallest = smallest.min(p * count as f64 / (rank + 1) as f64);
        smallest
    })
}

/// Calls `adjust` with the rank from 0 by ascending p, the number of all, and p.
fn adjusted(p: &[f64], descending: bool, mut adjust: impl FnMut(usize, usize, f64) -> f64) -> Vec<f64> {
    let known: Vec<f64> = p.iter().map(|&p| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) }).collect();
    let mut order: Vec<(usize, usize)> = (0..p.len()).map(|index| (0, index)).collect();
    order.sort_by(|a, b| known[a.1].total_cmp(&known[b.1]));
    order.iter_mut().enumerate().for_each(|(rank, entry)| entry.0 = rank);
    if descending {
        order.reverse();
    }
    let mut result = vec![1.0; p.len()];
    for (rank, index) in order {
        result[index] = adjust(rank, p.len(), known[index]);
    }
    result
}
