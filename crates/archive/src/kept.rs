//! Columns that stay in memory after they went to the encoder: who needs a table again at once need not read it back.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use tracesift_trace::rows::StackRow;
use tracesift_trace::schema::{ColumnSet, Row as _};
use tracesift_trace::{FrameId, StackId};

use crate::arrow::arrow_schema;
use crate::batch::Columns;
use crate::error::Error;
use crate::format::table_file;
use crate::reader::show;
use crate::stack_lists::show_stacks;
use crate::table::{Readable, table_of};

/// Columns of some tables, as the writer of an archive handed them on: no value is copied. When they are too many all of them are
/// dropped, and no more are kept.
#[derive(Debug, Default)]
pub struct KeptColumns {
    tables: Vec<KeptTable>,
    room: usize,
    overflown: bool,
}

#[derive(Debug)]
struct KeptTable {
    name: &'static str,
    /// Places of the columns in the table, and what they are.
    columns: Vec<usize>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl KeptColumns {
    /// Keeps columns of about so many bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self { room: bytes, ..Self::default() }
    }

    /// Keeps the columns of a row or view, too.
    #[must_use]
    pub fn with<V: Readable>(mut self) -> Self {
        let table = table_of::<V>();
        let all = table.columns.iter().enumerate();
        let columns: Vec<usize> =
            all.filter(|(_, column)| V::NAMES.contains(&column.name)).map(|(place, _)| place).collect();
        let schema = arrow_schema(table);
        // In the schema `trace` is first.
        let fields: Vec<_> = columns.iter().filter_map(|place| schema.fields().get(place + 1).cloned()).collect();
        let schema = Arc::new(Schema::new(fields));
        self.tables.push(KeptTable { name: table.name, columns, schema, batches: Vec::new() });
        self
    }

    /// Whether all rows are there.
    #[must_use]
    pub fn are_whole(&self) -> bool {
        !self.overflown
    }

    /// Keeps what is wanted of a batch.
    pub(crate) fn take(&mut self, batch: &Columns) {
        let wanted = self.tables.iter_mut().find(|table| table.name == batch.table.name);
        let Some(table) = wanted.filter(|_| !self.overflown) else { return };
        let columns: Vec<ArrayRef> =
            table.columns.iter().filter_map(|place| batch.columns.get(*place).map(Arc::clone)).collect();
        let bytes = columns.iter().map(|column| column.get_array_memory_size()).sum();
        // Columns of a table fit its schema.
        let kept = RecordBatch::try_new(Arc::clone(&table.schema), columns).ok();
        match kept.zip(self.room.checked_sub(bytes)) {
            Some((kept, left)) => {
                table.batches.push(kept);
                self.room = left;
            }
            None => *self = Self { overflown: true, ..Self::default() },
        }
    }

    /// Shows `visit` the rows of a table in their order; their columns must be kept.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a value that cannot be.
    pub fn scan<V: Readable>(&self, visit: impl FnMut(&V)) -> Result<(), Error> {
        show_each(self.batches(table_of::<V>().name).iter(), |rows| 0..rows, visit)
    }

    /// As [`Self::scan`], the last row first.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn scan_backwards<V: Readable>(&self, visit: impl FnMut(&V)) -> Result<(), Error> {
        show_each(self.batches(table_of::<V>().name).iter().rev(), |rows| (0..rows).rev(), visit)
    }

    /// Shows `visit` all stacks with their frames, leaf first, in the order of the table.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn scan_stacks(&self, mut visit: impl FnMut(StackId, &[FrameId])) -> Result<(), Error> {
        let mut frames = Vec::new();
        for batch in self.batches(StackRow::TABLE.name) {
            show_stacks(batch, &mut frames, &mut visit).map_err(impossible::<StackRow>)?;
        }
        Ok(())
    }

    fn batches(&self, name: &str) -> &[RecordBatch] {
        self.tables.iter().find(|table| table.name == name).map_or(&[], |table| &table.batches)
    }
}

fn show_each<'a, V: Readable, Rows: Iterator<Item = usize>>(
    batches: impl Iterator<Item = &'a RecordBatch>,
    rows: impl Fn(usize) -> Rows,
    mut visit: impl FnMut(&V),
) -> Result<(), Error> {
    let mut visit = |row: &V| {
        visit(row);
        ControlFlow::Continue(())
    };
    for batch in batches {
        let _ = show(batch, ColumnSet::ALL, rows(batch.num_rows()), &mut visit).map_err(impossible::<V>)?;
    }
    Ok(())
}

fn impossible<V: Readable>(reason: String) -> Error {
    Error::corrupt(table_file(table_of::<V>().name).as_ref(), reason)
}
