//! Statistics of a raw recording: every record of every file in it is counted, nothing is extracted.

use std::ops::ControlFlow;

use tracesift_extract::input::{self, InputRecording, Member, OpenOptions};
use tracesift_extract::{Error, OpenedFile, open_file};

use super::{Row, etl, perf};
use crate::answer::{ColumnOf, Kind, Table, descriptions, values};
use crate::recording_label::path_text;

/// Statistics of a recording.
#[derive(Debug, Default)]
pub struct RawStats {
    /// One row per `.etl` or `perf.data`.
    pub rows: Vec<Row>,
    /// Members that cannot be read.
    pub errors: Vec<Error>,
}

/// Reads a recording.
///
/// # Errors
/// When the input cannot be opened at all.
pub fn recording(recording: &InputRecording, options: &OpenOptions) -> Result<RawStats, Error> {
    let opened = input::open(recording, options, &mut |_| ControlFlow::Continue(()))?;
    let mut stats = RawStats::default();
    for found in opened.members {
        match member(found) {
            Ok(row) => stats.rows.push(row),
            Err(error) => stats.errors.push(error),
        }
    }
    Ok(stats)
}

fn member(member: Member) -> Result<Row, Error> {
    let (path, name) = (member.path().to_owned(), member.name().map(str::to_owned));
    let row = match open_file(member)? {
        OpenedFile::Etl(file) => etl::row(&file),
        OpenedFile::Perf(file) => perf::row(&file),
    };
    Ok(Row { file: path_text(&path), member: name, ..row })
}

/// Damage of one kind.
pub(super) struct Damaged {
    pub(super) kind: &'static str,
    pub(super) count: u64,
    /// Bytes that could not be used, where the reader counts them.
    pub(super) bytes: Option<u64>,
    pub(super) example: Option<String>,
}

/// The table of what could not be used; none when all could.
pub(super) fn health(rows: Vec<Damaged>) -> Option<Table> {
    const COLUMNS: &[ColumnOf<Damaged>] = &[
        ColumnOf::always("kind", "Kind", Kind::Text, |r| r.kind.into(), "What is wrong."),
        ColumnOf::always("count", "Count", Kind::Count, |r| r.count.into(), "How often."),
        ColumnOf::always("bytes", "Size", Kind::Bytes, |r| r.bytes.into(), "Bytes that could not be used."),
        ColumnOf::always("example", "First", Kind::LongText, |r| r.example.clone().into(), "The first occurrence."),
    ];
    (!rows.is_empty()).then(|| Table { columns: descriptions(COLUMNS), rows: values(COLUMNS, &rows), is_sparse: true })
}
