//! A table as bytes, and look-ups in them.
//!
//! All numbers are little-endian: a header, then arrays of u32 one after the other, then texts. A checksum over everything
//! behind it is verified when a table is opened; look-ups check every index besides, so a forged table gives wrong names at worst.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;

use super::builder::{Function, Location};

/// What is not there.
pub(super) const NONE: u32 = u32::MAX;

const MAGIC: [u8; 8] = *b"sift-sym";
/// Of the layout below, and of what the readers of symbol files make of them: tables of another version are made again.
const VERSION: u32 = 1;
/// Magic, version, checksum, base, seven counts, identity's length.
const HEADER: usize = 8 + 4 + 4 + 8 + 7 * 4;
/// Functions are inlined into each other a few dozen levels deep at most.
const MAX_DEPTH: usize = 256;
/// The code of a function is cut into tens of thousands of stretches at most; more are looked at in no forged table.
const MAX_RANGES: usize = 1 << 18;

/// What a table is made of.
pub(super) struct Parts<'a> {
    pub(super) base: u64,
    pub(super) identity: &'a str,
    pub(super) starts: &'a [u32],
    pub(super) places: &'a [u32],
    pub(super) locations: &'a [Location],
    pub(super) functions: &'a [Function],
    pub(super) texts: &'a [u8],
    pub(super) text_ends: &'a [u32],
}

/// Why bytes are no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// They do not begin as one.
    #[error("not a table of symbols")]
    NoTable,
    /// It was written by another version.
    #[error("a table of symbols of version {0}, not {VERSION}")]
    Version(u32),
    /// Checksum or lengths are wrong.
    #[error("a damaged table of symbols")]
    Damaged,
}

/// One function at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame<'a> {
    /// Function without arguments.
    pub function: &'a str,
    /// Argument list, with its parentheses.
    pub arguments: Option<&'a str>,
    /// Source file.
    pub file: Option<&'a str>,
    /// Line in it, from 1; for a function that another one was inlined into, of the call.
    pub line: Option<u32>,
    /// Where the name comes from: `pdb`, `dwarf`, `export` …
    pub source: &'a str,
}

/// Names by address: bytes in memory or in a mapped file. A copy costs nothing.
#[derive(Clone)]
pub struct Table {
    bytes: Bytes,
    base: u64,
    identity: Range<usize>,
    starts: Range<usize>,
    places: Range<usize>,
    locations: Range<usize>,
    functions: Range<usize>,
    text_ends: Range<usize>,
    texts: Range<usize>,
}

impl Table {
    /// A table of parts that fit each other.
    pub(super) fn new(parts: &Parts<'_>) -> Self {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&parts.base.to_le_bytes());
        let counts = [
            parts.identity.len(),
            parts.starts.len(),
            parts.places.len(),
            parts.locations.len(),
            parts.functions.len(),
            parts.text_ends.len(),
            parts.texts.len(),
        ];
        let mut put = |number: u32| bytes.extend_from_slice(&number.to_le_bytes());
        counts.iter().for_each(|count| put(u32::try_from(*count).unwrap_or(NONE)));
        parts.starts.iter().copied().for_each(&mut put);
        parts.places.iter().copied().for_each(&mut put);
        for location in parts.locations {
            [location.parent, location.function, location.file, location.line].into_iter().for_each(&mut put);
        }
        for function in parts.functions {
            [function.name, function.arguments, function.source].into_iter().for_each(&mut put);
        }
        parts.text_ends.iter().copied().for_each(&mut put);
        bytes.extend_from_slice(parts.texts);
        bytes.extend_from_slice(parts.identity.as_bytes());
        let sum = crc32fast::hash(&bytes[16..]).to_le_bytes();
        bytes[12..16].copy_from_slice(&sum);
        match Self::open(bytes.into()) {
            Ok(table) => table,
            // Only a table of more than 4 GiB could not be read again.
            Err(_) => Self::new(&Parts {
                starts: &[],
                places: &[],
                locations: &[],
                functions: &[],
                text_ends: &[],
                texts: &[],
                ..*parts
            }),
        }
    }

    /// Opens what [`Table::bytes`] gave.
    ///
    /// # Errors
    /// [`TableError`] when the bytes are no table of this version or damaged.
    pub fn open(bytes: Bytes) -> Result<Self, TableError> {
        let all = &*bytes;
        let version = all.strip_prefix(&MAGIC).and_then(|rest| rest.first_chunk()).ok_or(TableError::NoTable)?;
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Err(TableError::Version(version));
        }
        let header = all.first_chunk::<HEADER>().ok_or(TableError::Damaged)?;
        let (numbers, _) = header[12..].as_chunks::<4>();
        let number = |index: usize| u32::from_le_bytes(numbers[index]);
        if number(0) != crc32fast::hash(&all[16..]) {
            return Err(TableError::Damaged);
        }
        let base = u64::from(number(1)) | u64::from(number(2)) << 32;
        let mut next = HEADER;
        let mut take = |count: u32, size: usize| {
            let start = next;
            next = usize::try_from(count).ok()?.checked_mul(size)?.checked_add(start)?;
            Some(start..next)
        };
        let mut part = |index: usize, size: usize| take(number(3 + index), size).ok_or(TableError::Damaged);
        let starts = part(1, 4)?;
        let places = part(2, 4)?;
        let locations = part(3, 16)?;
        let functions = part(4, 12)?;
        let text_ends = part(5, 4)?;
        let texts = part(6, 1)?;
        let identity = part(0, 1)?;
        let fits = next == all.len() && starts.len() == places.len();
        let readable = fits && all.get(identity.clone()).is_some_and(|text| str::from_utf8(text).is_ok());
        if !readable {
            return Err(TableError::Damaged);
        }
        Ok(Self { bytes, base, identity, starts, places, locations, functions, text_ends, texts })
    }

    /// The table as it is stored.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the binary is known by, as said when the table was made.
    #[must_use]
    pub fn identity(&self) -> &str {
        str::from_utf8(&self.bytes()[self.identity.clone()]).unwrap_or_default()
    }

    /// Whether it has no name for any address.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The functions at an address, innermost first: the last one is what the symbol file calls the function, those before it were inlined.
    /// Nothing where no code is known.
    pub fn frames(&self, address: u64) -> impl Iterator<Item = Frame<'_>> {
        let mut location = self.location_at(address);
        let frames = std::iter::from_fn(move || {
            let number = location?;
            let [parent, function, file, line] = self.numbers(&self.locations, number)?;
            // Parents are older: what was forged into a circle ends.
            location = Some(parent).filter(|parent| *parent < number);
            let [name, arguments, source] = self.numbers(&self.functions, function)?;
            Some(Frame {
                function: self.text(name)?,
                arguments: self.text(arguments),
                file: self.text(file),
                line: Some(line).filter(|line| *line != NONE),
                source: self.text(source)?,
            })
        });
        frames.take(MAX_DEPTH)
    }

    /// The ranges of code in order: their first addresses and whether they have a name.
    pub fn code_ranges(&self) -> impl Iterator<Item = (u64, bool)> {
        let (starts, _) = self.bytes()[self.starts.clone()].as_chunks::<4>();
        let (places, _) = self.bytes()[self.places.clone()].as_chunks::<4>();
        starts.iter().zip(places).map(|(start, place)| {
            (self.base.wrapping_add(u32::from_le_bytes(*start).into()), u32::from_le_bytes(*place) != NONE)
        })
    }

    /// Where the code begins that an address lies in: what is of the same function, as the symbol file calls it, without a gap. `None` where
    /// no code is known.
    #[must_use]
    pub fn start(&self, address: u64) -> Option<u64> {
        let mut range = self.range_at(address)?;
        let function = self.function_of(range)?;
        for _ in 0..MAX_RANGES {
            match range.checked_sub(1).filter(|before| self.function_of(*before) == Some(function)) {
                Some(before) => range = before,
                None => {
                    let [start] = self.numbers(&self.starts, range)?;
                    return self.base.checked_add(start.into());
                }
            }
        }
        None
    }

    /// The function that the code of a range belongs to when what was inlined into it counts as its own.
    fn function_of(&self, range: u32) -> Option<u32> {
        let [mut location] = self.numbers(&self.places, range)?;
        for _ in 0..MAX_DEPTH {
            let [parent, function, _, _] = self.numbers(&self.locations, location)?;
            if parent >= location {
                return Some(function);
            }
            location = parent;
        }
        None
    }

    fn location_at(&self, address: u64) -> Option<u32> {
        let [place] = self.numbers(&self.places, self.range_at(address)?)?;
        Some(place).filter(|place| *place != NONE)
    }

    /// The number of the range that an address lies in.
    fn range_at(&self, address: u64) -> Option<u32> {
        let address = u32::try_from(address.checked_sub(self.base)?).ok()?;
        let (starts, _) = self.bytes()[self.starts.clone()].as_chunks::<4>();
        let after = starts.partition_point(|start| u32::from_le_bytes(*start) <= address);
        u32::try_from(after.checked_sub(1)?).ok()
    }

    /// The `index`-th group of numbers of a part.
    fn numbers<const N: usize>(&self, part: &Range<usize>, index: u32) -> Option<[u32; N]> {
        let start = usize::try_from(index).ok()?.checked_mul(N * 4)?;
        let bytes = self.bytes()[part.clone()].get(start..)?.get(..N * 4)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        Some(std::array::from_fn(|at| u32::from_le_bytes(numbers[at])))
    }

    fn text(&self, number: u32) -> Option<&str> {
        if number == NONE {
            return None;
        }
        let [end] = self.numbers(&self.text_ends, number)?;
        let start = match number.checked_sub(1) {
            Some(before) => self.numbers::<1>(&self.text_ends, before)?[0],
            None => 0,
        };
        let bytes = self.bytes()[self.texts.clone()].get(start as usize..end as usize)?;
        str::from_utf8(bytes).ok()
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("identity", &self.identity())
            .field("ranges", &(self.starts.len() / 4))
            .field("bytes", &self.bytes().len())
            .finish_non_exhaustive()
    }
}
