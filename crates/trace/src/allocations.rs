//! Memory of processes and of the kernel, from its allocation to the time at which it is given back.
//!
//! Each sort of memory of a process is a map from addresses to blocks. A block is what one call allocated. An allocation adds only
//! bytes that no block has; giving back takes bytes away from all blocks that it meets. So a byte has at most one block at any time,
//! and the sizes of the blocks add up to the memory that is in use. Fed in the order of time.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::dns::Caller;
use crate::ids::{ProcessId, StackId, ThreadId};
use crate::rows::AllocationRow;

mod runs;

use runs::Runs;

/// Ranges of addresses that are followed at most. Beyond that the oldest blocks leave.
const MAX_PIECES: usize = 1 << 20;
/// No piece.
const NONE: u32 = u32::MAX;

/// A sort of memory. Addresses of one sort have one block at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// Addresses that are reserved.
    Reserved,
    /// Pages that are committed.
    Committed,
    /// Mappings and the program break.
    Mapped,
    /// Blocks of the heap with this handle.
    Heap(u64),
    /// Pages of the heap with this handle.
    HeapPages(u64),
    /// Blocks of the pools of the kernel.
    Pool,
}

/// Whose memory, and of which sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The process; `None`: the kernel.
    pub process: Option<ProcessId>,
    /// The sort.
    pub area: Area,
}

/// Who allocates, and as what.
#[derive(Clone, Copy, Debug)]
pub struct Maker {
    /// Time, thread and stack.
    pub by: Caller,
    /// The process of the rows.
    pub process: ProcessId,
    /// A value of [`allocation_kinds`](crate::rows::allocation_kinds).
    pub kind: i8,
    /// Tag of a block of a pool.
    pub tag: Option<[u8; 4]>,
    /// Whether it was there before the recording.
    pub there: bool,
}

/// What takes rows, in the order of their times.
pub type Rows<'a> = dyn FnMut(&AllocationRow) + 'a;

/// What one call allocated.
#[derive(Debug)]
struct Block {
    place: Place,
    process: ProcessId,
    kind: i8,
    start: i64,
    thread: Option<ThreadId>,
    stack: Option<StackId>,
    tag: Option<[u8; 4]>,
    there: bool,
    /// Rows that it has.
    parts: i32,
    /// Its first piece.
    first: u32,
}

/// Addresses of a block that follow each other.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    end: u64,
    block: u64,
    /// Its neighbours among the pieces of the block.
    before: u32,
    after: u32,
}

/// Bytes that are taken away from a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cut {
    block: u64,
    base: u64,
    size: u64,
}

/// When and by whom bytes are given back.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    time: i64,
    thread: Option<ThreadId>,
    stack: Option<StackId>,
    by_exit: bool,
    open: bool,
}

impl End {
    fn by(caller: &Caller) -> Self {
        Self { time: caller.time, thread: caller.thread, stack: caller.stack, ..Self::default() }
    }
}

/// The memory of a place.
#[derive(Debug, Default)]
struct Space {
    /// Start of a piece → its place in the list of pieces.
    pieces: BTreeMap<u64, u32>,
    /// Addresses that have a block, whichever: an allocation looks at these, not at each piece.
    runs: Runs,
}

/// Follows memory.
#[derive(Debug)]
pub struct Allocations {
    spaces: FxHashMap<Option<ProcessId>, BTreeMap<Area, Space>>,
    pieces: Vec<Piece>,
    /// Places in `pieces` that are not in use.
    free: Vec<u32>,
    /// By number, so the oldest block is the first.
    blocks: BTreeMap<u64, Block>,
    next: u64,
    most: usize,
    dropped: u64,
    /// Memory that is used again and again.
    cuts: Vec<Cut>,
    gaps: Vec<Range<u64>>,
    met: Vec<u32>,
    row: AllocationRow,
}

impl Default for Allocations {
    fn default() -> Self {
        Self::new(MAX_PIECES)
    }
}

impl Allocations {
    fn new(most: usize) -> Self {
        Self {
            spaces: FxHashMap::default(),
            pieces: Vec::new(),
            free: Vec::new(),
            blocks: BTreeMap::new(),
            next: 0,
            most,
            dropped: 0,
            cuts: Vec::new(),
            gaps: Vec::new(),
            met: Vec::new(),
            row: AllocationRow::default(),
        }
    }

    /// A block gets the bytes of a range that no block has. There is no block without bytes.
    pub fn add(&mut self, place: Place, range: Range<u64>, maker: &Maker, rows: &mut Rows<'_>) {
        if range.is_empty() {
            return;
        }
        let mut gaps = std::mem::take(&mut self.gaps);
        let areas = self.spaces.entry(place.process).or_default();
        areas.entry(place.area).or_default().runs.add(range, &mut gaps);
        if !gaps.is_empty() {
            let block = self.next;
            self.next += 1;
            self.blocks.insert(block, Block::new(place, maker));
            gaps.drain(..).for_each(|gap| self.put(place, gap, block));
        }
        self.gaps = gaps;
        self.make_room(maker.by.time, rows);
    }

    /// A block gets all bytes of a range. Those that other blocks have are given back first.
    pub fn replace(&mut self, place: Place, range: Range<u64>, maker: &Maker, rows: &mut Rows<'_>) {
        self.cut(place, range.clone(), &maker.by, rows);
        self.add(place, range, maker, rows);
    }

    /// The bytes of a range are given back. Tells how many of them were known.
    pub fn cut(&mut self, place: Place, range: Range<u64>, by: &Caller, rows: &mut Rows<'_>) -> u64 {
        self.meet(place, &range);
        let met = std::mem::take(&mut self.met);
        if !met.is_empty() {
            for piece in &met {
                self.cut_piece(place, *piece, &range);
            }
            self.forget(place, range);
        }
        self.met = met;
        let size = self.cuts.iter().map(|cut| cut.size).sum();
        self.give_back(End::by(by), rows);
        self.make_room(by.time, rows);
        size
    }

    /// All memory of a place is given back.
    pub fn clear(&mut self, place: Place, by: &Caller, rows: &mut Rows<'_>) -> u64 {
        self.cut(place, 0..u64::MAX, by, rows)
    }

    /// Bytes move to other addresses and stay in their blocks. What is there is given back.
    pub fn relocate(&mut self, place: Place, range: Range<u64>, to: u64, by: &Caller, rows: &mut Rows<'_>) {
        let Some(end) = to.checked_add(range.end.saturating_sub(range.start)) else { return };
        if to == range.start {
            return;
        }
        self.cut(place, to..end, by, rows);
        // Pieces get edges at the ends of the range, then they change their addresses.
        for edge in [range.start, range.end] {
            self.split(place, edge);
        }
        self.meet(place, &range);
        let met = std::mem::take(&mut self.met);
        if let Some(space) = self.space_mut(place) {
            space.runs.remove(&range);
        }
        for number in &met {
            let start = self.pieces[*number as usize].start;
            if let Some(space) = self.space_mut(place) {
                space.pieces.remove(&start);
            }
        }
        let mut gaps = std::mem::take(&mut self.gaps);
        for number in &met {
            let piece = &mut self.pieces[*number as usize];
            (piece.start, piece.end) = (piece.start - range.start + to, piece.end - range.start + to);
            let Piece { start, end, .. } = *piece;
            if let Some(space) = self.space_mut(place) {
                space.pieces.insert(start, *number);
                space.runs.add(start..end, &mut gaps);
            }
        }
        gaps.clear();
        self.gaps = gaps;
        self.met = met;
        self.make_room(by.time, rows);
    }

    /// The addresses around an address that belong to one block without a gap.
    #[must_use]
    pub fn at(&self, place: Place, address: u64) -> Option<Range<u64>> {
        let piece = self.piece_at(place, address)?;
        Some(piece.start..piece.end)
    }

    /// The first addresses of a range that a block has.
    #[must_use]
    pub fn first_in(&self, place: Place, range: Range<u64>) -> Option<Range<u64>> {
        if range.is_empty() {
            return None;
        }
        let piece = self.piece_at(place, range.start).or_else(|| {
            let (_, piece) = self.space(place)?.pieces.range(range.clone()).next()?;
            Some(self.pieces[*piece as usize])
        })?;
        Some(piece.start.max(range.start)..piece.end.min(range.end))
    }

    /// The kind of the block of an address.
    #[must_use]
    pub fn kind_at(&self, place: Place, address: u64) -> Option<i8> {
        self.blocks.get(&self.piece_at(place, address)?.block).map(|block| block.kind)
    }

    fn piece_at(&self, place: Place, address: u64) -> Option<Piece> {
        let (_, piece) = self.space(place)?.pieces.range(..=address).next_back()?;
        Some(self.pieces[*piece as usize]).filter(|piece| address < piece.end)
    }

    /// A process ends, or starts another program: its memory is given back.
    pub fn process_ended(&mut self, time: i64, process: ProcessId, rows: &mut Rows<'_>) {
        let Some(areas) = self.spaces.remove(&Some(process)) else { return };
        for number in areas.into_values().flat_map(|space| space.pieces.into_values()) {
            let Piece { start, end, block, .. } = self.pieces[number as usize];
            self.cuts.push(Cut { block, base: start, size: end - start });
            self.drop_piece(number);
        }
        self.give_back(End { time, by_exit: true, ..End::default() }, rows);
    }

    /// The recording ends: what is left is not given back.
    pub fn finish(&mut self, time: i64, rows: &mut Rows<'_>) {
        while self.drop_oldest(time, rows) {}
    }

    /// Blocks that had to make room.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Finds the pieces that a range meets, in the order of addresses.
    fn meet(&mut self, place: Place, range: &Range<u64>) {
        self.met.clear();
        if range.is_empty() {
            return;
        }
        let Some(space) = self.spaces.get(&place.process).and_then(|areas| areas.get(&place.area)) else { return };
        let before = space.pieces.range(..range.start).next_back().map(|(_, piece)| *piece);
        self.met.extend(before.filter(|piece| self.pieces[*piece as usize].end > range.start));
        self.met.extend(space.pieces.range(range.clone()).map(|(_, piece)| *piece));
    }

    /// Takes what lies in a range away from a piece that the range meets.
    fn cut_piece(&mut self, place: Place, number: u32, range: &Range<u64>) {
        let Piece { start, end, block, .. } = self.pieces[number as usize];
        let (from, to) = (start.max(range.start), end.min(range.end));
        self.cuts.push(Cut { block, base: from, size: to - from });
        if start < from {
            self.pieces[number as usize].end = from;
        } else {
            if let Some(space) = self.space_mut(place) {
                space.pieces.remove(&start);
            }
            self.drop_piece(number);
        }
        if to < end {
            self.put(place, to..end, block);
        }
    }

    /// Gives a piece an edge at an address.
    fn split(&mut self, place: Place, address: u64) {
        let before = self.space(place).and_then(|space| space.pieces.range(..address).next_back());
        let Some(number) = before.map(|(_, number)| *number) else { return };
        let Piece { end, block, .. } = self.pieces[number as usize];
        if address < end {
            self.pieces[number as usize].end = address;
            self.put(place, address..end, block);
        }
    }

    /// Makes a piece of a block.
    fn put(&mut self, place: Place, range: Range<u64>, number: u64) {
        let Some(block) = self.blocks.get_mut(&number) else { return };
        let piece = Piece { start: range.start, end: range.end, block: number, before: NONE, after: block.first };
        let at = match self.free.pop() {
            Some(at) => {
                self.pieces[at as usize] = piece;
                at
            }
            None => {
                self.pieces.push(piece);
                (self.pieces.len() - 1) as u32
            }
        };
        if block.first != NONE {
            self.pieces[block.first as usize].before = at;
        }
        block.first = at;
        let areas = self.spaces.entry(place.process).or_default();
        areas.entry(place.area).or_default().pieces.insert(range.start, at);
    }

    fn space(&self, place: Place) -> Option<&Space> {
        self.spaces.get(&place.process)?.get(&place.area)
    }

    fn space_mut(&mut self, place: Place) -> Option<&mut Space> {
        self.spaces.get_mut(&place.process)?.get_mut(&place.area)
    }

    /// Notes that no block has the addresses of a range.
    fn forget(&mut self, place: Place, range: Range<u64>) {
        let Some(areas) = self.spaces.get_mut(&place.process) else { return };
        let Some(space) = areas.get_mut(&place.area) else { return };
        space.runs.remove(&range);
        if space.pieces.is_empty() {
            areas.remove(&place.area);
            if areas.is_empty() {
                self.spaces.remove(&place.process);
            }
        }
    }

    /// Takes a piece, which no space has, away from its block.
    fn drop_piece(&mut self, number: u32) {
        let Piece { block, before, after, .. } = self.pieces[number as usize];
        if after != NONE {
            self.pieces[after as usize].before = before;
        }
        if before != NONE {
            self.pieces[before as usize].after = after;
        } else if let Some(block) = self.blocks.get_mut(&block) {
            block.first = after;
        }
        self.free.push(number);
    }

    /// Writes a row for each block from which bytes are taken away. The pieces have changed before.
    fn give_back(&mut self, end: End, rows: &mut Rows<'_>) {
        let mut cuts = std::mem::take(&mut self.cuts);
        cuts.sort_unstable();
        for cuts in cuts.chunk_by(|cut, other| cut.block == other.block) {
            let Some(block) = self.blocks.get_mut(&cuts[0].block) else { continue };
            let size = cuts.iter().map(|cut| cut.size).sum::<u64>();
            block.fill(&mut self.row, cuts[0], size, end);
            block.parts = block.parts.saturating_add(1);
            let is_over = block.first == NONE;
            rows(&self.row);
            if is_over {
                self.blocks.remove(&cuts[0].block);
            }
        }
        cuts.clear();
        self.cuts = cuts;
    }

    fn make_room(&mut self, now: i64, rows: &mut Rows<'_>) {
        while self.pieces.len() - self.free.len() > self.most && self.drop_oldest(now, rows) {
            self.dropped += 1;
        }
    }

    /// Takes the oldest block away, as one that is not given back.
    fn drop_oldest(&mut self, time: i64, rows: &mut Rows<'_>) -> bool {
        let Some((_, block)) = self.blocks.first_key_value() else { return false };
        let (place, mut next) = (block.place, block.first);
        while next != NONE {
            let Piece { start, end, block, after, .. } = self.pieces[next as usize];
            self.cuts.push(Cut { block, base: start, size: end - start });
            if let Some(space) = self.space_mut(place) {
                space.pieces.remove(&start);
            }
            self.forget(place, start..end);
            self.drop_piece(next);
            next = after;
        }
        self.give_back(End { time, open: true, ..End::default() }, rows);
        true
    }
}

impl Block {
    fn new(place: Place, maker: &Maker) -> Self {
        let Maker { by, process, kind, tag, there } = *maker;
        Self {
            place,
            process,
            kind,
            start: by.time,
            thread: by.thread,
            stack: by.stack,
            tag,
            there,
            parts: 0,
            first: NONE,
        }
    }

    /// Makes the row of bytes that are taken away.
    fn fill(&self, row: &mut AllocationRow, lowest: Cut, size: u64, end: End) {
        let mut tag = row.tag.take();
        match self.tag {
            Some(bytes) => write_tag(tag.get_or_insert_default(), bytes),
            None => tag = None,
        }
        *row = AllocationRow {
            time: end.time.max(self.start),
            start: self.start,
            process: self.process,
            thread: self.thread,
            stack: self.stack,
            kind: self.kind,
            block: i32::try_from(lowest.block).unwrap_or(i32::MAX),
            part: self.parts,
            last: Some(self.first == NONE),
            base: lowest.base.cast_signed(),
            size: i64::try_from(size).unwrap_or(i64::MAX),
            free_thread: end.thread,
            free_stack: end.stack,
            by_exit: Some(end.by_exit),
            there: Some(self.there),
            open: Some(end.open),
            heap: match self.place.area {
                Area::Heap(handle) | Area::HeapPages(handle) => Some(handle.cast_signed()),
                _ => None,
            },
            tag,
        };
    }
}

/// A tag has four characters; bytes that are no printable ones are dots.
pub fn write_tag(text: &mut String, tag: [u8; 4]) {
    text.clear();
    let printable = |byte: u8| if byte == b' ' || byte.is_ascii_graphic() { char::from(byte) } else { '.' };
    text.extend(tag.into_iter().map(printable));
}

#[cfg(test)]
mod tests;
