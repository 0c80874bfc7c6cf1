//! The reference of all tables and columns, as `docs/archive-format.md` holds it.

use std::fmt::Write as _;

use crate::column::{TableDefinition, Timing};
use crate::tables::TABLES;

/// The reference in Markdown, made from the definitions.
#[must_use]
pub fn column_reference() -> String {
    let mut text = String::new();
    for table in TABLES {
        // Writing to a string cannot fail.
        let _ = table_reference(&mut text, table);
    }
    text
}

fn table_reference(text: &mut String, table: &TableDefinition) -> std::fmt::Result {
    let order = match table.timing {
        Timing::Untimed => "in no order of time".to_owned(),
        Timing::At(time) => format!("sorted by `{time}`"),
        Timing::Span { start, end } => format!("spans from `{start}` to `{end}`, sorted by `{end}`"),
    };
    let presence = if table.always { "always there" } else { "absent when it would be empty" };
    writeln!(text, "### {}\n\n{}\n\nRows {order}; {presence}.\n", table.name, table.meaning)?;
    writeln!(text, "| column | type | unit | meaning | from |\n|---|---|---|---|---|")?;
    writeln!(text, "| `trace` | text | | Id of the recording, the same in every row. | `id` in `trace.json` |")?;
    for column in table.columns {
        let nullable = if column.nullable { ", nullable" } else { "" };
        let unit = if column.unit.is_empty() { String::new() } else { format!(" {}", column.unit) };
        let (name, data) = (column.name, column.data.name());
        writeln!(text, "| `{name}` | {data}{nullable} |{unit} | {} | {} |", column.meaning, column.source)?;
    }
    writeln!(text)
}
