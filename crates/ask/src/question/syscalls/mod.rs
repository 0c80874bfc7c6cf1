//! `dump syscalls`: which system calls processes made, how long they took, and which failed with what.

pub(super) mod errors;

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::Span;
use tracesift_analysis::off_cpu::{OffCpu, OffCpuOfThread, OffCpuTimes, OnAndOff};
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{
    ContextSwitchRow, FrameRow, ModuleRow, SymbolRow, SyscallNameRow, SyscallRow, SyscallSummaryRow,
};
use tracesift_trace::{FrameId, ProcessId, ThreadId, view};

use crate::answer::{ColumnOf, Kind};
use crate::ntstatus;
use crate::recording_label::RowSource;
use crate::table_question::{
    self, Dimension, Joined, Limit, Measure, Needed, Shorthand, Sum, Summary, Summed, TableQuestion,
};

view! {
    /// A system call, as its table has it.
    #[derive(Clone, Copy, Debug)]
    pub struct Recorded of SyscallRow { time, start, process, thread, number, result, error, stack, frame }
}

/// A system call, with the times in which its thread was off the CPU, where switches tell.
pub type Call = Joined<Recorded, Rc<OffCpu>>;

view! {
    /// The routine of a call of Windows.
    #[derive(Clone, Copy, Debug)]
    struct Routine of SyscallRow { frame }
}

view! {
    /// The same of the sums.
    #[derive(Clone, Copy, Debug)]
    struct SummedRoutine of SyscallSummaryRow { frame }
}

view! {
    /// The name of a frame.
    #[derive(Clone, Debug)]
    struct Name of SymbolRow { frame, depth, function }
}

/// The number of the smallest NTSTATUS that is a warning or an error; errno of Linux is below it.
const SMALLEST_STATUS: i64 = 0x8000_0000;

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
    const SOURCE: RowSource = RowSource::both("SysCall", "SysCall");
    const MOST: &'static str = "most calls";

    const DIMENSIONS: &'static [Dimension<Call>] = &[
        Dimension::process(),
        Dimension::thread(|row| Some(row.thread)),
        Dimension::named("call", "Call", |row: &Call| Some(row.number.into()), names)
            .meaning("Name of the call, its number where it has none. On Windows the name of the routine; without symbols its place in the kernel.")
            .with_number("number", "Number", "Number of the call.")
            .filtered("--calls", ["system call", "system calls"], "Only these system calls, by name or number"),
        Dimension::words("error", "Error", |row: &Call| row.error, error)
            .meaning("With `--by error`: name of the error, its number where it has none; `(none)`: the calls that did not fail.")
            .or("(none)")
            .filtered("--errors", ["error", "errors"], "Only calls that failed so: ENOENT, 2, 0xC0000034, '0xC*'; '*': all that failed"),
        Dimension::method(|row: &Call| (row.stack, row.frame))
            .meaning("Function at the leaf of the stack of the entry, as `module!function`; on Windows of calls without a stack the routine.")
            .coarse(),
        Dimension::tag(|row: &Call| row.stack).coarse(),
        Dimension::stack(|row: &Call| row.stack).coarse().meaning("The functions of the stack of the entry."),
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
        Measure::sum_inside("cpu_ns", "On CPU", Kind::Milliseconds, |row: &Call, span| inside(row, span).map(|time| time.on))
            .meaning("The part of the sum in which the threads ran, calls inside of calls included. Empty: the recording has no context switches of these threads.")
            .sorted(&["cpu"])
            .details(),
        Measure::sum_inside("wait_ns", "Off CPU", Kind::Milliseconds, |row: &Call, span| inside(row, span).map(|time| time.off))
            .meaning("The part in which they were off the CPU, waiting or ready. What is missing to the sum of both is not known, since switches were lost.")
            .sorted(&["wait"])
            .details(),
        Measure::longest("longest_ns", "Longest").meaning("Duration of the longest call.").sorted(&["longest"]),
        Measure::longest_start("longest_start_ns", "Longest from").meaning("When that one began."),
        Measure::first("first_ns", "First").meaning("Begin of the first call.").sorted(&["start"]),
        Measure::counts("error", "errors", "Errors").meaning(
            "Errors by name with the number of calls, the most frequent first; the number of one that has no name.",
        ),
    ];

    const LIMITS: &'static [Limit<Call>] = &[Limit::time(
        ["--min-duration", "--max-duration"],
        |row| Some(row.time.saturating_sub(row.start)),
        ["Only calls that took so long (ms without unit)", "Only calls that did not take longer"],
    )];

    const LIST: &'static [ColumnOf<Call>] = &[ColumnOf::always(
        "result",
        "Result",
        Kind::Text,
        |row| row.result.map(|result| returned(result, row.frame.is_some())).into(),
        "Return value; of Windows the NTSTATUS. Empty: the call has not returned.",
    )];

    const JOINED: &'static [&'static str] = &["cpu_ns", "wait_ns"];
    const SUMMARY: Option<Summary> = Some(Summary {
        dimensions: &["call", "error"],
        measures: &["open", "duration_sum_ns", "longest_ns", "longest_start_ns", "first_ns"],
        is_there: has_summary,
        has_joined: has_switches,
        scan: scan_summary,
    });
    const BY: &'static [&'static str] = &["process", "call"];
    const SHORTHANDS: &'static [Shorthand] = &[Shorthand {
        option: "--per-thread",
        by: &["thread", "call"],
        sort: None,
        help: "A row per thread and call in place of a row per process and call",
    }];
    const SORT: &'static str = "sum";

    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "calls", "errors", "min-duration", "per-thread", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump syscalls X.sift --top 10", "those that took longest in all"),
        ("tracesift dump syscalls X.sift --errors '*' --sort failed", "those that failed, and how"),
        ("tracesift dump syscalls X.sift --calls '*sync' -p dd", "those of one kind"),
        ("tracesift dump syscalls X.sift --list --sort start --errors '0xC*'", "each that failed, by time"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--per-thread"], &["--by=error"], &["--errors=*"], &["--by=method"], &["--by=tag"], &["--by=stack"]];

    fn process(row: &Call) -> Option<ProcessId> {
        Some(row.process)
    }

    fn times(row: &Call) -> (i64, i64) {
        (row.start, row.time)
    }

    fn scan(
        archive: &Archive,
        time: Option<Range<i64>>,
        needed: Needed<Call>,
        mut visit: impl FnMut(&Call),
    ) -> Result<(), Error> {
        if !needed.joined || !has_switches(archive) {
            return archive.scan(time, visit);
        }
        let threads = off_cpu(archive, time.clone())?;
        archive.scan(time, |row: &Call| visit(&Call { other: threads.get(&row.thread).cloned(), ..*row }))
    }
}

fn has_switches(archive: &Archive) -> bool {
    archive.row_count::<ContextSwitchRow>() > 0
}

fn has_summary(archive: &Archive) -> bool {
    archive.row_count::<SyscallSummaryRow>() > 0
}

/// The sums of the calls of a whole recording.
fn scan_summary(archive: &Archive, visit: &mut dyn FnMut(&Summed<'_>)) -> Result<(), Error> {
    archive.scan(None, |row: &SyscallSummaryRow| {
        let longest = Sum::Longest(row.longest_start, row.longest);
        visit(&Summed {
            rows: row.calls,
            process: Some(row.process),
            numbers: &[Some(row.number.into()), row.error],
            sums: &[Sum::Of(row.open), Sum::Of(row.duration), longest, longest, Sum::Of(row.first)],
        });
    })
}

/// When threads were off the CPUs in a time range.
fn off_cpu(archive: &Archive, time: Option<Range<i64>>) -> Result<FxHashMap<ThreadId, Rc<OffCpu>>, Error> {
    let range = time.clone().map_or(Span::ALL, |time| Span::new(time.start, time.end));
    let mut times = OffCpuTimes::within(range);
    archive.scan_around(time, |row: &OffCpuOfThread| times.row(row))?;
    Ok(times.into_threads().into_iter().map(|(thread, times)| (thread, Rc::new(times))).collect())
}

/// Where the time of a call went, in a part of it.
fn inside(call: &Call, span: Span) -> Option<OnAndOff> {
    call.other.as_ref().map(|times| times.inside(span))
}

/// The name of an error of either system.
fn error(number: i64) -> String {
    if number < SMALLEST_STATUS { errors::name(number) } else { ntstatus::text(number) }
}

/// A return value: a status as headers write it.
fn returned(result: i64, is_status: bool) -> String {
    if is_status { format!("0x{result:X}") } else { result.to_string() }
}

pub(super) fn names(archive: &Archive) -> Result<Vec<(i64, String)>, Error> {
    let names = archive.rows::<SyscallNameRow>()?.into_iter();
    let mut names: Vec<(i64, String)> = names.map(|row| (row.number.into(), row.name)).collect();
    let mut routines: FxHashSet<FrameId> = FxHashSet::default();
    if has_summary(archive) {
        archive.scan(None, |row: &SummedRoutine| routines.extend(row.frame))?;
    } else {
        archive.scan(None, |row: &Routine| routines.extend(row.frame))?;
    }
    routines.retain(|routine| !names.iter().any(|(number, _)| *number == i64::from(routine.0)));
    if !routines.is_empty() {
        names.extend(routine_names(archive, &routines)?);
    }
    Ok(names)
}

/// The names of routines of Windows, by the numbers of their frames. One without a name is called by its place in its module.
fn routine_names(archive: &Archive, routines: &FxHashSet<FrameId>) -> Result<Vec<(i64, String)>, Error> {
    let mut names: FxHashMap<FrameId, (i32, String)> = FxHashMap::default();
    archive.scan(None, |row: &Name| {
        // Functions that are compiled into others have smaller depths.
        let depth = i32::from(row.depth);
        if routines.contains(&row.frame) && names.get(&row.frame).is_none_or(|(known, _)| *known < depth) {
            names.insert(row.frame, (depth, row.function.clone()));
        }
    })?;
    let modules: FxHashMap<_, String> =
        archive.rows::<ModuleRow>()?.into_iter().map(|row| (row.module, row.name)).collect();
    archive.scan(None, |row: &FrameRow| {
        if routines.contains(&row.frame) && !names.contains_key(&row.frame) {
            let module = row.module.and_then(|module| modules.get(&module));
            let place = match (module, row.rva, row.address) {
                (Some(module), Some(rva), _) => format!("{module}+{rva:#x}"),
                (_, _, Some(address)) => format!("{address:#x}"),
                _ => return,
            };
            names.insert(row.frame, (0, place));
        }
    })?;
    Ok(names.into_iter().map(|(frame, (_, name))| (frame.0.into(), name)).collect())
}
