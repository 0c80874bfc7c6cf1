//! Disk operations: completions become rows, with who asked from the initiation.

use tracesift_etl::Record;
use tracesift_etl::payload::{DiskFlush, DiskInit, DiskTransfer, SplitIo, io_priority};
use tracesift_trace::HealthKind;
use tracesift_trace::RowSink;
use tracesift_trace::rows::{DiskIoRow, DiskOperation};

use super::{SecondPass, cpu_number};

/// Initiations of disk operations that wait for their completion, at most.
const MAX_INITIATIONS: usize = 1 << 16;

impl<Sink: RowSink> SecondPass<'_, Sink> {
    pub(super) fn disk_init(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<DiskInit>(record, version) else { return };
        let Some(tid) = event.issuing_thread_id.or(record.tid()) else { return };
        let thread = self.population.thread_at(tid, record.cpu(), record.time());
        let stack = self.stack_of(record, Some(record.tid().unwrap_or(tid)));
        if self.initiations.len() >= MAX_INITIATIONS {
            self.health.add(
                HealthKind::DISK_IO_WITHOUT_COMPLETION,
                self.initiations.len() as i64,
                Some(record.time()),
                || "initiations without a completion were dropped".to_owned(),
            );
            self.initiations.clear();
        }
        self.initiations.insert(event.irp, (thread, stack));
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

    /// A volume of several disks makes parts of an operation: each one takes over who asked.
    pub(super) fn split_io(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<SplitIo>(record, version) else { return };
        if self.parts.len() >= MAX_INITIATIONS {
            self.parts.clear();
        }
        let parent = match self.parts.get(&event.parent) {
            // A part that is split again belongs to whoever asked for the whole.
            Some(whole) => *whole,
            None => self.initiations.get(&event.parent).copied(),
        };
        self.parts.insert(event.child, parent);
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
        let initiation = irp.and_then(|irp| self.initiations.remove(&irp));
        let part_of = irp.and_then(|irp| self.parts.remove(&irp));
        row.parent = part_of.map(|_| true);
        let whole = part_of.flatten();
        let (cpu, ticks) = (record.cpu(), record.time());
        let named = issuer.filter(|tid| *tid != 0 && *tid != u32::MAX);
        row.thread = match (whole, named, initiation) {
            (Some((thread, _)), ..) => Some(thread),
            (None, Some(tid), _) => Some(self.population.thread_at(tid, cpu, ticks)),
            (None, None, Some((thread, _))) => Some(thread),
            (None, None, None) => None,
        };
        row.process = row.thread.map(|thread| self.population.process_of(thread));
        row.stack = whole.or(initiation).and_then(|(_, stack)| stack);
        row
    }
}
