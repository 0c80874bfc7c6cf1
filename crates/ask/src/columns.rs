//! The columns of a question that answers recording by recording.

use crate::answer::{Column, ColumnOf, Fact, Kind, Section, Value};
use crate::limit::Limit;
use crate::needs::Needs;
use crate::recording_label::RecordingLabel;
use crate::shown::Shown;

/// Columns of rows `R`. Every such answer begins with the file and ends with what makes its figures less than exact; the
/// question has the columns between.
#[derive(Debug)]
pub struct Columns<R: 'static>(pub &'static [ColumnOf<R>]);

/// What names the file in every row, so that rows of many files can be put into a pivot table.
const FIRST: [ColumnOf<RecordingLabel>; 5] = [
    ColumnOf::machine("file", "File", Kind::Text, |file| file.path_text().into(), "Path of the archive or recording."),
    ColumnOf::machine(
        "test",
        "Test",
        Kind::Text,
        |file| (&file.test).into(),
        "The recorded test by the file's name; the name itself if it has no known shape.",
    ),
    ColumnOf::machine(
        "test_ms",
        "Test ms",
        Kind::Count,
        |file| file.test_ms.into(),
        "Duration that the test measured, by the file's name, ms.",
    ),
    ColumnOf::machine(
        "machine",
        "Machine",
        Kind::Text,
        |file| file.machine.as_ref().into(),
        "The machine that was recorded.",
    ),
    ColumnOf::machine(
        "date",
        "Date",
        Kind::Text,
        |file| file.date.as_ref().into(),
        "Time of the test by the file's name, else start of the recording; local time of the recorder.",
    ),
];

const WARNINGS: ColumnOf<RecordingLabel> = ColumnOf::machine(
    "warnings",
    "Warnings",
    Kind::List,
    |file| Limit::texts(&file.warnings),
    "Reasons why the figures of this file are less than exact.",
);

/// Whether a column is one of those that name the file.
pub(crate) fn names_file(column: &Column) -> bool {
    FIRST.iter().any(|first| first.column.key == column.key)
}

/// The columns of an answer that begin with those of the file, and end with its warnings.
pub(crate) fn of_file_and(own: impl Iterator<Item = Column>) -> Vec<Column> {
    FIRST.iter().map(|column| column.column).chain(own).chain([WARNINGS.column]).collect()
}

/// Empties the values of some columns, which the recording cannot tell.
pub(crate) fn without(mut section: Section, columns: &[Column], keys: &[&str]) -> Section {
    let places: Vec<usize> =
        columns.iter().enumerate().filter(|(_, column)| keys.contains(&column.key)).map(|(place, _)| place).collect();
    for row in &mut section.rows {
        for place in &places {
            if let Some(value) = row.get_mut(*place) {
                *value = Value::None;
            }
        }
    }
    section
}

/// The section of a file whose rows have the values of those columns between that are shown.
pub(crate) fn section_of(file: &RecordingLabel, rows: Vec<Vec<Value>>, facts: Vec<Fact>, shown: &Shown) -> Section {
    let (first, last) = around(file, shown);
    let whole = |own: Vec<Value>| -> Vec<Value> {
        let mut values = Vec::with_capacity(first.len() + own.len() + 1);
        values.extend(first.iter().cloned());
        values.extend(own);
        values.extend(last.clone());
        values
    };
    Section { facts, rows: rows.into_iter().map(whole).collect(), ..file.section() }
}

/// What stands before the values of a row, and behind them.
fn around(file: &RecordingLabel, shown: &Shown) -> (Vec<Value>, Option<Value>) {
    let of_file = |column: &ColumnOf<RecordingLabel>| shown.has(column.column.key).then(|| (column.value)(file));
    (FIRST.iter().filter_map(of_file).collect(), of_file(&WARNINGS))
}

impl<R> Columns<R> {
    /// The descriptions, in the order of every format.
    #[must_use]
    pub fn descriptions(&self) -> Vec<Column> {
        of_file_and(self.0.iter().map(|column| column.column))
    }

    /// What those of the columns need that are looked at: by somebody who reads the answer, or by an order or a limit of its rows.
    #[must_use]
    pub fn needs(&self, is_looked_at: impl Fn(&'static str) -> bool) -> Needs {
        let looked_at = self.0.iter().filter(|column| is_looked_at(column.column.key));
        looked_at.fold(Needs::NOTHING, |needs, column| needs.and(column.needs))
    }

    /// The section of a file.
    #[must_use]
    pub fn section(&self, file: &RecordingLabel, rows: &[R], facts: Vec<Fact>) -> Section {
        self.section_showing(file, rows, facts, &Shown::default())
    }

    /// The section of a file with these columns only. A row of all of them is several kilobytes.
    #[must_use]
    pub fn section_showing(&self, file: &RecordingLabel, rows: &[R], facts: Vec<Fact>, shown: &Shown) -> Section {
        let (first, last) = around(file, shown);
        let own: Vec<_> =
            self.0.iter().filter(|column| shown.has(column.column.key)).map(|column| column.value).collect();
        let values = |row: &R| -> Vec<Value> {
            let mut values = Vec::with_capacity(first.len() + own.len() + 1);
            values.extend(first.iter().cloned());
            values.extend(own.iter().map(|value| value(row)));
            values.extend(last.clone());
            values
        };
        Section { facts, rows: rows.iter().map(values).collect(), ..file.section() }
    }
}
