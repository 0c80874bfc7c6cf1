//! Answers on paper: a table for people; CSV, JSON, JSONL and Parquet for programs.

pub(crate) mod cell;
pub(crate) mod csv;
pub(crate) mod events;
pub(crate) mod json;
pub(crate) mod parquet;
pub(crate) mod table;
pub(crate) mod target;

use tracesift_ask::answer::Answer;

use crate::args::Format;
use crate::output::table::Style;
use crate::output::target::Target;

/// Writes an answer in a format to where the user wants it.
pub(crate) fn write(answer: &Answer, format: Format, style: &Style, target: &Target) -> anyhow::Result<()> {
    target.write(|out| {
        match format {
            Format::Table => table::write(out, answer, style)?,
            Format::Csv => csv::write(out, answer)?,
            Format::Json => json::write_array(out, answer)?,
            Format::Jsonl => json::write_lines(out, answer)?,
            Format::Parquet => parquet::write(out, answer)?,
        }
        out.flush()?;
        Ok(())
    })
}
