//! `dump ui --list`: each report by itself.

use tracesift_analysis::Span;
use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::delays::{self, Report};
use super::{Question, Sort, messages};
use crate::answer::{ColumnOf, Fact, Kind, Section};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::recording::OpenRecording;
use crate::threads;

/// One report of the answer.
#[derive(Clone, Debug)]
pub struct Row {
    pub(super) process: Option<ProcessRow>,
    pub(super) thread: Option<ThreadRow>,
    pub(super) report: Report,
    /// Its time, cut to the time range.
    pub(super) span: Span,
    /// How long of it the process had the focus, ns.
    pub(super) focus: Option<i64>,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::machine("tid", "Tid", Kind::Id, |r| r.thread.as_ref().map(|row| row.tid).into(), "The thread."),
    ColumnOf::always("from_ns", "From", Kind::Time, |r| r.span.start.into(), "Begin of the time that is reported."),
    ColumnOf::always("to_ns", "To", Kind::Time, |r| r.span.end.into(), "Its end."),
    ColumnOf::always(
        "report_ns",
        "Length",
        Kind::Milliseconds,
        |r| r.span.length().into(),
        "Its length. Times of several reports overlap.",
    ),
    ColumnOf::always(
        "kind",
        "Kind",
        Kind::Text,
        |r| delays::kind(r.report.kind).into(),
        "`no fetch`, `dispatch`, `input`, `no check`, `wait cursor` or `switches`.",
    ),
    ColumnOf::always(
        "in_focus",
        "Focus",
        Kind::Bool,
        |r| r.focus.map(|focus| focus > 0).into(),
        "Whether its process had the focus meanwhile.",
    ),
    ColumnOf::always(
        "message",
        "Message",
        Kind::Text,
        |r| r.report.message.map(messages::name).into(),
        "The window message.",
    ),
    ColumnOf::machine("message_id", "Number", Kind::Id, |r| r.report.message.into(), "Its number."),
    ColumnOf::always("class", "Class", Kind::Text, |r| r.report.class.as_ref().into(), "Class of the window."),
    ColumnOf::details(
        "top_class",
        "Top class",
        Kind::Text,
        |r| r.report.top_class.as_ref().into(),
        "Class of the window on top of it.",
    ),
    ColumnOf::always(
        "input_ns",
        "Input waited",
        Kind::Milliseconds,
        |r| r.report.input.into(),
        "How long the oldest input had waited for the thread.",
    ),
    ColumnOf::details(
        "still_open",
        "Open",
        Kind::Bool,
        |r| (r.report.open == Some(true)).into(),
        "Whether it lasts at the end of the recording, or at the time of the report.",
    ),
    ColumnOf::people(
        "thread_label",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().map(|thread| threads::label(r.process.as_ref(), thread)).into(),
        "Process, thread id and name.",
    ),
    of_process::command_line().shown(crate::answer::View::Machine),
]);

/// The answer of a recording.
pub(super) fn section(recording: &OpenRecording, question: &Question, mut rows: Vec<Row>) -> Section {
    let name = |row: &Row| (row.process.as_ref().map(|row| (row.name.to_lowercase(), row.pid)), row.span.start);
    let figure = |row: &Row| if question.sort == Some(Sort::Start) { row.span.start } else { row.span.length() };
    rows.sort_by_key(|row| (row.report.kind, row.report.thread));
    rows.sort_by_cached_key(name);
    if question.sort != Some(Sort::Name) {
        rows.sort_by_key(figure);
    }
    let facts = vec![Fact::new("reports", Kind::Count, rows.len())];
    question.top.apply(&mut rows);
    COLUMNS.section(&recording.file, &rows, facts)
}
