//! The buckets of the timeline tables of a recording.

use std::ops::Range;

use tracesift_trace::rows::TIMELINE_BLOCK;

use crate::spans::Span;

/// Binary logarithm of the length of a bucket of level 0, ns: 66 µs to 1.1 s.
const SHIFTS: Range<u32> = 16..31;

/// Buckets of the last level, at most.
const BUCKETS_OF_THE_LAST: i64 = 1_024;

/// Level from which on threads have buckets, so that every recording with tables has this level.
pub const LEVEL_OF_THREADS: u8 = 2;

/// The part of the rows that a bucket of level 0 should have on average, with which buckets are no gain: the longest ones, of a recording
/// of days.
const FEWEST_PART: u64 = 20;

/// Neighbours of different blocks of buckets are never one tile.
pub const BLOCK: i64 = TIMELINE_BLOCK;

/// How short buckets of level 0 may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Switches and samples of a bucket, on average and at least.
    pub rows_of_bucket: u64,
    /// Switches and samples, on average and at least, for each bucket of a process in which the process has any.
    pub rows_of_tile: u64,
}

/// The buckets of the timeline tables: of level 0 those of 2^k ns, of each further level four times as long ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The recorded time, with the instant of the last event.
    time: Span,
    shift: u32,
    last: u8,
}

impl Levels {
    /// The levels of a recording of this time, of whose processes each has so many switches and samples. `None`: there would be hardly
    /// any rows in a bucket.
    #[must_use]
    pub fn of(recorded: Span, rows_of_processes: &[u64], limits: Limits) -> Option<Self> {
        let rows = rows_of_processes.iter().fold(0_i128, |sum, rows| sum + i128::from(*rows));
        let length = i128::from(recorded.length());
        let is_enough = |shift: &u32| {
            let buckets = u64::try_from(length >> shift).unwrap_or(u64::MAX);
            // Before a row something else is than behind it.
            let tiles = rows_of_processes.iter().map(|rows| i128::from(rows.saturating_mul(2).min(buckets)));
            rows << shift >= i128::from(limits.rows_of_bucket) * length
                && tiles.sum::<i128>() * i128::from(limits.rows_of_tile) <= rows
        };
        let shift = SHIFTS.clone().find(is_enough).unwrap_or(SHIFTS.end - 1);
        let levels = Self::new(recorded, shift)?;
        let buckets = levels.buckets(0);
        let count = u64::try_from(buckets.end.checked_sub(buckets.start)?).ok()?;
        (rows >= i128::from(limits.rows_of_bucket / FEWEST_PART) * i128::from(count)).then_some(levels)
    }

    /// Levels of which the first one has buckets of 2^`shift` ns.
    #[must_use]
    pub fn new(recorded: Span, shift: u32) -> Option<Self> {
        let time = Span::new(recorded.start, recorded.end.checked_add(1)?);
        if shift >= SHIFTS.end {
            return None;
        }
        let mut levels = Self { time, shift, last: LEVEL_OF_THREADS };
        while levels.buckets(levels.last).count() as i64 > BUCKETS_OF_THE_LAST {
            levels.last += 1;
        }
        Some(levels)
    }

    /// The recorded time, with the instant of the last event.
    #[must_use]
    pub fn time(&self) -> Span {
        self.time
    }

    /// The last level.
    #[must_use]
    pub fn last(&self) -> u8 {
        self.last
    }

    /// Length of the buckets of a level, ns.
    #[must_use]
    pub fn width(&self, level: u8) -> i64 {
        1 << self.shift(level)
    }

    /// Binary logarithm of the length of the buckets of a level.
    #[must_use]
    pub fn shift(&self, level: u8) -> u32 {
        self.shift + 2 * u32::from(level)
    }

    /// Number of the bucket of a level that has an instant.
    #[must_use]
    #[inline]
    pub fn place(&self, level: u8, time: i64) -> i64 {
        time >> self.shift(level)
    }

    /// The recorded time of a bucket.
    #[must_use]
    pub fn bucket(&self, level: u8, place: i64) -> Span {
        let (start, width) = (place.saturating_mul(self.width(level)), self.width(level));
        Span::new(start, start.saturating_add(width)).intersect(self.time)
    }

    /// The buckets of a level.
    #[must_use]
    pub fn buckets(&self, level: u8) -> Range<i64> {
        self.place(level, self.time.start)..self.place(level, self.time.end - 1) + 1
    }

    /// Runs of buckets of equal length that some neighbours, from the first one to before the other one, are: number of the first
    /// bucket, number of buckets, length of each. Only the ends of the recorded time cut a bucket.
    pub(super) fn equal_lengths(&self, level: u8, buckets: Range<i64>) -> impl Iterator<Item = (i64, i64, i64)> {
        let all = self.buckets(level);
        let buckets = buckets.start.max(all.start)..buckets.end.min(all.end);
        let inner = (buckets.start.max(all.start + 1), buckets.end.min(all.end - 1));
        let first = (buckets.start..buckets.end.min(all.start + 1), self.bucket(level, all.start).length());
        let middle = (inner.0..inner.1.max(inner.0), self.width(level));
        let last =
            (buckets.start.max(all.end - 1).max(all.start + 1)..buckets.end, self.bucket(level, all.end - 1).length());
        let runs = [first, middle, last].into_iter();
        runs.filter(|(places, _)| !places.is_empty())
            .map(|(places, length)| (places.start, places.end - places.start, length))
    }
}

#[cfg(test)]
mod tests {
    use super::{Levels, Limits, SHIFTS};
    use crate::spans::Span;

    #[test]
    fn buckets_have_enough_rows_and_no_more_than_it_takes() {
        let limits = Limits { rows_of_bucket: 1_400, rows_of_tile: 10 };
        // 240 s with 21 million rows of 21 processes: 16.8 ms.
        let levels = Levels::of(Span::new(0, 240_000_000_000), &[1_000_000; 21], limits).expect("levels");
        assert_eq!((levels.shift(0), levels.width(0), levels.last()), (24, 1 << 24, 2));
        assert_eq!(levels.buckets(0), 0..14_306);
        assert_eq!(levels.buckets(2), 0..895);
        // Very many in a short time, and hardly any.
        let shift =
            |length: i64, rows: &[u64]| Levels::of(Span::new(0, length), rows, limits).map(|levels| levels.shift(0));
        assert_eq!(shift(1_000_000, &[1 << 40]), Some(SHIFTS.start));
        let hour = 3_600_000_000_000;
        assert_eq!(shift(hour, &[2_000_000]), Some(30));
        assert_eq!(shift(24 * hour, &[2_000_000]), None);
        assert_eq!(shift(1 << 62, &[2_000_000]), None);
        // Many processes have longer buckets, unless most of them do nothing.
        assert_eq!(shift(240_000_000_000, &[70_000; 300]), Some(26));
        let mut mostly = vec![100; 279];
        mostly.extend([1_000_000; 21]);
        assert_eq!(shift(240_000_000_000, &mostly), Some(24));
    }

    #[test]
    fn buckets_lie_in_the_recorded_time_and_cover_it() {
        for (start, end) in [(0, 0), (-5, 70), (3, 4), (-64, -1), (7, 1_000_000)] {
            let levels = Levels::new(Span::new(start, end), 3).expect("levels");
            for level in 0..=levels.last() {
                let mut at = start;
                for place in levels.buckets(level) {
                    let bucket = levels.bucket(level, place);
                    assert!(bucket.start == at && !bucket.is_empty());
                    assert_eq!(levels.place(level, bucket.end - 1), place);
                    at = bucket.end;
                }
                assert_eq!(at, end + 1);
                let all = levels.buckets(level);
                for (from, to) in [(all.start, all.end), (all.start - 3, all.end + 3), (all.start + 1, all.end - 1)] {
                    let runs = levels.equal_lengths(level, from..to);
                    let found: Vec<_> =
                        runs.flat_map(|(at, n, length)| (at..at + n).map(move |at| (at, length))).collect();
                    let inside = from.max(all.start)..to.min(all.end);
                    let expected: Vec<_> = inside.map(|at| (at, levels.bucket(level, at).length())).collect();
                    assert_eq!(found, expected);
                }
            }
            assert!(levels.buckets(levels.last()).count() <= 1_024);
        }
    }
}
