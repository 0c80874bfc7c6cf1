//! The memory of the machine: its first and its last reading in the time range.

use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::MemoryStateRow;

use crate::answer::{ColumnOf, Kind};
use crate::columns::Columns;
use crate::recording::OpenRecording;

/// One machine.
#[derive(Clone, Debug)]
pub(super) struct Row {
    first: MemoryStateRow,
    last: MemoryStateRow,
}

/// Bytes that are free, zeroed or not.
pub(in crate::question) fn free(state: &MemoryStateRow) -> Option<i64> {
    Some(state.zero.unwrap_or(0).saturating_add(state.free?))
}

/// Bytes of all standby lists; on Linux the page cache.
pub(in crate::question) fn standby(state: &MemoryStateRow) -> Option<i64> {
    let lists = state.standby.as_ref().map(|lists| lists.iter().copied().fold(0, i64::saturating_add));
    lists.or(state.cached)
}

pub(in crate::question) fn modified(state: &MemoryStateRow) -> Option<i64> {
    let modified = state.modified.or(state.dirty)?;
    let waiting = state.modified_no_write.or(state.writeback).unwrap_or(0);
    Some(modified.saturating_add(waiting))
}

impl Row {
    fn diff(&self, figure: fn(&MemoryStateRow) -> Option<i64>) -> Option<i64> {
        Some(figure(&self.last)?.saturating_sub(figure(&self.first)?))
    }
}

macro_rules! pair {
    ($key:literal, $title:literal, $diff_key:literal, $figure:expr, $help:literal) => {
        [
            ColumnOf::always($key, $title, Kind::Bytes, |r: &Row| ($figure)(&r.last).into(), $help),
            ColumnOf::always(
                $diff_key,
                concat!("Change of ", $title),
                Kind::Bytes,
                |r: &Row| r.diff($figure).into(),
                concat!("Change of `", $key, "` from the first to the last reading."),
            ),
        ]
    };
}

const COMMIT: [ColumnOf<Row>; 2] =
    pair!("commit", "Commit", "diff_commit", |s: &MemoryStateRow| s.commit, "Committed memory of the machine.");
const ACTIVE: [ColumnOf<Row>; 2] =
    pair!("active", "Active", "diff_active", |s: &MemoryStateRow| s.active, "Memory in use: all that is on no list.");
const FREE: [ColumnOf<Row>; 2] = pair!("free", "Free", "diff_free", free, "Free memory, zeroed or not.");
const STANDBY: [ColumnOf<Row>; 2] = pair!(
    "standby",
    "Standby",
    "diff_standby",
    standby,
    "Cached memory that can be given away at once. On Linux the page cache; `modified` is a part of it there."
);
const MODIFIED: [ColumnOf<Row>; 2] = pair!(
    "modified",
    "Modified",
    "diff_modified",
    modified,
    "Memory that has to be written before it can be given away. On Linux dirty pages, and those that are being written."
);

/// The columns.
pub(super) const COLUMNS: Columns<Row> = Columns(&[
    COMMIT[0],
    COMMIT[1],
    ACTIVE[0],
    ACTIVE[1],
    FREE[0],
    FREE[1],
    STANDBY[0],
    STANDBY[1],
    MODIFIED[0],
    MODIFIED[1],
    ColumnOf::details(
        "paged_pool",
        "Paged pool",
        Kind::Bytes,
        |r| r.last.paged_pool.into(),
        "Paged pool of the kernel.",
    ),
    ColumnOf::details(
        "nonpaged_pool",
        "Non-paged pool",
        Kind::Bytes,
        |r| r.last.nonpaged_pool.into(),
        "Non-paged pool of the kernel.",
    ),
    ColumnOf::details(
        "available",
        "Available",
        Kind::Bytes,
        |r| r.last.available.into(),
        "Memory that programs can get without swapping, as the kernel estimates it. Linux only, as are the next columns.",
    ),
    ColumnOf::details(
        "commit_limit",
        "Commit limit",
        Kind::Bytes,
        |r| r.last.commit_limit.into(),
        "Memory that can be committed.",
    ),
    ColumnOf::details("slab", "Slab", Kind::Bytes, |r| r.last.slab.into(), "Kernel objects."),
    ColumnOf::details("swap_used", "Swap", Kind::Bytes, |r| r.last.swap_used.into(), "Swap space in use."),
    ColumnOf::details(
        "swapped_in",
        "Swapped in",
        Kind::Bytes,
        |r| r.diff(|s| s.swapped_in).into(),
        "Read from swap between the first and the last reading.",
    ),
    ColumnOf::details(
        "swapped_out",
        "Swapped out",
        Kind::Bytes,
        |r| r.diff(|s| s.swapped_out).into(),
        "Written to swap between the first and the last reading.",
    ),
    ColumnOf::details(
        "scanned",
        "Scanned",
        Kind::Bytes,
        |r| r.diff(|s| s.scanned).into(),
        "Pages that the kernel looked at between the first and the last reading to find some that it can take.",
    ),
    ColumnOf::details(
        "reclaimed",
        "Reclaimed",
        Kind::Bytes,
        |r| r.diff(|s| s.reclaimed).into(),
        "Pages that the kernel took between the first and the last reading.",
    ),
    ColumnOf::machine("first_ns", "First", Kind::Time, |r| r.first.time.into(), "Time of the first reading."),
    ColumnOf::machine("last_ns", "Last", Kind::Time, |r| r.last.time.into(), "Time of the last reading."),
]);

/// One row, or none where no reading lies in the range.
pub(super) fn rows(recording: &OpenRecording, time: TimeRange) -> Result<Vec<Row>, Error> {
    let (start, end) = time.bounds();
    let mut found: Option<Row> = None;
    recording.archive().scan(None, |row: &MemoryStateRow| {
        if row.time >= start && row.time < end {
            let known = found.get_or_insert_with(|| Row { first: row.clone(), last: row.clone() });
            known.last = row.clone();
        }
    })?;
    Ok(found.into_iter().collect())
}
