//! Resident memory of processes, from `kmem:rss_stat` and from what the recorder read in `/proc`.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_trace::rows::MemoryProcessRow;
use tracesift_trace::{HealthKind, ProcessId, RowSink};

use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::perf::tracepoint::RssFields;
use crate::recorder_facts::ProcessMemory;

/// Address spaces that are followed at most. The memory of others has no rows.
const MAX_SPACES: usize = 1 << 20;
/// A change of a part that makes a row, bytes.
const STEP: i64 = 1 << 20;

/// Follows the resident memory of address spaces. The kernel logs each change of some pages: far more than anybody reads.
#[derive(Default)]
pub(crate) struct Memory {
    spaces: FxHashMap<i64, Space>,
    /// The address space that was a process' own last.
    space_of: FxHashMap<ProcessId, i64>,
    /// What the recorder read last of a process.
    read: FxHashMap<ProcessId, (Parts, i64)>,
}

struct Space {
    process: ProcessId,
    /// What is known of it.
    parts: Parts,
    /// What its latest row says.
    written: Parts,
}

/// Bytes of files, anonymous memory, swap and shared memory.
type Parts = [Option<i64>; 4];

impl Memory {
    /// A part of an address space has a new size.
    pub(crate) fn rss<Sink: RowSink>(&mut self, fields: &RssFields, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
        let read = |raw| {
            let part = usize::try_from(fields.part.get(raw)?).ok().filter(|part| *part < 4)?;
            Some((fields.space.get(raw)?, fields.is_current.get(raw)? != 0, part, fields.size.get(raw)?))
        };
        let Some((space, is_current, part, size)) = at.sample.raw.and_then(read) else {
            return rows.health.count(HealthKind::INCOMPLETE_MEMORY_EVENTS, Some(at.ticks), || {
                "kmem:rss_stat without its fields".to_owned()
            });
        };
        let is_known = self.spaces.contains_key(&space);
        if !is_known && (!is_current || self.spaces.len() >= MAX_SPACES) {
            return rows
                .health
                .count(HealthKind::MEMORY_OF_UNKNOWN_PROCESS, Some(at.ticks), || format!("address space {space}"));
        }
        // Parts that have not changed since the process was read are as they were then, unless it has the memory of another program.
        let read =
            self.read.get(&at.process).filter(|_| is_current && !self.space_of.contains_key(&at.process)).copied();
        let parts = read.map(|(parts, _)| parts).unwrap_or_default();
        let fresh = || Space { process: at.process, parts, written: parts };
        let known = self.spaces.entry(space).or_insert_with(fresh);
        if is_current && known.process != at.process {
            // The number belongs to another address space now, or the process shared that of its parent until here.
            *known = fresh();
        }
        if is_current {
            self.space_of.insert(at.process, space);
        }
        known.parts[part] = Some(size.max(0));
        let differs = |part: usize| known.written[part].is_none_or(|written| (written - size).abs() >= STEP);
        if differs(part) {
            known.written = known.parts;
            let virtual_size = self.read.get(&known.process).map(|(_, size)| *size);
            let row = row(rows.clock.ns(at.ticks), known.process, known.parts);
            rows.sink.memory_process(&MemoryProcessRow { virtual_size, ..row });
        }
    }

    /// The recorder read the memory of a process.
    pub(crate) fn reading<Sink: RowSink>(&mut self, reading: &ProcessMemory, rows: &mut Rows<'_, Sink>) {
        // A process of which nothing is recorded has no rows.
        let Some(process) = rows.population.known_process_at(reading.pid, reading.ticks) else { return };
        let parts = reading.parts.map(Some);
        self.read.insert(process, (parts, reading.virtual_size));
        let own = self.space_of.get(&process).and_then(|space| self.spaces.get_mut(space));
        if let Some(space) = own.filter(|space| space.process == process) {
            (space.parts, space.written) = (parts, parts);
        }
        let row = row(rows.clock.ns(reading.ticks), process, parts);
        rows.sink.memory_process(&MemoryProcessRow { virtual_size: Some(reading.virtual_size), ..row });
    }

    /// The end of the recording, in ticks.
    pub(crate) fn finish<Sink: RowSink>(self, end: i64, rows: &mut Rows<'_, Sink>) {
        let is_behind = |space: &Space| space.parts != space.written;
        let mut behind: Vec<_> = self.spaces.into_iter().filter(|(_, space)| is_behind(space)).collect();
        behind.sort_unstable_by_key(|(number, space)| (space.process, *number));
        let time = rows.clock.ns(end);
        // The memory of a process that has ended is nobody's.
        let ended = rows.population.processes().filter(|row| row.end.is_some()).map(|row| row.process);
        let ended: FxHashSet<ProcessId> = ended.collect();
        behind.retain(|(_, space)| !ended.contains(&space.process));
        for (_, Space { process, parts, .. }) in behind {
            let virtual_size = self.read.get(&process).map(|(_, size)| *size);
            rows.sink.memory_process(&MemoryProcessRow { virtual_size, ..row(time, process, parts) });
        }
    }
}

fn row(time: i64, process: ProcessId, [rss_file, rss_anon, swap, rss_shmem]: Parts) -> MemoryProcessRow {
    MemoryProcessRow { time, process, rss_file, rss_anon, rss_shmem, swap, ..MemoryProcessRow::default() }
}
