//! The parts of the JSON documents that become rows, under their names in the documents.
//!
//! ETWAnalyzer leaves out what is null, and versions of it differ in what they write, so nearly everything may be absent. Parts that are
//! not named here are passed over while reading and take no memory.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

pub use crate::bounded::{Entries, List};
pub use crate::costs::{Cost, Costs};
use crate::limits::{CONFIGURATIONS, CPUS, DEVICES, MARKS, METHODS, MODULES, PROCESSES};
pub use crate::sections::{
    AllocationStatistics, Asked, Branches, Change, Commit, Connection, Counter, Descriptor, DiskActivity, DnsClient,
    DnsEvent, Endpoint, ExceptionStacks, Exceptions, ExistingHandle, FileCloses, FileCount, FileIo, FileOfProcesses,
    FileOpens, FileSecurity, FileStatistics, FileTransfers, HandleData, HandleEvent, IdleConfiguration, LoggedEvent,
    MemoryUsage, Network, ObjectTrace, ParkingConfiguration, PathData, Pmc, PowerConfiguration, Provider,
    Retransmission, StackList, Starvation, Statistics, TcpData, ThreadPool, Thrown, TraceLogging, ViewEvent,
    VirtualAlloc, WorkingSet,
};
pub use crate::time::{Length, Moment};
pub use crate::values::{Integer, Number, Present, SharedStrings};

/// The main document, `X.json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Document {
    /// Host name; absent in old extracts.
    pub computer_name: Option<String>,
    /// Product name of the operating system.
    #[serde(rename = "OSName")]
    pub os_name: Option<String>,
    /// `10.0.19043`.
    #[serde(rename = "OSVersion")]
    pub os_version: Option<String>,
    /// Usable memory in units of 10⁶ bytes.
    #[serde(rename = "MemorySizeMB")]
    pub memory_size_mb: Option<u64>,
    /// Logical CPUs.
    pub number_of_processors: Option<u32>,
    /// Nominal frequency.
    #[serde(rename = "CPUSpeedMHz")]
    pub cpu_speed_mhz: Option<u32>,
    /// Name of the CPU, in new extracts.
    #[serde(rename = "CPUName")]
    pub cpu_name: Option<String>,
    /// Vendor of the CPU; some versions write its name here.
    #[serde(rename = "CPUVendor")]
    pub cpu_vendor: Option<String>,
    /// Start of the recording: time zero. What has none is no extract.
    pub session_start: Option<Moment>,
    /// End of the recording.
    pub session_end: Option<Moment>,
    /// Boot of the machine.
    pub boot_time: Option<Moment>,
    /// Facts of the recorder.
    pub trace_header: Option<TraceHeader>,
    /// Marks.
    #[serde(rename = "ETWMarks")]
    pub marks: List<Mark, MARKS>,
    /// Network cards.
    pub network_interfaces: List<NetworkInterface, DEVICES>,
    /// Processes; other parts refer to their place here, or to name, pid and start.
    pub processes: List<Process, PROCESSES>,
    /// CPU sums.
    #[serde(rename = "CPU")]
    pub cpu: Option<Cpu>,
    /// Disks, and sums of their operations.
    pub disk: Option<Disk>,
    /// Stack tags of `default.stacktags` and `GCAndJit.stacktags`.
    pub summary_stack_tags: Option<StackTags>,
    /// Stack tags of `Special.stacktags`.
    pub special_stack_tags: Option<StackTags>,
    /// Connections and DNS queries.
    pub network: Option<Network>,
    /// Memory.
    pub memory_usage: Option<MemoryUsage>,
    /// Power settings.
    pub power_configuration: List<PowerConfiguration, CONFIGURATIONS>,
    /// Starvation of thread pools.
    pub thread_pool: Option<ThreadPool>,
    /// Exceptions of .NET.
    pub exceptions: Option<Exceptions>,
    /// Sums of hardware counters, and branches.
    #[serde(rename = "PMC")]
    pub pmc: Option<Pmc>,
    /// Events of TraceLogging and EventSource providers.
    pub trace_logging: Option<TraceLogging>,
    /// Operations on files. They stand in a file of their own, as all that follow; in the main document of old extracts.
    #[serde(rename = "FileIO")]
    pub file_io: Option<FileIo>,
    /// Kernel objects and handles.
    pub handle_data: Option<HandleData>,
    /// Allocated memory.
    pub virtual_alloc_data: Option<VirtualAlloc>,
}

/// The documents of an extract beside the main one, `X_Derived_NAME.json`.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// `Modules`.
    pub modules: Option<Modules>,
    /// `FileIO`.
    pub file_io: Option<FileIo>,
    /// `VirtualAlloc`.
    pub virtual_alloc: Option<VirtualAlloc>,
    /// `VirtualAllocStacks`.
    pub virtual_alloc_stacks: Option<StackList>,
    /// `TraceLogging`.
    pub trace_logging: Option<TraceLogging>,
    /// `TraceLogStacks`.
    pub trace_logging_stacks: Option<StackList>,
    /// `Handle`.
    pub handles: Option<HandleData>,
    /// `HandleStacks`.
    pub handle_stacks: Option<StackList>,
    /// Names of those that were left out, as they are too large.
    pub too_large: Vec<&'static str>,
}

/// `TraceHeader`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TraceHeader {
    /// Events that the recorder lost.
    pub events_lost: Option<u64>,
    /// Buffers that the recorder lost.
    pub buffers_lost: Option<u64>,
}

/// An element of `ETWMarks`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Mark {
    /// When.
    pub time: Moment,
    /// The text.
    #[serde(default)]
    pub mark_message: Option<String>,
}

/// An element of `NetworkInterfaces`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NetworkInterface {
    /// `;` separated.
    pub ip_addresses: Option<String>,
    /// Description.
    pub nic_description: Option<String>,
    /// `48-DF-37-E5-61-EC`.
    pub physical_address: Option<String>,
    /// `;` separated.
    pub dns_server_addresses: Option<String>,
}

/// An element of `Processes`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Process {
    /// Process id.
    #[serde(rename = "ProcessID")]
    pub process_id: i64,
    /// File name of the image.
    pub process_name: Option<String>,
    /// Command line.
    pub cmd_line: Option<String>,
    /// Start; the start of year 1 when it ran before.
    pub start_time: Option<Moment>,
    /// End; the end of year 9999 when it runs on.
    pub end_time: Option<Moment>,
    /// Owner: an account, or a security identifier that had no name where the extract was made.
    pub identity: Option<String>,
    /// Session.
    pub session_id: Option<i64>,
    /// Exit status.
    pub return_code: Option<i64>,
    /// Process id of the creator.
    pub parent_pid: Option<i64>,
}

/// `CPU`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Cpu {
    /// Sampled CPU in ms, rounded down, by `name(pid)start`.
    #[serde(rename = "PerProcessCPUConsumptionInMs")]
    pub per_process_ms: Entries<u64, PROCESSES>,
    /// Mean priority by index of the process.
    #[serde(rename = "PerProcessAvgCPUPriority")]
    pub per_process_priority: Entries<Number, PROCESSES>,
    /// Numbers of the CPUs that a process ran on, by its index.
    #[serde(rename = "PerProcessCoreUsage")]
    pub per_process_cores: Entries<List<u32, DEVICES>, PROCESSES>,
    /// What kind of core each CPU is, by its number; in new extracts.
    pub topology: Entries<CpuTopology, CPUS>,
    /// CPU, wait and ready per method.
    #[serde(rename = "PerProcessMethodCostsInclusive")]
    pub methods: Option<Methods>,
}

/// `PerProcessMethodCostsInclusive`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Methods {
    /// `module!method`, to which rows refer by place.
    pub method_names: List<String, METHODS>,
    /// Whether rows of 10 ms and less are there, too (`-allCPU`).
    #[serde(rename = "ContainsAllCPUData")]
    pub contains_all_cpu_data: Option<bool>,
    /// Whether the recording has context switches; absent in old extracts.
    #[serde(rename = "HasCSwitchData")]
    pub has_switches: Option<bool>,
    /// Whether it has CPU samples with stacks; absent in old extracts. Without them CPU per method is from context switches.
    #[serde(rename = "HasCPUSamplingData")]
    pub has_samples: Option<bool>,
    /// The rows.
    pub method_stats_per_process: List<ProcessMethods, PROCESSES>,
}

/// An element of `MethodStatsPerProcess`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ProcessMethods {
    /// The process.
    pub process: ProcessReference,
    /// Its methods.
    #[serde(default, rename = "CostsAsString")]
    pub costs: Costs,
}

/// An entry of `Topology`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct CpuTopology {
    /// Nominal clock rate.
    #[serde(rename = "NominalFrequencyMHz")]
    pub nominal_mhz: Number,
    /// 0 the most efficient, higher ones are faster.
    pub efficiency_class: Number,
}

/// `SummaryStackTags` and `SpecialStackTags`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct StackTags {
    /// Paths of the files with the rules.
    pub used_stack_tag_files: List<String, DEVICES>,
    /// The figures.
    pub stats: List<ProcessTags, PROCESSES>,
}

/// An element of `Stats`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ProcessTags {
    /// The process.
    pub key: ProcessReference,
    /// Its tags.
    #[serde(default)]
    pub value: List<Tag, MARKS>,
}

/// One tag of one process.
#[derive(Clone, Debug, Deserialize)]
pub struct Tag {
    /// `JIT\Normal JIT`.
    #[serde(rename = "Stacktag")]
    pub name: String,
    /// Sampled CPU, rounded up.
    #[serde(rename = "CPUInMs", default)]
    pub cpu_ms: u64,
    /// Wait as a plain sum over the threads, rounded up.
    #[serde(rename = "WaitDurationInMs", default)]
    pub wait_ms: u64,
    /// First time seen.
    #[serde(rename = "FirstOccurence", default)]
    pub first: Option<Moment>,
    /// From there to the last time seen.
    #[serde(rename = "FirstLastOccurenceDuration", default)]
    pub duration: Option<Length>,
}

/// `Disk`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Disk {
    /// Sums of operations, by drive, path and operation; of disks without a drive by `Id` and their number.
    pub drive_to_path: Entries<PathData, DEVICES>,
    /// The disks of the machine.
    pub disk_information: List<DiskInformation, DEVICES>,
}

/// An element of `DiskInformation`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DiskInformation {
    /// Manufacturer and model.
    pub model: Option<String>,
    /// Capacity in units of 2³⁰ bytes.
    #[serde(rename = "CapacityGiB")]
    pub capacity_gib: Option<f64>,
    /// Volumes on it.
    pub partitions: List<Partition, DEVICES>,
}

/// An element of `Partitions`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Partition {
    /// Drive letter, without a colon.
    pub drive: Option<String>,
}

/// The part `X_Derived_Modules.json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Modules {
    /// The modules.
    pub modules: List<Module, MODULES>,
    /// PDBs of the modules that had no names.
    pub unresolved_pdbs: List<Pdb, MODULES>,
    /// Texts, to which modules refer by place.
    pub shared_strings: SharedStrings,
}

/// An element of `Modules`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Module {
    /// Places of directory, file name, file version, product version, product, binary file version and description among the shared
    /// texts, then `#` and the index of each process that has it.
    pub module_and_pid: String,
    /// Place of its PDB among the unresolved ones.
    pub pdb_idx: Option<i64>,
}

/// An element of `UnresolvedPdbs`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Pdb {
    /// `guid age name`.
    pub pdb: String,
}

/// How a part refers to a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessReference {
    /// By its place in `Processes`; negative for none.
    Index(i64),
    /// By name, pid and start.
    Key(ProcessKey),
    /// By a text that is neither.
    Unknown(String),
}

/// Name, pid and start of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ProcessKey {
    /// File name of the image.
    pub name: String,
    /// Process id.
    pub pid: i64,
    /// Start; none when it ran before.
    pub start_time: Option<Moment>,
}

impl ProcessReference {
    /// Reads `12`, `Invalid` or `name(pid)start`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if text == "Invalid" {
            return Self::Index(-1);
        }
        if let Ok(index) = text.parse() {
            return Self::Index(index);
        }
        Self::key(text).map_or_else(|| Self::Unknown(text.to_owned()), Self::Key)
    }

    /// Names may have parentheses themselves; times have none.
    fn key(text: &str) -> Option<ProcessKey> {
        let (before, start) = text.rsplit_once(')')?;
        let (name, pid) = before.rsplit_once('(')?;
        let start_time = if start.is_empty() { None } else { Some(Moment::parse(start)?) };
        Some(ProcessKey { name: name.to_owned(), pid: pid.parse().ok()?, start_time })
    }
}

struct ReferenceVisitor;

impl<'de> Visitor<'de> for ReferenceVisitor {
    type Value = ProcessReference;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a process: its index, name(pid)start, or an object of Name, Pid and StartTime")
    }

    fn visit_i64<E: Error>(self, index: i64) -> Result<Self::Value, E> {
        Ok(ProcessReference::Index(index))
    }

    fn visit_u64<E: Error>(self, index: u64) -> Result<Self::Value, E> {
        Ok(ProcessReference::Index(i64::try_from(index).unwrap_or(i64::MAX)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(ProcessReference::parse(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        ProcessKey::deserialize(MapAccessDeserializer::new(access)).map(ProcessReference::Key)
    }
}

impl<'de> Deserialize<'de> for ProcessReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReferenceVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        let key = |name: &str, pid, start: Option<&str>| {
            let start_time = start.map(|start| Moment::parse(start).expect("a moment"));
            ProcessReference::Key(ProcessKey { name: name.to_owned(), pid, start_time })
        };
        for (text, expected) in [
            ("12", ProcessReference::Index(12)),
            ("Invalid", ProcessReference::Index(-1)),
            ("System(4)", key("System", 4, None)),
            ("a (x86).exe(7)", key("a (x86).exe", 7, None)),
            ("a(1)2021-11-14T21:12:12.05+01:00", key("a", 1, Some("2021-11-14T21:12:12.05+01:00"))),
            ("(0)", key("", 0, None)),
        ] {
            assert_eq!(ProcessReference::parse(text), expected, "{text}");
        }
        for text in ["", "a", "a(", "a()", "a(1)x", "a)1("] {
            assert_eq!(ProcessReference::parse(text), ProcessReference::Unknown(text.to_owned()));
        }
    }
}
