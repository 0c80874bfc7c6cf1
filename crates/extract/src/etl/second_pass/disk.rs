//! Disk operations: completions become rows, with who asked from the initiation.

use tracesift_etl::Record;
use tracesift_etl::payload::{DiskFlush, DiskInit, DiskTransfer, SplitIo, io_priority};
use tracesift_trace::open_lives::OpenLives;
use tracesift_trace::rows::{DiskIoRow, DiskOperation};
use tracesift_trace::{FileId, HealthKind, RowSink, StackId, ThreadId};

use super::{SecondPass, cpu_number};

/// Disk operations that wait for their completion, at most. Of more the oldest ones are forgotten.
const MOST: usize = 4 << 20;

/// Who asked for an operation.
#[derive(Clone, Copy, Debug)]
struct Asker {
    thread: ThreadId,
    stack: Option<StackId>,
    /// A volume made parts of the operation: it has no completion of its own.
    has_parts: bool,
}

/// A part of an operation.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Who asked for the whole, where that is known.
    asker: Option<Asker>,
    /// The file that the whole reads or writes, where that is known.
    file: Option<FileId>,
}

/// Disk operations on their way, by their request packets.
#[derive(Debug)]
pub(super) struct Initiations {
    askers: OpenLives<u64, Asker>,
    parts: OpenLives<u64, Part>,
}

impl Default for Initiations {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

impl Initiations {
    fn with_most(most: usize) -> Self {
        Self { askers: OpenLives::new(most), parts: OpenLives::new(most) }
    }

    /// An operation begins. Gives the oldest one where it has to make room.
    fn begin(&mut self, irp: u64, asker: Asker) -> Option<Asker> {
        // The packet was used before, and its completion was not recorded.
        self.askers.remove(&irp);
        self.askers.insert(irp, None, asker)
    }

    /// A part is made of an operation, which works on `file`. Gives the oldest part where it has to make room.
    fn split(&mut self, parent: u64, child: u64, file: Option<FileId>) -> Option<Part> {
        let part = match self.parts.get(&parent) {
            // A part that is split again belongs to whoever asked for the whole.
            Some(whole) => Part { file: whole.file.or(file), ..*whole },
            None => {
                let asker = self.askers.get_mut(&parent).map(|asker| {
                    asker.has_parts = true;
                    *asker
                });
                Part { asker, file }
            }
        };
        self.parts.remove(&child);
        self.parts.insert(child, None, part)
    }

    /// An operation ends.
    fn end(&mut self, irp: u64) -> (Option<Asker>, Option<Part>) {
        (self.askers.remove(&irp), self.parts.remove(&irp))
    }
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    pub(super) fn disk_init(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<DiskInit>(record, version) else { return };
        let Some(tid) = event.issuing_thread_id.or(record.tid()) else { return };
        let thread = self.population.thread_at(tid, record.cpu(), record.time());
        let stack = self.stack_of(record, Some(record.tid().unwrap_or(tid)));
        let dropped = self.initiations.begin(event.irp, Asker { thread, stack, has_parts: false });
        if dropped.is_some_and(|asker| !asker.has_parts) {
            self.health.count(HealthKind::DISK_IO_WITHOUT_COMPLETION, Some(record.time()), || {
                "an initiation without a completion was dropped".to_owned()
            });
        }
    }

    pub(super) fn disk_transfer(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let Some(event) = self.decode::<DiskTransfer>(record, version) else { return };
        let operation = if opcode == DiskTransfer::READ { DiskOperation::Read } else { DiskOperation::Write };
        let row = DiskIoRow {
            offset: Some(event.byte_offset.cast_signed()),
            size: i64::from(event.size),
            file: self.file(event.file_key, record.time()),
            ..self.disk_row(record, operation, event.disk, event.irp_flags, event.response_time)
        };
        let row = self.disk_io(record, event.irp, event.issuing_thread_id, row);
        let row = match event.response_time {
            Some(_) => self.disk_queues.completed(row),
            None => self.disk_queues.completed_without_start(row),
        };
        row.into_iter().for_each(|row| self.sink.disk_io(&row));
    }

    pub(super) fn disk_flush(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<DiskFlush>(record, version) else { return };
        let row = self.disk_row(record, DiskOperation::Flush, event.disk, event.irp_flags, Some(event.response_time));
        let row = self.disk_io(record, Some(event.irp), event.issuing_thread_id, row);
        self.disk_queues.completed(row).into_iter().for_each(|row| self.sink.disk_io(&row));
    }

    /// A volume of several disks makes parts of an operation: each one takes over who asked, and the file.
    pub(super) fn split_io(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<SplitIo>(record, version) else { return };
        let file = self.file_io.file_of_request(event.parent);
        if self.initiations.split(event.parent, event.child, file).is_some() {
            self.health.count(HealthKind::DISK_REQUESTERS_OVER_BUDGET, Some(record.time()), || {
                "a part of a disk operation was not completed".to_owned()
            });
        }
    }

    /// The end of the recording: the rows that were held back.
    pub(super) fn finish_disks(&mut self) {
        self.disk_queues.finish().for_each(|row| self.sink.disk_io(&row));
    }

    fn disk_row(
        &self,
        record: &Record<'_>,
        operation: DiskOperation,
        disk: u32,
        irp_flags: u32,
        response_ticks: Option<u64>,
    ) -> DiskIoRow {
        let response = i64::try_from(response_ticks.unwrap_or(0)).unwrap_or(i64::MAX);
        DiskIoRow {
            time: self.clock.ns(record.time()),
            cpu: cpu_number(record),
            disk: disk.cast_signed(),
            operation,
            start: self.clock.ns(record.time().saturating_sub(response)),
            priority: io_priority(irp_flags).cast_signed(),
            irp_flags: i64::from(irp_flags),
            ..DiskIoRow::default()
        }
    }

    /// Adds who asked: the completion itself says so or the initiation with the same request packet does. The thread in
    /// the completion's header is whoever was interrupted by it.
    fn disk_io(&mut self, record: &Record<'_>, irp: Option<u64>, issuer: Option<u32>, mut row: DiskIoRow) -> DiskIoRow {
        let (initiation, part) = irp.map_or((None, None), |irp| self.initiations.end(irp));
        row.parent = part.map(|_| true);
        row.file = row.file.or(part.and_then(|part| part.file));
        let whole = part.and_then(|part| part.asker);
        let (cpu, ticks) = (record.cpu(), record.time());
        let named = issuer.filter(|tid| *tid != 0 && *tid != u32::MAX);
        row.thread = match (whole, named, initiation) {
            (Some(asker), ..) => Some(asker.thread),
            (None, Some(tid), _) => Some(self.population.thread_at(tid, cpu, ticks)),
            (None, None, Some(asker)) => Some(asker.thread),
            (None, None, None) => None,
        };
        row.process = row.thread.map(|thread| self.population.process_of(thread));
        row.stack = whole.or(initiation).and_then(|asker| asker.stack);
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(thread: i32) -> Asker {
        Asker { thread: ThreadId(thread), stack: None, has_parts: false }
    }

    #[test]
    fn the_oldest_make_room() {
        let mut open = Initiations::with_most(2);
        assert!(open.begin(1, by(1)).is_none() && open.begin(2, by(2)).is_none());
        // The same packet again takes no more room.
        assert!(open.begin(2, by(3)).is_none());
        assert_eq!(open.begin(4, by(4)).map(|asker| asker.thread), Some(ThreadId(1)));
        let ended = |open: &mut Initiations, irp: u64| open.end(irp).0.map(|asker| asker.thread);
        assert_eq!([1, 2, 4].map(|irp| ended(&mut open, irp)), [None, Some(ThreadId(3)), Some(ThreadId(4))]);
    }

    #[test]
    fn parts_of_parts_belong_to_the_whole_and_the_oldest_make_room() {
        let mut open = Initiations::with_most(2);
        let file = Some(FileId(7));
        open.begin(1, by(1));
        assert!(open.split(1, 10, file).is_none() && open.split(10, 11, None).is_none());
        let (_, part) = open.end(11);
        let part = part.expect("a part");
        assert_eq!((part.asker.map(|asker| asker.thread), part.file), (Some(ThreadId(1)), file));
        assert!(open.split(1, 12, None).is_none());
        // The first part was not completed.
        assert_eq!(open.split(1, 13, None).map(|part| part.file), Some(file));
        assert!(open.end(10).1.is_none() && open.end(12).1.is_some() && open.end(13).1.is_some());
        // What has parts has no completion of its own: nothing is missing where it makes room.
        open.begin(2, by(2));
        assert_eq!(open.begin(3, by(3)).map(|asker| asker.has_parts), Some(true));
    }
}
