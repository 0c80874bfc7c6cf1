//! The columns of `dump syscalls`.

use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::{Sums, errors};
use crate::answer::{ColumnOf, Kind, Value, View};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::threads;

/// The calls of one kind of a process or thread.
#[derive(Clone, Debug)]
pub struct Row {
    process: ProcessRow,
    thread: Option<ThreadRow>,
    number: i32,
    name: Option<String>,
    pub(super) sums: Sums,
}

impl Row {
    pub(super) fn new(
        process: ProcessRow,
        thread: Option<ThreadRow>,
        number: i32,
        name: Option<String>,
        mut sums: Sums,
    ) -> Self {
        sums.errors.sort_by_key(|(error, count)| (-count, *error));
        Self { process, thread, number, name, sums }
    }

    /// What brings rows of the same figure in order.
    pub(super) fn key(&self) -> impl Ord + use<> {
        let thread = self.thread.as_ref().map(|thread| (thread.tid, thread.start));
        (self.process.name.to_lowercase(), self.process.pid, self.process.process, thread, self.call(), self.number)
    }

    /// The name of the call, else its number.
    fn call(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.number.to_string())
    }
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        Some(&self.process)
    }
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::machine(
        "tid",
        "Tid",
        Kind::Id,
        |r| r.thread.as_ref().map(|thread| thread.tid).into(),
        "Thread id, in rows per thread.",
    ),
    ColumnOf::machine(
        "thread_name",
        "Thread",
        Kind::Text,
        |r| r.thread.as_ref().and_then(|thread| thread.name.as_ref()).into(),
        "Name of the thread, in rows per thread.",
    ),
    ColumnOf::machine("number", "Number", Kind::Id, |r| r.number.into(), "Number of the call."),
    ColumnOf::always("calls", "Calls", Kind::Count, |r| r.sums.calls.into(), "Number of calls."),
    ColumnOf::always("failed", "Failed", Kind::Count, |r| r.sums.failed.into(), "Calls that failed."),
    ColumnOf::details(
        "open",
        "Open",
        Kind::Count,
        |r| r.sums.open.into(),
        "Calls that had not returned at the end of the recording or of the thread.",
    ),
    ColumnOf::always(
        "duration_sum_ns",
        "Sum",
        Kind::Milliseconds,
        |r| r.sums.time.into(),
        "Sum of the durations, from call to return: time on the CPU, waiting and ready alike.",
    ),
    ColumnOf::always(
        "duration_avg_ns",
        "Average",
        Kind::Microseconds,
        |r| r.sums.time.checked_div(r.sums.calls).into(),
        "Mean duration.",
    ),
    ColumnOf::always(
        "longest_ns",
        "Longest",
        Kind::Milliseconds,
        |r| r.sums.longest.into(),
        "Duration of the longest call.",
    ),
    ColumnOf::details(
        "longest_start_ns",
        "Longest from",
        Kind::Time,
        |r| r.sums.longest_start.into(),
        "When that one began.",
    ),
    ColumnOf::people(
        "who",
        "Process",
        Kind::Text,
        |r| match &r.thread {
            Some(thread) => threads::label(Some(&r.process), thread).into(),
            None => of_process::name_with_marks(&r.process).into(),
        },
        "Name and pid; in rows per thread thread id and name, too.",
    ),
    ColumnOf::always(
        "call",
        "Call",
        Kind::Text,
        |r| r.call().into(),
        "Name of the call, its number where it has none.",
    ),
    ColumnOf::always(
        "errors",
        "Errors",
        Kind::Map,
        |r| {
            let named = |(error, count): &(i64, i64)| (errors::name(*error), (*count).into());
            Value::Map(r.sums.errors.iter().map(named).collect())
        },
        "Errors by name with the number of calls, the most frequent first; the number of one that has no name.",
    ),
    of_process::command_line().shown(View::Machine),
]);
