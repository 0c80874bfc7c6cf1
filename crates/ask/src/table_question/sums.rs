//! Sums of the rows of places, in cells next to each other.

use rustc_hash::FxHashMap;
use tracesift_analysis::{IntervalUnion, Span};

use super::plan::{NO_FIGURE, NO_SMALLEST, Plan, ROWS, Step};

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

/// Figures of some rows.
pub(super) struct Sums<'p, R: 'static> {
    plan: &'p Plan<R>,
    /// So many per place.
    cells: Vec<i64>,
    /// One per place, where times are united.
    unions: Vec<IntervalUnion>,
    /// A list per place, where times are kept.
    times: Vec<Vec<i64>>,
    /// A list per place, where begins and ends are kept.
    lives: Vec<Vec<Alive>>,
    /// A list per place, where things that rows are about are kept.
    once: Vec<Vec<(i64, i64)>>,
    /// One per place and list of texts.
    texts: Vec<TextCounts>,
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
    pub(super) fn add<R>(&mut self, plan: &Plan<R>, more: Self) {
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

impl<'p, R> Sums<'p, R> {
    pub(super) fn new(plan: &'p Plan<R>) -> Self {
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

    /// Adds a row.
    #[inline]
    pub(super) fn add(&mut self, place: usize, row: &R, part: Part) {
        let width = self.plan.fresh.len();
        let cells = &mut self.cells[place * width..][..width];
        if let Some(union) = self.unions.get_mut(place) {
            union.add(Span::new(part.start, part.start.saturating_add(part.length)));
        }
        let has_length = self.plan.has_length.is_none_or(|has_length| has_length(row));
        let Some(counted) = part.counted else {
            for step in &self.plan.steps {
                match *step {
                    Step::Duration(cell) if has_length => add_known(&mut cells[cell], Some(part.length)),
                    Step::WithLength(cell, has_length) => cells[cell] += i64::from(has_length(row)),
                    _ => {}
                }
            }
            return;
        };
        cells[ROWS] += 1;
        for step in &self.plan.steps {
            match *step {
                Step::RowsIf(cell, holds) | Step::WithLength(cell, holds) => cells[cell] += i64::from(holds(row)),
                Step::Sum(cell, figure) => cells[cell] = cells[cell].saturating_add(figure(row)),
                Step::SumKnown(cell, figure) => add_known(&mut cells[cell], figure(row)),
                Step::SumOf(cell, is_of_kind, figure) => {
                    if is_of_kind(row) {
                        let figure = figure(row);
                        add_known(&mut cells[cell], figure);
                        cells[cell + 1] += i64::from(figure.is_none());
                    }
                }
                Step::Duration(cell) if has_length => add_known(&mut cells[cell], Some(part.length)),
                Step::Shortest(cell) if has_length => cells[cell] = cells[cell].min(counted.1),
                Step::First(cell) => cells[cell] = cells[cell].min(counted.0),
                Step::Longest(cell) if has_length => longest(cells, cell, counted),
                Step::Max(cell, figure) => cells[cell] = cells[cell].max(figure(row).unwrap_or(NO_FIGURE)),
                Step::Min(cell, figure) => cells[cell] = cells[cell].min(figure(row).unwrap_or(NO_SMALLEST)),
                Step::Only(cell, figure) => figure(row).iter().for_each(|figure| only(cells, cell, (*figure, 1))),
                Step::Weighted(cell, figures) => {
                    if let Some((figure, weight)) = figures(row) {
                        add_weighted(cells, cell, (i128::from(figure) * i128::from(weight), weight));
                    }
                }
                Step::AliveFirst(cell, is_older) => cells[cell] += i64::from(part.is_older || is_older(row)),
                Step::AliveLast(cell, is_open) => cells[cell] += i64::from(!part.ends || is_open(row)),
                Step::Begun(cell, is_older) => cells[cell] += i64::from(!part.is_older && !is_older(row)),
                Step::Over(cell, is_open) => cells[cell] += i64::from(part.ends && !is_open(row)),
                Step::SumBegun(cell, figure) if !part.is_older => cells[cell] = cells[cell].saturating_add(figure(row)),
                Step::SumOver(cell, figure) if part.ends => cells[cell] = cells[cell].saturating_add(figure(row)),
                Step::SumLeft(cell, is_open, figure) if !part.is_older && (!part.ends || is_open(row)) => {
                    cells[cell] = cells[cell].saturating_add(figure(row));
                }
                Step::SumBegun(..) | Step::SumOver(..) | Step::SumLeft(..) => {}
                Step::Duration(_) | Step::Shortest(_) | Step::Longest(_) => {}
            }
        }
        if has_length && let Some(times) = self.times.get_mut(place) {
            times.push(counted.1);
        }
        if let (Some(lives), Some(asked)) = (self.lives.get_mut(place), &self.plan.lives) {
            let ends = part.ends && !(asked.is_open)(row);
            lives.push((part.start, ends.then(|| part.start.saturating_add(part.length)), (asked.figure)(row)));
        }
        if let (Some(things), Some(of)) = (self.once.get_mut(place), self.plan.once)
            && let Some(thing) = of(row)
            && things.last() != Some(&thing)
        {
            things.push(thing);
        }
        for (list, (_, texts)) in self.plan.texts.iter().enumerate() {
            let counts = &mut self.texts[place * self.plan.texts.len() + list];
            texts(row).into_iter().flatten().for_each(|text| count(counts, text, 1));
        }
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

fn count(counts: &mut TextCounts, text: &str, rows: i64) {
    match counts.get_mut(text) {
        Some(count) => *count += rows,
        None => {
            counts.insert(text.into(), rows);
        }
    }
}

/// Adds a figure that may be unknown to a sum that may have none yet.
#[inline]
fn add_known(sum: &mut i64, figure: Option<i64>) {
    if let Some(figure) = figure {
        *sum = if *sum == NO_FIGURE { figure } else { sum.saturating_add(figure) };
    }
}

/// Keeps the longer time; of equal times the earlier one.
#[inline]
fn longest(cells: &mut [i64], cell: usize, (start, length): (i64, i64)) {
    let (longest, since) = (cells[cell], cells[cell + 1]);
    if length > longest || (length == longest && start < since) {
        (cells[cell], cells[cell + 1]) = (length, start);
    }
}

/// Keeps a figure, and counts how many there were.
fn only(cells: &mut [i64], cell: usize, (figure, count): (i64, i64)) {
    if count > 0 {
        (cells[cell], cells[cell + 1]) = (figure, cells[cell + 1].saturating_add(count));
    }
}

/// Σ figure × weight, and Σ weight.
pub(super) fn weighted(cells: &[i64], cell: usize) -> (i128, i64) {
    (i128::from(cells[cell + 1]) << 64 | i128::from(cells[cell].cast_unsigned()), cells[cell + 2])
}

fn add_weighted(cells: &mut [i64], cell: usize, (product, weight): (i128, i64)) {
    let (sum, weights) = weighted(cells, cell);
    let sum = sum.saturating_add(product);
    // Both halves of the sum.
    (cells[cell], cells[cell + 1]) = (sum as i64, (sum >> 64) as i64);
    cells[cell + 2] = weights.saturating_add(weight);
}

fn add_cells<R>(steps: &[Step<R>], cells: &mut [i64], more: &[i64]) {
    cells[ROWS] += more[ROWS];
    for step in steps {
        match *step {
            Step::RowsIf(cell, _)
            | Step::WithLength(cell, _)
            | Step::Sum(cell, _)
            | Step::AliveFirst(cell, _)
            | Step::AliveLast(cell, _)
            | Step::Begun(cell, _)
            | Step::Over(cell, _)
            | Step::SumBegun(cell, _)
            | Step::SumOver(cell, _)
            | Step::SumLeft(cell, ..) => {
                cells[cell] = cells[cell].saturating_add(more[cell]);
            }
            Step::Duration(cell) | Step::SumKnown(cell, _) => {
                add_known(&mut cells[cell], Some(more[cell]).filter(|sum| *sum != NO_FIGURE))
            }
            Step::SumOf(cell, ..) => {
                add_known(&mut cells[cell], Some(more[cell]).filter(|sum| *sum != NO_FIGURE));
                cells[cell + 1] = cells[cell + 1].saturating_add(more[cell + 1]);
            }
            Step::Shortest(cell) | Step::First(cell) => cells[cell] = cells[cell].min(more[cell]),
            Step::Longest(cell) => longest(cells, cell, (more[cell + 1], more[cell])),
            Step::Max(cell, _) => cells[cell] = cells[cell].max(more[cell]),
            Step::Min(cell, _) => cells[cell] = cells[cell].min(more[cell]),
            Step::Only(cell, _) => only(cells, cell, (more[cell], more[cell + 1])),
            Step::Weighted(cell, _) => add_weighted(cells, cell, weighted(more, cell)),
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
