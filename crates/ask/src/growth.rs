//! How a figure grows from file to file: `--growth`. A leak that one recording hides shows over the runs of a day.
//!
//! Rows of several files belong together if their names are equal. Process ids differ from run to run, so they are no names. Where a
//! file has several such rows (processes of one name) their figures are added up. A file without such a row counts with 0.

use std::collections::BTreeMap;

use crate::answer::{Answer, Column, Kind, Section, Value, View};
use crate::ask::Ask;
use crate::options::{Asking, Plan};
use crate::order::{Between, Top};
use crate::over_files::{answer_of_parts, parts};

/// What grows.
#[derive(Clone, Debug)]
pub(crate) struct Growth {
    /// The columns whose texts name a row.
    pub(crate) names: Vec<Column>,
    /// The figure.
    pub(crate) figure: Column,
    /// The figure of a row that does not have the first one.
    pub(crate) instead: Option<Column>,
    /// Which rows: by the growth from the first to the last file, whether more or less.
    pub(crate) limits: Between,
    /// How many rows.
    pub(crate) top: Top,
}

/// The figures of one row, file by file.
struct Row {
    names: Vec<Value>,
    figures: Vec<Option<i64>>,
}

impl Row {
    fn of_file(&self, file: usize) -> i64 {
        self.figures.get(file).copied().flatten().unwrap_or(0)
    }

    fn growth(&self) -> i64 {
        let last = self.figures.len().saturating_sub(1);
        self.of_file(last).saturating_sub(self.of_file(0))
    }

    /// In how many files the figure is larger than in the file before.
    fn rises(&self) -> i64 {
        let rises = (1..self.figures.len()).filter(|file| self.of_file(*file) > self.of_file(file - 1));
        i64::try_from(rises.count()).unwrap_or(i64::MAX)
    }

    fn values(self) -> Vec<Value> {
        let all = || (0..self.figures.len()).map(|file| self.of_file(file));
        let files = self.figures.iter().flatten().count();
        let last = self.figures.len().saturating_sub(1);
        let figures: [Value; 7] = [
            files.into(),
            self.of_file(0).into(),
            self.of_file(last).into(),
            all().min().into(),
            all().max().into(),
            self.rises().into(),
            self.growth().into(),
        ];
        figures.into_iter().chain(self.names).collect()
    }
}

impl Growth {
    /// The columns of the answer.
    pub(crate) fn columns(&self) -> Vec<Column> {
        let column = |key, title, kind, help| Column { key, title, kind, view: View::Always, help };
        let kind = self.figure.kind;
        let figures = [
            column("files", "Files", Kind::Count, "Files that have the row. A file without it counts with 0."),
            column("first", "First file", kind, "The figure in the first file, in the order of time."),
            column("last", "Last file", kind, "The figure in the last file."),
            column("min", "Smallest", kind, "The smallest figure of a file."),
            column("max", "Largest", kind, "The largest figure of a file."),
            column("rises", "Rises", Kind::Count, "Files in which the figure is larger than in the file before."),
            column("growth", "Growth", kind, "The figure in the last file less the figure in the first file."),
        ];
        let names = self.names.iter().map(|name| Column { view: View::Always, ..*name });
        figures.into_iter().chain(names).collect()
    }

    /// Makes an answer about several files one about their growth. The files stand in the order of their time.
    pub(crate) fn over_files(&self, answer: &Answer) -> Answer {
        let at = |column: &Column| answer.columns.iter().position(|known| known.key == column.key);
        let names: Vec<Option<usize>> = self.names.iter().map(at).collect();
        let [figure, instead] = [at(&self.figure), self.instead.as_ref().and_then(at)];
        let sections = parts(answer);
        let mut found: BTreeMap<String, Row> = BTreeMap::new();
        for (file, section) in sections.iter().enumerate() {
            for row in &section.rows {
                let value = |at: &Option<usize>| at.and_then(|at| row.get(at)).cloned().unwrap_or(Value::None);
                let ((Value::Int(figure), _) | (_, Value::Int(figure))) = (value(&figure), value(&instead)) else {
                    continue;
                };
                let names: Vec<Value> = names.iter().map(value).collect();
                let key = names.iter().map(text).collect::<Vec<_>>().join("\u{0}");
                let row = found.entry(key).or_insert_with(|| Row { names, figures: vec![None; sections.len()] });
                if let Some(of_file) = row.figures.get_mut(file) {
                    *of_file = Some(of_file.unwrap_or(0).saturating_add(figure));
                }
            }
        }
        let mut rows: Vec<Row> = found.into_values().collect();
        rows.retain(|row| self.limits.contains(Some(row.growth().saturating_abs())));
        // The map has them in the order of their names.
        rows.sort_by_key(Row::growth);
        self.top.apply(&mut rows);
        let section = Section { rows: rows.into_iter().map(Row::values).collect(), ..Section::default() };
        answer_of_parts(answer, self.columns(), Some("growth"), section)
    }

    /// A question whose answers about the files become one about their growth.
    pub(crate) fn plan(self, question: impl Ask + 'static) -> Plan {
        Plan::Archives(Asking {
            columns: Some(self.columns()),
            then: Box::new(move |answer, _| *answer = self.over_files(answer)),
            ..Asking::plain(question)
        })
    }
}

/// A name as text.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_lowercase(),
        Value::List(lines) => lines.join("\n"),
        Value::Int(number) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Layout;

    const fn column(key: &'static str, kind: Kind) -> Column {
        Column { key, title: "", kind, view: View::Machine, help: "" }
    }

    const PROCESS: Column = column("process", Kind::Text);
    const OPEN: Column = column("open", Kind::Count);
    const OTHER: Column = column("other", Kind::Count);

    fn answer(files: &[&[(&str, Option<i64>, i64)]]) -> Answer {
        let row = |(name, open, other): &(&str, Option<i64>, i64)| {
            vec![Value::from(*name), Value::from(*open), Value::from(*other)]
        };
        let section = |rows: &&[(&str, Option<i64>, i64)]| Section {
            rows: rows.iter().map(row).collect(),
            is_absent: rows.is_empty(),
            ..Section::default()
        };
        Answer {
            question: "handles",
            columns: vec![PROCESS, OPEN, OTHER],
            layout: Layout::Rows,
            sorted: None,
            sections: files.iter().map(section).collect(),
            facts: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Name, files, first, last, smallest, largest, rises, growth.
    fn rows(growth: &Growth, files: &[&[(&str, Option<i64>, i64)]]) -> Vec<(String, [i64; 7])> {
        let answer = growth.over_files(&answer(files));
        let figure = |value: &Value| if let Value::Int(figure) = value { *figure } else { -1 };
        let row = |row: &Vec<Value>| {
            let name = row.last().map(text).unwrap_or_default();
            (name, std::array::from_fn(|at| figure(&row[at])))
        };
        assert!(answer.rows().all(|row| row.len() == answer.columns.len()));
        answer.rows().map(row).collect()
    }

    fn growth() -> Growth {
        Growth { names: vec![PROCESS], figure: OPEN, instead: None, limits: Between::default(), top: Top::default() }
    }

    #[test]
    fn rows_of_a_name_are_one_and_a_file_without_it_counts_with_0() {
        let files: [&[(&str, Option<i64>, i64)]; 4] = [
            &[("A.exe", Some(10), 0), ("a.exe", Some(5), 0), ("b", Some(9), 0)],
            // This recording has nothing of the kind.
            &[],
            &[("A.exe", Some(20), 0)],
            &[("A.exe", Some(30), 0), ("b", Some(4), 0), ("c", Some(1), 0), ("d", None, 7)],
        ];
        let expected = [
            ("b".to_owned(), [2, 9, 4, 0, 9, 1, -5]),
            ("c".to_owned(), [1, 0, 1, 0, 1, 1, 1]),
            ("a.exe".to_owned(), [3, 15, 30, 15, 30, 2, 15]),
        ];
        assert_eq!(rows(&growth(), &files), expected);
        let limited = Growth { limits: Between { min: Some(5), max: None }, ..growth() };
        assert_eq!(rows(&limited, &files), [expected[0].clone(), expected[2].clone()]);
        let one = Growth { top: Top { take: Some(1), skip: 0 }, ..growth() };
        assert_eq!(rows(&one, &files), [expected[2].clone()]);
        let either = Growth { instead: Some(OTHER), ..growth() };
        assert_eq!(rows(&either, &files)[2], ("d".to_owned(), [1, 0, 7, 0, 7, 1, 7]));
        let notes = &growth().over_files(&answer(&files)).sections[0].notes;
        assert_eq!(notes, &["1 file has no such data and no part in this"]);
    }

    #[test]
    fn files_without_such_data_keep_their_reasons() {
        let answer = growth().over_files(&answer(&[&[], &[]]));
        assert_eq!(answer.sections.len(), 2);
        assert!(answer.sections.iter().all(|section| section.is_absent));
    }
}
