//! Times of records as ticks of the clock, which are nanoseconds.

use tracesift_perf::Record;

/// perf's times are nanoseconds.
pub(crate) const TICKS_PER_SECOND: i64 = 1_000_000_000;

/// The time of a record as ticks.
pub(crate) fn ticks(record: &Record<'_>) -> Option<i64> {
    record.time().map(as_ticks)
}

/// perf's nanoseconds as ticks.
pub(crate) fn as_ticks(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
