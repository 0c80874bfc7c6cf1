//! Gaps between runs: a set that has two modes, and a split of runs into fast and slow ones.

/// A gap between the sorted values of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Number of values below the gap.
    pub below: usize,
    /// The largest value below the gap.
    pub low: f64,
    /// The smallest value above the gap.
    pub high: f64,
}

impl Gap {
    /// The middle of the gap on logarithms: a limit between both sides.
    #[must_use]
    pub fn limit(&self) -> f64 {
        (self.low.sqrt() * self.high.sqrt()).clamp(self.low, self.high)
    }

    /// The gap as a ratio − 1.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high / self.low - 1.0
    }
}

/// Fewer runs than this have no modes.
const FEWEST_RUNS: usize = 8;

/// A gap has to be wider than this, as a ratio − 1.
const LEAST_WIDTH: f64 = 0.02;

/// A gap has to be wider than this many standard deviations of either side.
const DEVIATIONS: f64 = 2.5;

/// The largest gap, as a ratio, that leaves `least` values on both sides. `None` if the values are too few or all equal,
/// or one is not positive and finite. Of equal gaps the lowest.
#[must_use]
pub fn largest_gap(values: &[f64], least: usize) -> Option<Gap> {
    largest(&sorted(values)?, least)
}

/// The gap between two modes. At least three runs and a fifth of them lie on either side; the gap is wider than 2 % and
/// than 2.5 standard deviations of either side. `None` as [`largest_gap`], and below eight runs.
#[must_use]
pub fn modes(values: &[f64]) -> Option<Gap> {
    if values.len() < FEWEST_RUNS {
        return None;
    }
    let sorted = sorted(values)?;
    let gap = largest(&sorted, values.len().div_ceil(5).max(3))?;
    let (below, above) = sorted.split_at(gap.below);
    let deviation = deviation(below).max(deviation(above));
    let width = (gap.high / gap.low).ln();
    (gap.width() > LEAST_WIDTH && width > DEVIATIONS * deviation).then_some(gap)
}

fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.iter().all(|&value| value > 0.0 && value.is_finite()).then_some(sorted)
}

fn largest(sorted: &[f64], least: usize) -> Option<Gap> {
    let least = least.max(1);
    let gap = |below: usize| Gap { below, low: sorted[below - 1], high: sorted[below] };
    let gaps = (least..(sorted.len() + 1).saturating_sub(least)).map(gap);
    let largest = gaps.reduce(|best, gap| if gap.high / gap.low > best.high / best.low { gap } else { best })?;
    (largest.high > largest.low).then_some(largest)
}

/// The standard deviation of the logarithms.
fn deviation(values: &[f64]) -> f64 {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    crate::welch::variance(&logarithms).unwrap_or(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{Gap, largest_gap, modes};

    #[test]
    fn two_modes() {
        let values = [110.0, 100.0, 101.0, 100.5, 111.0, 110.5, 101.5, 100.2];
        let gap = modes(&values).expect("two modes");
        assert_eq!(gap, Gap { below: 5, low: 101.5, high: 110.0 });
        assert!(gap.limit() > 105.6 && gap.limit() < 105.7);
        // Two runs alone are no mode.
        assert_eq!(modes(&[100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 150.0, 151.0]), None);
        assert_eq!(modes(&values[..7]), None);
    }

    #[test]
    fn the_largest_gap() {
        assert_eq!(largest_gap(&[1.0, 2.0, 8.0, 9.0], 1), Some(Gap { below: 2, low: 2.0, high: 8.0 }));
        assert_eq!(largest_gap(&[1.0, 10.0, 11.0, 12.0], 2), Some(Gap { below: 2, low: 10.0, high: 11.0 }));
        assert_eq!((largest_gap(&[3.0; 5], 1), largest_gap(&[], 0), largest_gap(&[1.0], 1)), (None, None, None));
        assert_eq!((largest_gap(&[0.0, 1.0], 1), largest_gap(&[1.0, f64::NAN], 1)), (None, None));
        let huge = largest_gap(&[f64::MIN_POSITIVE, f64::MAX], 1).expect("a gap");
        assert!(huge.limit() > huge.low && huge.limit() < huge.high);
    }
}
