//! Files of our own: created for this user alone, under temporary names, and put in place by renaming.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is removed unless it is put in place.
#[derive(Debug)]
pub struct Temporary {
    path: Option<PathBuf>,
}

impl Temporary {
    /// A new file in a directory, open for reading and writing.
    pub fn new(directory: &Path) -> io::Result<(File, Self)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("{:x}-{number:x}.tmp", std::process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((file, Self { path: Some(path) })),
                // Left by a process that was killed and had the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1 << 20 => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it lies.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Gives it its name, whatever had that name before.
    pub fn rename(mut self, to: &Path) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        fs::rename(path, to)?;
        self.path = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

/// A directory and those above it; new ones are this user's alone.
pub fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(path)
}
