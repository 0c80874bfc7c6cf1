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
use crate::known_files::{KnownFile, KnownFiles};

/// Files up to this size are read at once. Reading that much costs as much as a few seeks, and lets damage show before
/// it turns into wrong numbers. Larger files are checked by [`crate::Archive::verify`] only.
const IN_MEMORY: u64 = 2 << 20;

/// A table file, open.
#[derive(Clone)]
pub(crate) enum Input {
    Memory(Bytes, Arc<KnownFile>),
    File(Arc<File>, u64, Arc<KnownFile>),
}

impl Input {
    /// Opens the file that `trace.json` lists as `expected`, of which something may be known.
    pub(crate) fn open(
        path: &Path,
        expected: &TableFile,
        known: Option<&KnownFiles>,
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
        let known = known.map(|known| known.of(&expected.name, metadata.modified().ok())).unwrap_or_default();
        if length > IN_MEMORY {
            return Ok(Self::File(Arc::new(file), length, known));
        }
        let mut content = buffer::take();
        content.reserve_exact(to_usize(length).unwrap_or(0) + 1);
        // One byte more than it should have shows that it grew meanwhile; the checksum then does not fit.
        file.take(length + 1).read_to_end(&mut content).reading(path)?;
        if checksum_text(crc32fast::hash(&content)) != expected.crc32 {
            return Err(Error::corrupt(path, "its checksum is not the one in trace.json"));
        }
        Ok(Self::Memory(buffer::share(content), known))
    }

    /// What is known of it.
    pub(crate) fn known(&self) -> &KnownFile {
        match self {
            Self::Memory(_, known) | Self::File(.., known) => known,
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
            Self::Memory(bytes, _) => bytes.len() as u64,
            Self::File(_, length, _) => *length,
        }
    }
}

impl ChunkReader for Input {
    type T = InputReader;

    fn get_read(&self, start: u64) -> Result<InputReader> {
        self.check(start, 0)?;
        Ok(match self {
            Self::Memory(bytes, _) => InputReader::Memory(Cursor::new(bytes.slice(to_usize(start)?..))),
            Self::File(file, ..) => InputReader::File(file.get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.check(start, length as u64)?;
        match self {
            Self::Memory(bytes, _) => {
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
