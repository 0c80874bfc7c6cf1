//! Bytes that must be kept long: in memory while they are few, in an unnamed temporary file when they are many.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// An append-only byte store, read by position, also by several threads.
#[derive(Debug)]
pub struct Spill {
    memory: Vec<u8>,
    limit: usize,
    /// Few reads go there.
    file: Option<Mutex<File>>,
    /// Bytes already in the file; the tail is in `memory`.
    flushed: u64,
    directory: Option<std::path::PathBuf>,
}

impl Spill {
    /// A store that keeps `limit` bytes in memory and puts the rest into `directory` (default: the system's).
    #[must_use]
    pub fn new(limit: usize, directory: Option<std::path::PathBuf>) -> Self {
        Self { memory: Vec::new(), limit, file: None, flushed: 0, directory }
    }

    /// Appends and returns the position.
    ///
    /// # Errors
    /// When the temporary file cannot be made or written, for instance because the disk is full.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let position = self.flushed + self.memory.len() as u64;
        self.memory.extend_from_slice(bytes);
        if self.memory.len() > self.limit {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(Mutex::new(match &self.directory {
                    Some(directory) => tempfile::tempfile_in(directory)?,
                    None => tempfile::tempfile()?,
                })),
            };
            file.get_mut().unwrap_or_else(PoisonError::into_inner).write_all(&self.memory)?;
            self.flushed += self.memory.len() as u64;
            self.memory.clear();
        }
        Ok(position)
    }

    /// Reads `into.len()` bytes from `position`.
    ///
    /// # Errors
    /// When the position lies outside of what was appended or the file cannot be read.
    pub fn read(&self, position: u64, into: &mut [u8]) -> io::Result<()> {
        if position >= self.flushed {
            let start = usize::try_from(position - self.flushed).map_err(|_| io::ErrorKind::UnexpectedEof)?;
            let slice = start.checked_add(into.len()).and_then(|end| self.memory.get(start..end));
            into.copy_from_slice(slice.ok_or(io::ErrorKind::UnexpectedEof)?);
            return Ok(());
        }
        // Appends never straddle: one lies wholly in the file or wholly in memory.
        let file = self.file.as_ref().ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(position))?;
        file.read_exact(into)?;
        file.seek(SeekFrom::End(0))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Spill;

    #[test]
    fn reads_back_from_memory_and_file() {
        let mut spill = Spill::new(10, None);
        let positions: Vec<u64> = (0..50u8).map(|n| spill.append(&[n; 4]).unwrap()).collect();
        for (n, position) in positions.iter().enumerate() {
            let mut four = [0; 4];
            spill.read(*position, &mut four).unwrap();
            assert_eq!(four, [n as u8; 4]);
        }
        assert!(spill.read(199, &mut [0; 4]).is_err());
        assert!(spill.read(u64::MAX, &mut [0; 4]).is_err());
    }
}
