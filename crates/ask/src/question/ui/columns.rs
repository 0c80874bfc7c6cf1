//! The columns of `dump ui`.

use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::delays::{self, Delay};
use super::messages;
use super::switches::FROM_SWITCHES;
use crate::answer::{ColumnOf, Kind, Value};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::question::waits;
use crate::threads;

/// One delay of the answer.
#[derive(Clone, Debug)]
pub struct Row {
    pub(super) process: Option<ProcessRow>,
    pub(super) thread: Option<ThreadRow>,
    pub(super) delay: Delay,
    /// Run, ready, wait and unknown time, ns.
    pub(super) parts: Option<[i64; 4]>,
    pub(super) cpu: Option<i64>,
    /// The method with most samples, and their CPU.
    pub(super) method: Option<(String, i64)>,
    pub(super) wait: Option<waits::Row>,
}

impl Row {
    /// The figure of the order.
    pub(super) fn part(&self, place: usize) -> Option<i64> {
        self.parts.map(|parts| parts[place])
    }

    /// What brings rows of the same figure in order.
    pub(super) fn name(&self) -> (Option<(String, i64)>, Option<i64>, i64) {
        let process = self.process.as_ref().map(|row| (row.name.to_lowercase(), row.pid));
        (process, self.thread.as_ref().map(|row| row.tid), self.delay.span.start)
    }

    fn of_wait(&self, value: impl Fn(&waits::Row) -> Value) -> Value {
        self.wait.as_ref().map_or(Value::None, value)
    }
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

/// Words of the kinds of a delay.
pub(super) fn kind_words(kinds: &[i8]) -> Vec<String> {
    kinds.iter().map(|kind| delays::kind(*kind)).collect()
}

/// Run, ready, wait and unknown time: the places of [`Row::parts`].
pub(super) const RUN: usize = 0;
pub(super) const READY: usize = 1;
pub(super) const WAIT: usize = 2;
const UNKNOWN: usize = 3;

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::machine("tid", "Tid", Kind::Id, |r| r.thread.as_ref().map(|row| row.tid).into(), "The thread."),
    ColumnOf::machine(
        "thread_name",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().and_then(|row| row.name.clone()).into(),
        "Its name.",
    ),
    ColumnOf::always("from_ns", "From", Kind::Time, |r| r.delay.span.start.into(), "Begin of the delay."),
    ColumnOf::details("to_ns", "To", Kind::Time, |r| r.delay.span.end.into(), "End of the delay."),
    ColumnOf::always(
        "delay_ns",
        "Delay",
        Kind::Milliseconds,
        |r| r.delay.span.length().into(),
        "Length of the delay: run, ready, wait and unknown time together.",
    ),
    ColumnOf::always(
        "in_focus",
        "Focus",
        Kind::Bool,
        |r| r.delay.focus.map(|focus| focus > 0).into(),
        "Whether its process had the focus during the delay.",
    ),
    ColumnOf::details(
        "focus_ns",
        "In focus",
        Kind::Milliseconds,
        |r| r.delay.focus.into(),
        "How long of the delay its process had the focus.",
    ),
    ColumnOf::always("run_ns", "Run", Kind::Milliseconds, |r| r.part(RUN).into(), "Time that the thread ran."),
    ColumnOf::always(
        "ready_ns",
        "Ready",
        Kind::Milliseconds,
        |r| r.part(READY).into(),
        "Time that it was ready without a CPU.",
    ),
    ColumnOf::always("wait_ns", "Wait", Kind::Milliseconds, |r| r.part(WAIT).into(), "Time that it waited."),
    ColumnOf::details(
        "unknown_ns",
        "Unknown",
        Kind::Milliseconds,
        |r| r.part(UNKNOWN).into(),
        "Time of broken switch chains, or before the thread was first seen.",
    ),
    ColumnOf::people(
        "thread_label",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().map(|thread| threads::label(r.process.as_ref(), thread)).into(),
        "Process, thread id and name.",
    ),
    ColumnOf::always(
        "kinds",
        "Told by",
        Kind::List,
        |r| Value::List(kind_words(&r.delay.kinds)),
        "What tells of the delay: `no fetch` and `dispatch` (no message was fetched, one message took so long), `input` and `no check` (reports of Windows: input was not processed, messages not checked for), `wait cursor`; `switches`: no event of the message pump was recorded, and the thread did not wait for messages.",
    ),
    ColumnOf::machine(
        "from_switches",
        "From switches",
        Kind::Bool,
        |r| r.delay.kinds.contains(&FROM_SWITCHES).into(),
        "Whether the delay, or a part of it, is known from context switches alone.",
    ),
    ColumnOf::always(
        "message",
        "Message",
        Kind::Text,
        |r| r.delay.message.map(messages::name).into(),
        "The window message that the thread was busy with.",
    ),
    ColumnOf::details(
        "class",
        "Class",
        Kind::Text,
        |r| r.delay.class.as_ref().into(),
        "Class of its window, where Windows reports the delay.",
    ),
    ColumnOf::machine(
        "top_class",
        "Top class",
        Kind::Text,
        |r| r.delay.top_class.as_ref().into(),
        "Class of the window on top of it.",
    ),
    ColumnOf::details(
        "input_ns",
        "Input waited",
        Kind::Milliseconds,
        |r| r.delay.input.into(),
        "How long the oldest input had waited for the thread.",
    ),
    ColumnOf::details(
        "still_open",
        "Open",
        Kind::Bool,
        |r| r.delay.open.into(),
        "Whether the delay lasts at the end of the recording, or at the time of the report.",
    ),
    ColumnOf::details("cpu_ns", "CPU", Kind::Milliseconds, |r| r.cpu.into(), "Sampled CPU of the thread in the delay."),
    ColumnOf::always(
        "method",
        "Ran in",
        Kind::Text,
        |r| r.method.as_ref().map(|(method, _)| method).into(),
        "The method in which it ran most, by samples.",
    ),
    ColumnOf::details(
        "method_cpu_ns",
        "Of it",
        Kind::Milliseconds,
        |r| r.method.as_ref().map(|(_, cpu)| *cpu).into(),
        "Sampled CPU of this method.",
    ),
    ColumnOf::always(
        "longest_wait_ns",
        "Longest wait",
        Kind::Milliseconds,
        |r| r.of_wait(|wait| wait.length().into()),
        "Its longest wait in the delay.",
    ),
    ColumnOf::always(
        "wait_method",
        "Waits in",
        Kind::Text,
        |r| r.of_wait(waits::Row::method),
        "The method of that wait.",
    ),
    ColumnOf::always(
        "woken_by",
        "Woken by",
        Kind::Text,
        |r| r.of_wait(waits::Row::woken_by),
        "The thread that ended that wait; `timer`, `disk`, `network` or `interrupt` where it was no thread.",
    ),
    ColumnOf::machine(
        "wait_stack",
        "Wait stack",
        Kind::List,
        |r| r.of_wait(waits::Row::stack),
        "Stack of that wait, leaf first.",
    ),
    ColumnOf::people(
        "chain_text",
        "Meanwhile",
        Kind::Below,
        |r| r.of_wait(waits::Row::chain_text),
        "Wait chain, on lines below the row: the activity of the thread that ended the wait, and the thread that this one waited for.",
    ),
    ColumnOf::machine(
        "chain",
        "Chain",
        Kind::Table,
        |r| r.of_wait(waits::Row::chain),
        "Wait chain: the activity of the thread that ended the wait, while the wait lasted, and so on.",
    ),
    of_process::command_line().shown(crate::answer::View::Machine),
]);
