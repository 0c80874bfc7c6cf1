//! Pairs the begin of a file operation with its end, by the request (IRP) that both name.

use rustc_hash::FxHashMap;

use crate::rows::FileIoRow;

/// Operations without an end that are followed at most. Of more the oldest ones are given up.
const MOST: usize = 4 << 20;

/// Operations on their way.
#[derive(Debug, Default)]
pub struct FileOperations {
    /// By request, with the number of the operation.
    open: FxHashMap<u64, (u64, FileIoRow)>,
    begun: u64,
    most: Option<usize>,
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
    /// An operation begins; `row` has `time` = `start`. Gives back what the request was used for before, and had no end: it is open
    /// until now.
    pub fn begin(&mut self, request: u64, row: FileIoRow) -> Option<FileIoRow> {
        let now = row.start;
        if self.open.len() >= self.most.unwrap_or(MOST) && !self.open.contains_key(&request) {
            self.give_up_half();
        }
        self.begun += 1;
        let before = self.open.insert(request, (self.begun, row));
        before.map(|(_, row)| unended(row, now))
    }

    /// The operation that the request is used for, if it is of this kind and has not ended.
    pub fn pending(&mut self, request: u64, operation: i8) -> Option<&mut FileIoRow> {
        self.open.get_mut(&request).map(|(_, row)| row).filter(|row| row.operation == operation)
    }

    /// An operation ends. `None`: its begin is not in the recording.
    pub fn end(&mut self, request: u64, end: FileEnd, transfers: fn(i8) -> bool) -> Option<FileIoRow> {
        let (_, row) = self.open.remove(&request)?;
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
        let mut open: Vec<(u64, FileIoRow)> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_unstable_by_key(|(number, _)| *number);
        open.into_iter().map(move |(_, row)| unended(row, end))
    }

    /// A recording has this many requests on their way only if ends are missing: the older half of them has no end.
    fn give_up_half(&mut self) {
        let mut numbers: Vec<u64> = self.open.values().map(|(number, _)| *number).collect();
        let middle = numbers.len() / 2;
        let (_, median, _) = numbers.select_nth_unstable(middle);
        let median = *median;
        self.open.retain(|_, (number, _)| *number > median);
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
            assert_eq!(operations.begin(7, row(5, operation)), None);
            let found = operations.end(7, end(status), |operation| operation == 2).expect("begun");
            assert_eq!((found.start, found.time, found.cpu), (5, 9, 2));
            assert_eq!((found.transferred, found.error, found.status), (transferred, error, Some(i64::from(status))));
        }
        assert_eq!(operations.end(7, end(0), |_| true), None);
    }

    #[test]
    fn the_oldest_are_given_up_where_ends_are_missing() {
        let mut operations = FileOperations { most: Some(10), ..FileOperations::default() };
        for request in 0..1_000 {
            assert_eq!(operations.begin(request, row(request.cast_signed(), 0)), None);
        }
        assert!(operations.open.len() <= 10);
        let end = FileEnd { time: 2_000, cpu: 0, bytes: 0, status: 0 };
        assert_eq!(operations.end(999, end, |_| true).map(|row| row.start), Some(999));
        assert_eq!(operations.end(1, end, |_| true), None);
    }
}
