//! JSON: an array with one object per row, or one object per line. Raw units, stable keys in a stable order; what a
//! recording does not say is `null`. Objects inside a row leave such keys out where their table is sparse.

use std::io::{self, Write};

use serde_json::{Map, Value as Json};
use tracesift_ask::answer::{Answer, Column, Table, Value, View};

/// Writes an answer as one array, one row per line.
pub(crate) fn write_array(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    let mut rows = answer.rows().peekable();
    if rows.peek().is_none() {
        return out.write_all(b"[]\n");
    }
    out.write_all(b"[\n")?;
    while let Some(row) = rows.next() {
        serde_json::to_writer(&mut *out, &object(&answer.columns, row, true))?;
        out.write_all(if rows.peek().is_some() { b",\n" } else { b"\n" })?;
    }
    out.write_all(b"]\n")
}

/// Writes an answer as one object per line.
pub(crate) fn write_lines(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    for row in answer.rows() {
        serde_json::to_writer(&mut *out, &object(&answer.columns, row, true))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A value as JSON text.
pub(crate) fn text(value: &Value) -> String {
    json(value).to_string()
}

fn object(columns: &[Column], row: &[Value], with_nulls: bool) -> Json {
    let members = columns
        .iter()
        .zip(row)
        .filter(|(column, value)| column.view != View::People && (with_nulls || **value != Value::None))
        .map(|(column, value)| (column.key.to_owned(), json(value)));
    Json::Object(members.collect())
}

fn json(value: &Value) -> Json {
    match value {
        Value::None => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        // Not every double is a JSON number; those that are not become null.
        Value::Float(value) => (*value).into(),
        Value::Text(value) => value.as_str().into(),
        Value::List(values) => values.clone().into(),
        Value::Integers(values) => values.clone().into(),
        Value::Map(values) => {
            Json::Object(values.iter().map(|(key, value)| (key.clone(), json(value))).collect::<Map<_, _>>())
        }
        Value::Table(Table { columns, rows, is_sparse }) => {
            Json::Array(rows.iter().map(|row| object(columns, row, !is_sparse)).collect())
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
