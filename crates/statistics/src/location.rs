//! Where in a series a change lies, and how well that is known.
//!
//! Ranks tell that there is a change. They do not tell how far apart its two sides are, so that the smallest run of the
//! larger side can count for the smaller one. Here each place has a likelihood: that of normal values with a mean of their
//! own on either side. Values far from both sides are drawn in, because a single outlier must not decide. Twice the
//! logarithm of the ratio of the largest likelihood to that of the true place is below c with probability
//! (1 − e^(−c/2))² (Siegmund 1988). Places within this are possible ones.

use crate::robust::{median, median_deviation};

/// With this c, (1 − e^(−c/2))² is 0.95.
const LIMIT: f64 = 7.35;

/// Values are drawn in to so many standard deviations from the sides, the deviation being estimated from the median one.
const DEVIATIONS: f64 = 2.5;

/// The standard deviation of normal values whose median deviation is 1.
const NORMAL: f64 = 1.4826;

/// The place of a change, as the number of runs before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// The earliest possible place.
    pub(crate) first: usize,
    /// The likeliest place; the first of equals.
    pub(crate) likeliest: usize,
    /// The latest possible place.
    pub(crate) last: usize,
}

impl Location {
    /// That of the change of a stretch that was found at `place`. `factor` is how much larger deviations are than those of
    /// runs that do not depend on each other. `fewest` runs stand on either side of the likeliest place.
    pub(crate) fn of_change(values: &[f64], place: usize, factor: f64, fewest: usize) -> Self {
        let left = left_by_place(&drawn_in(values, place));
        let inner = left.iter().filter(|(place, _)| *place >= fewest && values.len() - place >= fewest);
        let found = inner.min_by(|a, b| a.1.total_cmp(&b.1));
        let Some(&(likeliest, least)) = found else { return Self { first: place, likeliest: place, last: place } };
        let runs = values.len() as f64;
        let is_possible = |left: f64| {
            left <= least * (1.0 + 1e-9) || (least > 0.0 && runs * (left / least).ln() <= LIMIT * factor * factor)
        };
        let possible = || left.iter().filter(|(_, left)| is_possible(*left)).map(|(place, _)| *place);
        let first = possible().min().unwrap_or(likeliest).min(likeliest);
        Self { first, likeliest, last: possible().max().unwrap_or(likeliest).max(likeliest) }
    }
}

/// The values, those beyond both sides of `place` drawn in to where the values of the sides end.
fn drawn_in(values: &[f64], place: usize) -> Vec<f64> {
    let (before, after) = values.split_at(place.min(values.len()));
    let reach = |side: &[f64]| {
        let center = median(side)?;
        let reach = DEVIATIONS * NORMAL * median_deviation(side)?;
        Some((center - reach, center + reach))
    };
    let (Some((a, b)), Some((c, d))) = (reach(before), reach(after)) else { return values.to_vec() };
    values.iter().map(|value| value.max(a.min(c)).min(b.max(d))).collect()
}

/// By place: what is left of the sum of squares if either side has a mean of its own.
fn left_by_place(values: &[f64]) -> Vec<(usize, f64)> {
    let runs = values.len() as f64;
    let center = values.iter().sum::<f64>() / runs.max(1.0);
    let all: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    // The sum of all is 0, so that both sides have the same sum but for the sign.
    let mut sum = 0.0;
    let left = |(place, value): (usize, &f64)| {
        sum += value - center;
        let before = place as f64;
        // Rounding leaves a little, or takes it.
        (place, (all - sum * sum / before - sum * sum / (runs - before)).max(1e-12 * all))
    };
    (1..).zip(values.iter().take(values.len().saturating_sub(1))).map(left).collect()
}

#[cfg(test)]
mod tests {
    use super::Location;

    fn of(values: &[f64], place: usize, factor: f64) -> (usize, usize, usize) {
        let Location { first, likeliest, last } = Location::of_change(values, place, factor, 4);
        (first, likeliest, last)
    }

    #[test]
    fn a_clear_step_has_one_place_and_a_weak_one_several() {
        let clear: Vec<f64> =
            (0..40).map(|run| if run < 17 { 100.0 } else { 200.0 } + f64::from(run * 7 % 5)).collect();
        assert_eq!(of(&clear, 17, 1.0), (17, 17, 17));
        // Ranks may be a run off, and an outlier decides nothing.
        let mut outlier = clear.clone();
        (outlier[3], outlier[30]) = (500.0, 1.0);
        assert_eq!((of(&clear, 18, 1.0), of(&outlier, 17, 1.0)), ((17, 17, 17), (17, 17, 17)));
        let weak: Vec<f64> = (0..40).map(|run| f64::from(u8::from(run >= 17)) * 3.0 + f64::from(run * 7 % 5)).collect();
        let (first, _, last) = of(&weak, 17, 1.0);
        assert!(first < last && (first..=last).contains(&17), "{first} {last}");
        // Runs that depend on each other tell less.
        let (earlier, _, later) = of(&weak, 17, 2.0);
        assert!(earlier <= first && later >= last && later - earlier > last - first);
    }

    #[test]
    fn nothing_and_equal_values_have_a_place() {
        assert_eq!(of(&[], 0, 1.0), (0, 0, 0));
        assert_eq!(of(&[1.0], 1, 1.0), (1, 1, 1));
        assert_eq!(of(&[3.0; 9], 5, 1.0), (1, 4, 8));
        let two = [[1.0; 6], [2.0; 6]].concat();
        assert_eq!(of(&two, 6, 1.0), (6, 6, 6));
    }
}
