//! Queues of disks: for how long a disk worked for an operation, and how many others were under way.
//!
//! Operations come in the order of their completions. An operation that is still under way may have begun before one that
//! has completed, and no record says so until its own completion. Rows are therefore held back until so many others have
//! completed that nothing is expected to change any more.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::FxHashMap;

use crate::rows::DiskIoRow;

/// Rows that are held back at most. While an operation is under way so many others can complete before it counts as begun later
/// than it was.
const MAX_HELD: usize = 1 << 16;

/// Disks that are followed at most. Rows of others have neither service time nor depths.
const MAX_DISKS: usize = 1 << 16;

/// Adds service time and depths to rows of disk operations.
#[derive(Debug)]
pub struct DiskQueues {
    held: VecDeque<DiskIoRow>,
    /// How many rows were given back.
    given: u64,
    /// Begins of held rows that are not counted yet, each with the number of its row; the earliest first.
    begins: BinaryHeap<Reverse<(i64, u64)>>,
    disks: FxHashMap<i32, Disk>,
    /// Completions before this time may be missing.
    complete_from: i64,
    limit: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Disk {
    /// The last completion since completions are complete.
    previous: Option<i64>,
    /// Operations under way at the begins and completions that were counted so far.
    depth: i64,
}

impl DiskQueues {
    /// Nothing under way. Completions before `begin` are not in the recording.
    #[must_use]
    pub fn new(begin: i64) -> Self {
        Self::with_limit(begin, MAX_HELD)
    }

    fn with_limit(begin: i64, limit: usize) -> Self {
        Self {
            held: VecDeque::new(),
            given: 0,
            begins: BinaryHeap::new(),
            disks: FxHashMap::default(),
            complete_from: begin,
            limit,
        }
    }

    /// Records were lost until `time`, maybe completions.
    pub fn lost(&mut self, time: i64) {
        self.complete_from = self.complete_from.max(time);
        self.disks.values_mut().for_each(|disk| disk.previous = None);
    }

    /// An operation has completed. Gives back the earliest row when as many are held as can be.
    pub fn completed(&mut self, mut row: DiskIoRow) -> Option<DiskIoRow> {
        row.service = None;
        if let Some(disk) = self.disk(row.disk) {
            let before = disk.previous.replace(row.time);
            let from = before.map_or(row.start, |before| before.max(row.start));
            if before.is_some() || row.start >= self.complete_from {
                row.service = Some(row.time.saturating_sub(from).max(0));
            }
        }
        self.hold(row)
    }

    /// An operation has completed of which nobody knows when it began.
    pub fn completed_without_start(&mut self, mut row: DiskIoRow) -> Option<DiskIoRow> {
        row.service = None;
        if let Some(disk) = self.disk(row.disk) {
            disk.previous = Some(row.time);
        }
        self.hold(row)
    }

    /// The rows that are held, in their order.
    pub fn finish(&mut self) -> impl Iterator<Item = DiskIoRow> {
        std::iter::from_fn(|| self.release())
    }

    fn disk(&mut self, number: i32) -> Option<&mut Disk> {
        if self.disks.len() >= MAX_DISKS && !self.disks.contains_key(&number) {
            return None;
        }
        Some(self.disks.entry(number).or_default())
    }

    fn hold(&mut self, row: DiskIoRow) -> Option<DiskIoRow> {
        // What takes no time is never under way.
        if row.start < row.time {
            self.begins.push(Reverse((row.start, self.given + self.held.len() as u64)));
        }
        self.held.push_back(row);
        if self.held.len() > self.limit { self.release() } else { None }
    }

    /// Gives back the earliest row: what began before its completion is counted first.
    fn release(&mut self) -> Option<DiskIoRow> {
        let time = self.held.front()?.time;
        while let Some(&Reverse((begin, number))) = self.begins.peek()
            && begin < time
        {
            self.begins.pop();
            let place = usize::try_from(number.saturating_sub(self.given)).unwrap_or(usize::MAX);
            if let Some(row) = self.held.get_mut(place)
                && let Some(disk) = self.disks.get_mut(&row.disk)
            {
                row.queue_start = Some(depth(disk.depth));
                disk.depth += 1;
            }
        }
        let mut row = self.held.pop_front()?;
        self.given += 1;
        if let Some(disk) = self.disks.get_mut(&row.disk) {
            if row.start < row.time {
                disk.depth -= 1;
            } else {
                row.queue_start = Some(depth(disk.depth));
            }
            row.queue_end = Some(depth(disk.depth));
        }
        Some(row)
    }
}

fn depth(depth: i64) -> i16 {
    i16::try_from(depth).unwrap_or(i16::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::DiskQueues;
    use crate::rows::DiskIoRow;

    fn row((disk, start, time): (i32, i64, i64)) -> DiskIoRow {
        DiskIoRow { disk, start, time, ..DiskIoRow::default() }
    }

    /// Service time and depths of operations, in the order of their completions.
    type Figures = Vec<(Option<i64>, Option<i16>, Option<i16>)>;

    fn figures(operations: &[(i32, i64, i64)], begin: i64, limit: usize) -> Figures {
        let mut queues = DiskQueues::with_limit(begin, limit);
        let mut rows: Vec<DiskIoRow> =
            operations.iter().filter_map(|operation| queues.completed(row(*operation))).collect();
        rows.extend(queues.finish());
        let of_rows: Vec<_> = rows.iter().map(|row| (row.disk, row.start, row.time)).collect();
        assert_eq!(of_rows, operations, "rows keep their order");
        rows.iter().map(|row| (row.service, row.queue_start, row.queue_end)).collect()
    }

    /// The same by looking at all operations for each of them.
    fn naive(operations: &[(i32, i64, i64)]) -> Figures {
        let of = |number: usize| {
            let (disk, start, time) = operations[number];
            let others = || {
                let others = operations.iter().enumerate();
                others.filter(move |(other, (of, from, until))| *other != number && *of == disk && from < until)
            };
            let before = operations[..number].iter().rev().find(|(of, ..)| *of == disk).map(|(.., until)| *until);
            let service = time - start.max(before.unwrap_or(i64::MIN));
            // Of operations that begin at once the one that completes first counts as the first.
            let began = |other: usize, from: i64| from < start || (from == start && other < number && start < time);
            let at_start = others().filter(|(other, (_, from, until))| {
                began(*other, *from) && (*until > start || (start == time && *until == time && *other > number))
            });
            // Of operations that complete at once the one that is logged later is still under way.
            let at_end = others().filter(|(other, (_, from, until))| {
                *from < time && (*until > time || (*until == time && *other > number))
            });
            (Some(service), Some(at_start.count() as i16), Some(at_end.count() as i16))
        };
        (0..operations.len()).map(of).collect()
    }

    fn operations() -> impl Strategy<Value = Vec<(i32, i64, i64)>> {
        let one = (0..3_i32, 0..60_i64, 0..25_i64).prop_map(|(disk, start, length)| (disk, start, start + length));
        prop::collection::vec(one, 0..60).prop_map(|mut operations| {
            operations.sort_by_key(|(.., time)| *time);
            operations
        })
    }

    proptest! {
        #[test]
        fn figures_are_those_of_a_look_at_all_operations(operations in operations()) {
            prop_assert_eq!(figures(&operations, 0, 1000), naive(&operations));
        }

        /// Whatever is held, service times are the same, and no depth is negative.
        #[test]
        fn service_needs_no_rows_that_come_later(operations in operations(), limit in 0..8_usize) {
            let all = naive(&operations);
            for (found, expected) in figures(&operations, 0, limit).iter().zip(&all) {
                prop_assert_eq!(found.0, expected.0);
                prop_assert!(found.1 >= Some(0) && found.2 >= Some(0), "{:?}", found);
                prop_assert!(found.2 <= expected.2, "{:?} {:?}", found, expected);
            }
        }

        /// The service times of a disk do not overlap.
        #[test]
        fn a_disk_serves_no_longer_than_it_is_busy(operations in operations()) {
            let found = figures(&operations, 0, 1000);
            for disk in 0..3 {
                let of_disk = || operations.iter().zip(&found).filter(|((of, ..), _)| *of == disk);
                let service: i64 = of_disk().filter_map(|(_, (service, ..))| *service).sum();
                let busy = (0..100).filter(|at| of_disk().any(|((_, start, time), _)| (start..time).contains(&at)));
                prop_assert!(service <= busy.count() as i64);
            }
        }
    }

    #[test]
    fn behind_a_loss_an_operation_that_began_before_it_has_no_service_time() {
        let mut queues = DiskQueues::new(100);
        let mut rows = Vec::new();
        for operation in [(0, 90, 110), (1, 100, 120), (0, 95, 130)] {
            rows.extend(queues.completed(row(operation)));
        }
        queues.lost(140);
        for operation in [(0, 130, 150), (1, 141, 160), (0, 135, 170)] {
            rows.extend(queues.completed(row(operation)));
        }
        rows.extend(queues.completed_without_start(row((0, 180, 180))));
        rows.extend(queues.completed(row((0, 175, 190))));
        rows.extend(queues.finish());
        let service: Vec<Option<i64>> = rows.iter().map(|row| row.service).collect();
        assert_eq!(service, [None, Some(20), Some(20), None, Some(19), Some(20), None, Some(10)]);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut queues = DiskQueues::with_limit(0, 64);
        for time in 0..10_000_i32 {
            queues.completed(row((time, i64::MIN, i64::from(time))));
        }
        assert!(queues.held.len() <= 64 && queues.begins.len() <= 64);
        assert_eq!(queues.finish().count(), 64);
        let mut queues = DiskQueues::new(i64::MIN);
        for operation in [(0, i64::MIN, i64::MAX), (0, i64::MAX, i64::MIN), (0, i64::MIN, i64::MIN)] {
            queues.completed(row(operation));
        }
        assert_eq!(queues.finish().count(), 3);
    }
}
