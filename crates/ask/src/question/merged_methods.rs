//! `dump cpu --merge` with methods or stack tags: those of processes of one name over all files.
//!
//! Of a file the figures of all its processes of that name are added up first; mean, smallest and largest are those of these sums, over the
//! files that have the method.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use clap::ValueEnum;

use super::methods::{self, Totals};
use crate::answer::{Answer, ColumnOf, Group, Kind, Section, Value, View, descriptions, values};
use crate::order::Top;
use crate::over_files::{answer_of, notes};
use crate::shown::Shown;
use crate::totals::files;

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// CPU over all files.
    #[default]
    Cpu,
    /// Exclusive CPU over all files.
    Exclusive,
    /// Wait over all files.
    Wait,
    /// Ready over all files.
    Ready,
    /// Name.
    Name,
}

/// How many rows, and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merge {
    /// Order of the rows, and of the names of processes.
    pub sort: Sort,
    /// How many names of processes.
    pub top: Top,
    /// How many methods of each.
    pub top_methods: Top,
}

/// A method or stack tag of the processes of one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    process: String,
    module: Option<String>,
    method: Option<String>,
    stack_tag: Option<String>,
    files: usize,
    /// How many processes of single files.
    processes: usize,
    cpu: Figure,
    exclusive: Figure,
    run: Figure,
    wait: Figure,
    ready: Figure,
}

/// A figure file by file.
#[derive(Clone, Debug, Default, PartialEq)]
struct Figure {
    /// Number of the last file that had it, and its sum there.
    file: Option<(usize, i64)>,
    files: i64,
    sum: i64,
    min: i64,
    max: i64,
}

impl Figure {
    /// Adds the figure of a row of a file; files follow each other.
    fn add(&mut self, file: usize, value: &Value) {
        let Value::Int(value) = value else { return };
        match &mut self.file {
            Some((known, sum)) if *known == file => *sum = sum.saturating_add(*value),
            _ => {
                self.close();
                self.file = Some((file, *value));
            }
        }
    }

    /// Takes the sum of the last file.
    fn close(&mut self) {
        if let Some((_, sum)) = self.file.take() {
            (self.min, self.max) = if self.files == 0 { (sum, sum) } else { (self.min.min(sum), self.max.max(sum)) };
            self.files += 1;
            self.sum = self.sum.saturating_add(sum);
        }
    }

    fn sum(&self) -> Option<i64> {
        (self.files > 0).then_some(self.sum)
    }

    fn mean(&self) -> Option<i64> {
        self.sum.checked_div(self.files)
    }

    fn min(&self) -> Option<i64> {
        (self.files > 0).then_some(self.min)
    }

    fn max(&self) -> Option<i64> {
        (self.files > 0).then_some(self.max)
    }
}

impl Row {
    fn figures(&mut self) -> [&mut Figure; 5] {
        [&mut self.cpu, &mut self.exclusive, &mut self.run, &mut self.wait, &mut self.ready]
    }

    fn label(&self) -> String {
        match (&self.stack_tag, &self.module, &self.method) {
            (Some(tag), ..) => tag.clone(),
            (None, Some(module), Some(method)) => format!("{module}!{method}"),
            (None, _, method) => method.clone().unwrap_or_default(),
        }
    }
}

/// The keys of [`Row::figures`] in the answers that are merged.
const FIGURES: [&str; 5] = ["cpu_ns", "exclusive_cpu_ns", "run_ns", "wait_ns", "ready_ns"];

macro_rules! figure {
    ($of:ident, $key:literal, $title:literal, $what:literal) => {
        [
            ColumnOf::always(
                concat!($key, "_ns"),
                $title,
                Kind::Milliseconds,
                |r: &Row| r.$of.sum().into(),
                concat!($what, " over all files."),
            ),
            ColumnOf::always(
                concat!($key, "_mean_ns"),
                concat!($title, " mean"),
                Kind::Milliseconds,
                |r: &Row| r.$of.mean().into(),
                "Its mean over the files that have such a row, rounded down.",
            ),
            ColumnOf::always(
                concat!($key, "_min_ns"),
                concat!($title, " min"),
                Kind::Milliseconds,
                |r: &Row| r.$of.min().into(),
                "The smallest value of these files.",
            ),
            ColumnOf::always(
                concat!($key, "_max_ns"),
                concat!($title, " max"),
                Kind::Milliseconds,
                |r: &Row| r.$of.max().into(),
                "The largest value of these files.",
            ),
        ]
    };
}

/// The last three only with `--details`.
const fn sum_first(columns: [ColumnOf<Row>; 4]) -> [ColumnOf<Row>; 4] {
    let [sum, mean, min, max] = columns;
    [sum, mean.shown(View::Details), min.shown(View::Details), max.shown(View::Details)]
}

const CPU: [ColumnOf<Row>; 4] = figure!(cpu, "cpu", "CPU", "Inclusive sampled CPU");
const SELF: [ColumnOf<Row>; 4] = sum_first(figure!(exclusive, "exclusive_cpu", "Self", "Exclusive sampled CPU"));
const RUN: [ColumnOf<Row>; 4] = figure!(run, "run", "Run", "Precise CPU, of files without samples,");
const WAIT: [ColumnOf<Row>; 4] =
    sum_first(figure!(wait, "wait", "Wait", "Wait, the union over the threads of each process,"));
const READY: [ColumnOf<Row>; 4] =
    sum_first(figure!(ready, "ready", "Ready", "Ready, the union over the threads of each process,"));

/// The columns.
pub const COLUMNS: &[ColumnOf<Row>] = &[
    ColumnOf::machine("process", "Process", Kind::Text, |r| (&r.process).into(), "File name of the processes' image."),
    ColumnOf::always("files", "Files", Kind::Count, |r| r.files.into(), "Files that have such a row."),
    ColumnOf::details(
        "processes",
        "Processes",
        Kind::Count,
        |r| r.processes.into(),
        "Number of processes that have it, over all files.",
    ),
    CPU[0],
    CPU[1],
    CPU[2],
    CPU[3],
    SELF[0],
    SELF[1],
    SELF[2],
    SELF[3],
    RUN[0],
    RUN[1],
    RUN[2],
    RUN[3],
    WAIT[0],
    WAIT[1],
    WAIT[2],
    WAIT[3],
    READY[0],
    READY[1],
    READY[2],
    READY[3],
    ColumnOf::machine(
        "module",
        "Module",
        Kind::Text,
        |r| r.module.as_ref().into(),
        "File name of the module; empty where it is not known.",
    ),
    ColumnOf::machine(
        "method",
        "Function",
        Kind::Text,
        |r| r.method.as_ref().into(),
        "Function; `module+0xRVA` without a symbol.",
    ),
    ColumnOf::machine(
        "stack_tag",
        "Tag",
        Kind::Text,
        |r| r.stack_tag.as_ref().into(),
        "Stack tag, with `--stacktags`.",
    ),
    ColumnOf::people("method_label", "Method", Kind::Text, |r| r.label().into(), "Module and function, or stack tag."),
];

/// The question whose answers are merged: all rows, and no more of them than is needed.
#[must_use]
pub fn to_be_merged(question: methods::Question) -> methods::Question {
    let keys = ["process", "module", "method", "stack_tag"].into_iter().chain(FIGURES);
    methods::Question {
        top: Top::default(),
        top_methods: Top::default(),
        totals: Totals::None,
        sort: methods::Sort::Name,
        shown: Shown::only(keys),
        ..question
    }
}

/// Name of the process without regard to case; module, method and stack tag.
type RowKey = (String, [Option<String>; 3]);

/// Merges the answer of [`to_be_merged`] over its files.
#[must_use]
pub fn merge(answer: &Answer, how: Merge) -> Answer {
    let at = |key: &str| answer.columns.iter().position(|column| column.key == key);
    let [process, module, method, tag] = ["process", "module", "method", "stack_tag"].map(at);
    let figures = FIGURES.map(at);
    let mut found: BTreeMap<RowKey, (Option<usize>, Row)> = BTreeMap::new();
    for (file, section) in answer.sections.iter().enumerate() {
        for row in &section.rows {
            let value = |at: Option<usize>| at.and_then(|at| row.get(at)).unwrap_or(&Value::None);
            let text = |at| if let Value::Text(text) = value(at) { Some(text.clone()) } else { None };
            let (name, what) = (text(process).unwrap_or_default(), [module, method, tag].map(text));
            let (last, merged) = found.entry((name.to_lowercase(), what.clone())).or_insert_with(|| {
                let [module, method, stack_tag] = what;
                (None, Row { process: name, module, method, stack_tag, ..Row::default() })
            });
            merged.files += usize::from(*last != Some(file));
            *last = Some(file);
            merged.processes += 1;
            for (figure, at) in merged.figures().into_iter().zip(figures) {
                figure.add(file, value(at));
            }
        }
    }
    let mut groups: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for ((name, _), (_, mut row)) in found {
        row.figures().into_iter().for_each(Figure::close);
        groups.entry(name).or_default().push(row);
    }
    let mut groups: Vec<Vec<Row>> = groups.into_values().collect();
    for rows in &mut groups {
        rows.sort_by(|a, b| compare(how.sort, a, b));
        how.top_methods.apply(rows);
    }
    groups.retain(|rows| !rows.is_empty());
    // The order of names is there already.
    if how.sort != Sort::Name {
        groups.sort_by_key(|rows| rows.last().and_then(|row| figure(how.sort, row)));
    }
    how.top.apply(&mut groups);
    section_of(answer, &groups)
}

fn figure(sort: Sort, row: &Row) -> Option<i64> {
    match sort {
        // Without samples there is only the precise one.
        Sort::Cpu => row.cpu.sum().or_else(|| row.run.sum()),
        Sort::Exclusive => row.exclusive.sum(),
        Sort::Wait => row.wait.sum(),
        Sort::Ready => row.ready.sum(),
        Sort::Name => None,
    }
}

fn compare(sort: Sort, a: &Row, b: &Row) -> Ordering {
    let by_name = || (&a.module, &a.method, &a.stack_tag).cmp(&(&b.module, &b.method, &b.stack_tag));
    let order = figure(sort, a).cmp(&figure(sort, b));
    if sort == Sort::Name {
        return by_name();
    }
    order.then_with(|| figure(Sort::Cpu, a).cmp(&figure(Sort::Cpu, b))).then_with(|| by_name().reverse())
}

fn section_of(answer: &Answer, groups: &[Vec<Row>]) -> Answer {
    let title = files(answer.sections.len());
    let rows: Vec<Row> = groups.iter().flatten().cloned().collect();
    let group = |rows: &Vec<Row>| Group {
        title: rows.first().map(|row| row.process.clone()).unwrap_or_default(),
        rows: rows.len(),
        ..Group::default()
    };
    let section = Section {
        title,
        rows: values(COLUMNS, &rows),
        notes: notes(answer).collect(),
        groups: groups.iter().map(group).collect(),
        ..Section::default()
    };
    answer_of(answer, descriptions(COLUMNS), None, section)
}
