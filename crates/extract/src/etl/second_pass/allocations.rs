//! Memory that processes allocate and give back: pages, blocks of heaps, blocks of the pools of the kernel.

use std::ops::Range;

use tracesift_etl::payload::{
    HeapAllocation, HeapFree, HeapPages, HeapReallocation, PoolBlock, VirtualMemory, VirtualRegion,
    virtual_memory_flags as flags,
};
use tracesift_etl::{Group, Record};
use tracesift_trace::allocations::{Area, Maker, Place};
use tracesift_trace::dns::Caller;
use tracesift_trace::rows::allocation_kinds as kinds;
use tracesift_trace::{HealthKind, ProcessId, RowSink};

use super::SecondPass;

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// A record that may tell of an allocation.
    pub(super) fn allocation(&mut self, record: &Record<'_>, group: Group, opcode: u8, version: u8) {
        match (group, opcode) {
            (Group::MEMORY, VirtualMemory::ALLOCATE) => self.virtual_allocation(record, version),
            (Group::MEMORY, VirtualMemory::FREE) => self.virtual_free(record, version),
            (Group::MEMORY, VirtualRegion::DC_START | VirtualRegion::DC_END) => self.virtual_region(record, version),
            (Group::POOL, opcode) => self.pool_block(record, opcode, version),
            (Group::HEAP, HeapAllocation::OPCODE) => self.heap_allocation(record, version),
            (Group::HEAP, HeapReallocation::OPCODE) => self.heap_reallocation(record, version),
            (Group::HEAP, opcode @ (HeapFree::DESTROY | HeapFree::FREE)) => self.heap_free(record, opcode, version),
            (Group::HEAP, opcode @ (HeapPages::EXPAND | HeapPages::CONTRACT)) => {
                self.heap_pages(record, opcode, version);
            }
            _ => {}
        }
    }

    fn virtual_allocation(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<VirtualMemory>(record, version) else { return };
        let by = self.kernel_caller(record);
        let process = self.population.process_at(event.process_id, record.time());
        let range = self.pages(event.base, event.length);
        for (flag, area, kind) in AREAS {
            if event.flags & flag != 0 {
                self.allocate(Place { process: Some(process), area }, range.clone(), &maker(by, process, kind));
            }
        }
    }

    fn virtual_free(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<VirtualMemory>(record, version) else { return };
        let by = self.kernel_caller(record);
        let process = Some(self.population.process_at(event.process_id, record.time()));
        let [reserved, committed] = [Area::Reserved, Area::Committed].map(|area| Place { process, area });
        let mut range = self.pages(event.base, event.length);
        if event.length == 0 {
            let region = self.allocations.at(reserved, event.base).or(self.allocations.at(committed, event.base));
            range = region.unwrap_or(0..0);
        }
        let mut known = self.take_back(committed, range.clone(), &by);
        if event.flags & flags::RELEASE != 0 {
            known += self.take_back(reserved, range, &by);
        }
        self.count_unknown(record, known);
    }

    /// A region that a process has. Its memory is older than the recording unless its allocation is known.
    fn virtual_region(&mut self, record: &Record<'_>, version: u8) {
        let Some(VirtualRegion { memory, committed }) = self.decode::<VirtualRegion>(record, version) else { return };
        let process = self.population.process_at(memory.process_id, record.time());
        let start = self.population.birth(process).0.unwrap_or(self.start);
        let range = self.pages(memory.base, memory.length);
        let by = Caller { time: start, ..Caller::default() };
        // Which pages of a region are committed is known only where all of them are.
        let is_committed = committed != 0 && committed >= range.end - range.start;
        let areas = [(Area::Reserved, kinds::RESERVED, true), (Area::Committed, kinds::COMMITTED, is_committed)];
        for (area, kind, is_there) in areas {
            let place = Place { process: Some(process), area };
            if is_there {
                self.allocate(place, range.clone(), &Maker { there: true, ..maker(by, process, kind) });
            }
        }
    }

    fn heap_allocation(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<HeapAllocation>(record, version) else { return };
        let by = self.kernel_caller(record);
        let Some(process) = self.process_of_heap(record, &by) else { return };
        self.heap_block(event.heap, event.address, event.size, &maker(by, process, kinds::HEAP));
    }

    fn heap_reallocation(&mut self, record: &Record<'_>, version: u8) {
        let Some(event) = self.decode::<HeapReallocation>(record, version) else { return };
        let by = self.kernel_caller(record);
        let Some(process) = self.process_of_heap(record, &by) else { return };
        let place = Place { process: Some(process), area: Area::Heap(event.heap) };
        let known = self.take_back_at(place, event.old_address, &by);
        self.count_unknown(record, known);
        self.heap_block(event.heap, event.new_address, event.new_size, &maker(by, process, kinds::HEAP));
    }

    fn heap_block(&mut self, heap: u64, address: u64, size: u64, maker: &Maker) {
        // No block is without bytes: each has an address of its own.
        let range = address..address.saturating_add(size.max(1));
        let place = Place { process: Some(maker.process), area: Area::Heap(heap) };
        let Self { allocations, sink, .. } = self;
        allocations.replace(place, range, maker, &mut |row| sink.allocation(row));
    }

    fn heap_free(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let Some(event) = self.decode::<HeapFree>(record, version) else { return };
        let by = self.kernel_caller(record);
        let Some(process) = self.process_of_heap(record, &by) else { return };
        let [blocks, pages] = [Area::Heap(event.heap), Area::HeapPages(event.heap)];
        let [blocks, pages] = [blocks, pages].map(|area| Place { process: Some(process), area });
        match event.address {
            Some(address) if opcode == HeapFree::FREE => {
                let known = self.take_back_at(blocks, address, &by);
                self.count_unknown(record, known);
            }
            _ if opcode == HeapFree::DESTROY => {
                for place in [blocks, pages] {
                    self.take_back(place, 0..u64::MAX, &by);
                }
            }
            _ => self.health.count(HealthKind::FIELDS_NOT_AS_EXPECTED, Some(record.time()), || {
                format!("HeapTrace {opcode}: there is no address")
            }),
        }
    }

    fn heap_pages(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        let Some(event) = self.decode::<HeapPages>(record, version) else { return };
        let by = self.kernel_caller(record);
        let Some(process) = self.process_of_heap(record, &by) else { return };
        let place = Place { process: Some(process), area: Area::HeapPages(event.heap) };
        let range = self.pages(event.address, event.size);
        if opcode == HeapPages::EXPAND {
            self.allocate(place, range, &maker(by, process, kinds::HEAP_GROWTH));
        } else {
            let known = self.take_back(place, range, &by);
            self.count_unknown(record, known);
        }
    }

    /// A heap belongs to the process that logs.
    fn process_of_heap(&mut self, record: &Record<'_>, by: &Caller) -> Option<ProcessId> {
        if by.process.is_none() {
            self.health.count(HealthKind::FIELDS_NOT_AS_EXPECTED, Some(record.time()), || {
                "HeapTrace: nothing tells the process of a heap".to_owned()
            });
        }
        by.process
    }

    fn pool_block(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        const SYSTEM: u32 = 4;
        let is_allocation = matches!(opcode, PoolBlock::ALLOCATE | PoolBlock::SESSION_ALLOCATE);
        if !is_allocation && !matches!(opcode, PoolBlock::FREE | PoolBlock::SESSION_FREE) {
            return;
        }
        let Some(event) = self.decode::<PoolBlock>(record, version) else { return };
        let by = self.kernel_caller(record);
        let place = Place { process: None, area: Area::Pool };
        if !is_allocation {
            let known = self.take_back_at(place, event.address, &by);
            self.count_unknown(record, known);
            return;
        }
        let process = by.process.unwrap_or_else(|| self.population.process_at(SYSTEM, record.time()));
        let range = event.address..event.address.saturating_add(event.size.max(1));
        let maker = Maker { tag: Some(event.tag), ..maker(by, process, kinds::POOL) };
        let Self { allocations, sink, .. } = self;
        allocations.replace(place, range, &maker, &mut |row| sink.allocation(row));
    }

    /// The pages that bytes touch.
    fn pages(&self, base: u64, length: u64) -> Range<u64> {
        if length == 0 {
            return base..base;
        }
        let rest = self.memory.page_size() - 1;
        let end = base.saturating_add(length).saturating_add(rest);
        base & !rest..end & !rest
    }

    fn allocate(&mut self, place: Place, range: Range<u64>, maker: &Maker) {
        let Self { allocations, sink, .. } = self;
        allocations.add(place, range, maker, &mut |row| sink.allocation(row));
    }

    fn take_back(&mut self, place: Place, range: Range<u64>, by: &Caller) -> u64 {
        let Self { allocations, sink, .. } = self;
        allocations.cut(place, range, by, &mut |row| sink.allocation(row))
    }

    /// Takes the block back that begins at an address.
    fn take_back_at(&mut self, place: Place, address: u64, by: &Caller) -> u64 {
        let block = self.allocations.at(place, address).filter(|range| range.start == address);
        block.map_or(0, |range| self.take_back(place, range, by))
    }

    fn count_unknown(&mut self, record: &Record<'_>, known: u64) {
        if known == 0 {
            self.health.count(HealthKind::FREES_OF_UNKNOWN_MEMORY, Some(record.time()), || {
                format!("process {}", record.pid().unwrap_or(0))
            });
        }
    }

    /// A process ended: its memory ends with it.
    pub(super) fn allocations_of_ended(&mut self, time: i64, process: ProcessId) {
        let Self { allocations, sink, .. } = self;
        allocations.process_ended(time, process, &mut |row| sink.allocation(row));
    }

    /// What is allocated at the end.
    pub(super) fn finish_allocations(&mut self, end: i64) {
        let Self { allocations, sink, .. } = self;
        allocations.finish(end, &mut |row| sink.allocation(row));
        let dropped = i64::try_from(allocations.dropped()).unwrap_or(i64::MAX);
        self.health.add(HealthKind::ALLOCATIONS_OVER_BUDGET, dropped, None, || format!("{dropped} blocks"));
    }
}

/// What the flags of an allocation ask for, in the order in which it is made.
const AREAS: [(u32, Area, i8); 2] =
    [(flags::RESERVE, Area::Reserved, kinds::RESERVED), (flags::COMMIT, Area::Committed, kinds::COMMITTED)];

fn maker(by: Caller, process: ProcessId, kind: i8) -> Maker {
    Maker { by, process, kind, tag: None, there: false }
}
