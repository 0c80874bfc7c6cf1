//! Figures of lanes in a window of neighbouring buckets, while they are added up.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::levels::{BLOCK, Levels};
use super::tile::{Run, Tile};
use crate::spans::Span;

/// No lane has this place.
const NONE: u32 = u32::MAX;

/// Lanes with numbers below this find their place in a list.
const LISTED: usize = 1 << 20;

/// Figures of lanes by buckets of a window. The last `DENSE` figures have a place in each bucket of a lane. The others have something in few
/// buckets only, so they are kept as changes, which take less memory.
#[derive(Debug)]
pub(super) struct Cells<const FIGURES: usize, const DENSE: usize> {
    levels: Levels,
    level: u8,
    shift: u32,
    /// The buckets of the window, and the recorded time that they cover.
    buckets: Range<i64>,
    time: Span,
    places: Vec<u32>,
    others: FxHashMap<i32, u32>,
    lanes: Vec<Lane<FIGURES, DENSE>>,
    changes: Vec<Change>,
    bytes: usize,
}

#[derive(Debug)]
struct Lane<const FIGURES: usize, const DENSE: usize> {
    lane: i32,
    /// Spans that cover the window as a whole.
    all: [i64; FIGURES],
    /// Number of the first bucket that has a cell.
    from: i64,
    /// What instants, spans inside of a bucket, and the ends of longer spans give.
    parts: Vec<[i64; DENSE]>,
}

/// What a lane has in a bucket that has a cell.
#[derive(Clone, Copy, Debug)]
struct Change {
    lane: i32,
    /// The bucket, counted from the first one of the window.
    at: u32,
    figure: u8,
    /// Whether `amount` is how many spans more than in the bucket before lie all over this bucket.
    is_whole: bool,
    amount: i64,
}

impl<const FIGURES: usize, const DENSE: usize> Cells<FIGURES, DENSE> {
    /// The figures that have no place in each bucket.
    const RARE: usize = FIGURES - DENSE;

    /// Nothing yet in the buckets of a level that lie in a window of buckets of level 0, which ends where a bucket of the level ends.
    pub(super) fn new(levels: Levels, level: u8, window: &Range<i64>) -> Self {
        let places = |place: i64| place >> (2 * u32::from(level));
        let all = levels.buckets(level);
        let buckets = places(window.start).max(all.start)..(places(window.end - 1) + 1).min(all.end);
        let time = Span::new(levels.bucket(level, buckets.start).start, levels.bucket(level, buckets.end - 1).end);
        Self {
            levels,
            level,
            shift: levels.shift(level),
            buckets,
            time,
            places: Vec::new(),
            others: FxHashMap::default(),
            lanes: Vec::new(),
            changes: Vec::new(),
            bytes: 0,
        }
    }

    /// Bytes that the cells take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.changes.len() * size_of::<Change>()
    }

    /// Adds an amount at an instant of the window. `life` is the time in which most of what the lane has lies.
    #[inline]
    pub(super) fn add_at(&mut self, lane: i32, life: Span, figure: usize, time: i64, amount: i64) {
        let bucket = time >> self.shift;
        if self.buckets.contains(&bucket) {
            self.add(lane, life, figure, bucket, amount);
        }
    }

    /// The largest amount at an instant of the window, of a figure that has a place in each bucket.
    pub(super) fn maximum_at(&mut self, lane: i32, life: Span, figure: usize, time: i64, amount: i64) {
        let bucket = time >> self.shift;
        if self.buckets.contains(&bucket)
            && let Some(cell) = self.cell(lane, life, bucket).get_mut(figure - Self::RARE)
        {
            *cell = (*cell).max(amount);
        }
    }

    /// Adds the length of a span, which lies in the window.
    #[inline]
    pub(super) fn add_span(&mut self, lane: i32, life: Span, figure: usize, span: Span) {
        let (first, last) = (span.start >> self.shift, (span.end - 1) >> self.shift);
        if first == last && self.buckets.contains(&first) {
            self.add(lane, life, figure, first, span.length());
        } else {
            self.add_long_span(lane, life, figure, span.intersect(self.time));
        }
    }

    fn add_long_span(&mut self, lane: i32, life: Span, figure: usize, span: Span) {
        if span.is_empty() {
            return;
        }
        if span == self.time {
            let place = self.place(lane);
            self.lanes[place].all[figure] += 1;
            return;
        }
        let (first, last) = (span.start >> self.shift, (span.end - 1) >> self.shift);
        if first == last {
            self.add(lane, life, figure, first, span.length());
            return;
        }
        self.add(lane, life, figure, first, ((first + 1) << self.shift) - span.start);
        self.add(lane, life, figure, last, span.end - (last << self.shift));
        if last - first > 1 {
            self.change(lane, figure, first + 1, (true, 1));
            self.change(lane, figure, last, (true, -1));
        }
    }

    /// Adds an amount to a figure of a bucket of the window.
    #[inline]
    fn add(&mut self, lane: i32, life: Span, figure: usize, bucket: i64, amount: i64) {
        let cell = self.cell(lane, life, bucket);
        match figure.checked_sub(Self::RARE).and_then(|place| cell.get_mut(place)) {
            Some(cell) => *cell = cell.saturating_add(amount),
            None => self.change(lane, figure, bucket, (false, amount)),
        }
    }

    fn change(&mut self, lane: i32, figure: usize, bucket: i64, (is_whole, amount): (bool, i64)) {
        let at = u32::try_from(bucket - self.buckets.start).unwrap_or(u32::MAX);
        let figure = u8::try_from(figure).unwrap_or(u8::MAX);
        self.changes.push(Change { lane, at, figure, is_whole, amount });
    }

    /// The tiles of the window, block by block.
    pub(super) fn finish(mut self) -> Blocks<FIGURES, DENSE> {
        self.lanes.sort_unstable_by_key(|lane| lane.lane);
        self.changes.sort_unstable_by_key(|change| (change.lane, change.at));
        let first = |lane: &Lane<FIGURES, DENSE>| self.changes.partition_point(|change| change.lane < lane.lane);
        let ways = self.lanes.iter().map(|lane| Way { over: lane.all, next: first(lane) }).collect();
        Blocks {
            levels: self.levels,
            level: self.level,
            start: self.buckets.start,
            next: self.buckets.start,
            end: self.buckets.end,
            ways,
            lanes: self.lanes,
            changes: self.changes,
            tiles: Vec::new(),
        }
    }

    /// The cell of a bucket of the window.
    #[inline]
    fn cell(&mut self, lane: i32, life: Span, bucket: i64) -> &mut [i64; DENSE] {
        let place = self.place(lane);
        let has = |lane: &Lane<FIGURES, DENSE>| index(bucket - lane.from).is_some_and(|at| at < lane.parts.len());
        if !has(&self.lanes[place]) {
            self.grow(place, life, bucket);
        }
        let lane = &mut self.lanes[place];
        let at = index(bucket - lane.from).unwrap_or_default();
        &mut lane.parts[at]
    }

    /// Gives a lane cells for its life, and for a bucket.
    #[cold]
    fn grow(&mut self, place: usize, life: Span, bucket: i64) {
        let lane = &mut self.lanes[place];
        let life = life.intersect(self.time);
        let (mut from, mut to) = (bucket, bucket + 1);
        if lane.parts.is_empty() {
            if !life.is_empty() {
                (from, to) = (from.min(life.start >> self.shift), to.max(((life.end - 1) >> self.shift) + 1));
            }
            let count = index(to - from).unwrap_or_default();
            // Zeros come from the system, which gives no memory for what stays zero.
            (lane.from, lane.parts) = (from, vec![[0; DENSE]; count]);
            self.bytes += count * size_of::<[i64; DENSE]>();
            return;
        }
        (from, to) = (from.min(lane.from), to.max(lane.from + lane.parts.len() as i64));
        let before = index(lane.from - from).unwrap_or_default();
        let count = index(to - from).unwrap_or_default();
        let added = count - lane.parts.len();
        lane.parts.splice(0..0, std::iter::repeat_n([0; DENSE], before));
        lane.parts.resize(count, [0; DENSE]);
        lane.from = from;
        self.bytes += added * size_of::<[i64; DENSE]>();
    }

    /// Where a lane stands; it is made if it is new.
    #[inline]
    fn place(&mut self, lane: i32) -> usize {
        let known = match index(i64::from(lane)).filter(|lane| *lane < LISTED) {
            Some(listed) => {
                if listed >= self.places.len() {
                    self.places.resize(listed + 1, NONE);
                }
                &mut self.places[listed]
            }
            None => self.others.entry(lane).or_insert(NONE),
        };
        if *known == NONE {
            *known = u32::try_from(self.lanes.len()).unwrap_or(NONE);
            self.lanes.push(Lane { lane, all: [0; FIGURES], from: self.buckets.start, parts: Vec::new() });
            self.bytes += size_of::<Lane<FIGURES, DENSE>>();
        }
        *known as usize
    }
}

/// The tiles of a window, block by block: of each block those of all lanes in the order of the lanes, each lane's in the order of time.
#[derive(Debug)]
pub(super) struct Blocks<const FIGURES: usize, const DENSE: usize> {
    levels: Levels,
    level: u8,
    /// The first bucket of the window.
    start: i64,
    /// The buckets that are left.
    next: i64,
    end: i64,
    lanes: Vec<Lane<FIGURES, DENSE>>,
    /// How far each lane is.
    ways: Vec<Way<FIGURES>>,
    /// In the order of lanes and buckets.
    changes: Vec<Change>,
    /// The tiles of a block.
    tiles: Vec<Tile<FIGURES>>,
}

/// How far the tiles of a lane are.
#[derive(Debug)]
struct Way<const FIGURES: usize> {
    /// How many spans lie all over the bucket before.
    over: [i64; FIGURES],
    /// The next change.
    next: usize,
}

impl<const FIGURES: usize, const DENSE: usize> Blocks<FIGURES, DENSE> {
    /// The next block: the buckets of it that are in the window, and their tiles.
    pub(super) fn next_block(&mut self) -> Option<(Range<i64>, &[Tile<FIGURES>])> {
        let at = self.next;
        if at >= self.end {
            return None;
        }
        let end = self.end.min((at.div_euclid(BLOCK) + 1) * BLOCK);
        self.next = end;
        self.tiles.clear();
        let window = OfWindow { levels: &self.levels, level: self.level, start: self.start, changes: &self.changes };
        for (lane, way) in self.lanes.iter().zip(&mut self.ways) {
            lane.add_to(&mut Run::new(&mut self.tiles, lane.lane), at..end, way, &window);
        }
        Some((at..end, &self.tiles))
    }
}

/// What the lanes of a window share.
struct OfWindow<'a> {
    levels: &'a Levels,
    level: u8,
    start: i64,
    changes: &'a [Change],
}

impl<const FIGURES: usize, const DENSE: usize> Lane<FIGURES, DENSE> {
    /// Adds the figures of some buckets, which stand behind those that it was asked for before.
    fn add_to(&self, run: &mut Run<'_, FIGURES>, buckets: Range<i64>, way: &mut Way<FIGURES>, window: &OfWindow<'_>) {
        // Where the lane has no cell it has only spans that cover all.
        let (from, to) = (self.from, self.from + self.parts.len() as i64);
        let cells = from.clamp(buckets.start, buckets.end)..to.clamp(buckets.start, buckets.end);
        self.add_all(run, buckets.start..cells.start, window);
        let mut is_covered = way.over.iter().any(|spans| *spans != 0);
        for bucket in cells.clone() {
            let Some(parts) = index(bucket - from).and_then(|at| self.parts.get(at)) else { continue };
            let mut figures = [0; FIGURES];
            figures[FIGURES - DENSE..].copy_from_slice(parts);
            while let Some(change) = window.changes.get(way.next)
                && change.lane == self.lane
                && window.start + i64::from(change.at) == bucket
            {
                way.next += 1;
                let figure = usize::from(change.figure);
                if change.is_whole {
                    way.over[figure] += change.amount;
                    is_covered = way.over.iter().any(|spans| *spans != 0);
                } else {
                    figures[figure] = figures[figure].saturating_add(change.amount);
                }
            }
            if is_covered {
                let length = window.levels.bucket(window.level, bucket).length();
                for (figure, spans) in figures.iter_mut().zip(way.over) {
                    *figure = figure.saturating_add(spans.saturating_mul(length));
                }
            }
            run.add(bucket, 1, &figures);
        }
        self.add_all(run, cells.end..buckets.end, window);
    }

    fn add_all(&self, run: &mut Run<'_, FIGURES>, buckets: Range<i64>, window: &OfWindow<'_>) {
        if self.all.iter().all(|spans| *spans == 0) || buckets.is_empty() {
            return;
        }
        for (bucket, count, length) in window.levels.equal_lengths(window.level, buckets) {
            let mut figures = [0; FIGURES];
            figures.iter_mut().zip(self.all).for_each(|(figure, spans)| *figure = spans.saturating_mul(length));
            run.add(bucket, count, &figures);
        }
    }
}

fn index(place: i64) -> Option<usize> {
    usize::try_from(place).ok()
}
