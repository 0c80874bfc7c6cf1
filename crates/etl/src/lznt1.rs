//! LZNT1 of \[MS-XCA\] 2.5: assessment results in merged recordings, and an older compression of buffers.
//!
//! The stream is a sequence of chunks of at most 4096 bytes of output. A chunk is stored plain, or as groups of eight items
//! under a flag byte, lowest bit first: a literal (0) or a `u16` (1) that splits into distance and length at a bit which moves
//! with the position in the chunk.

use crate::bytes::u16_at;
pub use crate::xpress::{Decoded, Stopped};

/// Bytes of output of a whole chunk.
const CHUNK_OUTPUT: usize = 4096;

/// Decompresses until `output` is full or the stream ends.
///
/// Never fails as such: the bytes before the damage are kept, and [`Decoded::stopped`] says why there are not more.
pub fn decompress(input: &[u8], output: &mut [u8]) -> Decoded {
    let mut from = 0;
    let mut to = 0;
    let mut stopped = None;
    while to < output.len() && stopped.is_none() {
        let Some(header) = u16_at(input, from).filter(|header| *header != 0) else {
            stopped = Some(Stopped::EndOfInput);
            break;
        };
        let size = usize::from(header & 0x0fff) + 1;
        let body = input.get(from + 2..).unwrap_or_default();
        let chunk = body.get(..size).unwrap_or(body);
        let room = output.len() - to;
        let target = output.get_mut(to..to + room.min(CHUNK_OUTPUT)).unwrap_or_default();
        let (written, error) = if header & 0x8000 == 0 {
            let count = chunk.len().min(target.len());
            if let (Some(target), Some(source)) = (target.get_mut(..count), chunk.get(..count)) {
                target.copy_from_slice(source);
            }
            (count, None)
        } else {
            decompress_chunk(chunk, target)
        };
        to += written;
        from += 2 + chunk.len();
        stopped = error;
        if chunk.len() < size && to < output.len() {
            stopped = stopped.or(Some(Stopped::EndOfInput));
        }
    }
    Decoded { produced: to, consumed: from.min(input.len()), stopped }
}

fn decompress_chunk(chunk: &[u8], output: &mut [u8]) -> (usize, Option<Stopped>) {
    let mut from = 0;
    let mut to = 0;
    while let Some(flags) = chunk.get(from) {
        from += 1;
        for item in 0..8 {
            if to == output.len() || from >= chunk.len() {
                return (to, None);
            }
            if flags >> item & 1 == 0 {
                output[to] = chunk[from];
                from += 1;
                to += 1;
                continue;
            }
            let Some(word) = u16_at(chunk, from).map(usize::from) else { return (to, Some(Stopped::EndOfInput)) };
            from += 2;
            // The further into the chunk, the more bits the distance needs and the fewer are left for the length.
            let distance_bits = (usize::BITS - to.saturating_sub(1).leading_zeros()).max(4);
            let length_bits = 16 - distance_bits;
            let distance = (word >> length_bits) + 1;
            let length = (word & ((1 << length_bits) - 1)) + 3;
            if distance > to {
                return (to, Some(Stopped::BadOffset));
            }
            let end = (to + length).min(output.len());
            while to < end {
                output[to] = output[to - distance];
                to += 1;
            }
        }
    }
    (to, None)
}

#[cfg(test)]
mod tests {
    use super::{Decoded, Stopped, decompress};

    #[test]
    fn the_example_of_the_specification() {
        // [MS-XCA] 3.3: the compressed form of a text with repeated parts.
        let input = [
            0x38, 0xb0, 0x88, 0x46, 0x23, 0x20, 0x00, 0x20, 0x47, 0x20, 0x41, 0x00, 0x10, 0xa2, 0x47, 0x01, 0xa0, 0x45,
            0x20, 0x44, 0x00, 0x08, 0x45, 0x01, 0x50, 0x79, 0x00, 0xc0, 0x45, 0x20, 0x05, 0x24, 0x13, 0x88, 0x05, 0xb4,
            0x02, 0x4a, 0x44, 0xef, 0x03, 0x58, 0x02, 0x8c, 0x09, 0x16, 0x01, 0x48, 0x45, 0x00, 0xbe, 0x00, 0x9e, 0x00,
            0x04, 0x01, 0x18, 0x90, 0x00,
        ];
        let text = b"F# F# G A A G F# E D D E F# F# E E F# F# G A A G F# E D D E F# E D D E E F# D E F# G F# D E F# G F# E D E A F# F# G A A G F# E D D E F# E D D\0";
        let mut output = vec![0; text.len()];
        let decoded = decompress(&input, &mut output);
        assert_eq!(output.as_slice(), text.as_slice());
        assert_eq!(decoded.stopped, None);
    }

    #[test]
    fn a_plain_chunk_is_copied() {
        let mut output = [0; 3];
        let decoded = decompress(&[2, 0x30, b'a', b'b', b'c', 0, 0], &mut output);
        assert_eq!((&output, decoded), (b"abc", Decoded { produced: 3, consumed: 5, stopped: None }));
    }

    #[test]
    fn damage_keeps_what_came_before() {
        let mut output = [0; 16];
        let decoded = decompress(&[3, 0xb0, 2, b'a', 0xff, 0xff], &mut output);
        assert_eq!((decoded.produced, decoded.stopped), (1, Some(Stopped::BadOffset)));
        assert_eq!(decompress(&[], &mut output).stopped, Some(Stopped::EndOfInput));
    }
}
