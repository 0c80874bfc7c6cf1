//! A folder of files under keys.
//!
//! A file is written under a temporary name and then renamed, so several processes may use one folder: at worst two make the same
//! file. Its time of modification is that of its last use.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::files::{Temporary, create_directory};

/// A folder, which need not exist, with the files of one suffix.
#[derive(Clone, Debug)]
pub struct Folder {
    directory: PathBuf,
    suffix: &'static str,
}

/// A file of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name without the suffix.
    pub key: String,
    /// Its bytes.
    pub size: u64,
    /// When it was used last, within an hour.
    pub used: SystemTime,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Files.
    pub count: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Files that could not be removed: in use, or not ours.
    pub failed: usize,
}

/// The time of last use is noted when it has become this old.
const TOUCH_AFTER: Duration = Duration::from_secs(60 * 60);
/// Temporary files of processes that are gone.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

impl Folder {
    /// The files in a directory whose names end so.
    #[must_use]
    pub fn new(directory: PathBuf, suffix: &'static str) -> Self {
        Self { directory, suffix }
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where the file of a key is, or would be. A key has no separators of paths.
    #[must_use]
    pub fn path(&self, key: &str) -> PathBuf {
        self.directory.join(format!("{key}{}", self.suffix))
    }

    /// Keeps a file, given in parts, whatever was there before.
    ///
    /// # Errors
    /// [`io::Error`] when it cannot be written; the folder is as it was.
    pub fn put(&self, key: &str, parts: &[&[u8]]) -> io::Result<()> {
        create_directory(&self.directory)?;
        let (mut file, temporary) = Temporary::new(&self.directory)?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.flush()?;
        drop(file);
        temporary.rename(&self.path(key))
    }

    /// Notes that the file of a key was used, if the time says that this was long ago. A folder that can only be read keeps its times.
    pub fn note_use(&self, key: &str, modified: SystemTime) {
        if modified.elapsed().is_ok_and(|age| age > TOUCH_AFTER) {
            let file = OpenOptions::new().append(true).open(self.path(key));
            let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
        }
    }

    /// All files, the one whose last use is longest ago first.
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
            let Some(key) = name.to_str().and_then(|name| name.strip_suffix(self.suffix)) else { continue };
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
    /// As [`Self::list`].
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
            match fs::remove_file(self.path(&entry.key)) {
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

    /// Removes all files.
    ///
    /// # Errors
    /// As [`Self::list`].
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
}

#[cfg(test)]
mod tests {
    use super::Folder;
    use std::time::{Duration, SystemTime};

    #[test]
    fn the_longest_unused_go_first() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let folder = Folder::new(directory.path().join("a/b"), ".kept");
        assert_eq!(folder.list().expect("no folder is an empty one"), []);
        for (key, hours) in [("new", 1), ("old", 3), ("older", 5)] {
            folder.put(key, &[b"12", b"345"]).expect("written");
            let file = std::fs::OpenOptions::new().append(true).open(folder.path(key)).expect("opened");
            file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3_600 + 60)).expect("set");
        }
        assert_eq!(std::fs::read(folder.path("old")).expect("read"), b"12345");
        let keys = || folder.list().expect("read").into_iter().map(|entry| entry.key).collect::<Vec<_>>();
        assert_eq!(keys(), ["older", "old", "new"]);
        let old = folder.list().expect("read")[0].used;
        folder.note_use("older", old);
        assert_eq!(keys(), ["old", "new", "older"]);
        let pruned = folder.prune(Some(11), None).expect("pruned");
        assert_eq!((pruned.count, pruned.bytes, keys()), (1, 5, vec!["new".to_owned(), "older".to_owned()]));
        assert_eq!(folder.clear().expect("cleared").count, 2);
        assert_eq!(keys(), [""; 0]);
    }
}
