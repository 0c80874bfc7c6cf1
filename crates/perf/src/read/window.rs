//! A window on the input that moves forward. It holds at least one whole record and at most a few
//! chunks.

use std::io;
use std::sync::Arc;

use crate::source::{Input, ReadAt};

/// Bytes that are read at once.
const CHUNK: usize = 512 << 10;
/// The largest record: its size has 16 bits.
pub(crate) const MAX_RECORD: usize = u16::MAX as usize;

/// Bytes of the input from a position on.
pub(crate) struct Window {
    input: Input,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Offset in the input of the byte at `start`.
    offset: u64,
    /// Offset in the input where the data ends, whatever follows; all ones for a stream.
    limit: u64,
    ended: bool,
    error: Option<io::Error>,
}

impl Window {
    pub(crate) fn new(input: Input, offset: u64, limit: u64) -> Self {
        let length = (limit.saturating_sub(offset)).min((CHUNK + MAX_RECORD) as u64) as usize;
        let buffer = vec![0; length.max(MAX_RECORD)].into_boxed_slice();
        Self { input, buffer, start: 0, end: 0, offset, limit, ended: false, error: None }
    }

    /// Offset of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// What is read from, where that can be read at any place.
    pub(crate) fn source(&self) -> Option<&Arc<dyn ReadAt>> {
        match &self.input {
            Input::At(source) => Some(source),
            Input::Stream(_) => None,
        }
    }

    /// Offset at which the data ends, when that is known.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// The bytes that are there.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Reads until the window has `wanted` bytes (at most [`MAX_RECORD`]). Returns the number of
    /// bytes in the window, which is less than `wanted` only at the end.
    #[inline]
    pub(crate) fn fill(&mut self, wanted: usize) -> usize {
        if self.end - self.start < wanted {
            self.refill(wanted);
        }
        self.end - self.start
    }

    fn refill(&mut self, wanted: usize) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < wanted && !self.ended {
            let at = self.offset + self.end as u64;
            let room = (self.limit.saturating_sub(at)).min((self.buffer.len() - self.end) as u64) as usize;
            let Some(into) = self.buffer.get_mut(self.end..self.end + room).filter(|into| !into.is_empty()) else {
                self.ended = true;
                return;
            };
            match self.input.read(at, into) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count.min(room),
                Err(error) => {
                    self.error = Some(error);
                    self.ended = true;
                }
            }
        }
    }

    /// Moves on by bytes that are there.
    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Moves on by bytes that may not be there yet; says how many there were.
    pub(crate) fn skip(&mut self, count: u64) -> u64 {
        let here = count.min((self.end - self.start) as u64);
        self.consume(here as usize);
        let mut left = count - here;
        if left > 0 && matches!(self.input, Input::At(_)) {
            let jump = left.min(self.limit.saturating_sub(self.offset));
            self.offset += jump;
            left -= jump;
        }
        while left > 0 {
            let there = self.fill(MAX_RECORD.min(usize::try_from(left).unwrap_or(usize::MAX))) as u64;
            if there == 0 {
                break;
            }
            self.consume(there.min(left) as usize);
            left -= there.min(left);
        }
        count - left
    }

    /// Takes up to `count` bytes out of the input, at most as many as there are.
    pub(crate) fn take(&mut self, count: usize) -> Vec<u8> {
        let mut taken = Vec::new();
        while taken.len() < count {
            let there = self.fill((count - taken.len()).min(MAX_RECORD));
            let part = self.bytes().get(..there.min(count - taken.len())).unwrap_or_default();
            if part.is_empty() {
                break;
            }
            taken.extend_from_slice(part);
            let length = part.len();
            self.consume(length);
        }
        taken
    }

    /// Why the input ended before its end, once.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }
}
