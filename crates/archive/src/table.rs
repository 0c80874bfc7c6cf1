//! The one definition of a table: ties a row type to its columns, its builder and its reader.

use arrow_array::{ArrayRef, RecordBatch};

use crate::cell::Cell;
use crate::column::TableDefinition;
use crate::projection::Projection;

/// A row type that is stored as a table of the archive. Implemented by the row types of [`tracesift_trace::rows`].
pub trait Table: Sized + 'static + sealed::Sealed {
    /// Name, meaning and columns.
    const DEFINITION: &'static TableDefinition;
    #[doc(hidden)]
    type Builder: TableBuilder<Row = Self>;
    #[doc(hidden)]
    type Reader: TableReader<Row = Self>;
}

/// One column builder per column.
#[doc(hidden)]
pub trait TableBuilder: Default {
    /// The row type.
    type Row;

    /// Appends a row, the `place`th of its block; returns the bytes of its texts and lists, which no fixed row size accounts for.
    fn push(&mut self, row: &Self::Row, place: usize) -> usize;

    /// Ends a block of so many rows.
    fn end_block(&mut self, rows: usize);

    /// The columns after `trace`, when all blocks have been ended; the builder is empty afterwards.
    fn finish(&mut self) -> Vec<ArrayRef>;
}

/// One column view per column.
#[doc(hidden)]
pub trait TableReader: Sized {
    /// The row type.
    type Row: Table;

    /// The columns of `batch` that are asked for; an error names what is missing or has another type.
    fn new(batch: &RecordBatch, columns: Projection<Self::Row>) -> Result<Self, String>;

    /// The row at `index`, which is below the number of rows of the batch; an error says which value cannot be.
    fn row(&self, index: usize) -> Result<Self::Row, String>;

    /// Makes another row of the same reader the row at `index`: columns that are left out have been left out before.
    fn change(&self, row: &mut Self::Row, index: usize) -> Result<(), String>;
}

/// Keeps [`Table`] to the rows of the model.
pub(crate) mod sealed {
    /// Implemented where a table is defined.
    pub trait Sealed {}
}

/// A column of a reader: its view, or nothing when the projection leaves it out.
pub(crate) struct Projected<C: Cell>(Option<C::View>);

impl<C: Cell> Projected<C> {
    /// The column `name` of `batch`.
    pub(crate) fn new<T: Table>(batch: &RecordBatch, name: &str, columns: Projection<T>) -> Result<Self, String> {
        columns.has(name).then(|| C::view(batch, name)).transpose().map(Self)
    }

    /// The value of a row, or that of a column that is left out; `None` when the stored value cannot be a value of this
    /// type.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<C> {
        match &self.0 {
            Some(view) => C::get(view, row),
            None => C::left_out(),
        }
    }

    /// Changes the value of another row to that of this one; `None` as above.
    #[inline]
    pub(crate) fn change(&self, value: &mut C, row: usize) -> Option<()> {
        if let Some(view) = &self.0 {
            *value = C::get(view, row)?;
        }
        Some(())
    }
}

/// Defines a table: row type, file name, whether it always exists, timing and meaning; then a line per column with the
/// field's name and type, layout, unit, meaning and source. A field that has no line does not compile.
macro_rules! table {
    (
        $row:ident in $name:literal, always: $always:literal, $timing:expr, $meaning:literal;
        $( $column:ident: $cell:ty, $layout:ident, $unit:literal, $text:literal, $source:literal; )+
    ) => {
        const _: () = {
            use $crate::cell::Cell;
            use $crate::collected::Collected;

            #[derive(Default)]
            pub struct Builder {
                $( $column: <$cell as Cell>::Builder, )+
            }

            pub struct Reader {
                $( $column: $crate::table::Projected<$cell>, )+
            }

            impl $crate::table::sealed::Sealed for $row {}

            impl $crate::table::TableBuilder for Builder {
                type Row = $row;

                #[inline]
                fn push(&mut self, row: &$row, place: usize) -> usize {
                    0 $( + row.$column.push(&mut self.$column, place) )+
                }

                fn end_block(&mut self, rows: usize) {
                    $( Collected::end_block(&mut self.$column, rows); )+
                }

                fn finish(&mut self) -> Vec<::arrow_array::ArrayRef> {
                    vec![ $( Collected::finish(&mut self.$column), )+ ]
                }
            }

            impl $crate::table::TableReader for Reader {
                type Row = $row;

                fn new(
                    batch: &::arrow_array::RecordBatch,
                    columns: $crate::projection::Projection<$row>,
                ) -> Result<Self, String> {
                    Ok(Self {
                        $( $column: $crate::table::Projected::new(batch, stringify!($column), columns)?, )+
                    })
                }

                #[inline]
                fn row(&self, index: usize) -> Result<$row, String> {
                    Ok($row {
                        $( $column: self.$column.get(index)
                            .ok_or_else(|| format!("row {index} has an impossible {}", stringify!($column)))?, )+
                    })
                }

                #[inline]
                fn change(&self, row: &mut $row, index: usize) -> Result<(), String> {
                    $( self.$column.change(&mut row.$column, index)
                        .ok_or_else(|| format!("row {index} has an impossible {}", stringify!($column)))?; )+
                    Ok(())
                }
            }

            impl $crate::table::Table for $row {
                const DEFINITION: &'static $crate::column::TableDefinition = &$crate::column::TableDefinition {
                    name: $name,
                    meaning: $meaning,
                    always: $always,
                    timing: $timing,
                    columns: &[ $( $crate::column::Column {
                        name: stringify!($column),
                        data: <$cell as Cell>::DATA,
                        nullable: <$cell as Cell>::NULLABLE,
                        unit: $unit,
                        meaning: $text,
                        source: $source,
                        layout: $crate::column::Layout::$layout,
                    }, )+ ],
                };
                type Builder = Builder;
                type Reader = Reader;
            }
        };
    };
}
pub(crate) use table;
