//! Tables on disk, so that each symbol file is read once.
//!
//! One file per identity and kind of source: the table's bytes, and behind them what it is the table of. It is written under a
//! temporary name and then renamed, so several processes may use one cache: at worst two make the same table. What is damaged, foreign or
//! of another version is removed and made again. A file's time of modification is that of its last use, by which the oldest go first.

mod map;

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use tracesift_cache::Folder;

use crate::rooted::open_regular;
use crate::search::Key;
use crate::table::Table;

/// A directory with tables.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Folder,
}

const SUFFIX: &str = ".table";
/// At the very end of a file, behind key and key's length.
const MAGIC: [u8; 8] = *b"sift-key";

impl Cache {
    /// The cache in a directory, which need not exist.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self { folder: Folder::new(directory, SUFFIX) }
    }

    /// The files: name, identity and kind of source of a table are its key.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The table of a key. What is there and of no use is removed.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Table> {
        let path = self.folder.path(key.as_str());
        let file = open_regular(&path).ok()?;
        let used = file.metadata().and_then(|facts| facts.modified());
        match table_of(&file, key) {
            Ok(table) => {
                if let Ok(used) = used {
                    self.folder.note_use(key.as_str(), used);
                }
                Some(table)
            }
            // Not that it could not be read just now, but that it is no such table.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                drop(file);
                let _ = fs::remove_file(&path);
                None
            }
            Err(_) => None,
        }
    }

    /// Keeps a table.
    ///
    /// # Errors
    /// [`io::Error`] when it cannot be written; the cache is as it was.
    pub fn put(&self, key: &Key, table: &Table) -> io::Result<()> {
        self.folder.put(key.as_str(), &[table.bytes(), &trailer(key)])
    }
}

/// What stands behind a table.
fn trailer(key: &Key) -> Vec<u8> {
    let mut bytes = key.as_str().as_bytes().to_vec();
    bytes.extend_from_slice(&u32::try_from(key.as_str().len()).unwrap_or(0).to_le_bytes());
    bytes.extend_from_slice(&MAGIC);
    bytes
}

fn table_of(mut file: &File, key: &Key) -> io::Result<Table> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let expected = trailer(key);
    let length = file.metadata()?.len();
    let end = length.checked_sub(expected.len() as u64).ok_or_else(invalid)?;
    file.seek(SeekFrom::Start(end))?;
    let mut found = Vec::with_capacity(expected.len());
    file.take(expected.len() as u64).read_to_end(&mut found)?;
    if found != expected {
        return Err(invalid());
    }
    let bytes = map::bytes(file, length)?;
    let end = usize::try_from(end).map_err(|_| invalid())?;
    if bytes.len() < end {
        return Err(invalid());
    }
    Table::open(bytes.slice(..end)).map_err(|_| invalid())
}
