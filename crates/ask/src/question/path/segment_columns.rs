//! The columns of `dump path --segments`.

use tracesift_analysis::Span;
use tracesift_trace::rows::{ProcessRow, ThreadRow};

use crate::answer::{ColumnOf, Kind, Value};
use crate::columns::Columns;
use crate::path::rows::Name;
use crate::path::window::Window;
use crate::process_columns::{self as of_process, OfProcess};

/// A segment of a path.
#[derive(Clone, Debug)]
pub struct Row {
    pub(super) window: Window,
    pub(super) span: Span,
    pub(super) thread: Option<ThreadRow>,
    pub(super) process: Option<ProcessRow>,
    /// What the thread did, and for whom.
    pub(super) name: Name,
    /// How many threads lie between the anchor and this one, with this one.
    pub(super) depth: Option<usize>,
    /// The threads from the anchor to this one.
    pub(super) chain: Option<Vec<String>>,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

impl Row {
    /// The process that had the CPU, of ready time.
    fn had_cpu(&self) -> Option<&String> {
        self.name.site.as_ref().filter(|_| self.name.state == "ready")
    }

    /// The method that waited.
    fn waits_in(&self) -> Option<&String> {
        self.name.site.as_ref().filter(|_| self.name.state == "wait")
    }
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    ColumnOf::machine(
        "window",
        "Window",
        Kind::Count,
        |r| r.window.number.into(),
        "Number of the window among those that fit, by time; the first is 1.",
    ),
    ColumnOf::machine(
        "window_from_ns",
        "Window from",
        Kind::Time,
        |r| r.window.span.start.into(),
        "Start of the window.",
    ),
    ColumnOf::machine(
        "window_ns",
        "Window length",
        Kind::Milliseconds,
        |r| r.window.span.length().into(),
        "Length of the window. Its segments follow each other without a gap, and their path times add up to it.",
    ),
    ColumnOf::always("from_ns", "From", Kind::Time, |r| r.span.start.into(), "Start of the segment."),
    ColumnOf::machine("to_ns", "To", Kind::Time, |r| r.span.end.into(), "Its end: the start of the next one."),
    ColumnOf::always("path_ns", "Path", Kind::Milliseconds, |r| r.span.length().into(), "Its length."),
    ColumnOf::always(
        "state",
        "Did",
        Kind::Text,
        |r| r.name.state.into(),
        "`run`, `ready`, `wait` or `unknown`, of the thread of the segment.",
    ),
    of_process::name(),
    of_process::pid(),
    of_process::label(),
    ColumnOf::machine(
        "process_key",
        "Process key",
        Kind::Id,
        |r| r.process.as_ref().map(|row| i64::from(row.process.0)).into(),
        "Column `process` of the archive's table `processes`.",
    ),
    ColumnOf::always("tid", "Tid", Kind::Id, |r| r.thread.as_ref().map(|row| row.tid).into(), "Id of the thread."),
    ColumnOf::always(
        "thread_name",
        "Name",
        Kind::Text,
        |r| r.thread.as_ref().and_then(|row| row.name.as_ref()).into(),
        "Name of the thread.",
    ),
    ColumnOf::machine(
        "thread_key",
        "Thread key",
        Kind::Id,
        |r| r.thread.as_ref().map(|row| i64::from(row.thread.0)).into(),
        "Column `thread` of the archive's table `threads`.",
    ),
    ColumnOf::machine(
        "process_role",
        "Process role",
        Kind::Text,
        |r| r.name.process.as_ref().into(),
        "Role of the process, as `process` in the rows without `--segments`.",
    ),
    ColumnOf::machine(
        "thread_role",
        "Thread role",
        Kind::Text,
        |r| r.name.thread.as_ref().into(),
        "Role of the thread, as `thread` there.",
    ),
    ColumnOf::always(
        "ended_by",
        "Ended by",
        Kind::Text,
        |r| r.name.ended_by.as_ref().into(),
        "Of a wait: the timer or device that ended it; `(nobody)` or `(not followed)`.",
    ),
    ColumnOf::always(
        "wait_method",
        "Waits in",
        Kind::Text,
        |r| r.waits_in().into(),
        "Of a wait: the method, by the rules of `dump waits`.",
    ),
    ColumnOf::always(
        "had_cpu",
        "Had the CPU",
        Kind::Text,
        |r| r.had_cpu().into(),
        "Of ready time: role of the process that had the CPU.",
    ),
    ColumnOf::details(
        "tag",
        "Tag",
        Kind::Text,
        |r| r.name.tag.as_ref().into(),
        "Of a wait its stack tag, of ready time the kind of process that had the CPU, of unknown time the reason. Empty of a run: samples divide the rows without `--segments`.",
    ),
    ColumnOf::machine(
        "disturbance",
        "Disturbance",
        Kind::Text,
        |r| r.name.disturbance.map(|kind| kind.to_string()).into(),
        "The kind of disturbance. Empty of a run, for the same reason.",
    ),
    ColumnOf::machine(
        "for_tag",
        "For tag",
        Kind::Text,
        |r| r.name.for_tag.as_ref().into(),
        "Stack tag of the anchor's wait that the time was spent for; empty for time of the anchor itself.",
    ),
    ColumnOf::always("for_site", "For", Kind::Text, |r| r.name.for_site.as_ref().into(), "Method of that wait."),
    ColumnOf::machine(
        "depth",
        "Depth",
        Kind::Count,
        |r| r.depth.into(),
        "Number of threads that the path follows from the anchor to this one; 0: the anchor itself.",
    ),
    ColumnOf::details(
        "chain",
        "Chain",
        Kind::List,
        |r| r.chain.as_ref().map_or(Value::None, |chain| Value::List(chain.clone())),
        "These threads, the anchor first, each with the method in which it waited for the next one. Empty where the window has more than 65,536 links of chains.",
    ),
]);
