//! The questions of the command line, as the program answers them.

use tracesift_archive::Watch;

/// The answer of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// What `tracesift … --format json` prints.
    pub body: Vec<u8>,
    /// The command for a shell, without `--format json`.
    pub command: String,
    /// What the program says beside the answer, one sentence each.
    pub notes: Vec<String>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The words are no question, or one that may not be asked from a page.
    Words {
        /// The object, then the failure.
        error: String,
        /// What helps.
        hint: Option<String>,
    },
    /// The recordings cannot answer it.
    Failed(String),
    /// The watch was cancelled.
    Cancelled,
}

impl Refused {
    /// Words without a hint.
    pub fn words(error: impl Into<String>) -> Self {
        Self::Words { error: error.into(), hint: None }
    }
}

/// Answers command lines about the recordings of a session.
pub trait Answers: Send + Sync {
    /// The answer of a question and its options about these recordings, by their places in the session.
    ///
    /// # Errors
    /// When the words are no question that a page may ask, or the recordings cannot answer it.
    fn ask(&self, recordings: &[usize], words: &[String], watch: &Watch) -> Result<Answered, Refused>;
}
