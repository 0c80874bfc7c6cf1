//! Rows of chance, written in the order of their times.

use tracesift_archive::{ArchiveWriter, Table};
use tracesift_scenario::SplitMix64;
use tracesift_trace::{ProcessId, ThreadId};

use super::archives::{LENGTH, PROCESSES};

/// What writes rows of chance.
pub(super) struct Made<'a> {
    pub(super) random: SplitMix64,
    pub(super) writer: &'a mut ArchiveWriter,
}

impl Made<'_> {
    /// Writes so many rows in the order of their times.
    pub(super) fn rows<T: Table>(&mut self, count: usize, make: fn(&mut SplitMix64, usize) -> T, time: fn(&T) -> i64) {
        let mut rows: Vec<T> = (0..count).map(|row| make(&mut self.random, row)).collect();
        rows.sort_by_key(time);
        self.writer.write_table(&rows);
    }

    pub(super) fn each<T: Table>(&mut self, rows: impl Iterator<Item = T>) {
        let rows: Vec<T> = rows.collect();
        self.writer.write_table(&rows);
    }
}

/// An index, the small ones more often.
pub(super) fn skewed(random: &mut SplitMix64, length: usize) -> usize {
    let (a, b) = (random.index(length), random.index(length));
    a.min(b)
}

/// A process; its only thread has the same number.
pub(super) fn who(random: &mut SplitMix64) -> (ProcessId, ThreadId) {
    let index = 2 + skewed(random, PROCESSES - 2) as i32;
    (ProcessId(index), ThreadId(index))
}

/// Begin and end: most spans are short.
pub(super) fn span(random: &mut SplitMix64, longest: u64) -> (i64, i64) {
    let most = random.below(longest) + 1;
    let length = random.below(most).cast_signed();
    let start = random.between(0, LENGTH - length);
    (start, start + length)
}
