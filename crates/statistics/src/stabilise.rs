//! A scale on which figures of very different size vary alike.
//!
//! The time of a method is known from samples, whose noise is that of counts (its variance grows with the mean), and it
//! varies between runs (its variance grows with the square of the mean). On the scale y = (2/c)·asinh(c·√(x/q + 3/8))
//! the variance is about 1 in both cases, q being what one count is worth and c the spread between runs.

use crate::family::Key;
use crate::robust::median_of;

/// The smallest spread between runs; below it the scale is a square root.
const SMALLEST_SPREAD: f64 = 1e-4;

/// The scale. Values below 0 are mirrored, so that it is monotonous everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stabiliser {
    spread: f64,
}

impl Stabiliser {
    /// A scale for figures that vary between runs by this share.
    #[must_use]
    pub fn new(spread: f64) -> Self {
        Self { spread: if spread > SMALLEST_SPREAD { spread } else { SMALLEST_SPREAD } }
    }

    /// The scale for these keys: the median spread between runs of the same set that counting does not explain. `sets`
    /// are the indexes of the runs of each set.
    #[must_use]
    pub fn of(keys: &[Key<'_>], sets: &[Vec<usize>]) -> Self {
        let mut squares: Vec<f64> = keys.iter().filter_map(|key| unexplained(key, sets)).collect();
        Self::new(median_of(&mut squares).unwrap_or(0.0).sqrt())
    }

    /// The share by which figures vary between runs.
    #[must_use]
    pub fn spread(self) -> f64 {
        self.spread
    }

    /// A value on the scale; `quantum` is the value of one count.
    #[must_use]
    pub fn apply(self, value: f64, quantum: f64) -> f64 {
        let at = |counts: f64| 2.0 / self.spread * (self.spread * (counts + 0.375).sqrt()).asinh();
        let counts = (value / quantum).clamp(-f64::MAX, f64::MAX);
        if counts >= 0.0 { at(counts) } else { 2.0 * at(0.0) - at(-counts) }
    }
}

/// The square of the spread between runs, relative to the mean, without the noise of counts. `None` where the mean is 0
/// or too few runs are there.
fn unexplained(key: &Key<'_>, sets: &[Vec<usize>]) -> Option<f64> {
    let mean = key.values.iter().sum::<f64>() / key.values.len() as f64;
    // Relative to the mean: the squares of large numbers are infinite.
    let mut squares = 0.0;
    let mut freedom = 0;
    for set in sets {
        let values = || set.iter().map(|&run| key.values[run] / mean);
        let center = values().sum::<f64>() / set.len() as f64;
        squares += values().map(|value| (value - center).powi(2)).sum::<f64>();
        freedom += set.len().saturating_sub(1);
    }
    let square = squares / freedom as f64 - (key.quantum / mean).abs();
    square.is_finite().then_some(square.max(0.0))
}
