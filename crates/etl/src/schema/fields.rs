//! Fields that code reads by their names, bound once to a layout.
//!
//! [`EventSchema::decode`] is for people: it names and formats every field. Here a row builder states the few fields that it needs
//! ([`event_fields!`](crate::event_fields)). The names are looked up once per layout, and reading an event allocates no memory.

use std::sync::Arc;

use super::cursor::{Cursor, FIELD};
use super::decode::{Decoder, Reason};
use super::event::EventSchema;
use super::layout::{Count, Field, Kind, Length, Scalar};
use crate::payload::{AnsiStr, WideStr};
use crate::{Guid, Record};

/// A field as it is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RawField<'a> {
    /// The layout has no such field, or the payload ends before it.
    #[default]
    Absent,
    /// An unsigned integer, a pointer or a truth value.
    Unsigned(u64),
    /// A signed integer, or a FILETIME.
    Signed(i64),
    /// A floating-point number.
    Double(f64),
    /// A text of UTF-16.
    Wide(WideStr<'a>),
    /// A text of bytes.
    Narrow(AnsiStr<'a>),
    /// 16 bytes.
    Guid(Guid),
    /// The bytes of a field of any other type, structures and arrays among them.
    Bytes(&'a [u8]),
}

/// A text of either kind. [`Display`](std::fmt::Display) gives its characters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldText<'a> {
    /// UTF-16.
    Wide(WideStr<'a>),
    /// Bytes.
    Narrow(AnsiStr<'a>),
}

impl std::fmt::Display for FieldText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Wide(text) => text.fmt(f),
            Self::Narrow(text) => text.fmt(f),
        }
    }
}

/// A type that a field can be read as: `None` for a field of another type.
pub trait FromField<'a>: Sized {
    /// The value of a field that is there.
    fn from_field(field: RawField<'a>) -> Option<Self>;
}

impl FromField<'_> for u64 {
    fn from_field(field: RawField<'_>) -> Option<Self> {
        match field {
            RawField::Unsigned(value) => Some(value),
            RawField::Signed(value) => Some(value.cast_unsigned()),
            _ => None,
        }
    }
}

impl FromField<'_> for i64 {
    fn from_field(field: RawField<'_>) -> Option<Self> {
        match field {
            RawField::Unsigned(value) => Some(value.cast_signed()),
            RawField::Signed(value) => Some(value),
            _ => None,
        }
    }
}

impl FromField<'_> for i32 {
    /// An integer of more bits than fit is no such field.
    fn from_field(field: RawField<'_>) -> Option<Self> {
        match field {
            RawField::Unsigned(value) => u32::try_from(value).ok().map(u32::cast_signed),
            RawField::Signed(value) => i32::try_from(value).ok(),
            _ => None,
        }
    }
}

impl FromField<'_> for f64 {
    fn from_field(field: RawField<'_>) -> Option<Self> {
        match field {
            RawField::Double(value) => Some(value),
            _ => None,
        }
    }
}

impl FromField<'_> for bool {
    fn from_field(field: RawField<'_>) -> Option<Self> {
        u64::from_field(field).map(|value| value != 0)
    }
}

impl FromField<'_> for Guid {
    fn from_field(field: RawField<'_>) -> Option<Self> {
        match field {
            RawField::Guid(guid) => Some(guid),
            _ => None,
        }
    }
}

impl<'a> FromField<'a> for FieldText<'a> {
    fn from_field(field: RawField<'a>) -> Option<Self> {
        match field {
            RawField::Wide(text) => Some(Self::Wide(text)),
            RawField::Narrow(text) => Some(Self::Narrow(text)),
            _ => None,
        }
    }
}

impl<'a> FromField<'a> for &'a [u8] {
    fn from_field(field: RawField<'a>) -> Option<Self> {
        match field {
            RawField::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// An event whose needed fields are a struct; [`event_fields!`](crate::event_fields) implements it.
pub trait EventFields {
    /// The struct, for payloads that live so long.
    type Of<'a>;
    /// Room for the fields as they are stored.
    type Raw<'a>: Default + AsMut<[RawField<'a>]>;
    /// Names of the fields, in the order of the struct.
    const NAMES: &'static [&'static str];
    /// The struct from its fields.
    ///
    /// # Errors
    /// The name of a field that has another type.
    fn of_fields<'a>(fields: &[RawField<'a>]) -> Result<Self::Of<'a>, &'static str>;
}

/// Declares the fields that code needs of an event, by their names in the layout. Each is an `Option`: versions lack fields.
///
/// ```
/// tracesift_etl::event_fields! {
///     /// Kernel-Power 111: the value of a power setting.
///     struct PowerSetting<'a> {
///         setting: tracesift_etl::Guid = "SettingGuid",
///         value: &'a [u8] = "Value",
///     }
/// }
/// ```
#[macro_export]
macro_rules! event_fields {
    (
        $(#[$doc:meta])*
        $vis:vis struct $name:ident<'a> { $($(#[$field_doc:meta])* $field:ident: $kind:ty = $stored:literal,)+ }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name<'a> {
            $($(#[$field_doc])* #[doc = concat!("Field `", $stored, "`.")] $vis $field: Option<$kind>,)+
            #[doc(hidden)]
            $vis payload: std::marker::PhantomData<&'a [u8]>,
        }

        impl $crate::schema::EventFields for $name<'_> {
            type Of<'a> = $name<'a>;
            type Raw<'a> = [$crate::schema::RawField<'a>; [$($stored),+].len()];
            const NAMES: &'static [&'static str] = &[$($stored),+];

            fn of_fields<'a>(fields: &[$crate::schema::RawField<'a>]) -> Result<$name<'a>, &'static str> {
                let mut fields = fields.iter();
                $(
                    let $field = match fields.next() {
                        None | Some($crate::schema::RawField::Absent) => None,
                        Some(field) => {
                            let value = <$kind as $crate::schema::FromField<'a>>::from_field(*field);
                            Some(value.ok_or($stored)?)
                        }
                    };
                )+
                Ok($name { $($field,)+ payload: std::marker::PhantomData })
            }
        }
    };
}

/// A layout with the places of wanted fields.
#[derive(Clone, Debug)]
pub struct BoundFields {
    schema: Arc<EventSchema>,
    /// For each field of the payload, up to the last wanted one: its place among the wanted.
    slots: Box<[Option<usize>]>,
    /// Memory that each event uses again.
    numbers: Vec<Option<u64>>,
}

impl BoundFields {
    /// Looks up the names, in any case. A name that the layout does not have is [absent](RawField::Absent) in all events.
    #[must_use]
    pub fn new(schema: Arc<EventSchema>, names: &[&str]) -> Self {
        let slot = |field: &Field| names.iter().position(|name| field.name.eq_ignore_ascii_case(name));
        let mut slots: Vec<Option<usize>> = schema.layout.fields().iter().map(slot).collect();
        slots.truncate(slots.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
        Self { numbers: Vec::new(), slots: slots.into(), schema }
    }

    /// Puts the wanted fields of an event into `fields`, in the order of the names. Fields behind the payload's end stay as they
    /// are: an older form of the event is shorter.
    ///
    /// # Errors
    /// The payload ends inside of a field, or is no such event.
    pub fn read<'a>(&mut self, record: &Record<'a>, fields: &mut [RawField<'a>]) -> Result<(), Reason> {
        self.read_payload(record.payload(), record.pointer_size(), fields)
    }

    fn read_payload<'a>(
        &mut self,
        payload: &'a [u8],
        pointer_size: u8,
        fields: &mut [RawField<'a>],
    ) -> Result<(), Reason> {
        let numbers = std::mem::take(&mut self.numbers);
        let mut cursor = Cursor::new(&self.schema.layout, payload, pointer_size, numbers);
        let read = cursor.raw_fields(&self.slots, fields);
        self.numbers = cursor.numbers;
        read
    }
}

impl Field {
    /// Whether it can take no bytes: an array, or bytes whose length stands elsewhere.
    fn may_be_empty(&self) -> bool {
        self.count != Count::One || self.length != Length::None
    }
}

impl<'a> Cursor<'_, 'a> {
    fn raw_fields(&mut self, slots: &[Option<usize>], fields: &mut [RawField<'a>]) -> Result<(), Reason> {
        for ((index, field), slot) in self.layout.fields().iter().enumerate().zip(slots) {
            if self.reader.remaining() == 0 && !field.may_be_empty() {
                break;
            }
            let value = self.raw(index, field)?;
            if let Some(place) = slot.and_then(|slot| fields.get_mut(slot)) {
                *place = value;
            }
        }
        Ok(())
    }

    /// The value of a field of the payload, as it is stored.
    fn raw(&mut self, index: usize, field: &Field) -> Result<RawField<'a>, Reason> {
        let (Count::One, Kind::Scalar(scalar)) = (field.count, field.kind) else { return self.raw_bytes(index) };
        Ok(match scalar {
            Scalar::Signed(bytes) => {
                let value = self.signed(bytes)?;
                self.note(index, value.cast_unsigned());
                RawField::Signed(value)
            }
            Scalar::Unsigned(bytes) | Scalar::Bool(bytes) => {
                let value = self.unsigned(bytes)?;
                self.note(index, value);
                RawField::Unsigned(value)
            }
            Scalar::Pointer => {
                let value = self.reader.pointer(FIELD)?;
                self.note(index, value);
                RawField::Unsigned(value)
            }
            Scalar::FileTime => RawField::Signed(self.reader.i64(FIELD)?),
            Scalar::Float => RawField::Double(f32::from_bits(self.reader.u32(FIELD)?).into()),
            Scalar::Double => RawField::Double(self.reader.f64(FIELD)?),
            Scalar::Guid => RawField::Guid(self.reader.guid(FIELD)?),
            Scalar::Wide(extent) => RawField::Wide(self.wide(field, extent)?),
            Scalar::Narrow(extent) => RawField::Narrow(self.narrow(field, extent)?),
            Scalar::Bytes(extent) => RawField::Bytes(self.bytes(field, extent)?),
            // Without the length in front of it.
            Scalar::SocketAddress => {
                let length = self.reader.u32(FIELD)?;
                RawField::Bytes(self.reader.bytes(length as usize, FIELD)?)
            }
            _ => return self.raw_bytes(index),
        })
    }

    /// The bytes of a field that has no value of its own here.
    fn raw_bytes(&mut self, index: usize) -> Result<RawField<'a>, Reason> {
        let (start, reader, numbers) = (self.reader.offset(), self.reader.clone(), std::mem::take(&mut self.numbers));
        let mut decoder = Decoder::new(Cursor { layout: self.layout, reader, numbers });
        let decoded = decoder.field(index, 0).map(drop);
        let end = decoder.cursor.reader.offset();
        self.numbers = decoder.cursor.numbers;
        decoded?;
        Ok(RawField::Bytes(self.reader.bytes(end - start, FIELD)?))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{BoundFields, EventFields as _, FieldText, RawField};
    use crate::EventClass;
    use crate::class::DNS_CLIENT;
    use crate::schema::{EventSchema, Reason, Schemas};

    event_fields! {
        /// DNS-Client 3008: a query was completed.
        struct Completed<'a> {
            status: i64 = "QueryStatus",
            name: FieldText<'a> = "queryname",
            results: FieldText<'a> = "QueryResults",
            client: i64 = "ClientPID",
        }
    }

    fn schema() -> Arc<EventSchema> {
        let class = EventClass::Event { provider: DNS_CLIENT, id: 3008, version: 0 };
        Schemas::new().of(class, false).expect("a built-in layout")
    }

    fn read<'a, const N: usize>(
        bound: &mut BoundFields,
        payload: &'a [u8],
        pointer_size: u8,
    ) -> Result<[RawField<'a>; N], Reason> {
        let mut fields = [RawField::Absent; N];
        bound.read_payload(payload, pointer_size, &mut fields)?;
        Ok(fields)
    }

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
    }

    fn payload() -> Vec<u8> {
        [
            wide("a.example"),
            28_u32.to_le_bytes().into(),
            2_u64.to_le_bytes().into(),
            9003_u32.to_le_bytes().into(),
            wide("::1;"),
        ]
        .concat()
    }

    #[test]
    fn fields_are_found_by_name_in_any_order_and_any_case() {
        let payload = payload();
        let mut bound = BoundFields::new(schema(), Completed::NAMES);
        for pointer_size in [4, 8] {
            let fields = read::<4>(&mut bound, &payload, pointer_size).unwrap();
            let event = Completed::of_fields(&fields).unwrap();
            assert_eq!((event.status, event.client), (Some(9003), None));
            assert_eq!(event.name.unwrap().to_string(), "a.example");
            assert_eq!(event.results.unwrap().to_string(), "::1;");
        }
    }

    #[test]
    fn a_payload_that_is_cut_ends_at_a_field_or_is_an_error() {
        let payload = payload();
        let mut bound = BoundFields::new(schema(), Completed::NAMES);
        let mut ends = 0;
        for length in 0..=payload.len() {
            match read::<4>(&mut bound, &payload[..length], 8) {
                Ok(fields) => {
                    let event = Completed::of_fields(&fields).unwrap();
                    ends += usize::from(event.status.is_some());
                    assert!(event.name.is_none_or(|name| "a.example".starts_with(&name.to_string())));
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        assert!(ends > 0);
    }

    #[test]
    fn a_field_of_another_type_is_named() {
        let fields = [RawField::Unsigned(0), RawField::Signed(7), RawField::Absent, RawField::Absent];
        assert_eq!(Completed::of_fields(&fields).unwrap_err(), "queryname");
    }

    #[test]
    fn the_values_are_those_that_the_decoder_shows() {
        let (schema, payload) = (schema(), payload());
        let names = schema.layout.fields().iter().map(|field| &*field.name).collect::<Vec<_>>();
        let decoded = schema.layout.decode(&payload, 8);
        for name in names {
            let mut bound = BoundFields::new(Arc::clone(&schema), &[name]);
            let [field] = read::<1>(&mut bound, &payload, 8).unwrap();
            let shown = match field {
                RawField::Unsigned(value) => value.to_string(),
                RawField::Wide(text) => text.to_string(),
                other => panic!("{name}: {other:?}"),
            };
            let value = match decoded.get(name).unwrap() {
                crate::schema::Value::Text(text) => text.to_string(),
                crate::schema::Value::Unsigned(value) | crate::schema::Value::Hex(value) => value.to_string(),
                crate::schema::Value::Named(value, _) => value.to_string(),
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!(shown, value, "{name}");
        }
    }
}
