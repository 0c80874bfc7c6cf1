//! The window of time that an account is about, as people write it: `process:FileWriter`, `mark:begin*..end*`, `3.2s..7.9s`.

use std::fmt;
use std::str::FromStr;

use tracesift_grammar::Patterns;

use crate::filter::ProcessPatterns;
use crate::method_patterns::MethodPatterns;
use crate::time_spec::{TimeSpec, TimeSpecError};

/// The forms of a window, for messages.
pub(crate) const FORMS: &str =
    "process:PATTERN, method:PATTERN, wait:PATTERN, mark:A..B, or a range of time such as 3.2s..7.9s";

/// A window of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowSpec {
    /// Which one.
    pub kind: WindowKind,
    /// Which of several that fit, the first in time is 1; `None`: each.
    pub number: Option<usize>,
    text: String,
}

/// The ends of a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum WindowKind {
    /// The life of the processes that the filter names; without one, of the program that the recorder started, or of the process that
    /// wrote the marks.
    #[default]
    Auto,
    /// The life of a process.
    Process(ProcessPatterns),
    /// From the first to the last sighting of a method in a process.
    Method(MethodPatterns),
    /// A wait in such a method: for programs that have a thread which waits while a phase of a test lasts.
    Wait(MethodPatterns),
    /// From a mark to the first one of another text behind it.
    Marks(Patterns, Patterns),
    /// A range of time.
    Time(TimeSpec),
}

/// A text that describes no window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// It has none of the forms.
    #[error("`{0}` is no window; write {FORMS}")]
    Form(String),
    /// The pattern is missing.
    #[error("`{0}` lacks a pattern, such as process:FileWriter")]
    Pattern(String),
    /// The two marks are missing.
    #[error("`{0}` lacks the texts of two marks, such as mark:begin*..end*")]
    Marks(String),
    /// The number behind `#` is none.
    #[error("`{0}` ends with no number of a window, the first one is #1")]
    Number(String),
    /// The range of time is none.
    #[error(transparent)]
    Time(#[from] TimeSpecError),
}

impl FromStr for WindowSpec {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Self, WindowError> {
        let (what, number) = number_of(text)?;
        let kind = match what.trim().split_once(':') {
            None if what.trim() == "auto" => WindowKind::Auto,
            Some(("process", pattern)) => WindowKind::Process(ProcessPatterns::parse(given(pattern, text)?)),
            Some(("method", pattern)) => WindowKind::Method(MethodPatterns::parse(given(pattern, text)?, false)),
            Some(("wait", pattern)) => WindowKind::Wait(MethodPatterns::parse(given(pattern, text)?, false)),
            Some(("mark", marks)) => {
                let (from, to) = marks.split_once("..").ok_or_else(|| WindowError::Marks(text.to_owned()))?;
                if from.trim().is_empty() || to.trim().is_empty() {
                    return Err(WindowError::Marks(text.to_owned()));
                }
                WindowKind::Marks(Patterns::parse(from), Patterns::parse(to))
            }
            // A time of day has colons, too.
            _ if what.contains("..") => WindowKind::Time(what.parse()?),
            _ => return Err(WindowError::Form(text.to_owned())),
        };
        Ok(Self { kind, number, text: text.trim().to_owned() })
    }
}

/// The text before `#`, and the number behind it. A pattern can have a `#` of its own: only digits are a number.
fn number_of(text: &str) -> Result<(&str, Option<usize>), WindowError> {
    match text.rsplit_once('#') {
        Some((what, digits)) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            let number = digits.parse().ok().filter(|number| *number > 0);
            number.map(|number| (what, Some(number))).ok_or_else(|| WindowError::Number(text.to_owned()))
        }
        _ => Ok((text, None)),
    }
}

fn given<'a>(pattern: &'a str, text: &str) -> Result<&'a str, WindowError> {
    let pattern = pattern.trim();
    if pattern.is_empty() { Err(WindowError::Pattern(text.to_owned())) } else { Ok(pattern) }
}

impl fmt::Display for WindowSpec {
    /// As it was given; nothing where nothing was.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::{WindowError, WindowKind, WindowSpec};

    fn kind(text: &str) -> WindowKind {
        text.parse::<WindowSpec>().unwrap().kind
    }

    #[test]
    fn each_form_is_read() {
        assert_eq!(kind("auto"), WindowKind::Auto);
        assert!(
            matches!(kind("process:FileWriter"), WindowKind::Process(patterns) if patterns.matches("FileWriter.exe", 7))
        );
        assert!(
            matches!(kind("method:*Create*"), WindowKind::Method(patterns) if patterns.matches(None, "DoCreateFile"))
        );
        assert!(
            matches!(kind("wait:app!phase:*"), WindowKind::Wait(patterns) if patterns.matches(Some("app"), "phase:load"))
        );
        let marks = |kind| matches!(kind, WindowKind::Marks(from, to) if from.matches("begin 1") && to.matches("end"));
        assert!(marks(kind("mark:begin*..end")));
        assert!(matches!(kind("3.2s..7.9s"), WindowKind::Time(_)));
        assert!(matches!(kind("14:02..14:03"), WindowKind::Time(_)));
        assert!(matches!(kind(".."), WindowKind::Time(time) if time.is_everything()));
    }

    #[test]
    fn a_number_picks_one_of_several() {
        let numbered: WindowSpec = "wait:phase#2".parse().unwrap();
        assert_eq!(numbered.number, Some(2));
        assert_eq!(numbered.to_string(), "wait:phase#2");
        // A name can have such a sign itself.
        assert_eq!("process:C#app".parse::<WindowSpec>().unwrap().number, None);
    }

    #[test]
    fn other_texts_say_which_part_is_wrong() {
        let error = |text: &str| text.parse::<WindowSpec>().unwrap_err();
        assert!(matches!(error("FileWriter"), WindowError::Form(_)));
        assert!(matches!(error("thread:7"), WindowError::Form(_)));
        assert!(matches!(error("process:"), WindowError::Pattern(_)));
        assert!(matches!(error("mark:begin"), WindowError::Marks(_)));
        assert!(matches!(error("mark:begin.."), WindowError::Marks(_)));
        assert!(matches!(error("wait:a#0"), WindowError::Number(_)));
        assert!(matches!(error("5s..3s"), WindowError::Time(_)));
    }
}
