//! Goes through a payload field by field: texts, bytes, and the lengths and counts that stand in other fields.

use super::decode::Reason;
use super::layout::{Extent, Field, Layout, Length, Meaning};
use crate::payload::{AnsiStr, Reader, WideStr};

/// What errors call the place of a value.
pub(super) const FIELD: &str = "field";

/// A place in a payload; `'l` is the life of the layout, `'a` that of the payload.
pub(super) struct Cursor<'l, 'a> {
    pub(super) layout: &'l Layout,
    pub(super) reader: Reader<'a>,
    /// Last value of each field that is an integer: lengths and counts.
    pub(super) numbers: Vec<Option<u64>>,
}

impl<'l, 'a> Cursor<'l, 'a> {
    /// The start of a payload. `numbers` is memory to use again.
    pub(super) fn new(layout: &'l Layout, payload: &'a [u8], pointer_size: u8, mut numbers: Vec<Option<u64>>) -> Self {
        numbers.clear();
        numbers.resize(layout.fields.len(), None);
        Self { layout, reader: Reader::new(payload, pointer_size), numbers }
    }

    /// A signed integer of so many bytes.
    pub(super) fn signed(&mut self, bytes: u8) -> Result<i64, Reason> {
        Ok(match bytes {
            1 => i64::from(self.reader.i8(FIELD)?),
            2 => i64::from(self.reader.u16(FIELD)?.cast_signed()),
            4 => i64::from(self.reader.i32(FIELD)?),
            _ => self.reader.i64(FIELD)?,
        })
    }

    /// An unsigned integer of so many bytes.
    pub(super) fn unsigned(&mut self, bytes: u8) -> Result<u64, Reason> {
        Ok(match bytes {
            1 => u64::from(self.reader.u8(FIELD)?),
            2 => u64::from(self.reader.u16(FIELD)?),
            4 => u64::from(self.reader.u32(FIELD)?),
            _ => self.reader.u64(FIELD)?,
        })
    }

    /// A text of UTF-16.
    pub(super) fn wide(&mut self, field: &Field, extent: Extent) -> Result<WideStr<'a>, Reason> {
        Ok(match (extent, self.length(field)?) {
            (Extent::Terminated, None) => self.reader.wide(FIELD)?,
            (Extent::Terminated, Some(units)) => self.reader.fixed_wide(units, FIELD)?,
            (extent, _) => WideStr::until_nul(self.extent(extent)?),
        })
    }

    /// A text of bytes.
    pub(super) fn narrow(&mut self, field: &Field, extent: Extent) -> Result<AnsiStr<'a>, Reason> {
        Ok(match (extent, self.length(field)?) {
            (Extent::Terminated, None) => self.reader.ansi(FIELD)?,
            (Extent::Terminated, Some(length)) => AnsiStr::until_nul(self.reader.bytes(length, FIELD)?),
            (extent, _) => AnsiStr::until_nul(self.extent(extent)?),
        })
    }

    pub(super) fn bytes(&mut self, field: &Field, extent: Extent) -> Result<&'a [u8], Reason> {
        Ok(match (extent, self.length(field)?) {
            (_, Some(length)) => self.reader.bytes(length, FIELD)?,
            (Extent::Terminated, None) if field.meaning == Meaning::Ip6 => self.reader.bytes(16, FIELD)?,
            (extent, None) => self.extent(extent)?,
        })
    }

    fn extent(&mut self, extent: Extent) -> Result<&'a [u8], Reason> {
        const WHAT: &str = "length";
        let length = match extent {
            Extent::Counted => usize::from(self.reader.u16(WHAT)?),
            Extent::CountedBigEndian => usize::from(self.reader.u16(WHAT)?.swap_bytes()),
            Extent::LongCounted => self.reader.u32(WHAT)? as usize,
            Extent::Terminated | Extent::Rest => self.reader.remaining(),
        };
        Ok(self.reader.bytes(length, WHAT)?)
    }

    fn length(&self, field: &Field) -> Result<Option<usize>, Reason> {
        match field.length {
            Length::None => Ok(None),
            Length::Fixed(length) => Ok(Some(usize::from(length))),
            Length::Field(at) => self.number(at).map(Some),
        }
    }

    /// The value of the integer with this index, which stands before the field that is read.
    pub(super) fn number(&self, index: usize) -> Result<usize, Reason> {
        let number = self.numbers.get(index).copied().flatten().ok_or(Reason::NoLength)?;
        Ok(usize::try_from(number).unwrap_or(usize::MAX))
    }

    pub(super) fn note(&mut self, index: usize, number: u64) {
        if let Some(place) = self.numbers.get_mut(index) {
            *place = Some(number);
        }
    }
}
