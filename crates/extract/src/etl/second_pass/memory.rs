//! Memory: hard faults, the lists of pages, and the memory of processes.

use tracesift_etl::payload::{HardFault, PageLists, ProcessMemories, ProcessMemory, ProviderPageLists};
use tracesift_etl::{Record, event_fields};
use tracesift_trace::memory_snapshots::MemorySnapshots;
use tracesift_trace::reclaims::Reclaims;
use tracesift_trace::rows::{
    HardFaultRow, MemoryProcessRow, MemorySessionRow, MemoryStateRow, ReclaimRow, reclaim_kinds,
};
use tracesift_trace::{HealthKind, ProcessId, RowSink};

use super::provider_fields::Fields;
use super::{SecondPass, cpu_number};
use crate::etl::machine::MemorySize;

/// Event of the class Memory with the memory of sessions, and the same of the provider Kernel-Memory.
pub(super) const SESSIONS: u8 = 126;
pub(super) const SESSIONS_OF_PROVIDER: u16 = 3;
/// Events of the provider: a working set is written to the page file, and read back; each has a begin and an end.
pub(super) const SWAP_OUT: u16 = 4;
const SWAPPED_OUT: u16 = 5;
const SWAP_IN: u16 = 6;
pub(super) const SWAPPED_IN: u16 = 7;

/// Working sets that are written or read at one time, at most. Beyond that the oldest ones have no end.
const MOST_SWAPS: usize = 1 << 16;

/// The highest bit of a process id: parts of the system have it, processes do not.
const NO_PROCESS: u32 = 1 << 31;

event_fields! {
    /// A working set is written to the page file or read back.
    struct WorkingSetSwap<'a> {
        process: u64 = "ProcessId",
        pages: u64 = "PagesProcessed",
    }
}

/// Readings of the memory.
pub(super) struct Memory {
    size: MemorySize,
    snapshots: MemorySnapshots,
    /// Whether lists, processes, and sessions come from the provider: the class Memory logs the same ones.
    is_from_provider: [Option<bool>; 3],
    swap: Fields<WorkingSetSwap<'static>>,
    /// Working sets that are written or read, by process and kind.
    swaps: Reclaims<ProcessId>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            size: MemorySize::default(),
            snapshots: MemorySnapshots::default(),
            is_from_provider: [None; 3],
            swap: Fields::default(),
            swaps: Reclaims::with_most(MOST_SWAPS),
        }
    }
}

/// What is read.
#[derive(Clone, Copy)]
enum Reading {
    Lists,
    Processes,
    Sessions,
}

impl Memory {
    pub(super) fn new(size: MemorySize) -> Self {
        Self { size, ..Self::default() }
    }

    /// Bytes of a page: a power of two.
    pub(super) fn page_size(&self) -> u64 {
        self.size.page.cast_unsigned()
    }

    /// Bytes of a number of pages.
    fn bytes(&self, pages: u64) -> i64 {
        i64::try_from(pages).unwrap_or(i64::MAX).saturating_mul(self.size.page)
    }
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    pub(super) fn hard_fault(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<HardFault>(record, version) else { return };
        let (thread, process, stack) = self.sampled(record, event.thread_id);
        let start = event.initial_time.cast_signed().min(record.time());
        let row = HardFaultRow {
            time: self.clock.ns(record.time()),
            cpu: cpu_number(record),
            process: Some(process),
            thread: Some(thread),
            start: self.clock.ns(start),
            address: event.virtual_address.cast_signed(),
            offset: event.read_offset.cast_signed(),
            size: i64::from(event.byte_count),
            file: self.file(event.file_key, record.time()),
            stack,
        };
        self.sink.hard_fault(&row);
    }

    /// The lists of pages, from the class Memory or from the provider.
    pub(super) fn page_lists(&mut self, record: &Record<'_>, version: u8, is_from_provider: bool) {
        if !self.takes_memory_from(record, Reading::Lists, is_from_provider) {
            return;
        }
        let lists = if is_from_provider {
            self.decode::<ProviderPageLists<'_>>(record, version).map(|ProviderPageLists(lists)| lists)
        } else {
            self.decode::<PageLists<'_>>(record, version)
        };
        let Some(lists) = lists else { return };
        let bytes = |pages| self.memory.bytes(pages);
        let by_priority = |pages: &mut dyn Iterator<Item = u64>| Some(pages.map(bytes).collect::<Vec<i64>>());
        let standby = by_priority(&mut lists.standby.iter());
        // Pages for the page file are a part of the modified ones.
        let listed = [lists.zero, lists.free, lists.modified, lists.modified_no_write, lists.bad];
        let listed = listed.into_iter().chain(lists.standby.iter()).map(bytes).fold(0, i64::saturating_add);
        let row = MemoryStateRow {
            time: self.clock.ns(record.time()),
            zero: Some(bytes(lists.zero)),
            free: Some(bytes(lists.free)),
            modified: Some(bytes(lists.modified)),
            modified_no_write: Some(bytes(lists.modified_no_write)),
            modified_page_file: lists.modified_page_file.map(bytes),
            bad: Some(bytes(lists.bad)),
            standby,
            repurposed: by_priority(&mut lists.repurposed.iter()),
            active: self.memory.size.total.map(|total| total.saturating_sub(listed)).filter(|active| *active >= 0),
            paged_pool: lists.paged_pool.map(bytes),
            nonpaged_pool: lists.nonpaged_pool.map(bytes),
            commit: lists.commit.map(bytes),
            ..MemoryStateRow::default()
        };
        self.sink.memory_state(&row);
    }

    /// The memory of processes, from the class Memory or from the provider.
    pub(super) fn process_memories(&mut self, record: &Record<'_>, version: u8, is_from_provider: bool) {
        if !self.takes_memory_from(record, Reading::Processes, is_from_provider) {
            return;
        }
        let Some(event) = self.decode::<ProcessMemories<'_>>(record, version) else { return };
        let ticks = record.time();
        for memory in event.iter() {
            let process = match memory.process_id {
                id if id & NO_PROCESS != 0 => self.population.system_part(id),
                id => self.population.process_at(id, ticks),
            };
            let row = MemoryProcessRow { time: self.clock.ns(ticks), process, ..self.memory.row(&memory) };
            self.memory.snapshots.reading(row, &mut |row| self.sink.memory_process(row));
        }
    }

    /// Whether readings of this source become rows: those of the source that comes first do.
    fn takes_memory_from(&mut self, record: &Record<'_>, reading: Reading, is_from_provider: bool) -> bool {
        let known = &mut self.memory.is_from_provider[reading as usize];
        let takes = *known.get_or_insert(is_from_provider) == is_from_provider;
        if !takes {
            self.health.count(HealthKind::MEMORY_READ_TWICE, Some(record.time()), || {
                "of the class Memory and of the provider Kernel-Memory".to_owned()
            });
        }
        takes
    }

    /// The memory of sessions, from the class Memory or from the provider: the fields are those of processes, but for one.
    pub(super) fn session_memories(&mut self, record: &Record<'_>, version: u8, is_from_provider: bool) {
        if !self.takes_memory_from(record, Reading::Sessions, is_from_provider) {
            return;
        }
        let Some(event) = self.decode::<ProcessMemories<'_>>(record, version) else { return };
        let time = self.clock.ns(record.time());
        for memory in event.iter() {
            let bytes = |pages: u64| self.memory.bytes(pages);
            let stores = memory.stores;
            let row = MemorySessionRow {
                time,
                session: i64::from(memory.process_id),
                working_set: bytes(memory.working_set),
                private_working_set: bytes(memory.private_working_set),
                commit: bytes(memory.commit),
                // It stands where processes have their virtual size.
                paged_pool: bytes(memory.virtual_size),
                store: stores.map(|stores| bytes(stores.store)),
                stored: stores.map(|stores| bytes(stores.stored)),
                commit_debt: stores.map(|stores| bytes(stores.commit_debt)),
                shared_commit: stores.map(|stores| bytes(stores.shared_commit)),
            };
            self.sink.memory_session(&row);
        }
    }

    /// A working set is written to the page file, or read back: the begin, or the end.
    pub(super) fn swap(&mut self, record: &Record<'_>, id: u16) {
        let Some(event) = self.memory.swap.read(record, &self.schemas, &mut self.health) else { return };
        let Some(pid) = event.process.and_then(|pid| u32::try_from(pid).ok()) else { return };
        let process = self.population.process_at(pid, record.time());
        let (time, cpu) = (self.clock.ns(record.time()), cpu_number(record));
        let kind = if matches!(id, SWAP_OUT | SWAPPED_OUT) { reclaim_kinds::SWAP_OUT } else { reclaim_kinds::SWAP_IN };
        if matches!(id, SWAP_OUT | SWAP_IN) {
            let row = ReclaimRow { time, start: time, cpu, process: Some(process), kind, ..ReclaimRow::default() };
            for half in self.memory.swaps.begin(process, row) {
                self.half_swap(HealthKind::RECLAIMS_WITHOUT_END, half.kind, record);
            }
            return;
        }
        let pages = event.pages.filter(|_| kind == reclaim_kinds::SWAP_OUT);
        let reclaimed = pages.map(|pages| self.memory.bytes(pages));
        match self.memory.swaps.end(process, kind, (time, cpu), reclaimed) {
            Some(row) => self.sink.reclaim(&row),
            None => self.half_swap(HealthKind::RECLAIMS_WITHOUT_BEGIN, kind, record),
        }
    }

    /// A begin without an end, or an end without a begin.
    fn half_swap(&mut self, what: HealthKind, kind: i8, record: &Record<'_>) {
        self.health.count(what, Some(record.time()), || format!("kind {kind}"));
    }

    pub(super) fn finish_memory(&mut self, end: i64) {
        std::mem::take(&mut self.memory.swaps).finish(end).for_each(|row| self.sink.reclaim(&row));
        std::mem::take(&mut self.memory.snapshots).finish(&mut |row| self.sink.memory_process(row));
    }
}

impl Memory {
    fn row(&self, memory: &ProcessMemory) -> MemoryProcessRow {
        let bytes = |pages| Some(self.bytes(pages));
        let stores = memory.stores;
        MemoryProcessRow {
            working_set: bytes(memory.working_set),
            private_working_set: bytes(memory.private_working_set),
            commit: bytes(memory.commit),
            virtual_size: bytes(memory.virtual_size),
            store: stores.and_then(|stores| bytes(stores.store)),
            stored: stores.and_then(|stores| bytes(stores.stored)),
            commit_debt: stores.and_then(|stores| bytes(stores.commit_debt)),
            shared_commit: stores.and_then(|stores| bytes(stores.shared_commit)),
            ..MemoryProcessRow::default()
        }
    }
}
