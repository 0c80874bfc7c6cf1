//! The definition of a table and of its columns: name, type, unit, meaning, source event and the way
//! its values are stored.
//!
//! [`row!`](crate::row) makes a row type and its [`TableDefinition`] from one declaration. The archive
//! derives its Arrow schema, its Parquet layout and the reference in `docs/archive-format.md` from the
//! definition, and reads and writes the fields through [`View`]. Nothing about a single table stands
//! anywhere else.

mod column_set;
mod fields;
#[macro_use]
mod row;
#[macro_use]
mod view;

pub use column_set::ColumnSet;
pub use fields::{Field, FieldList, Fields, View};
pub use row::Row;
pub use view::{HasColumn, column_key};

/// One table of the archive.
#[derive(Debug)]
pub struct TableDefinition {
    /// Name; the file is `<name>.parquet`.
    pub name: &'static str,
    /// What one row is.
    pub meaning: &'static str,
    /// Whether the file exists even without rows.
    pub always: bool,
    /// Minor version of the format that brought the table: 3 for schema 1.3.
    pub since: u32,
    /// How its rows lie in time.
    pub timing: Timing,
    /// The columns after `trace`, in the order of the row's fields.
    pub columns: &'static [Column],
}

impl TableDefinition {
    /// The column of that name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Minor version of the format that has the table with all of its columns.
    #[must_use]
    pub const fn minor_version(&self) -> u32 {
        let mut newest = self.since;
        let mut at = 0;
        // A loop in place of an iterator: this runs in the compiler.
        while at < self.columns.len() {
            if self.columns[at].since > newest {
                newest = self.columns[at].since;
            }
            at += 1;
        }
        newest
    }
}

/// How the rows of a table lie in time, and so which of them a time range [a, b) touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// The rows have no order in time: a time range touches all of them.
    Untimed,
    /// Sorted by this column: rows with a ≤ time < b.
    At(&'static str),
    /// Rows are spans, sorted by their end: rows with start < b and end > a.
    Span {
        /// Column of the start.
        start: &'static str,
        /// Column of the end.
        end: &'static str,
    },
}

impl Timing {
    /// The columns that a time range is compared with.
    #[must_use]
    pub fn columns(self) -> Vec<&'static str> {
        match self {
            Self::Untimed => Vec::new(),
            Self::At(time) => vec![time],
            Self::Span { start, end } => vec![start, end],
        }
    }
}

/// One column.
#[derive(Debug)]
pub struct Column {
    /// Name: that of the row's field.
    pub name: &'static str,
    /// Type.
    pub data: ColumnType,
    /// Whether it can be null: the recording does not say.
    pub nullable: bool,
    /// Unit; empty where there is none.
    pub unit: &'static str,
    /// What a value means.
    pub meaning: &'static str,
    /// The event or the table that the value comes from.
    pub source: &'static str,
    /// Minor version of the format that added the column to its table; 0 for a column that the table has always had.
    pub since: u32,
    /// How its values are stored.
    pub layout: Layout,
}

/// Type of a column. All integers are signed, so that every reader of Parquet has a type for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// True or false.
    Boolean,
    /// 8 bits.
    Int8,
    /// 16 bits.
    Int16,
    /// 32 bits.
    Int32,
    /// 64 bits.
    Int64,
    /// Row id: 32 bits, never negative.
    Id,
    /// One of so many values from 0: 8 bits.
    Code(i8),
    /// Double.
    Float64,
    /// UTF-8 text.
    Text,
    /// List of row ids.
    ListId,
    /// List of 64-bit integers.
    ListInt64,
    /// List of UTF-8 texts.
    ListText,
}

impl ColumnType {
    /// Whether a value is a list.
    #[must_use]
    pub fn is_list(self) -> bool {
        matches!(self, Self::ListId | Self::ListInt64 | Self::ListText)
    }

    /// The name that the reference uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Int8 | Self::Code(_) => "int8",
            Self::Int16 => "int16",
            Self::Int32 | Self::Id => "int32",
            Self::Int64 => "int64",
            Self::Float64 => "double",
            Self::Text => "text",
            Self::ListId => "list of int32",
            Self::ListInt64 => "list of int64",
            Self::ListText => "list of text",
        }
    }
}

/// How the values of a column are stored before they are compressed. Chosen per column by measuring
/// (`examples/bytes_per_row` of the archive).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// The values one after the other: best where values repeat in runs and patterns that a compressor finds.
    Plain,
    /// Numbers of distinct values, run-length and bit-packed: best for few distinct values.
    Dictionary,
    /// Differences to the value before, bit-packed: best for values that grow steadily.
    Delta,
    /// First bytes of all values, then second bytes, and so on: best where high bytes are alike and low bytes are not.
    ByteStreamSplit,
}
