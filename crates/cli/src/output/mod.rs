//! Answers on paper: a table for people; CSV, JSON, JSONL and Parquet for programs.

pub(crate) mod cell;
pub(crate) mod comparison;
mod comparison_changes;
pub(crate) mod comparison_github;
pub(crate) mod comparison_json;
pub(crate) mod comparison_junit;
pub(crate) mod comparison_markdown;
pub(crate) mod comparison_report;
pub(crate) mod csv;
pub(crate) mod events;
pub(crate) mod explanation;
pub(crate) mod explanation_json;
pub(crate) mod explanation_report;
mod fit;
pub(crate) mod flat;
pub(crate) mod history;
pub(crate) mod history_json;
pub(crate) mod history_report;
pub(crate) mod json;
pub(crate) mod parquet;
mod report_text;
pub(crate) mod screen;
mod side_by_side;
pub(crate) mod table;
pub(crate) mod target;
pub(crate) mod wrap;

use std::io::Write;

use tracesift_ask::answer::{Answer, Layout};

use crate::args::Format;
use crate::output::flat::Flat;
use crate::output::table::{Shortened, Style};
use crate::output::target::Target;

/// What was written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// How many rows.
    pub(crate) rows: usize,
    /// What a table had no room for.
    pub(crate) shortened: Shortened,
}

/// Writes an answer in a format to where the user wants it. `exploded` is the list whose objects are the rows of a flat format.
pub(crate) fn write(
    answer: &Answer,
    format: Format,
    exploded: Option<&str>,
    style: &Style,
    target: &Target,
) -> anyhow::Result<Written> {
    target.write(|out| write_to(out, answer, format, exploded, style))
}

/// The same to anything that takes bytes.
pub(crate) fn write_to(
    out: &mut (dyn Write + Send),
    answer: &Answer,
    format: Format,
    exploded: Option<&str>,
    style: &Style,
) -> anyhow::Result<Written> {
    let exchanged = match answer.layout {
        Layout::SideBySide { in_all_formats, .. } if in_all_formats || format == Format::Table => {
            Some(side_by_side::exchanged(answer))
        }
        _ => None,
    };
    let answer = exchanged.as_ref().unwrap_or(answer);
    let mut written = Written { rows: answer.rows().count(), ..Written::default() };
    match format {
        Format::Table => written.shortened = table::write(out, answer, style)?,
        Format::Csv | Format::Parquet => {
            let flat = Flat::of(answer, exploded);
            written.rows = flat.rows.len();
            if format == Format::Csv { csv::write(out, &flat)? } else { parquet::write(out, &flat)? }
        }
        Format::Json => json::write_array(out, answer)?,
        Format::Jsonl => json::write_lines(out, answer)?,
    }
    out.flush()?;
    Ok(written)
}
