//! The lanes of the machine's memory: the last reading in or before each bucket.

use tracesift_analysis::timeline::Grid;
use tracesift_archive::Error;
use tracesift_trace::rows::MemoryStateRow;

use crate::question::memory::{free, modified, standby};
use crate::recording::OpenRecording;

/// A figure of a reading.
type Figure = fn(&MemoryStateRow) -> Option<i64>;

/// The figures by the names that `dump memory --total-memory` has for them.
const FIGURES: [(&str, Figure); 6] = [
    ("active", |row| row.active),
    ("available", |row| row.available),
    ("commit", |row| row.commit),
    ("free", free),
    ("modified", modified),
    ("standby", standby),
];

/// What the figure of a bucket is that has no reading in it or before it.
const UNKNOWN: i64 = 0;

/// Name and bytes by bucket of each figure that the recording has.
pub(super) fn lanes(recording: &OpenRecording, grid: &Grid) -> Result<Vec<(&'static str, Vec<i64>)>, Error> {
    let mut readings: Vec<MemoryStateRow> = recording.archive().rows()?;
    readings.sort_by_key(|row| row.time);
    let of_figure = |(name, figure): (&'static str, Figure)| {
        let known: Vec<(i64, i64)> = readings.iter().filter_map(|row| Some((row.time, figure(row)?))).collect();
        let last = |end: i64| {
            let before = known.partition_point(|(time, _)| *time < end);
            before.checked_sub(1).and_then(|last| known.get(last)).map_or(UNKNOWN, |(_, figure)| *figure)
        };
        let values: Vec<i64> = (0..grid.buckets()).map(|place| last(grid.bucket(place).end)).collect();
        values.iter().any(|value| *value != UNKNOWN).then_some((name, values))
    };
    Ok(FIGURES.into_iter().filter_map(of_figure).collect())
}
