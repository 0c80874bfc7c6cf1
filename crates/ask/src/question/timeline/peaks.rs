//! Peaks: the largest base bucket inside of each bucket of a picture, so that a short spike in a wide one is seen.
//!
//! Base buckets are those of the first level of the timeline tables. An archive without tables has those that its tables would have.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::Span;
use tracesift_analysis::timeline::tiles::{Cover, Levels, Limits};
use tracesift_analysis::timeline::{EventNumbers, Grid};
use tracesift_archive::Error;
use tracesift_extract::Budget;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ProcessRow, TimelineProcessRow};

use super::columns::{Lane, Row};
use super::from_tiles::{Plan, cost, peaks_of_processes, read, tiles_of};
use super::lanes::{Asked, MOST_FIGURES, Names};
use super::{LaneKind, MOST_BUCKETS, Measure, Question};
use crate::processes::Processes;
use crate::recording::OpenRecording;

/// A bucket of a picture has at least so many base buckets, or no peak: with fewer it could have no whole one.
const FEWEST: i64 = 2;

/// Rows that are read for peaks alone, at most.
const MOST_ROWS: u64 = 8_000_000;

/// Buckets of tables that are read for peaks alone, at most.
const MOST_TILES: usize = 1 << 21;

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

/// What tables have of peaks.
enum Tiles {
    Peaks(Peaks),
    /// More buckets than are read for peaks.
    TooMany,
    Absent,
}

/// The number of the first base bucket in a table; `None`: there is no table with base buckets.
fn first_tile(asked: &Asked<'_>, base: &Grid) -> Result<Option<i64>, Error> {
    let tiles = tiles_of(asked)?.filter(|(levels, first)| *first == 0 && levels.width(0) == base.width());
    Ok(tiles.and_then(|_| base.first().checked_div_euclid(base.width())))
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
        let of_all_alone = self.lane == LaneKind::Process && chosen.is_some_and(FxHashSet::is_empty);
        if !of_all_alone && let Some(lanes) = self.peaks_from_tiles(recording, &grid, (chosen, &none))? {
            return Ok(Some(Peaks { base, lanes, all: Vec::new(), none }));
        }
        if of_all_alone || self.lane != LaneKind::Process {
            match self.peaks_of_tiles(recording, base, (&places, &none))? {
                Tiles::Peaks(peaks) => return Ok(Some(peaks)),
                Tiles::TooMany => return Ok(None),
                Tiles::Absent => {}
            }
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

    /// The peaks of CPUs, of disks, and of all processes together: from each base bucket of the tables.
    fn peaks_of_tiles(
        &self,
        recording: &OpenRecording,
        base: Grid,
        (places, none): (&[Range<usize>], &PeaksOfLane),
    ) -> Result<Tiles, Error> {
        let measure = self.measure_of(recording);
        let archive = recording.archive();
        let rows: Vec<ProcessRow> = archive.rows()?;
        let accepted = Processes::new(&rows).selected(&self.filter).map(|row| row.process).collect();
        let asked = Asked { recording, question: self, measure, threads: &[], accepted };
        let Some(first) = first_tile(&asked, &base)? else { return Ok(Tiles::Absent) };
        let lanes = match self.lane {
            LaneKind::Process => rows.len(),
            LaneKind::Cpu => usize::try_from(recording.info().cpu_count).unwrap_or(0),
            _ => 1,
        };
        if lanes.saturating_mul(base.buckets()) > MOST_TILES {
            return Ok(Tiles::TooMany);
        }
        let mut place_of = vec![None; base.buckets()];
        for (place, of) in places.iter().enumerate() {
            place_of[of.clone()].fill(Some(place));
        }
        let mut sums = vec![0_i64; base.buckets()];
        let mut lanes: FxHashMap<i32, PeaksOfLane> = FxHashMap::default();
        let mut kinds = EventNumbers::default();
        let end = first.saturating_add(i64::try_from(base.buckets()).unwrap_or(i64::MAX));
        read(&asked, &[measure], (0, first..end), &mut kinds, &mut |lane, (bucket, buckets), figure| {
            let figure = figure(measure);
            let place = |bucket: i64| usize::try_from(bucket.clamp(first, end) - first).unwrap_or(0);
            let of = place(bucket)..place(bucket.saturating_add(buckets.into()));
            sums[of.clone()].iter_mut().for_each(|sum| *sum = sum.saturating_add(figure));
            if self.lane != LaneKind::Process {
                let peaks = lanes.entry(lane).or_insert_with(|| none.clone());
                place_of[of].iter().flatten().for_each(|place| peaks[*place] = peaks[*place].max(Some(figure)));
            }
        })?;
        let names = Names::new(self.lane, &rows, &[]);
        let lanes = lanes.into_iter().filter_map(|(lane, peaks)| Some((names.lane(lane)?, peaks))).collect();
        Ok(Tiles::Peaks(Peaks { base, lanes, all: largest(&sums, places), none: none.clone() }))
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
        let asked = Asked { recording, question: self, measure, threads: &[], accepted: FxHashSet::default() };
        let Some((levels, 0)) = tiles_of(&asked)? else { return Ok(None) };
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
        peaks_of_processes(archive, measure, &wanted, &accepted, &mut |process, place, figure| {
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
