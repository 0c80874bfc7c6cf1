//! Memory of an import: an extract of ETWAnalyzer has the commits that were not freed, and the sums of all commits per process.

use tracesift_archive::{Archive, Error};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{AllocationSummaryRow, allocation_kinds as kinds};

use super::{Allocation, Recorded};
use crate::table_question::Joined;

/// What a process of an import committed and freed. Of a single commit they are 0: the sums of its process have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub(super) commits: i64,
    pub(super) commit_bytes: i64,
    pub(super) frees: i64,
    pub(super) freed_bytes: i64,
}

/// The keys of the measures that are made of sums.
pub(super) const FIGURES: &[&str] = &["commits", "commit_bytes", "freed", "freed_bytes"];

/// The keys of the measures that an import does not tell where rows are not processes.
pub(super) const UNKNOWN_FIGURES: &[&str] = &[
    "commits",
    "commit_bytes",
    "freed",
    "freed_bytes",
    "by_exit_bytes",
    "reserved_bytes",
    "file_bytes",
    "max_commit_bytes",
    "growing_tenths",
];

/// The keys of the measures that it tells of no process either.
pub(super) const UNKNOWN_PER_PROCESS: &[&str] =
    &["by_exit_bytes", "reserved_bytes", "file_bytes", "max_commit_bytes", "growing_tenths"];

/// What the figures of an import are.
pub(super) const NOTE: &str = "an import has the commits that nobody freed, and of each process the number and bytes of \
     all commits and frees: a page that is committed twice counts twice, and a release frees reserved pages, too";

/// A figure of a row: that of the sums of an import, or that of the bytes themselves.
pub(super) fn of(row: &Allocation, of_sums: fn(&Sums) -> i64, of_bytes: fn(&Allocation) -> i64) -> i64 {
    row.other.as_ref().map_or_else(|| of_bytes(row), of_sums)
}

/// Reads the commits of an import, and with `joined` the sums of the processes.
pub(super) fn scan(archive: &Archive, joined: bool, mut visit: impl FnMut(&Allocation)) -> Result<(), Error> {
    archive.scan(None, |row: &Recorded| visit(&Joined { own: row.clone(), other: Some(Sums::default()) }))?;
    if !joined {
        return Ok(());
    }
    let (start, end) = (archive.info().start_ns, archive.info().end_ns);
    archive.scan(None, |row: &AllocationSummaryRow| visit(&sum(row, start, end)))
}

/// The sums of a process as if they were bytes that are gone at the end of the recording.
fn sum(row: &AllocationSummaryRow, start: i64, end: i64) -> Allocation {
    let AllocationSummaryRow { process, commits, commit_bytes, frees, freed_bytes, .. } = *row;
    Joined { own: recorded(process, start, end), other: Some(Sums { commits, commit_bytes, frees, freed_bytes }) }
}

fn recorded(process: ProcessId, start: i64, time: i64) -> Recorded {
    Recorded {
        time,
        start,
        process,
        stack: None,
        kind: kinds::COMMITTED,
        part: 0,
        last: Some(true),
        base: 0,
        size: 0,
        by_exit: Some(false),
        there: Some(false),
        open: Some(false),
        heap: None,
        tag: None,
    }
}
