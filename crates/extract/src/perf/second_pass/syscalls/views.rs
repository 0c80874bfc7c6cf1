//! Views: files that processes map through a descriptor, until they unmap them.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;
use tracesift_trace::dns::Caller;
use tracesift_trace::rows::MappedViewRow;
use tracesift_trace::{FileId, ProcessId, StackId};

/// Views that are followed at most.
const MOST: usize = 1 << 20;

/// A view, or what is left of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) maker: Caller,
    /// Offset in the file.
    pub(super) offset: u64,
    pub(super) file: Option<FileId>,
    pub(super) descriptor: i64,
}

/// How a view ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ViewEnd {
    Unmapped(Option<StackId>),
    Exit,
    Open,
}

/// First address of each piece, its end, and the view that it is of.
type Pieces = BTreeMap<u64, (u64, View)>;

/// Follows the views of processes.
#[derive(Default)]
pub(super) struct Views {
    processes: FxHashMap<ProcessId, Pieces>,
    count: usize,
    left_out: i64,
}

impl Views {
    /// A process maps a file.
    pub(super) fn map(&mut self, process: ProcessId, range: Range<u64>, view: View) {
        if range.is_empty() {
            return;
        }
        if self.count >= MOST {
            self.left_out += 1;
            return;
        }
        self.insert(process, range, view);
    }

    /// Views that found no room.
    pub(super) fn left_out(&self) -> i64 {
        self.left_out
    }

    fn insert(&mut self, process: ProcessId, range: Range<u64>, view: View) {
        self.count += 1;
        self.processes.entry(process).or_default().insert(range.start, (range.end, view));
    }

    /// Takes what lies in a range; what lies around it stays.
    fn take(&mut self, process: ProcessId, range: &Range<u64>) -> Vec<(Range<u64>, View)> {
        let Some(pieces) = self.processes.get_mut(&process).filter(|_| !range.is_empty()) else { return Vec::new() };
        let before = pieces.range(..range.start).next_back().filter(|(_, (end, _))| *end > range.start);
        let inside = pieces.range(range.clone());
        let starts: Vec<u64> = before.into_iter().chain(inside).map(|(start, _)| *start).collect();
        let mut taken = Vec::with_capacity(starts.len());
        for start in starts {
            let Some((end, view)) = pieces.remove(&start) else { continue };
            self.count = self.count.saturating_sub(1);
            let at = |address: u64| View { offset: view.offset.saturating_add(address - start), ..view };
            if start < range.start {
                pieces.insert(start, (range.start, view));
                self.count += 1;
            }
            if end > range.end {
                pieces.insert(range.end, (end, at(range.end)));
                self.count += 1;
            }
            let part = start.max(range.start)..end.min(range.end);
            taken.push((part.clone(), at(part.start)));
        }
        taken
    }

    /// A range is unmapped, or something else takes its place.
    pub(super) fn cut(
        &mut self,
        process: ProcessId,
        range: &Range<u64>,
        by: &Caller,
        put: &mut impl FnMut(&MappedViewRow),
    ) {
        for (part, view) in self.take(process, range) {
            put(&row(process, part, &view, by.time, ViewEnd::Unmapped(by.stack)));
        }
    }

    /// A range moves, and may grow at its end.
    pub(super) fn relocate(&mut self, process: ProcessId, from: &Range<u64>, to: &Range<u64>) {
        for (part, view) in self.take(process, from) {
            let place = |address: u64| (address - from.start).saturating_add(to.start);
            let end = if part.end == from.end { to.end } else { place(part.end) };
            if place(part.start) < end {
                self.insert(process, place(part.start)..end, view);
            }
        }
    }

    /// A process ends, or has the memory of another program.
    pub(super) fn process_ended(
        &mut self,
        time: i64,
        process: ProcessId,
        end: ViewEnd,
        put: &mut impl FnMut(&MappedViewRow),
    ) {
        let pieces = self.processes.remove(&process).unwrap_or_default();
        self.count = self.count.saturating_sub(pieces.len());
        for (start, (last, view)) in pieces {
            put(&row(process, start..last, &view, time, end));
        }
    }

    /// The end of the recording.
    pub(super) fn finish(&mut self, time: i64, put: &mut impl FnMut(&MappedViewRow)) {
        let mut processes: Vec<ProcessId> = self.processes.keys().copied().collect();
        processes.sort_unstable();
        for process in processes {
            self.process_ended(time, process, ViewEnd::Open, put);
        }
    }
}

fn row(process: ProcessId, part: Range<u64>, view: &View, time: i64, end: ViewEnd) -> MappedViewRow {
    let end_stack = if let ViewEnd::Unmapped(stack) = end { stack } else { None };
    MappedViewRow {
        time,
        start: view.maker.time,
        process,
        thread: view.maker.thread,
        base: part.start.cast_signed(),
        size: (part.end - part.start).cast_signed(),
        offset: i64::try_from(view.offset).ok(),
        file: view.file,
        object: view.descriptor,
        stack: view.maker.stack,
        end_stack,
        there: Some(false),
        by_exit: Some(end == ViewEnd::Exit),
        open: Some(end == ViewEnd::Open),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: ProcessId = ProcessId(3);

    fn view(offset: u64) -> View {
        View { maker: Caller::default(), offset, file: None, descriptor: 5 }
    }

    /// Base, size and offset of the rows that something makes.
    fn rows(make: impl FnOnce(&mut dyn FnMut(&MappedViewRow))) -> Vec<(i64, i64, Option<i64>)> {
        let mut rows = Vec::new();
        make(&mut |row: &MappedViewRow| rows.push((row.base, row.size, row.offset)));
        rows
    }

    #[test]
    fn parts_of_a_view_end_by_themselves() {
        let mut views = Views::default();
        let by = Caller::default();
        views.map(PROCESS, 0x1000..0x9000, view(0x100));
        let cut = rows(|mut put| views.cut(PROCESS, &(0x3000..0x4000), &by, &mut put));
        assert_eq!(cut, [(0x3000, 0x1000, Some(0x2100))]);
        let cut = rows(|mut put| views.cut(PROCESS, &(0..0x2000), &by, &mut put));
        assert_eq!(cut, [(0x1000, 0x1000, Some(0x100))]);
        assert!(rows(|mut put| views.cut(PROCESS, &(0x5000..0x5000), &by, &mut put)).is_empty());
        assert!(rows(|mut put| views.cut(ProcessId(4), &(0..0x2000), &by, &mut put)).is_empty());
        let left = rows(|mut put| views.finish(9, &mut put));
        assert_eq!(left, [(0x2000, 0x1000, Some(0x1100)), (0x4000, 0x5000, Some(0x3100))]);
        assert_eq!(views.count, 0);
    }

    #[test]
    fn a_view_moves_and_grows() {
        let mut views = Views::default();
        views.map(PROCESS, 0x1000..0x3000, view(0));
        views.relocate(PROCESS, &(0x1000..0x3000), &(0x8000..0xb000));
        assert_eq!(rows(|mut put| views.finish(9, &mut put)), [(0x8000, 0x3000, Some(0))]);
    }
}
