//! `dump file`: which files were opened, read, written and changed, by whom, how long it took, and what failed.

mod sums;

use std::ops::Range;

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_grammar::TimeRange;
use tracesift_trace::info::IMPORTED;
use tracesift_trace::rows::{FileIoRow, FileSummaryRow, ProcessRow, file_operations as operations};
use tracesift_trace::schema::Row as _;
use tracesift_trace::{ProcessId, view};

pub use self::sums::Sums;

use super::paths;
use super::syscalls::errors;
use crate::answer::{ColumnOf, Kind};
use crate::etwanalyzer::{Legacy, To, switch};
use crate::ntstatus;
use crate::recording_label::RowSource;
use crate::table_question::{
    self, Condition, Dimension, Imported, Joined, Limit, Measure, Needed, StackFigure, TableQuestion, UNTOLD,
};
use crate::words::numbered;

view! {
    /// An operation on a file, as the table has it.
    #[derive(Clone, Debug)]
    pub struct Recorded of FileIoRow {
        time, start, process, thread, operation, handle, offset, size, transferred, error, file, stack, options, io_flags,
        info_class, pattern, status, open, cache_read,
    }
}

/// An operation on a file, or the operations of one kind of an import.
pub type Operation = Joined<Recorded, Sums>;

/// Operations on files.
#[derive(Clone, Copy, Debug)]
pub struct FileOperations;

/// What is asked.
pub type Question = table_question::Question<FileOperations>;

/// The options.
pub type Options = table_question::Options<FileOperations>;

/// The request goes past the file system's cache.
const NOT_CACHED: i64 = 1;

/// The number of the smallest NTSTATUS that is a warning or an error; errno of Linux is below it.
const SMALLEST_STATUS: i64 = 0x8000_0000;

impl TableQuestion for FileOperations {
    type Row = Operation;

    const NAME: &'static str = "file";
    const WHAT: [&'static str; 2] = ["file operation", "file operations"];
    const READS: Option<&'static [&'static str]> = Some(Self::TABLES);
    const SOURCE: RowSource = RowSource::both("File", "File");
    const MOST: &'static str = "most operations";
    const COUNTS_AT_END: bool = true;

    const DIMENSIONS: &'static [Dimension<Operation>] = &[
        Dimension::process(),
        Dimension::thread(|row: &Operation| row.other.is_none().then_some(row.thread)),
        Dimension::paths("drive", "Drive", file, paths::drives)
            .coarse()
            .meaning("Drive of the file. `(no file)`: operations without a known file.")
            .or("(no file)"),
        Dimension::paths("dir", "Directory", file, paths::directories)
            .meaning("Directory of the file; `--dir-level` sets the number of its parts. `(no file)`: operations without a known file.")
            .or("(no file)")
            .coarse(),
        Dimension::paths("extension", "Extension", file, paths::extensions)
            .meaning("What the name of the file ends in, in lower case. `(no file)`: operations without a known file.")
            .or("(no file)")
            .coarse(),
        Dimension::paths("file", "File", file, paths::files)
            .keyed("path")
            .meaning("Path of the file. `(no file)`: operations without a known file.")
            .or("(no file)")
            .filtered("--path", ["file", "files"], "Only operations on these files, by their whole paths: '*.dll'"),
        Dimension::words("operation", "Operation", |row: &Operation| Some(row.operation.into()), operation)
            .meaning("`open`, `close`, `read`, `write`, `flush`, `query`, `set`, `delete`, `rename`, `list` (of a directory), `map`, `create` (a directory or link), `set security`, `cleanup` (the last handle is closed), `control`, `wait` (for changes of a directory), `query security`, `attributes` (extended).")
            .filtered("--operation", ["operation", "operations"], "Only these operations: open, read, 'set*'"),
        Dimension::words("error", "Error", failure, error)
            .meaning("Name of the error: of Windows an NTSTATUS, of Linux an errno; its number where it has none. `(none)`: the operations that did not fail; `(unknown)`: operations whose end was not recorded.")
            .or("(none)")
            .filtered(
                "--errors",
                ["error", "errors"],
                "Only operations that failed with such an error: STATUS_SHARING_VIOLATION, ENOENT or 2; '*': all that failed",
            ),
        Dimension::method(|row: &Operation| (row.stack, None))
            .meaning("The function that started the operation, as `module!function`.")
            .filtered("--methods", ["method", "methods"], "Only operations that these functions started"),
        Dimension::tag(|row: &Operation| row.stack).coarse(),
        Dimension::stack(|row: &Operation| row.stack).coarse().meaning("The functions of the stack that started the operation."),
    ];

    const MEASURES: &'static [Measure<Operation>] = MEASURES;
    const STACKS: &'static [StackFigure] = &[
        StackFigure {
            column: "total_ns",
            measure: Exported {
                key: "file-time",
                label: "File operation",
                unit: Unit::Nanoseconds,
                counted: "file operations",
            },
            help: "Time of operations on files",
        },
        StackFigure {
            column: "total_bytes",
            measure: Exported { key: "file-bytes", label: "File bytes", unit: Unit::Bytes, counted: "file operations" },
            help: "Bytes that were read from and written to files",
        },
    ];

    const LIMITS: &'static [Limit<Operation>] = &[Limit::time(
        ["--min-duration", "--max-duration"],
        duration,
        ["Only operations that took so long (ms without unit)", "Only operations that did not take longer"],
    )];
    const CONDITIONS: &'static [Condition<Operation>] = &[
        Condition {
            option: "--not-cached",
            holds: |row| row.io_flags.is_some_and(|flags| flags & NOT_CACHED != 0),
            help: "Only reads and writes that go past the cache of the file system (Windows)",
        },
        Condition {
            option: "--cached",
            holds: |row| row.io_flags.is_some_and(|flags| flags & NOT_CACHED == 0),
            help: "Only reads and writes that the cache of the file system may answer (Windows)",
        },
        Condition {
            option: "--unnamed",
            holds: |row| row.file.is_none(),
            help: "Only operations whose file is not known",
        },
    ];

    const LIST: &'static [ColumnOf<Operation>] = &[
        ColumnOf::details("offset", "Offset", Kind::Bytes, |row| row.offset.into(), "Offset in the file."),
        ColumnOf::always("size", "Asked", Kind::Bytes, |row| row.size.into(), "Bytes that were asked for."),
        ColumnOf::always(
            "transferred",
            "Bytes",
            Kind::Bytes,
            |row| row.transferred.into(),
            "Bytes that were read or written.",
        ),
        ColumnOf::details(
            "handle",
            "Handle",
            Kind::Text,
            |row| row.handle.map(handle).into(),
            "Address of the file object of Windows, descriptor of Linux.",
        ),
        ColumnOf::details(
            "pattern",
            "Pattern",
            Kind::Text,
            |row| row.pattern.clone().into(),
            "What a directory was searched for.",
        ),
        ColumnOf::details(
            "options",
            "Options",
            Kind::Text,
            |row| row.options.map(|options| format!("{options:#x}")).into(),
            "How the file was opened. Windows: create options; bits 24 to 31 tell what happens if the file exists. Linux: open flags.",
        ),
        ColumnOf::details(
            "info_class",
            "Information",
            Kind::Id,
            |row| row.info_class.into(),
            "Kind of the information that is asked for or set; control code. Windows only.",
        ),
        ColumnOf::details(
            "status",
            "Status",
            Kind::Text,
            |row| row.status.map(error).into(),
            "NTSTATUS of the completion. Windows only.",
        ),
        ColumnOf::details(
            "open",
            "Open",
            Kind::Bool,
            |row| row.open.into(),
            "Whether the completion is not in the recording: the duration is not known.",
        ),
    ];

    const BY: &'static [&'static str] = &["process", "file"];
    const TABLES: &'static [&'static str] = &[FileIoRow::TABLE.name, FileSummaryRow::TABLE.name];
    const IMPORTED: Imported = Imported::Sums;
    const UNKNOWN_IN_IMPORTS: &'static [&'static str] = sums::UNKNOWN_FIGURES;
    const MERGES: bool = true;
    const TREE: Option<&'static str> = Some("file");
    const SORT: &'static str = "total-size";
    const SORT_WITHOUT_FIGURE: Option<&'static str> = Some("count");
    const HAS_LENGTH: Option<fn(&Operation) -> bool> = Some(|row| !is_open(row));
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "path", "operation", "errors", "by", "dir-level", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump file X.sift --top 10", "who read and wrote most, in which files"),
        ("tracesift dump file X.sift --by dir --dir-level 2 --sort time", "the directories that took longest"),
        ("tracesift dump file X.sift --by process,error --errors '*' --sort count", "what failed"),
        (
            "tracesift dump file X.sift --operation open --sort time --top 10",
            "the slowest opens: a virus scanner is in them",
        ),
        ("tracesift dump file X.sift --tree --dir-level 3 --top 5", "the largest directories of each directory"),
        ("tracesift dump file X.sift --list --min-duration 10ms", "each slow operation"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--by=dir", "--dir-level=1"],
        &["--by=tag"],
        &["--by=stack"],
        &["--tree"],
        &["--unnamed"],
        &["--min-count=2"],
    ];

    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "file",
        switches: &[
            switch(&["dirlevel"], To::Value("--dir-level")),
            switch(&["perprocess"], To::Flag("--by=process,dir")),
            switch(&["filename"], To::Value("--path")),
            switch(&["fileoperation"], To::Word("--operation", OPERATIONS)),
            switch(
                &["showallfiles"],
                To::Left(0, "files without a name have a row anyway, `(no file)`; --unnamed shows them alone"),
            ),
            switch(
                &["showtotal"],
                To::Choice(&[("total", "--top=0"), ("process", "--by=process"), ("file", ""), ("none", "")]),
            ),
            switch(
                &["smi", "showmoduleinfo"],
                To::Left(1, "facts of modules are left out; `dump version --per-process` has them"),
            ),
            switch(&["sortby"], To::Word("--sort", ORDERS)),
            switch(&["minmaxreadsize"], To::Range("--min-read-size", "--max-read-size", "B")),
            switch(&["minmaxwritesize"], To::Range("--min-write-size", "--max-write-size", "B")),
            switch(&["minmaxtotalsize"], To::Range("--min-total-size", "--max-total-size", "B")),
            switch(&["minmaxreadtime"], To::Range("--min-read-time", "--max-read-time", "s")),
            switch(&["minmaxwritetime"], To::Range("--min-write-time", "--max-write-time", "s")),
            switch(&["minmaxtotaltime"], To::Range("--min-total-time", "--max-total-time", "s")),
            switch(&["minmaxtotalcount"], To::Range("--min-count", "--max-count", "")),
            switch(&["reversefilename", "rfn"], To::Flag("--reverse-path")),
            switch(&["topndetails"], To::Value("--top-details")),
            switch(&["topnprocesses"], To::Top("--by=process --top", "--skip")),
            switch(&["merge"], To::Flag("--merge")),
            switch(&["column"], To::ChosenColumns(COLUMNS)),
        ],
    });

    fn process(row: &Operation) -> Option<ProcessId> {
        row.other.map_or(Some(row.process), |sums| sums.process)
    }

    fn count(archive: &Archive) -> u64 {
        archive.row_count::<FileIoRow>().max(archive.row_count::<FileSummaryRow>())
    }

    fn scan(
        archive: &Archive,
        time: Option<Range<i64>>,
        _: Needed<Operation>,
        mut visit: impl FnMut(&Operation),
    ) -> Result<(), Error> {
        // An import has sums in place of operations.
        if archive.row_count::<FileIoRow>() == 0 {
            return archive.scan(None, |row: &FileSummaryRow| visit(&sums::operation(row)));
        }
        archive.scan(time, visit)
    }

    fn notes(archive: &Archive, _: TimeRange, _: &[&ProcessRow]) -> Result<Vec<String>, Error> {
        Ok((archive.info().kind == IMPORTED).then(|| sums::NOTE.to_owned()).into_iter().collect())
    }

    fn times(row: &Operation) -> (i64, i64) {
        // What has no end is at the time of its request.
        (row.start, if is_open(row) { row.start } else { row.time.max(row.start) })
    }
}

const MEASURES: &[Measure<Operation>] = &[
    Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
    Measure::distinct("file", "files", "Files").meaning("Number of files.").details(),
    Measure::sum("operations", "Operations", Kind::Count, count)
        .meaning("Number of operations that completed in the time range; an operation without a known end counts when it begins.")
        .sorted(&["count"])
        .limited(
            ["--min-count", "--max-count"],
            ["Only rows with at least so many operations", "Only rows with at most so many operations"],
        )
        .total("operations"),
    Measure::sum("opens", "Opens", Kind::Count, |row: &Operation| count_if(row.operation == operations::OPEN, row)).meaning("Number of opens, failed ones included."),
    Measure::sum_of("open_failed", "Failed opens", Kind::Count, is_open_of_file, |row| has_failed(row).map(i64::from))
        .meaning("Opens that failed, of those whose end was recorded.")
        .details(),
    Measure::sum("closes", "Closes", Kind::Count, |row: &Operation| count_if(row.operation == operations::CLOSE, row))
        .meaning("Number of closes. On Windows the file object goes away; the last handle is closed before, in a cleanup.")
        .details(),
    Measure::sum_of("open_ns", "Open time", Kind::Milliseconds, is_open_of_file, duration)
        .meaning("Sum of the durations of the opens.")
        .details(),
    Measure::sum_of("close_ns", "Close time", Kind::Milliseconds, |row| matches!(row.operation, operations::CLEANUP | operations::CLOSE), duration)
    .meaning("Sum of the durations of cleanups and closes.")
    .details(),
    Measure::sum_of("open_close_ns", "Open, close", Kind::Milliseconds, is_open_or_close, duration)
        .meaning("Sum of the durations of opens, cleanups and closes.")
        .sorted(&["open-close-time"]),
    Measure::sum("reads", "Reads", Kind::Count, |row: &Operation| count_if(row.operation == operations::READ, row)).meaning("Number of reads.").total("reads"),
    Measure::sum_of("read_bytes", "Read", Kind::Bytes, is_read, moved)
        .meaning("Bytes read.")
        .limited(
            ["--min-read-size", "--max-read-size"],
            ["Only rows with at least so much read (bytes without unit)", "Only rows with at most so much read"],
        )
        .sorted(&["read-size"])
        .total("read"),
    Measure::sum_of("read_asked", "Read asked", Kind::Bytes, is_read, asked)
        .meaning("Bytes that reads asked for.")
        .details(),
    Measure::sum_of("read_ns", "Read time", Kind::Milliseconds, is_read, duration)
        .meaning("Sum of the durations of the reads.")
        .limited(
            ["--min-read-time", "--max-read-time"],
            ["Only rows with at least so much time of reads (ms without unit)", "Only rows with at most so much time of reads"],
        )
        .sorted(&["read-time"]),
    Measure::max("read_max_position", "Read to", Kind::Bytes, |row: &Operation| position_if(operations::READ, row))
        .meaning("Largest offset to which reads came: offset and bytes.")
        .sorted(&["max-read-position"])
        .details(),
    Measure::sum("writes", "Writes", Kind::Count, |row: &Operation| count_if(row.operation == operations::WRITE, row)).meaning("Number of writes.").total("writes"),
    Measure::sum_of("write_bytes", "Written", Kind::Bytes, is_write, moved)
        .meaning("Bytes written.")
        .limited(
            ["--min-write-size", "--max-write-size"],
            ["Only rows with at least so much written (bytes without unit)", "Only rows with at most so much written"],
        )
        .sorted(&["write-size"])
        .total("written"),
    Measure::sum_of("write_asked", "Write asked", Kind::Bytes, is_write, asked)
        .meaning("Bytes that writes asked for.")
        .details(),
    Measure::sum_of("write_ns", "Write time", Kind::Milliseconds, is_write, duration)
        .meaning("Sum of the durations of the writes.")
        .limited(
            ["--min-write-time", "--max-write-time"],
            ["Only rows with at least so much time of writes (ms without unit)", "Only rows with at most so much time of writes"],
        )
        .sorted(&["write-time"]),
    Measure::max("write_max_position", "Write to", Kind::Bytes, |row: &Operation| position_if(operations::WRITE, row))
        .meaning("Largest offset to which writes came: offset and bytes.")
        .sorted(&["max-write-position"])
        .details(),
    Measure::max("max_position", "Length", Kind::Bytes, |row: &Operation| {
        position_if(operations::READ, row).or_else(|| position_if(operations::WRITE, row))
    })
    .meaning("Largest offset to which reads and writes came.")
    .sorted(&["length"])
    .details(),
    Measure::sum("flushes", "Flushes", Kind::Count, |row: &Operation| count_if(row.operation == operations::FLUSH, row)).meaning("Number of flushes.").details(),
    Measure::sum_of("flush_ns", "Flush time", Kind::Milliseconds, |row| row.operation == operations::FLUSH, duration)
        .meaning("Sum of the durations of the flushes.")
        .sorted(&["flush-time"])
        .details(),
    Measure::sum("queries", "Queries", Kind::Count, |row: &Operation| count_if(matches!(row.operation, operations::QUERY | operations::QUERY_SECURITY), row))
        .meaning("Questions for attributes, owner or rights.")
        .details(),
    Measure::sum("sets", "Sets", Kind::Count, |row: &Operation| count_if(row.operation == operations::SET, row))
        .meaning("Changes of attributes or size.")
        .details(),
    Measure::sum("set_security", "Security", Kind::Count, |row: &Operation| count_if(row.operation == operations::SET_SECURITY, row))
        .meaning("Changes of owner or rights.")
        .details(),
    Measure::sum("deletes", "Deletes", Kind::Count, |row: &Operation| count_if(row.operation == operations::DELETE, row)).meaning("Number of deletes.").details(),
    Measure::sum("renames", "Renames", Kind::Count, |row: &Operation| count_if(row.operation == operations::RENAME, row)).meaning("Number of renames.").details(),
    Measure::sum("directories", "Lists", Kind::Count, |row: &Operation| count_if(row.operation == operations::LIST, row))
        .meaning("Lists of directories.")
        .details(),
    Measure::sum_known("failed", "Failed", Kind::Count, |row: &Operation| has_failed(row).map(i64::from))
        .meaning("Operations that failed, of those whose end was recorded.")
        .sorted(&["failed"])
        .total("failed"),
    Measure::counts("error", "errors", "Errors")
        .meaning("Errors by name with the number of operations, the most frequent first."),
    Measure::sum("open_ended", "Open", Kind::Count, |row: &Operation| count_if(is_open(row), row))
        .meaning("Operations whose completion is not in the recording: they have no duration.")
        .details(),
    Measure::sum_of("total_bytes", "Bytes", Kind::Bytes, |row| is_read(row) || is_write(row), moved)
        .meaning("Bytes read and written.")
        .limited(
            ["--min-total-size", "--max-total-size"],
            ["Only rows with at least so much read and written (bytes without unit)", "Only rows with at most so much read and written"],
        )
        .sorted(&["total-size", "size"])
        .details(),
    Measure::sum_known("total_ns", "Time", Kind::Milliseconds, duration)
        .meaning("Sum of the durations of all operations. Waits for changes of a directory count as 0.")
        .limited(
            ["--min-total-time", "--max-total-time"],
            ["Only rows with at least so much time (ms without unit)", "Only rows with at most so much time"],
        )
        .sorted(&["time", "total-time"])
        .total("time"),
    Measure::max("longest_ns", "Longest", Kind::Milliseconds, duration)
        .meaning("Duration of the longest operation.")
        .sorted(&["longest"]),
    Measure::union("union_ns", "United")
        .meaning("Time in which at least one operation of the row was under way, cut to the time range. Open operations do not count.")
        .sorted(&["union"])
        .details(),
    Measure::throughput("read_throughput", "Read MB/s", ["read_bytes", "read_ns"])
        .meaning("Bytes read per time of the reads, in 1,000,000 bytes per second.")
        .details(),
    Measure::throughput("write_throughput", "Write MB/s", ["write_bytes", "write_ns"])
        .meaning("Bytes written per time of the writes, in 1,000,000 bytes per second.")
        .details(),
    Measure::sum_known("cached_asked", "Of cached files", Kind::Bytes, |row: &Operation| row.cache_read.and(row.transferred))
        .meaning("Linux: bytes read from files whose reads go through the page cache. Needs `filemap:mm_filemap_add_to_page_cache`.")
        .details(),
    Measure::sum_known("cache_read", "Into cache", Kind::Bytes, |row: &Operation| row.cache_read)
        .meaning("Linux: bytes of the pages that these reads added to the page cache, with what was read ahead.")
        .details(),
    Measure::percent_left("cache_hit_percent", "Cache hits %", ["cache_read", "cached_asked"])
        .meaning("Linux: page cache hit rate: the share of the bytes read that was in the page cache.")
        .details(),
];

const OPERATIONS: &[(&str, &str)] = &[
    ("all", "*"),
    ("open", "open"),
    ("close", "close;cleanup"),
    ("read", "read"),
    ("write", "write"),
    ("setsecurity", "set security"),
    ("delete", "delete"),
    ("rename", "rename"),
];

const ORDERS: &[(&str, &str)] = &[
    ("readsize", "read-size"),
    ("writesize", "write-size"),
    ("readtime", "read-time"),
    ("writetime", "write-time"),
    ("totalsize", "total-size"),
    ("size", "total-size"),
    ("totaltime", "time"),
    ("time", "time"),
    ("openclosetime", "open-close-time"),
    ("count", "count"),
    ("length", "length"),
    ("maxreadpos", "max-read-position"),
    ("maxwritepos", "max-write-position"),
];

const COLUMNS: &[(&str, &str)] = &[
    ("opencount", "opens"),
    ("opentime", "open_ns"),
    ("openstatus", "errors"),
    ("closecount", "closes"),
    ("closetime", "close_ns"),
    ("openclosetime", "open_close_ns"),
    ("readcount", "reads"),
    ("maxreadpos", "read_max_position"),
    ("writecount", "writes"),
    ("maxwritepos", "write_max_position"),
    ("setsecuritycount", "set_security"),
    ("deletecount", "deletes"),
    ("renamecount", "renames"),
    ("length", "max_position"),
    ("count", "operations"),
    ("totalcount", "operations"),
    ("readtime", "read_ns"),
    ("readsize", "read_bytes"),
    ("readthroughput", "read_throughput"),
    ("writetime", "write_ns"),
    ("writesize", "write_bytes"),
    ("writethroughput", "write_throughput"),
    ("flushtime", "flush_ns"),
    ("totalsize", "total_bytes"),
    ("totaltime", "total_ns"),
    ("filedir", "dir"),
];

/// Number of operations.
fn count(row: &Operation) -> i64 {
    row.other.map_or(1, |sums| sums.count)
}

fn count_if(holds: bool, row: &Operation) -> i64 {
    if holds { count(row) } else { 0 }
}

fn file(row: &Operation) -> Option<i64> {
    row.file.map(|file| file.0.into())
}

fn is_open(row: &Operation) -> bool {
    row.open == Some(true)
}

fn is_open_of_file(row: &Operation) -> bool {
    row.operation == operations::OPEN
}

fn is_open_or_close(row: &Operation) -> bool {
    matches!(row.operation, operations::OPEN | operations::CLEANUP | operations::CLOSE)
}

fn is_read(row: &Operation) -> bool {
    row.operation == operations::READ
}

fn is_write(row: &Operation) -> bool {
    row.operation == operations::WRITE
}

/// Bytes read or written.
pub(super) fn bytes(row: &Operation) -> i64 {
    if is_read(row) || is_write(row) { moved(row).unwrap_or(0) } else { 0 }
}

/// Time from begin to end. A wait for changes of a directory is no work, and what has no known end has no duration.
pub(crate) fn duration(row: &Operation) -> Option<i64> {
    if let Some(sums) = row.other {
        return sums.duration;
    }
    let length = if row.operation == operations::WAIT { 0 } else { row.time.saturating_sub(row.start).max(0) };
    Some(length).filter(|_| !is_open(row))
}

/// Whether it failed; `None`: the recording does not have its end.
fn has_failed(row: &Operation) -> Option<bool> {
    (row.error.is_some() || !is_open(row)).then_some(row.error.is_some())
}

/// The error; that of an operation without an end is not known.
fn failure(row: &Operation) -> Option<i64> {
    match row.other {
        Some(sums) => (!sums.is_without_errors).then_some(UNTOLD),
        None if has_failed(row).is_none() => Some(UNTOLD),
        None => row.error,
    }
}

/// Bytes that a read or write moved: a failed one none.
fn moved(row: &Operation) -> Option<i64> {
    let of_failed = || has_failed(row).filter(|failed| *failed).map(|_| 0);
    row.transferred.map(|bytes| bytes.max(0)).or_else(of_failed)
}

fn asked(row: &Operation) -> Option<i64> {
    row.size.map(|size| size.max(0))
}

/// A descriptor is a small number. A file object is an address of the kernel, which are above 2^31 in both pointer sizes.
fn handle(handle: i64) -> String {
    i32::try_from(handle).map_or_else(|_| format!("{handle:#x}"), |descriptor| descriptor.to_string())
}

fn position_if(kind: i8, row: &Operation) -> Option<i64> {
    if row.operation != kind {
        return None;
    }
    match row.other {
        Some(sums) => sums.position,
        None => Some(row.offset?.saturating_add(row.transferred?)),
    }
}

pub(super) fn operation(number: i64) -> String {
    const WORDS: &[&str] = &[
        "open",
        "close",
        "read",
        "write",
        "flush",
        "query",
        "set",
        "delete",
        "rename",
        "list",
        "map",
        "create",
        "set security",
        "cleanup",
        "control",
        "wait",
        "query security",
        "attributes",
    ];
    numbered(WORDS, number)
}

/// The name of an error of either system.
fn error(number: i64) -> String {
    let is_errno = number < SMALLEST_STATUS && !ntstatus::is_of_operation(number);
    if is_errno { errors::name(number) } else { ntstatus::text(number) }
}
