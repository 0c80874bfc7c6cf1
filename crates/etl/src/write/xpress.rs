//! Plain LZ77 XPRESS compression (\[MS-XCA\] 2.3), the format of compressed trace buffers.
//!
//! Greedy with one candidate per hash: buffers hold short records that resemble the one before, for which the nearest
//! match is nearly always the best one.

/// Longest distance that 13 bits can say.
const WINDOW: usize = 8192;
const HASH_BITS: u32 = 14;
const NO_POSITION: u32 = u32::MAX;

/// Compresses buffers; keeps its tables from one buffer to the next.
#[derive(Debug)]
pub struct Compressor {
    /// Last position of each hash of four bytes.
    heads: Vec<u32>,
}

impl Default for Compressor {
    fn default() -> Self {
        Self { heads: vec![NO_POSITION; 1 << HASH_BITS] }
    }
}

impl Compressor {
    /// Appends the compressed form of `input` to `output`. The stream carries no length: who reads it must know that of `input`.
    pub fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) {
        self.heads.fill(NO_POSITION);
        let mut items = Items::new(output);
        let mut position = 0;
        while position < input.len() {
            match self.longest_match(input, position) {
                Some((distance, length)) => {
                    items.push_match(distance, length);
                    // One more entry inside the match is enough for the next record to find it again.
                    let inside = position + length / 2;
                    if let Some(hash) = hash(input, inside) {
                        self.heads[hash] = inside as u32;
                    }
                    position += length;
                }
                None => {
                    items.push_literal(input[position]);
                    position += 1;
                }
            }
        }
        items.finish();
    }

    fn longest_match(&mut self, input: &[u8], position: usize) -> Option<(usize, usize)> {
        let hash = hash(input, position)?;
        let candidate = std::mem::replace(&mut self.heads[hash], position as u32);
        if candidate == NO_POSITION {
            return None;
        }
        let candidate = candidate as usize;
        let distance = position - candidate;
        if distance > WINDOW {
            return None;
        }
        let length = common_prefix(&input[candidate..], &input[position..]);
        (length >= 4).then_some((distance, length))
    }
}

fn hash(input: &[u8], position: usize) -> Option<usize> {
    let bytes = input.get(position..position + 4)?.try_into().ok()?;
    Some((u32::from_le_bytes(bytes).wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize)
}

/// Length of the common prefix of `earlier` and `later`, at most the length of `later`; `earlier` starts before `later` in
/// the same buffer and is therefore the longer one.
fn common_prefix(earlier: &[u8], later: &[u8]) -> usize {
    let mut length = 0;
    for (a, b) in earlier.chunks_exact(8).zip(later.chunks_exact(8)) {
        let difference = word(a) ^ word(b);
        if difference != 0 {
            return length + difference.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    length + earlier[length..].iter().zip(&later[length..]).take_while(|(a, b)| a == b).count()
}

fn word(chunk: &[u8]) -> u64 {
    chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The stream of literals and matches with its flag words and shared nibbles.
struct Items<'a> {
    output: &'a mut Vec<u8>,
    flags: u32,
    flags_at: usize,
    flags_used: u32,
    /// Position of a byte whose high nibble is still free.
    half_byte: Option<usize>,
}

impl<'a> Items<'a> {
    fn new(output: &'a mut Vec<u8>) -> Self {
        Self { output, flags: 0, flags_at: 0, flags_used: 32, half_byte: None }
    }

    fn push_flag(&mut self, flag: u32) {
        if self.flags_used == 32 {
            self.flush_flags();
            self.flags_at = self.output.len();
            self.output.extend_from_slice(&[0; 4]);
            self.flags = 0;
            self.flags_used = 0;
        }
        self.flags |= flag << (31 - self.flags_used);
        self.flags_used += 1;
    }

    fn flush_flags(&mut self) {
        if let Some(place) = self.output.get_mut(self.flags_at..self.flags_at + 4)
            && self.flags_used > 0
        {
            place.copy_from_slice(&self.flags.to_le_bytes());
        }
    }

    fn push_literal(&mut self, byte: u8) {
        self.push_flag(0);
        self.output.push(byte);
    }

    fn push_match(&mut self, distance: usize, length: usize) {
        self.push_flag(1);
        let length = length - 3;
        let token = ((distance - 1) << 3 | length.min(7)) as u16;
        self.output.extend_from_slice(&token.to_le_bytes());
        if length < 7 {
            return;
        }
        self.push_nibble((length - 7).min(15) as u8);
        if length < 7 + 15 {
            return;
        }
        self.output.push((length - 7 - 15).min(255) as u8);
        if length < 7 + 15 + 255 {
            return;
        }
        match u16::try_from(length) {
            Ok(length) => self.output.extend_from_slice(&length.to_le_bytes()),
            Err(_) => {
                self.output.extend_from_slice(&0u16.to_le_bytes());
                self.output.extend_from_slice(&(length as u32).to_le_bytes());
            }
        }
    }

    fn push_nibble(&mut self, nibble: u8) {
        match self.half_byte.take() {
            Some(position) => self.output[position] |= nibble << 4,
            None => {
                self.half_byte = Some(self.output.len());
                self.output.push(nibble);
            }
        }
    }

    /// Unused flags at the end are set, as \[MS-XCA\] has it.
    fn finish(mut self) {
        if self.flags_used < 32 {
            self.flags |= u32::MAX >> self.flags_used;
        }
        self.flush_flags();
    }
}

#[cfg(test)]
mod tests {
    use super::Compressor;
    use crate::xpress::{Decoded, decompress};
    use proptest::prelude::*;

    fn round_trip(input: &[u8]) -> usize {
        let mut compressed = Vec::new();
        Compressor::default().compress(input, &mut compressed);
        let mut output = vec![0; input.len()];
        let decoded = decompress(&compressed, &mut output);
        let whole = Decoded { produced: input.len(), consumed: compressed.len(), stopped: None };
        assert_eq!(decoded, whole);
        assert!(output == input, "{} bytes differ", input.len());
        compressed.len()
    }

    #[test]
    fn every_length_class_of_a_match_survives() {
        for length in [1, 3, 4, 5, 9, 10, 11, 24, 25, 26, 279, 280, 281, 65_538, 65_539, 70_000, 200_000] {
            let size = round_trip(&vec![7; length]);
            assert!(length < 16 || size < 24, "{length} equal bytes became {size}");
        }
        let mut nothing = Vec::new();
        Compressor::default().compress(&[], &mut nothing);
        assert!(nothing.is_empty());
    }

    #[test]
    fn matches_reach_back_as_far_as_the_format_can_say() {
        for distance in [8_191, 8_192, 8_193] {
            let mut input: Vec<u8> =
                (0..distance).map(|index: u32| (index.wrapping_mul(0x9E37_79B1) >> 13) as u8).collect();
            input.extend_from_within(..64);
            round_trip(&input);
        }
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(words in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 1..12),
                                  picks in prop::collection::vec(any::<prop::sample::Index>(), 1..400)) {
            let input: Vec<u8> = picks.iter().flat_map(|pick| pick.get(&words).clone()).collect();
            round_trip(&input);
        }
    }
}
