//! Makes a table.

use std::collections::BinaryHeap;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::format::{NONE, Parts, Table};

/// A function of the table at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub(super) u32);

/// A source file of the table at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub(super) u32);

/// A place in the source of the table at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub(super) u32);

/// A function: its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Function {
    pub(super) name: u32,
    /// [`NONE`] where the arguments are not known.
    pub(super) arguments: u32,
    pub(super) source: u32,
}

/// A place in the source; [`NONE`] for what is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Location {
    /// The location of the call that was inlined; always an older one, so that no chain of them ends in a circle.
    pub(super) parent: u32,
    pub(super) function: u32,
    pub(super) file: u32,
    /// From 1.
    pub(super) line: u32,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    start: u64,
    end: u64,
    location: LocationId,
}

/// Collects what a file says, in any order.
#[derive(Debug, Default)]
pub struct TableBuilder {
    texts: Texts,
    functions: Interner<Function>,
    locations: Interner<Location>,
    ranges: Vec<Range>,
}

impl TableBuilder {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A function by its name without arguments, its argument list with parentheses, and the word for where the name comes from (`pdb`,
    /// `dwarf`, `export` …).
    pub fn function(&mut self, name: &str, arguments: Option<&str>, source: &str) -> FunctionId {
        let function = Function {
            name: self.texts.add(name),
            arguments: arguments.map_or(NONE, |arguments| self.texts.add(arguments)),
            source: self.texts.add(source),
        };
        FunctionId(self.functions.add(function))
    }

    /// A source file by its path.
    pub fn file(&mut self, path: &str) -> FileId {
        FileId(self.texts.add(path))
    }

    /// A place in the source. `parent` is the place of the call where the function was inlined; line 0 stands for none.
    pub fn location(
        &mut self,
        parent: Option<LocationId>,
        function: FunctionId,
        file: Option<FileId>,
        line: u32,
    ) -> LocationId {
        let location = Location {
            parent: parent.map_or(NONE, |parent| parent.0),
            function: function.0,
            file: file.map_or(NONE, |file| file.0),
            line: if line == 0 { NONE } else { line },
        };
        LocationId(self.locations.add(location))
    }

    /// The code from `start` up to, and without, `end` is at a location. Where it overlaps what was added before, it hides that.
    pub fn add(&mut self, start: u64, end: u64, location: LocationId) {
        if start < end {
            self.ranges.push(Range { start, end, location });
        }
    }

    /// Whether no code was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The table. `identity` is what the binary is known by, as text; it is kept in the table, so that a file of it can be held against what
    /// was looked for. Code that lies 4 GiB or more above the first address is left out.
    #[must_use]
    pub fn finish(mut self, identity: &str) -> Table {
        self.ranges.shrink_to_fit();
        let base = self.ranges.iter().map(|range| range.start).min().unwrap_or(0);
        let (starts, places) = without_overlaps(base, self.ranges);
        Table::new(&Parts {
            base,
            identity,
            starts: &starts,
            places: &places,
            locations: &self.locations.items,
            functions: &self.functions.items,
            texts: &self.texts.bytes,
            text_ends: &self.texts.ends,
        })
    }
}

/// Cuts ranges that may overlap into ranges that do not: their starts, relative to `base`, and their locations. Between two ranges, and at
/// the end, stands a range without a location.
fn without_overlaps(base: u64, ranges: Vec<Range>) -> (Vec<u32>, Vec<u32>) {
    // What was added last lies on top: so each range gets its place in the order in which it came.
    let mut ranges: Vec<(u32, Range)> = (0..).zip(ranges).collect();
    ranges.sort_by_key(|(_, range)| range.start);
    let (mut starts, mut places) = (Vec::with_capacity(ranges.len() + 1), Vec::with_capacity(ranges.len() + 1));
    let mut put = |at: u64, place: u32| {
        let Ok(at) = u32::try_from(at - base) else { return };
        if starts.last() == Some(&at) {
            starts.pop();
            places.pop();
        }
        if places.last().copied().unwrap_or(NONE) != place {
            starts.push(at);
            places.push(place);
        }
    };
    // The ranges that have begun, the top one first.
    let mut open: BinaryHeap<(u32, u64, LocationId)> = BinaryHeap::new();
    // Closes ranges that end at or before `until`, and shows what then comes to light.
    let close = |open: &mut BinaryHeap<(u32, u64, LocationId)>, until: u64, put: &mut dyn FnMut(u64, u32)| {
        while let Some(&(_, end, _)) = open.peek().filter(|(_, end, _)| *end <= until) {
            while open.peek().is_some_and(|(_, below, _)| *below <= end) {
                open.pop();
            }
            put(end, open.peek().map_or(NONE, |(_, _, location)| location.0));
        }
    };
    for (order, range) in ranges {
        close(&mut open, range.start, &mut put);
        open.push((order, range.end, range.location));
        if let Some(&(top, _, location)) = open.peek()
            && top == order
        {
            put(range.start, location.0);
        }
    }
    close(&mut open, u64::MAX, &mut put);
    (starts, places)
}

/// Texts, each once, in one piece.
#[derive(Debug, Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    index: HashTable<u32>,
}

impl Texts {
    /// The number of a text. Texts beyond 4 GiB are the empty one.
    fn add(&mut self, text: &str) -> u32 {
        let state = FixedState::default();
        let of = |number: u32, bytes: &[u8], ends: &[u32]| {
            let start = number.checked_sub(1).map_or(0, |before| ends[before as usize]);
            state.hash_one(&bytes[start as usize..ends[number as usize] as usize])
        };
        let (bytes, ends) = (&mut self.bytes, &mut self.ends);
        let same = |number: &u32| {
            let start = number.checked_sub(1).map_or(0, |before| ends[before as usize]);
            &bytes[start as usize..ends[*number as usize] as usize] == text.as_bytes()
        };
        let hash = state.hash_one(text.as_bytes());
        if let Some(number) = self.index.find(hash, same) {
            return *number;
        }
        let number = u32::try_from(ends.len()).unwrap_or(NONE);
        let text = if u32::try_from(bytes.len() + text.len()).is_ok() { text } else { "" };
        bytes.extend_from_slice(text.as_bytes());
        ends.push(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.index.insert_unique(hash, number, |number| of(*number, bytes, ends));
        number
    }
}

/// Items, each once.
#[derive(Debug)]
struct Interner<T> {
    items: Vec<T>,
    index: HashTable<u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { items: Vec::new(), index: HashTable::new() }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    fn add(&mut self, item: T) -> u32 {
        let state = FixedState::default();
        let hash = state.hash_one(item);
        if let Some(number) = self.index.find(hash, |number| self.items[*number as usize] == item) {
            return *number;
        }
        let number = u32::try_from(self.items.len()).unwrap_or(NONE);
        self.items.push(item);
        self.index.insert_unique(hash, number, |number| state.hash_one(self.items[*number as usize]));
        number
    }
}
