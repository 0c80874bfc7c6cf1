//! The sampling interval in force: what one sample of the timer stands for.

/// Interval of the timer when the recording does not say: 1 ms.
pub const DEFAULT_INTERVAL_NS: i64 = 1_000_000;

/// Changes of the timer's interval over time. Fed in time order.
#[derive(Clone, Debug, Default)]
pub struct SamplingIntervals {
    changes: Vec<(i64, i64)>,
    /// Interval before the first change.
    initial: Option<i64>,
    /// Interval told by rundown, without a change.
    told: Option<i64>,
}

impl SamplingIntervals {
    /// Nothing known: 1 ms.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The recording says which interval is in force.
    pub fn in_force(&mut self, interval_ns: i64) {
        if interval_ns > 0 && self.told.is_none() && self.changes.is_empty() {
            self.told = Some(interval_ns);
        }
    }

    /// The interval changes at `ticks`.
    pub fn change(&mut self, ticks: i64, old_ns: i64, new_ns: i64) {
        if self.changes.is_empty() && old_ns > 0 {
            self.initial = Some(old_ns);
        }
        if new_ns > 0 {
            self.changes.push((ticks, new_ns));
        }
    }

    /// The interval in force at `ticks`, ns.
    #[must_use]
    pub fn at(&self, ticks: i64) -> i64 {
        let after = self.changes.partition_point(|(at, _)| *at <= ticks);
        match after.checked_sub(1) {
            Some(index) => self.changes[index].1,
            None => self.told.or(self.initial).unwrap_or(DEFAULT_INTERVAL_NS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SamplingIntervals;

    #[test]
    fn the_interval_of_its_time() {
        let mut intervals = SamplingIntervals::new();
        assert_eq!(intervals.at(0), 1_000_000);
        intervals.change(100, 2_000_000, 125_000);
        intervals.change(200, 125_000, 500_000);
        intervals.in_force(77);
        assert_eq!(
            [0, 99, 100, 199, 200, 999].map(|t| intervals.at(t)),
            [2_000_000, 2_000_000, 125_000, 125_000, 500_000, 500_000]
        );
    }
}
