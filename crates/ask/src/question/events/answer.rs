//! The columns of `dump events`, and the rows that groups become.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;

use super::Question;
use super::dimension::{By, Part, Parts};
use super::groups::{Group, Groups, by_number_or_text};
use super::options::Sort;
use super::sums::{FieldSum, Figure};
use crate::answer::{Column, Fact, Kind, Section, Value, View};
use crate::columns::{of_file_and, section_of};
use crate::events::FieldPath;
use crate::recording::OpenRecording;
use crate::shown::Shown;
use crate::stack_lines::StackLines;

const fn column(key: &'static str, title: &'static str, kind: Kind, view: View, help: &'static str) -> Column {
    Column { key, title, kind, view, help }
}

const COUNT: Column = column("count", "Events", Kind::Count, View::Always, "Number of events.");
const FIRST: Column = column("first_ns", "First", Kind::Time, View::Details, "Time of the first event.");
const LAST: Column = column("last_ns", "Last", Kind::Time, View::Details, "Time of the last event.");
const FIELD: Column = column("field", "Field", Kind::Text, View::Always, "The field that the figures are of.");
const CELLS: Column = column(
    "cells",
    "Cells",
    Kind::Map,
    View::Always,
    "The figure of `--figure` for each value of `--pivot`; a value that no event of the row has is left out.",
);

/// The figures of a field.
const FIGURES: [Column; 11] = [
    column("with_field", "With field", Kind::Count, View::Details, "Number of events that have the field."),
    column(
        "numbers",
        "Numbers",
        Kind::Count,
        View::Details,
        "Number of values that are numbers; an array has one for each element.",
    ),
    column("sum", "Sum", Kind::Number(3), View::Always, "Sum of the numbers."),
    column("min", "Min", Kind::Number(3), View::Always, "Smallest number."),
    column("max", "Max", Kind::Number(3), View::Always, "Largest number."),
    column("mean", "Mean", Kind::Number(3), View::Always, "Mean of the numbers."),
    column("p50", "Median", Kind::Number(3), View::Always, "Median of the numbers."),
    column("p95", "95 %", Kind::Number(3), View::Details, "Number below which 95 % of the numbers lie."),
    column("p99", "99 %", Kind::Number(3), View::Always, "Number below which 99 % of the numbers lie."),
    column("distinct", "Distinct", Kind::Count, View::Always, "Number of distinct texts."),
    column("texts", "Texts", Kind::Map, View::Always, "The most frequent texts, up to ten, each with its number."),
];

impl Figure {
    /// The key of its column.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::Distinct => "distinct",
        }
    }
}

/// The columns of an answer.
pub(super) fn columns(by: &[By], sums: &[FieldPath], is_pivot: bool) -> Vec<Column> {
    let mut own = vec![COUNT, FIRST, LAST];
    if !sums.is_empty() {
        // Of one field the command line says the name.
        own.push(Column { view: if sums.len() > 1 { View::Always } else { View::Machine }, ..FIELD });
    }
    if !sums.is_empty() && !is_pivot {
        own.extend(FIGURES.iter().take(FIGURES.len() - 1));
    }
    own.extend(by.iter().flat_map(By::columns));
    if is_pivot {
        own.push(CELLS);
    } else if !sums.is_empty() {
        own.extend(FIGURES.last());
    }
    of_file_and(own.into_iter())
}

/// A group with its key.
type Keyed = (Box<[Part]>, Group);

/// A row before its values are made.
struct Row {
    parts: Vec<Part>,
    /// The names in front, to put rows in order.
    labels: Vec<String>,
    group: Group,
    /// The place of the field that it is about.
    field: Option<usize>,
    cells: Vec<(String, Value)>,
}

impl Row {
    fn sum(&self) -> Option<&FieldSum> {
        self.group.sums.get(self.field?)
    }

    fn figure(&self, sort: Sort) -> f64 {
        match (sort, sort.figure()) {
            (Sort::Count, _) => self.group.count as f64,
            (Sort::Time, _) => self.group.first as f64,
            (_, Some(figure)) => match self.sum().map_or(Value::None, |sum| sum.figure(figure)) {
                Value::Int(number) => number as f64,
                Value::Float(number) => number,
                _ => f64::NEG_INFINITY,
            },
            _ => 0.0,
        }
    }
}

/// The answers about some time ranges, which follow each other.
pub(super) fn sections(
    question: &Question,
    recording: &OpenRecording,
    ranges: &[TimeRange],
) -> Result<Vec<Section>, Error> {
    let mut groups = Groups::read(question, recording, ranges)?;
    let by_stack = question.by.contains(&By::Fact(super::Fact::Stack));
    let mut stacks = StackLines::new(recording, by_stack)?;
    let mut windows: Vec<Vec<Keyed>> = ranges.iter().map(|_| Vec::new()).collect();
    for (key, group) in groups.groups.drain() {
        let window = key.first().copied().flatten().and_then(|window| usize::try_from(window).ok());
        if let Some(groups) = window.and_then(|window| windows.get_mut(window)) {
            groups.push((key, group));
        }
    }
    let parts = &groups.parts;
    let section = |(groups, events): (Vec<Keyed>, &u64)| {
        let mut rows = match &question.pivot {
            Some(pivot) => pivoted(question, pivot, groups, parts),
            None => plain(question, groups, parts),
        };
        sort(question.order(), &mut rows);
        question.top.apply(&mut rows);
        let rows = rows.iter().map(|row| values(question, row, parts, &mut stacks)).collect();
        section_of(&recording.file, rows, vec![Fact::new("events", Kind::Count, *events)], &Shown::default())
    };
    let mut sections: Vec<Section> = windows.into_iter().zip(&groups.events).map(section).collect();
    for section in &mut sections {
        section.notes.clone_from(&groups.notes);
    }
    Ok(sections)
}

/// The fields of a group that some event has; none where no field is asked for.
fn fields<'g>(question: &Question, sums: &'g [FieldSum]) -> impl Iterator<Item = Option<usize>> + use<'g> {
    let whole = question.sums.is_empty().then_some(None);
    let of_fields = sums.iter().enumerate().filter(|(_, sum)| sum.events > 0).map(|(at, _)| Some(at));
    whole.into_iter().chain(of_fields)
}

fn labels(question: &Question, parts: &[Part], known: &Parts) -> Vec<String> {
    question.by.iter().zip(parts).map(|(by, part)| known.label(by, *part)).collect()
}

/// A row for each group, and field.
fn plain(question: &Question, groups: Vec<Keyed>, known: &Parts) -> Vec<Row> {
    let mut rows = Vec::new();
    for (key, group) in groups {
        let parts: Vec<Part> = key.iter().skip(1).copied().collect();
        let labels = labels(question, &parts, known);
        let wanted: Vec<Option<usize>> = fields(question, &group.sums).collect();
        if let [field] = wanted.as_slice() {
            rows.push(Row { parts, labels, group, field: *field, cells: Vec::new() });
            continue;
        }
        for field in wanted {
            let (parts, labels, group) = (parts.clone(), labels.clone(), group.clone());
            rows.push(Row { parts, labels, group, field, cells: Vec::new() });
        }
    }
    rows
}

/// A row for each group without its last part, and field, with a cell for each last part.
fn pivoted(question: &Question, pivot: &By, groups: Vec<Keyed>, known: &Parts) -> Vec<Row> {
    let mut found: FxHashMap<(Vec<Part>, Option<usize>), Row> = FxHashMap::default();
    for (key, group) in groups {
        let Some((last, front)) = key.split_last() else { continue };
        let parts: Vec<Part> = front.iter().skip(1).copied().collect();
        for field in fields(question, &group.sums) {
            let row = found.entry((parts.clone(), field)).or_insert_with(|| Row {
                labels: labels(question, &parts, known),
                parts: parts.clone(),
                group: Group { first: i64::MAX, last: i64::MIN, ..Group::default() },
                field,
                cells: Vec::new(),
            });
            row.group.count += group.count;
            row.group.first = row.group.first.min(group.first);
            row.group.last = row.group.last.max(group.last);
            let figure = match (question.figure, field.and_then(|at| group.sums.get(at))) {
                (Figure::Count, _) | (_, None) => group.count.into(),
                (figure, Some(sum)) => sum.figure(figure),
            };
            row.cells.push((known.label(pivot, *last), figure));
        }
    }
    let mut rows: Vec<Row> = found.into_values().collect();
    for row in &mut rows {
        row.cells.sort_by(|left, right| by_number_or_text(&left.0, &right.0));
    }
    rows
}

/// Puts rows in order; those without the figure stand first.
fn sort(sort: Sort, rows: &mut [Row]) {
    let by_labels = |left: &Row, right: &Row| {
        let pairs = left.labels.iter().zip(&right.labels);
        let by_name = pairs.map(|(left, right)| by_number_or_text(left, right)).find(|order| order.is_ne());
        by_name.unwrap_or(Ordering::Equal).then_with(|| (left.field, &left.parts).cmp(&(right.field, &right.parts)))
    };
    rows.sort_by(|left, right| {
        let by_figure = left.figure(sort).total_cmp(&right.figure(sort));
        // Rows without numbers stand by their events.
        let by_count = if sort == Sort::Name { Ordering::Equal } else { left.group.count.cmp(&right.group.count) };
        by_figure.then(by_count).then_with(|| by_labels(left, right))
    });
}

/// The values of the columns of a row.
fn values(question: &Question, row: &Row, known: &Parts, stacks: &mut StackLines) -> Vec<Value> {
    let Group { count, first, last, .. } = row.group;
    let mut values = vec![count.into(), first.into(), last.into()];
    let is_pivot = question.pivot.is_some();
    if !question.sums.is_empty() {
        values.push(row.field.and_then(|at| question.sums.get(at)).map(FieldPath::text).into());
    }
    if let Some(sum) = row.sum().filter(|_| !is_pivot) {
        values.extend([sum.figure(Figure::Count), sum.numbers().into()]);
        let figures = [
            Figure::Sum,
            Figure::Min,
            Figure::Max,
            Figure::Mean,
            Figure::P50,
            Figure::P95,
            Figure::P99,
            Figure::Distinct,
        ];
        values.extend(figures.map(|figure| sum.figure(figure)));
    }
    for (by, part) in question.by.iter().zip(&row.parts) {
        values.extend(known.values(by, *part, stacks));
    }
    if is_pivot {
        values.push(Value::Map(row.cells.clone()));
    } else if let Some(sum) = row.sum() {
        values.push(sum.texts(&known.names));
    }
    values
}
