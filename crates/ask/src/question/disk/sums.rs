//! Disk operations of an import: an extract of ETWAnalyzer has their sums per file, and neither their number nor their times.

use tracesift_trace::rows::DiskSummaryRow;
use tracesift_trace::view;

use super::Operation;

/// The keys of the measures that sums do not tell.
pub(super) const UNKNOWN_FIGURES: &[&str] = &[
    "processes",
    "disks",
    "disk_numbers",
    "process_names",
    "operations",
    "reads",
    "read_response_ns",
    "writes",
    "write_response_ns",
    "flushes",
    "flush_response_ns",
    "response_ns",
    "response_avg_ns",
    "response_max_ns",
    "response_p50_ns",
    "response_p90_ns",
    "response_p99_ns",
    "busy_ns",
    "utilisation",
    "under_way_ns",
    "queue_depth_avg",
    "queue_depth_max",
    "failed",
];

view! {
    /// The disk of sums of an import.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct DiskOfSums of DiskSummaryRow { disk }
}

/// Sums of an import as if they were one operation. What is not known of it is below 0, and its measures are unknown in imports.
pub(super) fn operation(row: &DiskSummaryRow) -> Operation {
    Operation {
        time: 0,
        start: 0,
        process: row.process,
        thread: None,
        disk: row.disk.unwrap_or(NO_DISK),
        operation: row.operation,
        offset: None,
        size: row.size,
        priority: row.priority.unwrap_or(-1),
        irp_flags: 0,
        file: row.file,
        stack: None,
        service: Some(row.service),
        queue_start: None,
        queue_end: None,
        queued: None,
        error: None,
    }
}

/// The disk of operations whose drive alone is known.
pub(super) const NO_DISK: i32 = -1;
