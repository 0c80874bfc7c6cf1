//! A file on its way: what has come of it so far, and what is needed to go on with it later.
//!
//! Parts lie in a directory of our own, so that nothing unfinished is ever seen in a store. Each is locked by who fetches it, in this or
//! another process; the lock ends with the process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use same_file::Handle;

/// How long others are waited for before somebody looks whether still to wait.
const POLL: Duration = Duration::from_millis(50);

/// Parts that nobody has gone on with for this long are removed.
const OLD: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A part that only we have.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) file: File,
    path: PathBuf,
    pub(crate) facts: Facts,
    /// Whether another one had it before.
    pub(crate) was_shared: bool,
}

/// What is known of the answer that a part came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) url: String,
    /// By which the server tells that the file is still the same.
    pub(crate) validator: Option<String>,
    /// Bytes of the whole.
    pub(crate) total: Option<u64>,
    pub(crate) is_gzip: bool,
}

impl Part {
    /// Opens the part of an address; waits while others have it. `None` when nobody wants to wait any longer.
    pub(crate) fn open(directory: &Path, url: &str, mut wait: impl FnMut() -> bool) -> io::Result<Option<Self>> {
        tracesift_cache::files::create_directory(directory)?;
        let path = directory.join(format!("{:016x}.part", hash(url)));
        let mut was_shared = false;
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            #[cfg(unix)]
            {
                use std::os::unix::fs::OpenOptionsExt as _;
                options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
            }
            let file = options.open(&path)?;
            loop {
                match file.try_lock() {
                    Ok(()) => break,
                    Err(TryLockError::WouldBlock) if wait() => {
                        was_shared = true;
                        std::thread::sleep(POLL);
                    }
                    Err(TryLockError::WouldBlock) => return Ok(None),
                    Err(TryLockError::Error(error)) => return Err(error),
                }
            }
            // Who had it may have put it in place, or removed it: then this is a file without a name.
            let named = Handle::from_path(&path).ok();
            if named == Some(Handle::from_file(file.try_clone()?)?) {
                let facts = Facts::load(&path.with_extension("facts"), url);
                let part = Self { file, path, facts: facts.clone().unwrap_or_default(), was_shared };
                if facts.is_none() {
                    part.file.set_len(0)?;
                }
                return Ok(Some(part));
            }
            was_shared = true;
        }
    }

    /// Bytes that have come.
    pub(crate) fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Whether all has come.
    pub(crate) fn is_complete(&self) -> bool {
        self.facts.total.is_some_and(|total| self.length().is_ok_and(|length| length == total))
    }

    /// Begins anew.
    pub(crate) fn restart(&mut self, facts: Facts) -> io::Result<()> {
        // First the facts: bytes of one answer must never be taken for those of another.
        let _ = fs::remove_file(self.path.with_extension("facts"));
        self.file.set_len(0)?;
        facts.save(&self.path.with_extension("facts"))?;
        self.facts = facts;
        Ok(())
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it and what is known of it, as far as it has not got another name.
    pub(crate) fn remove(self) {
        let _ = fs::remove_file(self.path.with_extension("facts"));
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for Part {
    /// A part without a byte is nothing to go on with.
    fn drop(&mut self) {
        if self.length().is_ok_and(|length| length == 0) {
            let _ = fs::remove_file(self.path.with_extension("facts"));
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Facts {
    fn load(path: &Path, url: &str) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let mut lines = text.lines();
        let mut next = || lines.next().map(str::to_owned);
        let facts = Self {
            url: next()?,
            validator: next().filter(|text| !text.is_empty()),
            total: next()?.parse().ok(),
            is_gzip: next()? == "gzip",
        };
        // Two addresses may have one hash.
        (facts.url == url).then_some(facts)
    }

    fn save(&self, path: &Path) -> io::Result<()> {
        let total = self.total.map(|total| total.to_string()).unwrap_or_default();
        let encoding = if self.is_gzip { "gzip" } else { "plain" };
        fs::write(
            path,
            format!("{}\n{}\n{total}\n{encoding}\n", self.url, self.validator.as_deref().unwrap_or_default()),
        )
    }
}

/// Removes what nobody has gone on with for a week.
pub(crate) fn remove_old(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let is_ours =
            path.extension().is_some_and(|extension| ["part", "facts", "tmp"].iter().any(|one| extension == *one));
        let age = entry
            .metadata()
            .and_then(|facts| facts.modified())
            .ok()
            .and_then(|at| SystemTime::now().duration_since(at).ok());
        if is_ours && age.is_some_and(|age| age > OLD) {
            let _ = fs::remove_file(path);
        }
    }
}

/// FNV-1a: the same in every process and version.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
