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
            Self::Hex(value) => write!(f, "{value:#x}"),
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
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
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
