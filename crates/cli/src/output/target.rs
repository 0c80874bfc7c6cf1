//! The target of output: standard output, or a file that is complete or absent.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::watching::Interruptible;

/// Destination of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// Standard output.
    Stdout,
    /// A file, replaced when the answer is complete.
    File(PathBuf),
}

impl Target {
    /// Whether a terminal shows it.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self, Self::Stdout) && io::stdout().is_terminal()
    }

    /// Lets `write` fill the destination.
    pub(crate) fn write<T>(
        &self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        match self {
            Self::Stdout => fill(io::stdout(), write),
            Self::File(path) => write_file(path, write).with_context(|| format!("cannot write {}", path.display())),
        }
    }
}

/// Writes until Ctrl-C. What cannot be written at the very end is a failure, too.
fn fill<T>(
    out: impl Write + Send,
    write: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let mut out = BufWriter::new(Interruptible(out));
    let written = write(&mut out)?;
    out.flush()?;
    Ok(written)
}

/// Writes beside the file and renames, so that a failure leaves what was there before.
fn write_file<T>(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>) -> anyhow::Result<T> {
    // A device such as /dev/null cannot be renamed over.
    if path.exists() && !path.is_file() {
        return fill(File::create(path)?, write);
    }
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Without this the message would name a temporary file that nobody has asked for.
    if !directory.is_dir() {
        anyhow::bail!("there is no directory {}", directory.display());
    }
    let mut file = tempfile::Builder::new().prefix(".tracesift-").tempfile_in(directory)?;
    let written = fill(file.as_file_mut(), write)?;
    restore_permissions(file.as_file())?;
    file.persist(path)?;
    Ok(written)
}

/// A temporary file is private; an answer gets the permissions that any new file would have.
#[cfg(unix)]
fn restore_permissions(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let probe = tempfile::tempdir()?;
    let usual = File::create(probe.path().join("probe"))?.metadata()?.permissions().mode();
    file.set_permissions(std::fs::Permissions::from_mode(usual))
}

#[cfg(not(unix))]
fn restore_permissions(_: &File) -> io::Result<()> {
    Ok(())
}
