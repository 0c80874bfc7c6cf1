//! A function with its lines and inlined calls, on its way to the table.

use crate::table::{FileId, FunctionId, LocationId, TableBuilder};

use super::record::{Code, Inline};

/// Deepest level of inlined calls that is kept, as of every table.
const MAX_LEVELS: usize = 255;

/// A function while its records are read.
pub(super) struct Function {
    code: Code,
    function: FunctionId,
    lines: Track<Place>,
    /// By level. One whose level has nothing above it is not reached.
    inlines: Vec<Track<Call>>,
}

/// Where in the source a line is.
#[derive(Clone, Copy)]
struct Place {
    file: Option<FileId>,
    line: u32,
}

/// A call that was inlined.
#[derive(Clone, Copy)]
struct Call {
    /// Of the call.
    place: Place,
    origin: FunctionId,
}

impl Function {
    pub(super) fn new(code: Code, function: FunctionId) -> Self {
        Self { code, function, lines: Track::default(), inlines: Vec::new() }
    }

    pub(super) fn add_line(&mut self, code: Code, file: Option<FileId>, line: u32) {
        self.lines.add(self.code, code, Place { file, line });
    }

    pub(super) fn add_inline(&mut self, inline: &Inline<'_>, origin: FunctionId, file: Option<FileId>) {
        if inline.level >= MAX_LEVELS {
            return;
        }
        if self.inlines.len() <= inline.level {
            self.inlines.resize_with(inline.level + 1, Track::default);
        }
        let call = Call { place: Place { file, line: inline.call_line }, origin };
        for code in inline.ranges() {
            self.inlines[inline.level].add(self.code, code, call);
        }
    }

    /// Cuts the function wherever a line or an inlined call begins or ends.
    pub(super) fn finish(mut self, table: &mut TableBuilder) {
        self.lines.sort();
        self.inlines.iter_mut().for_each(Track::sort);
        let mut cuts = vec![self.code.start, self.code.end];
        self.lines.cuts(&mut cuts);
        self.inlines.iter().for_each(|track| track.cuts(&mut cuts));
        cuts.sort_unstable();
        cuts.dedup();
        // The inlined calls at the last stretch, each with the place of its call: neighbours mostly share them.
        let mut calls: Vec<(usize, LocationId)> = Vec::new();
        for cut in cuts.windows(2) {
            let &[start, end] = cut else { continue };
            let mut function = self.function;
            let mut depth = 0;
            for track in &mut self.inlines {
                let Some((index, call)) = track.at(start) else { break };
                if calls.get(depth).is_none_or(|(known, _)| *known != index) {
                    calls.truncate(depth);
                    let parent = calls.last().map(|(_, location)| *location);
                    calls.push((index, table.location(parent, function, call.place.file, call.place.line)));
                }
                (function, depth) = (call.origin, depth + 1);
            }
            calls.truncate(depth);
            let place = self.lines.at(start).map_or(Place { file: None, line: 0 }, |(_, place)| place);
            let parent = calls.last().map(|(_, location)| *location);
            let location = table.location(parent, function, place.file, place.line);
            table.add(start, end, location);
        }
    }
}

/// Items over stretches of code, looked at in the order of addresses.
struct Track<T> {
    items: Vec<(Code, T)>,
    /// How many began at or before the last address that was looked at.
    begun: usize,
}

impl<T> Default for Track<T> {
    fn default() -> Self {
        Self { items: Vec::new(), begun: 0 }
    }
}

impl<T: Copy> Track<T> {
    /// Adds the part of `code` that lies `within`.
    fn add(&mut self, within: Code, code: Code, item: T) {
        let code = Code { start: code.start.max(within.start), end: code.end.min(within.end) };
        if code.start < code.end {
            self.items.push((code, item));
        }
    }

    fn sort(&mut self) {
        self.items.sort_by_key(|(code, _)| code.start);
    }

    fn cuts(&self, cuts: &mut Vec<u64>) {
        cuts.extend(self.items.iter().flat_map(|(code, _)| [code.start, code.end]));
    }

    /// The item at an address, which is above all those asked for before, and its index: the last one that began, if it has not ended.
    fn at(&mut self, address: u64) -> Option<(usize, T)> {
        while self.items.get(self.begun).is_some_and(|(code, _)| code.start <= address) {
            self.begun += 1;
        }
        let index = self.begun.checked_sub(1)?;
        let (code, item) = self.items.get(index)?;
        (address < code.end).then_some((index, *item))
    }
}
