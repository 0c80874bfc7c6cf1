//! `--merge`: one answer about several files, such as the files of one session or of a test run.
//!
//! Rows of several files belong together if their names are equal. Process ids differ from run to run, so they are no names. Sums add up,
//! and what divides one of them by another is made anew. What needs the rows of the tables again, such as a percentile, is left out.

use std::collections::BTreeMap;

use super::arithmetic::{How, Quotient};
use super::asked::Asked;
use super::layout;
use super::measure::Figure;
use super::stated::Stated;
use crate::answer::{Answer, Column, Kind, Section, Value, View};
use crate::over_files::{answer_of_parts, parts};

/// Number of the files that have a row.
const RECORDINGS: Column = Column {
    key: "recordings",
    title: "Recordings",
    kind: Kind::Count,
    view: View::Always,
    help: "Files that have the row.",
};

/// A row of the answer: of each measure the figures of the files.
struct Row {
    names: Vec<Value>,
    recordings: Vec<usize>,
    figures: Vec<Vec<Value>>,
}

/// How figures of several files become one.
#[derive(Clone, Copy)]
enum Merges {
    Sum,
    /// A file without a row of the kind has 0.
    SumOf,
    Largest,
    Smallest,
    Counts,
    Quotient([&'static str; 2], Option<Quotient>),
}

/// `None`: the figures of files do not tell that of all of them.
fn merges(how: How) -> Option<Merges> {
    Some(match how {
        How::Rows | How::RowsIf | How::RowsWith(_) => Merges::Sum,
        How::Sum | How::SumKnown | How::SumInside | How::Duration | How::Union => Merges::Sum,
        How::SumOf => Merges::SumOf,
        How::Begun | How::Over | How::SumBegun | How::SumOver => Merges::Sum,
        How::Longest | How::Max => Merges::Largest,
        How::Shortest | How::Min => Merges::Smallest,
        How::Counts(_) | How::Texts | How::SumsBy(_) => Merges::Counts,
        How::Mean(of) => Merges::Quotient(of, None),
        How::Ratio(of, quotient) => Merges::Quotient(of, Some(quotient)),
        _ => return None,
    })
}

/// The measures of the answer, with their places.
fn measures<'a>(
    stated: &'a Stated,
    by: &'a [usize],
) -> impl Iterator<Item = (usize, &'static Figure, Merges)> + use<'a> {
    let names = move || by.iter().map(|by| stated.dimensions[*by].name);
    let measures = stated.measures.iter().enumerate().filter(move |(_, figure)| figure.is_of(names()));
    measures.filter_map(|(place, figure)| Some((place, *figure, merges(figure.how)?)))
}

/// The columns of the answer.
pub(super) fn columns(stated: &Stated, by: &[usize]) -> Vec<Column> {
    let is_map = |column: &Column| column.kind == Kind::Map;
    let figures = || measures(stated, by).map(|(_, measure, _)| measure.column);
    let names = layout::names(stated, by).into_iter().map(|name| Column { view: View::Always, ..name });
    let first = [RECORDINGS].into_iter().chain(figures().filter(|column| !is_map(column)));
    first.chain(names).chain(figures().filter(is_map)).collect()
}

/// The columns of the answers to all groupings.
pub(super) fn all_columns(stated: &Stated) -> Vec<Column> {
    let all: Vec<usize> = (0..stated.dimensions.len()).collect();
    let mut found = columns(stated, &[]);
    for column in columns(stated, &all) {
        if found.iter().all(|known| known.key != column.key) {
            found.push(column);
        }
    }
    found
}

/// The question whose answers about single files are merged: limits and windows are of the merged rows.
pub(super) fn of_single_files(asked: &Asked) -> Asked {
    Asked { top: crate::order::Top::default(), group_limits: Vec::new(), ..asked.clone() }
}

impl Row {
    fn numbers(&self, place: usize) -> impl Iterator<Item = i64> {
        let values = self.figures.get(place).into_iter().flatten();
        values.filter_map(|value| if let Value::Int(number) = value { Some(*number) } else { None })
    }

    /// The figure of a measure that is a whole number.
    fn figure(&self, stated: &Stated, place: usize) -> Option<i64> {
        match merges(stated.measures[place].how)? {
            Merges::Sum => self.numbers(place).reduce(i64::saturating_add),
            Merges::SumOf => {
                let sum = self.numbers(place).reduce(i64::saturating_add);
                // Where a file does not know it, the 0 of another one says nothing.
                let is_known = self.figures.get(place)?.iter().all(|value| *value != Value::None);
                sum.filter(|sum| is_known || *sum != 0)
            }
            Merges::Largest => self.numbers(place).max(),
            Merges::Smallest => self.numbers(place).min(),
            Merges::Counts => None,
            Merges::Quotient(of, None) => {
                let [of, by] = of.map(|key| self.figure(stated, stated.measure_of(key)));
                of?.checked_div(by?)
            }
            Merges::Quotient(..) => self.quotient(stated, place).map(|quotient| (quotient * 1e6) as i64),
        }
    }

    fn quotient(&self, stated: &Stated, place: usize) -> Option<f64> {
        let Some(Merges::Quotient(of, Some(quotient))) = merges(stated.measures[place].how) else { return None };
        let [of, by] = of.map(|key| self.figure(stated, stated.measure_of(key)));
        Some(quotient.figure(of?, by.filter(|by| *by != 0)?))
    }

    fn value(&self, stated: &Stated, place: usize) -> Value {
        match merges(stated.measures[place].how) {
            Some(Merges::Counts) => self.counts(place),
            Some(Merges::Quotient(_, Some(_))) => self.quotient(stated, place).map_or(Value::None, Value::Float),
            _ => self.figure(stated, place).into(),
        }
    }

    /// The counts of all files, the most frequent first.
    fn counts(&self, place: usize) -> Value {
        let mut counts: Vec<(String, i64)> = Vec::new();
        for value in self.figures.get(place).into_iter().flatten() {
            let Value::Map(of_file) = value else { continue };
            for (name, count) in of_file {
                let Value::Int(count) = count else { continue };
                match counts.iter_mut().find(|(known, _)| known == name) {
                    Some((_, sum)) => *sum = sum.saturating_add(*count),
                    None => counts.push((name.clone(), *count)),
                }
            }
        }
        // Of equal counts the order of the files stays.
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Value::Map(counts.into_iter().map(|(name, count)| (name, count.into())).collect())
    }
}

/// Makes an answer about several files one about all of them.
pub(super) fn over_files(asked: &Asked, answer: &Answer) -> Answer {
    let stated = &*asked.stated;
    let sections = parts(answer);
    let mut rows = rows(asked, &answer.columns, &sections);
    rows.retain(|row| asked.group_limits.iter().all(|(place, between)| between.contains(row.figure(stated, *place))));
    let has_figure = |place: usize| rows.iter().any(|row| row.figure(stated, place).is_some_and(|figure| figure != 0));
    let sort = asked.sort.filter(|place| has_figure(*place)).or(asked.sort_without_figure()).or(asked.sort);
    // The map has them in the order of their names.
    rows.sort_by_key(|row| sort.and_then(|place| row.figure(stated, place)).unwrap_or(i64::MIN));
    asked.top.apply(&mut rows);
    let columns = columns(stated, &asked.by);
    let of_row = |row: Row| -> Vec<Value> {
        let of_measures = |maps: bool| {
            let measures = measures(stated, &asked.by);
            let measures = measures.filter(move |(_, measure, _)| (measure.column.kind == Kind::Map) == maps);
            measures.map(|(place, ..)| row.value(stated, place)).collect::<Vec<_>>()
        };
        let recordings = [Value::from(row.recordings.len())];
        recordings.into_iter().chain(of_measures(false)).chain(row.names.clone()).chain(of_measures(true)).collect()
    };
    let section = Section {
        rows: rows.into_iter().map(of_row).collect(),
        facts: Section::sum_facts(sections.iter().copied()),
        ..Section::default()
    };
    answer_of_parts(answer, columns, sort.map(|place| stated.measures[place].column.key), section)
}

/// The rows of all files, in the order of their names.
fn rows(asked: &Asked, columns: &[Column], sections: &[&Section]) -> Vec<Row> {
    let at = |column: &Column| columns.iter().position(|known| known.key == column.key);
    let names: Vec<Option<usize>> = layout::names(&asked.stated, &asked.by).iter().map(at).collect();
    let figures: Vec<Option<usize>> = asked.stated.measures.iter().map(|figure| at(&figure.column)).collect();
    let mut found: BTreeMap<Vec<String>, Row> = BTreeMap::new();
    for (file, section) in sections.iter().enumerate() {
        for row in &section.rows {
            let value = |at: &Option<usize>| at.and_then(|at| row.get(at)).cloned().unwrap_or(Value::None);
            let names: Vec<Value> = names.iter().map(value).collect();
            let key: Vec<String> = names.iter().map(crate::growth::text).collect();
            let merged = found.entry(key).or_insert_with(|| Row {
                names,
                recordings: Vec::new(),
                figures: vec![Vec::new(); figures.len()],
            });
            if merged.recordings.last() != Some(&file) {
                merged.recordings.push(file);
            }
            merged.figures.iter_mut().zip(&figures).for_each(|(of_files, at)| of_files.push(value(at)));
        }
    }
    found.into_values().collect()
}
