//! How well samples tell a time.
//!
//! Neighbouring samples of one long call depend on each other, so that these errors are lower bounds. They serve for one
//! run against one, where nothing else is known of the noise, and for figures of a few samples.

/// The standard error of the time of `samples` samples, each worth `quantum`, in the unit of `quantum`. With `of`, the
/// time is a share of that of so many samples, whose total is known; without, it is a count.
#[must_use]
pub fn sampling_error(samples: u64, of: Option<u64>, quantum: f64) -> f64 {
    let share = of.filter(|&of| of > 0).map_or(0.0, |of| (samples as f64 / of as f64).min(1.0));
    quantum * (samples as f64 * (1.0 - share)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::sampling_error;

    #[test]
    fn counts_and_shares() {
        assert_eq!(sampling_error(100, None, 0.9), 9.0);
        assert_eq!(sampling_error(50, Some(100), 2.0), 10.0);
        assert_eq!((sampling_error(7, Some(7), 1.0), sampling_error(1, Some(0), 0.9)), (0.0, 0.9));
    }
}
