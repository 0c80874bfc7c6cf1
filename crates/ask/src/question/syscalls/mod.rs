//! `dump syscalls`: which system calls processes made, how long they took, and which failed with what.

pub(super) mod errors;

use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{SyscallNameRow, SyscallRow};
use tracesift_trace::{ProcessId, view};

use crate::answer::Kind;
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Limit, Measure, Shorthand, TableQuestion};

view! {
    /// A system call.
    #[derive(Clone, Copy, Debug)]
    pub struct Call of SyscallRow { time, start, process, thread, number, result, error }
}

/// System calls.
#[derive(Clone, Copy, Debug)]
pub struct Syscalls;

/// What is asked.
pub type Question = table_question::Question<Syscalls>;

/// The options.
pub type Options = table_question::Options<Syscalls>;

impl TableQuestion for Syscalls {
    type Row = Call;

    const NAME: &'static str = "syscalls";
    const WHAT: [&'static str; 2] = ["system call", "system calls"];
    const SOURCE: RowSource = RowSource::linux("SysCall");
    const MOST: &'static str = "most calls";

    const DIMENSIONS: &'static [Dimension<Call>] = &[
        Dimension::process(),
        Dimension::thread(|row| Some(row.thread)),
        Dimension::named("call", "Call", |row: &Call| Some(row.number.into()), names)
            .meaning("Name of the call, its number where it has none.")
            .with_number("number", "Number", "Number of the call.")
            .filtered("--calls", ["system call", "system calls"], "Only these system calls, by name or number"),
        Dimension::words("error", "Error", |row: &Call| row.error, errors::name)
            .meaning("With `--by error`: name of the error, its number where it has none; `(none)`: the calls that did not fail.")
            .or("(none)")
            .filtered("--errors", ["error", "errors"], "Only calls that failed with such an error: ENOENT or 2; '*': all that failed"),
    ];

    const MEASURES: &'static [Measure<Call>] = &[
        Measure::distinct("process", "processes", "Processes")
            .meaning("With `--by call` and `error`: number of processes that made such calls."),
        Measure::rows("calls", "Calls").meaning("Number of calls.").sorted(&["calls"]).total("system calls"),
        Measure::rows_with("error", "failed", "Failed")
            .meaning("Calls that failed.")
            .sorted(&["failed"])
            .total("failed"),
        Measure::rows_if("open", "Open", |row: &Call| row.result.is_none())
            .meaning("Calls that had not returned at the end of the recording.")
            .sorted(&["open"])
            .details(),
        Measure::duration("duration_sum_ns", "Sum")
            .meaning("Sum of the durations, from call to return: time on the CPU, waiting and ready alike.")
            .sorted(&["sum", "time"]),
        Measure::mean("duration_avg_ns", "Average", Kind::Microseconds, ["duration_sum_ns", "calls"])
            .meaning("Mean duration.")
            .sorted(&["average"]),
        Measure::longest("longest_ns", "Longest").meaning("Duration of the longest call.").sorted(&["longest"]),
        Measure::longest_start("longest_start_ns", "Longest from").meaning("When that one began."),
        Measure::counts("error", "errors", "Errors").meaning(
            "Errors by name with the number of calls, the most frequent first; the number of one that has no name.",
        ),
    ];

    const LIMITS: &'static [Limit<Call>] = &[Limit::time(
        ["--min-duration", "--max-duration"],
        |row| Some(row.time.saturating_sub(row.start)),
        ["Only calls that took so long (ms without unit)", "Only calls that did not take longer"],
    )];

    const BY: &'static [&'static str] = &["process", "call"];
    const SHORTHANDS: &'static [Shorthand] = &[Shorthand {
        option: "--per-thread",
        by: &["thread", "call"],
        help: "A row per thread and call in place of a row per process and call",
    }];
    const SORT: &'static str = "sum";

    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "calls", "errors", "min-duration", "per-thread", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump syscalls X.sift --top 10", "those that took longest in all"),
        ("tracesift dump syscalls X.sift --errors '*' --sort failed", "those that failed, and how"),
        ("tracesift dump syscalls X.sift --calls '*sync' -p dd", "those of one kind"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--per-thread"], &["--by=error"], &["--errors=*"]];

    fn process(row: &Call) -> Option<ProcessId> {
        Some(row.process)
    }

    fn times(row: &Call) -> (i64, i64) {
        (row.start, row.time)
    }
}

fn names(archive: &Archive) -> Result<Vec<(i64, String)>, Error> {
    let names = archive.rows::<SyscallNameRow>()?.into_iter();
    Ok(names.map(|row| (row.number.into(), row.name)).collect())
}
