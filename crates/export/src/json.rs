//! JSON is written as it is made: a recording's samples as a tree of values would take many times the memory of the columns that they
//! come from.

use std::fmt::{self, Display};
use std::io::{self, Write};

use serde_json::json;

use crate::escape::plain;

/// What stands before an entry of a list.
pub(crate) fn comma(at: usize) -> &'static str {
    if at == 0 { "" } else { "," }
}

/// Writes `[a,b,c]`.
pub(crate) fn list<T: Display>(out: &mut impl Write, items: impl IntoIterator<Item = T>) -> io::Result<()> {
    write!(out, "[")?;
    for (at, item) in items.into_iter().enumerate() {
        write!(out, "{}{item}", comma(at))?;
    }
    write!(out, "]")
}

/// A text in quotes, without characters that would change how it is shown.
pub(crate) fn text(text: &str) -> impl Display {
    json!(plain(text))
}

/// A value, or `null`.
pub(crate) struct OrNull<T>(pub(crate) Option<T>);

impl<T: Display> Display for OrNull<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str("null"),
        }
    }
}

/// Nanoseconds as milliseconds, exact to the last digit.
pub(crate) struct Milliseconds(pub(crate) i128);

impl Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, size) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let (whole, part) = (size / 1_000_000, size % 1_000_000);
        if part == 0 {
            return write!(f, "{sign}{whole}");
        }
        let part = format!("{part:06}");
        write!(f, "{sign}{whole}.{}", part.trim_end_matches('0'))
    }
}
