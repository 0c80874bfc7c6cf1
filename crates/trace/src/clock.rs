//! The recording's clock: raw ticks to nanoseconds since time zero.

/// Converts raw ticks to nanoseconds since time zero: ns = floor((ticks − T0) · 10⁹ / frequency), in 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Raw tick at time zero: the earliest session start over the parts of the recording.
    pub zero: i64,
    /// Ticks per second, > 0.
    pub frequency: i64,
}

impl Clock {
    /// A clock that starts at `zero` and runs with `frequency` ticks per second; a frequency of 0 or less counts as 10 MHz,
    /// so that hostile input cannot divide by zero.
    #[must_use]
    pub fn new(zero: i64, frequency: i64) -> Self {
        Self { zero, frequency: if frequency > 0 { frequency } else { 10_000_000 } }
    }

    /// Nanoseconds since time zero; negative before it, saturating at the ends of `i64`.
    #[must_use]
    #[inline]
    pub fn ns(&self, ticks: i64) -> i64 {
        let delta = i128::from(ticks) - i128::from(self.zero);
        match self.frequency {
            // A division of 128 bits takes as long as much of what is done with an event: these are the usual clocks.
            1_000_000_000 => clamp(delta),
            10_000_000 => clamp(delta * 100),
            frequency => clamp((delta * 1_000_000_000).div_euclid(i128::from(frequency))),
        }
    }

    /// The first tick that is not before `ns` nanoseconds since time zero.
    #[must_use]
    pub fn ticks(&self, ns: i64) -> i64 {
        let scaled = i128::from(ns) * i128::from(self.frequency);
        clamp(-(-scaled).div_euclid(1_000_000_000) + i128::from(self.zero))
    }
}

fn clamp(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn rounds_down_on_both_sides_of_time_zero() {
        let clock = Clock::new(100, 3_000_000_000);
        assert_eq!(clock.ns(100), 0);
        assert_eq!(clock.ns(101), 0);
        assert_eq!(clock.ns(103), 1);
        assert_eq!(clock.ns(99), -1);
    }

    #[test]
    fn ticks_is_the_first_tick_not_before() {
        let clock = Clock::new(795_703_453_043, 2_337_949);
        for ns in [0, 1, 427, 428, 1_000_000_007, -5] {
            let ticks = clock.ticks(ns);
            assert!(clock.ns(ticks) >= ns && clock.ns(ticks - 1) < ns);
        }
    }

    #[test]
    fn hostile_values_saturate() {
        let clock = Clock::new(i64::MIN, 1);
        assert_eq!(clock.ns(i64::MAX), i64::MAX);
        assert_eq!(Clock::new(0, 0).frequency, 10_000_000);
    }
}
