//! Sequence points: which line the IL of a method belongs to from an offset on.

use super::metadata::{Cursor, malformed};
use super::{DocumentId, Place};
use crate::error::Error;

/// IL offsets, lines and their differences are below this.
const LIMIT: u32 = 0x2000_0000;
/// The line of hidden code where it is spelt out; for short a point without lines and columns stands for it.
const HIDDEN_LINE: u32 = 0xfe_efee;
/// Most points of one method that are believed: generated code has some ten thousand.
const MOST_POINTS: usize = 1 << 20;

/// From this IL offset on, up to that of the next point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequencePoint {
    /// Offset in the method's IL, bytes.
    pub il_offset: u32,
    /// Where the code comes from; `None` for hidden code, which belongs to no line.
    pub place: Option<Place>,
}

/// The sequence points of a method. Ends behind the first error.
#[derive(Clone, Debug)]
pub struct SequencePoints<'a> {
    blob: Cursor<'a>,
    document: u32,
    /// IL offset of the last point.
    il_offset: Option<u32>,
    /// Line of the last point that has one.
    line: Option<u32>,
    header: Header,
    left: usize,
}

/// What stands in front of the points and was not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    /// The signature of the local variables, and the first document.
    WithDocument,
    /// The signature.
    Plain,
    Done,
}

impl<'a> SequencePoints<'a> {
    pub(super) fn new(document: u32, blob: Cursor<'a>) -> Self {
        let header = if document == 0 { Header::WithDocument } else { Header::Plain };
        Self { blob, document, il_offset: None, line: None, header, left: MOST_POINTS }
    }

    pub(super) fn none() -> Self {
        Self { header: Header::Done, ..Self::new(1, Cursor::default()) }
    }

    /// `None` where the blob is damaged, `Some(None)` at its end.
    fn read(&mut self) -> Option<Option<SequencePoint>> {
        if self.header != Header::Done {
            self.blob.compressed()?;
            if self.header == Header::WithDocument {
                self.document = self.blob.compressed()?;
            }
            self.header = Header::Done;
        }
        loop {
            if self.blob.is_empty() {
                return Some(None);
            }
            let step = self.blob.compressed()?;
            let Some(before) = self.il_offset else { return self.point(step).map(Some) };
            if step != 0 {
                return self.point(before.checked_add(step)?).map(Some);
            }
            self.document = self.blob.compressed()?;
        }
    }

    fn point(&mut self, il_offset: u32) -> Option<SequencePoint> {
        self.il_offset = Some(il_offset).filter(|offset| *offset < LIMIT);
        self.il_offset?;
        self.left = self.left.checked_sub(1)?;
        let lines = self.blob.compressed()?;
        if lines != 0 {
            self.blob.compressed_signed()?;
        } else if self.blob.compressed()? == 0 {
            return Some(SequencePoint { il_offset, place: None });
        }
        let line = match self.line {
            None => self.blob.compressed()?,
            Some(before) => before.checked_add_signed(self.blob.compressed_signed()?)?,
        };
        // The column: absolute and relative where the line is.
        if self.line.is_some() {
            self.blob.compressed_signed()?;
        } else {
            self.blob.compressed()?;
        }
        self.line = Some(line).filter(|line| *line < LIMIT);
        self.line?;
        let place = Place { document: DocumentId(self.document), line };
        Some(SequencePoint {
            il_offset,
            place: Some(place).filter(|place| place.line != HIDDEN_LINE && place.line != 0),
        })
    }
}

impl Iterator for SequencePoints<'_> {
    type Item = Result<SequencePoint, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read() {
            Some(point) => point.map(Ok),
            None => {
                *self = Self::none();
                Some(Err(malformed("sequence points")))
            }
        }
    }
}
