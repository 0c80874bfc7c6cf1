//! Errors: only a file that is no recording at all is one. Everything else is [damage](crate::DamageLog).

use std::io;

/// Why a file cannot be read as a recording.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file has no bytes.
    #[error("the file is empty: the recording was never written or not copied completely")]
    Empty,
    /// The file holds no buffer of a recording.
    #[error("this is not an ETL recording: {reason}")]
    NotARecording {
        /// What the file is instead, or what is missing, and what to do where that is known.
        reason: String,
    },
    /// The file cannot be read.
    #[error("the recording cannot be read: {0}")]
    Io(#[from] io::Error),
}
