//! An answer as a Parquet file: figures as int64 or double in raw units, words as UTF-8, lists as lists, objects as maps, and lists of objects
//! as lists of structures, as deep as they are.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, MapArray, RecordBatch, StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use tracesift_ask::answer::{Kind, Table, Value};

use crate::output::flat::{Flat, columns_of, member};
use crate::output::json;

/// Rows that are made into arrays at once.
const ROWS: usize = 1 << 14;

/// Writes an answer.
pub(crate) fn write(out: &mut (dyn Write + Send), flat: &Flat<'_>) -> anyhow::Result<()> {
    let fields = flat.columns.iter().enumerate().map(|(at, (name, column))| {
        let values: Vec<&Value> = flat.rows.iter().filter_map(|row| row.get(at).copied()).collect();
        Field::new(name, data_type(column.kind, &values), true)
    });
    let schema = Arc::new(Schema::new(fields.collect::<Fields>()));
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))?;
    for rows in flat.rows.chunks(ROWS) {
        let arrays = schema.fields().iter().enumerate().map(|(at, field)| {
            let values: Vec<&Value> = rows.iter().map(|row| row.get(at).copied().unwrap_or(&Value::None)).collect();
            array(field.data_type(), &values)
        });
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), arrays.collect::<Result<_, _>>()?)?)?;
    }
    writer.close()?;
    Ok(())
}

/// The type of a column with these values. What an object has, only the values tell.
fn data_type(kind: Kind, values: &[&Value]) -> DataType {
    match kind {
        Kind::Bool => DataType::Boolean,
        Kind::Number(_) => DataType::Float64,
        Kind::Id | Kind::Count | Kind::Time | Kind::Seconds | Kind::Milliseconds | Kind::Microseconds | Kind::Bytes => {
            DataType::Int64
        }
        Kind::Text | Kind::LongText | Kind::Tree => DataType::Utf8,
        Kind::List | Kind::Below => list(DataType::Utf8),
        Kind::Integers => list(DataType::Int64),
        Kind::Map => {
            let members =
                || values.iter().filter_map(|value| if let Value::Map(members) = value { Some(members) } else { None });
            let is_whole = |value: &Value| matches!(value, Value::None | Value::Int(_));
            let is_number = |value: &Value| is_whole(value) || matches!(value, Value::Float(_));
            let all = |is: &dyn Fn(&Value) -> bool| members().flatten().all(|(_, value)| is(value));
            map(if all(&is_whole) {
                DataType::Int64
            } else if all(&is_number) {
                DataType::Float64
            } else {
                DataType::Utf8
            })
        }
        Kind::Table => {
            let tables =
                || values.iter().filter_map(|value| if let Value::Table(table) = value { Some(table) } else { None });
            let field = |column: tracesift_ask::answer::Column| {
                let values: Vec<&Value> =
                    objects(tables()).map(|(table, object)| member(table, object, column.key)).collect();
                Field::new(column.key, data_type(column.kind, &values), true)
            };
            let fields: Fields = columns_of(tables()).into_iter().map(field).collect();
            // A structure without members cannot be stored; then there is none anyway.
            if fields.is_empty() { DataType::Utf8 } else { list(DataType::Struct(fields)) }
        }
    }
}

fn list(of: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", of, true)))
}

fn map(of: DataType) -> DataType {
    let fields = Fields::from(vec![Field::new("key", DataType::Utf8, false), Field::new("value", of, true)]);
    DataType::Map(Arc::new(Field::new("entries", DataType::Struct(fields), false)), false)
}

fn objects<'a>(tables: impl Iterator<Item = &'a Table>) -> impl Iterator<Item = (&'a Table, &'a Vec<Value>)> {
    tables.flat_map(|table| table.rows.iter().map(move |object| (table, object)))
}

/// Values as an array of a type that [`data_type`] gave them.
fn array(data_type: &DataType, values: &[&Value]) -> anyhow::Result<ArrayRef> {
    Ok(match data_type {
        DataType::Boolean => Arc::new(
            values
                .iter()
                .map(|value| if let Value::Bool(value) = value { Some(*value) } else { None })
                .collect::<BooleanArray>(),
        ),
        DataType::Int64 => Arc::new(
            values
                .iter()
                .map(|value| if let Value::Int(value) = value { Some(*value) } else { None })
                .collect::<Int64Array>(),
        ),
        DataType::Float64 => Arc::new(
            values
                .iter()
                .map(|value| match value {
                    Value::Float(value) => Some(*value),
                    Value::Int(value) => Some(*value as f64),
                    _ => None,
                })
                .collect::<Float64Array>(),
        ),
        DataType::List(item) => {
            let mut inner: Vec<Value> = Vec::new();
            let of_texts = |value: &Value, inner: &mut Vec<Value>| match value {
                Value::List(texts) => inner.extend(texts.iter().map(Value::from)),
                Value::Integers(figures) => inner.extend(figures.iter().map(|figure| Value::Int(*figure))),
                _ => {}
            };
            let offsets = OffsetBuffer::from_lengths(values.iter().map(|value| length(value)));
            let items: ArrayRef = match item.data_type() {
                DataType::Struct(fields) => {
                    let tables = || {
                        values
                            .iter()
                            .filter_map(|value| if let Value::Table(table) = value { Some(table) } else { None })
                    };
                    Arc::new(structures(fields, &objects(tables()).collect::<Vec<_>>())?)
                }
                other => {
                    values.iter().for_each(|value| of_texts(value, &mut inner));
                    array(other, &inner.iter().collect::<Vec<_>>())?
                }
            };
            Arc::new(ListArray::try_new(Arc::clone(item), offsets, items, nulls(values))?)
        }
        DataType::Map(entries, is_sorted) => {
            let members = || {
                values
                    .iter()
                    .filter_map(|value| if let Value::Map(members) = value { Some(members) } else { None })
                    .flatten()
            };
            let DataType::Struct(fields) = entries.data_type() else { anyhow::bail!("a map has no entries") };
            let of = fields.last().map_or(DataType::Utf8, |field| field.data_type().clone());
            let keys: ArrayRef = Arc::new(members().map(|(key, _)| Some(key.as_str())).collect::<StringArray>());
            let of_members = array(&of, &members().map(|(_, value)| value).collect::<Vec<_>>())?;
            let pairs = StructArray::try_new(fields.clone(), vec![keys, of_members], None)?;
            let offsets = OffsetBuffer::from_lengths(values.iter().map(|value| length(value)));
            Arc::new(MapArray::try_new(Arc::clone(entries), offsets, pairs, nulls(values), *is_sorted)?)
        }
        _ => Arc::new(
            values
                .iter()
                .map(|value| match value {
                    Value::None => None,
                    Value::Text(value) => Some(value.clone()),
                    other => Some(json::text(other)),
                })
                .collect::<StringArray>(),
        ),
    })
}

fn structures(fields: &Fields, objects: &[(&Table, &Vec<Value>)]) -> anyhow::Result<StructArray> {
    let members = fields.iter().map(|field| {
        let values: Vec<&Value> = objects.iter().map(|(table, object)| member(table, object, field.name())).collect();
        array(field.data_type(), &values)
    });
    Ok(StructArray::try_new(fields.clone(), members.collect::<Result<_, _>>()?, None)?)
}

/// How many things a value holds.
fn length(value: &Value) -> usize {
    match value {
        Value::List(texts) => texts.len(),
        Value::Integers(figures) => figures.len(),
        Value::Map(members) => members.len(),
        Value::Table(table) => table.rows.len(),
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => 0,
    }
}

/// Which of the values are there.
fn nulls(values: &[&Value]) -> Option<NullBuffer> {
    Some(values.iter().map(|value| **value != Value::None).collect::<NullBuffer>())
}
