//! `dump stats`: what a recording is, and what it consists of.
//!
//! A raw recording is read and its records are counted, one row per `.etl` or `perf.data` in it. An archive tells what its description
//! has: machine, session, tables, health.

mod archive;
mod counts;
mod etl;
mod linux;
mod options;
mod perf;
mod raw;
mod stacks;
mod timeline;

use tracesift_grammar::Patterns;
use tracesift_trace::info::{Disk, NetworkCard, TraceInfo};

use crate::answer::{Answer, Column, ColumnOf, Kind, Layout, Section, Table, Value, descriptions, values};
use crate::candidates::Candidates;
use crate::limit::Limit;
use crate::nothing;
use crate::time_format::Zero;

pub use archive::archive;
pub use linux::{LinuxRecording, RecordedEvent};
pub use options::{Options, Question};
pub use raw::{RawStats, recording};

/// One `.etl` or `perf.data`, or one archive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Path of the archive or recording.
    pub file: String,
    /// Member inside an archive file.
    pub member: Option<String>,
    /// Time zero, to show the recorder's local time.
    pub zero: Option<Zero>,
    /// Bytes of the recording, or of the archive's tables.
    pub bytes: Option<u64>,
    /// Product name of the operating system.
    pub os_name: Option<String>,
    /// `major.minor.build`.
    pub os_build: Option<String>,
    /// Host name.
    pub machine: Option<String>,
    /// Bytes of a pointer.
    pub pointer_size: Option<u32>,
    /// Logical CPUs.
    pub cpu_count: Option<u32>,
    /// Name of the CPU.
    pub cpu_name: Option<String>,
    /// CPU clock, MHz.
    pub cpu_mhz: Option<u32>,
    /// Main memory, MiB.
    pub memory_mib: Option<u64>,
    /// Disks.
    pub disks: Vec<Disk>,
    /// Network cards.
    pub network_cards: Vec<NetworkCard>,
    /// Name of the recording session.
    pub session_name: Option<String>,
    /// Ticks per second of the performance counter.
    pub perf_freq: Option<i64>,
    /// Number of the session's clock.
    pub clock_type: Option<u32>,
    /// Name of the recording's clock.
    pub clock: Option<String>,
    /// Interval of the clock interrupt, 100 ns.
    pub timer_resolution: Option<u32>,
    /// Start in UTC.
    pub start_time_utc: Option<String>,
    /// End in UTC.
    pub end_time_utc: Option<String>,
    /// Boot time in UTC.
    pub boot_time_utc: Option<String>,
    /// Minutes to add to the recorder's local time to get UTC.
    pub utc_offset_minutes: Option<i32>,
    /// First record in UTC, where that is not the start of the session.
    pub recorded_from_utc: Option<String>,
    /// From start to end, s.
    pub duration_s: Option<f64>,
    /// Events that the recorder says it lost.
    pub events_lost: Option<u64>,
    /// Buffers that the recorder says it lost.
    pub buffers_lost: Option<u64>,
    /// What only an `.etl` tells.
    pub container: Option<Container>,
    /// What only a `perf.data` tells.
    pub linux: Option<LinuxRecording>,
    /// What the recorder noted beside the recording.
    pub facts: Vec<(String, String)>,
    /// Records; in an archive the rows of all its tables are in `tables`.
    pub total_records: Option<u64>,
    /// Records by class.
    pub counts: Option<Table>,
    /// Tables of an archive.
    pub tables: Option<Table>,
    /// What could not be used.
    pub health: Option<Table>,
    /// What makes figures less than exact.
    pub warnings: Vec<Limit>,
}

/// Buffers of an `.etl`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Container {
    /// Bytes of a buffer.
    pub buffer_size: u32,
    /// Buffers that the recorder says it wrote.
    pub buffers_written: u32,
    /// Mode bits of the session.
    pub log_file_mode: u32,
    /// Buffers found.
    pub buffers_in_file: usize,
    /// Compressed ones among them.
    pub compressed_buffers: usize,
    /// Different CPUs among them.
    pub cpus_seen_in_buffers: usize,
    /// Buffers that say that events were lost.
    pub buffers_flagged_events_lost: usize,
    /// Buffers that say that buffers before them were lost.
    pub buffers_flagged_buffer_lost: usize,
    /// Descriptions of a session.
    pub logfile_header_records: u64,
    /// Raw tick of the earliest record.
    pub first_timestamp_raw: Option<i64>,
    /// Raw tick of the latest record.
    pub last_timestamp_raw: Option<i64>,
    /// Records by type of their header.
    pub records_by_header_type: Vec<(String, u64)>,
    /// Self-describing events by provider and name.
    pub tracelogging_events: Option<Table>,
}

impl Row {
    /// What the description of a recording says about its machine.
    fn of_machine(info: &TraceInfo) -> Self {
        Self {
            os_name: info.os_name.clone(),
            machine: info.machine.clone(),
            cpu_name: info.cpu_name.clone(),
            cpu_mhz: info.cpu_mhz,
            memory_mib: info.memory_mib,
            disks: info.disks.clone(),
            network_cards: info.network_cards.clone(),
            facts: info.facts.clone(),
            ..Self::default()
        }
    }
}

fn of_container<T: Into<Value>>(row: &Row, value: impl Fn(&Container) -> T) -> Value {
    row.container.as_ref().map(value).into()
}

/// The columns, in the order of every format.
pub const COLUMNS: &[ColumnOf<Row>] = &[
    ColumnOf::always("file", "File", Kind::Text, |r| (&r.file).into(), "Path of the archive or recording."),
    ColumnOf::always(
        "member",
        "Member",
        Kind::Text,
        |r| r.member.clone().into(),
        "Member inside a zip, 7z, cab or diagsession.",
    ),
    ColumnOf::always(
        "bytes",
        "Size",
        Kind::Bytes,
        |r| r.bytes.into(),
        "Bytes of the `.etl` or `perf.data`; of an archive, of its tables.",
    ),
    ColumnOf::always(
        "os_name",
        "OS",
        Kind::Text,
        |r| r.os_name.clone().into(),
        "Product name of the operating system.",
    ),
    ColumnOf::always("os_build", "OS build", Kind::Text, |r| r.os_build.clone().into(), "`major.minor.build`."),
    ColumnOf::always("machine", "Machine", Kind::Text, |r| r.machine.clone().into(), "Host name."),
    ColumnOf::always(
        "pointer_size",
        "Pointer size",
        Kind::Id,
        |r| r.pointer_size.into(),
        "Bytes of a pointer of the recorded system.",
    ),
    ColumnOf::always("cpu_count", "CPUs", Kind::Id, |r| r.cpu_count.into(), "Logical CPUs."),
    ColumnOf::always("cpu_name", "CPU", Kind::Text, |r| r.cpu_name.clone().into(), "Name of the CPU."),
    ColumnOf::always("cpu_mhz", "CPU MHz", Kind::Count, |r| r.cpu_mhz.into(), "CPU clock in MHz."),
    ColumnOf::always("memory_mib", "Memory MiB", Kind::Count, |r| r.memory_mib.into(), "Main memory in MiB."),
    ColumnOf::always("disks", "Disks", Kind::Table, disks, "Disks: number, model, bytes, drives."),
    ColumnOf::always(
        "network_cards",
        "Network cards",
        Kind::Table,
        cards,
        "Network cards: description, addresses, DNS servers, hardware address.",
    ),
    ColumnOf::always(
        "facts",
        "Facts",
        Kind::Table,
        facts,
        "What `tracesift record` noted beside the recording: paths in its `machine.json`, values.",
    ),
    ColumnOf::always(
        "session_name",
        "Session",
        Kind::Text,
        |r| r.session_name.clone().into(),
        "Name of the recording session; `Relogger` in merged files.",
    ),
    ColumnOf::always(
        "start_time_utc",
        "Start UTC",
        Kind::Text,
        |r| r.start_time_utc.clone().into(),
        "Start of the session in UTC.",
    ),
    ColumnOf::always(
        "recorded_from_utc",
        "Recorded from UTC",
        Kind::Text,
        |r| r.recorded_from_utc.clone().into(),
        "First record in UTC where the file holds a later part of the session: one file of several in turn, or a circular one that has wrapped.",
    ),
    ColumnOf::always(
        "end_time_utc",
        "End UTC",
        Kind::Text,
        |r| r.end_time_utc.clone().into(),
        "End of the session in UTC; empty when it was never closed.",
    ),
    ColumnOf::always(
        "duration_s",
        "Duration s",
        Kind::Number(3),
        |r| r.duration_s.into(),
        "From start to end in seconds, of a later part of the session from the first record; of a `perf.data` from its first to its last record with a time.",
    ),
    ColumnOf::always(
        "boot_time_utc",
        "Boot UTC",
        Kind::Text,
        |r| r.boot_time_utc.clone().into(),
        "Start of the system in UTC.",
    ),
    ColumnOf::always(
        "utc_offset_minutes",
        "UTC offset min",
        Kind::Id,
        |r| r.utc_offset_minutes.into(),
        "Minutes to add to the recorder's local time to get UTC.",
    ),
    ColumnOf::always(
        "events_lost",
        "Events lost",
        Kind::Count,
        |r| r.events_lost.into(),
        "Events that the recorder says it lost.",
    ),
    ColumnOf::always(
        "buffers_lost",
        "Buffers lost",
        Kind::Count,
        |r| r.buffers_lost.into(),
        "Buffers that the recorder says it lost.",
    ),
    ColumnOf::always("clock", "Clock", Kind::Text, |r| r.clock.clone().into(), "Clock of the time stamps."),
    ColumnOf::details(
        "clock_type",
        "Clock number",
        Kind::Id,
        |r| r.clock_type.into(),
        "Its number: 1 performance counter, 2 system time, 3 CPU cycles.",
    ),
    ColumnOf::always(
        "perf_freq",
        "Clock frequency",
        Kind::Count,
        |r| r.perf_freq.into(),
        "Ticks per second of the performance counter, or of perf's clock.",
    ),
    ColumnOf::details(
        "timer_resolution_100ns",
        "Timer 100 ns",
        Kind::Count,
        |r| r.timer_resolution.into(),
        "Interval of the clock interrupt in 100 ns.",
    ),
    ColumnOf::details(
        "buffer_size",
        "Buffer size",
        Kind::Bytes,
        |r| of_container(r, |c| c.buffer_size),
        "Bytes of a buffer.",
    ),
    ColumnOf::details(
        "buffers_written",
        "Buffers written",
        Kind::Count,
        |r| of_container(r, |c| c.buffers_written),
        "Buffers that the recorder says it wrote.",
    ),
    ColumnOf::details(
        "log_file_mode",
        "File mode",
        Kind::Text,
        |r| of_container(r, |c| format!("0x{:x}", c.log_file_mode)),
        "Mode bits of the session.",
    ),
    ColumnOf::always(
        "buffers_in_file",
        "Buffers",
        Kind::Count,
        |r| of_container(r, |c| c.buffers_in_file),
        "Buffers in the file.",
    ),
    ColumnOf::details(
        "compressed_buffers",
        "Compressed",
        Kind::Count,
        |r| of_container(r, |c| c.compressed_buffers),
        "Compressed ones among them.",
    ),
    ColumnOf::details(
        "cpus_seen_in_buffers",
        "CPUs seen",
        Kind::Count,
        |r| of_container(r, |c| c.cpus_seen_in_buffers),
        "Different CPUs among them.",
    ),
    ColumnOf::details(
        "buffers_flagged_events_lost",
        "Flagged: events lost",
        Kind::Count,
        |r| of_container(r, |c| c.buffers_flagged_events_lost),
        "Buffers that say that events were lost around them.",
    ),
    ColumnOf::details(
        "buffers_flagged_buffer_lost",
        "Flagged: buffer lost",
        Kind::Count,
        |r| of_container(r, |c| c.buffers_flagged_buffer_lost),
        "Buffers that say that buffers before them were lost.",
    ),
    ColumnOf::details(
        "logfile_header_records",
        "Session headers",
        Kind::Count,
        |r| of_container(r, |c| c.logfile_header_records),
        "Records that describe a session.",
    ),
    ColumnOf::details(
        "first_timestamp_raw",
        "First tick",
        Kind::Id,
        |r| of_container(r, |c| c.first_timestamp_raw),
        "Smallest record time in clock ticks.",
    ),
    ColumnOf::details(
        "last_timestamp_raw",
        "Last tick",
        Kind::Id,
        |r| of_container(r, |c| c.last_timestamp_raw),
        "Largest record time in clock ticks.",
    ),
    ColumnOf::always("total_records", "Records", Kind::Count, |r| r.total_records.into(), "Records of all classes."),
    ColumnOf::details("records_by_header_type", "Headers", Kind::Map, header_types, "Records by type of their header."),
    ColumnOf::always("counts", "Events", Kind::Table, |r| table(r.counts.as_ref()), "Records by class, see below."),
    ColumnOf::details(
        "tracelogging_events",
        "Self-describing events",
        Kind::Table,
        |r| table(r.container.as_ref().and_then(|c| c.tracelogging_events.as_ref())),
        "Self-describing events: provider, provider_name, event, count.",
    ),
    linux::OS_RELEASE,
    linux::ARCH,
    linux::PERF_VERSION,
    linux::COMMAND_LINE,
    linux::MODE,
    linux::CPUS,
    linux::TOTAL_SAMPLES,
    linux::FIRST_SAMPLE,
    linux::LAST_SAMPLE,
    linux::FIRST_RECORD,
    linux::LAST_RECORD,
    linux::EVENTS,
    linux::RECORDS,
    linux::COMPRESSED,
    linux::STOPPED,
    ColumnOf::always(
        "tables",
        "Tables",
        Kind::Table,
        |r| table(r.tables.as_ref()),
        "Tables of an archive: name, rows, bytes.",
    ),
    ColumnOf::always(
        "health",
        "Could not be used",
        Kind::Table,
        |r| table(r.health.as_ref()),
        "What could not be used: kind, count, first_time_ns, example.",
    ),
    ColumnOf::machine(
        "warnings",
        "Warnings",
        Kind::List,
        |r| Limit::texts(&r.warnings),
        "Reasons why figures of this recording are less than exact.",
    ),
];

/// Columns of `counts`.
pub use counts::COLUMNS as COUNT_COLUMNS;

/// The answer for any number of rows. `properties` keeps some columns only.
#[must_use]
pub fn answer(rows: Vec<Row>, properties: &Patterns) -> Answer {
    let kept: Vec<ColumnOf<Row>> = COLUMNS
        .iter()
        .filter(|column| properties.is_empty() || properties.matches_any(&[column.column.key, column.column.title]))
        .copied()
        .collect();
    let sections = rows
        .into_iter()
        .map(|row| Section {
            title: row.member.clone().unwrap_or_else(|| row.file.clone()),
            zero: row.zero,
            warnings: row.warnings.clone(),
            rows: values(&kept, std::slice::from_ref(&row)),
            ..Section::default()
        })
        .collect();
    Answer {
        question: "stats",
        columns: descriptions(&kept),
        layout: Layout::Cards,
        sorted: None,
        sections,
        sums: Vec::new(),
        facts: Vec::new(),
    }
}

/// Why an answer about these properties has no figure; `None`: it has some.
#[must_use]
pub fn why_empty(answer: &Answer, properties: &Patterns) -> Option<Vec<String>> {
    let mut values = answer.sections.iter().flat_map(|section| &section.rows).flatten();
    if values.any(|value| *value != Value::None) {
        return None;
    }
    let names = COLUMNS.iter().flat_map(|column| [column.column.key, column.column.title]);
    let names = names.map(|name| (name.to_owned(), 0));
    let what = ["property", "properties"];
    let passes = |name: &str| properties.matches(name);
    let found = Candidates::of("--properties", what, &properties.to_string(), names, passes);
    Some(match found.passing {
        0 => nothing::explain(&[found], &[]),
        _ => vec![format!("no file has a property of --properties `{properties}`")],
    })
}

fn table(table: Option<&Table>) -> Value {
    table.map_or(Value::None, |table| Value::Table(table.clone()))
}

fn header_types(row: &Row) -> Value {
    row.container.as_ref().map_or(Value::None, |container| {
        Value::Map(
            container.records_by_header_type.iter().map(|(name, count)| (name.clone(), (*count).into())).collect(),
        )
    })
}

fn disks(row: &Row) -> Value {
    const COLUMNS: &[ColumnOf<Disk>] = &[
        ColumnOf::always("number", "Disk", Kind::Id, |d| d.number.into(), "Disk number."),
        ColumnOf::always("model", "Model", Kind::Text, |d| (&d.model).into(), "Manufacturer and model."),
        ColumnOf::always("size_bytes", "Size", Kind::Bytes, |d| d.size.into(), "Bytes."),
        ColumnOf::always("drives", "Drives", Kind::List, |d| d.drives.as_slice().into(), "Drive letters on it."),
    ];
    Value::Table(small_table(COLUMNS, &row.disks))
}

fn facts(row: &Row) -> Value {
    const COLUMNS: &[ColumnOf<(String, String)>] = &[
        ColumnOf::always("fact", "Fact", Kind::Text, |fact| (&fact.0).into(), "Path in the document."),
        ColumnOf::always("value", "Value", Kind::Text, |fact| (&fact.1).into(), "Value."),
    ];
    Value::Table(small_table(COLUMNS, &row.facts))
}

fn cards(row: &Row) -> Value {
    const COLUMNS: &[ColumnOf<NetworkCard>] = &[
        ColumnOf::always("description", "Card", Kind::Text, |c| (&c.description).into(), "Description."),
        ColumnOf::always("addresses", "Addresses", Kind::Text, |c| (&c.addresses).into(), "Addresses."),
        ColumnOf::always("dns_servers", "DNS servers", Kind::Text, |c| (&c.dns_servers).into(), "DNS servers."),
        ColumnOf::always("mac", "MAC", Kind::Text, |c| (&c.mac).into(), "Hardware address."),
    ];
    Value::Table(small_table(COLUMNS, &row.network_cards))
}

fn small_table<R>(columns: &[ColumnOf<R>], rows: &[R]) -> Table {
    Table { columns: descriptions(columns), rows: values(columns, rows), is_sparse: true }
}

/// Columns that only a table below the rows has.
#[must_use]
pub fn count_columns() -> Vec<Column> {
    descriptions(COUNT_COLUMNS)
}
