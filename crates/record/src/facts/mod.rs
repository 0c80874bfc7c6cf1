//! Facts that no event of a recording has: the machine, its settings, its clocks. They are kept
//! beside the recording as `NAME.machine.json`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod linux_power;
#[cfg(windows)]
mod windows;

use std::path::{Path, PathBuf};

use chrono::{DateTime, Local, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::staging::write_document;

/// Facts of a recording and of the machine that made it. What is not known is `null`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineFacts {
    /// Version of this document: 1.
    pub format: u32,
    /// How the recording was made.
    pub recording: RecordingFacts,
    /// Name of the machine.
    pub host: Option<String>,
    /// Name of the operating system, with its version.
    pub os: Option<String>,
    /// Release of the kernel, or build of Windows.
    pub kernel: Option<String>,
    /// What the kernel was started with.
    pub kernel_command_line: Option<String>,
    /// `x86_64`, `aarch64` …
    pub architecture: String,
    /// The CPUs.
    pub cpu: CpuFacts,
    /// Frequencies and power.
    pub power: PowerFacts,
    /// Main memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Swap space, bytes.
    pub swap_bytes: Option<u64>,
    /// Disks.
    pub disks: Vec<DiskFacts>,
    /// What the kernel reads the time from.
    pub clock_source: Option<String>,
    /// Resolution of timers, ns. Of Windows what the processes that ran had asked for.
    pub timer_resolution_ns: Option<u64>,
    /// Other recorders that ran: they take time and space, and some exclude each other.
    pub trace_sessions: Vec<String>,
    /// Virus scanners and their like.
    pub antivirus: Vec<String>,
    /// Name of the time zone.
    pub time_zone: Option<String>,
    /// Minutes to add to UTC to get the local time.
    pub utc_offset_minutes: i32,
    /// The ELF file that the kernel maps into every process (`[vdso]`), in hex digits: it is in no file system, and recorders note
    /// neither it nor its build id.
    pub vdso: Option<String>,
    /// Processes that ran, with their arguments, in the order in which they were seen.
    pub processes: Vec<ProcessFacts>,
    /// Memory of the machine at the beginning, once a second, and at the end. Linux only: Windows records it itself.
    pub memory: Vec<MemoryReading>,
    /// Memory of processes: what each had at first, and where it had changed when it was looked at, once a second. Linux only, and only
    /// where a profile asks for it.
    pub process_memory: Vec<ProcessMemory>,
    /// Counters of energy, read like the memory, where a profile asks for them and the machine has some. Linux only.
    pub energy: Option<EnergyFacts>,
    /// What the descriptors of processes stood for at the beginning and at the end. Linux only, and only where calls of files or
    /// descriptors are recorded.
    pub descriptors: DescriptorFacts,
}

/// Counters of energy, and their readings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnergyFacts {
    /// The counters.
    pub counters: Vec<EnergyCounter>,
    /// Their readings at the beginning, once a second, and at the end.
    pub readings: Vec<EnergyReading>,
}

/// A counter of energy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnergyCounter {
    /// Its zone of powercap, `intel-rapl:0:1`: that lies in the zone `intel-rapl:0`.
    pub zone: String,
    /// Name of the zone, `package-0`, `core`.
    pub name: String,
    /// Behind that value it starts at 0 again, µJ.
    pub highest_uj: Option<u64>,
}

/// The values of all counters of energy at an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnergyReading {
    /// When, ns of the recorder's clock.
    pub seen_ns: i64,
    /// By counter, µJ; `None` where one could not be read.
    pub values: Vec<Option<u64>>,
}

/// Looks at the descriptors of all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DescriptorFacts {
    /// When the recorder was at work.
    pub start: Vec<ProcessDescriptors>,
    /// Before it ended.
    pub end: Vec<ProcessDescriptors>,
    /// Some processes are left out: there were too many descriptors.
    pub cut: bool,
}

/// The descriptors of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessDescriptors {
    /// Its id.
    pub pid: u32,
    /// When the look at it began, ns of the recorder's clock.
    pub from_ns: i64,
    /// When it ended.
    pub to_ns: i64,
    /// Its current directory.
    pub cwd: Option<String>,
    /// `3 /etc/passwd`, `4 socket:[123]`: each number with the target of its link.
    pub open: Vec<String>,
    /// The numbers that go when the process starts another program; only of the look at the beginning.
    pub close_on_exec: Vec<i32>,
}

/// Memory of the machine at an instant, bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryReading {
    /// When, ns of the recorder's clock.
    pub seen_ns: i64,
    /// Main memory.
    pub total: u64,
    /// Free.
    pub free: u64,
    /// What programs can get without swapping, as the kernel estimates it.
    pub available: Option<u64>,
    /// Page cache and buffers of block devices.
    pub cached: Option<u64>,
    /// Pages of files that wait to be written.
    pub dirty: Option<u64>,
    /// Pages of files that are being written.
    pub writeback: Option<u64>,
    /// Swap space in use.
    pub swap_used: Option<u64>,
    /// Kernel objects.
    pub slab: Option<u64>,
    /// What can be committed.
    pub commit_limit: Option<u64>,
    /// What is committed.
    pub committed: Option<u64>,
    /// Read from swap since the start of the system.
    pub swapped_in: Option<u64>,
    /// Written to swap since the start of the system.
    pub swapped_out: Option<u64>,
    /// Pages that the kernel looked at since the start of the system to find some that it can take.
    pub scanned: Option<u64>,
    /// Pages that it took.
    pub reclaimed: Option<u64>,
    /// Pages of files that were used lately.
    pub active_file: Option<u64>,
    /// Pages of files that the kernel takes first.
    pub inactive_file: Option<u64>,
    /// Anonymous pages that were used lately.
    pub active_anon: Option<u64>,
    /// Anonymous pages that the kernel takes first.
    pub inactive_anon: Option<u64>,
    /// Pages that were read again soon after the kernel had taken them, since the start of the system.
    pub refaulted: Option<u64>,
}

/// Memory of a process at an instant, bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessMemory {
    /// Its id.
    pub pid: u32,
    /// When, ns of the recorder's clock.
    pub seen_ns: i64,
    /// Addresses in use (`VmSize`).
    pub virtual_size: u64,
    /// Resident pages of files (`RssFile`).
    pub rss_file: u64,
    /// Resident anonymous pages (`RssAnon`).
    pub rss_anon: u64,
    /// Resident pages of shared memory (`RssShmem`).
    pub rss_shmem: u64,
    /// Pages in swap (`VmSwap`).
    pub swap: u64,
}

/// The arguments of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessFacts {
    /// Its id.
    pub pid: u32,
    /// When it had them, ns of the recorder's clock.
    pub seen_ns: i64,
    /// The arguments, the program's name first, as one would type them.
    pub command_line: String,
}

/// How a recording was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordingFacts {
    /// `perf` or `wpr`.
    pub recorder: String,
    /// Its version.
    pub recorder_version: String,
    /// Version of tracesift.
    pub tool_version: String,
    /// Names of the profiles.
    pub profiles: Vec<String>,
    /// The command that was recorded, word by word.
    pub command: Vec<String>,
    /// Its process id.
    pub command_pid: Option<u32>,
    /// How it ended, 0 for success.
    pub exit_code: Option<i32>,
    /// How long it ran, ns.
    pub command_ns: Option<u64>,
    /// What ended the recording.
    pub ended_by: Option<String>,
    /// What is missing in the recording.
    pub missing: Vec<String>,
    /// The beginning on both clocks.
    pub start: Instant,
    /// The end on both clocks.
    pub end: Instant,
    /// What the user wrote down meanwhile.
    pub marks: Vec<Mark>,
}

/// An instant on the wall clock and on the recorder's clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Instant {
    /// In UTC, `2026-11-22T20:15:00.123456789Z`.
    pub utc: String,
    /// The recorder's clock: `CLOCK_MONOTONIC`.
    pub clock: Option<String>,
    /// ns of that clock.
    pub clock_ns: Option<i64>,
}

/// What the user wrote down while recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mark {
    /// When.
    pub at: Instant,
    /// What.
    pub text: String,
}

/// The CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuFacts {
    /// Name of the model.
    pub model: Option<String>,
    /// Sockets.
    pub sockets: Option<u32>,
    /// Cores of all sockets.
    pub cores: Option<u32>,
    /// CPUs as the scheduler counts them.
    pub threads: Option<u32>,
    /// NUMA nodes.
    pub numa_nodes: Option<u32>,
    /// Lowest frequency, MHz.
    pub min_mhz: Option<u32>,
    /// Highest frequency, MHz.
    pub max_mhz: Option<u32>,
    /// The machine below, of a virtual one.
    pub hypervisor: Option<String>,
    /// Revisions of the microcode, each once.
    pub microcode: Vec<String>,
}

/// Frequencies and power.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PowerFacts {
    /// Governors of the CPUs' frequencies, each once.
    pub governors: Vec<String>,
    /// Driver of the CPUs' frequencies.
    pub driver: Option<String>,
    /// What the CPU is told to prefer, each once.
    pub energy_preferences: Vec<String>,
    /// Whether CPUs may exceed their base frequency.
    pub boost: Option<bool>,
    /// The power scheme of Windows.
    pub scheme: Option<String>,
    /// Whether the machine runs on a battery.
    pub on_battery: Option<bool>,
    /// Clock rates that CPUs can have and may have, by groups of CPUs that have the same ones.
    pub limits: Vec<LimitFacts>,
    /// Driver of the idle states.
    pub idle_driver: Option<String>,
    /// What chooses among the idle states.
    pub idle_governor: Option<String>,
    /// The idle states, by groups of CPUs that have the same ones.
    pub idle: Vec<IdleFacts>,
}

/// Clock rates of some CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitFacts {
    /// A list such as `0-15,18`.
    pub cpus: String,
    /// The rate for which the processor is sold, kHz.
    pub base_khz: Option<u64>,
    /// The lowest rate that the hardware can have, kHz.
    pub hardware_min_khz: Option<u64>,
    /// The highest one, kHz.
    pub hardware_max_khz: Option<u64>,
    /// The lowest rate that is allowed, kHz.
    pub min_khz: Option<u64>,
    /// The highest one, kHz.
    pub max_khz: Option<u64>,
}

/// Idle states of some CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IdleFacts {
    /// A list such as `0-15,18`.
    pub cpus: String,
    /// The states by number.
    pub states: Vec<IdleStateFacts>,
}

/// An idle state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IdleStateFacts {
    /// Its name, `C1E`.
    pub name: Option<String>,
    /// The time that the CPU needs to leave it, µs.
    pub latency_us: Option<u64>,
    /// The stay from which on it saves energy, µs.
    pub residency_us: Option<u64>,
    /// Whether it is switched off.
    pub disabled: Option<bool>,
}

/// A disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiskFacts {
    /// `sda`, `PhysicalDisk0`.
    pub name: String,
    /// Model.
    pub model: Option<String>,
    /// Size.
    pub bytes: Option<u64>,
    /// Whether it turns.
    pub rotational: Option<bool>,
    /// What orders its requests.
    pub scheduler: Option<String>,
}

impl MachineFacts {
    /// Looks at this machine. It takes some ms, on Windows a second or two.
    #[must_use]
    pub fn of_this_machine() -> Self {
        let mut facts = Self {
            format: 1,
            architecture: std::env::consts::ARCH.to_owned(),
            utc_offset_minutes: Local::now().offset().local_minus_utc() / 60,
            ..Self::default()
        };
        #[cfg(target_os = "linux")]
        linux::fill(&mut facts);
        #[cfg(windows)]
        windows::fill(&mut facts);
        facts
    }

    /// Where the facts of a recording lie.
    #[must_use]
    pub fn path_of(recording: &Path) -> PathBuf {
        recording.with_extension("machine.json")
    }

    /// Writes them beside the recording.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn write_beside(&self, recording: &Path) -> Result<PathBuf, Error> {
        let path = Self::path_of(recording);
        write_document(&path, self)?;
        Ok(path)
    }
}

impl Instant {
    /// This one.
    #[must_use]
    pub fn now() -> Self {
        let (clock, clock_ns) = recorder_clock().unzip();
        let now: DateTime<Utc> = Utc::now();
        Self { utc: now.to_rfc3339_opts(SecondsFormat::Nanos, true), clock, clock_ns }
    }
}

#[cfg(target_os = "linux")]
fn recorder_clock() -> Option<(String, i64)> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let ns = now.tv_sec.checked_mul(1_000_000_000)?.checked_add(now.tv_nsec)?;
    Some(("CLOCK_MONOTONIC".to_owned(), ns))
}

/// ETW tells itself what its clock shows.
#[cfg(not(target_os = "linux"))]
fn recorder_clock() -> Option<(String, i64)> {
    None
}
