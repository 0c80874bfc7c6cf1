//! Why a recording has nothing of a kind.

use std::fmt;

/// Why a recording has nothing of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The events were not enabled when it was recorded.
    NotRecorded,
    /// The same, with the profile of `tracesift record` that enables them.
    NotRecordedWithout(&'static str),
    /// It may be in the part of the recording that is missing or could not be read.
    NotInWhatIsLeft,
    /// No recording of this system has it.
    NotOfSystem(&'static str),
    /// The extract was told to leave it out.
    NotExtracted,
    /// The extract of ETWAnalyzer that was imported has none.
    NotImported,
    /// The events were enabled, and nothing happened.
    NothingHappened,
    /// Another reason, in words.
    Because(String),
}

impl Absence {
    /// Whether this is an answer all the same: there was nothing.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        *self == Self::NothingHappened
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRecorded => f.write_str("not recorded"),
            Self::NotRecordedWithout(profile) => {
                write!(f, "not recorded; record with: tracesift record --profile {profile}")
            }
            Self::NotInWhatIsLeft => f.write_str("not in the part of the recording that could be read"),
            Self::NotOfSystem(system) => write!(f, "not in recordings of {system}"),
            Self::NotExtracted => f.write_str("not extracted"),
            Self::NotImported => f.write_str("none in the imported extract"),
            Self::NothingHappened => f.write_str("none, though their events were enabled"),
            Self::Because(reason) => f.write_str(reason),
        }
    }
}

impl From<&str> for Absence {
    fn from(reason: &str) -> Self {
        Self::Because(reason.to_owned())
    }
}

impl From<String> for Absence {
    fn from(reason: String) -> Self {
        Self::Because(reason)
    }
}
