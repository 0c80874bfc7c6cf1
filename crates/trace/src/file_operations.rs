//! Pairs the begin of a file operation with its end, by the request (IRP) that both name.

use crate::ids::FileId;
use crate::pairs::{Outcome, Pairs};
use crate::rows::FileIoRow;

/// Operations without an end that are followed at most. Of more the oldest ones are given up.
const MOST: usize = 4 << 20;

/// Operations on their way, by request.
#[derive(Debug)]
pub struct FileOperations {
    open: Pairs<u64, FileIoRow, FileEnd>,
}

impl Default for FileOperations {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileEnd {
    /// When, ns.
    pub time: i64,
    /// CPU that logged the end.
    pub cpu: i16,
    /// Bytes transferred or returned.
    pub bytes: i64,
    /// NTSTATUS.
    pub status: u32,
}

impl FileOperations {
    fn with_most(most: usize) -> Self {
        Self { open: Pairs::new(most) }
    }

    /// An operation begins; `row` has `time` = `start`. Gives the rows that are now known to have no end in the recording: what the
    /// request was used for before, and the oldest operation where too many are open. They are open until now.
    pub fn begin(&mut self, request: u64, row: FileIoRow) -> impl Iterator<Item = FileIoRow> + use<> {
        self.open.begin(request, row.start, row).filter_map(|outcome| match outcome {
            Outcome::Unended(row, now) => Some(unended(row, now)),
            Outcome::Whole(..) | Outcome::Orphan(_) => None,
        })
    }

    /// The operation that the request is used for, if it is of this kind and has not ended.
    pub fn pending(&mut self, request: u64, operation: i8) -> Option<&mut FileIoRow> {
        self.open.pending(&request).filter(|row| row.operation == operation)
    }

    /// The file of the operation that the request is used for.
    pub fn file_of(&mut self, request: u64) -> Option<FileId> {
        self.open.pending(&request)?.file
    }

    /// An operation ends. `None`: its begin is not in the recording.
    pub fn end(&mut self, request: u64, end: FileEnd, transfers: fn(i8) -> bool) -> Option<FileIoRow> {
        let Some(Outcome::Whole(row, end)) = self.open.end(request, end) else { return None };
        // Warnings and errors have this bit.
        let has_failed = end.status >> 31 != 0;
        let transferred = (!has_failed && transfers(row.operation)).then_some(end.bytes);
        let status = i64::from(end.status);
        Some(FileIoRow {
            time: end.time.max(row.start),
            cpu: end.cpu,
            transferred,
            error: has_failed.then_some(status),
            status: Some(status),
            ..row
        })
    }

    /// The end of the recording: operations that have not ended, in the order in which they began.
    pub fn finish(&mut self, end: i64) -> impl Iterator<Item = FileIoRow> + use<> {
        self.open.drain().map(move |row| unended(row, end))
    }
}

fn unended(row: FileIoRow, until: i64) -> FileIoRow {
    FileIoRow { time: until.max(row.start), open: Some(true), ..row }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(start: i64, operation: i8) -> FileIoRow {
        FileIoRow { time: start, start, operation, ..FileIoRow::default() }
    }

    /// Looks for the partner of each end among all that came before, one by one.
    fn naive(events: &[(u64, bool)]) -> Vec<(i64, i64, bool)> {
        let mut rows = Vec::new();
        for (place, (request, is_end)) in events.iter().enumerate() {
            let earlier = events[..place].iter().rposition(|(other, _)| other == request);
            let begin = earlier.filter(|at| !events[*at].1);
            if let Some(begin) = begin {
                rows.push((begin as i64, place as i64, !is_end));
            }
        }
        for (place, (request, is_end)) in events.iter().enumerate() {
            let is_last = events[place + 1..].iter().all(|(other, _)| other != request);
            if !is_end && is_last {
                rows.push((place as i64, events.len() as i64, true));
            }
        }
        rows
    }

    proptest! {
        #[test]
        fn each_end_has_the_begin_before_it(events in prop::collection::vec((0..5_u64, any::<bool>()), 0..60)) {
            let mut operations = FileOperations::default();
            let mut rows = Vec::new();
            for (place, (request, is_end)) in events.iter().enumerate() {
                let time = place as i64;
                if *is_end {
                    let end = FileEnd { time, cpu: 1, bytes: time, status: 0 };
                    rows.extend(operations.end(*request, end, |_| true));
                } else {
                    rows.extend(operations.begin(*request, row(time, 0)));
                }
            }
            rows.extend(operations.finish(events.len() as i64));
            let found: Vec<_> = rows.iter().map(|row| (row.start, row.time, row.open == Some(true))).collect();
            prop_assert_eq!(found, naive(&events));
        }
    }

    #[test]
    fn a_failed_operation_transferred_nothing() {
        let mut operations = FileOperations::default();
        let end = |status| FileEnd { time: 9, cpu: 2, bytes: 512, status };
        for (status, operation, transferred, error) in [
            (0, 2, Some(512), None),
            (0, 0, None, None),
            (0x103, 2, Some(512), None),
            (0xC000_0011, 2, None, Some(0xC000_0011)),
            (0x8000_0006, 2, None, Some(0x8000_0006)),
        ] {
            assert_eq!(operations.begin(7, row(5, operation)).count(), 0);
            let found = operations.end(7, end(status), |operation| operation == 2).expect("begun");
            assert_eq!((found.start, found.time, found.cpu), (5, 9, 2));
            assert_eq!((found.transferred, found.error, found.status), (transferred, error, Some(i64::from(status))));
        }
        assert_eq!(operations.end(7, end(0), |_| true), None);
    }

    #[test]
    fn the_oldest_are_given_up_where_ends_are_missing() {
        let mut operations = FileOperations::with_most(10);
        for request in 0..1_000 {
            let given_up: Vec<FileIoRow> = operations.begin(request, row(request.cast_signed(), 0)).collect();
            // None is lost: it has a row that is open until now.
            let oldest =
                request.checked_sub(10).map(|oldest| unended(row(oldest.cast_signed(), 0), request.cast_signed()));
            assert_eq!(given_up, Vec::from_iter(oldest));
        }
        let end = FileEnd { time: 2_000, cpu: 0, bytes: 0, status: 0 };
        assert_eq!(operations.end(999, end, |_| true).map(|row| row.start), Some(999));
        assert_eq!(operations.end(1, end, |_| true), None);
        assert_eq!(operations.finish(3_000).count(), 9);
    }
}
