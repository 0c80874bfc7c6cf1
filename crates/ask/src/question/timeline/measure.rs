//! What has a row, and what is shown of it.

use clap::ValueEnum;
use tracesift_analysis::timeline::OffCpuKind;

use super::rows::Rows;
use crate::recording::OpenRecording;

/// What has a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LaneKind {
    /// A process.
    #[default]
    Process,
    /// A thread.
    Thread,
    /// A CPU.
    Cpu,
    /// A disk.
    Disk,
    /// A kind of event.
    Event,
    /// A stack tag.
    Tag,
    /// A method on stacks.
    Method,
    /// A module with methods on stacks.
    Module,
    /// A kind of operation on files.
    File,
    /// A system call.
    Syscall,
    /// Data sent, and data received.
    Network,
    /// A figure of the machine's memory.
    Memory,
    /// A kind of page fault.
    Fault,
    /// A process with garbage collections.
    Gc,
    /// A process with JIT compilations.
    Jit,
    /// A definition of regions.
    Region,
}

impl LaneKind {
    /// The word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Thread => "thread",
            Self::Cpu => "cpu",
            Self::Disk => "disk",
            Self::Event => "event",
            Self::Tag => "tag",
            Self::Method => "method",
            Self::Module => "module",
            Self::File => "file",
            Self::Syscall => "syscall",
            Self::Network => "network",
            Self::Memory => "memory",
            Self::Fault => "fault",
            Self::Gc => "gc",
            Self::Jit => "jit",
            Self::Region => "region",
        }
    }

    /// What is shown without a choice; `None`: CPU or run time, whichever the recording has.
    pub(super) fn measure(self) -> Option<Measure> {
        match self {
            Self::Process | Self::Thread | Self::Cpu => None,
            Self::Disk | Self::Network | Self::Memory => Some(Measure::Bytes),
            Self::Event | Self::Syscall | Self::Fault => Some(Measure::Count),
            Self::Tag | Self::Method | Self::Module => Some(Measure::Cpu),
            Self::File => Some(Measure::Operations),
            Self::Gc | Self::Jit | Self::Region => Some(Measure::Time),
        }
    }
}

/// What is shown of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Measure {
    /// Sampled CPU
    Cpu,
    /// Number of samples
    Samples,
    /// Precise run time, from context switches
    Run,
    /// Time blocked
    Wait,
    /// Time ready to run without a CPU
    Ready,
    /// Time off the CPU before a thread was first seen
    Open,
    /// Time of which nothing is known
    Unknown,
    /// Number of switch-ins
    Switches,
    /// Bytes read and written, sent, received, or of memory
    Bytes,
    /// Bytes read from disks
    ReadBytes,
    /// Bytes written to disks
    WriteBytes,
    /// Number of operations
    Operations,
    /// Number of reads from disks
    Reads,
    /// Number of writes to disks
    Writes,
    /// Time in which a disk operation was under way
    Busy,
    /// Sum of the times of disk operations under way
    Queue,
    /// Number of events, calls, faults, collections, methods
    Count,
    /// Time of operations, calls, faults, pauses, compilers
    Time,
    /// Mean clock rate while threads ran
    Frequency,
    /// Hardware counters, a row for each
    Counter,
}

/// The unit of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Time,
    Bytes,
    Number,
    /// kHz; a mean, not a sum.
    Rate,
}

impl Measure {
    /// The time of a thread that is off the CPUs.
    pub(super) fn of(kind: OffCpuKind) -> Self {
        match kind {
            OffCpuKind::Wait => Self::Wait,
            OffCpuKind::Ready => Self::Ready,
            OffCpuKind::Open => Self::Open,
            OffCpuKind::Unknown => Self::Unknown,
        }
    }

    /// The measure of a word on the command line.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::value_variants().iter().copied().find(|measure| measure.word() == word)
    }

    /// The word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Samples => "samples",
            Self::Run => "run",
            Self::Wait => "wait",
            Self::Ready => "ready",
            Self::Open => "open",
            Self::Unknown => "unknown",
            Self::Switches => "switches",
            Self::Bytes => "bytes",
            Self::ReadBytes => "read-bytes",
            Self::WriteBytes => "write-bytes",
            Self::Operations => "operations",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Busy => "busy",
            Self::Queue => "queue",
            Self::Count => "count",
            Self::Time => "time",
            Self::Frequency => "frequency",
            Self::Counter => "counter",
        }
    }

    pub(super) fn unit(self) -> Unit {
        match self {
            Self::Cpu | Self::Run | Self::Wait | Self::Ready | Self::Open | Self::Unknown => Unit::Time,
            Self::Busy | Self::Queue | Self::Time => Unit::Time,
            Self::Bytes | Self::ReadBytes | Self::WriteBytes => Unit::Bytes,
            Self::Samples | Self::Switches | Self::Count | Self::Counter => Unit::Number,
            Self::Operations | Self::Reads | Self::Writes => Unit::Number,
            Self::Frequency => Unit::Rate,
        }
    }

    /// Whether lanes of a kind have it.
    #[must_use]
    pub fn is_of(self, lane: LaneKind) -> bool {
        let rows = self.rows(lane);
        match lane {
            LaneKind::Process => rows != Rows::Events,
            LaneKind::Thread => matches!(rows, Rows::Samples | Rows::Switches | Rows::Counters),
            LaneKind::Cpu => matches!(self, Self::Cpu | Self::Samples | Self::Run | Self::Frequency | Self::Counter),
            LaneKind::Tag | LaneKind::Method | LaneKind::Module => rows == Rows::Samples,
            LaneKind::Disk => rows == Rows::Disks,
            LaneKind::Event => self == Self::Count,
            LaneKind::File => matches!(self, Self::Operations | Self::Bytes | Self::Time),
            LaneKind::Network => matches!(self, Self::Operations | Self::Bytes),
            LaneKind::Memory => self == Self::Bytes,
            LaneKind::Syscall | LaneKind::Fault | LaneKind::Gc | LaneKind::Jit | LaneKind::Region => {
                matches!(self, Self::Count | Self::Time)
            }
        }
    }

    /// Whether a recording has what it is made of in lanes of a kind.
    #[must_use]
    pub fn is_recorded(self, lane: LaneKind, recording: &OpenRecording) -> bool {
        self.rows(lane).are_in(recording)
    }

    /// The rows that it is made of.
    pub(super) fn rows(self, lane: LaneKind) -> Rows {
        match (lane, self) {
            (LaneKind::File, _) => Rows::Files,
            (LaneKind::Syscall, _) => Rows::Calls,
            (LaneKind::Network, _) => Rows::Network,
            (LaneKind::Memory, _) => Rows::Memory,
            (LaneKind::Fault, _) => Rows::Faults,
            (LaneKind::Gc, _) => Rows::Collections,
            (LaneKind::Jit, _) => Rows::Compilations,
            (LaneKind::Region, _) => Rows::Regions,
            (_, Self::Cpu | Self::Samples) => Rows::Samples,
            (_, Self::Run | Self::Wait | Self::Ready | Self::Open | Self::Unknown | Self::Switches) => Rows::Switches,
            (_, Self::Bytes | Self::ReadBytes | Self::WriteBytes | Self::Operations) => Rows::Disks,
            (_, Self::Reads | Self::Writes | Self::Busy | Self::Queue) => Rows::Disks,
            (_, Self::Count | Self::Time) => Rows::Events,
            (_, Self::Frequency) => Rows::Frequencies,
            (_, Self::Counter) => Rows::Counters,
        }
    }
}
