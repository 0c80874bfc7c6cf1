//! The memory of the sessions of users: its first and its last reading in the time range.

use std::collections::BTreeMap;

use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::MemorySessionRow;

use crate::answer::{ColumnOf, Kind};
use crate::columns::Columns;
use crate::recording::OpenRecording;

/// A session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    first: MemorySessionRow,
    last: MemorySessionRow,
}

impl Row {
    fn diff(&self, figure: fn(&MemorySessionRow) -> i64) -> i64 {
        figure(&self.last).saturating_sub(figure(&self.first))
    }
}

/// The columns.
pub(super) const COLUMNS: Columns<Row> = Columns(&[
    ColumnOf::always(
        "session",
        "Session",
        Kind::Id,
        |r| r.last.session.into(),
        "Number of the session; 0 has the services.",
    ),
    ColumnOf::always(
        "diff_commit",
        "Change of commit",
        Kind::Bytes,
        |r| r.diff(|reading| reading.commit).into(),
        "Change of the committed memory from the first to the last reading of the time range.",
    ),
    ColumnOf::always(
        "commit",
        "Commit",
        Kind::Bytes,
        |r| r.last.commit.into(),
        "Committed memory at the last reading.",
    ),
    ColumnOf::always(
        "diff_working_set",
        "Change of working set",
        Kind::Bytes,
        |r| r.diff(|reading| reading.working_set).into(),
        "Change of the working set, as for the commit.",
    ),
    ColumnOf::always(
        "working_set",
        "Working set",
        Kind::Bytes,
        |r| r.last.working_set.into(),
        "Working set of the session at the last reading: its memory in the kernel, without that of its processes.",
    ),
    ColumnOf::details(
        "private_working_set",
        "Private",
        Kind::Bytes,
        |r| r.last.private_working_set.into(),
        "The part of the working set that nobody shares.",
    ),
    ColumnOf::always(
        "paged_pool",
        "Paged pool",
        Kind::Bytes,
        |r| r.last.paged_pool.into(),
        "Paged pool of the session at the last reading.",
    ),
    ColumnOf::details(
        "store",
        "Store",
        Kind::Bytes,
        |r| r.last.store.into(),
        "Memory that the compressed pages of the session take.",
    ),
    ColumnOf::details(
        "stored",
        "Stored",
        Kind::Bytes,
        |r| r.last.stored.into(),
        "Compressed pages of the session, before compression.",
    ),
    ColumnOf::details(
        "commit_debt",
        "Commit debt",
        Kind::Bytes,
        |r| r.last.commit_debt.into(),
        "Memory that was promised and is not committed.",
    ),
    ColumnOf::details(
        "shared_commit",
        "Shared commit",
        Kind::Bytes,
        |r| r.last.shared_commit.into(),
        "Committed memory that is shared.",
    ),
]);

/// The sessions by committed memory, ascending.
pub(super) fn rows(recording: &OpenRecording, time: TimeRange) -> Result<Vec<Row>, Error> {
    let (start, end) = time.bounds();
    let mut sessions: BTreeMap<i64, Row> = BTreeMap::new();
    recording.archive().scan(None, |reading: &MemorySessionRow| {
        if reading.time >= end {
            return;
        }
        let row = sessions.entry(reading.session).or_insert(Row { first: *reading, last: *reading });
        // A reading holds until the next one.
        if reading.time <= start {
            row.first = *reading;
        }
        row.last = *reading;
    })?;
    let mut rows: Vec<Row> = sessions.into_values().collect();
    rows.sort_by_key(|row| row.last.commit);
    Ok(rows)
}
