//! The bytes of a table file: small ones in memory and checked against their checksum, large ones read where needed.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use tracesift_trace::info::TableFile;

use crate::buffer;
use crate::checked_file::checksum_text;
use crate::error::{Error, WithPath as _};
use crate::footers::{Footer, Footers};

/// Files up to this size are read at once. Reading that much costs as much as a few seeks, and lets damage show before
/// it turns into wrong numbers. Larger files are checked by [`crate::Archive::verify`] only.
const IN_MEMORY: u64 = 2 << 20;

/// A table file, open.
#[derive(Clone)]
pub(crate) enum Input {
    Memory(Bytes),
    File(Arc<File>, u64, Footer),
}

impl Input {
    /// Opens the file that `trace.json` lists as `expected`. Large ones may have a footer that is known.
    pub(crate) fn open(
        path: &Path,
        expected: &TableFile,
        footers: Option<&Footers>,
    ) -> std::result::Result<Self, Error> {
        let file = File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::corrupt(path, "trace.json lists it and it is missing"),
            _ => Error::Read { path: path.to_owned(), source: error },
        })?;
        let metadata = file.metadata().reading(path)?;
        let length = metadata.len();
        if length != expected.bytes {
            let reason = format!("it has {length} bytes, trace.json says {}", expected.bytes);
            return Err(Error::corrupt(path, reason));
        }
        if length > IN_MEMORY {
            let footer = footers.map(|footers| footers.of(&expected.name, metadata.modified().ok()));
            return Ok(Self::File(Arc::new(file), length, footer.unwrap_or_default()));
        }
        let mut content = buffer::take();
        content.reserve_exact(to_usize(length).unwrap_or(0) + 1);
        // One byte more than it should have shows that it grew meanwhile; the checksum then does not fit.
        file.take(length + 1).read_to_end(&mut content).reading(path)?;
        if checksum_text(crc32fast::hash(&content)) != expected.crc32 {
            return Err(Error::corrupt(path, "its checksum is not the one in trace.json"));
        }
        Ok(Self::Memory(buffer::share(content)))
    }

    /// Where its footer is kept once it was read.
    pub(crate) fn footer(&self) -> Option<&Footer> {
        match self {
            Self::Memory(_) => None,
            Self::File(.., footer) => Some(footer),
        }
    }

    fn check(&self, start: u64, length: u64) -> Result<()> {
        if start.checked_add(length).is_some_and(|end| end <= self.len()) {
            Ok(())
        } else {
            Err(ParquetError::EOF(format!("{length} bytes at {start} are beyond the end of the file")))
        }
    }
}

impl Length for Input {
    fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File(_, length, _) => *length,
        }
    }
}

impl ChunkReader for Input {
    type T = InputReader;

    fn get_read(&self, start: u64) -> Result<InputReader> {
        self.check(start, 0)?;
        Ok(match self {
            Self::Memory(bytes) => InputReader::Memory(Cursor::new(bytes.slice(to_usize(start)?..))),
            Self::File(file, ..) => InputReader::File(file.get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.check(start, length as u64)?;
        match self {
            Self::Memory(bytes) => {
                let start = to_usize(start)?;
                Ok(bytes.slice(start..start + length))
            }
            Self::File(file, ..) => file.get_bytes(start, length),
        }
    }
}

fn to_usize(value: u64) -> Result<usize> {
    usize::try_from(value).map_err(|_| ParquetError::EOF(format!("offset {value} does not fit this machine")))
}

/// Reads on from a place in an [`Input`].
pub(crate) enum InputReader {
    Memory(Cursor<Bytes>),
    File(BufReader<File>),
}

impl Read for InputReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Memory(cursor) => cursor.read(buffer),
            Self::File(file) => file.read(buffer),
        }
    }
}
