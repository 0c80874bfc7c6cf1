//! The threads of a recording as answers name them, and who wakes them.

use rustc_hash::FxHashMap;
use tracesift_analysis::Interrupt;
use tracesift_trace::rows::{ContextSwitchRow, ProcessRow, ThreadRow, switch_flags};
use tracesift_trace::{ProcessId, ThreadId, view};

use crate::stack_names::StackNames;

/// Who the threads of a recording are.
pub(crate) struct Threads<'a> {
    threads: FxHashMap<ThreadId, &'a ThreadRow>,
    processes: FxHashMap<ProcessId, &'a ProcessRow>,
}

impl<'a> Threads<'a> {
    pub(crate) fn new(threads: &'a [ThreadRow], processes: &'a [ProcessRow]) -> Self {
        Self {
            threads: threads.iter().map(|row| (row.thread, row)).collect(),
            processes: processes.iter().map(|row| (row.process, row)).collect(),
        }
    }

    pub(crate) fn row(&self, thread: ThreadId) -> Option<&'a ThreadRow> {
        self.threads.get(&thread).copied()
    }

    pub(crate) fn process(&self, thread: ThreadId) -> Option<&'a ProcessRow> {
        self.processes.get(&self.row(thread)?.process).copied()
    }

    /// `process(pid) tid name`, without what would only repeat the process.
    pub(crate) fn label(&self, thread: ThreadId) -> String {
        let Some(row) = self.row(thread) else { return "unknown thread".to_owned() };
        label(self.process(thread), row)
    }

    /// The thread or the kind of interrupt; empty where nobody knows.
    pub(crate) fn waker_label(&self, waker: Waker) -> String {
        match waker {
            Waker::Thread(thread) => self.label(thread),
            Waker::Interrupt(interrupt) => interrupt.word().to_owned(),
            Waker::Unknown => String::new(),
        }
    }
}

/// `process(pid) tid name`: the main thread of Linux has the id and the name of its process.
#[must_use]
pub fn label(process: Option<&ProcessRow>, thread: &ThreadRow) -> String {
    let of_process = process.map(|process| format!("{}({})", process.name, process.pid));
    let tid = process.is_none_or(|process| process.pid != thread.tid).then(|| thread.tid.to_string());
    let name = thread.name.clone().filter(|name| process.is_none_or(|process| process.name != *name));
    [of_process, tid, name].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

view! {
    /// The columns of a switch row that tell the end of its wait.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct EndOfWait of ContextSwitchRow { ready_time, readier, ready_stack, flags }
}

/// Who ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waker {
    /// A thread.
    Thread(ThreadId),
    /// An interrupt: the thread that it interrupted has nothing to do with it.
    Interrupt(Interrupt),
    /// Nobody until the end of the recording, or it was not recorded.
    Unknown,
}

impl Waker {
    /// The flags of a row that tell who it was.
    pub(crate) const FLAGS: i16 = switch_flags::READIED_FROM_DPC;

    /// Who ended the wait of a row.
    pub(crate) fn of(row: impl Into<EndOfWait>, threads: &Threads<'_>, names: &mut StackNames) -> Self {
        let row = row.into();
        let Some(readier) = row.readier.filter(|_| row.ready_time.is_some()) else { return Self::Unknown };
        let is_idle = threads.row(readier).is_some_and(|row| row.idle_cpu.is_some());
        if is_idle || row.flags & Self::FLAGS != 0 {
            return Self::Interrupt(Interrupt::of(&row.ready_stack.map(|stack| names.of(stack)).unwrap_or_default()));
        }
        Self::Thread(readier)
    }
}
