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

/// Figures of lanes by buckets of a window. The first `SPANS` figures are lengths of spans, the others are added at instants.
#[derive(Debug)]
pub(super) struct Cells<const FIGURES: usize, const SPANS: usize> {
    levels: Levels,
    level: u8,
    shift: u32,
    /// The buckets of the window, and the recorded time that they cover.
    buckets: Range<i64>,
    time: Span,
    places: Vec<u32>,
    others: FxHashMap<i32, u32>,
    lanes: Vec<Lane<FIGURES, SPANS>>,
    bytes: usize,
}

#[derive(Debug)]
struct Lane<const FIGURES: usize, const SPANS: usize> {
    lane: i32,
    /// Spans that cover the window as a whole.
    all: [i64; SPANS],
    /// Number of the first bucket that has a cell.
    from: i64,
    /// What instants and the ends of spans give.
    parts: Vec<[i64; FIGURES]>,
    /// How many spans more than the bucket before lie all over it.
    whole: Vec<[i32; SPANS]>,
}

impl<const FIGURES: usize, const SPANS: usize> Cells<FIGURES, SPANS> {
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
            bytes: 0,
        }
    }

    /// Bytes that the cells take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds an amount at an instant of the window. `life` is the time in which most of what the lane has lies.
    #[inline]
    pub(super) fn add_at(&mut self, lane: i32, life: Span, figure: usize, time: i64, amount: i64) {
        let bucket = time >> self.shift;
        if self.buckets.contains(&bucket) {
            let cell = &mut self.cell(lane, life, bucket)[figure];
            *cell = cell.saturating_add(amount);
        }
    }

    /// The largest amount at an instant of the window.
    pub(super) fn maximum_at(&mut self, lane: i32, life: Span, figure: usize, time: i64, amount: i64) {
        let bucket = time >> self.shift;
        if self.buckets.contains(&bucket) {
            let cell = &mut self.cell(lane, life, bucket)[figure];
            *cell = (*cell).max(amount);
        }
    }

    /// Adds the length of a span, which lies in the window.
    #[inline]
    pub(super) fn add_span(&mut self, lane: i32, life: Span, figure: usize, span: Span) {
        let (first, last) = (span.start >> self.shift, (span.end - 1) >> self.shift);
        if first == last && self.buckets.contains(&first) {
            let cell = &mut self.cell(lane, life, first)[figure];
            *cell = cell.saturating_add(span.length());
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
        let ends = if first == last {
            [(first, span.length()), (last, 0)]
        } else {
            [(first, ((first + 1) << self.shift) - span.start), (last, span.end - (last << self.shift))]
        };
        for (bucket, length) in ends {
            let cell = &mut self.cell(lane, life, bucket)[figure];
            *cell = cell.saturating_add(length);
        }
        if last - first > 1 {
            let place = self.place(lane);
            let lane = &mut self.lanes[place];
            for (bucket, change) in [(first + 1, 1), (last, -1)] {
                if let Some(whole) = index(bucket - lane.from).and_then(|at| lane.whole.get_mut(at)) {
                    whole[figure] += change;
                }
            }
        }
    }

    /// The tiles of the window, block by block.
    pub(super) fn finish(mut self) -> Blocks<FIGURES, SPANS> {
        self.lanes.sort_unstable_by_key(|lane| lane.lane);
        let over = vec![[0; SPANS]; self.lanes.len()];
        let next = self.buckets.start;
        Blocks {
            levels: self.levels,
            level: self.level,
            next,
            end: self.buckets.end,
            lanes: self.lanes,
            over,
            tiles: Vec::new(),
        }
    }

    /// The cell of a bucket of the window.
    #[inline]
    fn cell(&mut self, lane: i32, life: Span, bucket: i64) -> &mut [i64; FIGURES] {
        let place = self.place(lane);
        let has = |lane: &Lane<FIGURES, SPANS>| index(bucket - lane.from).is_some_and(|at| at < lane.parts.len());
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
            (lane.from, lane.parts, lane.whole) = (from, vec![[0; FIGURES]; count], vec![[0; SPANS]; count]);
            self.bytes += count * size_of::<([i64; FIGURES], [i32; SPANS])>();
            return;
        }
        (from, to) = (from.min(lane.from), to.max(lane.from + lane.parts.len() as i64));
        let before = index(lane.from - from).unwrap_or_default();
        let count = index(to - from).unwrap_or_default();
        let added = count - lane.parts.len();
        lane.parts.splice(0..0, std::iter::repeat_n([0; FIGURES], before));
        lane.whole.splice(0..0, std::iter::repeat_n([0; SPANS], before));
        lane.parts.resize(count, [0; FIGURES]);
        // A span's end takes back what covered the buckets before.
        lane.whole.resize(count, [0; SPANS]);
        lane.from = from;
        self.bytes += added * size_of::<([i64; FIGURES], [i32; SPANS])>();
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
            self.lanes.push(Lane {
                lane,
                all: [0; SPANS],
                from: self.buckets.start,
                parts: Vec::new(),
                whole: Vec::new(),
            });
            self.bytes += size_of::<Lane<FIGURES, SPANS>>();
        }
        *known as usize
    }
}

/// The tiles of a window, block by block: of each block those of all lanes in the order of the lanes, each lane's in the order of time.
#[derive(Debug)]
pub(super) struct Blocks<const FIGURES: usize, const SPANS: usize> {
    levels: Levels,
    level: u8,
    /// The buckets that are left.
    next: i64,
    end: i64,
    lanes: Vec<Lane<FIGURES, SPANS>>,
    /// By lane how many spans lie all over the bucket before.
    over: Vec<[i64; SPANS]>,
    /// The tiles of a block.
    tiles: Vec<Tile<FIGURES>>,
}

impl<const FIGURES: usize, const SPANS: usize> Blocks<FIGURES, SPANS> {
    /// The next block: the buckets of it that are in the window, and their tiles.
    pub(super) fn next_block(&mut self) -> Option<(Range<i64>, &[Tile<FIGURES>])> {
        let at = self.next;
        if at >= self.end {
            return None;
        }
        let end = self.end.min((at.div_euclid(BLOCK) + 1) * BLOCK);
        self.next = end;
        self.tiles.clear();
        for (lane, over) in self.lanes.iter().zip(&mut self.over) {
            lane.add_to(&mut Run::new(&mut self.tiles, lane.lane), at..end, over, (&self.levels, self.level));
        }
        Some((at..end, &self.tiles))
    }
}

impl<const FIGURES: usize, const SPANS: usize> Lane<FIGURES, SPANS> {
    /// Adds the figures of some buckets, which stand behind those that it was asked for before.
    fn add_to(
        &self,
        run: &mut Run<'_, FIGURES>,
        buckets: Range<i64>,
        over: &mut [i64; SPANS],
        (levels, level): (&Levels, u8),
    ) {
        // Where the lane has no cell it has only spans that cover all.
        let (from, to) = (self.from, self.from + self.parts.len() as i64);
        let cells = from.clamp(buckets.start, buckets.end)..to.clamp(buckets.start, buckets.end);
        self.add_all(run, buckets.start..cells.start, (levels, level));
        for bucket in cells.clone() {
            let Some(at) = index(bucket - from).filter(|at| *at < self.parts.len()) else { continue };
            let (mut figures, length) = (self.parts[at], levels.bucket(level, bucket).length());
            for (place, over) in over.iter_mut().enumerate() {
                *over += i64::from(self.whole[at][place]);
                let whole = (*over + self.all[place]).saturating_mul(length);
                figures[place] = figures[place].saturating_add(whole);
            }
            run.add(bucket, 1, &figures);
        }
        self.add_all(run, cells.end..buckets.end, (levels, level));
    }

    fn add_all(&self, run: &mut Run<'_, FIGURES>, buckets: Range<i64>, (levels, level): (&Levels, u8)) {
        if self.all.iter().all(|spans| *spans == 0) || buckets.is_empty() {
            return;
        }
        for (bucket, count, length) in levels.equal_lengths(level, buckets) {
            let mut figures = [0; FIGURES];
            figures.iter_mut().zip(self.all).for_each(|(figure, spans)| *figure = spans.saturating_mul(length));
            run.add(bucket, count, &figures);
        }
    }
}

fn index(place: i64) -> Option<usize> {
    usize::try_from(place).ok()
}
