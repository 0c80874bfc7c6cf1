//! The rows of an archive that measures are made of.

use tracesift_archive::Archive;
use tracesift_extract::counters::are_there;
use tracesift_trace::info::IMPORTED;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuFrequencyRow, DiskIoRow, EventRow, FileIoRow, GcCollectionRow, HardFaultRow, JitMethodRow,
    MemoryStateRow, NetworkIoRow, PageFaultRow, SyscallRow,
};

use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::regions::lanes::may_be_in;

/// Rows of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    Samples,
    Switches,
    Disks,
    Events,
    Frequencies,
    Counters,
    Files,
    Calls,
    Network,
    Memory,
    Faults,
    Collections,
    Compilations,
    Regions,
}

impl Rows {
    /// The tables with them.
    pub(super) fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Samples => &["cpu_samples"],
            Self::Switches => &["context_switches"],
            Self::Disks => &["disk_io"],
            Self::Events => &["events"],
            Self::Frequencies => &["cpu_frequencies", "context_switches"],
            Self::Counters => &["counter_samples", "context_switches", "counter_values"],
            Self::Files => &["file_io"],
            Self::Calls => &["syscalls"],
            Self::Network => &["network_io"],
            Self::Memory => &["memory_state"],
            Self::Faults => &["page_faults", "hard_faults"],
            Self::Collections => &["gc_collections"],
            Self::Compilations => &["jit_methods"],
            Self::Regions => &["events", "marks", "gc_collections", "gc_suspensions", "jit_methods"],
        }
    }

    /// The profiles that record them.
    pub(super) fn source(self) -> RowSource {
        let both = |profile| RowSource::both(profile, profile);
        match self {
            Self::Samples => both("CPU"),
            Self::Switches => both("CSwitch"),
            Self::Disks | Self::Events | Self::Regions => both("Default"),
            Self::Frequencies => both("Power"),
            Self::Counters => both("PMCBranch"),
            Self::Files => both("File"),
            Self::Calls => both("SysCall"),
            Self::Network => both("Network"),
            Self::Memory => both("Memory"),
            Self::Faults => RowSource::both("Default", "VirtualAlloc"),
            Self::Collections => RowSource::windows("GC"),
            Self::Compilations => RowSource::windows("Default"),
        }
    }

    /// Whether a recording has some.
    pub(super) fn are_in(self, recording: &OpenRecording) -> bool {
        let archive: &Archive = recording.archive();
        let count = match self {
            Self::Samples => return recording.file.has_samples,
            Self::Counters => return are_there(archive),
            // A table that cannot be read is told where the regions are read.
            Self::Regions => return may_be_in(recording).unwrap_or(true),
            Self::Switches if !recording.info().has_switches => 0,
            Self::Switches => archive.row_count::<ContextSwitchRow>(),
            Self::Disks => archive.row_count::<DiskIoRow>(),
            Self::Events => archive.row_count::<EventRow>(),
            Self::Frequencies => archive.row_count::<CpuFrequencyRow>(),
            Self::Files => archive.row_count::<FileIoRow>(),
            Self::Calls => archive.row_count::<SyscallRow>(),
            Self::Network => archive.row_count::<NetworkIoRow>(),
            // An import has readings without their times.
            Self::Memory if recording.info().kind == IMPORTED => 0,
            Self::Memory => archive.row_count::<MemoryStateRow>(),
            Self::Faults => archive.row_count::<PageFaultRow>().saturating_add(archive.row_count::<HardFaultRow>()),
            Self::Collections => archive.row_count::<GcCollectionRow>(),
            Self::Compilations => archive.row_count::<JitMethodRow>(),
        };
        count > 0
    }
}
