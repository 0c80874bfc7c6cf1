//! One field of a tracepoint: a line such as `field:char prev_comm[16]; offset:8; size:16; signed:0;`.

use std::ops::Range;

use linux_perf_event_reader::Endianness;

use crate::cursor::until_nul;

/// Where the bytes of a field stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// At its offset.
    Inline,
    /// Where its 32-bit word says: length in the upper half, offset from the start of the record in the lower (`__data_loc`).
    Data,
    /// As [`Self::Data`], with the offset from the end of the word (`__rel_loc`).
    Relative,
}

/// A field of a tracepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, without array brackets.
    pub name: String,
    /// Its C type, without name and location, such as `unsigned long` or `char[16]`.
    pub declaration: String,
    /// Offset in the raw data.
    pub offset: usize,
    /// Bytes there.
    pub size: usize,
    /// Whether its numbers are signed.
    pub signed: bool,
    /// Where its bytes stand.
    pub location: Location,
    /// Whether it has many elements.
    pub array: bool,
    /// Bytes per element: [`Self::size`] when it is no array, 0 where the type does not tell.
    pub element_size: usize,
}

impl Field {
    /// Reads a line of a format file; `None` if it is none of a field.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split(';').map(str::trim);
        let (_, declaration) = parts.next().filter(|part| part.starts_with("field"))?.split_once(':')?;
        let (mut offset, mut size, mut signed) = (None, None, None);
        for part in parts {
            match part.split_once(':') {
                Some(("offset", value)) => offset = value.trim().parse().ok(),
                Some(("size", value)) => size = value.trim().parse().ok(),
                Some(("signed", value)) => signed = Some(value.trim() != "0"),
                _ => {}
            }
        }
        let declaration = declaration.trim();
        let (location, declaration) = match declaration.split_once(char::is_whitespace) {
            Some(("__data_loc", rest)) => (Location::Data, rest.trim()),
            Some(("__rel_loc", rest)) => (Location::Relative, rest.trim()),
            _ => (Location::Inline, declaration),
        };
        let (kind, name, brackets) = split_declaration(declaration)?;
        let (offset, size) = (offset?, size?);
        let array = !brackets.is_empty() || kind.ends_with(']');
        let element_size = element_size(kind, brackets, size, array, location);
        // Kernels before 2.6.38 do not say whether a field is signed.
        let signed = signed.unwrap_or_else(|| !kind.contains("unsigned") && !kind.contains('*'));
        let declaration = format!("{kind}{brackets}");
        Some(Self { name: name.to_owned(), declaration, offset, size, signed, location, array, element_size })
    }

    /// The bytes of the field in the raw data of a sample; `None` when the sample is too short.
    #[must_use]
    #[inline]
    pub fn bytes<'a>(&self, raw: &'a [u8], endian: Endianness) -> Option<&'a [u8]> {
        raw.get(self.range(raw, endian)?)
    }

    /// Where these bytes stand; they need not be there.
    #[must_use]
    #[inline]
    pub fn range(&self, raw: &[u8], endian: Endianness) -> Option<Range<usize>> {
        let end = self.offset.checked_add(self.size)?;
        let base = match self.location {
            // An array without a size goes on to the end.
            Location::Inline if self.size == 0 && self.array => return Some(self.offset..raw.len().max(self.offset)),
            Location::Inline => return Some(self.offset..end),
            Location::Data => 0,
            Location::Relative => end,
        };
        let word = integer(raw.get(self.offset..end)?.get(..4)?, endian)?;
        let start = base.checked_add((word & 0xffff) as usize)?;
        Some(start..start.checked_add((word >> 16 & 0xffff) as usize)?)
    }

    /// Its value without sign: an enum, a flag word, an address. `None` for arrays and what is wider than 64 bits.
    #[must_use]
    #[inline]
    pub fn unsigned(&self, raw: &[u8], endian: Endianness) -> Option<u64> {
        if self.array { None } else { integer(self.bytes(raw, endian)?, endian) }
    }

    /// Its value, extended by its sign if it has one.
    #[must_use]
    #[inline]
    pub fn signed(&self, raw: &[u8], endian: Endianness) -> Option<i64> {
        let value = self.unsigned(raw, endian)?;
        let unused = 64_u32.checked_sub(8 * self.size as u32).filter(|&unused| self.signed && unused < 64).unwrap_or(0);
        Some((value << unused).cast_signed() >> unused)
    }

    /// Its text up to the first NUL. Any byte may stand in a name of the kernel, `:` and spaces included.
    #[must_use]
    pub fn text<'a>(&self, raw: &'a [u8], endian: Endianness) -> Option<&'a [u8]> {
        self.bytes(raw, endian).map(until_nul)
    }

    /// The numbers of an array, such as the arguments of a system call.
    pub fn elements<'a>(&self, raw: &'a [u8], endian: Endianness) -> impl Iterator<Item = u64> + use<'a> {
        let bytes = self.bytes(raw, endian).unwrap_or_default();
        let width = if self.element_size == 0 { bytes.len().max(1) } else { self.element_size };
        bytes.chunks_exact(width).filter_map(move |element| integer(element, endian))
    }
}

/// An integer of 1 to 8 bytes.
#[inline]
fn integer(bytes: &[u8], endian: Endianness) -> Option<u64> {
    let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    match (bytes.len(), endian) {
        // What nearly all fields are.
        (4, Endianness::LittleEndian) => bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes).into()),
        (8, Endianness::LittleEndian) => bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)),
        (1..=8, Endianness::LittleEndian) => Some(bytes.iter().rev().fold(0, fold)),
        (1..=8, Endianness::BigEndian) => Some(bytes.iter().fold(0, fold)),
        _ => None,
    }
}

/// Type, name and brackets: `char`, `comm`, `[16]`; dynamic arrays have their brackets in the type (`char[] name`).
fn split_declaration(declaration: &str) -> Option<(&str, &str, &str)> {
    let (named, brackets) = match declaration.find('[') {
        Some(at) if declaration.ends_with(']') => declaration.split_at_checked(at)?,
        _ => (declaration, ""),
    };
    let name_at = named.rfind(|c: char| !c.is_alphanumeric() && c != '_')?;
    let (kind, name) = named.split_at_checked(name_at + 1)?;
    // A type that ends with its name glued to a star, a bracket or a space.
    (!name.is_empty()).then(|| (kind.trim(), name, brackets.trim()))
}

/// Bytes per element, from the number in the brackets or from the type's name.
fn element_size(kind: &str, brackets: &str, size: usize, array: bool, location: Location) -> usize {
    if !array {
        return if location == Location::Inline { size } else { 0 };
    }
    let count = brackets.trim_start_matches('[').split(']').next().and_then(|count| count.parse::<usize>().ok());
    if let Some(count) = count.filter(|&count| count > 0 && size.is_multiple_of(count)) {
        return size / count;
    }
    let base = kind.trim_end_matches(['[', ']']).trim();
    match base.trim_start_matches("unsigned ").trim_start_matches("const ") {
        "char" | "u8" | "s8" | "__u8" | "uint8_t" | "bool" => 1,
        "short" | "u16" | "s16" | "__u16" | "uint16_t" => 2,
        "int" | "u32" | "s32" | "__u32" | "uint32_t" | "pid_t" => 4,
        "long long" | "u64" | "s64" | "__u64" | "uint64_t" => 8,
        _ => 0,
    }
}
