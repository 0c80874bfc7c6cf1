//! The source of a recording's bytes: a file that can be read at any position, or a stream that is
//! read once.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// Random access to the bytes of a recording, from several readers at once.
#[expect(clippy::len_without_is_empty, reason = "an empty recording is an error of opening it, nobody else asks")]
pub trait ReadAt: Send + Sync {
    /// Bytes in total.
    fn len(&self) -> u64;

    /// Reads some bytes from `offset` on, as many as come at once; 0 at the end.
    ///
    /// # Errors
    /// What the operating system reports.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;
}

/// A file on disk, read and not mapped: a map of a file that shrinks meanwhile ends the process.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    length: u64,
}

impl FileSource {
    /// Takes an open file; its length is taken once, so a file that is still being written is read up to here.
    ///
    /// # Errors
    /// What the operating system reports when asked for the length.
    pub fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file, length })
    }
}

impl ReadAt for FileSource {
    fn len(&self) -> u64 {
        self.length
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, into, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, into, offset)
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read_at(&self, offset: u64, mut into: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|start| self.get(start..)).unwrap_or_default();
        io::copy(&mut rest.take(into.len() as u64), &mut into).map(|copied| copied as usize)
    }
}

/// Reads at most `limit` bytes of a section; what is not there is missing at the end.
pub(crate) fn read_section(source: &dyn ReadAt, offset: u64, size: u64, limit: usize) -> io::Result<Vec<u8>> {
    let there = source.len().saturating_sub(offset).min(size).min(limit as u64) as usize;
    let mut bytes = vec![0; there];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match source.read_at(offset + filled as u64, rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// What a walk over records reads from.
pub(crate) enum Input {
    At(Arc<dyn ReadAt>),
    Stream(Box<dyn Read + Send>),
}

impl Input {
    /// Reads some bytes; `offset` is where a stream stands anyway.
    pub(crate) fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let result = match self {
                Self::At(source) => source.read_at(offset, into),
                Self::Stream(stream) => stream.read(into),
            };
            match result {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}
