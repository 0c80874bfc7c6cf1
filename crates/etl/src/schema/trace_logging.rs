//! TraceLogging: events that bring their description along.

use super::event::{EventSchema, Origin};
use super::info;
use super::layout::{Count, Extent, Field, Group, Kind, Layout, Length, MAX_FIELDS, Meaning, Scalar};
use crate::Guid;
use crate::bytes::{u8_at, u16_at};
use crate::payload::AnsiStr;

const COUNT_FIXED: u8 = 0x20;
const COUNT_STORED: u8 = 0x40;
const CUSTOM: u8 = 0x60;
const MORE: u8 = 0x80;
const STRUCT: u8 = 24;

/// Structures inside structures: more only a forged description has.
const MAX_DEPTH: usize = 8;

/// Reads the data of a schema item. `None` when it is cut or has a type that is not known.
pub(super) fn event(provider: Guid, data: &[u8]) -> Option<EventSchema> {
    let total = usize::from(u16_at(data, 0)?);
    let mut cursor = Cursor { bytes: data.get(..total).unwrap_or(data), at: 2 };
    cursor.tags()?;
    let name = cursor.name()?;
    let mut groups: Vec<Group> = vec![Vec::new()];
    while cursor.at < cursor.bytes.len() {
        member(&mut cursor, &mut groups, 0, 0)?;
    }
    let layout = Layout::of_groups(groups);
    if layout.fields.len() > MAX_FIELDS {
        return None;
    }
    Some(EventSchema {
        provider,
        event_name: Some(name),
        layout,
        origin: Origin::TraceLogging,
        ..EventSchema::default()
    })
}

/// Reads one field into the group at `group`, and the members of a structure into a new group.
fn member(cursor: &mut Cursor<'_>, groups: &mut Vec<Group>, group: usize, depth: usize) -> Option<()> {
    let name = cursor.name()?;
    let in_byte = cursor.byte()?;
    let mut out_byte = 0;
    if in_byte & MORE != 0 {
        out_byte = cursor.byte()?;
        if out_byte & MORE != 0 {
            cursor.tags()?;
        }
    }
    let in_type = in_byte & 0x1f;
    let out_type = out_byte & 0x7f;
    let count = match in_byte & CUSTOM {
        COUNT_FIXED => Count::Fixed(cursor.word()?),
        COUNT_STORED => Count::Stored,
        _ => Count::One,
    };
    let mut custom = false;
    if in_byte & CUSTOM == CUSTOM {
        // A serialiser of the provider's own: its description is skipped, its bytes carry their length.
        let length = usize::from(cursor.word()?);
        cursor.at = cursor.at.checked_add(length)?;
        custom = true;
    }
    if in_type == STRUCT {
        if depth >= MAX_DEPTH {
            return None;
        }
        groups.push(Vec::new());
        let members = groups.len() - 1;
        for _ in 0..out_type {
            member(cursor, groups, members, depth + 1)?;
        }
        let kind = Kind::Struct { first: 0, members: 0 };
        groups.get_mut(group)?.push((Field { count, ..Field::new(&name, kind) }, Some(members)));
        return Some(());
    }
    let (scalar, meaning) =
        if custom { (Scalar::Bytes(Extent::Counted), Meaning::Plain) } else { scalar(in_type, out_type)? };
    let field = Field { count, meaning, length: Length::None, ..Field::new(&name, Kind::Scalar(scalar)) };
    groups.get_mut(group)?.push((field, None));
    Some(())
}

/// Type and meaning, in the numbering of TraceLogging's out types.
fn scalar(in_type: u8, out_type: u8) -> Option<(Scalar, Meaning)> {
    let (mut scalar, by_in_type) = match in_type {
        14 => (Scalar::Bytes(Extent::Counted), Meaning::Plain),
        _ => info::scalar(u16::from(in_type), 0)?,
    };
    let meaning = match (out_type, scalar) {
        (2, Scalar::Signed(1 | 2) | Scalar::Unsigned(1 | 2)) => Meaning::Character,
        (2, Scalar::Bytes(_)) | (35, Scalar::Bytes(_)) => Meaning::Utf8,
        (3, _) => Meaning::Bool,
        (4 | 14 | 15 | 37, Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Pointer) => Meaning::Hex,
        (7, _) => Meaning::Port,
        (8, _) => Meaning::Ip4,
        (9, _) => Meaning::Ip6,
        (10, _) => Meaning::SocketAddress,
        (16 | 33 | 38, Scalar::Signed(8) | Scalar::Unsigned(8)) => Meaning::FileTime,
        (17, Scalar::Unsigned(bytes)) => {
            scalar = Scalar::Signed(bytes);
            Meaning::Plain
        }
        (18, Scalar::Signed(bytes)) => {
            scalar = Scalar::Unsigned(bytes);
            Meaning::Plain
        }
        (17 | 18, _) => Meaning::Plain,
        _ => by_in_type,
    };
    Some((scalar, meaning))
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.at += 1;
        u8_at(self.bytes, self.at - 1)
    }

    fn word(&mut self) -> Option<u16> {
        self.at += 2;
        u16_at(self.bytes, self.at - 2)
    }

    /// Passes over tag bytes: each but the last has its upper bit set.
    fn tags(&mut self) -> Option<()> {
        while self.byte()? & 0x80 != 0 {}
        Some(())
    }

    fn name(&mut self) -> Option<Box<str>> {
        let left = self.bytes.get(self.at..)?;
        let length = left.iter().position(|byte| *byte == 0)?;
        self.at += length + 1;
        Some(AnsiStr::until_nul(left.get(..length)?).to_text().into())
    }
}
