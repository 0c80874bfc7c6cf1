//! JSON: an array with one object per row, or one object per line. Raw units, stable keys in a stable order; what a
//! recording does not say is `null`. Objects inside a row leave such keys out where their table is sparse.

use std::fmt;
use std::io::{self, Write};

use tracesift_ask::answer::{Answer, Column, Table, Value, View};
use tracesift_json::Writer;

/// Writes an answer as one array, one row per line.
pub(crate) fn write_array(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    let mut json = Writer::to_bytes(out);
    let mut is_empty = true;
    json.begin_array();
    for row in answer.rows() {
        is_empty = false;
        json.new_line();
        write_object(&mut json, &answer.columns, row, true);
        json.check()?;
    }
    if !is_empty {
        json.new_line();
    }
    json.end_array();
    json.end_line();
    json.check()
}

/// Writes an answer as one object per line.
pub(crate) fn write_lines(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    let mut json = Writer::to_bytes(out);
    for row in answer.rows() {
        write_object(&mut json, &answer.columns, row, true);
        json.end_line();
        json.check()?;
    }
    Ok(())
}

/// A value as JSON text.
pub(crate) fn text(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut Writer::new(&mut text), value);
    text
}

fn write_object(json: &mut Writer<impl fmt::Write>, columns: &[Column], row: &[Value], with_nulls: bool) {
    json.begin_object();
    for (column, value) in columns.iter().zip(row) {
        if column.view != View::People && (with_nulls || *value != Value::None) {
            json.key(column.key);
            write_value(json, value);
        }
    }
    json.end_object();
}

fn write_value(json: &mut Writer<impl fmt::Write>, value: &Value) {
    match value {
        Value::None => json.null(),
        Value::Bool(value) => json.value(value),
        Value::Int(value) => json.value(value),
        Value::Float(value) => json.float(*value),
        Value::Text(value) => json.text(value),
        Value::List(values) => json.texts(values.iter().map(String::as_str)),
        Value::Integers(values) => json.values(values),
        Value::Map(values) => {
            json.begin_object();
            for (key, value) in values {
                json.key(key);
                write_value(json, value);
            }
            json.end_object();
        }
        Value::Table(Table { columns, rows, is_sparse }) => {
            json.begin_array();
            for row in rows {
                write_object(json, columns, row, !is_sparse);
            }
            json.end_array();
        }
    }
}

#[cfg(test)]
mod tests {
    use tracesift_ask::answer::{Column, Kind, Table, Value, View};

    use super::text;

    #[test]
    fn only_sparse_tables_leave_out_what_is_not_known() {
        let column = |key| Column { key, title: "", kind: Kind::Text, view: View::Always, help: "" };
        let table = |is_sparse| {
            let rows = vec![vec!["B".into(), Value::None], vec!["C".into(), "disk".into()]];
            Value::Table(Table { columns: vec![column("process"), column("woken_by")], rows, is_sparse })
        };
        let last = r#"{"process":"C","woken_by":"disk"}]"#;
        assert_eq!(text(&table(false)), format!(r#"[{{"process":"B","woken_by":null}},{last}"#));
        assert_eq!(text(&table(true)), format!(r#"[{{"process":"B"}},{last}"#));
    }
}
