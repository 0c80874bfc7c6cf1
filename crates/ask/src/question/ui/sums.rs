//! `dump ui --by …`: delays added up.

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::IntervalUnion;
use tracesift_trace::rows::{ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

use super::columns::{self, RUN, WAIT, kind_words};
use super::{By, Question, Sort, messages};
use crate::answer::{Column, ColumnOf, Fact, Kind, Section, View};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::recording::OpenRecording;
use crate::threads;

/// Shortest delays of the classes of the histogram but the first one, ns.
const CLASSES: [i64; 4] = [500_000_000, 1_000_000_000, 2_000_000_000, 5_000_000_000];

/// What the rows of a group have in common.
type Key = (Option<ProcessId>, Option<ThreadId>, Option<String>);

/// Delays added up.
#[derive(Clone, Debug, Default)]
pub struct Row {
    process: Option<ProcessRow>,
    thread: Option<ThreadRow>,
    /// Method, tag, message, class or kinds.
    text: Option<String>,
    threads: FxHashSet<ThreadId>,
    delays: i64,
    in_focus: Option<i64>,
    sum: i64,
    union: IntervalUnion,
    longest: i64,
    longest_start: i64,
    first: i64,
    run: Option<i64>,
    wait: Option<i64>,
    histogram: [i64; CLASSES.len() + 1],
}

impl Row {
    fn new(first: &columns::Row, by: By, text: Option<String>) -> Self {
        Self {
            process: first.process.clone().filter(|_| matches!(by, By::Process | By::Thread)),
            thread: first.thread.clone().filter(|_| by == By::Thread),
            text,
            first: i64::MAX,
            ..Self::default()
        }
    }

    fn add(&mut self, row: &columns::Row) {
        let (span, length) = (row.delay.span, row.delay.span.length());
        let add = |sum: &mut Option<i64>, more: Option<i64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        };
        self.delays += 1;
        self.threads.insert(row.delay.thread);
        self.sum = self.sum.saturating_add(length);
        self.union.add(span);
        self.first = self.first.min(span.start);
        if length > self.longest {
            (self.longest, self.longest_start) = (length, span.start);
        }
        add(&mut self.in_focus, row.delay.focus.map(|focus| i64::from(focus > 0)));
        add(&mut self.run, row.part(RUN));
        add(&mut self.wait, row.part(WAIT));
        self.histogram[CLASSES.partition_point(|shortest| *shortest <= length)] += 1;
    }

    fn name(&self) -> impl Ord + use<> {
        let process = self.process.as_ref().map(|row| (row.name.to_lowercase(), row.pid, row.process));
        (process, self.thread.as_ref().map(|row| (row.tid, row.thread)), self.text.clone())
    }
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name().meaning("With `--by process` and `thread`: file name of the image of the process."),
    of_process::pid().meaning("Its process id."),
    ColumnOf::machine(
        "tid",
        "Tid",
        Kind::Id,
        |r| r.thread.as_ref().map(|row| row.tid).into(),
        "With `--by thread`: the thread.",
    ),
    ColumnOf::always("delays", "Delays", Kind::Count, |r| r.delays.into(), "Number of delays."),
    ColumnOf::always(
        "threads",
        "Threads",
        Kind::Count,
        |r| r.threads.len().into(),
        "Number of threads; not with `--by thread`.",
    ),
    ColumnOf::always(
        "in_focus",
        "In focus",
        Kind::Count,
        |r| r.in_focus.into(),
        "Number of delays during which the process had the focus.",
    ),
    ColumnOf::always("delay_ns", "Sum", Kind::Milliseconds, |r| r.sum.into(), "Sum of the delays."),
    ColumnOf::details(
        "union_ns",
        "United",
        Kind::Milliseconds,
        |r| r.union.clone().covered().into(),
        "Time in which at least one thread was delayed so.",
    ),
    ColumnOf::always("longest_ns", "Longest", Kind::Milliseconds, |r| r.longest.into(), "The longest delay."),
    ColumnOf::always("longest_from_ns", "Longest from", Kind::Time, |r| r.longest_start.into(), "When that one began."),
    ColumnOf::details("first_ns", "First", Kind::Time, |r| r.first.into(), "Begin of the first delay."),
    ColumnOf::always("run_ns", "Run", Kind::Milliseconds, |r| r.run.into(), "Time that the threads ran in the delays."),
    ColumnOf::always("wait_ns", "Wait", Kind::Milliseconds, |r| r.wait.into(), "Time that they waited."),
    ColumnOf::details("below_500ms", "< 500 ms", Kind::Count, |r| r.histogram[0].into(), "Delays below 500 ms."),
    ColumnOf::details(
        "from_500ms",
        "500 ms to 1 s",
        Kind::Count,
        |r| r.histogram[1].into(),
        "Delays from 500 ms to 1 s.",
    ),
    ColumnOf::details("from_1s", "1 to 2 s", Kind::Count, |r| r.histogram[2].into(), "Delays from 1 s to 2 s."),
    ColumnOf::details("from_2s", "2 to 5 s", Kind::Count, |r| r.histogram[3].into(), "Delays from 2 s to 5 s."),
    ColumnOf::details(
        "from_5s",
        "5 s and more",
        Kind::Count,
        |r| r.histogram[4].into(),
        "Delays of 5 s and more: Windows shows such a window as not responding.",
    ),
    ColumnOf::people(
        "process_label",
        "Process",
        Kind::Text,
        |r| r.process.as_ref().map(of_process::name_with_marks).into(),
        "Name and pid of the process.",
    ),
    ColumnOf::people(
        "thread_label",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().map(|thread| threads::label(r.process.as_ref(), thread)).into(),
        "Process, thread id and name.",
    ),
    ColumnOf::always(
        "method",
        "Method",
        Kind::Text,
        |r| r.text.as_ref().into(),
        "With `--by method`: the method of the longest wait where that took the largest part of the delay, else the method in which the thread ran most; `(unknown)` without a stack.",
    ),
    ColumnOf::always(
        "tag",
        "Tag",
        Kind::Text,
        |r| r.text.as_ref().into(),
        "With `--by tag`: the stack tag of the longest wait where that took the largest part of the delay, else the one in which the thread ran most; `(unknown)` without a stack.",
    ),
    ColumnOf::always(
        "message",
        "Message",
        Kind::Text,
        |r| r.text.as_ref().into(),
        "With `--by message`: the window message; `(unknown)` where nothing tells it.",
    ),
    ColumnOf::always(
        "class",
        "Class",
        Kind::Text,
        |r| r.text.as_ref().into(),
        "With `--by class`: the class of the window; `(unknown)` where Windows did not report the delay.",
    ),
    ColumnOf::always(
        "kinds",
        "Told by",
        Kind::Text,
        |r| r.text.as_ref().into(),
        "With `--by kind`: what tells of the delays.",
    ),
    of_process::command_line().shown(View::Machine),
]);

/// The columns of a grouping; the others are nowhere.
pub(super) fn columns(by: By) -> Vec<Column> {
    let mut columns = COLUMNS.descriptions();
    let (of_processes, of_threads) = (by == By::Process, by == By::Thread);
    let sets: [(&[&str], bool); 8] = [
        (&["process", "pid", "command_line"], of_processes || of_threads),
        (&["process_label"], of_processes),
        (&["tid", "thread_label"], of_threads),
        (&["method"], by == By::Method),
        (&["tag"], by == By::Tag),
        (&["message"], by == By::Message),
        (&["class"], by == By::Class),
        (&["kinds"], by == By::Kind),
    ];
    for column in &mut columns {
        let hides = |(keys, is_shown): &(&[&str], bool)| keys.contains(&column.key) && !is_shown;
        if sets.iter().any(hides) || (column.key == "threads" && of_threads) {
            column.view = View::Nowhere;
        }
    }
    columns
}

/// The answer of a recording: each delay with the method or tag that it is charged to.
pub(super) fn section(
    recording: &OpenRecording,
    question: &Question,
    by: By,
    delays: &[(columns::Row, Option<String>)],
) -> Section {
    let unknown = || "(unknown)".to_owned();
    let mut groups: FxHashMap<Key, Row> = FxHashMap::default();
    for (row, place) in delays {
        let (delay, process) = (&row.delay, row.process.as_ref().map(|row| row.process));
        let key: Key = match by {
            By::Process => (process, None, None),
            By::Thread => (process, Some(delay.thread), None),
            By::Method | By::Tag => (None, None, Some(place.clone().unwrap_or_else(unknown))),
            By::Message => (None, None, Some(delay.message.map_or_else(unknown, messages::name))),
            By::Class => (None, None, Some(delay.class.clone().unwrap_or_else(unknown))),
            By::Kind => (None, None, Some(kind_words(&delay.kinds).join(", "))),
        };
        let text = key.2.clone();
        groups.entry(key).or_insert_with(|| Row::new(row, by, text)).add(row);
    }
    let mut rows: Vec<Row> = groups.into_values().collect();
    rows.sort_by(|a, b| compare(question.sort, a, b));
    let sum = rows.iter().fold(0_i64, |sum, row| sum.saturating_add(row.sum));
    let facts = vec![Fact::new("delays", Kind::Count, delays.len()), Fact::new("delay sum", Kind::Milliseconds, sum)];
    question.top.apply(&mut rows);
    COLUMNS.section(&recording.file, &rows, facts)
}

fn compare(sort: Option<Sort>, a: &Row, b: &Row) -> Ordering {
    let figure = |row: &Row| match sort {
        None | Some(Sort::Delay) => row.sum,
        Some(Sort::Longest) => row.longest,
        Some(Sort::Delays) => row.delays,
        Some(Sort::Run) => row.run.unwrap_or(-1),
        Some(Sort::Wait) => row.wait.unwrap_or(-1),
        Some(Sort::Start) => row.first,
        Some(Sort::Name) => 0,
    };
    figure(a).cmp(&figure(b)).then_with(|| match sort {
        Some(Sort::Name) => a.name().cmp(&b.name()),
        _ => a.sum.cmp(&b.sum).then_with(|| a.name().cmp(&b.name())),
    })
}
