//! Trims: drops of a working set from one reading to the next.

use rustc_hash::FxHashMap;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{MemoryProcessRow, MemoryStateRow, ProcessRow};

use super::machine::{free, standby};
use super::processes::working_set;
use crate::answer::{ColumnOf, Kind};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::recording::OpenRecording;

/// A drop.
#[derive(Clone, Debug)]
pub(super) struct Row {
    process: ProcessRow,
    time: i64,
    before: i64,
    after: i64,
    /// The latest reading of the machine before it.
    free: Option<i64>,
    standby: Option<i64>,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        Some(&self.process)
    }
}

/// The columns.
pub(super) const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::always("time", "Time", Kind::Time, |r| r.time.into(), "Time of the first reading after the drop."),
    ColumnOf::always(
        "drop",
        "Drop",
        Kind::Bytes,
        |r| r.before.saturating_sub(r.after).into(),
        "Memory that left the working set.",
    ),
    ColumnOf::always("before", "Before", Kind::Bytes, |r| r.before.into(), "Working set at the reading before."),
    ColumnOf::always("after", "After", Kind::Bytes, |r| r.after.into(), "Working set after the drop."),
    ColumnOf::always(
        "free",
        "Free",
        Kind::Bytes,
        |r| r.free.into(),
        "Free memory of the machine, zeroed or not, at its latest reading until then.",
    ),
    ColumnOf::always(
        "standby",
        "Standby",
        Kind::Bytes,
        |r| r.standby.into(),
        "Cached memory of the machine that could be given away, at the same reading.",
    ),
    of_process::label(),
    of_process::command_line(),
]);

/// The drops of these processes, the largest last.
pub(super) fn rows(
    recording: &OpenRecording,
    time: TimeRange,
    least: i64,
    asked: &[&ProcessRow],
) -> Result<Vec<Row>, Error> {
    let archive = recording.archive();
    let (start, end) = time.bounds();
    let mut states: Vec<(i64, Option<i64>, Option<i64>)> = Vec::new();
    archive.scan(None, |row: &MemoryStateRow| states.push((row.time, free(row), standby(row))))?;
    let asked: FxHashMap<ProcessId, &ProcessRow> = asked.iter().map(|row| (row.process, *row)).collect();
    let mut latest: FxHashMap<ProcessId, i64> = FxHashMap::default();
    let mut rows = Vec::new();
    archive.scan(None, |row: &MemoryProcessRow| {
        let (Some(process), Some(after)) = (asked.get(&row.process), working_set(row)) else { return };
        let before = latest.insert(row.process, after).unwrap_or(after);
        let drop = before.saturating_sub(after);
        if drop < least.max(1) || drop < before / 4 || row.time < start || row.time >= end {
            return;
        }
        let place = states.partition_point(|(time, ..)| *time <= row.time);
        let state = place.checked_sub(1).and_then(|place| states.get(place));
        let (free, standby) = state.map_or((None, None), |(_, free, standby)| (*free, *standby));
        rows.push(Row { process: (*process).clone(), time: row.time, before, after, free, standby });
    })?;
    rows.sort_by_key(|row| (row.before.saturating_sub(row.after), row.time));
    Ok(rows)
}
