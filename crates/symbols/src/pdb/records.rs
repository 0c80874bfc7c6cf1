//! Symbol records: what stands in the streams of modules, and in that of public symbols.

use crate::fields::Fields;

pub(super) const S_END: u16 = 0x0006;
pub(super) const S_INLINESITE_END: u16 = 0x114e;
pub(super) const S_PROC_ID_END: u16 = 0x114f;

/// The records that matter here. Places are sections, counted from 1, with an offset.
#[derive(Clone, Copy, Debug)]
pub(super) enum Record<'a> {
    /// A function, by its type or, where `by_id`, by its entry in the stream of ids.
    Procedure {
        length: u32,
        kind: u32,
        by_id: bool,
        offset: u32,
        section: u16,
        name: &'a [u8],
    },
    /// Compiler-made code that adjusts and jumps.
    Thunk {
        length: u32,
        offset: u32,
        section: u16,
        name: &'a [u8],
    },
    /// Part of a function that the compiler put elsewhere, since it is seldom run.
    Separated {
        length: u32,
        offset: u32,
        parent_offset: u32,
        section: u16,
        parent_section: u16,
    },
    /// A function that was inlined here.
    Inlined {
        function: u32,
        annotations: &'a [u8],
    },
    /// What opens a scope and says nothing here.
    Scope,
    End,
    Public {
        flags: u32,
        offset: u32,
        section: u16,
        name: &'a [u8],
    },
    Other,
}

/// Goes over records: each is a length, a kind, and the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Records<'a> {
    fields: Fields<'a>,
}

impl<'a> Records<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { fields: Fields::new(bytes) }
    }

    /// What comes after the last record.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.fields.rest()
    }

    /// Kind and content.
    #[inline]
    fn raw(&mut self) -> Option<(u16, &'a [u8])> {
        let length = usize::from(self.fields.u16()?);
        let kind = self.fields.u16()?;
        Some((kind, self.fields.bytes(length.checked_sub(2)?)?))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let (kind, content) = self.raw()?;
        // A record that is too short is none.
        Some(parse(kind, Fields::new(content)).unwrap_or(Record::Other))
    }
}

/// The constants are those of `cvinfo.h`.
#[inline]
fn parse<'a>(kind: u16, mut fields: Fields<'a>) -> Option<Record<'a>> {
    Some(match kind {
        // S_LPROC32, S_GPROC32 and S_LPROC32_DPC, then the same by id; before them those of C++ without a standard, with other texts.
        0x110f | 0x1110 | 0x1155 | 0x1146 | 0x1147 | 0x1156 | 0x100a | 0x100b => {
            fields.skip(12)?;
            let length = fields.u32()?;
            fields.skip(8)?;
            let (function, offset, section) = (fields.u32()?, fields.u32()?, fields.u16()?);
            fields.skip(1)?;
            let name = if kind < 0x1100 { counted(&mut fields)? } else { text(&mut fields) };
            let by_id = matches!(kind, 0x1146 | 0x1147 | 0x1156);
            Record::Procedure { length, kind: function, by_id, offset, section, name }
        }
        // S_THUNK32
        0x1102 => {
            fields.skip(12)?;
            let (offset, section, length) = (fields.u32()?, fields.u16()?, fields.u16()?);
            fields.skip(1)?;
            Record::Thunk { length: length.into(), offset, section, name: text(&mut fields) }
        }
        // S_SEPCODE
        0x1132 => {
            fields.skip(8)?;
            let length = fields.u32()?;
            fields.skip(4)?;
            let (offset, parent_offset) = (fields.u32()?, fields.u32()?);
            let (section, parent_section) = (fields.u16()?, fields.u16()?);
            Record::Separated { length, offset, parent_offset, section, parent_section }
        }
        // S_INLINESITE; S_INLINESITE2 says how often it ran, too.
        0x114d | 0x115d => {
            fields.skip(8)?;
            let function = fields.u32()?;
            if kind == 0x115d {
                fields.skip(4)?;
            }
            Record::Inlined { function, annotations: fields.rest() }
        }
        // S_BLOCK32, S_WITH32
        0x1103 | 0x1104 => Record::Scope,
        S_END | S_INLINESITE_END | S_PROC_ID_END => Record::End,
        // S_PUB32
        0x110e | 0x1009 => {
            let (flags, offset, section) = (fields.u32()?, fields.u32()?, fields.u16()?);
            let name = if kind < 0x1100 { counted(&mut fields)? } else { text(&mut fields) };
            Record::Public { flags, offset, section, name }
        }
        _ => Record::Other,
    })
}

/// A text up to its zero, or to the end of its record.
fn text<'a>(fields: &mut Fields<'a>) -> &'a [u8] {
    let rest = fields.rest();
    fields.text().unwrap_or(rest)
}

/// A text behind its length.
fn counted<'a>(fields: &mut Fields<'a>) -> Option<&'a [u8]> {
    let length = fields.array::<1>()?[0];
    fields.bytes(length.into())
}
