//! Tables on disk, so that each symbol file is read once.
//!
//! One file per identity and kind of source: the table's bytes, and behind them what it is the table of. It is written under a
//! temporary name and then renamed, so several processes may use one cache: at worst two make the same table. What is damaged, foreign or
//! of another version is removed and made again. A file's time of modification is that of its last use, by which the oldest go first.

mod map;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::fetch::files::{Temporary, create_directory};
use crate::rooted::open_regular;
use crate::search::Key;
use crate::table::Table;

/// A directory with tables.
#[derive(Clone, Debug)]
pub struct Cache {
    directory: PathBuf,
}

/// A table in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is the table of: name, identity and kind of source.
    pub key: String,
    /// Bytes of its file.
    pub size: u64,
    /// When it was used last, within an hour.
    pub used: SystemTime,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Tables.
    pub count: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Tables that could not be removed: in use, or not ours.
    pub failed: usize,
}

const SUFFIX: &str = ".table";
/// At the very end of a file, behind key and key's length.
const MAGIC: [u8; 8] = *b"sift-key";
/// The time of last use is noted when it has become this old.
const TOUCH_AFTER: Duration = Duration::from_secs(60 * 60);
/// Temporary files of processes that are gone.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

impl Cache {
    /// The cache in a directory, which need not exist.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The table of a key. What is there and of no use is removed.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Table> {
        let path = self.path(key);
        let file = open_regular(&path).ok()?;
        let used = file.metadata().and_then(|facts| facts.modified());
        match table_of(&file, key) {
            Ok(table) => {
                if used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > TOUCH_AFTER)) {
                    touch(&path);
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
        create_directory(&self.directory)?;
        let (mut file, temporary) = Temporary::new(&self.directory)?;
        file.write_all(table.bytes())?;
        file.write_all(&trailer(key))?;
        file.flush()?;
        drop(file);
        temporary.rename(&self.path(key))
    }

    /// All tables, the one whose last use is longest ago first.
    ///
    /// # Errors
    /// [`io::Error`] when the directory is there and cannot be read.
    pub fn list(&self) -> io::Result<Vec<Entry>> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut list = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let Some(key) = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)) else { continue };
            // Another process may have removed it just now.
            let Ok(facts) = entry.metadata() else { continue };
            if facts.is_file() {
                let used = facts.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                list.push(Entry { key: key.to_owned(), size: facts.len(), used });
            }
        }
        list.sort_by(|a, b| a.used.cmp(&b.used).then_with(|| a.key.cmp(&b.key)));
        Ok(list)
    }

    /// Removes what was not used for longest until at most `size` bytes are left, and everything that was not used for `age`.
    ///
    /// # Errors
    /// As [`Cache::list`].
    pub fn prune(&self, size: Option<u64>, age: Option<Duration>) -> io::Result<Pruned> {
        let list = self.list()?;
        let now = SystemTime::now();
        let mut left: u64 = list.iter().map(|entry| entry.size).sum();
        let mut pruned = Pruned::default();
        for entry in list {
            let is_old = age.is_some_and(|age| now.duration_since(entry.used).is_ok_and(|unused| unused > age));
            if !is_old && size.is_none_or(|size| left <= size) {
                continue;
            }
            match fs::remove_file(self.directory.join(format!("{}{SUFFIX}", entry.key))) {
                Ok(()) => {
                    pruned.count += 1;
                    pruned.bytes += entry.size;
                    left -= entry.size;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => left -= entry.size,
                Err(_) => pruned.failed += 1,
            }
        }
        self.remove_abandoned(now);
        Ok(pruned)
    }

    /// Removes all tables.
    ///
    /// # Errors
    /// As [`Cache::list`].
    pub fn clear(&self) -> io::Result<Pruned> {
        self.prune(Some(0), None)
    }

    fn remove_abandoned(&self, now: SystemTime) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        for entry in entries.flatten() {
            let is_temporary = entry.path().extension().is_some_and(|extension| extension == "tmp");
            let age =
                entry.metadata().and_then(|facts| facts.modified()).ok().and_then(|at| now.duration_since(at).ok());
            if is_temporary && age.is_some_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.directory.join(format!("{key}{SUFFIX}"))
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

/// Notes that a table was used. A cache that can only be read keeps its times.
fn touch(path: &Path) {
    let _ = OpenOptions::new().append(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
}
