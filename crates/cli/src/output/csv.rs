//! CSV after RFC 4180: commas, CRLF, a header, quotes where needed; figures are raw and never depend on the locale. Lists and objects are
//! cells with their JSON text.
//!
//! A text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, a tab or a line break) gets an
//! apostrophe in front: names in a recording come from strangers. Programs that want the bare text read JSON.

use std::io::{self, Write};

use tracesift_ask::answer::Value;

use crate::output::flat::Flat;
use crate::output::json;

/// Writes an answer.
pub(crate) fn write(out: &mut dyn Write, flat: &Flat<'_>) -> io::Result<()> {
    record(out, flat.columns.iter().map(|(name, _)| name.clone()))?;
    for row in &flat.rows {
        record(out, row.iter().map(|value| text(value)))?;
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
        Value::None => String::new(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) if value.is_finite() => value.to_string(),
        Value::Float(_) => String::new(),
        Value::Text(value) => inert(value.clone()),
        Value::List(_) | Value::Integers(_) | Value::Map(_) | Value::Table(_) => json::text(value),
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
