//! ETWAnalyzer's `-csv`: its columns under its names, so that what reads its files reads ours.
//!
//! The first line tells spreadsheets the separator, the first column has the command line in the first row only. Values hold neither
//! the separator nor quotes: `_` stands in their place. What tracesift has no figure for is empty.

mod cell;
mod layout;
mod tables;

use std::borrow::Cow;
use std::io::{self, Write};

use tracesift_ask::answer::{Answer, Kind, Value};

use cell::Row;
pub(crate) use layout::Layout;
use tables::CsvColumn;

use super::verbs::Command;

/// Whether `-csv` writes a file of ETWAnalyzer's columns.
pub(super) fn is_of(command: Command) -> bool {
    tables::QUESTIONS.iter().any(|question| command.is_question(question))
}

/// An answer in ETWAnalyzer's columns.
pub(crate) struct Table<'a> {
    answer: Cow<'a, Answer>,
    layout: &'a Layout,
    columns: &'static [CsvColumn],
}

impl<'a> Table<'a> {
    /// That of an answer; `None`: ETWAnalyzer has no such file of this question.
    pub(crate) fn of(answer: &'a Answer, layout: &'a Layout) -> Option<Self> {
        let answer = with_single_rows(answer);
        let columns = tables::of(&answer)?;
        Some(Self { answer, layout, columns })
    }

    /// Writes the file, and tells how many rows it has.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<usize> {
        let Self { answer, layout, columns } = self;
        if layout.separator_line {
            out.write_all(b"sep = ;\r\n")?;
        }
        line(out, columns.iter().map(|column| layout.name(column.name)))?;
        let idle = answer.columns.iter().position(|column| column.key == "idle");
        // The command line stands in the first row only.
        let mut options = Some(layout.options.as_str());
        let mut rows = 0;
        for section in &answer.sections {
            for values in &section.rows {
                // There the idle loop is no row.
                if idle.and_then(|at| values.get(at)) == Some(&Value::Bool(true)) {
                    continue;
                }
                rows += 1;
                let row = Row { columns: &answer.columns, values, zero: section.zero, layout };
                line(out, columns.iter().map(|column| row.cell(column.source, &mut options)))?;
            }
        }
        out.flush()?;
        Ok(rows)
    }
}

/// The single rows below the rows of an answer in their place, each with the columns that name its file.
fn with_single_rows(answer: &Answer) -> Cow<'_, Answer> {
    let place = answer.columns.iter().position(|column| column.kind == Kind::Table && column.key == "rows");
    let tables = |place: usize| {
        let rows = answer.rows();
        rows.filter_map(move |row| if let Some(Value::Table(table)) = row.get(place) { Some(table) } else { None })
    };
    let Some((place, first)) = place.and_then(|place| Some((place, tables(place).next()?))) else {
        return Cow::Borrowed(answer);
    };
    let of_file = answer.columns.iter().take_while(|column| FILE.contains(&column.key)).count();
    let mut exploded = answer.clone();
    exploded.columns.truncate(of_file);
    exploded.columns.extend(&first.columns);
    for section in &mut exploded.sections {
        let with_file = |row: &Vec<Value>| match row.get(place) {
            Some(Value::Table(table)) => {
                let file = row.get(..of_file).unwrap_or_default();
                table.rows.iter().map(|single| [file, single].concat()).collect()
            }
            _ => Vec::new(),
        };
        section.rows = section.rows.iter().flat_map(with_file).collect();
    }
    Cow::Owned(exploded)
}

/// The columns that name a file, in front of all others.
const FILE: &[&str] = &["file", "test", "test_ms", "machine", "date"];

fn line(out: &mut dyn Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    for (index, text) in cells.enumerate() {
        if index > 0 {
            out.write_all(b";")?;
        }
        out.write_all(escaped(&text).as_bytes())?;
    }
    out.write_all(b"\r\n")
}

/// `;` and `"` become `_`; what has several lines is quoted.
fn escaped(text: &str) -> String {
    let text = text.replace([';', '"'], "_");
    if text.contains(['\n', '\r']) { format!("\"{text}\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn separators_quotes_and_line_breaks() {
        assert_eq!(escaped("a;b \"c\", d"), "a_b _c_, d");
        assert_eq!(escaped("first\nsecond;"), "\"first\nsecond_\"");
        assert_eq!(escaped(""), "");
    }
}
