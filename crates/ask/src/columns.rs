//! The columns of a question that answers recording by recording.

use crate::answer::{Column, ColumnOf, Fact, Kind, Section, Value};
use crate::file::File;

/// Columns of rows `R`. Every such answer begins with the file and ends with what makes its figures less than exact; the
/// question has the columns between.
#[derive(Debug)]
pub struct Columns<R: 'static>(pub &'static [ColumnOf<R>]);

const FILE: ColumnOf<File> =
    ColumnOf::machine("file", "File", Kind::Text, |file| file.path_text().into(), "Path of the archive or recording.");

const WARNINGS: ColumnOf<File> = ColumnOf::machine(
    "warnings",
    "Warnings",
    Kind::List,
    |file| file.warnings.as_slice().into(),
    "What makes the figures of this file less than exact.",
);

impl<R> Columns<R> {
    /// The descriptions, in the order of every format.
    #[must_use]
    pub fn descriptions(&self) -> Vec<Column> {
        let own = self.0.iter().map(|column| column.column);
        std::iter::once(FILE.column).chain(own).chain([WARNINGS.column]).collect()
    }

    /// The section of a file.
    #[must_use]
    pub fn section(&self, file: &File, rows: &[R], facts: Vec<Fact>) -> Section {
        let (first, last) = ((FILE.value)(file), (WARNINGS.value)(file));
        let values = |row: &R| -> Vec<Value> {
            let own = self.0.iter().map(|column| (column.value)(row));
            std::iter::once(first.clone()).chain(own).chain([last.clone()]).collect()
        };
        Section { facts, rows: rows.iter().map(values).collect(), ..file.section() }
    }
}
