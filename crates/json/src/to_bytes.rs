//! From text to bytes of a file.

use std::fmt;
use std::io;

use crate::Writer;

/// Writes text to a stream of bytes, and keeps the stream's first error. After an error it writes nothing.
///
/// Each piece of text is one call of the stream, so that the stream should have a buffer.
#[derive(Debug)]
pub struct ToBytes<W> {
    out: W,
    error: Option<io::Error>,
}

impl<W: io::Write> fmt::Write for ToBytes<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.error.is_none() {
            self.error = self.out.write_all(text.as_bytes()).err();
        }
        if self.error.is_some() { Err(fmt::Error) } else { Ok(()) }
    }
}

impl<W: io::Write> Writer<ToBytes<W>> {
    /// A writer to a stream of bytes. [`check`](Self::check) tells its errors.
    pub fn to_bytes(out: W) -> Self {
        Self::new(ToBytes { out, error: None })
    }

    /// Whether all text so far reached the stream. A caller asks from time to time, so that it does not go
    /// on for nothing, and at the end.
    ///
    /// # Errors
    ///
    /// The stream's first error, once.
    pub fn check(&mut self) -> io::Result<()> {
        self.out.error.take().map_or(Ok(()), Err)
    }
}
