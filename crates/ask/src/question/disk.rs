//! `dump disk`: what was read from and written to disks, for whom, and how busy the disks were.

mod sums;

use std::ops::Range;

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::rows::{DiskIoRow, DiskOperation, DiskSummaryRow};
use tracesift_trace::schema::Row as _;
use tracesift_trace::{ProcessId, view};

use super::paths;
use crate::answer::{ColumnOf, Kind};
use crate::etwanalyzer::{Legacy, To, switch};
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Imported, Limit, Measure, Needed, StackFigure, TableQuestion};
use crate::words::numbered;

view! {
    /// A disk operation.
    #[derive(Clone, Copy, Debug)]
    pub struct Operation of DiskIoRow {
        time, start, process, thread, disk, operation, offset, size, priority, irp_flags, file, stack, service,
        queue_start, queue_end, queued, error,
    }
}

/// Disk operations.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

/// What is asked.
pub type Question = table_question::Question<Disk>;

/// The options.
pub type Options = table_question::Options<Disk>;

/// The memory manager asked: for the page file, mapped files, working sets.
const PAGING: i64 = 2;

/// Linux has device numbers: the major number is above these bits.
const MINOR_BITS: u32 = 20;

impl TableQuestion for Disk {
    type Row = Operation;

    const NAME: &'static str = "disk";
    const WHAT: [&'static str; 2] = ["disk operation", "disk operations"];
    const READS: Option<&'static [&'static str]> = Some(Self::TABLES);
    const SOURCE: RowSource = RowSource::both("Default", "Default");
    const MOST: &'static str = "most operations";
    const COUNTS_AT_END: bool = true;

    const DIMENSIONS: &'static [Dimension<Operation>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::paths("drive", "Drive", drive_of, drives)
            .coarse()
            .meaning("Drive of the file. Of operations without a file the drive or name of the disk."),
        Dimension::paths("dir", "Directory", |row: &Operation| row.file.map(|file| file.0.into()), paths::directories)
            .meaning("Directory of the file; `--dir-level` sets the number of its parts. `(no file)`: operations without a known file.")
            .or("(no file)")
            .coarse(),
        Dimension::paths("file", "File", |row: &Operation| row.file.map(|file| file.0.into()), paths::files)
            .keyed("path")
            .meaning("Path of the file. `(no file)`: operations without a known file.")
            .or("(no file)")
            .filtered("--path", ["file", "files"], "Only operations on these files, by their whole paths: '*.dll'"),
        Dimension::words("disk", "Disk", |row: &Operation| (row.disk != sums::NO_DISK).then(|| row.disk.into()), disk_number)
            .meaning("Number of the disk; of Linux `major:minor`.")
            .filtered("--disk", ["disk", "disks"], "Only operations of these disks, by number or `major:minor`"),
        Dimension::words("operation", "Operation", |row: &Operation| Some(row.operation as i64), operation)
            .meaning("`read`, `write` or `flush`.")
            .filtered("--operation", ["operation", "operations"], "Only these operations: read, write, flush"),
        Dimension::words("priority", "Priority", |row: &Operation| (row.priority >= 0).then(|| row.priority.into()), priority)
            .meaning("I/O priority: `very low`, `low`, `normal`, `high`, `critical`, `not set`.")
            .filtered("--priority", ["priority", "priorities"], "Only operations of these priorities: 'very low'"),
        Dimension::method(|row: &Operation| (row.stack, None))
            .meaning("The function that started the operation, as `module!function`.")
            .filtered("--methods", ["method", "methods"], "Only operations that these functions started"),
        Dimension::tag(|row: &Operation| row.stack).coarse(),
        Dimension::stack(|row: &Operation| row.stack).coarse().meaning("The functions of the stack that started the operation."),
    ];

    const MEASURES: &'static [Measure<Operation>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::distinct("file", "files", "Files").meaning("Number of files.").details(),
        Measure::distinct("disk", "disks", "Disks").meaning("Number of disks.").details(),
        Measure::counts("disk", "disk_numbers", "Disk numbers")
            .meaning("Number of operations by disk, the most frequent first.")
            .machine(),
        Measure::counts("process", "process_names", "Process names")
            .meaning("Number of operations by process, the most frequent first.")
            .machine(),
        Measure::rows("operations", "Operations")
            .meaning("Number of operations that completed in the time range.")
            .sorted(&["count"])
            .details(),
        Measure::rows_if("reads", "Reads", is_read).meaning("Number of reads.").total("reads"),
        Measure::sum("read_bytes", "Read", Kind::Bytes, |row: &Operation| size_if(is_read, row))
            .meaning("Bytes read.")
            .limited(
                ["--min-read-size", "--max-read-size"],
                ["Only rows with at least so much read (bytes without unit)", "Only rows with at most so much read"],
            )
            .sorted(&["read-size"])
            .total("read"),
        Measure::sum_of("read_service_ns", "Read time", Kind::Milliseconds, is_read, |row: &Operation| row.service)
            .meaning("Sum of the service times of the reads. Service times of one disk do not overlap.")
            .limited(
                ["--min-read-time", "--max-read-time"],
                ["Only rows with at least so much service time of reads (ms without unit)", "Only rows with at most so much service time of reads"],
            )
            .sorted(&["read-time"]),
        Measure::sum("read_response_ns", "Read response", Kind::Milliseconds, |row: &Operation| response_if(is_read, row))
            .meaning("Sum of the response times of the reads, from the request to its completion.")
            .details(),
        Measure::rows_if("writes", "Writes", is_write).meaning("Number of writes.").total("writes"),
        Measure::sum("write_bytes", "Written", Kind::Bytes, |row: &Operation| size_if(is_write, row))
            .meaning("Bytes written.")
            .limited(
                ["--min-write-size", "--max-write-size"],
                ["Only rows with at least so much written (bytes without unit)", "Only rows with at most so much written"],
            )
            .sorted(&["write-size"])
            .total("written"),
        Measure::sum_of("write_service_ns", "Write time", Kind::Milliseconds, is_write, |row: &Operation| row.service)
            .meaning("Sum of the service times of the writes.")
            .limited(
                ["--min-write-time", "--max-write-time"],
                ["Only rows with at least so much service time of writes (ms without unit)", "Only rows with at most so much service time of writes"],
            )
            .sorted(&["write-time"]),
        Measure::sum("write_response_ns", "Write response", Kind::Milliseconds, |row: &Operation| response_if(is_write, row))
            .meaning("Sum of the response times of the writes.")
            .details(),
        Measure::rows_if("flushes", "Flushes", is_flush).meaning("Number of flushes of the disk's cache.").total("flushes"),
        Measure::sum_of("flush_service_ns", "Flush time", Kind::Milliseconds, is_flush, |row: &Operation| row.service)
            .meaning("Sum of the service times of the flushes.")
            .sorted(&["flush-time"]),
        Measure::sum("flush_response_ns", "Flush response", Kind::Milliseconds, |row: &Operation| response_if(is_flush, row))
            .meaning("Sum of the response times of the flushes.")
            .details(),
        Measure::sum("total_bytes", "Bytes", Kind::Bytes, |row: &Operation| row.size)
            .meaning("Bytes read and written.")
            .limited(
                ["--min-total-size", "--max-total-size"],
                ["Only rows with at least so much read and written (bytes without unit)", "Only rows with at most so much read and written"],
            )
            .sorted(&["total-size", "size"])
            .details(),
        Measure::sum_known("total_service_ns", "Service", Kind::Milliseconds, |row: &Operation| row.service)
            .meaning("Sum of the service times of all operations. It is no longer than the disk was busy.")
            .limited(
                ["--min-total-time", "--max-total-time"],
                ["Only rows with at least so much service time (ms without unit)", "Only rows with at most so much service time"],
            )
            .sorted(&["total-time", "time"])
            .total("service"),
        Measure::sum("response_ns", "Response", Kind::Milliseconds, response)
            .meaning("Sum of the response times of all operations.")
            .details(),
        Measure::mean("response_avg_ns", "Average", Kind::Microseconds, ["response_ns", "operations"])
            .meaning("Mean response time.")
            .sorted(&["response"]),
        Measure::max("response_max_ns", "Longest", Kind::Milliseconds, |row: &Operation| Some(response(row)))
            .meaning("Longest response time.")
            .sorted(&["longest"]),
        Measure::percentile("response_p50_ns", "Median", 0.5).meaning("Median of the response times."),
        Measure::percentile("response_p90_ns", "90 %", 0.9).meaning("Nine of ten response times are not longer."),
        Measure::percentile("response_p99_ns", "99 %", 0.99).meaning("99 of 100 response times are not longer."),
        Measure::throughput("read_throughput", "Read MB/s", ["read_bytes", "read_service_ns"])
            .meaning("Bytes read per service time of the reads, in 1,000,000 bytes per second.")
            .details(),
        Measure::throughput("write_throughput", "Write MB/s", ["write_bytes", "write_service_ns"])
            .meaning("Bytes written per service time of the writes, in 1,000,000 bytes per second.")
            .details(),
        Measure::union("busy_ns", "Busy")
            .meaning("Time in which at least one operation of the row was under way, cut to the time range.")
            .sorted(&["busy"])
            .total("busy"),
        Measure::covers("disk", "utilisation", "Busy %")
            .meaning("Share of the time range in which an operation of the row was under way on the disk. Over several disks it is the mean; `disks` is their number."),
        Measure::percent_of_time("active_percent", "Active %", "total_service_ns")
            .meaning("Sum of the service times, in percent of the time range. Over several disks it can exceed 100.")
            .details(),
        Measure::duration("under_way_ns", "Under way").meaning("Sum of the response times, each cut to the time range.").details(),
        Measure::per_time("queue_depth_avg", "Depth", "under_way_ns")
            .meaning("Mean number of operations of the row that were under way: the sum of the response times in the time range, divided by its length.")
            .details(),
        Measure::max("queue_depth_max", "Most", Kind::Count, |row: &Operation| Some(i64::from(row.queue_start?) + 1))
            .meaning("Most operations that were under way on the disk when one of the row started, with this one.")
            .details(),
        Measure::sum_known("failed", "Failed", Kind::Count, |row: &Operation| {
            is_of_linux(row.disk.into()).then(|| row.error.is_some().into())
        })
            .meaning("Operations that failed. Linux only.")
            .details(),
    ];

    const STACKS: &'static [StackFigure] = &[
        StackFigure {
            column: "total_service_ns",
            measure: Exported {
                key: "disk",
                label: "Disk service",
                unit: Unit::Nanoseconds,
                counted: "disk operations",
            },
            help: "Service time of disk operations",
        },
        StackFigure {
            column: "total_bytes",
            measure: Exported { key: "disk-bytes", label: "Disk bytes", unit: Unit::Bytes, counted: "disk operations" },
            help: "Bytes that disk operations read and wrote",
        },
    ];
    const LIMITS: &'static [Limit<Operation>] = &[Limit::time(
        ["--min-duration", "--max-duration"],
        |row| Some(response(row)),
        ["Only operations with so long a response time (ms without unit)", "Only operations that did not take longer"],
    )];
    const CONDITIONS: &'static [Condition<Operation>] = &[Condition {
        option: "--paging",
        holds: |row| row.irp_flags & PAGING != 0,
        help: "Only operations for the memory manager: page file, mapped files, working sets (Windows)",
    }];

    const LIST: &'static [ColumnOf<Operation>] = &[
        ColumnOf::details("offset", "Offset", Kind::Bytes, |row| row.offset.into(), "Offset on the disk."),
        ColumnOf::always("size", "Size", Kind::Bytes, |row| row.size.into(), "Bytes read or written."),
        ColumnOf::always("service_ns", "Service", Kind::Milliseconds, |row| row.service.into(), "Service time."),
        ColumnOf::always(
            "queue_start",
            "Depth at start",
            Kind::Count,
            |row| row.queue_start.map(i64::from).into(),
            "Other operations under way on the disk when it started.",
        ),
        ColumnOf::details(
            "queue_end",
            "Depth at end",
            Kind::Count,
            |row| row.queue_end.map(i64::from).into(),
            "Other operations under way on the disk when it completed.",
        ),
        ColumnOf::details(
            "queued_ns",
            "Queued",
            Kind::Milliseconds,
            |row| row.queued.into(),
            "How long it waited in the kernel's queue before the device got it. Linux only.",
        ),
        ColumnOf::details("error", "Error", Kind::Id, |row| row.error.into(), "Number of its error. Linux only."),
    ];

    const BY: &'static [&'static str] = &["drive"];
    const TABLES: &'static [&'static str] = &[DiskIoRow::TABLE.name, DiskSummaryRow::TABLE.name];
    const IMPORTED: Imported = Imported::Sums;
    const UNKNOWN_IN_IMPORTS: &'static [&'static str] = sums::UNKNOWN_FIGURES;
    const MERGES: bool = true;
    const SORT: &'static str = "total-size";
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "path", "operation", "by", "dir-level", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump disk X.sift", "the drives"),
        (
            "tracesift dump disk X.sift --by process,file --top 10 --sort total-time",
            "who kept the disk busy with which files",
        ),
        ("tracesift dump disk X.sift --dir-level 2 --operation write", "where was written to"),
        ("tracesift dump disk X.sift --by operation --bucket 1s", "a series"),
        ("tracesift dump disk X.sift --list --top 10 --sort longest", "the longest operations"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--by=process,file"],
        &["--dir-level=2"],
        &["--by=tag"],
        &["--by=stack"],
        &["--paging"],
        &["--min-read-size=1KB"],
    ];

    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "disk",
        switches: &[
            switch(&["dirlevel"], To::Value("--dir-level")),
            switch(&["perprocess"], To::Flag("--by=process,dir")),
            switch(&["filename"], To::Value("--path")),
            switch(&["fileoperation"], To::Word("--operation", OPERATIONS)),
            switch(&["sortby"], To::Word("--sort", ORDERS)),
            switch(&["minmaxreadsize"], To::Range("--min-read-size", "--max-read-size", "B")),
            switch(&["minmaxwritesize"], To::Range("--min-write-size", "--max-write-size", "B")),
            switch(&["minmaxtotalsize"], To::Range("--min-total-size", "--max-total-size", "B")),
            switch(&["minmaxreadtime"], To::Range("--min-read-time", "--max-read-time", "s")),
            switch(&["minmaxwritetime"], To::Range("--min-write-time", "--max-write-time", "s")),
            switch(&["minmaxtotaltime"], To::Range("--min-total-time", "--max-total-time", "s")),
            switch(&["reversefilename", "rfn"], To::Flag("--reverse-path")),
            switch(&["topndetails"], To::Value("--top-details")),
            switch(&["topnprocesses"], To::Top("--by=process --top", "--skip")),
            switch(&["merge"], To::Flag("--merge")),
            switch(&["column"], To::ChosenColumns(COLUMNS)),
        ],
    });

    fn process(row: &Operation) -> Option<ProcessId> {
        row.process
    }

    fn count(archive: &Archive) -> u64 {
        archive.row_count::<DiskIoRow>().max(archive.row_count::<DiskSummaryRow>())
    }

    fn scan(
        archive: &Archive,
        time: Option<Range<i64>>,
        _: Needed<Operation>,
        mut visit: impl FnMut(&Operation),
    ) -> Result<(), Error> {
        // An import has sums in place of operations.
        if archive.row_count::<DiskIoRow>() == 0 {
            return archive.scan(None, |row: &DiskSummaryRow| visit(&sums::operation(row)));
        }
        archive.scan(time, visit)
    }

    fn times(row: &Operation) -> (i64, i64) {
        (row.start.min(row.time), row.time)
    }
}

const OPERATIONS: &[(&str, &str)] = &[("read", "read"), ("write", "write"), ("flush", "flush"), ("all", "*")];

const ORDERS: &[(&str, &str)] = &[
    ("readsize", "read-size"),
    ("writesize", "write-size"),
    ("readtime", "read-time"),
    ("writetime", "write-time"),
    ("flushtime", "flush-time"),
    ("totalsize", "total-size"),
    ("size", "total-size"),
    ("totaltime", "total-time"),
];

const COLUMNS: &[(&str, &str)] = &[
    ("readtime", "read_service_ns"),
    ("readsize", "read_bytes"),
    ("readthroughput", "read_throughput"),
    ("writetime", "write_service_ns"),
    ("writesize", "write_bytes"),
    ("writethroughput", "write_throughput"),
    ("flushtime", "flush_service_ns"),
    ("percentactive", "active_percent"),
    ("totalsize", "total_bytes"),
    ("totaltime", "total_service_ns"),
    ("filedir", "dir"),
];

fn is_read(row: &Operation) -> bool {
    row.operation == DiskOperation::Read
}

fn is_write(row: &Operation) -> bool {
    row.operation == DiskOperation::Write
}

fn is_flush(row: &Operation) -> bool {
    row.operation == DiskOperation::Flush
}

fn response(row: &Operation) -> i64 {
    row.time.saturating_sub(row.start).max(0)
}

fn size_if(is_kind: fn(&Operation) -> bool, row: &Operation) -> i64 {
    if is_kind(row) { row.size } else { 0 }
}

fn response_if(is_kind: fn(&Operation) -> bool, row: &Operation) -> i64 {
    if is_kind(row) { response(row) } else { 0 }
}

/// The file, or below 0 the disk of an operation without a file.
fn drive_of(row: &Operation) -> Option<i64> {
    let of_disk = || (row.disk != sums::NO_DISK).then(|| -1 - i64::from(row.disk));
    row.file.map(|file| file.0.into()).or_else(of_disk)
}

/// The drives of files and disks.
fn drives(recording: &OpenRecording, _: Option<usize>) -> Result<Vec<(i64, String)>, Error> {
    let mut drives = paths::drives(recording, None)?;
    let mut named: Vec<i64> = Vec::new();
    for known in &recording.info().disks {
        let number = i64::from(known.number.cast_signed());
        let name = match &known.drives[..] {
            [drive] => drive.clone(),
            [] => format!("disk {}", disk_number(number)),
            several => format!("disk {} ({})", disk_number(number), several.join(" ")),
        };
        named.push(number);
        drives.push((-1 - number, name));
    }
    let mut unnamed: Vec<i64> = Vec::new();
    let mut note = |disk: i32| {
        let number = i64::from(disk);
        if !named.contains(&number) && !unnamed.contains(&number) && unnamed.len() < MAX_UNNAMED {
            unnamed.push(number);
        }
    };
    recording.archive().scan(None, |row: &DiskOfOperation| note(row.disk))?;
    recording.archive().scan(None, |row: &sums::DiskOfSums| row.disk.into_iter().for_each(&mut note))?;
    drives.extend(unnamed.into_iter().map(|number| (-1 - number, format!("disk {}", disk_number(number)))));
    Ok(drives)
}

/// Disks that the recording does not describe, at most.
const MAX_UNNAMED: usize = 256;

view! {
    /// The disk of an operation.
    #[derive(Clone, Copy, Debug)]
    struct DiskOfOperation of DiskIoRow { disk }
}

/// Major numbers of Linux begin with 1, numbers of disks of Windows are small.
fn is_of_linux(disk: i64) -> bool {
    disk >> MINOR_BITS != 0
}

/// The number of a disk as answers show it: of Linux `major:minor`.
pub(crate) fn disk_number(number: i64) -> String {
    if !is_of_linux(number) {
        return number.to_string();
    }
    format!("{}:{}", number >> MINOR_BITS, number & ((1 << MINOR_BITS) - 1))
}

fn operation(number: i64) -> String {
    numbered(&["read", "write", "flush"], number)
}

fn priority(number: i64) -> String {
    numbered(&["not set", "very low", "low", "normal", "high", "critical"], number)
}
