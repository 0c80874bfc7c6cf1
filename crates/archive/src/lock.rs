//! One writer per archive: a lock file beside the target, held for the writer's life.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, WithPath as _};
use crate::leftovers;
use crate::paths::{resolve, sibling};
use crate::retry;

/// What to do when another process writes the same archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenBusy {
    /// Wait for it. Afterwards [`crate::Archive::is_current`] says whether anything is left to do.
    #[default]
    Wait,
    /// Give up with [`Error::Busy`].
    Fail,
}

/// The right to write one archive. The operating system takes the lock back when the process dies, however it dies.
#[derive(Debug)]
pub struct TargetLock {
    target: PathBuf,
    lock_path: PathBuf,
    _file: File,
}

impl TargetLock {
    /// Locks `target`, which need not exist, and cleans up what writers that died have left beside it.
    ///
    /// # Errors
    /// [`Error::Busy`] when another process holds the lock and `when_busy` says so, [`Error::InvalidTarget`], or
    /// [`Error::Write`] when the directory cannot be written.
    pub fn acquire(target: &Path, when_busy: WhenBusy) -> Result<Self, Error> {
        let target = resolve(target)?;
        let lock_path = sibling(&target, "lock");
        loop {
            let file =
                retry::open(|| File::options().create(true).truncate(false).read(true).write(true).open(&lock_path));
            let file = file.writing(&target)?;
            match when_busy {
                WhenBusy::Wait => file.lock().writing(&target)?,
                WhenBusy::Fail => match file.try_lock() {
                    Ok(()) => {}
                    Err(TryLockError::WouldBlock) => return Err(Error::Busy { target }),
                    Err(TryLockError::Error(error)) => return Err(error).writing(&target),
                },
            }
            // The holder before us removed the file: whoever comes next creates a new one, and ours guards nothing.
            if is_still_there(&file, &lock_path) {
                leftovers::clean(&target)?;
                return Ok(Self { target, lock_path, _file: file });
            }
        }
    }

    /// The archive, with symbolic links resolved.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }
}

impl Drop for TargetLock {
    fn drop(&mut self) {
        // Removed while it is still locked; if that fails, an empty hidden file stays that the next writer takes over.
        let _ = fs::remove_file(&self.lock_path);
    }
}

fn is_still_there(file: &File, path: &Path) -> bool {
    let same = || -> io::Result<bool> {
        Ok(same_file::Handle::from_file(file.try_clone()?)? == same_file::Handle::from_path(path)?)
    };
    same().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::{TargetLock, WhenBusy};
    use crate::Error;

    #[test]
    fn the_second_writer_is_told_or_waits() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let target = directory.path().join("x.sift");
        let first = TargetLock::acquire(&target, WhenBusy::Fail).expect("free");
        assert!(matches!(TargetLock::acquire(&target, WhenBusy::Fail), Err(Error::Busy { .. })));
        let waiting = {
            let target = target.clone();
            std::thread::spawn(move || TargetLock::acquire(&target, WhenBusy::Wait).map(drop))
        };
        drop(first);
        waiting.join().expect("no panic").expect("locked after the first");
        assert_eq!(std::fs::read_dir(directory.path()).expect("listing").count(), 0, "no lock file is left");
    }

    #[test]
    fn many_writers_take_turns() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let target = directory.path().join("x.sift");
        let inside = std::sync::atomic::AtomicI32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let lock = TargetLock::acquire(&target, WhenBusy::Wait).expect("locked");
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
    }

    #[test]
    fn a_target_needs_a_name() {
        assert!(matches!(TargetLock::acquire("/".as_ref(), WhenBusy::Fail), Err(Error::InvalidTarget { .. })));
    }
}
