//! Lanes: a figure of threads, processes or CPUs by buckets.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use tracesift_trace::ThreadId;

use super::grid::Grid;
use super::series::Series;
use crate::accounting::Run;
use crate::spans::Span;

/// What a thread does while it is off the CPUs, or nobody knows what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OffCpuKind {
    /// Blocked.
    Wait,
    /// Runnable without a CPU.
    Ready,
    /// Off the CPU since before it was first seen.
    Open,
    /// Its switches are missing.
    Unknown,
}

/// Watches an [`Accounting`](crate::Accounting): it is told each piece of time that goes into an account, when that is known. Pieces
/// are cut to the time range and to the life of the thread, and none is empty.
pub trait Watched {
    /// A thread runs.
    fn run(&mut self, run: Run);

    /// A thread does not run, or nobody knows whether it does.
    fn off(&mut self, _thread: ThreadId, _kind: OffCpuKind, _span: Span) {}

    /// A thread is switched in.
    fn switch_in(&mut self, _thread: ThreadId, _time: i64) {}
}

/// A figure of each of some lanes by buckets. A lane without any amount is not there.
#[derive(Clone, Debug)]
pub struct Lanes<L> {
    grid: Grid,
    places: FxHashMap<L, usize>,
    lanes: Vec<(L, Series)>,
}

impl<L: Copy + Eq + Hash> Lanes<L> {
    /// No lane yet.
    #[must_use]
    pub fn new(grid: Grid) -> Self {
        Self { grid, places: FxHashMap::default(), lanes: Vec::new() }
    }

    /// Adds an amount at an instant.
    pub fn add_at(&mut self, lane: L, time: i64, amount: i64) {
        if amount != 0 && self.grid.place(time).is_some() {
            let grid = self.grid;
            self.lane(lane).add_at(&grid, time, amount);
        }
    }

    /// Adds an amount to the bucket at a place.
    pub fn add_in(&mut self, lane: L, place: usize, amount: i64) {
        if amount != 0 && place < self.grid.buckets() {
            self.lane(lane).add(place, amount);
        }
    }

    /// Adds the length of a span.
    pub fn add_span(&mut self, lane: L, span: Span) {
        if !span.intersect(self.grid.range()).is_empty() {
            let grid = self.grid;
            self.lane(lane).add_span(&grid, span);
        }
    }

    /// Adds the figures of others, which have the same grid.
    pub fn join(&mut self, others: Self) {
        for (lane, series) in others.lanes {
            self.lane(lane).join(&series);
        }
    }

    /// Number of lanes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Whether there is no lane.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// The lanes with their figures, in the order in which they were first met.
    pub fn finish(self) -> impl Iterator<Item = (L, Vec<i64>)> {
        let grid = self.grid;
        self.lanes.into_iter().map(move |(lane, series)| (lane, series.finish(&grid)))
    }

    fn lane(&mut self, lane: L) -> &mut Series {
        let place = *self.places.entry(lane).or_insert_with(|| {
            self.lanes.push((lane, Series::new(&self.grid)));
            self.lanes.len() - 1
        });
        &mut self.lanes[place].1
    }
}
