//! Why a recording could not be extracted.

use std::path::PathBuf;

use crate::input::InputError;

/// An extract that did not come about. Nothing half-written stays behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input cannot be opened or unpacked.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file is no recording, or cannot be read as one.
    #[error("{name}: {source}")]
    Recording {
        /// File, with its member where it is packed.
        name: String,
        /// The reader's reason.
        source: tracesift_etl::Error,
    },
    /// The archive cannot be written.
    #[error(transparent)]
    Archive(#[from] tracesift_archive::Error),
    /// What must be kept outside of memory for a while cannot be.
    #[error("cannot write a temporary file in {directory}: {source}; choose another directory with --temp or TMPDIR")]
    Temporary {
        /// Directory for temporary files.
        directory: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The directory for the archive cannot be made.
    #[error("{directory}: {source}; name another directory with --out")]
    Out {
        /// Directory for archives.
        directory: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The user interrupted it.
    #[error("{name}: interrupted")]
    Interrupted {
        /// Recording.
        name: String,
    },
}
