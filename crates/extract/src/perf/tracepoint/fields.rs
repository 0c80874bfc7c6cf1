//! Fields of tracepoints. Where they stand is read from the formats in the recording, once per event: it depends on the
//! kernel.

use tracesift_perf::tracing::{EventFormat, Field, Location};
use tracesift_perf::{Endianness, Metadata};

/// A number of a tracepoint.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    field: Field,
    endian: Endianness,
    shape: Shape,
}

/// What a field is and where it stands, if it is of a little-endian machine and of a kind that nearly all of them are.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Int(usize),
    Long(usize),
    Byte(usize),
    Other,
}

impl Number {
    fn new(field: Field, endian: Endianness) -> Self {
        let is_plain = endian == Endianness::LittleEndian && !field.array && field.location == Location::Inline;
        let shape = match (field.size, field.signed) {
            (4, true) if is_plain => Shape::Int(field.offset),
            (8, true) if is_plain => Shape::Long(field.offset),
            (1, false) if is_plain => Shape::Byte(field.offset),
            _ => Shape::Other,
        };
        Self { field, endian, shape }
    }

    /// Its value, with its sign.
    #[inline]
    pub(crate) fn get(&self, raw: &[u8]) -> Option<i64> {
        match self.shape {
            Shape::Int(at) => Some(i32::from_le_bytes(*raw.get(at..)?.first_chunk()?).into()),
            Shape::Long(at) => Some(i64::from_le_bytes(*raw.get(at..)?.first_chunk()?)),
            Shape::Byte(at) => raw.get(at).map(|byte| i64::from(*byte)),
            Shape::Other => self.field.signed(raw, self.endian),
        }
    }

    /// Its value as an id; `None` for a negative one.
    #[inline]
    pub(crate) fn id(&self, raw: &[u8]) -> Option<u32> {
        u32::try_from(self.get(raw)?).ok()
    }
}

/// A text of a tracepoint.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    field: Field,
    endian: Endianness,
}

impl Text {
    /// Its bytes up to the first NUL.
    #[inline]
    pub(crate) fn get<'a>(&self, raw: &'a [u8]) -> Option<&'a [u8]> {
        self.field.text(raw, self.endian)
    }
}

/// Bytes of a tracepoint, such as those of an address.
#[derive(Clone, Debug)]
pub(crate) struct Octets {
    field: Field,
    endian: Endianness,
}

impl Octets {
    /// The bytes.
    pub(crate) fn get<'a>(&self, raw: &'a [u8]) -> Option<&'a [u8]> {
        self.field.bytes(raw, self.endian)
    }

    /// The byte order of the recording.
    pub(crate) fn endian(&self) -> Endianness {
        self.endian
    }
}

/// The arguments of a system call.
#[derive(Clone, Debug)]
pub(crate) enum Arguments {
    /// In one field.
    Array(Field, Endianness),
    /// Each in its own.
    Fields(Vec<Number>),
}

impl Arguments {
    /// Their values, 0 for those that there are not.
    #[inline]
    pub(crate) fn get(&self, raw: &[u8]) -> [u64; 6] {
        let mut values = [0; 6];
        match self {
            Self::Array(field, endian) => {
                values.iter_mut().zip(field.elements(raw, *endian)).for_each(|(to, value)| *to = value);
            }
            Self::Fields(fields) => {
                for (to, field) in values.iter_mut().zip(fields) {
                    *to = field.get(raw).unwrap_or(0).cast_unsigned();
                }
            }
        }
        values
    }
}

/// Reads fields of one format.
pub(crate) struct Fields<'a> {
    format: &'a EventFormat,
    endian: Endianness,
}

impl<'a> Fields<'a> {
    /// Those of a recording's event; `None` where it is no tracepoint or its format is missing.
    pub(crate) fn of(metadata: &'a Metadata, event: usize) -> Option<Self> {
        let attr = &metadata.events.get(event)?.attr;
        let format = metadata.tracing.as_ref()?.by_id(attr.config).filter(|_| attr.is_tracepoint())?;
        Some(Self { format, endian: metadata.endian })
    }

    pub(crate) fn number(&self, name: &str) -> Option<Number> {
        let field = self.format.field(name)?.clone();
        Some(Number::new(field, self.endian))
    }

    /// The arguments of a system call: `args`, or the fields behind the number.
    pub(crate) fn arguments(&self) -> Arguments {
        if let Some(field) = self.format.field("args") {
            return Arguments::Array(field.clone(), self.endian);
        }
        let all = self.format.fields.iter();
        let behind = all.skip_while(|field| !matches!(field.name.as_str(), "__syscall_nr" | "nr")).skip(1).take(6);
        Arguments::Fields(behind.map(|field| Number::new(field.clone(), self.endian)).collect())
    }

    /// What names the values of fields in the text that the kernel prints.
    pub(crate) fn print_format(&self) -> &str {
        &self.format.print_format
    }

    pub(crate) fn octets(&self, name: &str) -> Option<Octets> {
        let field = self.format.field(name)?.clone();
        Some(Octets { field, endian: self.endian })
    }

    pub(crate) fn text(&self, name: &str) -> Option<Text> {
        let field = self.format.field(name)?.clone();
        Some(Text { field, endian: self.endian })
    }
}
