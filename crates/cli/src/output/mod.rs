//! Answers on paper: a table for people; CSV, JSON, JSONL and Parquet for programs.

pub(crate) mod cell;
pub(crate) mod csv;
pub(crate) mod events;
pub(crate) mod flat;
pub(crate) mod json;
pub(crate) mod parquet;
pub(crate) mod table;
pub(crate) mod target;

use tracesift_ask::answer::Answer;

use crate::args::Format;
use crate::output::flat::Flat;
use crate::output::table::Style;
use crate::output::target::Target;

/// Writes an answer in a format to where the user wants it. `exploded` is the list whose objects are the rows of a flat format.
/// Tells how many rows it has written.
pub(crate) fn write(
    answer: &Answer,
    format: Format,
    exploded: Option<&str>,
    style: &Style,
    target: &Target,
) -> anyhow::Result<usize> {
    target.write(|out| {
        let mut rows = answer.rows().count();
        match format {
            Format::Table => table::write(out, answer, style)?,
            Format::Csv | Format::Parquet => {
                let flat = Flat::of(answer, exploded);
                rows = flat.rows.len();
                if format == Format::Csv { csv::write(out, &flat)? } else { parquet::write(out, &flat)? }
            }
            Format::Json => json::write_array(out, answer)?,
            Format::Jsonl => json::write_lines(out, answer)?,
        }
        out.flush()?;
        Ok(rows)
    })
}
