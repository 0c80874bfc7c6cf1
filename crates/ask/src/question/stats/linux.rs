//! Facts that only a `perf.data` has, and their columns.

use super::{Row, small_table};
use crate::answer::{ColumnOf, Kind, Value};

/// How a `perf.data` was recorded and what is in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinuxRecording {
    /// `file` or `pipe`.
    pub mode: &'static str,
    /// Release of the kernel.
    pub os_release: Option<String>,
    /// Architecture.
    pub arch: Option<String>,
    /// Version of perf.
    pub perf_version: Option<String>,
    /// perf's own command line.
    pub command_line: Option<String>,
    /// CPUs that the machine has, and that were online.
    pub cpus: Option<[i64; 2]>,
    /// The events, in the order of the recording.
    pub events: Vec<RecordedEvent>,
    /// Samples of all events.
    pub total_samples: u64,
    /// Records by kind as they stand in the file.
    pub records: Vec<(String, u64)>,
    /// Records by kind inside compressed ones.
    pub records_inside_compressed: Vec<(String, u64)>,
    /// First and last time of a sample, ns of the recording's clock.
    pub sample_times: Option<(u64, u64)>,
    /// First and last time of any record, ns of the recording's clock.
    pub record_times: Option<(u64, u64)>,
    /// Why it could not be read to its end.
    pub walk_stopped: Option<String>,
}

/// An event that was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedEvent {
    /// Place in the recording.
    pub index: usize,
    /// Name.
    pub name: String,
    /// Number of its type (`perf_type_id`, or of a PMU).
    pub kind: u32,
    /// Its number inside the type.
    pub config: u64,
    /// What its samples hold.
    pub sample_type: u64,
    /// Its ids, one per CPU or thread.
    pub ids: usize,
    /// Samples per second that were asked for.
    pub frequency: Option<u64>,
    /// Events from sample to sample that were asked for.
    pub period: Option<u64>,
    /// Samples.
    pub samples: u64,
}

fn of<T: Into<Value>>(row: &Row, value: impl Fn(&LinuxRecording) -> T) -> Value {
    row.linux.as_ref().map(value).into()
}

fn time(row: &Row, times: impl Fn(&LinuxRecording) -> Option<u64>) -> Value {
    row.linux.as_ref().and_then(times).into()
}

fn map(row: &Row, records: impl Fn(&LinuxRecording) -> &[(String, u64)]) -> Value {
    row.linux.as_ref().map_or(Value::None, |linux| {
        Value::Map(records(linux).iter().map(|(name, count)| (name.clone(), (*count).into())).collect())
    })
}

pub(super) const OS_RELEASE: ColumnOf<Row> = ColumnOf::always(
    "os_release",
    "OS release",
    Kind::Text,
    |r| of(r, |l| l.os_release.clone()),
    "Release of a Linux kernel.",
);

pub(super) const ARCH: ColumnOf<Row> = ColumnOf::always(
    "arch",
    "Architecture",
    Kind::Text,
    |r| of(r, |l| l.arch.clone()),
    "Architecture of a `perf.data`, as `uname -m` says.",
);

pub(super) const PERF_VERSION: ColumnOf<Row> = ColumnOf::always(
    "perf_version",
    "perf version",
    Kind::Text,
    |r| of(r, |l| l.perf_version.clone()),
    "Version of perf that recorded.",
);

pub(super) const COMMAND_LINE: ColumnOf<Row> = ColumnOf::always(
    "perf_command_line",
    "Recorded with",
    Kind::LongText,
    |r| of(r, |l| l.command_line.clone()),
    "perf's own command line.",
);

pub(super) const MODE: ColumnOf<Row> = ColumnOf::details(
    "mode",
    "Mode",
    Kind::Text,
    |r| of(r, |l| l.mode),
    "How a `perf.data` was written: `file`, or `pipe` as a stream.",
);

pub(super) const CPUS: ColumnOf<Row> = ColumnOf::details(
    "cpus_available_online",
    "CPUs available, online",
    Kind::Integers,
    |r| of(r, |l| l.cpus.map(|cpus| Value::Integers(cpus.to_vec()))),
    "CPUs that the machine has, and that were online.",
);

pub(super) const TOTAL_SAMPLES: ColumnOf<Row> = ColumnOf::always(
    "total_samples",
    "Samples",
    Kind::Count,
    |r| of(r, |l| l.total_samples),
    "Samples of a `perf.data`, compressed ones included.",
);

pub(super) const FIRST_SAMPLE: ColumnOf<Row> = ColumnOf::details(
    "first_sample_time_ns",
    "First sample",
    Kind::Id,
    |r| time(r, |l| Some(l.sample_times?.0)),
    "Earliest time of a sample, ns of the recording's clock.",
);

pub(super) const LAST_SAMPLE: ColumnOf<Row> = ColumnOf::details(
    "last_sample_time_ns",
    "Last sample",
    Kind::Id,
    |r| time(r, |l| Some(l.sample_times?.1)),
    "Latest time of a sample.",
);

pub(super) const FIRST_RECORD: ColumnOf<Row> = ColumnOf::details(
    "first_record_time_ns",
    "First record",
    Kind::Id,
    |r| time(r, |l| Some(l.record_times?.0)),
    "Earliest time of any record, ns of the recording's clock: time zero.",
);

pub(super) const LAST_RECORD: ColumnOf<Row> = ColumnOf::details(
    "last_record_time_ns",
    "Last record",
    Kind::Id,
    |r| time(r, |l| Some(l.record_times?.1)),
    "Latest time of any record.",
);

pub(super) const EVENTS: ColumnOf<Row> = ColumnOf::details(
    "events",
    "Recorded events",
    Kind::Table,
    |r| of(r, |l| events(&l.events)),
    "Events of a `perf.data`: index, name, type, config, sample_type, ids, frequency, period, samples.",
);

pub(super) const RECORDS: ColumnOf<Row> = ColumnOf::machine(
    "records",
    "Records by kind",
    Kind::Map,
    |r| map(r, |l| &l.records),
    "Records of a `perf.data` by kind, as they stand in it.",
);

pub(super) const COMPRESSED: ColumnOf<Row> = ColumnOf::machine(
    "records_inside_compressed",
    "Compressed records by kind",
    Kind::Map,
    |r| map(r, |l| &l.records_inside_compressed),
    "Records by kind inside compressed ones.",
);

pub(super) const STOPPED: ColumnOf<Row> = ColumnOf::machine(
    "walk_stopped",
    "Stopped",
    Kind::Text,
    |r| of(r, |l| l.walk_stopped.clone()),
    "Where and why a `perf.data` could not be read to its end.",
);

fn events(events: &[RecordedEvent]) -> Value {
    const COLUMNS: &[ColumnOf<RecordedEvent>] = &[
        ColumnOf::always("index", "Event", Kind::Id, |e| e.index.into(), "Place in the recording."),
        ColumnOf::always("name", "Name", Kind::Text, |e| (&e.name).into(), "Name."),
        ColumnOf::always("type", "Type", Kind::Id, |e| e.kind.into(), "Number of its type."),
        ColumnOf::always("config", "Config", Kind::Text, |e| hex(e.config).into(), "Number inside the type."),
        ColumnOf::always("sample_type", "Sample type", Kind::Text, |e| hex(e.sample_type).into(), "Fields of samples."),
        ColumnOf::always("ids", "Ids", Kind::Count, |e| e.ids.into(), "Ids, one per CPU or thread."),
        ColumnOf::always(
            "frequency",
            "Frequency",
            Kind::Count,
            |e| e.frequency.into(),
            "Samples per second asked for.",
        ),
        ColumnOf::always("period", "Period", Kind::Count, |e| e.period.into(), "Events from sample to sample."),
        ColumnOf::always("samples", "Samples", Kind::Count, |e| e.samples.into(), "Samples."),
    ];
    Value::Table(small_table(COLUMNS, events))
}

fn hex(bits: u64) -> String {
    format!("{bits:#x}")
}
