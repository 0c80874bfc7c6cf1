//! The lists of pages of the machine over the time range.

use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::MemoryStateRow;

use super::machine::{free, standby};
use crate::answer::{ColumnOf, Kind};
use crate::columns::Columns;
use crate::recording::OpenRecording;

/// A list.
#[derive(Clone, Debug)]
pub(super) struct Row {
    list: String,
    first: i64,
    last: i64,
    min: i64,
    max: i64,
}

/// The columns.
pub(super) const COLUMNS: Columns<Row> = Columns(&[
    ColumnOf::always(
        "list",
        "List",
        Kind::Text,
        |r| (&r.list).into(),
        "`zero`, `free`, `standby 0` to `standby 7` by priority, `modified`, … `repurposed 5` counts the standby memory of priority 5 that was given away since the start of the system; its change is what was given away in the time range.",
    ),
    ColumnOf::always("first", "First", Kind::Bytes, |r| r.first.into(), "Size at the first reading of the time range."),
    ColumnOf::always("last", "Last", Kind::Bytes, |r| r.last.into(), "Size at the last reading."),
    ColumnOf::always(
        "diff",
        "Change",
        Kind::Bytes,
        |r| r.last.saturating_sub(r.first).into(),
        "Change from the first to the last reading.",
    ),
    ColumnOf::always("min", "Smallest", Kind::Bytes, |r| r.min.into(), "Smallest size."),
    ColumnOf::always("max", "Largest", Kind::Bytes, |r| r.max.into(), "Largest size."),
]);

/// The sizes of all lists at one reading, by name.
fn sizes(state: &MemoryStateRow) -> Vec<(String, i64)> {
    let one = |name: &str, size: Option<i64>| size.map(|size| (name.to_owned(), size));
    let by_priority = |name: &str, sizes: &Option<Vec<i64>>| {
        let named = |(priority, size): (usize, &i64)| (format!("{name} {priority}"), *size);
        sizes.iter().flatten().enumerate().map(named).collect::<Vec<_>>()
    };
    let mut all: Vec<(String, i64)> = [
        one("active", state.active),
        one("zero", state.zero),
        one("free", state.free),
        one("zero and free", state.zero.and_then(|_| free(state))),
        one("modified", state.modified),
        one("modified, for the page file", state.modified_page_file),
        one("modified, no write", state.modified_no_write),
        one("bad", state.bad),
        one("standby", state.standby.as_ref().and_then(|_| standby(state))),
        one("available", state.available),
        one("cached", state.cached),
        one("dirty", state.dirty),
        one("writeback", state.writeback),
        one("slab", state.slab),
        one("swap", state.swap_used),
        one("swapped in", state.swapped_in),
        one("swapped out", state.swapped_out),
        one("scanned", state.scanned),
        one("reclaimed", state.reclaimed),
        one("refaulted", state.refaulted),
        one("active files", state.active_file),
        one("inactive files", state.inactive_file),
        one("active anonymous", state.active_anon),
        one("inactive anonymous", state.inactive_anon),
        one("commit limit", state.commit_limit),
    ]
    .into_iter()
    .flatten()
    .collect();
    all.extend(by_priority("standby", &state.standby));
    all.extend(by_priority("repurposed", &state.repurposed));
    let kernel =
        [one("paged pool", state.paged_pool), one("non-paged pool", state.nonpaged_pool), one("commit", state.commit)];
    all.extend(kernel.into_iter().flatten());
    all
}

/// The lists, in a fixed order.
pub(super) fn rows(recording: &OpenRecording, time: TimeRange) -> Result<Vec<Row>, Error> {
    let (start, end) = time.bounds();
    let mut rows: Vec<Row> = Vec::new();
    recording.archive().scan(None, |state: &MemoryStateRow| {
        if state.time < start || state.time >= end {
            return;
        }
        for (list, size) in sizes(state) {
            match rows.iter_mut().find(|row| row.list == list) {
                Some(row) => {
                    row.last = size;
                    row.min = row.min.min(size);
                    row.max = row.max.max(size);
                }
                None => rows.push(Row { list, first: size, last: size, min: size, max: size }),
            }
        }
    })?;
    Ok(rows)
}
