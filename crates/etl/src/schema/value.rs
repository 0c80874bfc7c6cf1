//! Decoded values.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::net::IpAddr;

use crate::Guid;
use crate::payload::Sid;
use crate::time::filetime_text;

/// The value of a field. Texts and bytes are borrowed from the record where they can be.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// An unsigned integer that is written in hexadecimal: an address, a handle, bits.
    Hex(u64),
    /// A 32-bit floating-point number, kept apart so that it is not written with digits that it does not have.
    Float(f32),
    /// A 64-bit floating-point number.
    Double(f64),
    /// Yes or no.
    Bool(bool),
    /// A text.
    Text(Cow<'a, str>),
    /// A number with the name that the event's schema gives it.
    Named(i128, String),
    /// A GUID.
    Guid(Guid),
    /// 100 ns since 1601, UTC.
    FileTime(i64),
    /// Year, month, day of the week (0 Sunday), day, hour, minute, second, millisecond.
    SystemTime([u16; 8]),
    /// A security identifier; `None` where the event states that it has none.
    Sid(Option<Sid<'a>>),
    /// An address without a port.
    Ip(IpAddr),
    /// An address with a port.
    Socket(IpAddr, u16),
    /// Bytes.
    Bytes(&'a [u8]),
    /// An array.
    List(Vec<Value<'a>>),
    /// A structure: names and values.
    Struct(Vec<(&'a str, Value<'a>)>),
}

impl Value<'_> {
    /// The value as a number, where it is one: what a comparison with a number means.
    #[must_use]
    pub fn number(&self) -> Option<i128> {
        Some(match *self {
            Self::Signed(value) | Self::FileTime(value) => i128::from(value),
            Self::Unsigned(value) | Self::Hex(value) => i128::from(value),
            Self::Named(value, _) => value,
            Self::Bool(value) => i128::from(value),
            _ => return None,
        })
    }
}

/// The value as text, without quotes: numbers in decimal or hexadecimal, times as ISO 8601 in UTC.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed(value) => write!(f, "{value}"),
            Self::Unsigned(value) => write!(f, "{value}"),
            Self::Hex(value) => f.write_str(hex_text(*value, &mut [0; HEX_TEXT])),
            Self::Float(value) => write!(f, "{value}"),
            Self::Double(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(text),
            Self::Named(_, name) => f.write_str(name),
            Self::Guid(guid) => write!(f, "{guid}"),
            Self::FileTime(time) => f.write_str(&filetime_text(*time)),
            Self::SystemTime([year, month, _, day, hour, minute, second, ms]) => {
                write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}")
            }
            Self::Sid(Some(sid)) => write!(f, "{sid}"),
            Self::Sid(None) => Ok(()),
            Self::Ip(address) => write!(f, "{address}"),
            Self::Socket(IpAddr::V4(address), port) => write!(f, "{address}:{port}"),
            Self::Socket(IpAddr::V6(address), port) => write!(f, "[{address}]:{port}"),
            Self::Bytes(bytes) => write_hex(f, bytes),
            Self::List(values) => separated(f, '[', ']', values.iter(), |f, value| write!(f, "{value}")),
            Self::Struct(members) => {
                separated(f, '{', '}', members.iter(), |f, (name, value)| write!(f, "{name}={value}"))
            }
        }
    }
}

/// Writes bytes as hexadecimal digits.
///
/// # Errors
/// Those of `out`; a `String` has none.
pub fn write_hex(out: &mut impl fmt::Write, bytes: &[u8]) -> fmt::Result {
    /// Bytes that are written at once.
    const PIECE: usize = 64;
    let mut digits = [0; 2 * PIECE];
    for piece in bytes.chunks(PIECE) {
        for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(piece) {
            *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        }
        let written = digits.get(..2 * piece.len()).unwrap_or_default();
        out.write_str(std::str::from_utf8(written).unwrap_or_default())?;
    }
    Ok(())
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Bytes of the longest hexadecimal number, with its `0x`.
pub(super) const HEX_TEXT: usize = 18;

/// A number as [`Value::Hex`] is written.
pub(super) fn hex_text(value: u64, memory: &mut [u8; HEX_TEXT]) -> &str {
    let count = (16 - value.leading_zeros() as usize / 4).max(1);
    for (place, digit) in memory.iter_mut().skip(2).take(count).enumerate() {
        *digit = DIGITS[(value >> (4 * (count - 1 - place)) & 15) as usize];
    }
    memory[..2].copy_from_slice(b"0x");
    std::str::from_utf8(&memory[..2 + count]).unwrap_or_default()
}

fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    open: char,
    close: char,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    f.write_char(open)?;
    for (index, item) in items.enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write(f, item)?;
    }
    f.write_char(close)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Value, write_hex};

    proptest! {
        #[test]
        fn hexadecimal_numbers_and_bytes_are_those_of_the_standard_library(
            value in any::<u64>(), shift in 0..64_u32, bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let value = value >> shift;
            prop_assert_eq!(Value::Hex(value).to_string(), format!("{value:#x}"));
            prop_assert_eq!(Value::Hex(0).to_string(), "0x0");
            let mut text = String::new();
            write_hex(&mut text, &bytes).expect("a String takes all");
            let expected: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            prop_assert_eq!(text, expected);
        }
    }
}
