//! The container of a PDB: a file of blocks, of which streams are made.

use std::io::{Read, Seek, SeekFrom};

use crate::Error;
use crate::fields::{Fields, u32_at};

const MAGIC: &[u8; 32] = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0";
const OTHER_FORMAT: Error = Error::OtherFormat("a PDB");
/// Size of a stream that was deleted.
const DELETED: u32 = u32::MAX;
/// A parse reads every stream about once. Only a forged PDB makes one stream out of the same blocks, or one module's stream that of others,
/// so often that the file is read this many times over.
const MAX_READS: u64 = 4;

/// An opened container.
#[derive(Debug)]
pub(super) struct Msf<R> {
    file: R,
    block_size: u32,
    /// Bytes that may be read still.
    budget: u64,
    length: u64,
    /// Which blocks make up which stream: number of streams, their sizes, their blocks one after the other.
    directory: Vec<u8>,
    /// Size of a stream, and where in the directory its blocks stand.
    streams: Vec<(u32, usize)>,
}

impl<R: Read + Seek> Msf<R> {
    /// # Errors
    /// [`Error::OtherFormat`] when it is none, [`Error::Malformed`] when its directory does not fit the file.
    pub(super) fn read(mut file: R) -> Result<Self, Error> {
        let length = file.seek(SeekFrom::End(0))?;
        file.rewind()?;
        let mut header = Vec::new();
        file.by_ref().take(56).read_to_end(&mut header)?;
        let rest = header.strip_prefix(MAGIC).ok_or(OTHER_FORMAT)?;
        let field = |index: usize| u32_at(rest, index * 4).ok_or(OTHER_FORMAT);
        let (block_size, directory_size, map) = (field(0)?, field(3)?, field(5)?);
        if !block_size.is_power_of_two() || !(512..=1 << 16).contains(&block_size) {
            return Err(Error::Malformed(format!("its blocks have {block_size} bytes")));
        }
        let budget = length.saturating_mul(MAX_READS);
        let mut msf = Self { file, block_size, budget, length, directory: Vec::new(), streams: Vec::new() };
        // The blocks of the directory are listed in blocks that follow each other.
        let listed = msf.blocks(directory_size) * 4;
        let map = msf.bytes(u64::from(map) * u64::from(block_size), listed)?;
        msf.directory = msf.gather(&map, directory_size)?;
        msf.streams = streams(&msf.directory, block_size)
            .ok_or_else(|| Error::Malformed("its directory of streams is cut short".to_owned()))?;
        Ok(msf)
    }

    /// A whole stream; empty where there is none of that number.
    pub(super) fn stream(&mut self, number: u32) -> Result<Vec<u8>, Error> {
        let stream = usize::try_from(number).ok().and_then(|number| self.streams.get(number));
        let Some(&(size, place)) = stream else { return Ok(Vec::new()) };
        let directory = std::mem::take(&mut self.directory);
        let blocks = self.blocks(size) * 4;
        let bytes = match directory.get(place..place + blocks) {
            Some(blocks) => self.gather(blocks, size),
            None => Err(Error::Malformed(format!("the blocks of stream {number} are cut short"))),
        };
        self.directory = directory;
        bytes
    }

    /// How many blocks so many bytes take.
    fn blocks(&self, size: u32) -> usize {
        size.div_ceil(self.block_size).try_into().unwrap_or(usize::MAX)
    }

    /// `size` bytes out of listed blocks. Blocks that follow each other are read at once.
    fn gather(&mut self, blocks: &[u8], size: u32) -> Result<Vec<u8>, Error> {
        if u64::from(size) > self.length.min(self.budget) {
            return Err(Error::Malformed(format!("{size} bytes of a stream do not fit the file")));
        }
        self.budget -= u64::from(size);
        let mut left = usize::try_from(size).unwrap_or(usize::MAX);
        let mut bytes = Vec::with_capacity(left);
        let (blocks, _) = blocks.as_chunks::<4>();
        let mut blocks = blocks.iter().map(|block| u32::from_le_bytes(*block)).peekable();
        while let Some(first) = blocks.next().filter(|_| left > 0) {
            let mut count = 1;
            while blocks.next_if_eq(&first.saturating_add(count)).is_some() {
                count += 1;
            }
            let run = u64::from(count) * u64::from(self.block_size);
            let run = left.min(usize::try_from(run).unwrap_or(usize::MAX));
            self.append(u64::from(first) * u64::from(self.block_size), run, &mut bytes)?;
            left -= run;
        }
        if left > 0 { Err(Error::Malformed("a stream has too few blocks".to_owned())) } else { Ok(bytes) }
    }

    fn bytes(&mut self, offset: u64, count: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.append(offset, count, &mut bytes)?;
        Ok(bytes)
    }

    fn append(&mut self, offset: u64, count: usize, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let fits = u64::try_from(count).is_ok_and(|count| count <= self.length.saturating_sub(offset));
        if !fits {
            return Err(Error::Malformed(format!("{count} bytes at {offset:#x} reach beyond the end")));
        }
        let start = bytes.len();
        bytes.resize(start + count, 0);
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(&mut bytes[start..])?;
        Ok(())
    }
}

/// Sizes of streams, and where in the directory their blocks stand.
fn streams(directory: &[u8], block_size: u32) -> Option<Vec<(u32, usize)>> {
    let mut fields = Fields::new(directory);
    let count = usize::try_from(fields.u32()?).ok()?;
    let (sizes, _) = fields.bytes(count.checked_mul(4)?)?.as_chunks::<4>();
    let mut place = 4 + count * 4;
    let mut streams = Vec::with_capacity(count);
    for size in sizes {
        let size = Some(u32::from_le_bytes(*size)).filter(|size| *size != DELETED).unwrap_or(0);
        streams.push((size, place));
        place = place.checked_add(usize::try_from(size.div_ceil(block_size)).ok()?.checked_mul(4)?)?;
    }
    Some(streams)
}
