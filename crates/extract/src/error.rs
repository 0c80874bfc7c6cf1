//! Errors of an extract.

use std::path::PathBuf;

use crate::input::InputError;

/// What the reader of a recording's format says.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// Of an `.etl`, and of what is no recording at all.
    #[error(transparent)]
    Etl(#[from] tracesift_etl::Error),
    /// Of a `perf.data`.
    #[error(transparent)]
    Perf(#[from] tracesift_perf::Error),
}

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
        source: ReaderError,
    },
    /// What is asked of a Linux recording is not possible yet.
    #[error("{name}: this is a Linux recording, of which {what} is not possible yet; `dump stats` tells what is in it")]
    NotYet {
        /// File, with its member where it is packed.
        name: String,
        /// What was asked for, as a noun.
        what: &'static str,
    },
    /// The event whose samples should be CPU time is not there, or they are no time.
    #[error("{name}: no event {event} that is a clock or was recorded with a frequency; there are: {}", known.join(", "))]
    NoSuchEvent {
        /// Recording.
        name: String,
        /// What was asked for.
        event: String,
        /// The recorded events.
        known: Vec<String>,
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
