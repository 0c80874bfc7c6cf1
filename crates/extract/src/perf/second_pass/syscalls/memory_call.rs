//! System calls that map memory, move it and give it back.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;
use tracesift_trace::allocations::{Allocations, Area, Maker, Place};
use tracesift_trace::dns::Caller;
use tracesift_trace::rows::allocation_kinds as kinds;
use tracesift_trace::{FileId, HealthKind, ProcessId, RowSink, StackId};

use super::views::{View, ViewEnd, Views};
use crate::perf::second_pass::rows::Rows;
use crate::perf::second_pass::sample_context::SampleContext;

/// Bytes of a page. Larger pages are multiples of it.
const PAGE: u64 = 4096;
/// A page can be written (`PROT_WRITE`).
const WRITE: u64 = 2;
/// No page can be touched (`PROT_NONE`).
const NO_ACCESS: u64 = 0;
/// The mapping has no file (`MAP_ANONYMOUS`).
const ANONYMOUS: u64 = 0x20;
/// The old addresses stay mapped, without their pages (`MREMAP_DONTUNMAP`).
const DONT_UNMAP: u64 = 4;

/// Whether a call to map memory maps a descriptor.
pub(super) fn has_file(arguments: &[u64; 6]) -> bool {
    arguments[3] & ANONYMOUS == 0 && (arguments[4] as u32).cast_signed() >= 0
}

/// What a call does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryCall {
    Map,
    Unmap,
    Remap,
    Protect,
    Break,
}

impl MemoryCall {
    /// What the call with that name does.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "mmap" => Self::Map,
            "munmap" => Self::Unmap,
            "mremap" => Self::Remap,
            "mprotect" => Self::Protect,
            "brk" => Self::Break,
            _ => return None,
        })
    }
}

/// Follows the mappings of processes.
#[derive(Default)]
pub(super) struct Mappings {
    allocations: Allocations,
    views: Views,
    /// The program break of each process.
    breaks: FxHashMap<ProcessId, u64>,
    /// Ends of processes, in ns, the next one first; none before the first call.
    ends: Option<VecDeque<(i64, ProcessId)>>,
}

impl Mappings {
    /// A call returned without an error. `file`: that of a mapped descriptor.
    pub(super) fn call<Sink: RowSink>(
        &mut self,
        call: MemoryCall,
        (arguments, result): (&[u64; 6], i64),
        (stack, file): (Option<StackId>, Option<FileId>),
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let time = rows.clock.ns(at.ticks);
        self.ends_until(time, rows);
        let by = Caller { time, process: Some(at.process), thread: Some(at.thread), stack };
        let mut space = Space { allocations: &mut self.allocations, process: at.process, by };
        let result = result.cast_unsigned();
        views_of(&mut self.views, call, (arguments, result), (by, at.process, file), &mut |row| {
            rows.sink.mapped_view(row);
        });
        match call {
            MemoryCall::Map => space.map(pages(result, arguments[1]), arguments[2], arguments[3], rows),
            MemoryCall::Unmap => {
                if space.unmap(pages(arguments[0], arguments[1]), rows) == 0 {
                    rows.health.count(HealthKind::FREES_OF_UNKNOWN_MEMORY, Some(at.ticks), || {
                        format!("munmap in the process of thread {}", rows.population.tid_of(at.thread))
                    });
                }
            }
            MemoryCall::Remap => {
                let [from, to] = [pages(arguments[0], arguments[1]), pages(result, arguments[2])];
                space.remap(from, to, arguments[3] & DONT_UNMAP != 0, rows);
            }
            MemoryCall::Protect => {
                if arguments[2] & WRITE != 0 {
                    space.commit(pages(arguments[0], arguments[1]), rows);
                }
            }
            MemoryCall::Break => {
                let before = self.breaks.insert(at.process, result);
                space.set_break(before, arguments[0], result, rows);
            }
        }
    }

    /// The memory of processes at a time, in ns: what ended before has given its memory back.
    pub(super) fn allocations<Sink: RowSink>(&mut self, time: i64, rows: &mut Rows<'_, Sink>) -> &mut Allocations {
        self.ends_until(time, rows);
        &mut self.allocations
    }

    /// Processes that ended up to a time give their memory back.
    fn ends_until<Sink: RowSink>(&mut self, time: i64, rows: &mut Rows<'_, Sink>) {
        let ends = self.ends.get_or_insert_with(|| {
            let ends = rows.population.processes().filter_map(|row| Some((row.end?, row.process)));
            let mut ends: Vec<(i64, ProcessId)> = ends.collect();
            ends.sort_unstable();
            ends.into()
        });
        while let Some((end, process)) = ends.pop_front_if(|(end, _)| *end <= time) {
            self.breaks.remove(&process);
            self.allocations.process_ended(end, process, &mut |row| rows.sink.allocation(row));
            self.views.process_ended(end, process, ViewEnd::Exit, &mut |row| rows.sink.mapped_view(row));
        }
    }

    /// Whether calls are recorded that change memory.
    pub(super) fn are_followed(&self) -> bool {
        self.ends.is_some()
    }

    /// A process starts another program.
    pub(super) fn exec<Sink: RowSink>(&mut self, process: ProcessId, time: i64, rows: &mut Rows<'_, Sink>) {
        if self.ends.is_some() {
            self.ends_until(time, rows);
            self.views.process_ended(time, process, ViewEnd::Unmapped(None), &mut |row| rows.sink.mapped_view(row));
        }
    }

    /// The end of the recording, in ticks.
    pub(super) fn finish<Sink: RowSink>(&mut self, end: i64, rows: &mut Rows<'_, Sink>) {
        if self.ends.is_none() {
            return;
        }
        let time = rows.clock.ns(end);
        self.ends_until(time, rows);
        self.allocations.finish(time, &mut |row| rows.sink.allocation(row));
        self.views.finish(time, &mut |row| rows.sink.mapped_view(row));
        let dropped = i64::try_from(self.allocations.dropped()).unwrap_or(i64::MAX);
        let dropped = dropped.saturating_add(self.views.left_out());
        rows.health.add(HealthKind::ALLOCATIONS_OVER_BUDGET, dropped, None, || format!("{dropped} blocks"));
    }
}

/// Follows what a call does to views: its arguments and result, who made it and of which file.
fn views_of(
    views: &mut Views,
    call: MemoryCall,
    (arguments, result): (&[u64; 6], u64),
    (by, process, file): (Caller, ProcessId, Option<FileId>),
    put: &mut impl FnMut(&tracesift_trace::rows::MappedViewRow),
) {
    match call {
        MemoryCall::Map => {
            let range = pages(result, arguments[1]);
            views.cut(process, &range, &by, put);
            if has_file(arguments) {
                let descriptor = (arguments[4] as u32).into();
                views.map(process, range, View { maker: by, offset: arguments[5], file, descriptor });
            }
        }
        MemoryCall::Unmap => views.cut(process, &pages(arguments[0], arguments[1]), &by, put),
        MemoryCall::Remap => {
            let [from, to] = [pages(arguments[0], arguments[1]), pages(result, arguments[2])];
            if from.start != to.start {
                views.cut(process, &to, &by, put);
            }
            let kept = (to.end - to.start).min(from.end - from.start);
            views.cut(process, &(from.start + kept..from.end), &by, put);
            if arguments[3] & DONT_UNMAP == 0 && !from.is_empty() {
                views.relocate(process, &(from.start..from.start + kept), &to);
            }
        }
        MemoryCall::Protect | MemoryCall::Break => {}
    }
}

/// The memory of the process that calls.
struct Space<'a> {
    allocations: &'a mut Allocations,
    process: ProcessId,
    by: Caller,
}

/// Mappings that can be touched, and addresses that cannot.
const AREAS: [Area; 2] = [Area::Mapped, Area::Reserved];

impl Space<'_> {
    fn place(&self, area: Area) -> Place {
        Place { process: Some(self.process), area }
    }

    fn maker(&self, kind: i8) -> Maker {
        Maker { by: self.by, process: self.process, kind, tag: None, there: false }
    }

    fn map<Sink: RowSink>(&mut self, range: Range<u64>, access: u64, flags: u64, rows: &mut Rows<'_, Sink>) {
        let (area, kind) = match flags & ANONYMOUS {
            0 => (Area::Mapped, kinds::MAPPED_FILE),
            _ if access == NO_ACCESS => (Area::Reserved, kinds::RESERVED),
            _ => (Area::Mapped, kinds::MAPPED),
        };
        // What was there is gone: the call may name an address.
        self.unmap(range.clone(), rows);
        self.add(area, range, kind, rows);
    }

    fn add<Sink: RowSink>(&mut self, area: Area, range: Range<u64>, kind: i8, rows: &mut Rows<'_, Sink>) {
        let (place, maker) = (self.place(area), self.maker(kind));
        self.allocations.add(place, range, &maker, &mut |row| rows.sink.allocation(row));
    }

    /// Tells how many bytes were known.
    fn unmap<Sink: RowSink>(&mut self, range: Range<u64>, rows: &mut Rows<'_, Sink>) -> u64 {
        let places = AREAS.map(|area| self.place(area));
        let mut cut =
            |place| self.allocations.cut(place, range.clone(), &self.by, &mut |row| rows.sink.allocation(row));
        places.map(&mut cut).iter().sum()
    }

    fn remap<Sink: RowSink>(&mut self, from: Range<u64>, to: Range<u64>, stays: bool, rows: &mut Rows<'_, Sink>) {
        let [old, new] = [&from, &to].map(|range| range.end - range.start);
        let last = from.end.saturating_sub(1);
        let known = AREAS.into_iter().find_map(|area| Some((area, self.allocations.kind_at(self.place(area), last)?)));
        if from.start != to.start {
            self.unmap(to.clone(), rows);
        }
        if new < old {
            self.unmap(from.start + new..from.end, rows);
        }
        // Without a length the call maps shared memory a second time.
        if stays || from.is_empty() {
            let (area, kind) = known.unwrap_or((Area::Mapped, kinds::MAPPED));
            return self.add(area, to, kind, rows);
        }
        let moved = from.start..from.start + old.min(new);
        for place in AREAS.map(|area| self.place(area)) {
            let write = &mut |row: &tracesift_trace::rows::AllocationRow| rows.sink.allocation(row);
            self.allocations.relocate(place, moved.clone(), to.start, &self.by, write);
        }
        // Growth of memory that nobody knows is as new as all growth.
        if new > old {
            let (area, kind) = known.unwrap_or((Area::Mapped, kinds::MAPPED));
            let grown = to.start + old..to.end;
            self.unmap(grown.clone(), rows);
            self.add(area, grown, kind, rows);
        }
    }

    /// Reserved addresses become memory.
    fn commit<Sink: RowSink>(&mut self, range: Range<u64>, rows: &mut Rows<'_, Sink>) {
        let reserved = self.place(Area::Reserved);
        let mut from = range.start;
        let mut parts = Vec::new();
        while let Some(piece) = self.allocations.first_in(reserved, from..range.end) {
            from = piece.end;
            parts.push(piece);
        }
        for part in parts {
            self.allocations.cut(reserved, part.clone(), &self.by, &mut |row| rows.sink.allocation(row));
            self.add(Area::Mapped, part, kinds::MAPPED, rows);
        }
    }

    fn set_break<Sink: RowSink>(&mut self, before: Option<u64>, asked: u64, now: u64, rows: &mut Rows<'_, Sink>) {
        let Some(before) = before else { return };
        let [end, new] = [before, now].map(|address| pages(address, 0).start);
        if asked == 0 && now != before {
            // The break of a program moves by its calls only: the process runs another program, with new memory.
            let (time, process) = (self.by.time, self.process);
            self.allocations.process_ended(time, process, &mut |row| rows.sink.allocation(row));
        } else if new > end {
            self.unmap(end..new, rows);
            self.add(Area::Mapped, end..new, kinds::PROGRAM_BREAK, rows);
        } else {
            self.unmap(new..end, rows);
        }
    }
}

/// The pages that bytes touch; of no bytes the next edge of a page.
fn pages(address: u64, length: u64) -> Range<u64> {
    let up = |address: u64| address.saturating_add(PAGE - 1) & !(PAGE - 1);
    if length == 0 {
        return up(address)..up(address);
    }
    address & !(PAGE - 1)..up(address.saturating_add(length))
}
