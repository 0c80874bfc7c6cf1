//! The plan of a reading: which numbers of a row are looked at, and what is added up in which cell.

use super::dimension::{Dimension, Of, TextsOf};
use super::measure::{How, ThingOf};
use super::{Listing, Question, TableQuestion, list, stacks_below};

/// What a reading does.
pub(super) struct Plan<R: 'static> {
    /// The dimensions, all of them.
    pub(super) dimensions: &'static [Dimension<R>],
    /// The dimensions whose numbers tell places apart, behind the process, which always does.
    pub(super) keys: Vec<usize>,
    /// The dimensions of a group.
    pub(super) by: Vec<usize>,
    /// The dimensions that measures are about.
    pub(super) about: Vec<usize>,
    /// The steps for each row.
    pub(super) steps: Vec<Step<R>>,
    /// The cells of a place before its first row.
    pub(super) fresh: Vec<i64>,
    /// The first cell of each measure, by its place; `None`: it is not computed, or needs none.
    pub(super) cells: Vec<Option<usize>>,
    /// The lists of texts that are counted, each with the place of its measure.
    pub(super) texts: Vec<(usize, TextsOf<R>)>,
    /// The measures of sums by value of a dimension: place of the measure, place of the dimension in `about`, cell.
    pub(super) sums_by: Vec<(usize, usize, usize)>,
    /// The dimension for whose values the times of rows are united, each value by itself.
    pub(super) united_by: Option<usize>,
    /// Whether the times of rows are united.
    pub(super) has_unions: bool,
    /// Whether the times of rows are kept one by one.
    pub(super) has_times: bool,
    /// Whether a row has a length; one without a length has no part in figures of single lengths. `None`: each has one.
    pub(super) has_length: Option<fn(&R) -> bool>,
    /// How many parts a directory has.
    pub(super) dir_level: Option<usize>,
    /// Whether rows need figures from other tables.
    pub(super) joined: bool,
    /// The things that rows are about, with their figures, where they are kept one by one.
    pub(super) once: Option<ThingOf<R>>,
    /// Whether the parts of paths stand in reverse order.
    pub(super) reverse_paths: bool,
    /// Whether the answer has numbers of stacks.
    pub(super) numbers_stacks: bool,
    /// Of which rows the end is not known, and how much a row counts, where begins and ends of rows are kept one by one.
    pub(super) lives: Option<Lives<R>>,
    /// The keys of the measures whose figures the recording cannot tell.
    pub(super) unknown: &'static [&'static str],
}

/// What a row adds to the cells of its place.
pub(super) enum Step<R> {
    RowsIf(usize, fn(&R) -> bool),
    Sum(usize, fn(&R) -> i64),
    SumKnown(usize, fn(&R) -> Option<i64>),
    /// The sum, and in the next cell the number of rows of the kind without the figure.
    SumOf(usize, fn(&R) -> bool, fn(&R) -> Option<i64>),
    /// The sum of the parts of the rows with a known length.
    Duration(usize),
    Shortest(usize),
    /// The longest time, and in the next cell its begin.
    Longest(usize),
    First(usize),
    Max(usize, fn(&R) -> Option<i64>),
    Min(usize, fn(&R) -> Option<i64>),
    /// The figure of the last row that has one, and in the next cell the number of such rows.
    Only(usize, fn(&R) -> Option<i64>),
    /// Figure × weight in two cells, low and high half, and in the next cell the weight.
    Weighted(usize, fn(&R) -> Option<(i64, i64)>),
    AliveFirst(usize, fn(&R) -> bool),
    AliveLast(usize, fn(&R) -> bool),
    Begun(usize, fn(&R) -> bool),
    Over(usize, fn(&R) -> bool),
    SumBegun(usize, fn(&R) -> i64),
    SumOver(usize, fn(&R) -> i64),
    SumLeft(usize, fn(&R) -> bool, fn(&R) -> i64),
    /// Number of rows with a known length, those included that count in another range.
    WithLength(usize, fn(&R) -> bool),
}

/// What is asked of rows whose begins and ends are kept.
pub(super) struct Lives<R> {
    /// Whether a row outlives the recording.
    pub(super) is_open: fn(&R) -> bool,
    /// How much it counts.
    pub(super) figure: fn(&R) -> i64,
}

/// The cell with the number of rows.
pub(super) const ROWS: usize = 0;

/// A time that every time exceeds.
pub(super) const NO_TIME: i64 = -1;

/// The largest figure of no row.
pub(super) const NO_FIGURE: i64 = i64::MIN;

/// The smallest figure of no row.
pub(super) const NO_SMALLEST: i64 = i64::MAX;

impl<R> Plan<R> {
    pub(super) fn new<Q: TableQuestion<Row = R>>(question: &Question<Q>) -> Self {
        let mut plan = Self {
            dimensions: Q::DIMENSIONS,
            keys: Vec::new(),
            by: question.by.clone(),
            about: Vec::new(),
            steps: Vec::new(),
            fresh: vec![0],
            cells: vec![None; Q::MEASURES.len()],
            texts: Vec::new(),
            sums_by: Vec::new(),
            united_by: None,
            has_unions: false,
            has_times: false,
            has_length: Q::HAS_LENGTH,
            dir_level: question.dir_level,
            joined: false,
            once: None,
            reverse_paths: question.reverse_paths,
            numbers_stacks: false,
            lives: None,
            unknown: &[],
        };
        let is_limited = |place| question.group_limits.iter().any(|(limited, _)| *limited == place);
        let is_sorted = |place| {
            let sorts = [question.sort, question.sort_without_figure(), question.sort_of_equals()];
            sorts.contains(&Some(place))
        };
        let has_stacks = matches!(question.listing, Some(Listing::Stacks(_)));
        let stacks_below = if has_stacks { stacks_below::needed::<Q>() } else { Vec::new() };
        for (place, measure) in Q::MEASURES.iter().enumerate() {
            let says_something = measure.is_of(question.by.iter().map(|by| plan.name(*by)));
            // Of a list of single rows only the totals are shown.
            let is_list = question.listing == Some(Listing::Flat);
            let is_shown = says_something && !is_list && question.shown.has(measure.column.key);
            let has_total = measure.total.is_some() || measure.sum_of_groups.is_some();
            let is_of_stacks = stacks_below.contains(&place);
            if is_shown || has_total || is_sorted(place) || is_limited(place) || is_of_stacks {
                plan.compute::<Q>(place);
            }
        }
        let filtered = question.patterns.iter().map(|(place, _)| *place);
        let listed = match question.listing {
            None => Vec::new(),
            Some(Listing::Stacks(_)) => stacks_below::dimension::<Q>().into_iter().collect(),
            Some(Listing::Flat | Listing::OfGroups(_)) => list::dimensions::<Q>(),
        };
        let is_by_stack = stacks_below::dimension::<Q>().is_some_and(|place| question.by.contains(&place));
        let is_numbered = Q::STACKS_BELOW.is_some() && is_by_stack && question.shown.has(stacks_below::NUMBER.key);
        plan.numbers_stacks = has_stacks || is_numbered;
        let by = question.by.iter().copied();
        let mut keys: Vec<usize> = by.chain(filtered).chain(plan.about.clone()).chain(listed).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.retain(|place| !matches!(plan.dimensions[*place].of, Of::Process));
        plan.keys = keys;
        plan
    }

    fn name(&self, place: usize) -> &'static str {
        self.dimensions[place].name
    }

    /// Sees to it that a measure is computed.
    fn compute<Q: TableQuestion<Row = R>>(&mut self, place: usize) {
        if self.cells[place].is_some() {
            return;
        }
        let cell = self.fresh.len();
        self.joined |= Q::JOINED.contains(&Q::MEASURES[place].column.key);
        match Q::MEASURES[place].how {
            How::Rows => {}
            How::RowsIf(holds) => self.step(place, Step::RowsIf(cell, holds), &[0]),
            How::Sum(figure) => self.step(place, Step::Sum(cell, figure), &[0]),
            How::SumKnown(figure) => self.step(place, Step::SumKnown(cell, figure), &[NO_FIGURE]),
            How::SumOf(is_of_kind, figure) => self.step(place, Step::SumOf(cell, is_of_kind, figure), &[NO_FIGURE, 0]),
            How::Duration => {
                let of_no_row = if Q::HAS_LENGTH.is_some() { NO_FIGURE } else { 0 };
                self.step(place, Step::Duration(cell), &[of_no_row]);
            }
            How::Shortest => self.step(place, Step::Shortest(cell), &[NO_SMALLEST]),
            How::First => self.step(place, Step::First(cell), &[i64::MAX]),
            How::Max(figure) => self.step(place, Step::Max(cell, figure), &[NO_FIGURE]),
            How::Min(figure) => self.step(place, Step::Min(cell, figure), &[NO_SMALLEST]),
            How::Only(figure) => self.step(place, Step::Only(cell, figure), &[0, 0]),
            How::Weighted(figures) => self.step(place, Step::Weighted(cell, figures), &[0, 0, 0]),
            How::Longest | How::LongestStart => {
                let known =
                    self.steps.iter().find_map(|step| if let Step::Longest(cell) = step { Some(*cell) } else { None });
                match known {
                    Some(cell) => self.cells[place] = Some(cell),
                    None => self.step(place, Step::Longest(cell), &[NO_TIME, 0]),
                }
            }
            How::Texts(texts) => {
                if self.texts.iter().all(|(known, _)| *known != place) {
                    self.texts.push((place, texts));
                }
            }
            How::AliveFirst(is_older) => self.step(place, Step::AliveFirst(cell, is_older), &[0]),
            How::AliveLast(is_open) => self.step(place, Step::AliveLast(cell, is_open), &[0]),
            How::Begun(is_older) => self.step(place, Step::Begun(cell, is_older), &[0]),
            How::Over(is_open) => self.step(place, Step::Over(cell, is_open), &[0]),
            How::SumBegun(figure) => self.step(place, Step::SumBegun(cell, figure), &[0]),
            How::SumOver(figure) => self.step(place, Step::SumOver(cell, figure), &[0]),
            How::SumLeft(is_open, figure) => self.step(place, Step::SumLeft(cell, is_open, figure), &[0]),
            How::Peak(is_open) => self.lives = Some(Lives { is_open, figure: |_| 1 }),
            How::SumPeak(is_open, figure) | How::Tenths(is_open, figure) => {
                self.lives = Some(Lives { is_open, figure })
            }
            How::SumOnce(figure) => self.once = Some(figure),
            How::Union => {
                self.has_unions = true;
                if let Some(has_length) = Q::HAS_LENGTH {
                    self.step(place, Step::WithLength(cell, has_length), &[0]);
                }
            }
            How::Percentile(_) => self.has_times = true,
            How::PerTime(of, _) => self.compute::<Q>(measure_of::<Q>(of)),
            How::Covers(dimension) => {
                self.is_about(dimension);
                (self.has_unions, self.united_by) = (true, Some(dimension_of(self.dimensions, dimension)));
            }
            How::Mean(of) | How::Difference(of) | How::Ratio(of, _) => {
                let places = of.map(|key| measure_of::<Q>(key));
                places.into_iter().for_each(|place| self.compute::<Q>(place));
            }
            How::RowsWith(dimension) | How::Distinct(dimension) | How::Counts(dimension) => {
                self.is_about(dimension);
            }
            How::SumsBy(dimension, figure) => {
                self.step(place, Step::SumKnown(cell, figure), &[NO_FIGURE]);
                let about = self.is_about(dimension);
                self.sums_by.push((place, about, cell));
            }
        }
    }

    /// Sees to it that values of a dimension stay apart, for measures about them. Gives its place among these dimensions.
    fn is_about(&mut self, dimension: &str) -> usize {
        let dimension = dimension_of(self.dimensions, dimension);
        self.about.iter().position(|about| *about == dimension).unwrap_or_else(|| {
            self.about.push(dimension);
            self.about.len() - 1
        })
    }

    fn step(&mut self, place: usize, step: Step<R>, fresh: &[i64]) {
        self.cells[place] = Some(self.fresh.len());
        self.fresh.extend_from_slice(fresh);
        self.steps.push(step);
    }

    /// The place of a dimension among the numbers of a place.
    pub(super) fn key_of(&self, dimension: usize) -> usize {
        self.keys.iter().position(|key| *key == dimension).map_or(0, |place| place + 1)
    }
}

/// The place of the measure with a key.
pub(super) fn measure_of<Q: TableQuestion>(key: &str) -> usize {
    let place = Q::MEASURES.iter().position(|measure| measure.column.key == key);
    place.expect("a measure is made of measures of its question")
}

/// The place of the dimension with a name.
pub(super) fn dimension_of<R>(dimensions: &[Dimension<R>], name: &str) -> usize {
    let place = dimensions.iter().position(|dimension| dimension.name == name);
    place.expect("a measure is about a dimension of its question")
}
