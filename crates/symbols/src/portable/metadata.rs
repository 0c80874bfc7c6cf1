//! The container: metadata root, streams and heaps (ECMA-335 II.24.2).

use std::ops::Range;

use crate::error::Error;
use crate::identity::Guid;

/// What metadata begins with.
pub(super) const MAGIC: [u8; 4] = *b"BSJB";
/// A PDB has five streams or six; what is forged is not walked for long.
const MOST_STREAMS: u16 = 64;
/// Longest name of a stream, with its zero bytes.
const LONGEST_STREAM_NAME: usize = 32;

/// Where the streams lie.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pdb: Range<usize>,
    pub(super) tables: Range<usize>,
    guids: Range<usize>,
    blobs: Range<usize>,
}

pub(super) fn malformed(what: &str) -> Error {
    Error::Malformed(what.to_owned())
}

impl Metadata {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor(bytes);
        if cursor.take(4) != Some(&MAGIC) {
            return Err(Error::OtherFormat("a portable PDB"));
        }
        Self::streams(bytes, cursor).ok_or_else(|| malformed("metadata streams"))
    }

    fn streams(bytes: &[u8], mut cursor: Cursor<'_>) -> Option<Self> {
        // Version and a reserved field, then the version as text.
        cursor.take(8)?;
        let text = usize::try_from(cursor.u32()?).ok()?;
        cursor.take(text.checked_next_multiple_of(4)?)?;
        cursor.take(2)?;
        let mut found = Self::default();
        for _ in 0..cursor.u16()?.min(MOST_STREAMS) {
            let start = usize::try_from(cursor.u32()?).ok()?;
            let size = usize::try_from(cursor.u32()?).ok()?;
            let name = cursor.stream_name()?;
            let range = start..start.checked_add(size)?;
            bytes.get(range.clone())?;
            match name {
                b"#Pdb" => found.pdb = range,
                b"#~" => found.tables = range,
                b"#GUID" => found.guids = range,
                b"#Blob" => found.blobs = range,
                _ => {}
            }
        }
        Some(found)
    }

    /// GUID and stamp.
    pub(super) fn id(&self, bytes: &[u8]) -> Result<(Guid, u32), Error> {
        let mut stream = self.pdb(bytes);
        // Assemblies are metadata, too, but for this stream.
        let guid = stream.take(16).and_then(|guid| guid.try_into().ok()).ok_or(Error::OtherFormat("a portable PDB"))?;
        Ok((Guid::from_bytes(guid), stream.u32().ok_or_else(|| malformed("stream #Pdb"))?))
    }

    /// The stream `#Pdb`.
    pub(super) fn pdb<'a>(&self, bytes: &'a [u8]) -> Cursor<'a> {
        Cursor(bytes.get(self.pdb.clone()).unwrap_or_default())
    }

    /// A blob by its offset in the heap.
    pub(super) fn blob<'a>(&self, bytes: &'a [u8], offset: u32) -> Option<Cursor<'a>> {
        let mut heap = Cursor(bytes.get(self.blobs.clone())?.get(usize::try_from(offset).ok()?..)?);
        let size = heap.compressed()?;
        heap.take(usize::try_from(size).ok()?).map(Cursor)
    }

    /// A GUID by its number, from 1.
    pub(super) fn guid(&self, bytes: &[u8], number: u32) -> Option<Guid> {
        let (guids, _) = bytes.get(self.guids.clone())?.as_chunks::<16>();
        guids.get(usize::try_from(number.checked_sub(1)?).ok()?).map(|guid| Guid::from_bytes(*guid))
    }
}

/// Bytes that are read from front to back.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of one, two or four bytes, as the high bits of the first one say (II.23.2): up to 2^29.
    pub(super) fn compressed(&mut self) -> Option<u32> {
        self.compressed_of_width().map(|(value, _)| value)
    }

    /// A signed one: its sign bit is the lowest one, and how many bits it has depends on its width.
    pub(super) fn compressed_signed(&mut self) -> Option<i32> {
        let (value, bits) = self.compressed_of_width()?;
        let magnitude = (value >> 1).cast_signed();
        Some(if value & 1 == 0 { magnitude } else { magnitude - (1 << (bits - 1)) })
    }

    fn compressed_of_width(&mut self) -> Option<(u32, u32)> {
        let first = self.u8()?;
        if first & 0x80 == 0 {
            return Some((first.into(), 7));
        }
        if first & 0x40 == 0 {
            return Some((u32::from_be_bytes([0, 0, first & 0x3f, self.u8()?]), 14));
        }
        if first & 0x20 == 0 {
            let [second, third, fourth] = self.array()?;
            return Some((u32::from_be_bytes([first & 0x1f, second, third, fourth]), 29));
        }
        None
    }

    /// The bytes of one character; none for a zero byte, which stands for no character.
    pub(super) fn utf8_char(&mut self) -> Option<&'a [u8]> {
        let length = match self.0.first()? {
            0 => {
                self.take(1)?;
                return Some(&[]);
            }
            ..0xc0 => 1,
            0xc0..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0.. => 4,
        };
        self.take(length)
    }

    /// A name that ends with a zero byte and is filled up to a multiple of four.
    fn stream_name(&mut self) -> Option<&'a [u8]> {
        let length = self.0.iter().take(LONGEST_STREAM_NAME).position(|byte| *byte == 0)?;
        let padded = self.take((length + 1).next_multiple_of(4))?;
        padded.get(..length)
    }
}
