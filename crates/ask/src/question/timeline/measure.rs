//! What has a row, and what is shown of it.

use clap::ValueEnum;
use tracesift_analysis::timeline::OffCpuKind;

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
    /// Bytes read from and written to disks
    Bytes,
    /// Number of disk operations
    Operations,
    /// Number of events
    Count,
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
            Self::Operations => "operations",
            Self::Count => "count",
            Self::Frequency => "frequency",
            Self::Counter => "counter",
        }
    }

    pub(super) fn unit(self) -> Unit {
        match self {
            Self::Cpu | Self::Run | Self::Wait | Self::Ready | Self::Open | Self::Unknown => Unit::Time,
            Self::Bytes => Unit::Bytes,
            Self::Samples | Self::Switches | Self::Operations | Self::Count | Self::Counter => Unit::Number,
            Self::Frequency => Unit::Rate,
        }
    }

    /// Whether lanes of a kind have it.
    #[must_use]
    pub fn is_of(self, lane: LaneKind) -> bool {
        match lane {
            LaneKind::Process => self != Self::Count,
            LaneKind::Thread => !matches!(self, Self::Count | Self::Bytes | Self::Operations | Self::Frequency),
            LaneKind::Cpu => matches!(self, Self::Cpu | Self::Samples | Self::Run | Self::Frequency | Self::Counter),
            LaneKind::Tag => matches!(self, Self::Cpu | Self::Samples),
            LaneKind::Disk => matches!(self, Self::Bytes | Self::Operations),
            LaneKind::Event => self == Self::Count,
        }
    }

    /// The table that it comes from, and the profile that records it.
    pub(super) fn source(self) -> (&'static str, &'static str) {
        match self {
            Self::Cpu | Self::Samples => ("cpu_samples", "CPU"),
            Self::Run | Self::Wait | Self::Ready | Self::Open | Self::Unknown | Self::Switches => {
                ("context_switches", "CSwitch")
            }
            Self::Bytes | Self::Operations => ("disk_io", "Default"),
            Self::Count => ("events", "Default"),
            Self::Frequency => ("cpu_frequencies", "Power"),
            Self::Counter => ("counter_samples", "PMCBranch"),
        }
    }
}
