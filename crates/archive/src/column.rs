//! What a table and a column are: name, type, unit, meaning, source event and layout on disk.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::format::TRACE_COLUMN;

/// One table of the archive.
#[derive(Debug)]
pub struct TableDefinition {
    /// Name; the file is `<name>.parquet`.
    pub name: &'static str,
    /// What one row is.
    pub meaning: &'static str,
    /// Whether the file exists even without rows.
    pub always: bool,
    /// How its rows lie in time.
    pub timing: Timing,
    /// The columns after `trace`.
    pub columns: &'static [Column],
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
    /// Name.
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
    /// How Parquet stores it.
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
}

impl ColumnType {
    /// The Arrow type.
    #[must_use]
    pub fn arrow(self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Int8 | Self::Code(_) => DataType::Int8,
            Self::Int16 => DataType::Int16,
            Self::Int32 | Self::Id => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Float64 => DataType::Float64,
            Self::Text => DataType::Utf8,
            Self::ListId => DataType::List(element(DataType::Int32)),
            Self::ListInt64 => DataType::List(element(DataType::Int64)),
        }
    }

    /// Whether a value is a list.
    #[must_use]
    pub fn is_list(self) -> bool {
        matches!(self, Self::ListId | Self::ListInt64)
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
        }
    }
}

/// The field of a list's elements, under the name that the Parquet specification prescribes.
pub(crate) fn element(data: DataType) -> Arc<Field> {
    Arc::new(Field::new("element", data, false))
}

/// How Parquet stores a column before Zstandard sees it. Chosen per column by measuring (`examples/bytes_per_row`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// The values one after the other: best where values repeat in runs and patterns that Zstandard finds.
    Plain,
    /// Numbers of distinct values, run-length and bit-packed: best for few distinct values.
    Dictionary,
    /// Differences to the value before, bit-packed: best for values that grow steadily.
    Delta,
    /// First bytes of all values, then second bytes, and so on: best where high bytes are alike and low bytes are not.
    ByteStreamSplit,
}

impl TableDefinition {
    /// The Arrow schema of the file, `trace` first. `trace` is dictionary-encoded, as it never changes.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let trace = Field::new(TRACE_COLUMN, dictionary, false);
        let columns = self.columns.iter().map(|column| Field::new(column.name, column.data.arrow(), column.nullable));
        Arc::new(Schema::new(std::iter::once(trace).chain(columns).collect::<Vec<_>>()))
    }

    /// The column of that name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}
