//! A file that knows its size and checksum when it is closed, so that nothing has to be read again.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crc32fast::Hasher;

use crate::error::{Error, WithPath as _};

/// Column chunks come in pieces of some 100 KiB.
const BUFFER: usize = 256 * 1024;

/// A new file, written from front to back.
pub(crate) struct CheckedFile {
    file: BufWriter<File>,
    hasher: Hasher,
    bytes: u64,
}

impl CheckedFile {
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let file = File::create_new(path).writing(path)?;
        Ok(Self { file: BufWriter::with_capacity(BUFFER, file), hasher: Hasher::new(), bytes: 0 })
    }

    /// Brings everything to the disk; returns size and CRC-32.
    pub(crate) fn finish(self, path: &Path) -> Result<(u64, u32), Error> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error).writing(path)?;
        file.sync_all().writing(path)?;
        Ok((self.bytes, self.hasher.finalize()))
    }
}

impl Write for CheckedFile {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.file.write(data)?;
        self.hasher.update(&data[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A checksum as `trace.json` writes it.
pub(crate) fn checksum_text(crc: u32) -> String {
    format!("{crc:08x}")
}
