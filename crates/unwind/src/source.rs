//! The source of the bytes of an ELF file.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

/// Something that has bytes at offsets.
pub trait Source {
    /// The bytes from `offset` on, all of them.
    ///
    /// # Errors
    ///
    /// They cannot be read, or end before; nothing is allocated for what is not there.
    fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>>;
}

impl Source for &[u8] {
    fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let start = usize::try_from(offset).ok();
        let bytes = start.and_then(|start| self.get(start..start.checked_add(length)?));
        bytes.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// Read and not mapped: a file that somebody shortens meanwhile is an error and no signal.
impl Source for File {
    fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let end = u64::try_from(length).ok().and_then(|length| offset.checked_add(length));
        if end.is_none_or(|end| self.seek(SeekFrom::End(0)).is_ok_and(|size| size < end)) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.seek(SeekFrom::Start(offset))?;
        let mut bytes = vec![0; length];
        self.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
