//! `dump minifilter`: how long file system filter drivers, such as virus scanners, delayed operations on files, and what they failed.

use std::ops::Range;

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::rows::{FileIoRow, FilterCallRow, ModuleRow};
use tracesift_trace::{FileId, ProcessId, view};

use super::paths;
use crate::answer::{ColumnOf, Kind};
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Joined, Limit, Measure, Needed, StackFigure, TableQuestion};
use crate::{drivers, ntstatus};

view! {
    /// A call of a filter driver, as its table has it.
    #[derive(Clone, Copy, Debug)]
    pub struct Recorded of FilterCallRow {
        time, start, process, thread, phase, major, driver, frame, file, file_object, irp, status, stack, open,
    }
}

view! {
    /// An operation on a file that filters can be called for.
    #[derive(Clone, Copy, Debug)]
    struct FileOperation of FileIoRow { time, start, irp }
}

/// A call of a filter driver, with number and duration of the operation on a file that it belongs to, where the recording has it.
pub type Call = Joined<Recorded, (i64, i64)>;

/// Completed operations on files by request and begin: operations of one request follow each other.
struct Operations(Vec<(i64, i64, i64)>);

impl Operations {
    /// The operations that touch a time range.
    fn read(archive: &Archive, time: Option<Range<i64>>) -> Result<Self, Error> {
        let mut operations = Vec::new();
        if archive.row_count::<FileIoRow>() > 0 {
            archive.scan(time, |row: &FileOperation| {
                operations.extend(row.irp.map(|irp| (irp, row.start, row.time)));
            })?;
        }
        operations.sort_unstable();
        Ok(Self(operations))
    }

    /// Number and duration of the operation in which a call lies, from its begin to its end.
    fn of(&self, call: &Recorded) -> Option<(i64, i64)> {
        let irp = call.irp.filter(|_| call.open != Some(true))?;
        let after = self.0.partition_point(|(other, start, _)| (*other, *start) <= (irp, call.start));
        let number = after.checked_sub(1)?;
        let (other, start, end) = *self.0.get(number)?;
        let is_inside = other == irp && start <= call.start && call.time <= end;
        Some((i64::try_from(number).ok()?, end.saturating_sub(start))).filter(|_| is_inside)
    }
}

/// Calls of filter drivers.
#[derive(Clone, Copy, Debug)]
pub struct Minifilter;

/// What is asked.
pub type Question = table_question::Question<Minifilter>;

/// The options.
pub type Options = table_question::Options<Minifilter>;

impl TableQuestion for Minifilter {
    type Row = Call;

    const NAME: &'static str = "minifilter";
    const WHAT: [&'static str; 2] = ["call of filter drivers", "calls of filter drivers"];
    const SOURCE: RowSource = RowSource::windows("MiniFilter");
    const MOST: &'static str = "most calls";
    const COUNTS_AT_END: bool = true;

    const DIMENSIONS: &'static [Dimension<Call>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::named("driver", "Driver", driver, names)
            .with(&["vendor", "category"])
            .meaning("File name of the filter driver. `(unknown)`: no loaded module has the routine.")
            .or("(unknown)")
            .filtered("--driver", ["driver", "drivers"], "Only calls of these filter drivers: wdfilter.sys"),
        Dimension::named("vendor", "Vendor", driver, vendors)
            .meaning("Who makes the driver, from Microsoft's list of filter drivers. `(not listed)`: it is not in the list; `(unknown)`: the driver is not known.")
            .or("(unknown)")
            .coarse(),
        Dimension::named("category", "Category", driver, categories)
            .meaning("What the driver is for, from Microsoft's list of filter drivers: `antivirus`, `encryption`, … `(not listed)`: it is not in the list; `(unknown)`: the driver is not known.")
            .or("(unknown)")
            .coarse(),
        Dimension::words("operation", "Operation", |row: &Call| Some(row.major.into()), operation)
            .meaning("The operation that the filter was called for: `create` (also opens), `read`, `write`, `close`, `cleanup` (the last handle is closed), …, or a call without a request packet, such as `fast I/O check`.")
            .filtered("--operation", ["operation", "operations"], "Only calls for these operations: create, read, 'set*'"),
        Dimension::words("phase", "Phase", |row: &Call| Some(row.phase.into()), phase)
            .meaning("`before` the file system gets the operation, or `after` it is done."),
        Dimension::paths("dir", "Directory", file, paths::directories)
            .meaning("Directory of the file; `--dir-level` sets the number of its parts. `(no file)`: calls without a known file.")
            .or("(no file)")
            .coarse(),
        Dimension::paths("file", "File", file, paths::files)
            .keyed("path")
            .meaning("Path of the file. `(no file)`: calls without a known file.")
            .or("(no file)")
            .filtered("--path", ["file", "files"], "Only calls for these files, by their whole paths: '*.dll'"),
        Dimension::method(|row: &Call| (row.stack, row.frame))
            .meaning("Function at which the stack was taken, as `module!function`; of calls without a stack the routine of the filter."),
        Dimension::tag(|row: &Call| row.stack).coarse(),
        Dimension::stack(|row: &Call| row.stack).coarse().meaning("The functions of the stack with which the filter was called."),
    ];

    const MEASURES: &'static [Measure<Call>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::distinct("driver", "drivers", "Drivers").meaning("Number of filter drivers.").details(),
        Measure::distinct("file", "files", "Files").meaning("Number of files.").details(),
        Measure::rows("calls", "Calls")
            .meaning("Number of calls that ended in the time range; a call without a known end counts when it begins.")
            .sorted(&["count"])
            .total("calls"),
        Measure::sum_known("failed", "Failed", Kind::Count, |row: &Call| {
            (row.status.is_some() || !is_open(row)).then(|| row.status.is_some().into())
        })
        .meaning("Calls in which the filter failed the operation, of those whose end is in the recording.")
        .sorted(&["failed"])
        .total("failed"),
        Measure::rows_if("ended", "Ended", |row: &Call| !is_open(row))
            .meaning("Calls whose end is in the recording.")
            .details(),
        Measure::rows_if("open_ended", "Open", is_open)
            .meaning("Calls whose end is not in the recording: they have no duration.")
            .details(),
        Measure::sum_known("total_ns", "Time", Kind::Milliseconds, duration)
            .meaning("Sum of the durations of the calls: for so long the filter delayed operations.")
            .sorted(&["time"])
            .total("time"),
        Measure::union("union_ns", "United")
            .meaning("Time in which at least one call of the row was under way, cut to the time range.")
            .sorted(&["union"]),
        Measure::max("longest_ns", "Longest", Kind::Milliseconds, duration)
            .meaning("Duration of the longest call.")
            .sorted(&["longest"]),
        Measure::mean("avg_ns", "Average", Kind::Microseconds, ["total_ns", "ended"])
            .meaning("Mean duration of the calls whose end is in the recording.")
            .sorted(&["average"]),
        Measure::sum_known("known_ns", "In operations", Kind::Milliseconds, |row: &Call| {
            row.other.and_then(|_| duration(row))
        })
        .meaning("Sum of the durations of the calls that lie in an operation of the table `file_io` with the same request. Empty: there is none.")
        .details(),
        Measure::sum_once("operations_ns", "Operations", Kind::Milliseconds, |row: &Call| row.other)
            .meaning("Sum of the durations of these operations, each operation once.")
            .details(),
        Measure::ratio("share", "Share %", 1, ["known_ns", "operations_ns"], 100.0)
            .meaning("Percent of the time of these operations that the calls took: `known_ns` of `operations_ns`.")
            .sorted(&["share"])
            .details(),
    ];

    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "total_ns",
        measure: Exported {
            key: "minifilter",
            label: "Filter driver",
            unit: Unit::Nanoseconds,
            counted: "calls of filter drivers",
        },
        help: "Time of calls of file system filter drivers (Windows)",
    }];

    const LIMITS: &'static [Limit<Call>] = &[Limit::time(
        ["--min-duration", "--max-duration"],
        duration,
        ["Only calls that took so long (ms without unit)", "Only calls that did not take longer"],
    )];
    const CONDITIONS: &'static [Condition<Call>] = &[Condition {
        option: "--failed",
        holds: |row| row.status.is_some(),
        help: "Only calls in which the filter failed the operation",
    }];

    const LIST: &'static [ColumnOf<Call>] = &[
        ColumnOf::always(
            "status",
            "Status",
            Kind::Text,
            |row| row.status.map(status).into(),
            "NTSTATUS with which the filter failed the operation.",
        ),
        ColumnOf::details(
            "file_object",
            "File object",
            Kind::Text,
            |row| format!("{:#x}", row.file_object).into(),
            "Address of the file object.",
        ),
        ColumnOf::details(
            "irp",
            "Request",
            Kind::Text,
            |row| row.irp.map(|irp| format!("{irp:#x}")).into(),
            "Address of the request (IRP); fast I/O has none.",
        ),
        ColumnOf::details(
            "open",
            "Open",
            Kind::Bool,
            |row| row.open.into(),
            "Whether the end is not in the recording: the duration is not known.",
        ),
    ];

    const JOINED: &'static [&'static str] = &["known_ns", "operations_ns"];
    const BY: &'static [&'static str] = &["driver"];
    const SORT: &'static str = "time";
    const SORT_WITHOUT_FIGURE: Option<&'static str> = Some("count");
    const HAS_LENGTH: Option<fn(&Call) -> bool> = Some(|row| !is_open(row));
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "driver", "operation", "path", "by", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump minifilter X.sift", "the drivers that delayed operations on files"),
        ("tracesift dump minifilter X.sift --by driver,operation,phase", "where each driver spent the time"),
        ("tracesift dump minifilter X.sift --driver wdfilter.sys --by process --top 10", "who waited for a scanner"),
        ("tracesift dump minifilter X.sift --by driver,dir --dir-level 2", "the directories"),
        ("tracesift dump minifilter X.sift --list --min-duration 10ms", "each slow call"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--by=vendor,category"],
        &["--by=operation,phase"],
        &["--by=dir", "--dir-level=1"],
        &["--by=tag"],
        &["--by=stack"],
        &["--failed"],
    ];

    fn process(row: &Call) -> Option<ProcessId> {
        row.process
    }

    fn scan(
        archive: &Archive,
        time: Option<Range<i64>>,
        needed: Needed<Call>,
        mut visit: impl FnMut(&Call),
    ) -> Result<(), Error> {
        if !needed.joined {
            return archive.scan(time, visit);
        }
        let operations = Operations::read(archive, time.clone())?;
        archive.scan(time, |row: &Call| visit(&Call { other: operations.of(row), ..*row }))
    }

    fn times(row: &Call) -> (i64, i64) {
        // What has no end is at the time of its begin.
        (row.start, if is_open(row) { row.start } else { row.time.max(row.start) })
    }
}

fn driver(row: &Call) -> Option<i64> {
    row.driver.map(|driver| driver.0.into())
}

fn file(row: &Call) -> Option<i64> {
    row.file.map(|FileId(file)| file.into())
}

fn is_open(row: &Call) -> bool {
    row.open == Some(true)
}

/// Time from begin to end; what has no known end has no duration.
fn duration(row: &Call) -> Option<i64> {
    (!is_open(row)).then(|| row.time.saturating_sub(row.start).max(0))
}

fn modules(archive: &Archive, text: impl Fn(String) -> String) -> Result<Vec<(i64, String)>, Error> {
    let modules = archive.rows::<ModuleRow>()?.into_iter();
    Ok(modules.map(|row| (row.module.0.into(), text(row.name))).collect())
}

fn names(archive: &Archive) -> Result<Vec<(i64, String)>, Error> {
    modules(archive, |name| name)
}

fn vendors(archive: &Archive) -> Result<Vec<(i64, String)>, Error> {
    modules(archive, |name| drivers::find(&name).map_or_else(not_listed, |driver| driver.vendor.to_owned()))
}

fn categories(archive: &Archive) -> Result<Vec<(i64, String)>, Error> {
    let of = |name: String| drivers::find(&name).map(|driver| driver.category());
    modules(archive, |name| of(name).filter(|category| !category.is_empty()).unwrap_or_else(not_listed))
}

fn not_listed() -> String {
    "(not listed)".to_owned()
}

fn phase(number: i64) -> String {
    match number {
        0 => "before".to_owned(),
        1 => "after".to_owned(),
        other => other.to_string(),
    }
}

/// Words for major functions, as the file system knows them.
fn operation(major: i64) -> String {
    let word = match major {
        0 => "create",
        1 => "create named pipe",
        2 => "close",
        3 => "read",
        4 => "write",
        5 => "query information",
        6 => "set information",
        7 => "query attributes",
        8 => "set attributes",
        9 => "flush",
        10 => "query volume",
        11 => "set volume",
        12 => "directory",
        13 => "file system control",
        14 => "device control",
        15 => "internal device control",
        16 => "shutdown",
        17 => "lock",
        18 => "cleanup",
        19 => "create mailslot",
        20 => "query security",
        21 => "set security",
        22 => "power",
        23 => "system control",
        24 => "device change",
        25 => "query quota",
        26 => "set quota",
        27 => "plug and play",
        -1 => "acquire for section",
        -2 => "release for section",
        -3 => "acquire for modified writer",
        -4 => "release for modified writer",
        -5 => "acquire for cache flush",
        -6 => "release for cache flush",
        -7 => "new stream file object",
        -8 => "query open",
        -13 => "fast I/O check",
        -14 => "network query open",
        -15 => "read memory list",
        -16 => "read memory list done",
        -17 => "write memory list",
        -18 => "write memory list done",
        -19 => "mount",
        -20 => "dismount",
        _ => return major.to_string(),
    };
    word.to_owned()
}

fn status(number: i64) -> String {
    ntstatus::text(number)
}
