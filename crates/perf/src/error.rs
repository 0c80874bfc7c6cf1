//! Errors: only a file that is no recording at all is one. Everything else is [damage](crate::DamageLog).

use std::io;

/// Why a file cannot be read as a recording.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file has no bytes.
    #[error("the file is empty: the recording was never written or not copied completely")]
    Empty,
    /// The file is not written by perf, or in a way that cannot be read.
    #[error("this is not a perf.data recording: {reason}")]
    NotARecording {
        /// What was found instead, and what to do where that is known.
        reason: String,
    },
    /// A recording whose header stands for places in a file came as a stream.
    #[error("this recording was written to a file and must be read from one: save the stream first")]
    NotAStream,
    /// The file cannot be read.
    #[error("the recording cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// A record's body does not hold what its type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record ends before its {missing}")]
pub struct Malformed {
    /// The first field that is not there in full.
    pub missing: &'static str,
}
