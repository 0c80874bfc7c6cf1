//! Strings as they stand in payloads: borrowed bytes that are decoded when somebody wants the text.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ffi::CStr;
use std::fmt::{self, Write as _};
use std::iter::FusedIterator;

/// A UTF-16LE string inside a payload, without its NUL. Unpaired surrogates are shown as U+FFFD.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WideStr<'a> {
    /// An even number of bytes.
    bytes: &'a [u8],
}

impl<'a> WideStr<'a> {
    /// The string at the start of `bytes`, up to a NUL or the end.
    pub fn until_nul(bytes: &'a [u8]) -> Self {
        // Four units at a time up to the block that holds the NUL; names are long and many.
        let (blocks, _) = bytes.as_chunks::<8>();
        let start = blocks.iter().position(|block| has_zero_unit(*block)).unwrap_or(blocks.len()) * 8;
        let (units, _) = bytes[start..].as_chunks::<2>();
        let length = units.iter().position(|unit| *unit == [0, 0]).unwrap_or(units.len());
        Self { bytes: &bytes[..start + 2 * length] }
    }

    /// The string's bytes, UTF-16LE.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Is the string empty?
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The 16-bit units.
    pub fn units(&self) -> impl Iterator<Item = u16> + 'a {
        self.bytes.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit))
    }

    /// The characters; an unpaired surrogate is U+FFFD.
    pub fn chars(&self) -> impl Iterator<Item = char> + 'a {
        char::decode_utf16(self.units()).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// Appends the text to `out`, for callers that reuse a buffer.
    pub fn append_to(&self, out: &mut String) {
        out.reserve(self.bytes.len() / 2);
        let appended: Result<(), Infallible> = self.write_pieces(|piece| {
            out.push_str(piece);
            Ok(())
        });
        let Ok(()) = appended;
    }

    /// The text: faster than through [`Display`](fmt::Display).
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.append_to(&mut text);
        text
    }

    /// Hands out the text in pieces: whole blocks as long as they are ASCII, which nearly all names are to their end, then
    /// character by character.
    fn write_pieces<E>(&self, mut write: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        const BLOCK: usize = 64;
        let mut rest = self.bytes;
        while !rest.is_empty() {
            let (units, _) = rest[..rest.len().min(2 * BLOCK)].as_chunks::<2>();
            let mut ascii = [0; BLOCK];
            let mut high_bits = 0;
            for (byte, [low, high]) in ascii.iter_mut().zip(units) {
                *byte = *low;
                high_bits |= low & 0x80 | high;
            }
            match std::str::from_utf8(&ascii[..units.len()]) {
                Ok(text) if high_bits == 0 => write(text)?,
                _ => break,
            }
            rest = &rest[2 * units.len()..];
        }
        Self { bytes: rest }.chars().try_for_each(|c| write(c.encode_utf8(&mut [0; 4])))
    }
}

/// Is one of the four 16-bit units zero? A unit borrows from the bit above it only when it is zero itself.
fn has_zero_unit(block: [u8; 8]) -> bool {
    let units = u64::from_ne_bytes(block);
    units.wrapping_sub(0x0001_0001_0001_0001) & !units & 0x8000_8000_8000_8000 != 0
}

impl fmt::Display for WideStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_pieces(|piece| f.write_str(piece))
    }
}

impl fmt::Debug for WideStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

impl PartialEq<str> for WideStr<'_> {
    fn eq(&self, other: &str) -> bool {
        self.chars().eq(other.chars())
    }
}

impl PartialEq<&str> for WideStr<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// An 8-bit string inside a payload, without its NUL. It is shown as UTF-8 where it is valid UTF-8, else as Latin-1,
/// because the recording does not name the code page.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct AnsiStr<'a> {
    bytes: &'a [u8],
}

impl<'a> AnsiStr<'a> {
    /// The string at the start of `bytes`, up to a NUL or the end.
    pub fn until_nul(bytes: &'a [u8]) -> Self {
        Self { bytes: CStr::from_bytes_until_nul(bytes).map_or(bytes, CStr::to_bytes) }
    }

    /// The string's bytes.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Is the string empty?
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The text; borrowed unless it must be converted from Latin-1.
    pub fn to_text(&self) -> Cow<'a, str> {
        match std::str::from_utf8(self.bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(self.bytes.iter().copied().map(char::from).collect()),
        }
    }
}

impl fmt::Display for AnsiStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::str::from_utf8(self.bytes) {
            Ok(text) => f.write_str(text),
            Err(_) => self.bytes.iter().try_for_each(|byte| f.write_char(char::from(*byte))),
        }
    }
}

impl fmt::Debug for AnsiStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.to_text(), f)
    }
}

impl PartialEq<str> for AnsiStr<'_> {
    fn eq(&self, other: &str) -> bool {
        *self.to_text() == *other
    }
}

impl PartialEq<&str> for AnsiStr<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// UTF-16 strings in a row, as many as the payload said.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WideStrs<'a> {
    bytes: &'a [u8],
    count: u32,
}

impl<'a> WideStrs<'a> {
    /// `bytes` must be known to hold `count` strings.
    pub(super) fn new(bytes: &'a [u8], count: u32) -> Self {
        Self { bytes, count }
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The strings.
    pub fn iter(&self) -> WideStrsIter<'a> {
        WideStrsIter { bytes: self.bytes, count: self.count }
    }
}

impl fmt::Debug for WideStrs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<'a> IntoIterator for &WideStrs<'a> {
    type Item = WideStr<'a>;
    type IntoIter = WideStrsIter<'a>;

    fn into_iter(self) -> WideStrsIter<'a> {
        self.iter()
    }
}

/// Iterator over [`WideStrs`].
#[derive(Clone, Debug)]
pub struct WideStrsIter<'a> {
    bytes: &'a [u8],
    count: u32,
}

impl<'a> Iterator for WideStrsIter<'a> {
    type Item = WideStr<'a>;

    fn next(&mut self) -> Option<WideStr<'a>> {
        self.count = self.count.checked_sub(1)?;
        let text = WideStr::until_nul(self.bytes);
        self.bytes = self.bytes.get(text.as_bytes().len() + 2..).unwrap_or_default();
        Some(text)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

impl ExactSizeIterator for WideStrsIter<'_> {}
impl FusedIterator for WideStrsIter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_text_is_lossy_but_never_fails() {
        let bytes = [0x41, 0, 0x00, 0xD8, 0x42, 0, 0x3D, 0xD8, 0x00, 0xDE, 0, 0, 0x43, 0];
        let text = WideStr::until_nul(&bytes);
        assert_eq!(text.to_string(), "A\u{FFFD}B\u{1F600}");
        assert_eq!(text, "A\u{FFFD}B\u{1F600}");
        let mut out = String::from("> ");
        text.append_to(&mut out);
        assert_eq!(out, "> A\u{FFFD}B\u{1F600}");
    }

    #[test]
    fn the_nul_is_found_wherever_it_stands() {
        // Units with one zero byte, and with a set top bit behind the NUL's borrow, must not be taken for it.
        for unit in [1_u16, 0x0100, 0x8000, 0x0041, 0xFFFF] {
            for length in 0..20 {
                let mut bytes = [unit.to_le_bytes()].repeat(20).concat();
                bytes[2 * length..2 * length + 2].fill(0);
                assert_eq!(WideStr::until_nul(&bytes).as_bytes().len(), 2 * length);
                assert_eq!(WideStr::until_nul(&bytes[..2 * length]).as_bytes().len(), 2 * length);
            }
        }
    }

    #[test]
    fn text_is_the_same_in_blocks_and_character_by_character() {
        for length in [0, 1, 63, 64, 65, 127, 128, 200] {
            for odd in ["", "\u{7F}", "\u{80}", "é", "\u{1F600}"] {
                let text = ["x".repeat(length).as_str(), odd, "yz"].concat();
                let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                let wide = WideStr::until_nul(&bytes);
                assert_eq!(wide.to_string(), text);
                assert!(wide == text.as_str());
            }
        }
    }

    #[test]
    fn ansi_text_is_utf8_or_latin1() {
        assert_eq!(AnsiStr::until_nul("größe.pdb\0x".as_bytes()).to_string(), "größe.pdb");
        assert_eq!(AnsiStr::until_nul(b"gr\xF6\xDFe.pdb").to_string(), "größe.pdb");
        assert_eq!(AnsiStr::until_nul(b"gr\xF6\xDFe.pdb").to_text(), "größe.pdb");
    }
}
