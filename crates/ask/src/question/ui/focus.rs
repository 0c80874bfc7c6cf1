//! `dump ui --focus`: who had the focus, and when.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::Span;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{FocusRow, ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

use super::{Question, Sort};
use crate::answer::{ColumnOf, Fact, Kind, Section};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::recording::OpenRecording;
use crate::threads::Threads;

/// When processes had the focus.
#[derive(Clone, Debug, Default)]
pub(super) struct FocusTimes {
    /// Disjoint spans, ascending.
    of_process: FxHashMap<ProcessId, Vec<Span>>,
    is_known: bool,
}

impl FocusTimes {
    /// Of an archive.
    pub(super) fn read(archive: &Archive) -> Result<Self, Error> {
        let rows: Vec<FocusRow> = archive.rows()?;
        let spans = rows.iter().filter_map(|row| Some((row.process?, Span::new(row.start, row.time))));
        Ok(Self::new(!rows.is_empty(), spans))
    }

    pub(super) fn new(is_known: bool, spans: impl Iterator<Item = (ProcessId, Span)>) -> Self {
        let mut of_process: FxHashMap<ProcessId, Vec<Span>> = FxHashMap::default();
        for (process, span) in spans {
            of_process.entry(process).or_default().push(span);
        }
        for spans in of_process.values_mut() {
            spans.sort_by_key(|span| span.start);
            let mut disjoint: Vec<Span> = Vec::with_capacity(spans.len());
            for span in spans.drain(..) {
                match disjoint.last_mut().filter(|last| span.start <= last.end) {
                    Some(last) => last.end = last.end.max(span.end),
                    None => disjoint.push(span),
                }
            }
            *spans = disjoint;
        }
        Self { of_process, is_known }
    }

    /// How long of a span a process had the focus, ns; `None`: nothing is known of the focus.
    pub(super) fn of(&self, process: Option<ProcessId>, span: Span) -> Option<i64> {
        if !self.is_known {
            return None;
        }
        let spans = self.of_process.get(&process?).map(Vec::as_slice).unwrap_or_default();
        let from = spans.partition_point(|focus| focus.end <= span.start);
        let inside = spans[from..].iter().take_while(|focus| focus.start < span.end);
        Some(inside.map(|focus| focus.intersect(span).length()).sum())
    }
}

/// A time in which a process had the focus.
#[derive(Clone, Debug)]
pub struct Row {
    process: Option<ProcessRow>,
    thread: Option<ThreadId>,
    label: Option<String>,
    tid: Option<i64>,
    span: Span,
    session: i32,
    open: bool,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name().meaning("File name of the image of the process that had the focus."),
    of_process::pid(),
    ColumnOf::machine("tid", "Tid", Kind::Id, |r| r.tid.into(), "The thread whose window had it, where it is known."),
    ColumnOf::always("from_ns", "From", Kind::Time, |r| r.span.start.into(), "When the focus came."),
    ColumnOf::always("to_ns", "To", Kind::Time, |r| r.span.end.into(), "When it left."),
    ColumnOf::always(
        "focus_ns",
        "Focus",
        Kind::Milliseconds,
        |r| r.span.length().into(),
        "How long it stayed, in the time range.",
    ),
    ColumnOf::details("session", "Session", Kind::Id, |r| r.session.into(), "Terminal-services session."),
    ColumnOf::details(
        "still_open",
        "Open",
        Kind::Bool,
        |r| r.open.into(),
        "Whether it stayed to the end of the recording, or the event of its end is missing.",
    ),
    ColumnOf::people(
        "process_label",
        "Process",
        Kind::Text,
        |r| r.process.as_ref().map(of_process::name_with_marks).into(),
        "Name and pid of the process.",
    ),
    ColumnOf::people("thread_label", "Thread", Kind::Text, |r| r.label.as_ref().into(), "Process, thread id and name."),
    of_process::command_line().shown(crate::answer::View::Machine),
]);

/// The answer of a recording.
pub(super) fn section(
    recording: &OpenRecording,
    question: &Question,
    processes: &[ProcessRow],
    threads: &[ThreadRow],
    accepted: &FxHashSet<ProcessId>,
) -> Result<Section, Error> {
    let (start, end) = question.time.bounds();
    let range = Span::new(start, end);
    let known = Threads::new(threads, processes);
    let by_id: FxHashMap<ProcessId, &ProcessRow> = processes.iter().map(|row| (row.process, row)).collect();
    let mut rows: Vec<Row> = Vec::new();
    let time = (!question.time.is_everything()).then_some(start..end);
    recording.archive().scan(time, |row: &FocusRow| {
        let span = Span::new(row.start, row.time).intersect(range);
        let is_asked = row.process.is_some_and(|process| accepted.contains(&process));
        if is_asked && !span.is_empty() {
            rows.push(Row {
                process: row.process.and_then(|process| by_id.get(&process)).map(|row| (*row).clone()),
                thread: row.thread,
                label: row.thread.map(|thread| known.label(thread)),
                tid: row.thread.and_then(|thread| known.row(thread)).map(|row| row.tid),
                span,
                session: row.session,
                open: row.open == Some(true),
            });
        }
    })?;
    let name = |row: &Row| row.process.as_ref().map(|row| (row.name.to_lowercase(), row.pid));
    rows.sort_by_key(|row| (row.span.start, row.session, row.thread));
    match question.sort {
        None | Some(Sort::Start) => {}
        Some(Sort::Name) => rows.sort_by_key(name),
        Some(_) => rows.sort_by_key(|row| row.span.length()),
    }
    // The spans of a damaged archive may be of any length.
    let sum = rows.iter().map(|row| row.span.length()).fold(0, i64::saturating_add);
    question.top.apply(&mut rows);
    let facts = vec![Fact::new("focus", Kind::Milliseconds, sum)];
    Ok(COLUMNS.section(&recording.file, &rows, facts))
}
