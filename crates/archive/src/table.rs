//! Columns of any row type: how the fields of a row are appended to columns, and read back.
//!
//! The fields of a row are a list of types ([`FieldList`]). What is implemented here for the empty list and for a list
//! with one more field holds for every table, so no table is named in this crate.

use std::marker::PhantomData;
use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};
use tracesift_trace::StackId;
use tracesift_trace::schema::{ColumnSet, FieldList, Fields, Row, TableDefinition, View};

use crate::cell::Cell;
use crate::collected::Collected;

/// A row type that is stored as a table of the archive: those of [`tracesift_trace::rows`].
pub trait Table: Row<Fields: ColumnList> {}

impl<R: Row> Table for R where R::Fields: ColumnList {}

/// A row type, or a [view](tracesift_trace::view) with some of its columns: what a table can be read as.
pub trait Readable: View<Fields: ColumnList> {}

impl<V: View> Readable for V where V::Fields: ColumnList {}

/// The table of a row or view.
pub(crate) fn table_of<V: View>() -> &'static TableDefinition {
    V::Row::TABLE
}

/// Fields whose types columns can store.
#[doc(hidden)]
pub trait ColumnList: FieldList {
    /// Collects the values of each column.
    type Builders: Default + Send;
    /// Gives the values of each column back.
    type Views;

    /// Appends the values of a row, the `place`th of its block; returns the bytes of its texts and lists, which no fixed
    /// row size accounts for.
    fn push(fields: Self::Refs<'_>, builders: &mut Self::Builders, place: usize) -> usize;

    /// Ends a block of so many rows.
    fn end_block(builders: &mut Self::Builders, rows: usize);

    /// Appends some rows of other builders, whose blocks have been ended, column by column; the first is the `place`th
    /// of its block. Each full block is ended. Ids of stacks are places in `stacks`.
    fn extend(
        builders: &mut Self::Builders,
        place: usize,
        from: &Self::Builders,
        rows: Range<usize>,
        stacks: &[Option<StackId>],
    );

    /// Forgets all values, and keeps their room.
    fn clear(builders: &mut Self::Builders);

    /// The collected columns, when all blocks have been ended; the builders are empty afterwards.
    fn finish(builders: &mut Self::Builders, columns: &mut Vec<ArrayRef>);

    /// The columns of `batch` with these names, of those whose place from `place` on is `wanted`.
    fn views(
        batch: &RecordBatch,
        names: &[&str],
        place: usize,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Result<Self::Views, String>;

    /// The values of a row; `None` when one of them cannot be.
    fn get(views: &Self::Views, row: usize) -> Option<Self>;

    /// Changes the values of another row to those of this one, but for columns that are left out; `None` as above.
    fn change(fields: Self::Mut<'_>, views: &Self::Views, row: usize) -> Option<()>;

    /// The first field whose value in this row cannot be.
    fn first_impossible(views: &Self::Views, row: usize) -> usize;
}

impl ColumnList for () {
    type Builders = ();
    type Views = ();

    #[inline]
    fn push((): (), (): &mut (), _: usize) -> usize {
        0
    }

    fn end_block((): &mut (), _: usize) {}

    fn extend((): &mut (), _: usize, (): &(), _: Range<usize>, _: &[Option<StackId>]) {}

    fn clear((): &mut ()) {}

    fn finish((): &mut (), _: &mut Vec<ArrayRef>) {}

    fn views(_: &RecordBatch, _: &[&str], _: usize, _: &dyn Fn(usize) -> bool) -> Result<(), String> {
        Ok(())
    }

    #[inline]
    fn get((): &(), _: usize) -> Option<()> {
        Some(())
    }

    #[inline]
    fn change((): (), (): &(), _: usize) -> Option<()> {
        Some(())
    }

    fn first_impossible((): &(), _: usize) -> usize {
        0
    }
}

impl<Head: Cell, Tail: ColumnList> ColumnList for (Head, Tail) {
    type Builders = (Head::Builder, Tail::Builders);
    type Views = (Option<Head::View>, Tail::Views);

    #[inline]
    fn push((head, tail): Self::Refs<'_>, builders: &mut Self::Builders, place: usize) -> usize {
        head.push(&mut builders.0, place) + Tail::push(tail, &mut builders.1, place)
    }

    #[inline]
    fn end_block(builders: &mut Self::Builders, rows: usize) {
        builders.0.end_block(rows);
        Tail::end_block(&mut builders.1, rows);
    }

    fn extend(
        builders: &mut Self::Builders,
        place: usize,
        from: &Self::Builders,
        rows: Range<usize>,
        stacks: &[Option<StackId>],
    ) {
        Head::extend(&mut builders.0, place, &from.0, rows.clone(), stacks);
        Tail::extend(&mut builders.1, place, &from.1, rows, stacks);
    }

    fn clear(builders: &mut Self::Builders) {
        builders.0.clear();
        Tail::clear(&mut builders.1);
    }

    fn finish(builders: &mut Self::Builders, columns: &mut Vec<ArrayRef>) {
        columns.push(builders.0.finish());
        Tail::finish(&mut builders.1, columns);
    }

    fn views(
        batch: &RecordBatch,
        names: &[&str],
        place: usize,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Result<Self::Views, String> {
        let name = names.get(place).ok_or("a field has no name")?;
        let head = wanted(place).then(|| Head::view(batch, name)).transpose()?;
        Ok((head, Tail::views(batch, names, place + 1, wanted)?))
    }

    #[inline]
    fn get((head, tail): &Self::Views, row: usize) -> Option<Self> {
        let head = match head {
            Some(view) => Head::get(view, row)?,
            None => Head::left_out()?,
        };
        Some((head, Tail::get(tail, row)?))
    }

    #[inline]
    fn change((value, values): Self::Mut<'_>, (head, tail): &Self::Views, row: usize) -> Option<()> {
        if let Some(view) = head {
            value.set(view, row)?;
        }
        Tail::change(values, tail, row)
    }

    fn first_impossible((head, tail): &Self::Views, row: usize) -> usize {
        match head {
            Some(view) if Head::get(view, row).is_none() => 0,
            _ => 1 + Tail::first_impossible(tail, row),
        }
    }
}

/// One column builder per column of a table.
pub(crate) struct RowBuilder<T: Table>(<Fields<T> as ColumnList>::Builders);

impl<T: Table> Default for RowBuilder<T> {
    fn default() -> Self {
        Self(<Fields<T> as ColumnList>::Builders::default())
    }
}

impl<T: Table> RowBuilder<T> {
    /// Appends a row, the `place`th of its block; returns the bytes of its texts and lists.
    #[inline]
    pub(crate) fn push(&mut self, row: &T, place: usize) -> usize {
        <Fields<T> as ColumnList>::push(row.fields(), &mut self.0, place)
    }

    /// Ends a block of so many rows.
    pub(crate) fn end_block(&mut self, rows: usize) {
        <Fields<T> as ColumnList>::end_block(&mut self.0, rows);
    }

    /// Appends some rows of another builder, whose blocks have been ended; the first is the `place`th of its block.
    /// Each full block is ended. Ids of stacks are places in `stacks`, and become what is there.
    pub(crate) fn extend(&mut self, place: usize, from: &Self, rows: Range<usize>, stacks: &[Option<StackId>]) {
        <Fields<T> as ColumnList>::extend(&mut self.0, place, &from.0, rows, stacks);
    }

    /// Forgets all rows, and keeps their room.
    pub(crate) fn clear(&mut self) {
        <Fields<T> as ColumnList>::clear(&mut self.0);
    }

    /// The columns after `trace`, when all blocks have been ended; the builder is empty afterwards.
    pub(crate) fn finish(&mut self) -> Vec<ArrayRef> {
        let mut columns = Vec::with_capacity(T::NAMES.len());
        <Fields<T> as ColumnList>::finish(&mut self.0, &mut columns);
        columns
    }
}

/// One column view per field of a row or view.
pub(crate) struct RowReader<V: Readable> {
    columns: <Fields<V> as ColumnList>::Views,
    row: PhantomData<fn() -> V>,
}

impl<V: Readable> RowReader<V> {
    /// The columns of `batch`; an error names a column that is missing or has another type.
    pub(crate) fn new(batch: &RecordBatch) -> Result<Self, String> {
        Self::of_needed(batch, ColumnSet::ALL)
    }

    /// As [`Self::new`], with these columns only; the others have their default value in every row.
    pub(crate) fn of_needed(batch: &RecordBatch, needed: ColumnSet<V>) -> Result<Self, String> {
        let columns = <Fields<V> as ColumnList>::views(batch, V::NAMES, 0, &|place| needed.has(place))?;
        Ok(Self { columns, row: PhantomData })
    }

    /// The row at `index`, which is below the number of rows of the batch; an error says which value cannot be.
    #[inline]
    pub(crate) fn row(&self, index: usize) -> Result<V, String> {
        match <Fields<V> as ColumnList>::get(&self.columns, index) {
            Some(fields) => Ok(V::from_fields(fields)),
            None => Err(self.impossible(index)),
        }
    }

    /// Makes another row of the same reader the row at `index`: columns that are left out have been left out before.
    #[inline]
    pub(crate) fn change(&self, row: &mut V, index: usize) -> Result<(), String> {
        <Fields<V> as ColumnList>::change(row.fields_mut(), &self.columns, index).ok_or_else(|| self.impossible(index))
    }

    #[cold]
    fn impossible(&self, index: usize) -> String {
        let field = <Fields<V> as ColumnList>::first_impossible(&self.columns, index);
        format!("row {index} has an impossible {}", V::NAMES.get(field).unwrap_or(&"value"))
    }
}
