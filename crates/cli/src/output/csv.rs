//! CSV after RFC 4180: commas, CRLF, a header, quotes where needed; figures are raw and never depend on the locale.
//!
//! A text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, a tab or a line break) gets an
//! apostrophe in front: names in a recording come from strangers. Programs that want the bare text read JSON.

use std::io::{self, Write};

use tracesift_ask::answer::{Answer, Value, View};

/// Writes an answer.
pub(crate) fn write(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    let flat = answer.flattened();
    let shown: Vec<usize> = flat
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.view != View::People)
        .map(|(index, _)| index)
        .collect();
    let keys = shown.iter().filter_map(|&index| flat.columns.get(index)).map(|column| column.key.to_owned());
    record(out, keys)?;
    for row in &flat.rows {
        record(out, shown.iter().map(|&index| row.get(index).map(text).unwrap_or_default()))?;
    }
    Ok(())
}

/// Writes one record.
pub(crate) fn record(out: &mut dyn Write, fields: impl Iterator<Item = String>) -> io::Result<()> {
    for (index, field) in fields.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        if field.contains([',', '"', '\r', '\n']) {
            write!(out, "\"{}\"", field.replace('"', "\"\""))?;
        } else {
            out.write_all(field.as_bytes())?;
        }
    }
    out.write_all(b"\r\n")
}

fn text(value: &Value) -> String {
    match value {
        Value::None | Value::Table(_) => String::new(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) if value.is_finite() => value.to_string(),
        Value::Float(_) => String::new(),
        Value::Text(value) => inert(value.clone()),
        Value::Integers(values) => values.iter().map(i64::to_string).collect::<Vec<_>>().join("; "),
        Value::List(values) => inert(values.join("; ")),
        Value::Map(values) => {
            inert(values.iter().map(|(key, value)| format!("{key}={}", text(value))).collect::<Vec<_>>().join("; "))
        }
    }
}

/// A text that no spreadsheet takes for a formula.
pub(crate) fn inert(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let mut out = Vec::new();
        let fields = [text(&"=1+1".into()), text(&"a\"b,c".into()), text(&(-5_i64).into()), text(&Value::Float(0.1))];
        record(&mut out, fields.into_iter()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "'=1+1,\"a\"\"b,c\",-5,0.1\r\n");
    }
}
