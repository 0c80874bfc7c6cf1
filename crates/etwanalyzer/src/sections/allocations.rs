//! Commits of memory that were not freed, and what each process committed and freed.

use serde::Deserialize;
use tracesift_trace::rows::{AllocationRow, AllocationSummaryRow, allocation_kinds};
use tracesift_trace::{ProcessId, RowSink, StackId, ThreadId};

use super::stacks::{StackList, StackPlaces};
use super::who::Who;
use crate::bounded::List;
use crate::limits::{EVENTS, PROCESSES};
use crate::values::{Integer, Number};

/// `VirtualAllocData`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct VirtualAlloc {
    /// The commits that nobody freed.
    pub virtual_alloc_events: List<Commit, EVENTS>,
    /// Sums per process.
    pub per_process_stats: List<AllocationStatistics, PROCESSES>,
    /// Their stacks, where they have no file of their own.
    pub stacks: Option<StackList>,
}

/// An element of `VirtualAllocEvents`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Commit {
    /// Process, by its place in the list of processes.
    pub process_idx: Integer,
    /// Id of the thread.
    pub thread_id: Integer,
    /// Lowest address.
    pub base_address: Integer,
    /// Bytes.
    pub size: Integer,
    /// When, in s since the start of the session.
    pub time_in_seconds_since_trace_start: Number,
    /// Stack, by its place.
    pub stack_idx: Integer,
}

/// An element of `PerProcessStats`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocationStatistics {
    /// Process, by its place in the list of processes.
    pub process_idx: Integer,
    /// Number of commits.
    pub commit_count: Integer,
    /// Bytes of them.
    pub committed_size_in_bytes: Integer,
    /// Number of decommits and releases.
    pub freed_count: Integer,
    /// Bytes of them.
    pub freed_size_in_bytes: Integer,
    /// Bytes of the largest commit.
    pub max_commit_size_in_bytes: Integer,
}

/// A commit that can be a row.
#[derive(Clone, Copy, Debug)]
struct Left {
    start: i64,
    end: i64,
    by_exit: bool,
    process: ProcessId,
    thread: Option<ThreadId>,
    stack: Option<StackId>,
    base: i64,
    size: i64,
}

/// The commits and sums that can be rows.
#[derive(Debug, Default)]
pub(crate) struct AllocationRows {
    /// In the order of their ends.
    left: Vec<Left>,
    /// Table `allocation_summary`.
    pub(crate) sums: Vec<AllocationSummaryRow>,
}

impl AllocationRows {
    /// `end`: length of the session, ns.
    pub(super) fn read(part: VirtualAlloc, end: i64, stacks: &StackPlaces, who: &mut Who<'_>) -> Self {
        let mut rows = Self::default();
        for commit in part.virtual_alloc_events.0 {
            let process = who.process(commit.process_idx);
            let time = commit.time_in_seconds_since_trace_start.0.filter(|seconds| *seconds >= 0.0);
            let (Some(process), Some(time), Some(size)) = (process, time, commit.size.count()) else {
                super::unreadable(who.health, || "a commit without process, time or size".to_owned());
                continue;
            };
            let start = (time * 1e9) as i64;
            // At the end of a process its memory is freed.
            let ended = who.end_of(process);
            rows.left.push(Left {
                start,
                end: ended.unwrap_or(end).max(start),
                by_exit: ended.is_some(),
                process,
                thread: who.thread(Some(process), commit.thread_id),
                stack: stacks.at(commit.stack_idx),
                base: commit.base_address.0.unwrap_or(0),
                size,
            });
        }
        rows.left.sort_by_key(|left| left.end);
        for sums in part.per_process_stats.0 {
            let row = who.process(sums.process_idx).and_then(|process| sums.row(process));
            match row {
                Some(row) => rows.sums.push(row),
                None => super::unreadable(who.health, || "memory of a process without figures".to_owned()),
            }
        }
        rows.sums.sort_by_key(|row| row.process);
        rows
    }

    pub(super) fn write(&self, sink: &mut impl RowSink) {
        for (block, left) in (0..).zip(&self.left) {
            sink.allocation(&AllocationRow {
                time: left.end,
                start: left.start,
                process: left.process,
                thread: left.thread,
                stack: left.stack,
                kind: allocation_kinds::COMMITTED,
                block,
                last: Some(true),
                base: left.base,
                size: left.size,
                by_exit: Some(left.by_exit),
                open: Some(!left.by_exit),
                ..AllocationRow::default()
            });
        }
    }
}

impl AllocationStatistics {
    fn row(&self, process: ProcessId) -> Option<AllocationSummaryRow> {
        Some(AllocationSummaryRow {
            process,
            commits: self.commit_count.count()?,
            commit_bytes: self.committed_size_in_bytes.count()?,
            frees: self.freed_count.count()?,
            freed_bytes: self.freed_size_in_bytes.count()?,
            largest: self.max_commit_size_in_bytes.count()?,
        })
    }
}
