//! Compressed sections (System V ABI, chapter 4, "Section Compression").

use std::io::Read as _;

use flate2::read::ZlibDecoder;
use object::{Endian as _, Endianness};

use crate::Error;

/// Debug information shrinks to a fifth, the most regular sections to a twentieth. What claims to become more than this many times larger
/// was made to fill memory.
const MAX_RATIO: u64 = 64;
/// What a small section may always become.
const SMALL: u64 = 1 << 20;

const ZLIB: u32 = 1;
const ZSTD: u32 = 2;

/// The contents of a section that begins with a compression header.
pub(super) fn section(bytes: &[u8], wide: bool, endian: Endianness) -> Result<Vec<u8>, Error> {
    let cut = || Error::Malformed("a compressed section without a header".to_owned());
    let word = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|bytes| endian.read_u32(*bytes));
    let kind = word(0).ok_or_else(cut)?;
    let (size, header) = if wide {
        (bytes.get(8..).and_then(|rest| rest.first_chunk()).map(|bytes| endian.read_u64(*bytes)), 24)
    } else {
        (word(4).map(u64::from), 12)
    };
    let (size, packed) = size.zip(bytes.get(header..)).ok_or_else(cut)?;
    match kind {
        ZLIB => inflate(packed, size),
        ZSTD => zstd::bulk::decompress(packed, checked(packed, size)?).map_err(Error::from),
        kind => Err(Error::Malformed(format!("a section compressed with method {kind}"))),
    }
}

/// The contents of a section named `.zdebug_…`: `ZLIB` and the size, the most significant byte first.
pub(super) fn old_section(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let rest = bytes.strip_prefix(b"ZLIB").and_then(|rest| rest.split_first_chunk());
    let (size, packed) = rest.ok_or_else(|| Error::Malformed("a compressed section without a header".to_owned()))?;
    inflate(packed, u64::from_be_bytes(*size))
}

/// The symbols that distributions leave in programs, an ELF file of their own (`.gnu_debugdata`).
pub(super) fn xz(packed: &[u8]) -> Result<Vec<u8>, Error> {
    /// What the decoder itself may need; files are packed with dictionaries of up to 64 MiB.
    const MEMORY_KIB: u32 = 72 << 10;
    let most = most(packed);
    let mut bytes = Vec::new();
    lzma_rust2::XzReader::new_mem_limit(packed, true, MEMORY_KIB).take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn most(packed: &[u8]) -> u64 {
    (packed.len() as u64).saturating_mul(MAX_RATIO).max(SMALL)
}

fn checked(packed: &[u8], size: u64) -> Result<usize, Error> {
    let size = Some(size).filter(|size| *size <= most(packed)).and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| Error::Malformed("a compressed section that would be far too large".to_owned()))
}

fn inflate(packed: &[u8], size: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(checked(packed, size)?);
    ZlibDecoder::new(packed).take(size).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != size {
        return Err(Error::Malformed("a compressed section that is cut short".to_owned()));
    }
    Ok(bytes)
}
