//! Class PerfInfo: marks that somebody writes into a recording to find a moment again.

use std::fmt;

use super::reader::Reader;
use super::text::{AnsiStr, WideStr};
use super::{Payload, PayloadError};

/// PerfInfo 34: a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark<'a> {
    /// The text.
    pub text: MarkText<'a>,
}

/// Text of a mark, in the encoding of the program that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkText<'a> {
    /// 8-bit text, as xperf and WPR write it.
    Ansi(AnsiStr<'a>),
    /// UTF-16 text.
    Wide(WideStr<'a>),
}

impl Mark<'_> {
    /// Opcode.
    pub const OPCODE: u8 = 34;
}

impl<'a> Payload<'a> for Mark<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        // Writers differ: with or without NUL, with padding behind it, in 8-bit or UTF-16. A second byte of 0 behind a
        // first that is not is UTF-16, unless the text ends there: a one-letter 8-bit mark has at most padding behind it.
        let bytes = reader.rest();
        let is_wide = matches!(bytes, [first, 0, third, _, ..] if *first != 0 && *third != 0)
            || matches!(bytes, [first, 0] | [first, 0, 0, 0] if *first != 0);
        Ok(Self {
            text: if is_wide {
                MarkText::Wide(WideStr::until_nul(bytes))
            } else {
                MarkText::Ansi(AnsiStr::until_nul(bytes))
            },
        })
    }
}

impl fmt::Display for MarkText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ansi(text) => text.fmt(f),
            Self::Wide(text) => text.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(payload: &[u8]) -> String {
        Mark::parse(payload, 0, 8).unwrap().text.to_string()
    }

    #[test]
    fn all_ways_to_write_a_mark() {
        assert_eq!(text(b"Start"), "Start");
        assert_eq!(text(b"Start\0"), "Start");
        assert_eq!(text(b"Start\0\0\0"), "Start");
        assert_eq!(text(b"S\0t\0a\0r\0t\0\0\0"), "Start");
        assert_eq!(text(b"S\0t\0a\0r\0t\0"), "Start");
        for one_letter in [&b"A"[..], b"A\0", b"A\0\0", b"A\0\0\0"] {
            assert_eq!(text(one_letter), "A");
        }
        assert_eq!(text(b""), "");
        assert_eq!(text(b"\0\0"), "");
    }
}
