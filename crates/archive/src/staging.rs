//! The sibling directory in which an archive grows, and how it takes its place at once.
//!
//! On Linux an existing archive is exchanged with the new one in a single system call. Elsewhere it takes two renames:
//! the old archive aside to `.<name>.<n>.old`, the new one in. A process that dies in between leaves no archive but
//! the `.old` one, which the next reader or writer puts back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::{Error, WithPath as _};
use crate::format::TRACE_FILE;
use crate::leftovers::{is_old, leftovers};
use crate::lock::{TargetLock, WhenBusy};
use crate::paths::{exists, resolve, sibling};
use crate::retry;

/// A directory that becomes the archive, or vanishes.
#[derive(Debug)]
pub(crate) struct Staging {
    directory: PathBuf,
    target: PathBuf,
}

impl Staging {
    /// A new directory beside `target`, whose lock the caller holds.
    pub(crate) fn create(target: &Path) -> Result<Self, Error> {
        check_replaceable(target)?;
        let directory = sibling(target, &format!("{}.tmp", unique()));
        fs::create_dir(&directory).writing(target)?;
        Ok(Self { directory, target: target.to_owned() })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Puts the directory, whose files are on the disk already, in the place of the target.
    pub(crate) fn install(self) -> Result<PathBuf, Error> {
        sync_directory(&self.directory)?;
        if exists(&self.target) {
            if !exchange(&self.directory, &self.target).writing(&self.target)? {
                swap_by_two_renames(&self.directory, &self.target)?;
            }
        } else {
            retry::rename(&self.directory, &self.target).writing(&self.target)?;
        }
        sync_directory(self.target.parent().unwrap_or(Path::new("")))?;
        Ok(self.target.clone())
    }
}

impl Drop for Staging {
    /// Removes what is at the temporary name: the unfinished archive or, after an exchange, the old one.
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next writer of the same target.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// How long a reader waits for a writer that is between its two renames.
const SWAP: Duration = Duration::from_secs(20);

/// Puts an archive back that a replacement was interrupted at, and removes what dead writers left. A live writer is left
/// alone; one that has moved the old archive aside and not yet put the new one in place is waited for.
///
/// # Errors
/// When the leftovers cannot be read, moved or removed.
pub fn recover_interrupted(target: &Path) -> Result<(), Error> {
    let target = resolve(target)?;
    let started = Instant::now();
    loop {
        let leftovers = leftovers(&target)?;
        if leftovers.is_empty() {
            return Ok(());
        }
        match TargetLock::acquire(&target, WhenBusy::Fail) {
            Ok(_) => return Ok(()),
            Err(Error::Busy { .. }) => {}
            Err(error) => return Err(error),
        }
        let swapping = !exists(&target) && leftovers.iter().any(|leftover| is_old(leftover));
        if !swapping || started.elapsed() > SWAP {
            return Ok(());
        }
        sleep(Duration::from_millis(1));
    }
}

/// A name part that no other writer uses: the process and a counter.
fn unique() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// Only archives and empty directories are ever replaced.
fn check_replaceable(target: &Path) -> Result<(), Error> {
    let occupied = || Error::Occupied { target: target.to_owned() };
    if !exists(target) || exists(&target.join(TRACE_FILE)) {
        return Ok(());
    }
    let mut entries = fs::read_dir(target).map_err(|_| occupied())?;
    if entries.next().is_none() { Ok(()) } else { Err(occupied()) }
}

/// Exchanges two directories at once; false where the system or the file system cannot.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<bool> {
    Ok(false)
}

fn swap_by_two_renames(new: &Path, target: &Path) -> Result<(), Error> {
    let aside = sibling(target, &format!("{}.old", unique()));
    retry::rename(target, &aside).writing(target)?;
    if let Err(error) = retry::rename(new, target) {
        retry::rename(&aside, target).writing(target)?;
        return Err(error).writing(target);
    }
    // The next writer removes what cannot be removed now.
    let _ = fs::remove_dir_all(&aside);
    Ok(())
}

/// Brings the names in a directory to the disk. Windows does that by itself and cannot open directories this way.
fn sync_directory(path: &Path) -> Result<(), Error> {
    if cfg!(windows) {
        return Ok(());
    }
    let path = if path == Path::new("") { Path::new(".") } else { path };
    match fs::File::open(path).and_then(|directory| directory.sync_all()) {
        // Some network file systems cannot sync directories; their servers do.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        result => result.writing(path),
    }
}

#[cfg(test)]
mod tests {
    use super::{Staging, recover_interrupted, swap_by_two_renames};
    use crate::Error;
    use crate::format::TRACE_FILE;
    use crate::leftovers::{clean, is_temporary};
    use crate::lock::{TargetLock, WhenBusy};
    use crate::paths::exists;
    use std::fs;
    use std::path::Path;
    use std::thread::sleep;
    use std::time::Duration;

    fn archive(path: &Path, content: &str) {
        fs::create_dir(path).expect("directory");
        fs::write(path.join(TRACE_FILE), content).expect("file");
    }

    fn content(path: &Path) -> String {
        fs::read_to_string(path.join(TRACE_FILE)).expect("archive")
    }

    fn listing(path: &Path) -> Vec<String> {
        let entries = fs::read_dir(path).expect("listing");
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn replaces_an_archive_and_leaves_nothing_else() {
        let root = tempfile::tempdir().expect("temporary directory");
        let target = root.path().join("x.sift");
        for round in ["first", "second", "third"] {
            let staging = Staging::create(&target).expect("staged");
            fs::write(staging.directory().join(TRACE_FILE), round).expect("file");
            staging.install().expect("installed");
            assert_eq!(content(&target), round);
            assert_eq!(listing(root.path()), ["x.sift"]);
        }
    }

    #[test]
    fn two_renames_do_the_same() {
        let root = tempfile::tempdir().expect("temporary directory");
        let (old, new) = (root.path().join("x.sift"), root.path().join(".x.sift.1-0.tmp"));
        archive(&old, "old");
        archive(&new, "new");
        swap_by_two_renames(&new, &old).expect("swapped");
        assert_eq!(content(&old), "new");
        assert_eq!(listing(root.path()), ["x.sift"]);
    }

    #[test]
    fn an_interrupted_swap_is_undone() {
        let root = tempfile::tempdir().expect("temporary directory");
        let target = root.path().join("x.sift");
        archive(&root.path().join(".x.sift.1-7.old"), "old");
        archive(&root.path().join(".x.sift.1-6.tmp"), "new");
        recover_interrupted(&target).expect("recovered");
        assert_eq!(content(&target), "old");
        assert_eq!(listing(root.path()), ["x.sift"]);
    }

    #[test]
    fn a_reader_waits_for_a_writer_between_its_two_renames() {
        let root = tempfile::tempdir().expect("temporary directory");
        let target = root.path().join("x.sift");
        let aside = root.path().join(".x.sift.1-7.old");
        let new = root.path().join(".x.sift.1-6.tmp");
        let lock = TargetLock::acquire(&target, WhenBusy::Fail).expect("free");
        archive(&aside, "old");
        archive(&new, "new");
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| recover_interrupted(&target));
            sleep(Duration::from_millis(50));
            assert!(!reader.is_finished(), "it waits");
            fs::rename(&new, &target).expect("renamed");
            reader.join().expect("no panic").expect("recovered");
        });
        assert_eq!(content(&target), "new");
        drop(lock);
    }

    #[test]
    fn leftovers_of_other_targets_stay() {
        let root = tempfile::tempdir().expect("temporary directory");
        for other in [".x.sift.b.1-7.tmp", ".y.sift.1-7.tmp", ".x.sift.1-7.tmp.keep", ".x.sift.old"] {
            fs::create_dir(root.path().join(other)).expect("directory");
        }
        clean(&root.path().join("x.sift")).expect("cleaned");
        assert_eq!(listing(root.path()).len(), 4);
        assert!(!is_temporary(b"1.tmp") && !is_temporary(b"1-.tmp") && !is_temporary(b"1-2-3.tmp"));
    }

    #[test]
    fn never_replaces_what_is_no_archive() {
        let root = tempfile::tempdir().expect("temporary directory");
        let target = root.path().join("x.sift");
        fs::create_dir(&target).expect("directory");
        drop(Staging::create(&target).expect("an empty directory is free"));
        fs::write(target.join("thesis.txt"), "years of work").expect("file");
        assert!(matches!(Staging::create(&target), Err(Error::Occupied { .. })));
        assert!(exists(&target.join("thesis.txt")));
    }
}
