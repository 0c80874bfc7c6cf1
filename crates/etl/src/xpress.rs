//! Plain LZ77 of \[MS-XCA\] 2.4 ("XPRESS"): the compression of merged recordings.
//!
//! The stream is a sequence of 32-bit flag words, each followed by the 32 items it describes, highest bit first: a literal
//! byte (0) or a match (1). A match is a `u16`, offset − 1 in its upper 13 bits and length − 3 in its lower 3; longer lengths
//! continue in a half byte that two matches share, then in a byte, a `u16` and a `u32`.

use crate::bytes::{u16_at, u32_at};

/// What became of a compressed stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Bytes of output. They are right unless the stream itself is damaged.
    pub produced: usize,
    /// Bytes of input that were used. An encoder may leave one unused flag word (4 bytes) at the end.
    pub consumed: usize,
    /// Why the output is not complete; `None` when it is.
    pub stopped: Option<Stopped>,
}

/// Why decompression ended before the output was full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The input ended.
    #[error("the compressed data ends too early")]
    EndOfInput,
    /// A match begins before the output does.
    #[error("a match refers to bytes before the start of the data")]
    BadOffset,
    /// The long form of a length is shorter than what the short form can say, or a chunk is larger than allowed.
    #[error("a length is out of range")]
    BadLength,
}

/// Bytes copied at once. Copies may write that far beyond their end, where the output has room; later items overwrite it.
const CHUNK: usize = 16;

/// Decompresses until `output` is full.
///
/// Never fails as such: the bytes before the damage are kept, and [`Decoded::stopped`] says why there are not more.
pub fn decompress(input: &[u8], output: &mut [u8]) -> Decoded {
    let limit = output.len();
    decompress_to(input, output, limit)
}

/// Decompresses `limit` bytes into `output`, which may be longer: what lies behind them is scratch space.
pub(crate) fn decompress_to(input: &[u8], output: &mut [u8], limit: usize) -> Decoded {
    let limit = limit.min(output.len());
    let mut decoder = Decoder { input, from: 0, to: 0, half_byte: None };
    let stopped = decoder.run(output, limit).err();
    Decoded { produced: decoder.to.min(limit), consumed: decoder.from.min(input.len()), stopped }
}

struct Decoder<'a> {
    input: &'a [u8],
    from: usize,
    to: usize,
    /// The byte whose upper half extends the next long match.
    half_byte: Option<u8>,
}

/// The flags of a group that is used up: only the mark behind the last of them is left.
const USED_UP: u64 = 1 << 63;

impl Decoder<'_> {
    #[inline]
    fn run(&mut self, output: &mut [u8], limit: usize) -> Result<(), Stopped> {
        while self.to < limit {
            let flags = u32_at(self.input, self.from).ok_or(Stopped::EndOfInput)?;
            self.from += 4;
            // The mark behind the last flag saves a counter.
            let mut flags = u64::from(flags) << 32 | 1 << 31;
            while flags != USED_UP && self.to < limit {
                let literals = flags.leading_zeros();
                flags <<= literals;
                if !self.few_literals(literals as usize, output, limit) {
                    self.literals(literals as usize, output, limit)?;
                }
                if flags == USED_UP || self.to >= limit {
                    continue;
                }
                flags <<= 1;
                let word = usize::from(u16_at(self.input, self.from).ok_or(Stopped::EndOfInput)?);
                self.from += 2;
                let length = if word & 7 < 7 { (word & 7) + 3 } else { self.long_length()? };
                let distance = (word >> 3) + 1;
                if distance > self.to {
                    return Err(Stopped::BadOffset);
                }
                let length = length.min(limit - self.to);
                if !copy_short_match(output, self.to, distance, length) {
                    copy_match(output, self.to, distance, length);
                }
                self.to += length;
            }
        }
        Ok(())
    }

    /// Copies up to [`CHUNK`] literals, also none: how many follow each other cannot be foretold, so a branch would cost more than
    /// to copy in vain. False where there are more or where there is no room for it.
    #[inline]
    fn few_literals(&mut self, count: usize, output: &mut [u8], limit: usize) -> bool {
        if count > CHUNK || limit - self.to < CHUNK {
            return false;
        }
        let source = self.input.get(self.from..).and_then(<[u8]>::first_chunk::<CHUNK>);
        let target = output.get_mut(self.to..).and_then(<[u8]>::first_chunk_mut::<CHUNK>);
        let (Some(source), Some(target)) = (source, target) else { return false };
        *target = *source;
        self.from += count;
        self.to += count;
        true
    }

    #[inline]
    fn literals(&mut self, count: usize, output: &mut [u8], limit: usize) -> Result<(), Stopped> {
        let source = self.input.get(self.from..).unwrap_or_default();
        let target = output.get_mut(self.to..limit).unwrap_or_default();
        let wanted = count.min(target.len());
        let there = wanted.min(source.len());
        if let (Some(target), Some(source)) = (target.get_mut(..there), source.get(..there)) {
            target.copy_from_slice(source);
        }
        self.from += there;
        self.to += there;
        if there < wanted { Err(Stopped::EndOfInput) } else { Ok(()) }
    }

    /// The length of a match whose three bits are all set.
    #[inline]
    fn long_length(&mut self) -> Result<usize, Stopped> {
        let half = match self.half_byte.take() {
            Some(byte) => byte >> 4,
            None => {
                let byte = *self.input.get(self.from).ok_or(Stopped::EndOfInput)?;
                self.from += 1;
                self.half_byte = Some(byte);
                byte & 15
            }
        };
        if half < 15 {
            return Ok(usize::from(half) + 7 + 3);
        }
        let byte = *self.input.get(self.from).ok_or(Stopped::EndOfInput)?;
        self.from += 1;
        if byte < 255 {
            return Ok(usize::from(byte) + 15 + 7 + 3);
        }
        let mut length = usize::from(u16_at(self.input, self.from).ok_or(Stopped::EndOfInput)?);
        self.from += 2;
        if length == 0 {
            length = u32_at(self.input, self.from).ok_or(Stopped::EndOfInput)? as usize;
            self.from += 4;
        }
        if length < 15 + 7 { Err(Stopped::BadLength) } else { Ok(length.saturating_add(3)) }
    }
}

/// Copies a match of up to two chunks that lies at least a chunk back, both chunks always: most matches are such. False for others
/// and where there is no room for it.
#[inline]
fn copy_short_match(output: &mut [u8], to: usize, distance: usize, length: usize) -> bool {
    if distance < CHUNK || length > 2 * CHUNK {
        return false;
    }
    let Some(window) = output.get_mut(to - distance..to + 2 * CHUNK) else { return false };
    window.copy_within(..CHUNK, distance);
    window.copy_within(CHUNK..2 * CHUNK, distance + CHUNK);
    true
}

/// Repeats `length` bytes that lie `distance` before `to`; both copies may overlap. `distance` ≤ `to`, and the match ends
/// inside `output`.
#[inline]
fn copy_match(output: &mut [u8], to: usize, distance: usize, length: usize) {
    let end = to + length;
    if end + CHUNK > output.len() {
        for at in to..end {
            output[at] = output[at - distance];
        }
    } else if distance >= CHUNK {
        copy_chunks::<CHUNK>(output, to, distance, end);
    } else if distance >= 8 {
        copy_chunks::<8>(output, to, distance, end);
    } else {
        repeat(output, to, distance, end);
    }
}

/// Copies `N` bytes at a time, at most `N` − 1 more than needed. `distance` ≥ `N`, so that no chunk overlaps its copy.
#[inline]
fn copy_chunks<const N: usize>(output: &mut [u8], to: usize, distance: usize, end: usize) {
    let mut at = to;
    while at < end {
        let Some(chunk) = output.get(at - distance..).and_then(<[u8]>::first_chunk::<N>).copied() else { return };
        let Some(target) = output.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<N>) else { return };
        *target = chunk;
        at += N;
    }
}

/// Repeats fewer than eight bytes: fills a word with them and writes it over and over, a whole number of periods further each time.
#[inline]
fn repeat(output: &mut [u8], to: usize, distance: usize, end: usize) {
    let Some(word) = output.get(to - distance..).and_then(<[u8]>::first_chunk::<8>) else { return };
    let mut bits = 8 * distance as u32;
    let mut word = u64::from_le_bytes(*word) & ((1 << bits) - 1);
    while bits < 64 {
        word |= word << bits;
        bits *= 2;
    }
    let step = 8 / distance * distance;
    let mut at = to;
    while at < end {
        let Some(target) = output.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<8>) else { return };
        *target = word.to_le_bytes();
        at += step;
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoded, Stopped, decompress};

    fn decode(input: &[u8], length: usize) -> (Vec<u8>, Decoded) {
        let mut output = vec![0; length];
        let decoded = decompress(input, &mut output);
        (output, decoded)
    }

    #[test]
    fn literals_then_an_overlapping_match() {
        // Three literals, then a match of 9 at distance 3: the low three bits are 6.
        let input = [0xff, 0xff, 0xff, 0x1f, b'a', b'b', b'c', 0x16, 0x00];
        let (output, decoded) = decode(&input, 12);
        assert_eq!(output, b"abcabcabcabc");
        assert_eq!(decoded, Decoded { produced: 12, consumed: 9, stopped: None });
    }

    #[test]
    fn two_long_matches_share_a_byte() {
        // Distance 1, length 10 + 2, then 10 + 3: the half bytes are 2 and 3 of one byte.
        let input = [0xff, 0xff, 0xff, 0x7f, b'x', 0x07, 0x00, 0x32, 0x07, 0x00];
        let (output, decoded) = decode(&input, 26);
        assert_eq!(output, [b'x'; 26]);
        assert_eq!(decoded, Decoded { produced: 26, consumed: 10, stopped: None });
    }

    #[test]
    fn the_longest_forms_of_a_length() {
        let long = [0xff, 0xff, 0xff, 0x7f, b'x', 0x07, 0x00, 0x0f, 0xff, 0x0d, 0x03];
        assert_eq!(decode(&long, 1 + 0x30d + 3).1, Decoded { produced: 785, consumed: 11, stopped: None });
        let longest = [0xff, 0xff, 0xff, 0x7f, b'x', 0x07, 0x00, 0x0f, 0xff, 0, 0, 0x40, 0x42, 0x0f, 0x00];
        assert_eq!(decode(&longest, 1_000_004).1, Decoded { produced: 1_000_004, consumed: 15, stopped: None });
        let short = [0xff, 0xff, 0xff, 0x7f, b'x', 0x07, 0x00, 0x0f, 0xff, 21, 0];
        assert_eq!(decode(&short, 100).1.stopped, Some(Stopped::BadLength));
    }

    #[test]
    fn damage_keeps_what_came_before() {
        let before_start = [0xff, 0xff, 0xff, 0x7f, b'x', 0x08, 0x00];
        assert_eq!(decode(&before_start, 8).1, Decoded { produced: 1, consumed: 7, stopped: Some(Stopped::BadOffset) });
        let (output, decoded) = decode(&[0, 0, 0, 0, b'a', b'b'], 8);
        assert_eq!(&output[..2], b"ab");
        assert_eq!(decoded, Decoded { produced: 2, consumed: 6, stopped: Some(Stopped::EndOfInput) });
        assert_eq!(decode(&[1, 2], 8).1.stopped, Some(Stopped::EndOfInput));
    }
}
