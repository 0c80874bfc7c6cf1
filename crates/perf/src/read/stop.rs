//! The reasons why a walk over records ends before its data.

use std::fmt;

/// The reason why no further record can be found, and the place. All records before were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Bytes after the last record that are too few for another record.
    Trailing {
        /// How many.
        bytes: usize,
        /// Where.
        offset: u64,
    },
    /// A record whose size is smaller than its header, so that the place of the next record is
    /// unknown.
    Size {
        /// The size that it states.
        size: u16,
        /// Its type number.
        kind: u32,
        /// Where.
        offset: u64,
    },
    /// A record that is longer than what is left.
    PastTheEnd {
        /// The size that it states.
        size: u16,
        /// Its type number.
        kind: u32,
        /// Where.
        offset: u64,
    },
    /// Data that follow a record and are longer than what is left.
    DataPastTheEnd {
        /// Bytes that the record states.
        size: u64,
        /// Type number of the record.
        kind: u32,
        /// Where the record stands.
        offset: u64,
    },
    /// The operating system could not read on.
    Unreadable {
        /// What it reported.
        reason: String,
        /// Where.
        offset: u64,
    },
}

impl Stop {
    /// Where the walk stopped.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match self {
            Self::Trailing { offset, .. }
            | Self::Size { offset, .. }
            | Self::PastTheEnd { offset, .. }
            | Self::DataPastTheEnd { offset, .. }
            | Self::Unreadable { offset, .. } => *offset,
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trailing { bytes, offset } => write!(f, "{bytes} trailing byte(s) at offset {offset}"),
            Self::Size { size, kind, offset } => write!(f, "record size {size} (type {kind}) at offset {offset}"),
            Self::PastTheEnd { size, kind, offset } => {
                write!(f, "record of size {size} (type {kind}) at offset {offset} runs past the end")
            }
            Self::DataPastTheEnd { size, kind, offset } => {
                write!(f, "{size} bytes of data behind the record (type {kind}) at offset {offset} run past the end")
            }
            Self::Unreadable { reason, offset } => write!(f, "cannot be read at offset {offset}: {reason}"),
        }
    }
}
