//! Errors of symbol files.

use std::io;

/// What is wrong with a file. Whoever opened it adds its path.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is a file of another kind.
    #[error("is not {0}")]
    OtherFormat(&'static str),
    /// It belongs to another build.
    #[error("belongs to {found}, not to {wanted}")]
    OtherBinary {
        /// What was looked for.
        wanted: String,
        /// What the file says it is.
        found: String,
    },
    /// It contradicts itself, or is cut short.
    #[error("is malformed: {0}")]
    Malformed(String),
    /// It is sound and names nothing.
    #[error("has no symbols")]
    Empty,
}
