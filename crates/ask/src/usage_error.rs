//! A command line that parses and still cannot be answered.

/// The options ask for something that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UsageError {
    /// The mistake.
    pub message: String,
    /// The cure.
    pub hint: Option<String>,
}

impl UsageError {
    /// An error with its cure.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()) }
    }
}
