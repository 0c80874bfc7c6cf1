//! Operations on files of an import: an extract of ETWAnalyzer has their sums per file and process, and none of their times.

use tracesift_trace::rows::FileSummaryRow;
use tracesift_trace::{ProcessId, ThreadId};

use super::{Operation, Recorded};
use crate::table_question::Joined;

/// What sums have in place of what single operations have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    /// The process.
    pub(super) process: Option<ProcessId>,
    /// Number of operations.
    pub(super) count: i64,
    /// Sum of their durations, ns.
    pub(super) duration: Option<i64>,
    /// Largest offset to which they came.
    pub(super) position: Option<i64>,
    /// Whether none of them failed.
    pub(super) is_without_errors: bool,
}

/// The keys of the measures that sums do not tell.
pub(super) const UNKNOWN_FIGURES: &[&str] = &[
    "open_failed",
    "read_bytes",
    "write_bytes",
    "flushes",
    "flush_ns",
    "queries",
    "sets",
    "directories",
    "failed",
    "errors",
    "open_ended",
    "total_bytes",
    "longest_ns",
    "union_ns",
    "read_throughput",
    "write_throughput",
    "cached_asked",
    "cache_read",
    "cache_hit_percent",
];

/// What an import has of the operations.
pub(super) const NOTE: &str = "an import has opens, closes, reads, writes, deletes, renames and changes of security \
     alone, and of reads and writes the bytes that were asked for: `--columns +read_asked;+write_asked` shows them";

/// Sums of an import as if they were one operation.
pub(super) fn operation(row: &FileSummaryRow) -> Operation {
    Joined {
        own: Recorded {
            time: 0,
            start: 0,
            process: row.process.unwrap_or_default(),
            thread: ThreadId::default(),
            operation: row.operation,
            handle: None,
            offset: None,
            size: row.asked,
            transferred: None,
            error: None,
            file: row.file,
            stack: None,
            options: None,
            io_flags: None,
            info_class: None,
            pattern: None,
            status: None,
            open: None,
            cache_read: None,
        },
        other: Some(Sums {
            process: row.process,
            count: row.count,
            duration: row.duration,
            position: row.position,
            is_without_errors: row.errors.as_ref().is_some_and(Vec::is_empty),
        }),
    }
}
