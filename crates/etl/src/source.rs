//! The source of a recording's bytes: it can be read at any position, and some sources are in
//! memory as a whole.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;

use crate::mapped::MappedFile;

/// Random access to the bytes of a recording, from several threads at once.
#[expect(clippy::len_without_is_empty, reason = "an empty recording is an error of `EtlFile::open`, nobody else asks")]
pub trait ReadAt: Send + Sync {
    /// Bytes in total.
    fn len(&self) -> u64;

    /// Fills `into` with the bytes from `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` when fewer bytes are there, else what the operating system reports.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// All bytes in memory, where they are; `None` when they must be read.
    fn mapped(&self) -> Option<&Bytes> {
        None
    }

    /// Tells that these bytes of [`ReadAt::mapped`] will not be looked at again soon, so that they need not stay in memory.
    fn release(&self, range: Range<u64>) {
        let _ = range;
    }
}

/// A file on disk. Local files are mapped where the system allows it, others are read: over a network a file may shrink without
/// notice, which is an error to a reader but ends a process that has it mapped.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    length: u64,
    map: Option<MappedFile>,
}

impl FileSource {
    /// Opens `path` for reading; the length is taken once, so a file that is still being written is read up to here.
    ///
    /// # Errors
    /// What the operating system reports.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::new(File::open(path)?)
    }

    /// Takes an open file.
    ///
    /// # Errors
    /// What the operating system reports when asked for the length.
    pub fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let map = MappedFile::of(&file, length);
        Ok(Self { file, length, map })
    }
}

impl ReadAt for FileSource {
    fn len(&self) -> u64 {
        self.length
    }

    fn mapped(&self) -> Option<&Bytes> {
        self.map.as_ref().map(MappedFile::bytes)
    }

    fn release(&self, range: Range<u64>) {
        if let Some(map) = &self.map {
            map.release(range);
        }
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, into, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut offset: u64, mut into: &mut [u8]) -> io::Result<()> {
        use std::os::windows::fs::FileExt;
        while !into.is_empty() {
            match self.file.seek_read(into, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    into = into.get_mut(count..).unwrap_or_default();
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl ReadAt for [u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let part = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..start.checked_add(into.len())?))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        into.copy_from_slice(part);
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.as_slice().read_at(offset, into)
    }
}

impl<T: ReadAt + ?Sized> ReadAt for std::sync::Arc<T> {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        (**self).read_at(offset, into)
    }

    fn mapped(&self) -> Option<&Bytes> {
        (**self).mapped()
    }

    fn release(&self, range: Range<u64>) {
        (**self).release(range);
    }
}
