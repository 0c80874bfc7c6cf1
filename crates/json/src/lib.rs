//! Writes JSON text piece by piece, without a tree of values and without allocation.
//!
//! A [`Writer`] puts commas, colons and escapes where they belong; its caller opens and closes objects
//! and arrays. The text goes to anything that implements [`fmt::Write`], such as a `String`, or through
//! [`ToBytes`] to a file.
//!
//! # Conventions
//!
//! * A text is escaped where JSON demands it, and at DEL, which terminals do not show. `"`, `\`, line
//!   feed, carriage return and tab have the short escape; all other control characters are `\u00xx`.
//! * Integers have all of their digits. Floating-point numbers have the fewest digits that read back as
//!   the same number, and always a point or an exponent (below 1e-5 and from 1e16 on). NaN and infinities
//!   are `null`.

mod escape;
mod to_bytes;

use std::fmt::{self, Display};

pub use to_bytes::ToBytes;

/// Writes one JSON value after another.
///
/// The caller keeps objects and arrays balanced, and writes a [`key`](Self::key) before each value of an
/// object. Errors of the output are not returned here: a `String` has none, and [`ToBytes`] keeps the
/// first one.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// Whether a comma has to stand before the next value or key.
    comma: bool,
    /// Whether a line break has to stand before the next value, key or bracket.
    line: bool,
}

impl<W: fmt::Write> Writer<W> {
    /// A writer of texts to `out`.
    #[inline]
    pub fn new(out: W) -> Self {
        Self { out, comma: false, line: false }
    }

    /// Opens an object: `{`.
    #[inline]
    pub fn begin_object(&mut self) {
        self.open('{');
    }

    /// Closes the object: `}`.
    #[inline]
    pub fn end_object(&mut self) {
        self.close('}');
    }

    /// Opens an array: `[`.
    #[inline]
    pub fn begin_array(&mut self) {
        self.open('[');
    }

    /// Closes the array: `]`.
    #[inline]
    pub fn end_array(&mut self) {
        self.close(']');
    }

    /// The key of the next value. It is escaped.
    #[inline]
    pub fn key(&mut self, key: &str) {
        self.separate();
        let _ = escape::write(&mut self.out, key);
        let _ = self.out.write_char(':');
        self.comma = false;
    }

    /// A key that is made of parts, such as `format_args!("{name}_{number}")`. It is escaped.
    pub fn key_of(&mut self, key: impl Display) {
        self.text_of(key);
        let _ = self.out.write_char(':');
        self.comma = false;
    }

    /// A text in quotes, escaped.
    #[inline]
    pub fn text(&mut self, text: &str) {
        self.separate();
        let _ = escape::write(&mut self.out, text);
        self.comma = true;
    }

    /// A text in quotes that is made of parts, such as `format_args!("{name} {id}")`. It is escaped.
    pub fn text_of(&mut self, text: impl Display) {
        self.separate();
        let _ = self.out.write_char('"');
        let _ = fmt::Write::write_fmt(&mut escape::Escaped(&mut self.out), format_args!("{text}"));
        let _ = self.out.write_char('"');
        self.comma = true;
    }

    /// A value whose `Display` is JSON: an integer, a `bool`, or a finished JSON text.
    #[inline]
    pub fn value(&mut self, value: impl Display) {
        self.separate();
        let _ = write!(self.out, "{value}");
        self.comma = true;
    }

    /// An integer: faster than [`value`](Self::value).
    #[inline]
    pub fn integer(&mut self, value: impl itoa::Integer) {
        self.separate();
        let _ = self.out.write_str(itoa::Buffer::new().format(value));
        self.comma = true;
    }

    /// `true` or `false`.
    #[inline]
    pub fn bool(&mut self, value: bool) {
        self.separate();
        let _ = self.out.write_str(if value { "true" } else { "false" });
        self.comma = true;
    }

    /// A value as [`value`](Self::value) writes it, or `null`.
    #[inline]
    pub fn optional(&mut self, value: Option<impl Display>) {
        match value {
            Some(value) => self.value(value),
            None => self.null(),
        }
    }

    /// A floating-point number; NaN and infinities are `null`.
    pub fn float(&mut self, value: f64) {
        if !value.is_finite() {
            return self.null();
        }
        self.separate();
        let _ = match value.abs() {
            // `Display` never writes an exponent, `Debug` always a point.
            1e-5..1e-4 => write!(self.out, "{value}"),
            0.0 | 1e-4..1e16 => write!(self.out, "{value:?}"),
            _ => self.with_exponent(value),
        };
        self.comma = true;
    }

    /// Writes a very large or very small number, such as `1.5e+16`.
    #[cold]
    fn with_exponent(&mut self, value: f64) -> fmt::Result {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        write!(self.out, "{digits}e{exponent:+}")
    }

    /// `null`.
    #[inline]
    pub fn null(&mut self) {
        self.separate();
        let _ = self.out.write_str("null");
        self.comma = true;
    }

    /// An array of values as [`value`](Self::value) writes them.
    pub fn values<T: Display>(&mut self, values: impl IntoIterator<Item = T>) {
        self.begin_array();
        for value in values {
            self.value(value);
        }
        self.end_array();
    }

    /// An array of texts, escaped.
    pub fn texts<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        self.begin_array();
        for text in texts {
            self.text(text);
        }
        self.end_array();
    }

    /// The next value, key or closing bracket begins a line, after its comma.
    #[inline]
    pub fn new_line(&mut self) {
        self.line = true;
    }

    /// Ends the line after a whole value. The next value belongs to a document of its own and has no comma.
    pub fn end_line(&mut self) {
        let _ = self.out.write_char('\n');
        self.comma = false;
        self.line = false;
    }

    /// Writes the comma and the line break that stand before a value or a key.
    #[inline]
    fn separate(&mut self) {
        if self.comma {
            let _ = self.out.write_char(',');
        }
        self.break_line();
    }

    #[inline]
    fn break_line(&mut self) {
        if self.line {
            self.line = false;
            let _ = self.out.write_char('\n');
        }
    }

    #[inline]
    fn open(&mut self, bracket: char) {
        self.separate();
        let _ = self.out.write_char(bracket);
        self.comma = false;
    }

    #[inline]
    fn close(&mut self, bracket: char) {
        self.break_line();
        let _ = self.out.write_char(bracket);
        self.comma = true;
    }
}
