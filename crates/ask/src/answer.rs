//! A typed answer: columns with kind and unit, rows in order. Table, CSV, JSON and Parquet are all made from it, so that
//! figures and order are the same in every format.
//!
//! Raw figures stay raw here (nanoseconds, bytes); a column's [`Kind`] says how a table for people scales them.

use std::path::{Path, PathBuf};

use tracesift_archive::Error;

use crate::limit::Limit;
use crate::needs::Needs;
use crate::time_format::Zero;

/// One figure or word of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// The recording does not say.
    #[default]
    None,
    /// Yes or no.
    Bool(bool),
    /// A count, or a raw figure of a unit: nanoseconds, bytes.
    Int(i64),
    /// A figure with a fraction, for example a mean.
    Float(f64),
    /// A word, name or path.
    Text(String),
    /// Several words.
    List(Vec<String>),
    /// Several whole numbers.
    Integers(Vec<i64>),
    /// Named figures, in order.
    Map(Vec<(String, Value)>),
    /// Rows below this row.
    Table(Table),
}

/// Rows with their columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; each has one value per column.
    pub rows: Vec<Vec<Value>>,
    /// Whether JSON leaves out what does not apply to a row: the columns are those of many kinds of rows.
    pub is_sparse: bool,
}

/// What a column holds, and how a table for people shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words, left aligned.
    Text,
    /// Words that may be cut at the terminal's width, such as command lines.
    LongText,
    /// Words behind the branches of a tree. They may be cut at the terminal's width, and are never left out.
    Tree,
    /// Lines that stand below the row in a table.
    Below,
    /// A number that identifies and is never grouped by thousands, such as a pid.
    Id,
    /// A count.
    Count,
    /// A figure with this many digits behind the point.
    Number(u8),
    /// Yes or no.
    Bool,
    /// An instant, nanoseconds since time zero.
    Time,
    /// A duration in nanoseconds, shown in s.
    Seconds,
    /// A duration in nanoseconds, shown in ms.
    Milliseconds,
    /// A duration in nanoseconds, shown in µs.
    Microseconds,
    /// Bytes.
    Bytes,
    /// Several words.
    List,
    /// Several whole numbers.
    Integers,
    /// Named figures.
    Map,
    /// Rows below the row.
    Table,
}

impl Kind {
    /// The unit of the raw figure, as CSV, JSON and Parquet have it.
    #[must_use]
    pub fn raw_unit(self) -> &'static str {
        match self {
            Self::Time => "ns since time zero",
            Self::Seconds | Self::Milliseconds | Self::Microseconds => "ns",
            Self::Bytes => "bytes",
            Self::Id | Self::Count => "integer",
            Self::Number(_) => "number",
            Self::Bool => "true/false",
            Self::Text | Self::LongText | Self::Tree => "text",
            Self::List | Self::Below => "list of texts",
            Self::Integers => "list of integers",
            Self::Map => "object",
            Self::Table => "list of objects",
        }
    }
}

/// Where a column is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// In every format.
    Always,
    /// In a table only with `--details`; always in CSV, JSON and Parquet.
    Details,
    /// Never in a table: the heading of the file has it, or only programs want it.
    Machine,
    /// Only in a table: it joins what the other formats have in columns of their own.
    People,
    /// In no format: the question does not ask for it.
    Nowhere,
}

/// Description of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name in CSV, JSON and Parquet; stable.
    pub key: &'static str,
    /// Header in a table, without its unit.
    pub title: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Where it is shown.
    pub view: View,
    /// One sentence for the reference.
    pub help: &'static str,
}

/// A column of the rows `R` with the way to its value.
#[derive(Debug)]
pub struct ColumnOf<R> {
    /// The description.
    pub column: Column,
    /// The value in a row.
    pub value: fn(&R) -> Value,
    /// The stored columns that the value is made of.
    pub needs: Needs,
}

// By hand, since a column can be copied whatever its rows are.
impl<R> Clone for ColumnOf<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for ColumnOf<R> {}

macro_rules! constructor {
    ($(#[$doc:meta])* $name:ident, $view:ident) => {
        $(#[$doc])*
        pub const fn $name(
            key: &'static str,
            title: &'static str,
            kind: Kind,
            value: fn(&R) -> Value,
            help: &'static str,
        ) -> Self {
            Self { column: Column { key, title, kind, view: View::$view, help }, value, needs: Needs::EVERYTHING }
        }
    };
}

impl<R> ColumnOf<R> {
    constructor!(
        /// A column that is shown in every format.
        always,
        Always
    );
    constructor!(
        /// A column that a table shows only with `--details`.
        details,
        Details
    );
    constructor!(
        /// A column that no table shows.
        machine,
        Machine
    );
    constructor!(
        /// A column that only a table shows.
        people,
        People
    );

    /// The same column, shown elsewhere.
    #[must_use]
    pub const fn shown(mut self, view: View) -> Self {
        self.column.view = view;
        self
    }

    /// The same column, whose value is made of no other stored columns than these. A column that does not say is taken to need everything.
    #[must_use]
    pub const fn made_of(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    /// The same column under another header.
    #[must_use]
    pub const fn titled(mut self, title: &'static str) -> Self {
        self.column.title = title;
        self
    }

    /// The same column with what it means in this answer.
    #[must_use]
    pub const fn meaning(mut self, help: &'static str) -> Self {
        self.column.help = help;
        self
    }
}

/// The values of typed rows, one per column.
pub fn values<R>(columns: &[ColumnOf<R>], rows: &[R]) -> Vec<Vec<Value>> {
    rows.iter().map(|row| columns.iter().map(|column| (column.value)(row)).collect()).collect()
}

/// The descriptions of typed columns.
pub fn descriptions<R>(columns: &[ColumnOf<R>]) -> Vec<Column> {
    columns.iter().map(|column| column.column).collect()
}

/// One figure beside the rows: a total, a count.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What it is.
    pub label: &'static str,
    /// The figure.
    pub value: Value,
    /// How to show it.
    pub kind: Kind,
    /// Whether the figures of several files add up.
    pub adds_up: bool,
}

impl Fact {
    /// A sum or count that adds up over files.
    pub fn new(label: &'static str, kind: Kind, value: impl Into<Value>) -> Self {
        Self { label, value: value.into(), kind, adds_up: true }
    }

    /// Whether it is a figure other than 0.
    #[must_use]
    pub fn is_figure(&self) -> bool {
        match self.value {
            Value::None | Value::Int(0) | Value::Text(_) => false,
            Value::Float(figure) => figure != 0.0,
            _ => true,
        }
    }

    /// A figure of one file only, such as a number of distinct users.
    pub fn local(label: &'static str, kind: Kind, value: impl Into<Value>) -> Self {
        Self { adds_up: false, ..Self::new(label, kind, value) }
    }
}

/// The rows of one file (or test run), with what stands above and below them in a table.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Section {
    /// Name above the rows.
    pub title: String,
    /// The archive or recording, where the section is one file.
    pub path: Option<PathBuf>,
    /// Its time zero, to show instants as dates.
    pub zero: Option<Zero>,
    /// The rows, ascending.
    pub rows: Vec<Vec<Value>>,
    /// Totals of the rows shown, counts.
    pub facts: Vec<Fact>,
    /// What makes the figures less than exact.
    pub warnings: Vec<Limit>,
    /// The rows in parts, each with a heading of its own in a table. Without any they are one part.
    pub groups: Vec<Group>,
    /// What is worth knowing of figures that are exact; below a table.
    pub notes: Vec<String>,
    /// Whether a table shows it even if it says nothing: where totals were asked for, 0 is an answer.
    pub always: bool,
    /// Whether the recording has nothing of the kind that was asked for; a fact says why.
    pub is_absent: bool,
}

/// Rows that follow each other, below a heading.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Group {
    /// What they have in common.
    pub title: String,
    /// Long words for the end of the heading, such as a command line.
    pub text: Option<String>,
    /// Totals.
    pub facts: Vec<Fact>,
    /// How many rows.
    pub rows: usize,
}

impl Section {
    /// Counts all instants from another one, ns since time zero. Dates stay what they are.
    pub(crate) fn count_from(&mut self, origin: i64, columns: &[Column]) {
        if origin == 0 {
            return;
        }
        self.rows.iter_mut().for_each(|row| count_from(origin, columns, row));
        // Where there is no calendar there is nothing to keep.
        for zero in self.zero.iter_mut().filter(|zero| zero.filetime != 0) {
            zero.filetime = zero.filetime.saturating_add(origin.div_euclid(100));
        }
    }

    /// Whether it has neither rows nor a figure other than 0.
    #[must_use]
    pub fn says_nothing(&self) -> bool {
        if self.always {
            return false;
        }
        self.rows.is_empty() && !self.facts.iter().any(Fact::is_figure)
    }

    /// The counts and sums of several sections, added up label by label.
    #[must_use]
    pub fn sum_facts<'a>(sections: impl IntoIterator<Item = &'a Self>) -> Vec<Fact> {
        let mut sums: Vec<Fact> = Vec::new();
        for fact in sections.into_iter().flat_map(|section| &section.facts).filter(|fact| fact.adds_up) {
            match (sums.iter_mut().find(|sum| sum.label == fact.label), &fact.value) {
                (None, _) => sums.push(fact.clone()),
                (Some(Fact { value: Value::Int(sum), .. }), Value::Int(more)) => *sum = sum.saturating_add(*more),
                (Some(_), _) => {}
            }
        }
        sums
    }
}

fn count_from(origin: i64, columns: &[Column], row: &mut [Value]) {
    for (column, value) in columns.iter().zip(row) {
        match value {
            Value::Int(ns) if column.kind == Kind::Time => *ns = ns.saturating_sub(origin),
            Value::Table(table) => table.rows.iter_mut().for_each(|row| count_from(origin, &table.columns, row)),
            _ => {}
        }
    }
}

/// How a table for people is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One line per row.
    Rows,
    /// One block of `name: value` lines per row.
    Cards,
    /// One line per column, with the values of all rows side by side.
    SideBySide {
        /// Headings above lines, each with the keys of the columns of its lines.
        headings: &'static [(&'static str, &'static [&'static str])],
        /// Whether formats for programs have the rows and columns exchanged, too.
        in_all_formats: bool,
    },
}

/// The answer to a question over any number of files.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The question's name.
    pub question: &'static str,
    /// The columns.
    pub columns: Vec<Column>,
    /// Layout of the table.
    pub layout: Layout,
    /// The column by which the rows are sorted, if a table would not be understood without it.
    pub sorted: Option<&'static str>,
    /// The sections, oldest recording first.
    pub sections: Vec<Section>,
    /// Totals over some sections each, such as those of a test run; a table shows them below the sections.
    pub sums: Vec<Group>,
    /// Totals over all sections.
    pub facts: Vec<Fact>,
}

impl Answer {
    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = &Vec<Value>> {
        self.sections.iter().flat_map(|section| &section.rows)
    }

    /// Drops the columns that are shown nowhere.
    pub(crate) fn drop_hidden(&mut self) {
        let kept = self.positions(|column| column.view != View::Nowhere);
        if kept.len() == self.columns.len() {
            return;
        }
        self.keep(&kept);
    }

    /// Keeps the columns at these positions, in this order.
    pub(crate) fn keep(&mut self, kept: &[usize]) {
        self.columns = kept.iter().filter_map(|&at| self.columns.get(at).copied()).collect();
        for row in self.sections.iter_mut().flat_map(|section| &mut section.rows) {
            *row = kept
                .iter()
                .filter_map(|&at| row.get_mut(at).map(|value| std::mem::replace(value, Value::None)))
                .collect();
        }
    }

    fn positions(&self, wanted: impl Fn(&Column) -> bool) -> Vec<usize> {
        self.columns.iter().enumerate().filter(|(_, column)| wanted(column)).map(|(at, _)| at).collect()
    }
}

/// A file that could not be asked. The others still are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The file.
    pub path: PathBuf,
    /// Why not.
    pub reason: String,
}

impl Failure {
    /// A failure of `path` with the reasons of the error and of its sources.
    pub fn new(path: &Path, error: &dyn std::error::Error) -> Self {
        let mut reason = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            let text = error.to_string();
            // Transparent and display-chained errors repeat their source; once is enough.
            if !reason.contains(&text) {
                reason = format!("{reason}: {text}");
            }
            source = error.source();
        }
        Self { path: path.to_owned(), reason }
    }

    /// Not of a file: somebody cancelled the question, and it has no answer.
    #[must_use]
    pub fn cancelled() -> Self {
        Self { path: PathBuf::new(), reason: Error::Cancelled.to_string() }
    }
}

/// An answer with the files that have no part in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The answer over the files that could be read.
    pub answer: Answer,
    /// The others.
    pub failures: Vec<Failure>,
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<u64> for Value {
    /// Figures beyond `i64` do not occur in a recording; they saturate.
    fn from(value: u64) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&[String]> for Value {
    fn from(value: &[String]) -> Self {
        Self::List(value.to_vec())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}
