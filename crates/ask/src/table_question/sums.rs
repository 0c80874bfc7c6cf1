//! Sums of the rows of places, in cells next to each other.

use rustc_hash::FxHashMap;
use tracesift_analysis::{IntervalUnion, Span};

use super::arithmetic::How;
use super::plan::{NO_FIGURE, Plan, ROWS, Step};

/// The part of a row inside of a time range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) start: i64,
    pub(super) length: i64,
    /// Begin and length of what counts of the row; `None`: it counts in another range, and is under way in this one.
    pub(super) counted: Option<(i64, i64)>,
    /// Whether the row begins before the range.
    pub(super) is_older: bool,
    /// Whether the row ends in the range.
    pub(super) ends: bool,
}

impl Part {
    pub(super) fn span(self) -> Span {
        Span::new(self.start, self.start.saturating_add(self.length))
    }
}

/// Figures of some rows.
pub(super) struct Sums<'p> {
    plan: &'p Plan,
    /// So many per place.
    pub(super) cells: Vec<i64>,
    /// One per place, where times are united.
    pub(super) unions: Vec<IntervalUnion>,
    /// A list per place, where times are kept.
    pub(super) times: Vec<Vec<i64>>,
    /// A list per place, where begins and ends are kept.
    pub(super) lives: Vec<Vec<Alive>>,
    /// A list per place, where things that rows are about are kept.
    pub(super) once: Vec<Vec<(i64, i64)>>,
    /// One per place and list of texts.
    pub(super) texts: Vec<TextCounts>,
}

/// Begin of a row in the range, its end where that is in the range, too, and how much it counts.
pub(super) type Alive = (i64, Option<i64>, i64);

/// Number of rows by text.
pub(super) type TextCounts = FxHashMap<Box<str>, i64>;

/// Figures of one place, or of places together.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) cells: Vec<i64>,
    pub(super) union: IntervalUnion,
    pub(super) times: Vec<i64>,
    pub(super) lives: Vec<Alive>,
    /// Things that rows are about, with their figures.
    pub(super) once: Vec<(i64, i64)>,
    /// One per list of texts.
    pub(super) texts: Vec<TextCounts>,
}

impl Figures {
    /// Adds the figures of other rows.
    pub(super) fn add(&mut self, plan: &Plan, more: Self) {
        if self.cells.is_empty() {
            *self = more;
            return;
        }
        add_cells(&plan.steps, &mut self.cells, &more.cells);
        self.union.append(more.union);
        self.times.extend(more.times);
        self.lives.extend(more.lives);
        self.once.extend(more.once);
        for (counts, more) in self.texts.iter_mut().zip(more.texts) {
            more.iter().for_each(|(text, rows)| count(counts, text, *rows));
        }
    }
}

impl<'p> Sums<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            cells: Vec::new(),
            unions: Vec::new(),
            times: Vec::new(),
            lives: Vec::new(),
            once: Vec::new(),
            texts: Vec::new(),
        }
    }

    /// Number of cells of a place.
    #[inline]
    pub(super) fn width(&self) -> usize {
        self.plan.fresh.len()
    }

    /// Makes room for one place more.
    pub(super) fn add_place(&mut self) {
        self.cells.extend_from_slice(&self.plan.fresh);
        if self.plan.has_unions {
            self.unions.push(IntervalUnion::default());
        }
        if self.plan.has_times {
            self.times.push(Vec::new());
        }
        if self.plan.lives.is_some() {
            self.lives.push(Vec::new());
        }
        if self.plan.once.is_some() {
            self.once.push(Vec::new());
        }
        self.texts.resize_with(self.texts.len() + self.plan.texts.len(), TextCounts::default);
    }

    /// Adds the cells of other rows to those of a place.
    pub(super) fn add(&mut self, place: usize, cells: &[i64]) {
        let width = self.plan.fresh.len();
        add_cells(&self.plan.steps, &mut self.cells[place * width..][..width], cells);
    }

    /// Takes the figures of a place away.
    pub(super) fn take(&mut self, place: usize) -> Figures {
        let width = self.plan.fresh.len();
        let lists = self.plan.texts.len();
        Figures {
            cells: self.cells[place * width..][..width].to_vec(),
            union: self.unions.get_mut(place).map(std::mem::take).unwrap_or_default(),
            times: self.times.get_mut(place).map(std::mem::take).unwrap_or_default(),
            lives: self.lives.get_mut(place).map(std::mem::take).unwrap_or_default(),
            once: self.once.get_mut(place).map(std::mem::take).unwrap_or_default(),
            texts: self.texts[place * lists..][..lists].iter_mut().map(std::mem::take).collect(),
        }
    }

    /// A cell of a place; it stays there when the figures are taken away.
    pub(super) fn cell(&self, place: usize, cell: usize) -> i64 {
        self.cells[place * self.plan.fresh.len() + cell]
    }

    /// Number of rows of a place.
    pub(super) fn rows(&self, place: usize) -> i64 {
        self.cells[place * self.plan.fresh.len() + ROWS]
    }
}

pub(super) fn count(counts: &mut TextCounts, text: &str, rows: i64) {
    match counts.get_mut(text) {
        Some(count) => *count += rows,
        None => {
            counts.insert(text.into(), rows);
        }
    }
}

/// Adds a figure that may be unknown to a sum that may have none yet.
#[inline]
pub(super) fn add_known(sum: &mut i64, figure: Option<i64>) {
    if let Some(figure) = figure {
        *sum = if *sum == NO_FIGURE { figure } else { sum.saturating_add(figure) };
    }
}

/// Keeps the longer time; of equal times the earlier one.
#[inline]
pub(super) fn longest(cells: &mut [i64], cell: usize, (start, length): (i64, i64)) {
    let (longest, since) = (cells[cell], cells[cell + 1]);
    if length > longest || (length == longest && start < since) {
        (cells[cell], cells[cell + 1]) = (length, start);
    }
}

/// Keeps the earliest begin and the latest end.
#[inline]
pub(super) fn extent(cells: &mut [i64], cell: usize, part: Part) {
    cells[cell] = cells[cell].min(part.start);
    cells[cell + 1] = cells[cell + 1].max(part.start.saturating_add(part.length));
}

/// Keeps a figure, and counts how many there were.
pub(super) fn only(cells: &mut [i64], cell: usize, (figure, count): (i64, i64)) {
    if count > 0 {
        (cells[cell], cells[cell + 1]) = (figure, cells[cell + 1].saturating_add(count));
    }
}

/// Σ figure × weight, and Σ weight.
pub(super) fn weighted(cells: &[i64], cell: usize) -> (i128, i64) {
    (i128::from(cells[cell + 1]) << 64 | i128::from(cells[cell].cast_unsigned()), cells[cell + 2])
}

pub(super) fn add_weighted(cells: &mut [i64], cell: usize, (product, weight): (i128, i64)) {
    let (sum, weights) = weighted(cells, cell);
    let sum = sum.saturating_add(product);
    // Both halves of the sum.
    (cells[cell], cells[cell + 1]) = (sum as i64, (sum >> 64) as i64);
    cells[cell + 2] = weights.saturating_add(weight);
}

/// Adds the cells of other rows.
fn add_cells(steps: &[Step], cells: &mut [i64], more: &[i64]) {
    cells[ROWS] = cells[ROWS].saturating_add(more[ROWS]);
    for Step { how, cell, .. } in steps.iter().copied() {
        match how {
            How::Duration | How::SumKnown | How::SumInside | How::SumsBy(_) => {
                add_known(&mut cells[cell], Some(more[cell]).filter(|sum| *sum != NO_FIGURE))
            }
            How::SumOf => {
                add_known(&mut cells[cell], Some(more[cell]).filter(|sum| *sum != NO_FIGURE));
                cells[cell + 1] = cells[cell + 1].saturating_add(more[cell + 1]);
            }
            How::Shortest | How::First | How::Min => cells[cell] = cells[cell].min(more[cell]),
            How::Longest | How::LongestStart => longest(cells, cell, (more[cell + 1], more[cell])),
            How::Max => cells[cell] = cells[cell].max(more[cell]),
            How::Extent => {
                cells[cell] = cells[cell].min(more[cell]);
                cells[cell + 1] = cells[cell + 1].max(more[cell + 1]);
            }
            How::Only => only(cells, cell, (more[cell], more[cell + 1])),
            How::Weighted => add_weighted(cells, cell, weighted(more, cell)),
            // Numbers of rows, and sums that every row has a part of.
            _ => cells[cell] = cells[cell].saturating_add(more[cell]),
        }
    }
}

/// The sum of the figures of things, each once. `None`: there is none.
pub(super) fn sum_once(things: &mut Vec<(i64, i64)>) -> Option<i64> {
    things.sort_unstable();
    things.dedup_by_key(|(thing, _)| *thing);
    (!things.is_empty()).then(|| things.iter().fold(0_i64, |sum, (_, figure)| sum.saturating_add(*figure)))
}

/// Number of tenths of a range in which the sum of rows that are alive grew. `None`: the range is too short for tenths.
pub(super) fn growing_tenths(lives: &[Alive], range: Span) -> Option<i64> {
    const TENTHS: usize = 10;
    if range.length() < TENTHS as i64 {
        return None;
    }
    let bound = |tenth: usize| {
        let offset = i128::from(range.length()) * tenth as i128 / TENTHS as i128;
        range.start.saturating_add(i64::try_from(offset).unwrap_or(i64::MAX))
    };
    let bounds: [i64; TENTHS + 1] = std::array::from_fn(bound);
    // What comes and goes up to each bound. What ends at a bound is over there.
    let mut changes = [0_i64; TENTHS + 1];
    let mut change = |time: i64, figure: i64| {
        let at = bounds.partition_point(|bound| *bound < time);
        if let Some(change) = changes.get_mut(at) {
            *change = change.saturating_add(figure);
        }
    };
    for (begin, end, figure) in lives {
        change(*begin, *figure);
        end.iter().for_each(|end| change(*end, figure.saturating_neg()));
    }
    i64::try_from(changes[1..].iter().filter(|change| **change > 0).count()).ok()
}

/// The largest sum of rows that are alive at once. A row ends before another one begins in the same nanosecond.
pub(super) fn peak(lives: &[Alive]) -> i64 {
    // A row that takes no time is alive at no time.
    let lasting = lives.iter().filter(|(begin, end, _)| end.is_none_or(|end| end > *begin));
    let changes = lasting
        .flat_map(|(begin, end, figure)| [Some((*begin, *figure)), end.map(|end| (end, figure.saturating_neg()))])
        .flatten();
    let mut changes: Vec<(i64, i64)> = changes.collect();
    changes.sort_unstable();
    let (mut alive, mut most) = (0_i64, 0);
    for (_, change) in changes {
        alive = alive.saturating_add(change);
        most = most.max(alive);
    }
    most
}
