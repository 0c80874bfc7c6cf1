//! The columns of `dump syscalls`.

use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::{Sums, errors};
use crate::answer::{ColumnOf, Kind, Value, View};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::threads;

/// Calls that have something in common.
#[derive(Clone, Debug)]
pub struct Row {
    process: Option<ProcessRow>,
    thread: Option<ThreadRow>,
    number: Option<i32>,
    name: Option<String>,
    /// `None`: a row is not of one error.
    error: Option<Option<i64>>,
    pub(super) sums: Sums,
}

impl Row {
    pub(super) fn new(
        (process, thread): (Option<ProcessRow>, Option<ThreadRow>),
        (number, name): (Option<i32>, Option<String>),
        error: Option<Option<i64>>,
        mut sums: Sums,
    ) -> Self {
        sums.errors.sort_by_key(|(error, count)| (-count, *error));
        Self { process, thread, number, name, error, sums }
    }

    /// What brings rows of the same figure in order.
    pub(super) fn key(&self) -> impl Ord + use<> {
        let thread = self.thread.as_ref().map(|thread| (thread.tid, thread.start));
        let process = self.process.as_ref().map(|row| (row.name.to_lowercase(), row.pid, row.process));
        (process, thread, self.call(), self.number, self.error)
    }

    /// The name of the call, else its number.
    fn call(&self) -> Option<String> {
        self.name.clone().or_else(|| Some(self.number?.to_string()))
    }
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
    ColumnOf::always(
        "processes",
        "Processes",
        Kind::Count,
        |r| r.sums.processes.len().into(),
        "With `--by call` and `error`: number of processes that made such calls.",
    ),
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
    ColumnOf::always("duration_avg_ns", "Average", Kind::Microseconds, |r| r.sums.average().into(), "Mean duration."),
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
            Some(thread) => threads::label(r.process.as_ref(), thread).into(),
            None => r.process.as_ref().map(of_process::name_with_marks).into(),
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
        "error",
        "Error",
        Kind::Text,
        |r| r.error.map(|error| error.map_or_else(|| "(none)".to_owned(), errors::name)).into(),
        "With `--by error`: name of the error, its number where it has none; `(none)`: the calls that did not fail.",
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
