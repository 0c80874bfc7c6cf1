//! Searches without a result, which explain missing names.

use std::fmt;

/// One place that was asked and had nothing of use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Directory, file or address.
    pub place: String,
    /// What was there.
    pub why: Why,
}

/// Why a place gave no names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The file is not there.
    Absent,
    /// It was not there lately.
    AbsentLately,
    /// The server does not answer.
    Unreachable,
    /// The user has ended the downloads.
    Cancelled,
    /// It is of no use.
    Refused(String),
}

impl fmt::Display for Attempt {
    /// One line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Why::Absent => write!(f, "{}: not there", self.place),
            Why::AbsentLately => write!(f, "{}: was not there lately, so not asked again", self.place),
            Why::Unreachable => write!(f, "{}: does not answer", self.place),
            Why::Cancelled => write!(f, "{}: not asked, as downloads were ended", self.place),
            Why::Refused(why) => write!(f, "{}: {why}", self.place),
        }
    }
}
