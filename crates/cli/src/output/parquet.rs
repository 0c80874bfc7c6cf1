//! An answer as a Parquet file: figures as int64 or double in raw units, words as UTF-8; lists and objects as JSON text.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use tracesift_ask::answer::{Answer, Kind, Value, View};

use crate::output::json;

/// Writes an answer.
pub(crate) fn write(out: &mut (dyn Write + Send), answer: &Answer) -> anyhow::Result<()> {
    let flat = answer.flattened();
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (index, column) in flat.columns.iter().enumerate().filter(|(_, column)| column.view != View::People) {
        let values: Vec<&Value> = flat.rows.iter().map(|row| row.get(index).unwrap_or(&Value::None)).collect();
        let array = array(column.kind, &values);
        fields.push(Field::new(column.key, array.data_type().clone(), true));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)?;
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut writer = ArrowWriter::try_new(out, schema, Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

fn array(kind: Kind, values: &[&Value]) -> ArrayRef {
    match data_type(kind) {
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
                .map(|value| if let Value::Float(value) = value { Some(*value) } else { None })
                .collect::<Float64Array>(),
        ),
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
    }
}

fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Bool => DataType::Boolean,
        Kind::Number(_) => DataType::Float64,
        Kind::Id | Kind::Count | Kind::Time | Kind::Seconds | Kind::Milliseconds | Kind::Microseconds | Kind::Bytes => {
            DataType::Int64
        }
        Kind::Text | Kind::LongText | Kind::Tree | Kind::List | Kind::Integers | Kind::Map | Kind::Table => {
            DataType::Utf8
        }
    }
}
