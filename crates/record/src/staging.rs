//! Recordings under temporary names until they are whole.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::Error;

/// Who holds this file locked works in the directory. The lock goes with its process, however that ends.
const LOCK: &str = "lock";

/// A directory beside the recording to be, for nobody else to read; it goes with what is left in it.
#[derive(Debug)]
pub(crate) struct Staging {
    directory: PathBuf,
    lock: Option<fs::File>,
}

impl Staging {
    /// Makes the directory; it must not exist, so that nobody else has put anything into it. Directories of processes that were
    /// killed while they recorded to the same place go. The directory of the recording is made where it is missing.
    pub(crate) fn beside(output: &Path) -> Result<Self, Error> {
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let directory = output.with_file_name(format!(".{name}.{}", std::process::id()));
        // The recorder is told of it, and does not stand where we do.
        let directory = std::path::absolute(&directory).map_err(|error| Error::file(&directory, error))?;
        remove_abandoned(&directory, &name);
        if let Some(parent) = directory.parent() {
            fs::create_dir_all(parent).map_err(|error| Error::file(parent, error))?;
        }
        private().create(&directory).map_err(|error| Error::file(&directory, error))?;
        let mut staging = Self { directory, lock: None };
        // It has its name only when it is locked. Not every file system knows locks; without one nobody removes the directory but we.
        let new = staging.file("new");
        let lock = fs::File::create_new(&new).map_err(|error| Error::file(&new, error))?;
        match lock.try_lock() {
            Ok(()) => {
                fs::rename(&new, staging.file(LOCK)).map_err(|error| Error::file(&new, error))?;
                staging.lock = Some(lock);
            }
            Err(_) => fs::remove_file(&new).map_err(|error| Error::file(&new, error))?,
        }
        Ok(staging)
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// All files of the recorder in it, by name.
    #[cfg(target_os = "linux")]
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let is_ours = |entry: &fs::DirEntry| entry.file_name() == LOCK;
        let mut files: Vec<PathBuf> = entries.filter(|entry| !is_ours(entry)).map(|entry| entry.path()).collect();
        files.sort();
        files
    }
}

/// Removes what processes left that recorded under the same name beside `directory` and are gone.
fn remove_abandoned(directory: &Path, name: &str) {
    let Some(entries) = directory.parent().and_then(|parent| fs::read_dir(parent).ok()) else { return };
    for entry in entries.flatten() {
        let of_recording = entry.file_name().to_str().and_then(name_of_staging);
        if of_recording.is_some_and(|(other, _)| other == name) && is_abandoned(&entry.path()) {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// What a recording left that was killed: nobody works there any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The directory.
    pub directory: PathBuf,
    /// What the recording would have been called.
    pub name: String,
    /// Bytes of all files in it.
    pub bytes: u64,
    /// What was recorded until then, if anything was written: perf ends with its caller and closes its file.
    pub recording: Option<PathBuf>,
}

/// What killed recordings left in a directory, by name.
#[must_use]
pub fn leftovers(directory: &Path) -> Vec<Leftover> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let leftover = |entry: fs::DirEntry| {
        let (name, _) = name_of_staging(entry.file_name().to_str()?)?;
        let path = entry.path();
        is_abandoned(&path).then(|| {
            let files = files_of(&path);
            let largest = files.iter().filter(|(file, _)| is_recording(file)).max_by_key(|(_, bytes)| *bytes);
            Leftover {
                name,
                bytes: files.iter().map(|(_, bytes)| bytes).fold(0, |sum, bytes| sum.saturating_add(*bytes)),
                recording: largest.filter(|(_, bytes)| *bytes > 0).map(|(file, _)| file.clone()),
                directory: path,
            }
        })
    };
    let mut leftovers: Vec<Leftover> = entries.flatten().filter_map(leftover).collect();
    leftovers.sort_by(|a, b| a.directory.cmp(&b.directory));
    leftovers
}

/// Bytes of the files in a directory where somebody records.
pub(crate) fn bytes_in(directory: &Path) -> u64 {
    files_of(directory).iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
}

fn is_recording(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("recording."))
}

fn files_of(directory: &Path) -> Vec<(PathBuf, u64)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    // What is no file, such as a pipe, has no bytes.
    let file = |entry: fs::DirEntry| {
        let about = fs::symlink_metadata(entry.path()).ok().filter(fs::Metadata::is_file)?;
        Some((entry.path(), about.len()))
    };
    entries.filter_map(file).collect()
}

/// The recording's name and the process of `.name.process`.
fn name_of_staging(directory: &str) -> Option<(String, u32)> {
    let (name, process) = directory.strip_prefix('.')?.rsplit_once('.')?;
    Some((name.to_owned(), process.parse().ok()?))
}

/// Whether somebody recorded there and is gone.
fn is_abandoned(directory: &Path) -> bool {
    let lock = directory.join(LOCK);
    // Opening a pipe that somebody has put there would wait for its writer.
    let is_file = fs::symlink_metadata(&lock).is_ok_and(|about| about.is_file());
    is_file && fs::File::open(&lock).is_ok_and(|lock| lock.try_lock().is_ok())
}

#[cfg(unix)]
fn private() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// It has the rights of the directory that it is in.
#[cfg(not(unix))]
fn private() -> fs::DirBuilder {
    fs::DirBuilder::new()
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Windows removes no file that is open.
        self.lock = None;
        // What cannot be removed is nobody's recording, and nobody can be told.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Gives a whole file its name. Without `overwrite` a file that has appeared there meanwhile stays.
pub(crate) fn put_in_place(from: &Path, to: &Path, overwrite: bool) -> Result<(), Error> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists(to.to_owned()),
        _ => Error::file(to, error),
    };
    if !overwrite {
        // A link is refused where something is, also at the same instant; not every file system knows links.
        match fs::hard_link(from, to) {
            Ok(()) => return fs::remove_file(from).map_err(|error| Error::file(from, error)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(failed(error)),
            Err(_) if to.symlink_metadata().is_ok() => return Err(Error::Exists(to.to_owned())),
            Err(_) => {}
        }
    }
    fs::rename(from, to).map_err(failed)
}

/// Writes a JSON document whole or not at all, over one that is there.
pub(crate) fn write_document(path: &Path, document: &impl Serialize) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = serde_json::to_string_pretty(document).map_err(io::Error::from).and_then(|text| {
        // Never through a link that somebody has put there.
        let _ = fs::remove_file(&temporary);
        fs::File::create_new(&temporary)?.write_all((text + "\n").as_bytes())?;
        fs::rename(&temporary, path)
    });
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        Error::file(path, error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_left_goes_and_what_the_living_have_stays() {
        let directory = tempfile::TempDir::new().unwrap();
        let output = directory.path().join("a.data");
        let left = |name: &str, with_lock: bool| {
            let path = directory.path().join(name);
            fs::create_dir(&path).unwrap();
            with_lock.then(|| fs::File::create_new(path.join(LOCK)).unwrap())
        };
        let alive = left(".a.data.4000000001", true).unwrap();
        alive.lock().unwrap();
        for (name, with_lock) in [
            (".a.data.4000000002", true),
            (".a.data.4000000003", false),
            (".a.data.notes", true),
            (".b.data.4000000002", true),
        ] {
            drop(left(name, with_lock));
        }
        drop(Staging::beside(&output).unwrap());
        let mut names: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".a.data.4000000001", ".a.data.4000000003", ".a.data.notes", ".b.data.4000000002"]);
    }

    #[test]
    fn a_directory_that_is_missing_is_made() {
        let directory = tempfile::TempDir::new().unwrap();
        let output = directory.path().join("fast/first/a.data");
        drop(Staging::beside(&output).unwrap());
        let left: Vec<_> = fs::read_dir(output.parent().unwrap()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        // A file in its place is told by its own name.
        fs::write(directory.path().join("slow"), "").unwrap();
        let error = Staging::beside(&directory.path().join("slow/a.data")).unwrap_err().to_string();
        assert!(error.contains("slow: ") && !error.contains(".a.data"), "{error}");
    }

    #[test]
    fn what_is_there_stays_unless_it_may_go() {
        let directory = tempfile::TempDir::new().unwrap();
        let output = directory.path().join("a.data");
        let staging = Staging::beside(&output).unwrap();
        let place = |text: &str, overwrite: bool| {
            fs::write(staging.file("new"), text).unwrap();
            put_in_place(&staging.file("new"), &output, overwrite)
        };
        place("first", false).unwrap();
        assert!(matches!(place("second", false), Err(Error::Exists(_))));
        assert_eq!(fs::read_to_string(&output).unwrap(), "first");
        place("third", true).unwrap();
        assert_eq!(fs::read_to_string(&output).unwrap(), "third");
        drop(staging);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing temporary is left");
    }
}
