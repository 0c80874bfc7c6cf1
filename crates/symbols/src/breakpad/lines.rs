//! Lines of a text, one at a time.

use std::io::{self, BufRead, BufReader, Read};

/// Longest line that is read, bytes. Names of templates reach a few kilobytes.
const MAX_LINE: usize = 1 << 16;

/// Reads a text line by line into one buffer.
pub(super) struct Lines<R> {
    file: BufReader<R>,
    line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(file: R) -> Self {
        Self { file: BufReader::with_capacity(1 << 16, file), line: Vec::new() }
    }

    /// The next line without its end; of one that is too long the beginning. `None` at the end of the text.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let mut any = false;
        loop {
            let bytes = match self.file.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() {
                break;
            }
            any = true;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            let room = MAX_LINE - self.line.len();
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let taken = end.map_or(part.len(), |end| end + 1);
            self.file.consume(taken);
            if end.is_some() {
                break;
            }
        }
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        Ok(any.then_some(line))
    }
}
