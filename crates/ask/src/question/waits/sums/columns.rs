//! The columns of `dump waits --by …`.

use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::{End, Key, WaitSums};
use crate::answer::{ColumnOf, Kind, Value};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::stack_labels::Labels;
use crate::threads::{self, Threads};

/// Percentiles that are shown, from 0 to 1.
const PERCENTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// Waits added up.
#[derive(Clone, Debug)]
pub struct Row {
    process: Option<ProcessRow>,
    thread: Option<ThreadRow>,
    method: Option<String>,
    waker: Option<Waker>,
    pub(super) waits: i64,
    open: i64,
    pub(super) sum: i64,
    direct: i64,
    pub(super) union: i64,
    pub(super) longest: i64,
    longest_start: i64,
    percentiles: [Option<i64>; PERCENTILES.len()],
    threads: usize,
}

/// For whom they were.
#[derive(Clone, Debug, Default)]
struct Waker {
    label: String,
    process: Option<(String, i64)>,
    tid: Option<i64>,
    thread_name: Option<String>,
    did: Option<&'static str>,
    method: Option<String>,
    interrupt: Option<&'static str>,
}

impl Row {
    pub(super) fn new(
        key: Key,
        sums: WaitSums,
        threads: &Threads<'_>,
        processes: &[ProcessRow],
        labels: &Labels,
    ) -> Self {
        let thread = if let Key::Thread(thread) = key { threads.row(thread) } else { None };
        let process = match key {
            Key::Thread(thread) => threads.process(thread),
            Key::Process(process) => processes.iter().find(|row| row.process == process),
            Key::Method(_) | Key::For(_) => None,
        };
        let of_label = |label| labels.text(label).map_or("(no stack)", String::as_str).to_owned();
        let method = if let Key::Method(label) = key { Some(of_label(label)) } else { None };
        let waker = if let Key::For(end) = key { Some(Waker::new(end, threads, labels)) } else { None };
        Self {
            process: process.cloned(),
            thread: thread.cloned(),
            method,
            waker,
            waits: sums.waits,
            open: sums.open,
            sum: sums.sum,
            direct: sums.direct,
            union: sums.union.covered(),
            longest: sums.longest,
            longest_start: sums.longest_start,
            percentiles: sums.spread.percentiles(PERCENTILES),
            threads: sums.threads.len(),
        }
    }

    /// What brings rows of the same figure in order.
    pub(super) fn name(&self) -> impl Ord + use<> {
        let process = self.process.as_ref().map(|row| (row.name.to_lowercase(), row.pid, row.process));
        let thread = self.thread.as_ref().map(|row| (row.tid, row.start, row.thread));
        let waker =
            self.waker.as_ref().map(|waker| (waker.label.clone(), waker.did, waker.method.clone(), waker.interrupt));
        (process, thread, self.method.clone(), waker)
    }

    fn of_waker(&self, value: impl Fn(&Waker) -> Value) -> Value {
        self.waker.as_ref().map_or(Value::None, value)
    }
}

impl Waker {
    fn new(end: End, threads: &Threads<'_>, labels: &Labels) -> Self {
        let named = |label: &str| Self { label: label.to_owned(), ..Self::default() };
        match end {
            End::Nobody => named("(nobody)"),
            End::Unknown => named("(not recorded)"),
            End::Interrupt(interrupt) => named(interrupt.word()),
            End::Thread(thread, did, label, interrupt) => Self {
                label: threads.label(thread),
                process: threads.process(thread).map(|process| (process.name.clone(), process.pid)),
                tid: threads.row(thread).map(|row| row.tid),
                thread_name: threads.row(thread).and_then(|row| row.name.clone()),
                did: Some(did.word()),
                method: labels.text(label).cloned(),
                interrupt: interrupt.map(tracesift_analysis::Interrupt::word),
            },
        }
    }

    /// `waited in app!Load <- disk`
    fn text(&self) -> Option<String> {
        let method = self.method.as_ref().map(|method| format!(" in {method}")).unwrap_or_default();
        let interrupt = self.interrupt.map(|interrupt| format!(" <- {interrupt}")).unwrap_or_default();
        self.did.map(|did| format!("{did}{method}{interrupt}"))
    }
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

/// With `--by method`.
pub(super) const OF_METHODS: [&str; 1] = ["wait_method"];

/// With `--by thread`.
pub(super) const OF_THREADS: [&str; 3] = ["tid", "thread_name", "thread_label"];

/// With `--by thread` and `--by process`.
pub(super) const OF_PROCESSES: [&str; 3] = ["process", "pid", "command_line"];

/// With `--by waker`.
pub(super) const OF_WAKERS: [&str; 10] = [
    "waited_for",
    "waker_process",
    "waker_pid",
    "waker_tid",
    "waker_thread_name",
    "waker_did",
    "waker_method",
    "waker_woken_by",
    "direct_ns",
    "waker_text",
];

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name().meaning("With `--by thread` and `process`: file name of the image of the process that waited."),
    of_process::pid().meaning("Its process id."),
    ColumnOf::machine(
        "tid",
        "Tid",
        Kind::Id,
        |r| r.thread.as_ref().map(|row| row.tid).into(),
        "With `--by thread`: the thread that waited.",
    ),
    ColumnOf::machine(
        "thread_name",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().and_then(|row| row.name.clone()).into(),
        "Its name.",
    ),
    ColumnOf::always("waits", "Waits", Kind::Count, |r| r.waits.into(), "Number of waits."),
    ColumnOf::always(
        "threads",
        "Threads",
        Kind::Count,
        |r| r.threads.into(),
        "Number of threads that waited; not with `--by thread`.",
    ),
    ColumnOf::always("wait_sum_ns", "Sum", Kind::Milliseconds, |r| r.sum.into(), "Sum of the waits."),
    ColumnOf::always(
        "wait_ns",
        "Union",
        Kind::Milliseconds,
        |r| r.union.into(),
        "Time in which at least one of the threads waited so: the union of the waits.",
    ),
    ColumnOf::details(
        "direct_ns",
        "Direct",
        Kind::Milliseconds,
        |r| r.of_waker(|_| r.direct.into()),
        "With `--by waker`: the part of the sum whose waits this thread ended itself, without another thread between.",
    ),
    ColumnOf::always(
        "wait_p50_ns",
        "p50",
        Kind::Milliseconds,
        |r| r.percentiles[0].into(),
        "Median of the single waits.",
    ),
    ColumnOf::details(
        "wait_p90_ns",
        "p90",
        Kind::Milliseconds,
        |r| r.percentiles[1].into(),
        "90th percentile of the single waits.",
    ),
    ColumnOf::details(
        "wait_p95_ns",
        "p95",
        Kind::Milliseconds,
        |r| r.percentiles[2].into(),
        "95th percentile of the single waits.",
    ),
    ColumnOf::always(
        "wait_p99_ns",
        "p99",
        Kind::Milliseconds,
        |r| r.percentiles[3].into(),
        "99th percentile of the single waits.",
    ),
    ColumnOf::always("longest_ns", "Longest", Kind::Milliseconds, |r| r.longest.into(), "The longest wait."),
    ColumnOf::details(
        "longest_from_ns",
        "Longest from",
        Kind::Time,
        |r| r.longest_start.into(),
        "When that one began.",
    ),
    ColumnOf::machine(
        "still_open",
        "Open",
        Kind::Count,
        |r| r.open.into(),
        "Number of these waits that lasted until the thread or the recording ended.",
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
    of_process::command_line().shown(crate::answer::View::Machine),
    ColumnOf::always(
        "wait_method",
        "Waits in",
        Kind::Text,
        |r| r.method.as_ref().into(),
        "With `--by method`: the method that the row of a single wait would show; `(no stack)` without a stack.",
    ),
    ColumnOf::always(
        "waited_for",
        "Waited for",
        Kind::Text,
        |r| r.of_waker(|waker| (&waker.label).into()),
        "With `--by waker`: the thread at the end of the wait chain; `timer`, `disk`, `network` or `interrupt` where no thread ended the wait; \
         `(nobody)` if the wait did not end, `(not recorded)` if the recording does not tell.",
    ),
    ColumnOf::machine(
        "waker_process",
        "Waker",
        Kind::Text,
        |r| r.of_waker(|waker| waker.process.as_ref().map(|(name, _)| name.clone()).into()),
        "Its process.",
    ),
    ColumnOf::machine(
        "waker_pid",
        "Waker pid",
        Kind::Id,
        |r| r.of_waker(|waker| waker.process.as_ref().map(|(_, pid)| *pid).into()),
        "Id of its process.",
    ),
    ColumnOf::machine("waker_tid", "Waker tid", Kind::Id, |r| r.of_waker(|waker| waker.tid.into()), "Its thread id."),
    ColumnOf::machine(
        "waker_thread_name",
        "Waker name",
        Kind::Text,
        |r| r.of_waker(|waker| waker.thread_name.clone().into()),
        "Its name.",
    ),
    ColumnOf::machine(
        "waker_did",
        "Did",
        Kind::Text,
        |r| r.of_waker(|waker| waker.did.into()),
        "Its activity for the largest part of the wait: `ran`, `waited`, `ready`, or `unknown`.",
    ),
    ColumnOf::machine(
        "waker_method",
        "In",
        Kind::Text,
        |r| r.of_waker(|waker| waker.method.clone().into()),
        "The method of that activity: the method that waited, or the method with most samples meanwhile; without a sample, the method that ended the wait.",
    ),
    ColumnOf::machine(
        "waker_woken_by",
        "Woken by",
        Kind::Text,
        |r| r.of_waker(|waker| waker.interrupt.into()),
        "The source that ended its own wait: `timer`, `disk`, `network`, or `interrupt`.",
    ),
    ColumnOf::people(
        "waker_text",
        "Which",
        Kind::LongText,
        |r| r.of_waker(|waker| waker.text().into()),
        "Activity of that thread for the largest part of the wait.",
    ),
]);
