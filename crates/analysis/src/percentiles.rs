//! Distributions of single spans.
//!
//! Percentiles are exact: the values are kept, 8 bytes each, and sorted once. A sketch would need less memory, but its
//! figures could not be recomputed by hand from the archive, and the spans of the methods that a question selects are
//! few compared with the archive's rows.

use tracesift_trace::rows::ContextSwitchRow;
use tracesift_trace::view;

use crate::spans::{is_switch_in, pieces};

/// Values of which percentiles are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// Ascending.
    values: Vec<i64>,
}

impl Distribution {
    /// The distribution of these values.
    #[must_use]
    pub fn new(mut values: Vec<i64>) -> Self {
        values.sort_unstable();
        Self { values }
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The smallest value.
    #[must_use]
    pub fn min(&self) -> Option<i64> {
        self.values.first().copied()
    }

    /// The largest value.
    #[must_use]
    pub fn max(&self) -> Option<i64> {
        self.values.last().copied()
    }

    /// Sum of the values.
    #[must_use]
    pub fn sum(&self) -> i128 {
        self.values.iter().copied().map(i128::from).sum()
    }

    /// Sum of the values above a limit.
    #[must_use]
    pub fn sum_above(&self, limit: f64) -> i128 {
        let first = self.values.partition_point(|&value| value as f64 <= limit);
        self.values[first..].iter().copied().map(i128::from).sum()
    }

    /// Arithmetic mean.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.values.is_empty()).then(|| self.sum() as f64 / self.values.len() as f64)
    }

    /// The value below which the share `p` (0 to 1) of the values lies: that of rank (N − 1) · p + 1, with linear
    /// interpolation between the neighbouring ranks. `p` = 0 is the smallest value, 0.5 the median, 1 the largest.
    /// `None` without values or when `p` lies outside of 0 to 1.
    #[must_use]
    pub fn percentile(&self, p: f64) -> Option<f64> {
        if self.values.is_empty() || !(0.0..=1.0).contains(&p) {
            return None;
        }
        // The rank counts from 1, the index from 0.
        let index = (self.values.len() - 1) as f64 * p;
        let below = index.floor();
        let lower = self.values[below as usize] as f64;
        let upper = self.values[(index.ceil() as usize).min(self.values.len() - 1)] as f64;
        Some(lower + (upper - lower) * (index - below))
    }

    /// As [`percentile`](Self::percentile), rounded to a whole number; halves are rounded away from zero.
    #[must_use]
    pub fn whole_percentile(&self, p: f64) -> Option<i64> {
        // 0.99 is no binary number: its error must not decide about a half.
        let thousandths = |value: f64| (value * 1000.0).round() / 1000.0;
        self.percentile(p).map(|value| thousandths(value).round() as i64)
    }
}

/// Ready latencies, with those apart in which the CPU had to leave a sleep state first.
#[derive(Clone, Debug, Default)]
pub struct ReadyLatency {
    deep_sleep: Vec<i64>,
    other: Vec<i64>,
}

view! {
    /// The ready span of a switch row, and the C-state that its CPU came from.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ReadySwitch of ContextSwitchRow { time, prev_thread, off_time, ready_time, previous_c_state, flags }
}

view! {
    /// The C-state that a CPU came from.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SwitchFromIdle of ContextSwitchRow { prev_thread, previous_c_state, flags }
}

impl ReadyLatency {
    /// No latencies yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the ready span of a switch row, if it has one. `is_idle` says whether a thread is an idle thread.
    pub fn switch(
        &mut self,
        row: impl Into<ReadySwitch>,
        has_ready: bool,
        is_idle: impl FnOnce(tracesift_trace::ThreadId) -> bool,
    ) {
        let row = row.into();
        if let Some(ready) = pieces(&row, has_ready).ready {
            let values = if is_deep_sleep(&row, is_idle) { &mut self.deep_sleep } else { &mut self.other };
            values.push(ready.length());
        }
    }

    /// The latencies after deep sleep, and all others.
    #[must_use]
    pub fn finish(self) -> (Distribution, Distribution) {
        (Distribution::new(self.deep_sleep), Distribution::new(self.other))
    }
}

/// Whether the thread was switched in on a CPU that was idle and came from a C-state above 0.
#[must_use]
pub fn is_deep_sleep(row: impl Into<SwitchFromIdle>, is_idle: impl FnOnce(tracesift_trace::ThreadId) -> bool) -> bool {
    let row = row.into();
    is_switch_in(row.flags)
        && row.previous_c_state.is_some_and(|state| state > 0)
        && row.prev_thread.is_some_and(is_idle)
}

#[cfg(test)]
mod tests {
    use super::{Distribution, ReadyLatency};
    use proptest::prelude::*;
    use tracesift_trace::ThreadId;
    use tracesift_trace::rows::ContextSwitchRow;

    #[test]
    fn interpolates_between_ranks() {
        let four = Distribution::new(vec![40, 10, 30, 20]);
        assert_eq!(four.percentile(0.0), Some(10.0));
        assert_eq!(four.percentile(0.5), Some(25.0));
        // Rank (4 − 1) · 0.9 + 1 = 3.7: seven tenths of the way from the third to the fourth.
        assert_eq!(four.percentile(0.9), Some(37.0));
        assert_eq!(four.percentile(1.0), Some(40.0));
        assert_eq!(four.mean(), Some(25.0));
        assert_eq!(four.sum_above(20.0), 70);
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        // Both are half a nanosecond above a whole number; interpolated in binary, the first lies below of it.
        for (number, distance) in [(2372, 50), (2227, 25)] {
            let at = (f64::from(number - 1) * 0.99) as usize;
            let values = (0..number as usize).map(|rank| if rank <= at { 100 } else { 100 + distance }).collect();
            let hundredths = (number - 1) * 99 % 100;
            let exact = 100 + (i64::from(hundredths) * distance + 50) / 100;
            assert_eq!(Distribution::new(values).whole_percentile(0.99), Some(exact), "{number} values");
        }
    }

    #[test]
    fn nothing_has_no_percentiles() {
        let none = Distribution::new(Vec::new());
        assert_eq!((none.percentile(0.5), none.mean(), none.min(), none.max()), (None, None, None, None));
        let one = Distribution::new(vec![7]);
        assert_eq!((one.percentile(0.99), one.percentile(1.1), one.percentile(f64::NAN)), (Some(7.0), None, None));
    }

    #[test]
    fn deep_sleep_needs_an_idle_cpu_in_a_sleep_state() {
        let idle = ThreadId(0);
        let row = |prev: i32, c_state: Option<i8>, ready_time: i64| ContextSwitchRow {
            time: 100,
            cpu: Some(0),
            thread: ThreadId(5),
            prev_thread: Some(ThreadId(prev)),
            off_time: 10,
            ready_time: Some(ready_time),
            previous_c_state: c_state,
            ..ContextSwitchRow::default()
        };
        let mut latency = ReadyLatency::new();
        for row in [row(0, Some(2), 60), row(0, Some(0), 70), row(3, Some(2), 80), row(0, None, 90)] {
            latency.switch(&row, true, |thread| thread == idle);
        }
        let (deep, other) = latency.finish();
        assert_eq!(deep, Distribution::new(vec![40]));
        assert_eq!(other, Distribution::new(vec![30, 20, 10]));
    }

    proptest! {
        #[test]
        fn stays_between_its_neighbours(values in prop::collection::vec(-1000i64..1000, 1..50), p in 0.0f64..=1.0) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let value = Distribution::new(values).percentile(p).expect("there are values");
            let below = sorted.iter().filter(|&&v| (v as f64) < value).count();
            let not_above = sorted.iter().filter(|&&v| v as f64 <= value).count();
            let rank = (sorted.len() - 1) as f64 * p + 1.0;
            prop_assert!(below as f64 <= rank + 1e-9 && rank - 1.0 <= not_above as f64 + 1e-9);
        }
    }
}
