//! The columns of `dump regions`.

use std::sync::Arc;

use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::sums::Figures;
use crate::answer::{ColumnOf, Kind, View};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::threads;

/// Regions added up.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub(super) process: Option<Arc<ProcessRow>>,
    pub(super) thread: Option<Arc<ThreadRow>>,
    pub(super) region: Option<String>,
    pub(super) path: Option<String>,
    pub(super) name: Option<String>,
    pub(super) depth: Option<usize>,
    pub(super) figures: Figures,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_deref()
    }
}

impl Row {
    /// Region and name, where they are not the same.
    fn label(&self) -> String {
        let (region, name) = (self.region.clone().unwrap_or_default(), self.name.clone().unwrap_or_default());
        if name == region || name.is_empty() { region } else { format!("{region}: {name}") }
    }

    /// The label, indented below that of the region around.
    fn tree(&self) -> Option<String> {
        let indent = match self.depth? {
            0 => String::new(),
            // A tree of any depth still has to fit on a line.
            depth => format!("{}|- ", "  ".repeat(depth.min(32))),
        };
        Some(format!("{indent}{}", self.label()))
    }

    /// What brings rows of the same figure in order.
    pub(super) fn order(&self) -> impl Ord + use<> {
        let process = self.process.as_ref().map(|row| (row.name.to_lowercase(), row.pid, row.process));
        let thread = self.thread.as_ref().map(|row| (row.tid, row.start, row.thread));
        (process, thread, self.path.clone(), self.name.clone())
    }
}

/// The columns of each way to add regions up.
pub(super) const OF_PROCESSES: [&str; 4] = ["process", "pid", "process_label", of_process::COMMAND_LINE];
pub(super) const OF_THREADS: [&str; 3] = ["tid", "thread_name", "thread_label"];
pub(super) const OF_REGIONS: [&str; 2] = ["region", "path"];
pub(super) const OF_NAMES: [&str; 1] = ["name"];
pub(super) const OF_TREE: [&str; 2] = ["depth", "tree"];

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name().meaning("With `--by process` and `thread`: file name of the image of the process."),
    of_process::pid(),
    ColumnOf::machine(
        "tid",
        "Tid",
        Kind::Id,
        |r| r.thread.as_ref().map(|row| row.tid).into(),
        "With `--by thread`: thread of the event that begins the regions.",
    ),
    ColumnOf::machine(
        "thread_name",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().and_then(|row| row.name.clone()).into(),
        "Its name.",
    ),
    ColumnOf::always(
        "count",
        "Count",
        Kind::Count,
        |r| r.figures.count.into(),
        "Number of regions with begin and end.",
    ),
    ColumnOf::always(
        "sum_ns",
        "Sum",
        Kind::Milliseconds,
        |r| r.figures.sum.into(),
        "Sum of their times: regions that run at once count each.",
    ),
    ColumnOf::always(
        "union_ns",
        "United",
        Kind::Milliseconds,
        |r| r.figures.union.into(),
        "Time in which at least one of them ran: the duration of Windows Performance Analyzer.",
    ),
    ColumnOf::always(
        "longest_ns",
        "Longest",
        Kind::Milliseconds,
        |r| r.figures.longest.map(|span| span.length()).into(),
        "The longest one.",
    ),
    ColumnOf::details(
        "longest_start_ns",
        "Longest from",
        Kind::Time,
        |r| r.figures.longest.map(|span| span.start).into(),
        "Begin of the longest one.",
    ),
    ColumnOf::always(
        "exclusive_ns",
        "Exclusive",
        Kind::Milliseconds,
        |r| r.figures.exclusive.into(),
        "Sum of their times without the times of regions that lie in them.",
    ),
    ColumnOf::always(
        "p50_ns",
        "Median",
        Kind::Milliseconds,
        |r| r.figures.percentiles[0].into(),
        "Median of their times.",
    ),
    ColumnOf::details(
        "p90_ns",
        "90 %",
        Kind::Milliseconds,
        |r| r.figures.percentiles[1].into(),
        "90 % of them are not longer.",
    ),
    ColumnOf::always(
        "p99_ns",
        "99 %",
        Kind::Milliseconds,
        |r| r.figures.percentiles[2].into(),
        "99 % of them are not longer.",
    ),
    ColumnOf::always(
        "open",
        "Open",
        Kind::Count,
        |r| r.figures.open.into(),
        "Begins without an end. They are in no other figure.",
    ),
    ColumnOf::details(
        "stops",
        "Ends alone",
        Kind::Count,
        |r| r.figures.stops.into(),
        "Ends without a begin. They are in no other figure.",
    ),
    ColumnOf::details(
        "ignored",
        "Ignored",
        Kind::Count,
        |r| r.figures.ignored.into(),
        "Begins while a region with the same keys was open that does not nest.",
    ),
    ColumnOf::people(
        "process_label",
        "Process",
        Kind::Text,
        |r| r.process.as_deref().map(of_process::name_with_marks).into(),
        "Name and pid of the process.",
    ),
    ColumnOf::people(
        "thread_label",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().map(|thread| threads::label(r.process.as_deref(), thread)).into(),
        "Process, thread id and name.",
    ),
    ColumnOf::always("region", "Region", Kind::Text, |r| r.region.clone().into(), "Name of the definition."),
    ColumnOf::machine(
        "path",
        "Path",
        Kind::Text,
        |r| r.path.clone().into(),
        "The names of the definitions around it, and its own, with `/` in between.",
    ),
    ColumnOf::always(
        "name",
        "Name",
        Kind::Text,
        |r| r.name.clone().into(),
        "Name of the regions: the value of the field that names them, else the name of the definition.",
    ),
    ColumnOf::machine(
        "depth",
        "Depth",
        Kind::Count,
        |r| r.depth.into(),
        "With `--tree`: number of rows above it in the tree.",
    ),
    ColumnOf::people(
        "tree",
        "Region",
        Kind::Tree,
        |r| r.tree().into(),
        "Region and name, below those of the region around.",
    ),
    of_process::command_line().shown(View::Machine),
]);

/// A single region.
#[derive(Clone, Debug, Default)]
pub struct Single {
    pub(super) process: Option<Arc<ProcessRow>>,
    pub(super) thread: Option<Arc<ThreadRow>>,
    pub(super) region: String,
    pub(super) path: String,
    pub(super) name: String,
    pub(super) depth: u32,
    pub(super) start: i64,
    pub(super) end: Option<i64>,
    pub(super) exclusive: Option<i64>,
    pub(super) fields: Option<String>,
}

impl OfProcess for Single {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_deref()
    }
}

impl Single {
    pub(super) fn duration(&self) -> Option<i64> {
        Some(self.end?.saturating_sub(self.start))
    }
}

/// The columns of `--list`.
pub const LIST: Columns<Single> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::machine(
        "tid",
        "Tid",
        Kind::Id,
        |r| r.thread.as_ref().map(|row| row.tid).into(),
        "Thread of the event that begins it.",
    ),
    ColumnOf::machine(
        "thread_name",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().and_then(|row| row.name.clone()).into(),
        "Its name.",
    ),
    ColumnOf::always("start_ns", "Start", Kind::Time, |r| r.start.into(), "Time of the event that begins it."),
    ColumnOf::always(
        "end_ns",
        "End",
        Kind::Time,
        |r| r.end.into(),
        "Time of the event that ends it; empty: it is open, no event ends it.",
    ),
    ColumnOf::always(
        "duration_ns",
        "Duration",
        Kind::Milliseconds,
        |r| r.duration().into(),
        "Its whole time; empty: it is open.",
    ),
    ColumnOf::details(
        "exclusive_ns",
        "Exclusive",
        Kind::Milliseconds,
        |r| r.exclusive.into(),
        "Its time without the times of regions that lie in it, cut to `--time`.",
    ),
    ColumnOf::always(
        "depth",
        "Depth",
        Kind::Count,
        |r| i64::from(r.depth).into(),
        "Number of regions that it lies in.",
    ),
    ColumnOf::machine("open", "Open", Kind::Bool, |r| r.end.is_none().into(), "Whether no event ends it."),
    ColumnOf::people(
        "thread_label",
        "Thread",
        Kind::Text,
        |r| match &r.thread {
            Some(thread) => threads::label(r.process.as_deref(), thread).into(),
            None => r.process.as_deref().map(of_process::name_with_marks).into(),
        },
        "Process, thread id and name.",
    ),
    ColumnOf::always("region", "Region", Kind::Text, |r| (&r.region).into(), "Name of the definition."),
    ColumnOf::machine(
        "path",
        "Path",
        Kind::Text,
        |r| (&r.path).into(),
        "The names of the definitions around it, and its own, with `/` in between.",
    ),
    ColumnOf::always(
        "name",
        "Name",
        Kind::Text,
        |r| (&r.name).into(),
        "Value of the field that names it, else the name of the definition.",
    ),
    ColumnOf::machine(
        "fields",
        "Fields",
        Kind::Text,
        |r| r.fields.as_ref().into(),
        "The fields of the event that begins it, as a JSON object.",
    ),
    of_process::command_line().shown(View::Machine),
]);
