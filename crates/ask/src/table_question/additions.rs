//! What rows add to the sums of their places.
//!
//! A closure in code over rows is compiled once per question. What needs no row stands in functions of its own.

use super::arithmetic::{Adds, How, ThingOf};
use super::dimension::TextsOf;
use super::measure::Measure;
use super::plan::{NO_FIGURE, NO_SMALLEST, Plan, ROWS};
use super::sums::{Alive, Part, Sums, TextCounts, add_known, add_weighted, count, extent, longest, only};

/// What each row adds to the sums of its place, as a plan says.
pub(super) struct Additions<R: 'static> {
    /// What it adds to cells: the first cell, and the way.
    steps: Vec<(usize, Adds<R>)>,
    /// Whether a row has a length; one without a length has no part in figures of single lengths. `None`: each has one.
    has_length: Option<fn(&R) -> bool>,
    /// Begins and ends of rows.
    lives: Option<Lives<R>>,
    /// The thing that a row is about.
    once: Option<ThingOf<R>>,
    /// Lists of texts that are counted.
    texts: Vec<TextsOf<R>>,
}

/// What is asked of rows whose begins and ends are kept.
struct Lives<R> {
    /// Whether a row outlives the recording.
    is_open: fn(&R) -> bool,
    /// How much it counts while it is alive.
    figure: fn(&R) -> i64,
}

impl<R> Additions<R> {
    pub(super) fn new(plan: &Plan, measures: &[Measure<R>], has_length: Option<fn(&R) -> bool>) -> Self {
        let mut additions = Self { steps: Vec::new(), has_length, lives: None, once: None, texts: Vec::new() };
        for step in &plan.steps {
            let adds = match (step.how, has_length) {
                (How::Union, Some(has_length)) => Adds::WithLength(has_length),
                _ => measures[step.measure].adds,
            };
            additions.steps.push((step.cell, adds));
        }
        for place in plan.lives.iter().chain(&plan.once).chain(&plan.texts) {
            match measures[*place].adds {
                Adds::Alive(is_open, figure) => additions.lives = Some(Lives { is_open, figure }),
                Adds::Once(thing) => additions.once = Some(thing),
                Adds::Texts(texts) => additions.texts.push(texts),
                _ => {}
            }
        }
        additions
    }

    /// Adds a row to the sums of a place.
    #[inline]
    pub(super) fn add(&self, sums: &mut Sums<'_>, place: usize, row: &R, part: Part) {
        let width = sums.width();
        let cells = &mut sums.cells[place * width..][..width];
        if let Some(union) = sums.unions.get_mut(place) {
            union.add(part.span());
        }
        let has_length = match self.has_length {
            Some(has_length) => has_length(row),
            None => true,
        };
        let Some(counted) = part.counted else {
            return self.add_under_way(cells, row, part, has_length);
        };
        cells[ROWS] += 1;
        for (cell, adds) in &self.steps {
            let cell = *cell;
            match *adds {
                Adds::If(holds) | Adds::WithLength(holds) => cells[cell] += i64::from(holds(row)),
                Adds::Sum(figure) => cells[cell] = cells[cell].saturating_add(figure(row)),
                Adds::Known(figure) => add_known(&mut cells[cell], figure(row)),
                Adds::Inside(figure) => add_known(&mut cells[cell], figure(row, part.span())),
                Adds::OfKind(is_of_kind, figure) => {
                    if is_of_kind(row) {
                        let figure = figure(row);
                        add_known(&mut cells[cell], figure);
                        cells[cell + 1] += i64::from(figure.is_none());
                    }
                }
                Adds::Duration if has_length => add_known(&mut cells[cell], Some(part.length)),
                Adds::Shortest if has_length => cells[cell] = cells[cell].min(counted.1),
                Adds::First => cells[cell] = cells[cell].min(counted.0),
                Adds::Longest if has_length => longest(cells, cell, counted),
                Adds::Extent if has_length => extent(cells, cell, part),
                Adds::Max(figure) => cells[cell] = cells[cell].max(figure(row).unwrap_or(NO_FIGURE)),
                Adds::Min(figure) => cells[cell] = cells[cell].min(figure(row).unwrap_or(NO_SMALLEST)),
                Adds::Only(figure) => {
                    if let Some(figure) = figure(row) {
                        only(cells, cell, (figure, 1));
                    }
                }
                Adds::Weighted(figures) => {
                    if let Some((figure, weight)) = figures(row) {
                        add_weighted(cells, cell, (i128::from(figure) * i128::from(weight), weight));
                    }
                }
                Adds::AliveFirst(is_older) => cells[cell] += i64::from(part.is_older || is_older(row)),
                Adds::AliveLast(is_open) => cells[cell] += i64::from(!part.ends || is_open(row)),
                Adds::Begun(is_older) => cells[cell] += i64::from(!part.is_older && !is_older(row)),
                Adds::Over(is_open) => cells[cell] += i64::from(part.ends && !is_open(row)),
                Adds::SumBegun(figure) if !part.is_older => cells[cell] = cells[cell].saturating_add(figure(row)),
                Adds::SumOver(figure) if part.ends => cells[cell] = cells[cell].saturating_add(figure(row)),
                Adds::SumLeft(is_open, figure) if !part.is_older && (!part.ends || is_open(row)) => {
                    cells[cell] = cells[cell].saturating_add(figure(row));
                }
                Adds::SumBegun(_) | Adds::SumOver(_) | Adds::SumLeft(..) => {}
                Adds::Duration | Adds::Shortest | Adds::Longest | Adds::Extent => {}
                // They have no cells.
                Adds::Nothing | Adds::Row | Adds::Time | Adds::Once(_) | Adds::Texts(_) | Adds::Alive(..) => {}
            }
        }
        if has_length && let Some(times) = sums.times.get_mut(place) {
            times.push(counted.1);
        }
        if let (Some(lives), Some(asked)) = (sums.lives.get_mut(place), &self.lives) {
            lives.push(alive(part, (asked.is_open)(row), (asked.figure)(row)));
        }
        if let (Some(things), Some(of)) = (sums.once.get_mut(place), self.once)
            && let Some(thing) = of(row)
            && things.last() != Some(&thing)
        {
            things.push(thing);
        }
        for (list, texts) in self.texts.iter().enumerate() {
            count_all(&mut sums.texts[place * self.texts.len() + list], texts(row));
        }
    }

    /// Adds a row that counts in another range.
    fn add_under_way(&self, cells: &mut [i64], row: &R, part: Part, has_length: bool) {
        for (cell, adds) in &self.steps {
            match *adds {
                Adds::Duration if has_length => add_known(&mut cells[*cell], Some(part.length)),
                Adds::Extent if has_length => extent(cells, *cell, part),
                Adds::Inside(figure) => add_known(&mut cells[*cell], figure(row, part.span())),
                Adds::WithLength(has_length) => cells[*cell] += i64::from(has_length(row)),
                _ => {}
            }
        }
    }
}

/// Begin and end of a row that may outlive the recording, and how much it counts.
#[inline]
fn alive(part: Part, is_open: bool, figure: i64) -> Alive {
    let ends = part.ends && !is_open;
    (part.start, ends.then(|| part.start.saturating_add(part.length)), figure)
}

/// Counts the texts of a list.
fn count_all(counts: &mut TextCounts, texts: Option<&Vec<String>>) {
    texts.into_iter().flatten().for_each(|text| count(counts, text, 1));
}
