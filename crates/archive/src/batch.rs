//! Rows on their way to the encoder: a bounded batch of columns.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_buffer::ScalarBuffer;
use arrow_schema::ArrowError;

use crate::arrow::arrow_schema;
use crate::collected::BLOCK;
use crate::row_block::RowBlock;
use crate::table::{Readable, RowBuilder, RowReader, Table};
use tracesift_trace::StackId;
use tracesift_trace::schema::TableDefinition;

/// Rows per batch: enough to amortise the hand-over to the encoder, small enough that a few of them are a few MiB.
pub(crate) const BATCH_ROWS: usize = 32 * 1024;

/// Rows per batch of a table that is written when all its rows are known: somebody waits for the encoder, who begins with the first batch.
pub(crate) const LAST_BATCH_ROWS: usize = 8 * 1024;

/// Bytes of texts and lists at which a batch is cut early.
const BATCH_BYTES: usize = 2 << 20;

/// Columns of a table, without `trace`.
pub(crate) struct Columns {
    pub(crate) table: &'static TableDefinition,
    pub(crate) columns: Vec<ArrayRef>,
    pub(crate) rows: usize,
}

/// Collects rows of one table.
pub(crate) struct Batch<T: Table> {
    builder: RowBuilder<T>,
    rows: usize,
    bytes: usize,
    /// Rows at which it is full.
    capacity: usize,
}

impl<T: Table> Default for Batch<T> {
    fn default() -> Self {
        Self::new(BATCH_ROWS)
    }
}

impl<T: Table> Batch<T> {
    /// One that is full with so many rows.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { builder: RowBuilder::default(), rows: 0, bytes: 0, capacity }
    }

    /// Appends a row; returns the batch when it is full.
    #[inline]
    pub(crate) fn push(&mut self, row: &T) -> Option<Columns> {
        self.append(row);
        self.take_full()
    }

    #[inline]
    fn take_full(&mut self) -> Option<Columns> {
        if self.rows >= self.capacity || self.bytes >= BATCH_BYTES { self.take() } else { None }
    }

    /// Appends some rows of a sealed block, with the `stacks` that their ids are places of. Hands over each batch that
    /// is full, at the same rows as if they had been pushed.
    pub(crate) fn append_block(
        &mut self,
        block: &RowBlock<T>,
        rows: Range<usize>,
        stacks: &[Option<StackId>],
        mut full: impl FnMut(Columns),
    ) {
        let Range { start: mut next, end } = block.readable(rows);
        while next < end {
            let room = self.capacity.saturating_sub(self.rows).clamp(1, end - next);
            let part = block.until_bytes(next..next + room, BATCH_BYTES.saturating_sub(self.bytes));
            next = part.end;
            self.bytes += block.bytes_of(&part);
            let place = self.rows % BLOCK;
            self.rows += part.len();
            self.builder.extend(place, block.builder(), part, stacks);
            if let Some(columns) = self.take_full() {
                full(columns);
            }
        }
    }

    #[inline]
    fn append(&mut self, row: &T) {
        let place = self.rows % BLOCK;
        self.bytes += self.builder.push(row, place);
        self.rows += 1;
        if place == BLOCK - 1 {
            self.builder.end_block(BLOCK);
        }
    }

    /// What was collected since the last full batch.
    pub(crate) fn take(&mut self) -> Option<Columns> {
        (self.rows > 0).then(|| self.columns())
    }

    fn columns(&mut self) -> Columns {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if !rows.is_multiple_of(BLOCK) {
            self.builder.end_block(rows % BLOCK);
        }
        Columns { table: T::TABLE, columns: self.builder.finish(), rows }
    }
}

impl Columns {
    /// The batch with the column `trace` in front.
    pub(crate) fn with_trace(self, trace: &TraceColumn) -> Result<RecordBatch, ArrowError> {
        let columns = std::iter::once(trace.array(self.rows)).chain(self.columns).collect();
        RecordBatch::try_new(arrow_schema(self.table), columns)
    }
}

/// The constant column `trace`: one dictionary value and as many zeros as a batch has rows.
pub(crate) struct TraceColumn {
    value: ArrayRef,
    zeros: ScalarBuffer<i32>,
}

impl TraceColumn {
    pub(crate) fn new(trace: &str) -> Self {
        Self { value: Arc::new(StringArray::from(vec![trace])), zeros: ScalarBuffer::from(vec![0; BATCH_ROWS]) }
    }

    fn array(&self, rows: usize) -> ArrayRef {
        let zeros =
            if rows <= self.zeros.len() { self.zeros.slice(0, rows) } else { ScalarBuffer::from(vec![0; rows]) };
        Arc::new(DictionaryArray::<Int32Type>::new(Int32Array::new(zeros, None), Arc::clone(&self.value)))
    }
}

/// Rows as one record batch with the schema of their table, `trace` first: for writers of other files.
///
/// # Errors
/// When the rows' lists together have more than 2^31 elements.
pub fn record_batch<'a, T: Table>(
    trace: &str,
    rows: impl IntoIterator<Item = &'a T>,
) -> Result<RecordBatch, ArrowError> {
    let mut batch = Batch::<T>::default();
    rows.into_iter().for_each(|row| batch.append(row));
    batch.columns().with_trace(&TraceColumn::new(trace))
}

/// The rows of a record batch with the columns of their table: the inverse of [`record_batch`], for readers of other files.
///
/// # Errors
/// Which column is missing or has another type, or which value cannot be.
pub fn rows_of<V: Readable>(batch: &RecordBatch) -> Result<Vec<V>, String> {
    let reader = RowReader::<V>::new(batch)?;
    (0..batch.num_rows()).map(|index| reader.row(index)).collect()
}
