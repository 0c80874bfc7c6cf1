//! The columns of `dump threads`.

use tracesift_analysis::ThreadAccount;
use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::wakers::{Detail, Reason, WokenBy};
use crate::answer::{Column, ColumnOf, Kind, Table, Value, View, descriptions, values};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::stack_names::StackNames;
use crate::threads;
use crate::time_format::milliseconds;

/// Wakers and reasons that a table names.
const NAMED: usize = 3;

/// One thread of the answer.
#[derive(Clone, Debug)]
pub struct Row {
    pub(super) process: ProcessRow,
    pub(super) thread: ThreadRow,
    pub(super) cpu: Option<i64>,
    pub(super) samples: Option<i64>,
    pub(super) account: Option<ThreadAccount>,
    pub(super) start_method: Option<String>,
    pub(super) detail: Detail,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        Some(&self.process)
    }
}

impl Row {
    /// Whether the thread had any part in the time range. The others would only fill the screen.
    pub(super) fn was_seen(&self) -> bool {
        let account = self.account.as_ref();
        self.samples.is_some_and(|samples| samples > 0)
            || account.is_some_and(|account| {
                account.run > 0
                    || account.switches > 0
                    || account.wait > 0
                    || account.ready.is_some_and(|ready| ready > 0)
            })
    }

    fn account(&self, of: impl Fn(&ThreadAccount) -> i64) -> Value {
        self.account.as_ref().map(of).into()
    }
}

const REASONS: &[ColumnOf<Reason>] = &[
    ColumnOf::always(
        "reason",
        "Reason",
        Kind::Text,
        |r| (&r.name).into(),
        "Wait reason of Windows, letter of the state of Linux.",
    ),
    ColumnOf::always("count", "Waits", Kind::Count, |r| r.count.into(), "Number of waits."),
    ColumnOf::always("wait_ns", "Wait", Kind::Milliseconds, |r| r.wait.into(), "Their sum."),
];

const WAKERS: &[ColumnOf<WokenBy>] = &[
    ColumnOf::always(
        "woken_by",
        "Woken by",
        Kind::Text,
        |r| (&r.label).into(),
        "The thread, or `timer`, `disk`, `network`, `interrupt`.",
    ),
    ColumnOf::machine(
        "process",
        "Process",
        Kind::Text,
        |r| r.process.as_ref().map(|(name, _)| name.clone()).into(),
        "Its process.",
    ),
    ColumnOf::machine(
        "pid",
        "Pid",
        Kind::Id,
        |r| r.process.as_ref().map(|(_, pid)| *pid).into(),
        "Id of that process.",
    ),
    ColumnOf::machine("tid", "Tid", Kind::Id, |r| r.tid.into(), "Thread id."),
    ColumnOf::always("count", "Wake-ups", Kind::Count, |r| r.count.into(), "Number of wake-ups."),
    ColumnOf::always(
        "wait_ns",
        "Wait",
        Kind::Milliseconds,
        |r| r.wait.into(),
        "Sum of the waits that these wake-ups ended.",
    ),
    ColumnOf::always(
        "stack",
        "Stack",
        Kind::List,
        |r| Value::List(r.stack.iter().map(ToString::to_string).collect()),
        "The most frequent stack of these wake-ups, leaf first.",
    ),
];

/// The columns of the objects in `wait_reasons`.
#[must_use]
pub fn reason_columns() -> Vec<Column> {
    descriptions(REASONS)
}

/// The columns of the objects in `wakers`.
#[must_use]
pub fn waker_columns() -> Vec<Column> {
    descriptions(WAKERS)
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::machine("tid", "Tid", Kind::Id, |r| r.thread.tid.into(), "Thread id."),
    ColumnOf::machine("thread_name", "Thread", Kind::Text, |r| r.thread.name.as_ref().into(), "Name of the thread."),
    ColumnOf::always(
        "cpu_ns",
        "CPU",
        Kind::Milliseconds,
        |r| r.cpu.into(),
        "Sampled CPU: the sum of the samples' weights.",
    ),
    ColumnOf::details("samples", "Samples", Kind::Count, |r| r.samples.into(), "Samples."),
    ColumnOf::always(
        "run_ns",
        "Run",
        Kind::Milliseconds,
        |r| r.account(|account| account.run),
        "Precise: time on the CPU from context switches.",
    ),
    ColumnOf::always(
        "wait_ns",
        "Wait",
        Kind::Milliseconds,
        |r| r.account(|account| account.wait),
        "Precise: time blocked.",
    ),
    ColumnOf::always(
        "ready_ns",
        "Ready",
        Kind::Milliseconds,
        |r| r.account.as_ref().and_then(|account| account.ready).into(),
        "Precise: time ready to run without a CPU; empty without ready events.",
    ),
    ColumnOf::details(
        "open_ns",
        "Open",
        Kind::Milliseconds,
        |r| r.account(|account| account.open),
        "Precise: time off the CPU before its first switch-in.",
    ),
    ColumnOf::details(
        "unknown_ns",
        "Unknown",
        Kind::Milliseconds,
        |r| r.account(|account| account.unknown),
        "Precise: time without a switch and at broken switch chains. Run, wait, ready, open and unknown add up to its life inside the time range.",
    ),
    ColumnOf::always("switches", "Switches", Kind::Count, |r| r.account(|account| account.switches), "Switch-ins."),
    ColumnOf::details(
        "cores_used",
        "Cores",
        Kind::Count,
        |r| {
            // What ran, ran somewhere.
            let is_told =
                |account: &&ThreadAccount| !account.cpus.is_empty() || (account.run == 0 && account.switches == 0);
            r.account.as_ref().filter(is_told).map(|account| account.cpus.count()).into()
        },
        "CPUs on which it ran; empty where the recording does not tell CPUs.",
    ),
    ColumnOf::details(
        "priority",
        "Priority",
        Kind::Number(1),
        |r| r.account.as_ref().and_then(ThreadAccount::priority).into(),
        "Mean priority over its run time.",
    ),
    ColumnOf::details(
        "thread_start_ns",
        "Start",
        Kind::Time,
        |r| r.thread.start.into(),
        "Start of the thread inside the recording; empty: it ran before.",
    ),
    ColumnOf::details(
        "thread_end_ns",
        "Stop",
        Kind::Time,
        |r| r.thread.end.into(),
        "End of the thread inside the recording; empty: it runs on.",
    ),
    ColumnOf::details(
        "first_ns",
        "First",
        Kind::Time,
        |r| r.account.as_ref().and_then(|account| account.first).into(),
        "First time at which it was seen running.",
    ),
    ColumnOf::details(
        "last_ns",
        "Last",
        Kind::Time,
        |r| r.account.as_ref().and_then(|account| account.last).into(),
        "Last time at which it was seen running.",
    ),
    ColumnOf::people(
        "thread_label",
        "Thread",
        Kind::Text,
        |r| threads::label(Some(&r.process), &r.thread).into(),
        "Process, thread id and name.",
    ),
    ColumnOf::machine(
        "service",
        "Service",
        Kind::Text,
        |r| r.thread.service.as_ref().into(),
        "Windows service that it works for.",
    ),
    ColumnOf::always(
        "start_method",
        "Started in",
        Kind::Text,
        |r| r.start_method.as_ref().into(),
        "The function in which the thread began, by the recorder.",
    ),
    ColumnOf::people(
        "reasons",
        "Waits for",
        Kind::Text,
        |r| {
            let part = |reason: &Reason| format!("{} {} ms", reason.name, milliseconds(reason.wait));
            let parts: Vec<String> = r.detail.reasons.iter().take(NAMED).map(part).collect();
            if parts.is_empty() { Value::None } else { parts.join(", ").into() }
        },
        "Reasons of its waits, the longest first.",
    ),
    ColumnOf::people(
        "woken_by",
        "Woken by",
        Kind::LongText,
        |r| {
            let part = |waker: &WokenBy| {
                // Whom an interrupt hit has nothing to do with it.
                let at = waker.tid.and_then(|_| StackNames::telling_label(&waker.stack));
                let at = at.map(|method| format!(" in {method}")).unwrap_or_default();
                format!("{} x{}{at}", waker.label, waker.count)
            };
            let parts: Vec<String> = r.detail.wakers.iter().take(NAMED).map(part).collect();
            if parts.is_empty() { Value::None } else { parts.join(", ").into() }
        },
        "Threads and devices that ended its waits, how often and where, the most frequent first.",
    ),
    ColumnOf::machine(
        "wait_reasons",
        "Waits for",
        Kind::Table,
        |r| {
            Value::Table(Table {
                columns: descriptions(REASONS),
                rows: values(REASONS, &r.detail.reasons),
                is_sparse: false,
            })
        },
        "Reasons of its waits, the longest first.",
    ),
    ColumnOf::machine(
        "wakers",
        "Woken by",
        Kind::Table,
        |r| {
            Value::Table(Table {
                columns: descriptions(WAKERS),
                rows: values(WAKERS, &r.detail.wakers),
                is_sparse: false,
            })
        },
        "Threads and devices that ended its waits, the most frequent first.",
    ),
    of_process::command_line().shown(View::Machine),
]);
