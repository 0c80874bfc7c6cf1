//! The reference of all tables and columns, as `docs/archive-format.md` holds it.

use std::fmt::Write as _;

use tracesift_trace::schema::{TableDefinition, Timing};

use crate::format::SCHEMA_VERSION;
use tracesift_trace::rows::TABLES;

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
        Timing::Untimed => "Rows have no order of time.".to_owned(),
        Timing::At(time) => format!("Rows are sorted by `{time}`."),
        Timing::Span { start, end } => {
            format!("A row is a span from `{start}` to `{end}`. Rows are sorted by `{end}`.")
        }
    };
    let presence =
        if table.always { "The file is *always there*." } else { "The file is absent if the table has no rows." };
    let since = match table.since {
        0 => String::new(),
        minor => format!(" The table exists from schema {}.{minor} on.", SCHEMA_VERSION[0]),
    };
    writeln!(text, "### {}\n\n{}\n\n{order} {presence}{since}\n", table.name, table.meaning)?;
    writeln!(text, "| column | type | unit | meaning | from |\n|---|---|---|---|---|")?;
    writeln!(text, "| `trace` | text | | Id of the recording, the same in every row. | `id` in `trace.json` |")?;
    for column in table.columns {
        let nullable = if column.nullable { ", nullable" } else { "" };
        let unit = if column.unit.is_empty() { String::new() } else { format!(" {}", column.unit) };
        let since = match column.since {
            0 => String::new(),
            minor => format!(" From schema {}.{minor}.", SCHEMA_VERSION[0]),
        };
        let (name, data) = (column.name, column.data.name());
        writeln!(text, "| `{name}` | {data}{nullable} |{unit} | {}{since} | {} |", column.meaning, column.source)?;
    }
    writeln!(text)
}
