//! JSON is written as it is made: a recording's samples as a tree of values would take many times the memory of the columns that they
//! come from.

use std::fmt::{self, Display};

use tracesift_json::Writer;

use crate::escape::plain;

/// Writes a text without characters that would change how it is shown.
pub(crate) fn text(json: &mut Writer<impl fmt::Write>, text: &str) {
    json.text(&plain(text));
}

/// Writes a member of an object: a list of values, one per row of a table.
pub(crate) fn column<T: Display>(json: &mut Writer<impl fmt::Write>, key: &str, values: impl IntoIterator<Item = T>) {
    json.key(key);
    json.values(values);
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
        let (whole, mut part) = (size / 1_000_000, size % 1_000_000);
        if part == 0 {
            return write!(f, "{sign}{whole}");
        }
        let mut digits = 6;
        while part % 10 == 0 {
            part /= 10;
            digits -= 1;
        }
        write!(f, "{sign}{whole}.{part:0digits$}")
    }
}

#[cfg(test)]
mod tests {
    use super::Milliseconds;

    #[test]
    fn milliseconds_have_no_digits_without_a_meaning() {
        for (ns, text) in [
            (0, "0"),
            (1, "0.000001"),
            (-1_500_000, "-1.5"),
            (2_000_000, "2"),
            (1_020_300_000, "1020.3"),
            (1_000_120, "1.00012"),
        ] {
            assert_eq!(Milliseconds(ns).to_string(), text);
        }
    }
}
