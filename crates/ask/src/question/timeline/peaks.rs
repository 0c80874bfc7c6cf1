//! Peaks: the largest base bucket inside of each bucket of a picture, so that a short spike in a wide one is seen.
//!
//! Base buckets are those of the first level of the timeline tables. An archive without tables has those that its tables would have.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::Span;
use tracesift_analysis::timeline::Grid;
use tracesift_analysis::timeline::tiles::{Cover, Levels, Limits};
use tracesift_archive::Error;
use tracesift_extract::Budget;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ProcessRow, TimelineProcessRow};

use super::columns::{Lane, Row};
use super::from_tiles::{Plan, cost, levels, peaks_of_processes};
use super::lanes::{Asked, MOST_FIGURES};
use super::{LaneKind, MOST_BUCKETS, Measure, Question};
use crate::processes::Processes;
use crate::recording::OpenRecording;

/// A bucket of a picture has at least so many base buckets, or no peak: with fewer it could have no whole one.
const FEWEST: i64 = 2;

/// Rows that are read for peaks alone, at most.
const MOST_ROWS: u64 = 8_000_000;

/// The largest base bucket of each bucket of a grid; `None`: no base bucket lies in it as a whole.
pub type PeaksOfLane = Vec<Option<i64>>;

/// The peaks of lanes.
#[derive(Clone, Debug)]
pub struct Peaks {
    /// The base buckets.
    pub base: Grid,
    /// Each lane that has any figure.
    pub lanes: Vec<(Lane, PeaksOfLane)>,
    /// Those of all lanes together: the sum of each base bucket counts. Empty where it is not known.
    pub all: PeaksOfLane,
    /// Those of a lane without any figure.
    pub none: PeaksOfLane,
}

/// Length of a base bucket of a recording, ns; `None`: hardly anything is in it.
fn base_width(recording: &OpenRecording) -> Result<Option<i64>, Error> {
    let (archive, file) = (recording.archive(), &recording.file);
    if let Some(tiles) = archive.tiles_of::<TimelineProcessRow>()?.filter(|tiles| tiles.first == 0) {
        return Ok(Some(tiles.width).filter(|width| *width > 0));
    }
    let switches = if recording.info().has_switches { archive.row_count::<ContextSwitchRow>() } else { 0 };
    let rows = switches.saturating_add(archive.row_count::<CpuSampleRow>());
    let limits = Limits { rows_of_bucket: Budget::default().rows_of_bucket, rows_of_tile: 0 };
    Ok(Levels::of(Span::new(file.start, file.end), &[rows], limits).map(|levels| levels.width(0)))
}

/// The base buckets of a grid, which lie in the recorded time; `None`: it has too few or too many.
fn base_grid(recording: &OpenRecording, grid: &Grid) -> Result<Option<Grid>, Error> {
    let Some(width) = base_width(recording)?.filter(|width| grid.width() / FEWEST >= *width) else { return Ok(None) };
    let range = grid.range();
    let start = range.start.saturating_sub(range.start.rem_euclid(width));
    let end = range.end.saturating_add((width - range.end.rem_euclid(width)) % width);
    let recorded = Span::new(recording.file.start, recording.file.end.saturating_add(1));
    Ok(Grid::aligned(Span::new(start, end).intersect(recorded), width, 0, MOST_BUCKETS))
}

/// The base buckets that lie in each bucket of a grid as a whole.
fn places(base: &Grid, grid: &Grid) -> Vec<Range<usize>> {
    let mut at = 0;
    let of_bucket = |place: usize| {
        let bucket = grid.bucket(place);
        while at < base.buckets() && base.bucket(at).start < bucket.start {
            at += 1;
        }
        let start = at;
        while at < base.buckets() && base.bucket(at).end <= bucket.end {
            at += 1;
        }
        start..at
    };
    (0..grid.buckets()).map(of_bucket).collect()
}

fn largest(figures: &[i64], places: &[Range<usize>]) -> PeaksOfLane {
    places.iter().map(|place| figures.get(place.clone())?.iter().copied().max()).collect()
}

impl Question {
    /// The peaks of the buckets of a grid, of a measure that the question names. Of processes those that are `chosen`. `None`: its
    /// buckets are too short to have some, or too many rows would have to be read.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn peaks(
        &self,
        recording: &OpenRecording,
        grid: Grid,
        chosen: Option<&FxHashSet<ProcessId>>,
    ) -> Result<Option<Peaks>, Error> {
        let Some(base) = base_grid(recording, &grid)? else { return Ok(None) };
        let places = places(&base, &grid);
        let none: PeaksOfLane = places.iter().map(|place| (!place.is_empty()).then_some(0)).collect();
        if let Some(lanes) = self.peaks_from_tiles(recording, &grid, (chosen, &none))? {
            return Ok(Some(Peaks { base, lanes, all: Vec::new(), none }));
        }
        let measure = self.measure_of(recording);
        let asked = Asked { recording, question: self, measure, threads: &[], accepted: FxHashSet::default() };
        if Plan::of(&asked, base)?.is_none() && cost(&asked, base.range())? > MOST_ROWS {
            return Ok(None);
        }
        let Some(rows) = self.lanes(recording, base)? else { return Ok(None) };
        let mut sums = vec![0_i64; base.buckets()];
        for row in &rows {
            sums.iter_mut().zip(row.values()).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
        }
        let is_chosen = |row: &&Row| match (row.lane(), chosen) {
            (Lane::Process(process), Some(chosen)) => chosen.contains(&process.process),
            _ => true,
        };
        let lanes = rows.iter().filter(is_chosen).map(|row| (row.lane().clone(), largest(row.values(), &places)));
        Ok(Some(Peaks { base, lanes: lanes.collect(), all: largest(&sums, &places), none }))
    }

    /// The peaks of processes, of which the tables tell those of longer buckets. `None`: they do not.
    fn peaks_from_tiles(
        &self,
        recording: &OpenRecording,
        grid: &Grid,
        (chosen, none): (Option<&FxHashSet<ProcessId>>, &PeaksOfLane),
    ) -> Result<Option<Vec<(Lane, PeaksOfLane)>>, Error> {
        let measure = self.measure_of(recording);
        if self.lane != LaneKind::Process || !matches!(measure, Measure::Cpu | Measure::Run) {
            return Ok(None);
        }
        let archive = recording.archive();
        let tiles = archive.tiles_of::<TimelineProcessRow>()?.and_then(|tiles| levels(recording, tiles));
        let Some((levels, 0)) = tiles else { return Ok(None) };
        let rows: Vec<ProcessRow> = archive.rows()?;
        let processes = Processes::new(&rows);
        let accepted = processes.selected(&self.filter).map(|row| row.process);
        let accepted: FxHashSet<ProcessId> =
            accepted.filter(|process| chosen.is_none_or(|chosen| chosen.contains(process))).collect();
        if accepted.len().saturating_mul(grid.buckets()) > MOST_FIGURES {
            return Ok(None);
        }
        let mut peaks: FxHashMap<ProcessId, PeaksOfLane> = FxHashMap::default();
        let wanted = Cover::of(&levels, 0, grid).wanted;
        peaks_of_processes(archive, measure, &wanted, &mut |process, place, figure| {
            if accepted.contains(&process)
                && let Some(peak) = peaks.entry(process).or_insert_with(|| none.clone()).get_mut(place)
            {
                *peak = (*peak).max(Some(figure));
            }
        })?;
        let lane = |row: &ProcessRow| Some((Lane::Process(row.clone()), peaks.remove(&row.process)?));
        Ok(Some(rows.iter().filter_map(lane).collect()))
    }
}
