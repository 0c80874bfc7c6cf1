//! The columns of `dump waits`.

use tracesift_analysis::MethodName;
use tracesift_trace::ThreadId;
use tracesift_trace::rows::{ProcessRow, ThreadRow, switch_flags};

use super::chain::Link;
use super::kind::WaitKind;
use super::longest::Wait;
use crate::answer::{ColumnOf, Kind, Table, Value, View, descriptions, values};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::stack_names::StackNames;
use crate::threads::{self, Threads, Waker};
use crate::time_format::milliseconds;
use crate::wait_reason;

/// One wait of the answer.
#[derive(Clone, Debug)]
pub struct Row {
    process: Option<ProcessRow>,
    thread: Option<ThreadRow>,
    from: i64,
    to: i64,
    reason: Option<String>,
    kind: WaitKind,
    open: bool,
    stack: Vec<MethodName>,
    waker: String,
    waker_process: Option<(String, i64)>,
    waker_tid: Option<i64>,
    waker_stack: Vec<MethodName>,
    chain: Vec<ChainRow>,
}

/// One thread of a chain.
#[derive(Clone, Debug)]
struct ChainRow {
    label: String,
    process: Option<String>,
    pid: Option<i64>,
    tid: Option<i64>,
    from: i64,
    to: i64,
    run: i64,
    ready: i64,
    wait: i64,
    unknown: i64,
    longest: Option<(i64, Vec<MethodName>)>,
    /// Who ended the longest wait.
    waker: Option<String>,
    goes_on: bool,
}

impl Row {
    pub(in crate::question) fn new(
        wait: &Wait,
        chain: Vec<Link>,
        threads: &Threads<'_>,
        names: &mut StackNames,
    ) -> Self {
        let row = &wait.row;
        let waker = Waker::of(row, threads, names);
        let waker_thread = if let Waker::Thread(thread) = waker { Some(thread) } else { None };
        let kind = WaitKind::of(row, waker, names);
        let mut stack = |stack: Option<_>| stack.map(|stack| names.of(stack)).unwrap_or_default();
        Self {
            process: threads.process(row.thread).cloned(),
            thread: threads.row(row.thread).cloned(),
            from: wait.span.start,
            to: wait.span.end,
            reason: wait_reason::of(row),
            kind,
            // Who was readied and never ran again waited no longer.
            open: row.flags & switch_flags::OPEN_RIGHT != 0 && row.ready_time.is_none(),
            stack: stack(row.wait_stack),
            waker: threads.waker_label(waker),
            waker_process: waker_thread.and_then(|thread| process_of(thread, threads)),
            waker_tid: waker_thread.and_then(|thread| threads.row(thread)).map(|row| row.tid),
            waker_stack: stack(row.ready_stack),
            chain: chain.into_iter().map(|link| ChainRow::new(link, threads, &mut stack)).collect(),
        }
    }

    /// Length of the wait, ns.
    pub(in crate::question) fn length(&self) -> i64 {
        self.to - self.from
    }

    /// The method that waited.
    pub(in crate::question) fn method(&self) -> Value {
        telling(&self.stack)
    }

    /// Its stack, leaf first.
    pub(in crate::question) fn stack(&self) -> Value {
        names(&self.stack)
    }

    /// Who ended the wait.
    pub(in crate::question) fn woken_by(&self) -> Value {
        if self.open { "(nobody)".into() } else { (!self.waker.is_empty()).then_some(&self.waker).into() }
    }

    /// The chain as objects.
    pub(in crate::question) fn chain(&self) -> Value {
        Value::Table(Table { columns: descriptions(CHAIN), rows: values(CHAIN, &self.chain), is_sparse: false })
    }

    /// The chain, a line per thread: who worked last stands last.
    pub(in crate::question) fn chain_text(&self) -> Value {
        let ms = |ns: i64| format!("{} ms", milliseconds(ns));
        let mut parts = Vec::new();
        for link in &self.chain {
            let mut part = format!("{}: ran {}", link.label, ms(link.run));
            if link.ready > 0 {
                part.push_str(&format!(", ready {}", ms(link.ready)));
            }
            if let Some((longest, stack)) = &link.longest {
                let at = StackNames::telling_label(stack).map(|method| format!(" in {method}")).unwrap_or_default();
                part.push_str(&format!(", waited {} ({}{at})", ms(link.wait), ms(*longest)));
            }
            parts.push(format!("<- {part}"));
        }
        // A chain that ends with a wait ends with what ended that.
        let ended = self.chain.last().filter(|last| last.goes_on).and_then(|last| last.waker.as_ref());
        if let (Some(last), Some(waker)) = (parts.last_mut(), ended.filter(|waker| !waker.is_empty())) {
            last.push_str(&format!(" <- {waker}"));
        }
        if parts.is_empty() { Value::None } else { Value::List(parts) }
    }
}

impl ChainRow {
    fn new(
        link: Link,
        threads: &Threads<'_>,
        stack: &mut impl FnMut(Option<tracesift_trace::StackId>) -> Vec<MethodName>,
    ) -> Self {
        let (process, pid) = process_of(link.thread, threads).unzip();
        let goes_on = link.activity.mostly_waits();
        let longest = link.activity.longest.as_ref().map(|(span, row)| (span.length(), stack(row.wait_stack)));
        Self {
            label: threads.label(link.thread),
            process,
            pid,
            tid: threads.row(link.thread).map(|row| row.tid),
            from: link.within.start,
            to: link.within.end,
            run: link.activity.run,
            ready: link.activity.ready,
            wait: link.activity.wait,
            unknown: link.activity.unknown,
            waker: longest.is_some().then(|| threads.waker_label(link.waker)),
            longest,
            goes_on,
        }
    }
}

fn process_of(thread: ThreadId, threads: &Threads<'_>) -> Option<(String, i64)> {
    threads.process(thread).map(|process| (process.name.clone(), process.pid))
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

fn names(stack: &[MethodName]) -> Value {
    if stack.is_empty() { Value::None } else { Value::List(stack.iter().map(ToString::to_string).collect()) }
}

fn telling(stack: &[MethodName]) -> Value {
    StackNames::telling_label(stack).into()
}

const CHAIN: &[ColumnOf<ChainRow>] = &[
    ColumnOf::machine(
        "process",
        "Process",
        Kind::Text,
        |r| r.process.as_ref().into(),
        "The process that was waited for.",
    ),
    ColumnOf::machine("pid", "Pid", Kind::Id, |r| r.pid.into(), "Its id."),
    ColumnOf::machine("tid", "Tid", Kind::Id, |r| r.tid.into(), "The thread that was waited for."),
    ColumnOf::people("thread", "Thread", Kind::Text, |r| (&r.label).into(), "Process and thread."),
    ColumnOf::details("from_ns", "From", Kind::Time, |r| r.from.into(), "Start of the wait that it ended."),
    ColumnOf::details("to_ns", "To", Kind::Time, |r| r.to.into(), "End of that wait."),
    ColumnOf::always("run_ns", "Run", Kind::Milliseconds, |r| r.run.into(), "Time that it ran meanwhile."),
    ColumnOf::always(
        "ready_ns",
        "Ready",
        Kind::Milliseconds,
        |r| r.ready.into(),
        "Time that it was ready without a CPU meanwhile.",
    ),
    ColumnOf::always("wait_ns", "Wait", Kind::Milliseconds, |r| r.wait.into(), "Time that it waited meanwhile."),
    ColumnOf::machine(
        "unknown_ns",
        "Unknown",
        Kind::Milliseconds,
        |r| r.unknown.into(),
        "Time of broken switch chains.",
    ),
    ColumnOf::always(
        "longest_wait_ns",
        "Longest wait",
        Kind::Milliseconds,
        |r| r.longest.as_ref().map(|(longest, _)| *longest).into(),
        "The longest of its waits meanwhile: if that wait took the largest part, the next row names the thread that ended it.",
    ),
    ColumnOf::always(
        "longest_wait_method",
        "Waits in",
        Kind::Text,
        |r| r.longest.as_ref().map_or(Value::None, |(_, stack)| telling(stack)),
        "The method of that wait.",
    ),
    ColumnOf::machine(
        "longest_wait_stack",
        "Stack",
        Kind::List,
        |r| r.longest.as_ref().map_or(Value::None, |(_, stack)| names(stack)),
        "Its stack, leaf first.",
    ),
    ColumnOf::always(
        "woken_by",
        "Woken by",
        Kind::Text,
        |r| r.waker.as_ref().into(),
        "The thread or device that ended that wait.",
    ),
];

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::machine(
        "tid",
        "Tid",
        Kind::Id,
        |r| r.thread.as_ref().map(|row| row.tid).into(),
        "The thread that waited.",
    ),
    ColumnOf::machine(
        "thread_name",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().and_then(|row| row.name.clone()).into(),
        "Its name.",
    ),
    ColumnOf::always("wait_ns", "Wait", Kind::Milliseconds, |r| r.length().into(), "Length of the wait."),
    ColumnOf::always("from_ns", "From", Kind::Time, |r| r.from.into(), "Start of the wait: the thread left the CPU."),
    ColumnOf::details(
        "to_ns",
        "To",
        Kind::Time,
        |r| r.to.into(),
        "End of the wait: the thread was readied, or the time range or the recording ended.",
    ),
    ColumnOf::people(
        "thread_label",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().map(|thread| threads::label(r.process.as_ref(), thread)).into(),
        "Process, thread id and name.",
    ),
    ColumnOf::always(
        "reason",
        "Reason",
        Kind::Text,
        |r| r.reason.as_ref().into(),
        "Wait reason of Windows; of Linux the letter of the state: `S` sleeps, `D` waits for a device.",
    ),
    ColumnOf::machine(
        "kind",
        "Kind",
        Kind::Text,
        |r| r.kind.word().into(),
        "What the thread waited for: `disk`, `sleep` or `other`.",
    ),
    ColumnOf::machine(
        "still_open",
        "Open",
        Kind::Bool,
        |r| r.open.into(),
        "Whether the wait lasted until the thread or the recording ended.",
    ),
    ColumnOf::always(
        "wait_method",
        "Waits in",
        Kind::Text,
        Row::method,
        "The first method of the stack that is neither of the operating system nor of a standard library.",
    ),
    ColumnOf::always(
        "woken_by",
        "Woken by",
        Kind::Text,
        Row::woken_by,
        "The thread that ended the wait; `timer`, `disk`, `network` or `interrupt` where it was no thread.",
    ),
    ColumnOf::machine(
        "waker_process",
        "Waker",
        Kind::Text,
        |r| r.waker_process.as_ref().map(|(name, _)| name.clone()).into(),
        "Process of the thread that ended the wait.",
    ),
    ColumnOf::machine(
        "waker_pid",
        "Waker pid",
        Kind::Id,
        |r| r.waker_process.as_ref().map(|(_, pid)| *pid).into(),
        "Its id.",
    ),
    ColumnOf::machine("waker_tid", "Waker tid", Kind::Id, |r| r.waker_tid.into(), "The thread that ended the wait."),
    ColumnOf::details(
        "waker_method",
        "From",
        Kind::Text,
        |r| telling(&r.waker_stack),
        "The method in which that thread ended the wait.",
    ),
    ColumnOf::machine(
        "wait_stack",
        "Wait stack",
        Kind::List,
        Row::stack,
        "Stack with which the thread left the CPU, leaf first.",
    ),
    ColumnOf::machine(
        "waker_stack",
        "Waker stack",
        Kind::List,
        |r| names(&r.waker_stack),
        "Stack of the wake-up, leaf first.",
    ),
    ColumnOf::people(
        "chain_text",
        "Meanwhile",
        Kind::Below,
        Row::chain_text,
        "Wait chain, on lines below the row: the activity of the thread that ended the wait, and the thread that this one waited for.",
    ),
    ColumnOf::machine(
        "chain",
        "Chain",
        Kind::Table,
        Row::chain,
        "Wait chain: the activity of the thread that ended the wait, while the wait lasted. If that thread mostly waited itself, the thread that ended its wait follows, and so on.",
    ),
]);

/// The columns of the objects in `chain`.
#[must_use]
pub fn chain_columns() -> Vec<crate::answer::Column> {
    descriptions(CHAIN).into_iter().filter(|column| column.view != View::People).collect()
}
