//! Event metadata as the merge of a recording embeds it: `TRACE_EVENT_INFO` and `EVENT_MAP_INFO`.

use std::sync::Arc;

use super::event::{EventSchema, Origin};
use super::layout::{Count, Extent, Field, Kind, Layout, Length, MAX_FIELDS, Meaning, Scalar, ValueMap, shortened};
use crate::Guid;
use crate::bytes::{u8_at, u16_at, u32_at, utf16_at};

const PROPERTIES_AT: usize = 112;
const PROPERTY_BYTES: usize = 24;

mod flag {
    pub(super) const STRUCT: u32 = 1;
    pub(super) const LENGTH_BY_FIELD: u32 = 2;
    pub(super) const COUNT_BY_FIELD: u32 = 4;
    pub(super) const FIXED_LENGTH: u32 = 0x10;
    pub(super) const FIXED_COUNT: u32 = 0x20;
}

/// A schema of the metadata, whose maps are not looked up yet.
#[derive(Clone, Debug)]
pub(super) struct UnmappedSchema {
    pub(super) schema: EventSchema,
    /// It describes a classic event, which is known by class and opcode.
    pub(super) is_classic: bool,
    /// Index of each field that has a map, with the map's name.
    pub(super) maps: Vec<(usize, Box<str>)>,
}

impl UnmappedSchema {
    /// The schema, with the maps that `map_of` knows by name.
    pub(super) fn with_maps(mut self, map_of: impl Fn(&str) -> Option<Arc<ValueMap>>) -> EventSchema {
        for (index, name) in &self.maps {
            if let Some(field) = self.schema.layout.fields.get_mut(*index) {
                field.map = map_of(name);
            }
        }
        self.schema
    }
}

/// Reads one `TRACE_EVENT_INFO`. `None` when it is cut, or when it describes nothing that stands in a payload (WPP).
pub(super) fn event(info: &[u8]) -> Option<UnmappedSchema> {
    let text = |at: usize| text_at(info, u32_at(info, at)?);
    let id = u16_at(info, 32)?;
    let source = u32_at(info, 48)?;
    let count = u32_at(info, 100)? as usize;
    let top = u32_at(info, 104)? as usize;
    let properties = info.get(PROPERTIES_AT..)?;
    // WPP messages need files that no recording has.
    if source == 2 || count > properties.len() / PROPERTY_BYTES || count > MAX_FIELDS {
        return None;
    }
    let mut maps = Vec::new();
    let mut fields = Vec::with_capacity(count);
    for (index, property) in properties.as_chunks::<PROPERTY_BYTES>().0.iter().take(count).enumerate() {
        let (field, map) = field(info, property)?;
        fields.push(field);
        maps.extend(map.map(|map| (index, map)));
    }
    let is_classic = source == 1;
    let schema = EventSchema {
        // The classes of classic events have GUIDs of their own below that of their provider.
        provider: Guid::read(info, if is_classic { 16 } else { 0 })?,
        provider_name: text(52),
        id: if is_classic { 0 } else { id },
        version: u8_at(info, 34)?,
        opcode: u8_at(info, 37)?,
        event_name: if source == 3 { text(92) } else { None },
        task_name: text(68),
        opcode_name: text(72).map(|name| name.strip_prefix("win:").unwrap_or(&name).into()),
        keyword_names: u32_at(info, 64).map(|at| texts_at(info, at)).unwrap_or_default(),
        message: text(76),
        layout: Layout { top: top.min(fields.len()), fields },
        origin: Origin::Metadata,
    };
    Some(UnmappedSchema { schema, is_classic, maps })
}

fn field(info: &[u8], property: &[u8; PROPERTY_BYTES]) -> Option<(Field, Option<Box<str>>)> {
    let flags = u32_at(property, 0)?;
    let name = text_at(info, u32_at(property, 4)?).unwrap_or_default();
    let (first, second) = (u16_at(property, 8)?, u16_at(property, 10)?);
    let (count, length) = (u16_at(property, 16)?, u16_at(property, 18)?);
    let is_struct = flags & flag::STRUCT != 0;
    let (kind, meaning) = if is_struct {
        (Kind::Struct { first: usize::from(first), members: usize::from(second) }, Meaning::Plain)
    } else {
        let (scalar, meaning) = scalar(first, second)?;
        (Kind::Scalar(scalar), meaning)
    };
    let count = match count {
        _ if flags & flag::COUNT_BY_FIELD != 0 => Count::Field(usize::from(count)),
        count if count > 1 || flags & flag::FIXED_COUNT != 0 => Count::Fixed(count),
        _ => Count::One,
    };
    let variable = matches!(kind, Kind::Scalar(Scalar::Wide(_) | Scalar::Narrow(_) | Scalar::Bytes(_)));
    let length = match length {
        _ if flags & flag::LENGTH_BY_FIELD != 0 => Length::Field(usize::from(length)),
        length if variable && (length > 0 || flags & flag::FIXED_LENGTH != 0) => Length::Fixed(length),
        _ => Length::None,
    };
    let map = if is_struct { None } else { text_at(info, u32_at(property, 12)?).map(|name| shortened(&name)) };
    Some((Field { count, length, meaning, ..Field::new(&name, kind) }, map))
}

/// Type and meaning of an in type with an out type, in the numbering of manifests.
pub(super) fn scalar(in_type: u16, out_type: u16) -> Option<(Scalar, Meaning)> {
    let scalar = match in_type {
        1 => Scalar::Wide(Extent::Terminated),
        2 => Scalar::Narrow(Extent::Terminated),
        3 => Scalar::Signed(1),
        4 => Scalar::Unsigned(1),
        5 => Scalar::Signed(2),
        6 => Scalar::Unsigned(2),
        7 => Scalar::Signed(4),
        8 => Scalar::Unsigned(4),
        9 => Scalar::Signed(8),
        10 => Scalar::Unsigned(8),
        11 => Scalar::Float,
        12 => Scalar::Double,
        13 => Scalar::Bool(4),
        14 => Scalar::Bytes(Extent::Terminated),
        15 => Scalar::Guid,
        16 | 308 => Scalar::Pointer,
        17 => Scalar::FileTime,
        18 => Scalar::SystemTime,
        19 => Scalar::Sid,
        20 => Scalar::Unsigned(4),
        21 => Scalar::Unsigned(8),
        22 | 300 => Scalar::Wide(Extent::Counted),
        23 | 301 => Scalar::Narrow(Extent::Counted),
        25 => Scalar::Bytes(Extent::Counted),
        302 => Scalar::Wide(Extent::CountedBigEndian),
        303 => Scalar::Narrow(Extent::CountedBigEndian),
        304 => Scalar::Wide(Extent::Rest),
        305 => Scalar::Narrow(Extent::Rest),
        306 => Scalar::Unsigned(2),
        307 => Scalar::Unsigned(1),
        309 => Scalar::Bytes(Extent::LongCounted),
        310 => Scalar::EmbeddedSid,
        _ => return None,
    };
    let by_in_type = match in_type {
        16 | 20 | 21 => Meaning::Hex,
        306 | 307 => Meaning::Character,
        _ => Meaning::Plain,
    };
    let text = matches!(in_type, 3 | 4 | 5 | 6 | 306 | 307);
    let meaning = match out_type {
        1 | 300 | 301 if text => Meaning::Character,
        2 if in_type == 10 || in_type == 9 => Meaning::FileTime,
        13 => Meaning::Bool,
        16..=19 | 28 | 31 | 32 | 37 if !matches!(scalar, Scalar::Wide(_) | Scalar::Narrow(_)) => Meaning::Hex,
        22 => Meaning::Port,
        23 => Meaning::Ip4,
        24 => Meaning::Ip6,
        25 => Meaning::SocketAddress,
        35 => Meaning::Utf8,
        _ => by_in_type,
    };
    Some((scalar, meaning))
}

/// Provider and map of one map record: a GUID, then an `EVENT_MAP_INFO`. `None` when it is cut or of a kind without values.
pub(super) fn value_map(payload: &[u8]) -> Option<(Guid, ValueMap)> {
    let provider = Guid::read(payload, 0)?;
    let info = payload.get(16..)?;
    let name = text_at(info, u32_at(info, 0)?)?;
    let flags = u32_at(info, 4)?;
    let count = u32_at(info, 8)? as usize;
    // Patterns are for names that are numbers themselves.
    if flags & 3 == 0 {
        return None;
    }
    let mut entries = Vec::new();
    for entry in info.get(16..)?.as_chunks::<8>().0.iter().take(count) {
        let (name_at, value) = (u32_at(entry, 0)?, u32_at(entry, 4)?);
        entries.push((u64::from(value), text_at(info, name_at).unwrap_or_default()));
    }
    let entries = entries.iter().map(|(value, name)| (*value, &**name));
    Some((provider, ValueMap::of_recording(&name, flags & 2 != 0, entries)))
}

/// The text at an offset, without the space that message tables put behind names; `None` at offset 0 and for an empty one.
fn text_at(info: &[u8], at: u32) -> Option<Box<str>> {
    let at = usize::try_from(at).ok().filter(|at| *at != 0 && *at < info.len())?;
    let (text, _) = utf16_at(info, at);
    let text = text.trim_end();
    (!text.is_empty()).then(|| text.into())
}

/// Texts in a row up to an empty one.
fn texts_at(info: &[u8], at: u32) -> Vec<Box<str>> {
    let mut texts = Vec::new();
    let mut at = at as usize;
    while at != 0 && at < info.len() {
        let (text, next) = utf16_at(info, at);
        if text.is_empty() {
            break;
        }
        texts.push(text.trim_end().into());
        at = next;
    }
    texts
}
