//! Cuts rows that come newest first to times, so that the parts come by descending end, too.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use tracesift_trace::ThreadId;

use crate::spans::Span;
use crate::times::{TimesOfThreads, touching};

/// Cuts switch rows to the times of their threads. Spans that a union takes by descending end need the parts in that order: the older
/// parts of a long span come behind newer rows of other threads.
///
/// One row per thread is kept, not one per part.
#[derive(Debug)]
pub struct PartsByEnd<R> {
    times: TimesOfThreads,
    /// The newest part of each row that has parts left.
    next: BinaryHeap<Next<R>>,
}

/// A part of a row that has not had its turn.
#[derive(Debug)]
struct Next<R> {
    end: i64,
    thread: ThreadId,
    /// Begin and end of the row.
    span: (i64, i64),
    /// How many of the thread's times have not had their turn, this one included.
    left: usize,
    row: R,
}

impl<R> Next<R> {
    fn rank(&self) -> (i64, i64, ThreadId) {
        (self.end, self.span.0, self.thread)
    }
}

impl<R> Ord for Next<R> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl<R> PartialOrd for Next<R> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<R> PartialEq for Next<R> {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl<R> Eq for Next<R> {}

impl<R> PartsByEnd<R> {
    /// Cuts rows to these times.
    #[must_use]
    pub fn new(times: TimesOfThreads) -> Self {
        Self { times, next: BinaryHeap::new() }
    }

    /// Takes the row of a thread from `start` to `end`; rows come by descending end. `visit` gets each part that is due: its row, the time
    /// that the row is cut to, and the end of the part.
    pub fn row(&mut self, thread: ThreadId, (start, end): (i64, i64), row: R, visit: &mut impl FnMut(&R, Span, i64)) {
        let times = self.times.of(thread);
        let left = times.partition_point(|time| time.start <= end);
        self.due(end, visit);
        self.push(Next { end, thread, span: (start, end), left, row });
        self.due(end, visit);
    }

    /// The parts that are left.
    pub fn finish(&mut self, visit: &mut impl FnMut(&R, Span, i64)) {
        self.due(i64::MIN, visit);
    }

    /// Visits the parts that end at `time` or later.
    fn due(&mut self, time: i64, visit: &mut impl FnMut(&R, Span, i64)) {
        while self.next.peek().is_some_and(|next| next.end >= time)
            && let Some(next) = self.next.pop()
        {
            if let Some(cut) = next.left.checked_sub(1).and_then(|place| self.times.of(next.thread).get(place)) {
                visit(&next.row, *cut, next.end);
                self.push(Next { left: next.left - 1, ..next });
            }
        }
    }

    /// Waits for the turn of the newest part that is left of a row.
    fn push(&mut self, next: Next<R>) {
        let (start, end) = next.span;
        let left = self.times.of(next.thread).get(..next.left).unwrap_or_default();
        if let Some(time) = touching(left, start, end).last() {
            self.next.push(Next { end: end.min(time.end), ..next });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracesift_trace::{ProcessId, ThreadId};

    use super::PartsByEnd;
    use crate::spans::Span;
    use crate::times::Times;

    proptest! {
        #[test]
        fn parts_are_those_of_each_row_and_come_by_descending_end(
            times in proptest::collection::vec((0..200_i64, 0..30_i64), 0..8),
            rows in proptest::collection::vec((0..200_i64, 0..90_i64, 0..3_i32), 0..20),
        ) {
            let times = Times::of_spans(times.into_iter().map(|(start, length)| Span::new(start, start + length)).collect());
            let mut rows: Vec<(i64, i64, i32)> =
                rows.into_iter().map(|(start, length, thread)| (start, start + length, thread)).collect();
            rows.sort_by_key(|(_, end, _)| std::cmp::Reverse(*end));
            let threads = (0..3).map(|thread| (ThreadId(thread), ProcessId(0)));
            let mut parts = PartsByEnd::new(times.of_threads(Span::ALL, threads));
            let mut found = Vec::new();
            let mut visit = |row: &usize, cut: Span, end: i64| found.push((*row, cut, end));
            for (number, (start, end, thread)) in rows.iter().enumerate() {
                parts.row(ThreadId(*thread), (*start, *end), number, &mut visit);
            }
            parts.finish(&mut visit);
            prop_assert!(found.is_sorted_by_key(|(_, _, end)| std::cmp::Reverse(*end)));
            let mut expected: Vec<(usize, Span, i64)> = Vec::new();
            for (number, (start, end, _)) in rows.iter().enumerate() {
                let cuts = times.touching(None, *start, *end).iter();
                expected.extend(cuts.map(|cut| (number, *cut, cut.end.min(*end))));
            }
            let key = |(row, cut, _): &(usize, Span, i64)| (*row, cut.start, cut.end);
            found.sort_by_key(key);
            expected.sort_by_key(key);
            prop_assert_eq!(found, expected);
        }
    }
}
