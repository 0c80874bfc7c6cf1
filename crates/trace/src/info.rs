//! The description of a recording: the content of `trace.json`.

use serde::{Deserialize, Serialize};

/// The kind of archives that were made from ETWAnalyzer's extracts: sums over a whole recording, and no events.
pub const IMPORTED: &str = "etwanalyzer";

/// Description of a recording and of its extract.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceInfo {
    /// 16-byte id of the recording as 32 hex digits; every table's `trace` column.
    pub id: String,
    /// File name without `.etl`, `.zip`, `.sift` …
    pub name: String,
    /// `etl` or `perf`; [`IMPORTED`] where another tool's extract was imported.
    pub kind: String,
    /// Version of the tool that made the extract.
    pub tool_version: String,
    /// Major and minor version of the archive's schema.
    pub schema: [u32; 2],
    /// The recording's files.
    pub sources: Vec<SourceFile>,
    /// Host name.
    pub machine: Option<String>,
    /// Product name of the operating system.
    pub os_name: Option<String>,
    /// `major.minor.build`; of Linux the kernel's release.
    pub os_build: Option<String>,
    /// Bytes of a pointer: 4 or 8.
    pub pointer_size: u8,
    /// Number of logical CPUs.
    pub cpu_count: u32,
    /// CPU clock, MHz.
    pub cpu_mhz: Option<u32>,
    /// Name of the CPU.
    pub cpu_name: Option<String>,
    /// Main memory, MiB.
    pub memory_mib: Option<u64>,
    /// Disks.
    pub disks: Vec<Disk>,
    /// Network cards.
    pub network_cards: Vec<NetworkCard>,
    /// NT device prefix to drive.
    pub volumes: Vec<(String, String)>,
    /// Name of the recording session.
    pub session_name: Option<String>,
    /// Time zero in UTC, `2020-07-29T00:07:00.6236167Z`.
    pub start_time_utc: Option<String>,
    /// Time zero as 100 ns since 1601 (FILETIME).
    pub start_filetime: i64,
    /// Minutes to add to the recorder's local time to get UTC.
    pub utc_offset_minutes: i32,
    /// Boot time in UTC.
    pub boot_time_utc: Option<String>,
    /// Start of the recorded span, ns since time zero; not 0 where a circular file lost its start.
    pub start_ns: i64,
    /// End of the recorded span, ns since time zero.
    pub end_ns: i64,
    /// Clock: `performance counter`, `system time` or `cpu cycles`; of Linux `scheduler clock` or a name as in clock_gettime.
    pub clock: String,
    /// Ticks per second of that clock.
    pub clock_frequency: i64,
    /// Raw tick at time zero.
    pub clock_zero: i64,
    /// Events that the recorder says it lost.
    pub events_lost: u64,
    /// Buffers that the recorder says it lost.
    pub buffers_lost: u64,
    /// Whether context switches were recorded, and extracted.
    pub has_switches: bool,
    /// Whether ready events were recorded, and extracted.
    pub has_ready: bool,
    /// Names of hardware counters at switches, in order.
    pub counters: Vec<String>,
    /// Sampling sources: number, name, interval in ns (0: not a time).
    pub sample_sources: Vec<SampleSource>,
    /// Name of the event whose samples are CPU time, of a Linux recording.
    pub cpu_event: Option<String>,
    /// How `method_summary` was cut: methods kept per process and measure.
    pub method_summary_cut: u32,
    /// Which events the table `events` keeps: `none`, `default`, `all`, or `chosen` for an archive that was made for one question.
    /// Empty in archives of schema 1.0, which keep none.
    pub events: String,
    /// Tables that the extract was told to leave out, whether or not the recording has anything for them.
    pub left_out: Vec<String>,
    /// Tables whose events were enabled, as far as the recording tells: where such a table has no rows, nothing happened. Not written
    /// where it is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub enabled: Vec<String>,
    /// Whether names were looked for in symbol files, by the extract or later.
    pub symbols_loaded: bool,
    /// What limits the figures, one sentence each.
    pub caveats: Vec<String>,
    /// What the recorder noted of the machine and of its own work, beside the recording: paths such as `cpu.model` with their values.
    pub facts: Vec<(String, String)>,
    /// The archive's tables. Written last.
    pub tables: Vec<TableFile>,
}

/// One file of the recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceFile {
    /// Path as given.
    pub path: String,
    /// Member inside an archive file.
    pub member: Option<String>,
    /// Bytes of the file at `path`.
    pub size: u64,
    /// Modification time, seconds since 1970.
    pub modified: i64,
    /// Hash of the first 64 KiB, 16 hex digits.
    pub head_hash: String,
}

/// One disk of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Disk {
    /// Disk number.
    pub number: u32,
    /// Manufacturer and model.
    pub model: String,
    /// Bytes.
    pub size: u64,
    /// Drive letters on it.
    pub drives: Vec<String>,
}

/// One network card of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkCard {
    /// Description.
    pub description: String,
    /// Addresses, `;` separated.
    pub addresses: String,
    /// DNS servers, `;` separated.
    pub dns_servers: String,
    /// Hardware address, `00:15:5d:…`.
    pub mac: String,
}

/// One sampling source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SampleSource {
    /// Number of the source; 0 is the timer.
    pub number: u32,
    /// Name (`Timer`).
    pub name: String,
    /// First interval in force, ns; 0 for counters.
    pub interval_ns: i64,
}

/// One table file of the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableFile {
    /// Table name; the file is `<name>.parquet`.
    pub name: String,
    /// Rows.
    pub rows: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Checksum of the file (CRC-32), 8 hex digits.
    pub crc32: String,
}
