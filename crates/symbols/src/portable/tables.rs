//! The tables of debugging metadata, and how wide their columns are (ECMA-335 II.24.2.6).

use super::metadata::{Cursor, Metadata, malformed};
use crate::error::Error;
use crate::identity::Guid;

/// Numbers of tables.
mod table {
    pub(super) const METHOD: usize = 0x06;
    pub(super) const DOCUMENT: usize = 0x30;
    pub(super) const METHOD_DEBUG_INFORMATION: usize = 0x31;
    pub(super) const LOCAL_SCOPE: usize = 0x32;
    pub(super) const LOCAL_VARIABLE: usize = 0x33;
    pub(super) const LOCAL_CONSTANT: usize = 0x34;
    pub(super) const IMPORT_SCOPE: usize = 0x35;
    pub(super) const STATE_MACHINE_METHOD: usize = 0x36;
    pub(super) const CUSTOM_DEBUG_INFORMATION: usize = 0x37;
}

/// What custom information can be about, in the order of the tags.
const PARENTS: [usize; 27] = [
    0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20, 0x23, 0x26, 0x27, 0x28,
    0x2a, 0x2c, 0x2b, 0x30, 0x32, 0x33, 0x34, 0x35,
];
/// Bits of a tag, and the tag of the module.
const TAG_BITS: u32 = 5;
const MODULE_TAG: u32 = 7;

/// One table: where its rows begin in the file, and how wide the columns are that are read.
#[derive(Clone, Copy, Debug, Default)]
struct Rows {
    start: usize,
    count: u32,
    size: usize,
}

impl Rows {
    /// A row by its number, from 1.
    fn row<'a>(&self, bytes: &'a [u8], number: u32) -> Option<Cursor<'a>> {
        if number > self.count {
            return None;
        }
        let before = usize::try_from(number.checked_sub(1)?).ok()?.checked_mul(self.size)?;
        bytes.get(self.start.checked_add(before)?..)?.get(..self.size).map(Cursor)
    }
}

/// The tables that lead from a method to its lines.
#[derive(Debug)]
pub(super) struct Tables {
    documents: Rows,
    methods: Rows,
    custom: Rows,
    widths: Widths,
}

/// Widths of references, bytes.
#[derive(Clone, Copy, Debug)]
struct Widths {
    string: usize,
    guid: usize,
    blob: usize,
    document: usize,
    parent: usize,
}

impl Tables {
    pub(super) fn read(bytes: &[u8], metadata: &Metadata) -> Result<Self, Error> {
        let stream = bytes.get(metadata.tables.clone()).unwrap_or_default();
        Self::sized(stream, metadata.tables.start, referenced(metadata.pdb(bytes)))
            .ok_or_else(|| malformed("tables of debugging metadata"))?
            .ok_or_else(|| malformed("tables of types beside those of debugging metadata"))
    }

    /// Outer `None`: damaged. Inner: holds tables that do not belong here, behind which nothing can be found.
    fn sized(stream: &[u8], start: usize, referenced: Option<[u32; 64]>) -> Option<Option<Self>> {
        let mut counts = referenced?;
        let mut cursor = Cursor(stream);
        cursor.take(6)?;
        let heaps = cursor.u8()?;
        cursor.take(1)?;
        let present = cursor.u64()?;
        // Which tables are sorted.
        cursor.take(8)?;
        if present & ((1 << table::DOCUMENT) - 1) != 0 {
            return Some(None);
        }
        for (number, count) in counts.iter_mut().enumerate() {
            if present >> number & 1 != 0 {
                *count = cursor.u32()?;
            }
        }
        if heaps & 0x40 != 0 {
            cursor.take(4)?;
        }
        let wide = |is: bool| if is { 4 } else { 2 };
        let index = |number: usize| wide(counts[number] > 0xffff);
        let widths = Widths {
            string: wide(heaps & 1 != 0),
            guid: wide(heaps & 2 != 0),
            blob: wide(heaps & 4 != 0),
            document: index(table::DOCUMENT),
            parent: wide(PARENTS.iter().any(|number| counts[*number] >= 1 << (16 - TAG_BITS))),
        };
        let size = |number: usize| match number {
            table::DOCUMENT => 2 * widths.blob + 2 * widths.guid,
            table::METHOD_DEBUG_INFORMATION => widths.document + widths.blob,
            table::LOCAL_SCOPE => {
                index(table::METHOD)
                    + index(table::IMPORT_SCOPE)
                    + index(table::LOCAL_VARIABLE)
                    + index(table::LOCAL_CONSTANT)
                    + 8
            }
            table::LOCAL_VARIABLE => 4 + widths.string,
            table::LOCAL_CONSTANT => widths.string + widths.blob,
            table::IMPORT_SCOPE => index(table::IMPORT_SCOPE) + widths.blob,
            table::STATE_MACHINE_METHOD => 2 * index(table::METHOD),
            _ => widths.parent + widths.guid + widths.blob,
        };
        let mut next = start + (stream.len() - cursor.rest().len());
        let end = start + stream.len();
        let mut rows = |number: usize| {
            let count = if present >> number & 1 != 0 { counts[number] } else { 0 };
            let rows = Rows { start: next, count, size: size(number) };
            next = usize::try_from(count).ok()?.checked_mul(rows.size)?.checked_add(next)?;
            (next <= end).then_some(rows)
        };
        let documents = rows(table::DOCUMENT)?;
        let methods = rows(table::METHOD_DEBUG_INFORMATION)?;
        for number in table::LOCAL_SCOPE..table::CUSTOM_DEBUG_INFORMATION {
            rows(number)?;
        }
        let custom = rows(table::CUSTOM_DEBUG_INFORMATION)?;
        Some(Some(Self { documents, methods, custom, widths }))
    }

    pub(super) fn documents(&self) -> u32 {
        self.documents.count
    }

    pub(super) fn methods(&self) -> u32 {
        self.methods.count
    }

    /// Blob of a document's name.
    pub(super) fn document_name(&self, bytes: &[u8], number: u32) -> Option<u32> {
        reference(&mut self.documents.row(bytes, number)?, self.widths.blob)
    }

    /// The one document of a method, 0 for several, and the blob of its sequence points, 0 for none.
    pub(super) fn method(&self, bytes: &[u8], number: u32) -> Option<(u32, u32)> {
        let mut row = self.methods.row(bytes, number)?;
        Some((reference(&mut row, self.widths.document)?, reference(&mut row, self.widths.blob)?))
    }

    /// Blob of the module's custom information of a kind.
    pub(super) fn module_information(&self, bytes: &[u8], metadata: &Metadata, kind: Guid) -> Option<u32> {
        (1..=self.custom.count).find_map(|number| {
            let mut row = self.custom.row(bytes, number)?;
            let parent = reference(&mut row, self.widths.parent)?;
            let row_kind = reference(&mut row, self.widths.guid)?;
            let of_module = parent & ((1 << TAG_BITS) - 1) == MODULE_TAG;
            if !of_module || metadata.guid(bytes, row_kind) != Some(kind) {
                return None;
            }
            reference(&mut row, self.widths.blob)
        })
    }
}

fn reference(row: &mut Cursor<'_>, width: usize) -> Option<u32> {
    if width == 4 { row.u32() } else { row.u16().map(u32::from) }
}

/// Rows of the assembly's tables, which the widths of references to them depend on: in the stream `#Pdb` behind id and entry point.
fn referenced(mut stream: Cursor<'_>) -> Option<[u32; 64]> {
    stream.take(20 + 4)?;
    let present = stream.u64()?;
    let mut counts = [0; 64];
    for (number, count) in counts.iter_mut().enumerate() {
        if present >> number & 1 != 0 {
            *count = stream.u32()?;
        }
    }
    Some(counts)
}
