//! Compressed records: all of a file's pieces are one zstd stream, and records cross from piece to piece.
//!
//! Only as much is decompressed as makes the next record whole, so a small piece that stands for gigabytes of zeros costs
//! time as its records come, and no memory.

use std::io;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::DParameter;

use super::window::MAX_RECORD;

/// What every zstd frame begins with.
const MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";
/// Decompressed bytes that are held.
const ROOM: usize = 4 * MAX_RECORD;
/// Log2 of the longest distance that a frame may look back: what zstd itself allows without being asked, 128 MiB.
const MAX_WINDOW_LOG: u32 = 27;

/// Bytes that one piece may stand for: perf never puts more into it than its ring buffer holds.
const MAX_PIECE: usize = 64 << 20;

/// The decompressor of a recording.
pub(crate) struct Inflate {
    decoder: Decoder<'static>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Bytes that the current piece gave so far.
    made: usize,
    /// After an error only a new frame can be read.
    broken: bool,
}

impl Inflate {
    pub(crate) fn new() -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG))?;
        Ok(Self { decoder, buffer: vec![0; ROOM].into_boxed_slice(), start: 0, end: 0, made: 0, broken: false })
    }

    /// The bytes that are there.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Starts with another piece.
    pub(crate) fn next_piece(&mut self) {
        self.made = 0;
    }

    /// Decompresses until `wanted` bytes (at most [`MAX_RECORD`]) are there or the piece has no more.
    /// Says how many bytes of `piece` were used.
    pub(crate) fn fill(&mut self, piece: &[u8], wanted: usize) -> io::Result<usize> {
        if self.broken {
            if !piece.starts_with(MAGIC) {
                return Err(io::Error::other("follows a piece that could not be decompressed"));
            }
            self.decoder.reinit()?;
            (self.start, self.end, self.broken) = (0, 0, false);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let mut input = InBuffer::around(piece);
        while self.end < wanted {
            let into = self.buffer.get_mut(self.end..).unwrap_or_default();
            let room = into.len();
            let mut output = OutBuffer::around(into);
            let before = input.pos();
            let result = self.decoder.run(&mut input, &mut output);
            let made = output.pos();
            self.end += made;
            self.made += made;
            let too_much = self.made > MAX_PIECE;
            if let Some(error) = result.err().or(too_much.then(|| io::Error::other("stands for too many bytes"))) {
                self.broken = true;
                return Err(error);
            }
            // A decoder that used nothing and made nothing waits for the next piece; one that filled its room may have more.
            if made == 0 && input.pos() == before || input.pos() == piece.len() && made < room {
                break;
            }
        }
        Ok(input.pos())
    }

    /// Moves on by bytes that are there.
    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Gives up what is there and what follows in the same frame: no record can be found in it. Says how much was there.
    pub(crate) fn give_up(&mut self) -> usize {
        let left = self.end - self.start;
        self.start = self.end;
        self.broken = true;
        left
    }
}
