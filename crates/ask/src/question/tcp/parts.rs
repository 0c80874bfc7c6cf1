//! Connections with the figures of a part of the recording.

use rustc_hash::FxHashMap;
use tracesift_analysis::Times;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::connections::{Told, TrafficSums};
use tracesift_trace::rows::{ConnectionRow, NetworkIoRow};
use tracesift_trace::{ConnectionId, ProcessId};

use crate::recording::OpenRecording;

/// Begin and end of a connection. Data may come after the end.
pub(crate) fn life(row: &ConnectionRow) -> (i64, i64) {
    let last = row.last_sent.max(row.last_received).map_or(i64::MIN, |last| last.saturating_add(1));
    // A connection that was there before begins with the recording.
    (row.start.unwrap_or(0), row.end.map_or(i64::MAX, |end| end.max(last)))
}

/// The connections that touch each range, there one of these times if any are chosen, with its figures: the same code makes them as in the
/// extract.
pub(crate) fn of_ranges(
    recording: &OpenRecording,
    ranges: &[TimeRange],
    times: Option<&Times>,
) -> Result<Vec<Vec<ConnectionRow>>, Error> {
    let archive = recording.archive();
    let connections: Vec<ConnectionRow> = archive.rows()?;
    let mut process_of: FxHashMap<ConnectionId, Option<ProcessId>> = FxHashMap::default();
    if times.is_some() {
        process_of = connections.iter().map(|row| (row.connection, row.process)).collect();
    }
    let mut sums: FxHashMap<(usize, ConnectionId), TrafficSums> = FxHashMap::default();
    let bounds: Vec<(i64, i64)> = ranges.iter().map(TimeRange::bounds).collect();
    let first = bounds.iter().map(|(start, _)| *start).min().unwrap_or(i64::MIN);
    let last = bounds.iter().map(|(_, end)| *end).max().unwrap_or(i64::MAX);
    archive.scan(Some(first..last), |row: &NetworkIoRow| {
        let process = || process_of.get(&row.connection).copied().flatten();
        if times.is_some_and(|times| !times.contain(process(), row.time)) {
            return;
        }
        // The ranges follow each other.
        let range = bounds.partition_point(|(_, end)| *end <= row.time);
        if bounds.get(range).is_some_and(|(start, _)| *start <= row.time) {
            sums.entry((range, row.connection)).or_default().add(row);
        }
    })?;
    let none = TrafficSums::default();
    let of_range = |(range, (start, end)): (usize, (i64, i64))| {
        let part = |row: &ConnectionRow| {
            let of_part = sums.get(&(range, row.connection));
            let mut row = row.clone();
            let touches = {
                let (from, to) = life(&row);
                let is_chosen = |times: &Times| !times.touching(row.process, from.max(start), to.min(end)).is_empty();
                from < end && (to > start || from >= start) && times.is_none_or(is_chosen)
            };
            if !touches && of_part.is_none() {
                return None;
            }
            let told = Told::of(&row);
            of_part.unwrap_or(&none).write(told, true, &mut row);
            // Events may come shortly before the request.
            row.start = row.start.map(|from| if from >= end { end.saturating_sub(1) } else { from });
            Some(row)
        };
        connections.iter().filter_map(part).collect()
    };
    Ok(bounds.iter().copied().enumerate().map(of_range).collect())
}
