//! Memory: hard faults, the lists of pages, and the memory of processes.

use tracesift_etl::Record;
use tracesift_etl::payload::{HardFault, PageLists, ProcessMemories, ProcessMemory, ProviderPageLists};
use tracesift_trace::memory_snapshots::MemorySnapshots;
use tracesift_trace::rows::{HardFaultRow, MemoryProcessRow, MemoryStateRow};
use tracesift_trace::{HealthKind, RowSink};

use super::{SecondPass, cpu_number};
use crate::etl::machine::MemorySize;

/// Readings of the memory.
#[derive(Debug, Default)]
pub(super) struct Memory {
    size: MemorySize,
    snapshots: MemorySnapshots,
    /// Whether lists, and processes, come from the provider: the class Memory logs the same ones.
    is_from_provider: [Option<bool>; 2],
}

/// What is read.
#[derive(Clone, Copy)]
enum Reading {
    Lists,
    Processes,
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
            free: bytes(lists.free),
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
            let process = self.population.process_at(memory.process_id, ticks);
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

    pub(super) fn finish_memory(&mut self) {
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
