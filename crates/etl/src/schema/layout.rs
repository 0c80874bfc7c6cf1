//! The layout of the payload of one event. Every kind of schema becomes such a layout.

use std::sync::Arc;

/// Fields that a layout may have; those of real events have dozens.
pub(super) const MAX_FIELDS: usize = 4096;

/// Fields of a payload, in the order in which they are stored.
///
/// Members of structures stand behind the fields of the payload itself and are reached through the structure's field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    pub(super) fields: Vec<Field>,
    /// The first so many of `fields` are the payload's own; the others are members of structures.
    pub(super) top: usize,
}

impl Layout {
    /// The payload's own fields, without the members of structures.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        self.fields.get(..self.top).unwrap_or(&self.fields)
    }
}

/// The fields of a payload or of a structure; a structure's field with the index of the group that holds its members.
pub(super) type Group = Vec<(Field, Option<usize>)>;

impl Layout {
    /// Puts groups one behind the other, that of the payload first. Counts and lengths name fields of their own group.
    pub(super) fn of_groups(groups: Vec<Group>) -> Self {
        let places: Vec<(usize, usize)> = groups
            .iter()
            .scan(0, |next, group| {
                let start = *next;
                *next += group.len();
                Some((start, group.len()))
            })
            .collect();
        let top = groups.first().map_or(0, Vec::len);
        let fields = groups
            .into_iter()
            .zip(&places)
            .flat_map(|(group, (start, _))| group.into_iter().map(move |(field, members)| (field, members, *start)))
            .map(|(mut field, members, start)| {
                if let Count::Field(index) = field.count {
                    field.count = Count::Field(start + index);
                }
                if let Length::Field(index) = field.length {
                    field.length = Length::Field(start + index);
                }
                if let Some((first, members)) = members.and_then(|group| places.get(group).copied()) {
                    field.kind = Kind::Struct { first, members };
                }
                field
            })
            .collect();
        Self { fields, top }
    }
}

/// One field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name; empty for bytes that only fill up and are not shown.
    pub name: Box<str>,
    /// What it is made of.
    pub kind: Kind,
    /// How often it is repeated.
    pub count: Count,
    /// Length of a text (characters) or of bytes, where the type does not say it.
    pub length: Length,
    /// What the value means.
    pub meaning: Meaning,
    /// Names of its values.
    pub map: Option<Arc<ValueMap>>,
}

/// Characters of a name that are kept. Values of an array repeat the names of their members, so that one long name could make
/// the text of a single event arbitrarily long.
const MAX_NAME: usize = 256;

pub(super) fn shortened(name: &str) -> Box<str> {
    let end = name.char_indices().nth(MAX_NAME).map_or(name.len(), |(end, _)| end);
    name.get(..end).unwrap_or_default().into()
}

impl Field {
    pub(super) fn new(name: &str, kind: Kind) -> Self {
        Self {
            name: shortened(name),
            kind,
            count: Count::One,
            length: Length::None,
            meaning: Meaning::Plain,
            map: None,
        }
    }
}

/// What a field is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A single value.
    Scalar(Scalar),
    /// So many of [`Layout`]'s fields from `first` on.
    Struct {
        /// Index of the first member.
        first: usize,
        /// Number of members.
        members: usize,
    },
}

/// Types of single values, by how they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A signed integer of 1, 2, 4 or 8 bytes.
    Signed(u8),
    /// An unsigned integer of 1, 2, 4 or 8 bytes.
    Unsigned(u8),
    /// 32-bit floating point.
    Float,
    /// 64-bit floating point.
    Double,
    /// A truth value of 1 or 4 bytes.
    Bool(u8),
    /// An unsigned integer of the record's pointer size.
    Pointer,
    /// 16 bytes.
    Guid,
    /// 100 ns since 1601, 8 bytes.
    FileTime,
    /// Eight 16-bit numbers: year, month, day of the week, day, hour, minute, second, millisecond.
    SystemTime,
    /// A security identifier.
    Sid,
    /// A security identifier behind a TOKEN_USER structure, or a zero.
    EmbeddedSid,
    /// UTF-16.
    Wide(Extent),
    /// 8-bit characters: UTF-8 where it is valid, else Latin-1.
    Narrow(Extent),
    /// Bytes.
    Bytes(Extent),
    /// A length of 4 bytes and that many bytes of a socket address.
    SocketAddress,
    /// The gap that a C compiler leaves before the next field: to a multiple of so many bytes from the payload's start on, of the
    /// record's pointer size where it is 0.
    Padding(u8),
}

/// Where a text or a sequence of bytes ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// At its NUL, or after the field's [`Length`] where it has one.
    Terminated,
    /// After as many bytes as the 16 bits before it say.
    Counted,
    /// The same, with the 16 bits in big-endian order.
    CountedBigEndian,
    /// After as many bytes as the 32 bits before it say.
    LongCounted,
    /// At the payload's end.
    Rest,
}

/// How often a field is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// It is a single one.
    One,
    /// Always so often.
    Fixed(u16),
    /// As often as the field with this index says.
    Field(usize),
    /// As often as the 16 bits before it say.
    Stored,
    /// To the payload's end.
    Rest,
}

/// Length of a text in characters, of bytes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The type says it.
    None,
    /// Always so much.
    Fixed(u16),
    /// As much as the field with this index says.
    Field(usize),
}

/// What a value means, which decides how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing beyond its type.
    Plain,
    /// Bits, an address, a handle: hexadecimal.
    Hex,
    /// Yes or no.
    Bool,
    /// A single character.
    Character,
    /// 100 ns since 1601.
    FileTime,
    /// A port number in network order.
    Port,
    /// An IPv4 address, 4 bytes.
    Ip4,
    /// An IPv6 address, 16 bytes.
    Ip6,
    /// A socket address: family, port and address.
    SocketAddress,
    /// Text in UTF-8.
    Utf8,
}

/// Names of a field's values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueMap {
    /// Name of the map itself.
    pub name: Box<str>,
    /// The values are bits that can be set together.
    pub is_bits: bool,
    /// Values and their names, by value.
    pub entries: Vec<(u64, Box<str>)>,
}

impl ValueMap {
    /// Of a map of bits only the names of single bits count: Windows looks up bit by bit.
    pub(super) fn of_recording<'n>(name: &str, is_bits: bool, entries: impl Iterator<Item = (u64, &'n str)>) -> Self {
        let mut map = Self::new(name, is_bits, entries);
        if is_bits && map.entries.iter().any(|(bits, _)| bits.count_ones() == 1) {
            map.entries.retain(|(bits, _)| bits.count_ones() <= 1);
        }
        if is_bits {
            // There are no more bits, and all are looked at for each value.
            map.entries.truncate(65);
        }
        map
    }

    /// Of a map of bits a name of several bits counts before those of its parts, so that it can name fields of a few bits.
    pub(super) fn new<'n>(name: &str, is_bits: bool, entries: impl Iterator<Item = (u64, &'n str)>) -> Self {
        let mut entries: Vec<(u64, Box<str>)> = entries.map(|(value, name)| (value, shortened(name))).collect();
        entries.sort_by_key(|(value, _)| *value);
        entries.dedup_by_key(|(value, _)| *value);
        Self { name: shortened(name), is_bits, entries }
    }

    /// The name of a value; `None` where it has none. Of bits each has its name, those without one are added in hexadecimal.
    #[must_use]
    pub fn name_of(&self, value: u64) -> Option<String> {
        if !self.is_bits || value == 0 {
            let index = self.entries.binary_search_by_key(&value, |(known, _)| *known).ok()?;
            return self.entries.get(index).map(|(_, name)| name.to_string());
        }
        let mut left = value;
        let mut text = String::new();
        let set = || self.entries.iter().filter(|(bits, _)| *bits != 0 && value & bits == *bits);
        for (bits, name) in set() {
            let is_part = set().any(|(whole, _)| whole != bits && whole & bits == *bits);
            // What other names say already needs no further name.
            if !is_part && left & bits != 0 {
                left &= !bits;
                text.push_str(if text.is_empty() { "" } else { "|" });
                text.push_str(name);
            }
        }
        if text.is_empty() {
            return None;
        }
        if left != 0 {
            text.push_str(&format!("|{left:#x}"));
        }
        Some(text)
    }
}
