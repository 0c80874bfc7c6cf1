//! The header of a recording: `perf_file_header` for files, its first 16 bytes for streams (tools/perf/util/header.h).

use linux_perf_event_reader::Endianness;

use crate::cursor::Cursor;
use crate::error::{Error, Malformed};
use crate::metadata::Mode;

/// Bytes of the header of a stream: magic and size.
pub(crate) const PIPE_LENGTH: usize = 16;
/// Bytes of the header of a file.
pub(crate) const FILE_LENGTH: usize = 104;

/// A place in the file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Section {
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl Section {
    /// Bytes of a section's description.
    pub(crate) const LENGTH: u64 = 16;

    pub(crate) fn parse(at: &mut Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Self { offset: at.u64("section")?, size: at.u64("section")? })
    }

    /// Offset of the first byte behind it.
    pub(crate) fn end(self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

/// What every recording begins with.
pub(crate) struct Start {
    pub(crate) endian: Endianness,
    pub(crate) mode: Mode,
}

impl Start {
    /// Recognises a recording by its first bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let endian = match bytes.get(..8) {
            Some(b"PERFILE2") => Endianness::LittleEndian,
            Some(b"2ELIFREP") => Endianness::BigEndian,
            _ => return Err(Error::NotARecording { reason: foreign(bytes) }),
        };
        let mut at = Cursor::new(bytes.get(8..).unwrap_or_default(), endian);
        let size = at.u64("header").map_err(|_| Error::NotARecording { reason: "it ends inside its header".into() })?;
        Ok(Self { endian, mode: if size == PIPE_LENGTH as u64 { Mode::Pipe } else { Mode::File } })
    }
}

/// The header of a file.
pub(crate) struct FileHeader {
    pub(crate) attr_size: u64,
    pub(crate) attrs: Section,
    pub(crate) data: Section,
    pub(crate) event_types: Section,
    features: [u64; 4],
}

impl FileHeader {
    pub(crate) fn parse(bytes: &[u8], endian: Endianness) -> Result<Self, Malformed> {
        let mut at = Cursor::new(bytes, endian);
        at.take(16, "magic number")?;
        Ok(Self {
            attr_size: at.u64("attribute size")?,
            attrs: Section::parse(&mut at)?,
            data: Section::parse(&mut at)?,
            event_types: Section::parse(&mut at)?,
            features: [at.u64("features")?, at.u64("features")?, at.u64("features")?, at.u64("features")?],
        })
    }

    /// Numbers of the features whose sections are listed behind the data, in this order.
    pub(crate) fn features(&self) -> impl Iterator<Item = u32> {
        let words = self.features;
        (0..256).filter(move |bit| words.get(*bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 != 0))
    }
}

/// What a file is that is no recording of perf.
fn foreign(bytes: &[u8]) -> String {
    let known: [(&[u8], &str); 7] = [
        (b"PERFFILE", "it is in perf's first format, from before Linux 2.6.33; convert it with the perf of that time"),
        (b"ELIFFREP", "it is in perf's first format, from before Linux 2.6.33; convert it with the perf of that time"),
        (b"\x1f\x8b", "it is packed with gzip; unpack it first"),
        (b"\x28\xb5\x2f\xfd", "it is packed with zstd; unpack it first"),
        (b"\xfd7zXZ", "it is packed with xz; unpack it first"),
        (b"PK\x03\x04", "it is a zip archive; unpack it first"),
        (b"\x17\x08\x44tracing", "it was written by trace-cmd"),
    ];
    let found = known.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, reason)| *reason);
    found.unwrap_or("it does not begin with PERFILE2").to_owned()
}
