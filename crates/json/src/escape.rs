//! Escapes of texts.

use std::fmt::{self, Write};

/// Writes the text in quotes, escaped.
#[inline]
pub(crate) fn write(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    write_inner(out, text)?;
    out.write_char('"')
}

/// Escapes all text that is written to it.
pub(crate) struct Escaped<'w, W>(pub(crate) &'w mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write_inner(self.0, text)
    }
}

/// Writes the text, escaped. Stretches without an escape are written at once.
fn write_inner(out: &mut impl Write, text: &str) -> fmt::Result {
    let mut rest = text;
    // All characters with an escape are ASCII, so that their bytes are whole characters.
    while let Some(at) = rest.bytes().position(needs_escape) {
        let (plain, tail) = rest.split_at(at);
        let (escaped, tail) = tail.split_at(1);
        out.write_str(plain)?;
        match escaped {
            "\"" => out.write_str("\\\"")?,
            "\\" => out.write_str("\\\\")?,
            "\n" => out.write_str("\\n")?,
            "\r" => out.write_str("\\r")?,
            "\t" => out.write_str("\\t")?,
            other => other.bytes().try_for_each(|byte| write!(out, "\\u{byte:04x}"))?,
        }
        rest = tail;
    }
    out.write_str(rest)
}

fn needs_escape(byte: u8) -> bool {
    byte < b' ' || matches!(byte, b'"' | b'\\' | 0x7f)
}
