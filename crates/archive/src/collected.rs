//! Columns in the making: how values are collected until a batch is full.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, ArrowPrimitiveType, BooleanArray, ListArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;

use crate::arrow::element;

/// Rows whose values are written to their places in a block, which is appended to the column as a whole: a switch has 23 values, and
/// appending each of them costs more than all that is done to find them.
pub(crate) const BLOCK: usize = 64;

/// The values of a column on their way.
pub trait Collected: Default {
    /// Appends the first `rows` values of the block.
    fn end_block(&mut self, rows: usize);
    /// The collected column; all blocks have been ended.
    fn finish(&mut self) -> ArrayRef;
}

/// The collected values. The next batch will be as long, so the place for it is taken at once and not in steps.
fn taken<T>(values: &mut Vec<T>) -> Vec<T> {
    let next = Vec::with_capacity(values.len());
    std::mem::replace(values, next)
}

/// Values of fixed size.
pub struct Values<A: ArrowPrimitiveType> {
    block: [A::Native; BLOCK],
    values: Vec<A::Native>,
}

impl<A: ArrowPrimitiveType> Default for Values<A> {
    fn default() -> Self {
        Self { block: [A::Native::default(); BLOCK], values: Vec::new() }
    }
}

impl<A: ArrowPrimitiveType> Values<A> {
    #[inline]
    pub(crate) fn push(&mut self, value: A::Native, place: usize) {
        self.block[place % BLOCK] = value;
    }
}

impl<A: ArrowPrimitiveType> Collected for Values<A> {
    fn end_block(&mut self, rows: usize) {
        self.values.extend_from_slice(self.block.get(..rows).unwrap_or(&self.block));
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(PrimitiveArray::<A>::new(ScalarBuffer::from(taken(&mut self.values)), None))
    }
}

/// Which values are there, a bit each.
#[derive(Default)]
struct Validity {
    full: Vec<u64>,
    /// Those of the block. A bit beyond its end is 0.
    block: u64,
    length: usize,
}

impl Validity {
    #[inline]
    fn set(&mut self, place: usize, valid: bool) {
        self.block |= u64::from(valid) << (place % BLOCK);
    }

    /// Appends the block. Only the last one has less than [`BLOCK`] rows.
    fn end_block(&mut self, rows: usize) {
        // Arrow counts bits from the lowest of the first byte.
        self.full.push(std::mem::take(&mut self.block).to_le());
        self.length += rows;
    }

    /// Appends blocks in which nothing is there.
    fn skip(&mut self, rows: usize) {
        self.full.resize(self.full.len() + rows / BLOCK, 0);
        self.length += rows;
    }

    /// The bits, or nothing when all values are there.
    fn finish(&mut self) -> Option<NullBuffer> {
        let length = std::mem::take(&mut self.length);
        let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from(taken(&mut self.full)), 0, length));
        (nulls.null_count() > 0).then_some(nulls)
    }
}

/// Values with a null for each one that is not there.
pub struct Nullable<A: ArrowPrimitiveType> {
    block: [A::Native; BLOCK],
    /// Nulls in the blocks before the one with the first value: many columns have nothing else, and cost no more than this.
    nulls: usize,
    values: Vec<A::Native>,
    valid: Validity,
}

impl<A: ArrowPrimitiveType> Default for Nullable<A> {
    fn default() -> Self {
        Self { block: [A::Native::default(); BLOCK], nulls: 0, values: Vec::new(), valid: Validity::default() }
    }
}

impl<A: ArrowPrimitiveType> Nullable<A> {
    #[inline]
    pub(crate) fn push(&mut self, value: Option<A::Native>, place: usize) {
        self.block[place % BLOCK] = value.unwrap_or_default();
        self.valid.set(place, value.is_some());
    }
}

impl<A: ArrowPrimitiveType> Collected for Nullable<A> {
    fn end_block(&mut self, rows: usize) {
        if self.values.is_empty() {
            if self.valid.block == 0 {
                self.nulls += rows;
                return;
            }
            let nulls = std::mem::take(&mut self.nulls);
            self.values.resize(nulls, A::Native::default());
            self.valid.skip(nulls);
        }
        self.values.extend_from_slice(self.block.get(..rows).unwrap_or(&self.block));
        self.valid.end_block(rows);
    }

    fn finish(&mut self) -> ArrayRef {
        if self.values.is_empty() {
            return Arc::new(PrimitiveArray::<A>::new_null(std::mem::take(&mut self.nulls)));
        }
        let values = ScalarBuffer::from(taken(&mut self.values));
        Arc::new(PrimitiveArray::<A>::new(values, self.valid.finish()))
    }
}

impl Collected for Vec<Option<bool>> {
    fn end_block(&mut self, _: usize) {}

    fn finish(&mut self) -> ArrayRef {
        Arc::new(BooleanArray::from(std::mem::take(self)))
    }
}

impl Collected for StringBuilder {
    fn end_block(&mut self, _: usize) {}

    fn finish(&mut self) -> ArrayRef {
        Arc::new(StringBuilder::finish(self))
    }
}

/// Lists: the elements of all rows and where each row ends.
pub struct Lists<A: ArrowPrimitiveType> {
    elements: Vec<A::Native>,
    ends: Vec<i32>,
    valid: Validity,
}

impl<A: ArrowPrimitiveType> Default for Lists<A> {
    fn default() -> Self {
        Self { elements: Vec::new(), ends: vec![0], valid: Validity::default() }
    }
}

impl<A: ArrowPrimitiveType> Lists<A> {
    /// Returns the bytes of the list.
    #[inline]
    pub(crate) fn push(&mut self, elements: Option<impl Iterator<Item = A::Native>>, place: usize) -> usize {
        self.valid.set(place, elements.is_some());
        let before = self.elements.len();
        self.elements.extend(elements.into_iter().flatten());
        // A batch is cut at a few MiB; only one list of 2^31 elements could get here, and that does not fit into memory.
        self.ends.push(i32::try_from(self.elements.len()).unwrap_or(i32::MAX));
        (self.elements.len() - before) * size_of::<A::Native>()
    }
}

impl<A: ArrowPrimitiveType> Collected for Lists<A> {
    fn end_block(&mut self, rows: usize) {
        self.valid.end_block(rows);
    }

    fn finish(&mut self) -> ArrayRef {
        let Self { elements, ends, mut valid } = std::mem::take(self);
        let elements = PrimitiveArray::<A>::new(ScalarBuffer::from(elements), None);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        Arc::new(ListArray::new(element(A::DATA_TYPE), offsets, Arc::new(elements), valid.finish()))
    }
}

/// Lists of texts.
pub struct TextLists(ListBuilder<StringBuilder>);

impl Default for TextLists {
    fn default() -> Self {
        Self(ListBuilder::new(StringBuilder::new()).with_field(element(DataType::Utf8)))
    }
}

impl TextLists {
    /// Returns the bytes of the texts.
    pub(crate) fn push(&mut self, texts: Option<&[String]>) -> usize {
        texts.unwrap_or_default().iter().for_each(|text| self.0.values().append_value(text));
        self.0.append(texts.is_some());
        texts.unwrap_or_default().iter().map(String::len).sum()
    }
}

impl Collected for TextLists {
    fn end_block(&mut self, _: usize) {}

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}
