//! Takes a payload apart by its layout.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::cursor::{Cursor, FIELD};
use super::layout::{Count, Field, Kind, Layout, Meaning, Scalar};
use super::value::Value;
use crate::bytes::u16_at;
use crate::payload::{AnsiStr, PayloadError};

/// Structures inside structures: more only a forged schema has.
const MAX_DEPTH: usize = 8;

/// Values of one event that take no bytes (empty structures, arrays without elements): more only a forged schema has.
const MAX_EMPTY_VALUES: usize = 1024;

/// Bytes of the names of values in one event; where a forged event needs more, the numbers stand without their names.
const MAX_NAMES: usize = 1 << 20;

/// A payload taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded<'a> {
    /// Names and values in the order of the payload. Fields that a shorter, older form of the event does not have are left out.
    pub fields: Vec<(&'a str, Value<'a>)>,
    /// What no field shows: what stands behind the last one, from the trouble on where it stopped, all where nobody describes it.
    pub rest: &'a [u8],
    /// Why it ends before its layout does; the fields before that stand.
    pub stopped: Option<DecodeError<'a>>,
}

impl<'a> Decoded<'a> {
    /// A payload that nobody describes.
    #[must_use]
    pub fn undescribed(payload: &'a [u8]) -> Self {
        Self { rest: payload, ..Self::default() }
    }

    /// The value of a field, by its name in any case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Why a payload could not be taken apart to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("field {field}: {reason}")]
pub struct DecodeError<'a> {
    /// The field.
    pub field: &'a str,
    /// Why.
    pub reason: Reason,
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The payload does not hold it.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// Structures contain each other, or there are more values than the payload can hold.
    #[error("the schema describes more values than a payload can hold")]
    TooMany,
    /// Its length or count stands in a field that does not come before it.
    #[error("its length or count stands in a field that is not there")]
    NoLength,
}

impl Layout {
    /// Takes a payload apart. Never fails as such: what was decoded before the trouble stands.
    #[must_use]
    pub fn decode<'a>(&'a self, payload: &'a [u8], pointer_size: u8) -> Decoded<'a> {
        let mut decoder = Decoder::new(Cursor::new(self, payload, pointer_size, Vec::new()));
        let mut decoded = Decoded { fields: Vec::with_capacity(self.top), ..Decoded::default() };
        for index in 0..self.top.min(self.fields.len()) {
            let start = decoder.cursor.reader.offset();
            match decoder.field(index, 0) {
                Ok(_) if self.fields[index].name.is_empty() => {}
                Ok(value) => decoded.fields.push((&self.fields[index].name, value)),
                // An older, shorter form of the event: the payload ends where a field would begin.
                Err(Reason::Payload(_)) if start == payload.len() => break,
                Err(reason) => {
                    decoded.stopped = Some(DecodeError { field: &self.fields[index].name, reason });
                    decoded.rest = payload.get(start..).unwrap_or_default();
                    return decoded;
                }
            }
        }
        decoded.rest = decoder.cursor.reader.unread();
        decoded
    }
}

/// Makes values of fields.
pub(super) struct Decoder<'a> {
    pub(super) cursor: Cursor<'a, 'a>,
    /// Values that may still come.
    budget: usize,
    /// Bytes of names that may still come.
    names: usize,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(cursor: Cursor<'a, 'a>) -> Self {
        Self { budget: cursor.reader.remaining() + MAX_EMPTY_VALUES, names: MAX_NAMES, cursor }
    }

    /// The value of the field with this index, inside of so many structures.
    pub(super) fn field(&mut self, index: usize, depth: usize) -> Result<Value<'a>, Reason> {
        let field: &'a Field = self.cursor.layout.fields.get(index).ok_or(Reason::TooMany)?;
        let count = match field.count {
            Count::One => return self.one(field, index, depth),
            Count::Fixed(count) => usize::from(count),
            Count::Field(at) => self.cursor.number(at)?,
            Count::Stored => usize::from(self.cursor.reader.u16("count")?),
            Count::Rest => usize::MAX,
        };
        // An array may be empty and still costs something.
        self.budget = self.budget.checked_sub(1).ok_or(Reason::TooMany)?;
        let mut values = Vec::new();
        for _ in 0..count {
            if field.count == Count::Rest && self.cursor.reader.remaining() == 0 {
                break;
            }
            values.push(self.one(field, index, depth)?);
        }
        Ok(if field.meaning == Meaning::Character { joined(&values) } else { Value::List(values) })
    }

    fn one(&mut self, field: &'a Field, index: usize, depth: usize) -> Result<Value<'a>, Reason> {
        self.budget = self.budget.checked_sub(1).ok_or(Reason::TooMany)?;
        match field.kind {
            Kind::Struct { first, members } => {
                if depth >= MAX_DEPTH {
                    return Err(Reason::TooMany);
                }
                let mut values = Vec::new();
                for member in first..first.saturating_add(members) {
                    let value = self.field(member, depth + 1)?;
                    let name: &'a str = self.cursor.layout.fields.get(member).map_or("", |field| &field.name);
                    if !name.is_empty() {
                        values.push((name, value));
                    }
                }
                Ok(Value::Struct(values))
            }
            Kind::Scalar(scalar) => self.scalar(field, scalar, index),
        }
    }

    fn scalar(&mut self, field: &'a Field, scalar: Scalar, index: usize) -> Result<Value<'a>, Reason> {
        let reader = &mut self.cursor.reader;
        Ok(match scalar {
            Scalar::Signed(bytes) => {
                let value = self.cursor.signed(bytes)?;
                let bits = value.cast_unsigned() & mask(bytes);
                self.cursor.note(index, bits);
                match (self.name(field, bits), field.meaning) {
                    (Some(name), _) => Value::Named(i128::from(value), name),
                    (None, Meaning::Plain) => Value::Signed(value),
                    (None, _) => unsigned(field, bits, bytes),
                }
            }
            Scalar::Unsigned(bytes) => {
                let value = self.cursor.unsigned(bytes)?;
                self.cursor.note(index, value);
                self.name(field, value)
                    .map_or_else(|| unsigned(field, value, bytes), |name| Value::Named(i128::from(value), name))
            }
            Scalar::Pointer => {
                let bytes = reader.pointer_size();
                let value = reader.pointer(FIELD)?;
                self.cursor.note(index, value);
                self.name(field, value)
                    .map_or_else(|| unsigned(field, value, bytes), |name| Value::Named(i128::from(value), name))
            }
            Scalar::Bool(bytes) => {
                let value = if bytes == 1 { u32::from(reader.u8(FIELD)?) } else { reader.u32(FIELD)? };
                Value::Bool(value != 0)
            }
            Scalar::Float => Value::Float(f32::from_bits(reader.u32(FIELD)?)),
            Scalar::Double => Value::Double(reader.f64(FIELD)?),
            Scalar::Guid => Value::Guid(reader.guid(FIELD)?),
            Scalar::FileTime => Value::FileTime(reader.i64(FIELD)?),
            Scalar::SystemTime => {
                let parts = reader.block::<16>(FIELD)?;
                Value::SystemTime(std::array::from_fn(|part| u16_at(parts, 2 * part).unwrap_or(0)))
            }
            Scalar::Sid => Value::Sid(Some(reader.sid(FIELD)?)),
            Scalar::EmbeddedSid => Value::Sid(reader.embedded_sid(FIELD)?),
            Scalar::SocketAddress => {
                let length = reader.u32(FIELD)?;
                socket(reader.bytes(length as usize, FIELD)?)
            }
            Scalar::Padding(alignment) => {
                let alignment = if alignment == 0 { reader.pointer_size() } else { alignment };
                let gap = reader.offset().next_multiple_of(usize::from(alignment)) - reader.offset();
                Value::Bytes(reader.bytes(gap, FIELD)?)
            }
            Scalar::Wide(extent) => Value::Text(self.cursor.wide(field, extent)?.to_text().into()),
            Scalar::Narrow(extent) => Value::Text(self.cursor.narrow(field, extent)?.to_text()),
            Scalar::Bytes(extent) => bytes_value(field, self.cursor.bytes(field, extent)?),
        })
    }

    /// The name that the field's map has for a number.
    fn name(&mut self, field: &Field, number: u64) -> Option<String> {
        let map = field.map.as_ref().filter(|_| self.names > 0)?;
        let name = map.name_of(number)?;
        self.names = self.names.saturating_sub(name.len());
        Some(name)
    }
}

/// The bits of an integer of so many bytes.
fn mask(bytes: u8) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

fn unsigned<'a>(field: &Field, value: u64, bytes: u8) -> Value<'a> {
    match field.meaning {
        Meaning::Plain | Meaning::SocketAddress | Meaning::Utf8 | Meaning::Ip6 => Value::Unsigned(value),
        Meaning::Hex => Value::Hex(value),
        Meaning::Bool => Value::Bool(value != 0),
        Meaning::Character => {
            let character = u32::try_from(value).ok().and_then(char::from_u32);
            Value::Text(character.unwrap_or(char::REPLACEMENT_CHARACTER).to_string().into())
        }
        Meaning::FileTime => Value::FileTime(value.cast_signed()),
        Meaning::Port if bytes == 2 => Value::Unsigned(u64::from((value as u16).swap_bytes())),
        Meaning::Port => Value::Unsigned(value),
        Meaning::Ip4 => Value::Ip(Ipv4Addr::from((value as u32).to_le_bytes()).into()),
    }
}

fn bytes_value<'a>(field: &Field, bytes: &'a [u8]) -> Value<'a> {
    match (field.meaning, bytes.len()) {
        (Meaning::Ip6, 16) => {
            let mut octets = [0; 16];
            octets.copy_from_slice(bytes);
            Value::Ip(Ipv6Addr::from(octets).into())
        }
        (Meaning::Ip4, 4) => Value::Ip(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into()),
        (Meaning::SocketAddress, _) => socket(bytes),
        (Meaning::Utf8, _) => Value::Text(AnsiStr::until_nul(bytes).to_text()),
        _ => Value::Bytes(bytes),
    }
}

/// Address and port of a Windows socket address: family (2 IPv4, 23 IPv6), port in network order, address.
#[must_use]
pub fn socket_address(bytes: &[u8]) -> Option<(IpAddr, u16)> {
    let port = u16_at(bytes, 2).unwrap_or(0).swap_bytes();
    let address = match u16_at(bytes, 0)? {
        2 => IpAddr::from(*bytes.get(4..)?.first_chunk::<4>()?),
        23 => IpAddr::from(*bytes.get(8..)?.first_chunk::<16>()?),
        _ => return None,
    };
    Some((address, port))
}

fn socket(bytes: &[u8]) -> Value<'_> {
    socket_address(bytes).map_or(Value::Bytes(bytes), |(address, port)| Value::Socket(address, port))
}

/// Characters in a row as one text, up to a NUL.
fn joined<'a>(characters: &[Value<'a>]) -> Value<'a> {
    let texts = characters.iter().map_while(|value| match value {
        Value::Text(text) if text != "\0" => Some(&**text),
        _ => None,
    });
    Value::Text(Cow::Owned(texts.collect()))
}
