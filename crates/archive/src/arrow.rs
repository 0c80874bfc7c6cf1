//! Tables and columns in the terms of Arrow.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tracesift_trace::schema::{ColumnType, TableDefinition};

use crate::format::TRACE_COLUMN;

/// The Arrow type of a column.
#[must_use]
pub fn arrow_type(data: ColumnType) -> DataType {
    match data {
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Int8 | ColumnType::Code(_) => DataType::Int8,
        ColumnType::Int16 => DataType::Int16,
        ColumnType::Int32 | ColumnType::Id => DataType::Int32,
        ColumnType::Int64 => DataType::Int64,
        ColumnType::Float64 => DataType::Float64,
        ColumnType::Text => DataType::Utf8,
        ColumnType::ListId => DataType::List(element(DataType::Int32)),
        ColumnType::ListInt64 => DataType::List(element(DataType::Int64)),
        ColumnType::ListText => DataType::List(element(DataType::Utf8)),
    }
}

/// The Arrow schema of a table's file, `trace` first. `trace` is dictionary-encoded, as it never changes.
#[must_use]
pub fn arrow_schema(table: &TableDefinition) -> SchemaRef {
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let trace = Field::new(TRACE_COLUMN, dictionary, false);
    let columns = table.columns.iter().map(|column| Field::new(column.name, arrow_type(column.data), column.nullable));
    Arc::new(Schema::new(std::iter::once(trace).chain(columns).collect::<Vec<_>>()))
}

/// The field of a list's elements, under the name that the Parquet specification prescribes.
pub(crate) fn element(data: DataType) -> Arc<Field> {
    Arc::new(Field::new("element", data, false))
}
