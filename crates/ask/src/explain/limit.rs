//! Thresholds: what a figure of a rule must reach.

use std::fmt;

/// What a figure must reach.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    /// Whether it may be larger; else smaller.
    pub(crate) is_least: bool,
    /// The threshold: ns of a time, a number, or percent.
    pub(crate) value: f64,
    /// What it is percent of.
    pub(crate) of: Option<Reference>,
    is_time: bool,
}

/// What a figure is a part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// The window.
    Window,
    /// The window, once for each CPU.
    Cpus,
    /// The sum of a column of the same answer.
    Column(String),
}

impl Limit {
    /// Reads `2 % of window`, `100 ms` or a number.
    pub(super) fn read(is_least: bool, text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |text: &str| {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
            number.ok_or_else(|| format!("`{text}` is no number"))
        };
        let limit = |value, of, is_time| Ok(Self { is_least, value, of, is_time });
        match words.as_slice() {
            [value] => limit(number(value)?, None, false),
            [value, "ms"] => limit(number(value)? * 1e6, None, true),
            [value, "%", "of", of] => limit(number(value)?, Some(Reference::read(of)), false),
            _ => Err(format!("`{text}` is no threshold")),
        }
    }

    /// Whether a figure reaches it: a share where it is one of something, else the figure itself.
    pub(crate) fn is_reached(&self, figure: f64) -> bool {
        if self.is_least { figure >= self.value } else { figure <= self.value }
    }
}

impl fmt::Display for Limit {
    /// As people read it: `at least 2 % of the window`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = if self.is_least { "at least" } else { "at most" };
        match &self.of {
            Some(of) => write!(f, "{bound} {} % of {of}", self.value),
            None if self.is_time => write!(f, "{bound} {} ms", self.value / 1e6),
            None => write!(f, "{bound} {}", self.value),
        }
    }
}

impl Reference {
    fn read(text: &str) -> Self {
        match text {
            "window" => Self::Window,
            "cpus" => Self::Cpus,
            column => Self::Column(column.to_owned()),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Window => f.write_str("the window"),
            Self::Cpus => f.write_str("the time of all CPUs"),
            Self::Column(key) => write!(f, "{key}"),
        }
    }
}
