//! Disk operations from the tracepoints of the block layer.

use std::collections::BTreeSet;

use tracesift_trace::HealthKind;
use tracesift_trace::RowSink;
use tracesift_trace::disk_queues::DiskQueues;
use tracesift_trace::disk_requests::{Asker, Completed, DiskRequests, Extent};
use tracesift_trace::info::Disk;
use tracesift_trace::rows::{DiskIoRow, DiskOperation};

use super::call_chain::stack_of;
use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::perf::tracepoint::{BlockFields, Stage, Tracepoint};

/// Bytes of a sector, whatever the device's own are.
const SECTOR: i64 = 512;
/// Bits of the minor number in the kernel's own device numbers.
const MINOR_BITS: u32 = 20;
/// If one of so many operations has no end, answers say so.
const MANY_OPEN: i64 = 10;
/// Disks that are named in `trace.json`, at most.
const MAX_DISKS: usize = 4096;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Transfer(DiskOperation),
    Flush,
    /// Discards, zeroing, zones, commands of drivers.
    Other,
}

/// Reads the letters: an F in front stands for a flush before the operation, the next one for the operation.
fn action(letters: &[u8], sectors: u64) -> (bool, Action) {
    let (flush_before, letters) = match letters {
        [b'F', rest @ ..] if !rest.is_empty() => (true, rest),
        _ => (false, letters),
    };
    let action = match letters {
        [b'F', ..] => Action::Flush,
        // Kernels before 4.8 have no operation for it.
        [b'W', ..] if flush_before && sectors == 0 => Action::Flush,
        [b'R', ..] => Action::Transfer(DiskOperation::Read),
        [b'W', ..] | [b'Z', b'A', ..] => Action::Transfer(DiskOperation::Write),
        _ => Action::Other,
    };
    (flush_before, action)
}

/// The kernel's class of priority in the numbers of `disk_io.priority`.
fn priority(ioprio: u16) -> i8 {
    const VERY_LOW: i8 = 1;
    const NORMAL: i8 = 3;
    const HIGH: i8 = 4;
    match ioprio >> 13 {
        1 => HIGH,     // real time
        2 => NORMAL,   // best effort
        3 => VERY_LOW, // idle
        _ => 0,
    }
}

/// Follows requests to disks.
pub(crate) struct Disks {
    requests: DiskRequests,
    queues: DiskQueues,
    seen: BTreeSet<u32>,
    /// Operations with an end.
    done: i64,
    /// Whether the recording has `block:block_rq_complete`, which tells of failures, too.
    tells_completions: bool,
}

impl Disks {
    /// `tracepoints`: of the recording, by event.
    pub(crate) fn new(tracepoints: &[Option<Tracepoint>]) -> Self {
        let has = |is: fn(&BlockFields) -> bool| {
            tracepoints.iter().flatten().any(|at| matches!(at, Tracepoint::Block(fields) if is(fields)))
        };
        let tells_completions = has(BlockFields::is_completion);
        // Operations that began before the recording have no row.
        let queues = DiskQueues::new(i64::MIN);
        let requests = DiskRequests::new(has(BlockFields::is_refusal));
        Self { requests, queues, seen: BTreeSet::new(), done: 0, tells_completions }
    }

    /// Records were lost until `time`, nanoseconds since time zero.
    pub(crate) fn lost(&mut self, time: i64) {
        self.queues.lost(time);
    }

    /// A tracepoint of the block layer.
    pub(crate) fn event<Sink: RowSink>(
        &mut self,
        fields: &BlockFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let read = |raw| {
            let disk = fields.device.id(raw)?;
            let sector = fields.sector.get(raw)?.cast_unsigned();
            let count = u64::try_from(fields.sectors.get(raw)?).ok()?;
            Some((Extent { disk, sector, count }, action(fields.kind.get(raw)?, count)))
        };
        let Some((extent, (flush_before, action))) = at.sample.raw.and_then(read) else {
            return rows
                .health
                .count(HealthKind::INCOMPLETE_DISK_EVENTS, Some(at.ticks), || "without their fields".to_owned());
        };
        let cpu = at.cpu.unwrap_or(u16::MAX);
        let priority = || {
            let recorded = at.sample.raw.and_then(|raw| fields.priority.as_ref()?.get(raw))?;
            u16::try_from(recorded & 0xffff).ok()
        };
        match fields.stage {
            Stage::Queue => {
                let asker = asker(at, rows);
                if flush_before || action == Action::Flush {
                    self.requests.asked_to_flush(extent.disk, asker);
                }
                self.requests.asked(extent, asker);
            }
            Stage::Insert => match action {
                Action::Transfer(operation) => self.requests.inserted(operation, extent, asker(at, rows), priority()),
                Action::Flush | Action::Other => {}
            },
            Stage::Issue => match action {
                Action::Transfer(operation) => self.requests.issued(operation, extent, asker(at, rows), priority()),
                Action::Flush => self.requests.flush_issued(extent.disk, cpu, asker(at, rows), priority()),
                Action::Other => {}
            },
            Stage::Requeue => match action {
                Action::Transfer(_) => self.requests.refused(extent),
                Action::Flush => self.requests.flush_refused(extent.disk, cpu),
                Action::Other => {}
            },
            Stage::Error if self.tells_completions => {}
            Stage::Complete | Stage::Error => {
                let error = at.sample.raw.and_then(|raw| fields.error.as_ref()?.get(raw)).filter(|error| *error != 0);
                if let Some(error) = error {
                    let example = || format!("error {error} on disk {}", disk_name(extent.disk));
                    rows.health.count(HealthKind::FAILED_DISK_OPERATIONS, Some(at.ticks), example);
                }
                // The kernel has numbers of errors with a minus.
                let number = error.filter(|_| fields.has_error_number).map(i64::saturating_abs);
                self.complete(extent, action, number, at, rows);
            }
        }
    }

    fn complete<Sink: RowSink>(
        &mut self,
        extent: Extent,
        action: Action,
        error: Option<i64>,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let (operation, done) = match action {
            // What asked for a flush ends behind it, and has no sectors of its own.
            Action::Transfer(_) if extent.count == 0 => return,
            Action::Transfer(operation) => match self.requests.completed(extent) {
                Ok(None) => return,
                Ok(Some(done)) => (operation, Ok(done)),
                Err(unknown) => (operation, Err(unknown)),
            },
            Action::Flush => (DiskOperation::Flush, self.requests.flush_completed(extent.disk)),
            Action::Other => {
                return rows.health.count(HealthKind::OTHER_DISK_OPERATIONS, Some(at.ticks), || {
                    format!(
                        "on disk {}: discards and the like are neither read, write nor flush",
                        disk_name(extent.disk)
                    )
                });
            }
        };
        match done {
            Ok(done) => self.row(&done, (operation, error), at, rows),
            Err(_) => rows.health.count(HealthKind::DISK_COMPLETIONS_WITHOUT_START, Some(at.ticks), || {
                format!(
                    "sector {} of disk {} was asked for before the recording",
                    extent.sector,
                    disk_name(extent.disk)
                )
            }),
        }
    }

    fn row<Sink: RowSink>(
        &mut self,
        done: &Completed,
        (operation, error): (DiskOperation, Option<i64>),
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let Extent { disk, sector, count } = done.extent;
        if self.seen.len() < MAX_DISKS {
            self.seen.insert(disk);
        }
        self.done += 1;
        let start = rows.clock.ns(done.start);
        let bytes = |sectors: u64| i64::try_from(sectors).unwrap_or(i64::MAX).saturating_mul(SECTOR);
        let row = DiskIoRow {
            time: rows.clock.ns(at.ticks),
            cpu: at.cpu_or_none(),
            process: Some(rows.population.process_of(done.asker.thread)),
            thread: Some(done.asker.thread),
            disk: disk.cast_signed(),
            operation,
            start,
            offset: (operation != DiskOperation::Flush).then(|| bytes(sector)),
            size: bytes(count),
            priority: done.priority.map_or(0, priority),
            stack: done.asker.stack,
            queued: done.issued.map(|issued| rows.clock.ns(issued).saturating_sub(start)),
            error,
            io_class: done.priority.map(u16::cast_signed),
            ..DiskIoRow::default()
        };
        if let Some(row) = self.queues.completed(row) {
            rows.sink.disk_io(&row);
        }
    }

    /// The end of the recording: the disks that were used.
    pub(crate) fn finish<Sink: RowSink>(mut self, rows: &mut Rows<'_, Sink>) -> Vec<Disk> {
        self.queues.finish().for_each(|row| rows.sink.disk_io(&row));
        let open = i64::try_from(self.requests.without_completion()).unwrap_or(i64::MAX);
        rows.health.add(HealthKind::DISK_IO_WITHOUT_COMPLETION, open, None, || {
            "requests were still on their way at the end, or their completions are missing".to_owned()
        });
        // A few are on their way at the end of each recording. Some kernels write no events in the idle thread of a CPU, where most end.
        if open.saturating_mul(MANY_OPEN) > self.done + open {
            let all = self.done + open;
            rows.health.add(HealthKind::DISK_COMPLETIONS_MISSING, open, None, || {
                format!("the recording lacks the end of {open} of {all} disk operations: their bytes and times are in no figure")
            });
        }
        let forgotten = i64::try_from(self.requests.forgotten()).unwrap_or(i64::MAX);
        rows.health.add(HealthKind::DISK_REQUESTERS_OVER_BUDGET, forgotten, None, || {
            "no request took up what was asked for".to_owned()
        });
        let disk = |number: u32| Disk { number, model: disk_name(number), ..Disk::default() };
        self.seen.into_iter().map(disk).collect()
    }
}

/// `254:0`, as /proc/partitions and lsblk show it.
fn disk_name(number: u32) -> String {
    format!("{}:{}", number >> MINOR_BITS, number & ((1 << MINOR_BITS) - 1))
}

/// Who runs, as the one who asks.
fn asker<Sink: RowSink>(at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) -> Asker {
    Asker { ticks: at.ticks, thread: at.thread, stack: stack_of(at, rows) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_priority_are_those_of_windows() {
        let best_effort = |level: u16| 2 << 13 | level;
        assert_eq!([0, best_effort(4), best_effort(0), 1 << 13 | 7, 3 << 13].map(priority), [0, 3, 3, 4, 1]);
    }

    #[test]
    fn letters_tell_what_is_done() {
        let transfer = Action::Transfer;
        for (letters, sectors, expected) in [
            ("R", 8, (false, transfer(DiskOperation::Read))),
            ("RA", 8, (false, transfer(DiskOperation::Read))),
            ("WFSM", 8, (false, transfer(DiskOperation::Write))),
            ("FWFS", 8, (true, transfer(DiskOperation::Write))),
            ("ZA", 8, (false, transfer(DiskOperation::Write))),
            ("FWS", 0, (true, Action::Flush)),
            ("FF", 0, (true, Action::Flush)),
            ("F", 0, (false, Action::Flush)),
            ("DS", 8, (false, Action::Other)),
            ("N", 0, (false, Action::Other)),
            ("", 0, (false, Action::Other)),
        ] {
            assert_eq!(action(letters.as_bytes(), sectors), expected, "{letters}");
        }
        assert_eq!(disk_name(254 << 20 | 3), "254:3");
    }
}
