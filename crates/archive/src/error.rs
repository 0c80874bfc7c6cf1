//! Errors of an archive. Each names the object, the reason and the cure.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

use crate::retry;

/// An archive could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another process writes the same archive.
    #[error("{} is being written by another process; wait for it to end and try again", target.display())]
    Busy {
        /// The archive.
        target: PathBuf,
    },
    /// The target of an extract exists and is something else.
    #[error("{} exists and is not an archive; move it away or choose another name", target.display())]
    Occupied {
        /// The path.
        target: PathBuf,
    },
    /// The path cannot be the name of an archive.
    #[error("{} cannot be an archive: it has no file name; give a path such as recording.sift", target.display())]
    InvalidTarget {
        /// The path.
        target: PathBuf,
    },
    /// Nothing there.
    #[error("{} does not exist; extract the recording first", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The path is no archive.
    #[error("{} is not an archive: it has no trace.json; give a directory made by extract", path.display())]
    NotAnArchive {
        /// The path.
        path: PathBuf,
    },
    /// A directory with tables, whose extract was not finished.
    #[error("{} is an unfinished archive: its extract was interrupted; extract again", path.display())]
    Unfinished {
        /// The path.
        path: PathBuf,
    },
    /// The archive has another major version.
    #[error("{} has archive format {found}, this version reads format {supported}; extract again", path.display())]
    Version {
        /// The archive.
        path: PathBuf,
        /// Its major version.
        found: u32,
        /// The major version of this crate.
        supported: u32,
    },
    /// A file of the archive is damaged, or not what `trace.json` says.
    #[error("{} is damaged: {reason}; extract again", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file or directory could not be written.
    #[error("cannot write {}: {source}; {}", path.display(), advice(source))]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Nobody waits for the rows any more: the [`Watch`](crate::Watch) of the archive was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The rows of a table could not be encoded.
    #[error("cannot encode {}: {reason}; please report this", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl Error {
    pub(crate) fn corrupt(path: &Path, reason: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), reason: reason.into() }
    }

    /// An error of the Parquet writer: the operating system's reason where there is one below it.
    pub(crate) fn encode(path: &Path, error: ParquetError) -> Self {
        let path = path.to_owned();
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(source) => Self::Write { path, source: *source },
                Err(inner) => Self::Encode { path, reason: inner.to_string() },
            },
            other => Self::Encode { path, reason: other.to_string() },
        }
    }
}

/// Attaches the path to an I/O error.
pub(crate) trait WithPath<T> {
    /// As an error of writing `path`.
    fn writing(self, path: &Path) -> Result<T, Error>;
    /// As an error of reading `path`.
    fn reading(self, path: &Path) -> Result<T, Error>;
}

impl<T> WithPath<T> for io::Result<T> {
    fn writing(self, path: &Path) -> Result<T, Error> {
        self.map_err(|source| Error::Write { path: path.to_owned(), source })
    }

    fn reading(self, path: &Path) -> Result<T, Error> {
        self.map_err(|source| Error::Read { path: path.to_owned(), source })
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        _ if retry::is_held_up(error) => "close what has it open, or choose a directory that can be written",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free space there or choose another directory",
        io::ErrorKind::FileTooLarge => {
            "the file system or a limit does not allow files of this size; choose another directory"
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "create the directory or choose another one",
        _ => "choose a directory that can be written",
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, WithPath as _};
    use std::io;
    use std::path::Path;

    #[test]
    fn a_full_disk_names_file_reason_and_way_out() {
        let full: io::Result<()> = Err(io::Error::new(io::ErrorKind::StorageFull, "No space left on device"));
        let error = full.writing(Path::new("a.sift/stacks.parquet")).expect_err("full");
        assert_eq!(
            error.to_string(),
            "cannot write a.sift/stacks.parquet: No space left on device; free space there or choose another directory"
        );
    }

    #[test]
    fn the_reason_of_the_operating_system_survives_the_parquet_writer() {
        let source = io::Error::new(io::ErrorKind::StorageFull, "No space left on device");
        let error = Error::encode(Path::new("x"), source.into());
        assert!(matches!(error, Error::Write { source, .. } if source.kind() == io::ErrorKind::StorageFull));
    }
}
