//! The kernel events that a recording had enabled: without rows of their tables nothing happened.

use tracesift_etl::payload::HeaderExtension;

/// Groups of kernel events, as `evntrace.h` names them, and the tables that they make.
const GROUPS: [(u32, &[&str]); 8] = [
    // EVENT_TRACE_FLAG_CSWITCH
    (0x10, &["context_switches"]),
    // EVENT_TRACE_FLAG_DISK_IO
    (0x100, &["disk_io"]),
    // EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS
    (0x1000, &["page_faults"]),
    // EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS
    (0x2000, &["hard_faults"]),
    // EVENT_TRACE_FLAG_VIRTUAL_ALLOC
    (0x4000, &["allocations"]),
    // EVENT_TRACE_FLAG_NETWORK_TCPIP
    (0x1_0000, &["connections", "network_io"]),
    // EVENT_TRACE_FLAG_FILE_IO_INIT
    (0x400_0000, &["file_io"]),
    // EVENT_TRACE_FLAG_PROFILE
    (0x100_0000, &["cpu_samples"]),
];

/// What was enabled at the start or at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Enabled(u32);

impl Enabled {
    /// Takes what a session says of itself.
    pub(super) fn take(&mut self, extension: &HeaderExtension) {
        self.0 |= extension.group_masks[0];
    }

    /// The tables, by name.
    pub(crate) fn tables(self) -> Vec<String> {
        let enabled = GROUPS.iter().filter(|(flag, _)| self.0 & flag != 0);
        enabled.flat_map(|(_, tables)| *tables).map(|table| (*table).to_owned()).collect()
    }
}
