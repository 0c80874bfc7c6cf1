//! Columns in the making: how values are collected until a batch is full.

use std::ops::Range;
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
pub trait Collected: Default + Send {
    /// Appends the first `rows` values of the block.
    fn end_block(&mut self, rows: usize);
    /// Writes the values of some rows of another column, whose blocks have been ended, to the block, from `place` on.
    /// They fit.
    fn fill(&mut self, place: usize, from: &Self, rows: Range<usize>);
    /// Appends rows of another column, whose blocks have been ended, as if each had been pushed: the first is the
    /// `place`th of its block, and each full block is ended. `then` may change what a block got, at these places of it.
    fn extend(&mut self, place: usize, from: &Self, rows: Range<usize>, then: impl Fn(&mut Self, Range<usize>)) {
        let (mut place, mut next) = (place % BLOCK, rows.start);
        while next < rows.end {
            let count = (rows.end - next).min(BLOCK - place);
            self.fill(place, from, next..next + count);
            then(self, place..place + count);
            next += count;
            place += count;
            if place == BLOCK {
                self.end_block(BLOCK);
                place = 0;
            }
        }
    }
    /// Forgets all values and, but for texts, keeps their room.
    fn clear(&mut self);
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

    /// Changes values of the block; those for which there is no other one stay.
    pub(crate) fn settle(&mut self, places: Range<usize>, settled: impl Fn(A::Native) -> Option<A::Native>) {
        for value in self.block.get_mut(places).unwrap_or_default() {
            *value = settled(*value).unwrap_or(*value);
        }
    }
}

impl<A: ArrowPrimitiveType> Collected for Values<A> {
    fn end_block(&mut self, rows: usize) {
        self.values.extend_from_slice(self.block.get(..rows).unwrap_or(&self.block));
    }

    fn fill(&mut self, place: usize, from: &Self, rows: Range<usize>) {
        if let Some((block, values)) = self.block.get_mut(place..place + rows.len()).zip(from.values.get(rows)) {
            block.copy_from_slice(values);
        }
    }

    fn clear(&mut self) {
        self.values.clear();
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

    /// Which of these rows are there, at most [`BLOCK`] of them: the lowest bit is the first. Their blocks have been
    /// ended.
    fn bits(&self, rows: &Range<usize>) -> u64 {
        let (word, shift) = (rows.start / BLOCK, rows.start % BLOCK);
        let at = |word: usize| self.full.get(word).map_or(0, |bits| u64::from_le(*bits));
        // Nothing of the next word where the rows begin with a word: 64 places are too many for one shift.
        let bits = at(word) >> shift | (at(word + 1) << 1) << (BLOCK - 1 - shift);
        if rows.len() < BLOCK { bits & !(u64::MAX << rows.len()) } else { bits }
    }

    /// As if the rows, all of which fit into the block, had been set one by one.
    fn fill(&mut self, place: usize, from: &Self, rows: &Range<usize>) {
        self.block |= from.bits(rows) << place;
    }

    fn clear(&mut self) {
        self.full.clear();
        (self.block, self.length) = (0, 0);
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

    /// Changes values of the block; those for which there is no other one become null.
    pub(crate) fn settle(&mut self, places: Range<usize>, settled: impl Fn(A::Native) -> Option<A::Native>) {
        for (place, value) in self.block.iter_mut().enumerate().take(places.end).skip(places.start) {
            let other = settled(*value).filter(|_| self.valid.block >> place & 1 == 1);
            *value = other.unwrap_or_default();
            self.valid.block &= !(u64::from(other.is_none()) << place);
        }
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

    fn fill(&mut self, place: usize, from: &Self, rows: Range<usize>) {
        self.valid.fill(place, &from.valid, &rows);
        let Some(block) = self.block.get_mut(place..place + rows.len()) else { return };
        match from.values.get(rows) {
            Some(values) => block.copy_from_slice(values),
            // All rows of the other column are null.
            None => block.fill(A::Native::default()),
        }
    }

    fn clear(&mut self) {
        self.nulls = 0;
        self.values.clear();
        self.valid.clear();
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

    fn fill(&mut self, _: usize, from: &Self, rows: Range<usize>) {
        self.extend_from_slice(from.get(rows).unwrap_or_default());
    }

    fn clear(&mut self) {
        Self::clear(self);
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(BooleanArray::from(std::mem::take(self)))
    }
}

/// Whether a row of a builder is there.
fn is_there(validity: Option<&[u8]>, row: usize) -> bool {
    validity.is_none_or(|bits| bits.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1))
}

/// What a row of a builder has of all elements or bytes.
fn span(offsets: &[i32], row: usize) -> Option<Range<usize>> {
    Some(usize::try_from(*offsets.get(row)?).ok()?..usize::try_from(*offsets.get(row + 1)?).ok()?)
}

/// The text of a row of a builder.
fn text_at(texts: &StringBuilder, row: usize) -> Option<&str> {
    let span = span(texts.offsets_slice(), row).filter(|_| is_there(texts.validity_slice(), row))?;
    std::str::from_utf8(texts.values_slice().get(span)?).ok()
}

impl Collected for StringBuilder {
    fn end_block(&mut self, _: usize) {}

    fn fill(&mut self, _: usize, from: &Self, rows: Range<usize>) {
        rows.for_each(|row| self.append_option(text_at(from, row)));
    }

    fn clear(&mut self) {
        *self = Self::new();
    }

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

    fn fill(&mut self, place: usize, from: &Self, rows: Range<usize>) {
        self.valid.fill(place, &from.valid, &rows);
        let ends = from.ends.get(rows.start..=rows.end).unwrap_or_default();
        let Some((first, ends)) = ends.split_first() else { return };
        // As with a push, more than 2^31 elements do not get here.
        let base = i32::try_from(self.elements.len()).unwrap_or(i32::MAX);
        let index = |end: &i32| usize::try_from(*end).unwrap_or_default();
        let elements = from.elements.get(index(first)..index(ends.last().unwrap_or(first)));
        self.elements.extend_from_slice(elements.unwrap_or_default());
        self.ends.extend(ends.iter().map(|end| base.saturating_add(end - first)));
    }

    fn clear(&mut self) {
        self.elements.clear();
        self.ends.truncate(1);
        self.valid.clear();
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

    fn fill(&mut self, _: usize, from: &Self, rows: Range<usize>) {
        for row in rows {
            let texts = span(from.0.offsets_slice(), row).unwrap_or_default();
            let texts = texts.filter_map(|text| text_at(from.0.values_ref(), text));
            texts.for_each(|text| self.0.values().append_value(text));
            self.0.append(is_there(from.0.validity_slice(), row));
        }
    }

    fn clear(&mut self) {
        *self = Self::default();
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}
