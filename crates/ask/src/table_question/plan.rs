//! The plan of a reading: which numbers of a row are looked at, and what is added up in which cell.

use std::sync::Arc;

use tracesift_analysis::Times;

use super::arithmetic::How;
use super::asked::Asked;
use super::dimension::Of;
use super::list::{self, Listing};
use super::stacks_below;
use super::stated::Stated;
use crate::answer::Column;

/// What a reading does.
pub(super) struct Plan {
    /// What the question states.
    pub(super) stated: Arc<Stated>,
    /// The dimensions whose numbers tell places apart, behind the process.
    pub(super) keys: Vec<usize>,
    /// Whether the processes of rows tell places apart, too. Where nothing is asked of them rows of all processes share places.
    pub(super) by_process: bool,
    /// The dimensions of a group.
    pub(super) by: Vec<usize>,
    /// The dimensions that measures are about.
    pub(super) about: Vec<usize>,
    /// The steps for each row.
    pub(super) steps: Vec<Step>,
    /// The cells of a place before its first row.
    pub(super) fresh: Vec<i64>,
    /// The first cell of each measure, by its place; `None`: it is not computed, or needs none.
    pub(super) cells: Vec<Option<usize>>,
    /// The keys of the measures that are computed.
    pub(super) computed: Vec<&'static str>,
    /// The measures that count the texts of lists.
    pub(super) texts: Vec<usize>,
    /// The measures of sums by value of a dimension: place of the measure, place of the dimension in `about`, cell.
    pub(super) sums_by: Vec<(usize, usize, usize)>,
    /// The dimension for whose values the times of rows are united, each value by itself.
    pub(super) united_by: Option<usize>,
    /// Whether the times of rows are united.
    pub(super) has_unions: bool,
    /// Whether the times of rows are kept one by one.
    pub(super) has_times: bool,
    /// How many parts a directory has.
    pub(super) dir_level: Option<usize>,
    /// Whether rows need figures from other tables.
    pub(super) joined: bool,
    /// The measure of things that rows are about, where these are kept one by one.
    pub(super) once: Option<usize>,
    /// Whether the lives of the processes of groups are added up.
    pub(super) adds_lives: bool,
    /// Whether the parts of paths stand in reverse order.
    pub(super) reverse_paths: bool,
    /// Whether the answer has numbers of stacks.
    pub(super) numbers_stacks: bool,
    /// The measure of rows that are alive, where begins and ends of rows are kept one by one.
    pub(super) lives: Option<usize>,
    /// The keys of the measures whose figures the recording cannot tell.
    pub(super) unknown: &'static [&'static str],
    /// The times in which rows count; `None`: in all.
    pub(super) inside: Option<Times>,
}

/// A measure to whose cells each row adds something.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// The place of the measure.
    pub(super) measure: usize,
    /// Its arithmetic, which says what its cells are:
    ///
    /// * `SumOf`: the sum, and the number of rows of the kind without the figure.
    /// * `Longest`: the longest time, and its begin.
    /// * `Only`: the figure of the last row that has one, and the number of such rows.
    /// * `Weighted`: Σ figure × weight in two cells, low and high half, and Σ weight.
    /// * `Extent`: the first begin, and the last end.
    /// * `Union`: number of rows with a known length, those included that count in another range.
    /// * All others have one cell with the figure.
    pub(super) how: How,
    /// Its first cell.
    pub(super) cell: usize,
}

/// The cell with the number of rows.
pub(super) const ROWS: usize = 0;

/// A time that every time exceeds.
pub(super) const NO_TIME: i64 = -1;

/// The largest figure of no row.
pub(super) const NO_FIGURE: i64 = i64::MIN;

/// The smallest figure of no row.
pub(super) const NO_SMALLEST: i64 = i64::MAX;

impl Plan {
    pub(super) fn new(asked: &Asked) -> Self {
        let stated = &*asked.stated;
        let mut plan = Self {
            stated: Arc::clone(&asked.stated),
            keys: Vec::new(),
            by_process: false,
            by: asked.by.clone(),
            about: Vec::new(),
            steps: Vec::new(),
            fresh: vec![0],
            cells: vec![None; stated.measures.len()],
            computed: Vec::new(),
            texts: Vec::new(),
            sums_by: Vec::new(),
            united_by: None,
            has_unions: false,
            has_times: false,
            dir_level: asked.dir_level,
            joined: false,
            once: None,
            adds_lives: false,
            reverse_paths: asked.reverse_paths,
            numbers_stacks: false,
            lives: None,
            unknown: &[],
            inside: None,
        };
        let is_limited = |place| asked.group_limits.iter().any(|(limited, _)| *limited == place);
        let is_sorted = |place| {
            let sorts = [asked.sort, asked.sort_without_figure(), asked.sort_of_equals()];
            sorts.contains(&Some(place))
        };
        let has_stacks = matches!(asked.listing, Some(Listing::Stacks(_)));
        let stacks_below = if has_stacks { stacks_below::needed(stated) } else { Vec::new() };
        for (place, measure) in stated.measures.iter().enumerate() {
            let says_something = measure.is_of(asked.by.iter().map(|by| stated.dimensions[*by].name));
            // Of a list of single rows only the totals are shown.
            let is_list = asked.listing == Some(Listing::Flat);
            let is_shown = says_something && !is_list && asked.shown.has(measure.column.key);
            let has_total = measure.total.is_some() || measure.sum_of_groups.is_some();
            let is_of_stacks = stacks_below.contains(&place);
            if is_shown || has_total || is_sorted(place) || is_limited(place) || is_of_stacks {
                plan.compute(place);
            }
        }
        let has_joined = |column: &&Column| stated.joined.contains(&column.key);
        let is_listed = matches!(asked.listing, Some(Listing::Flat | Listing::OfGroups(_)));
        plan.joined |= is_listed && asked.joins && stated.list.iter().any(|column| has_joined(&column));
        let filtered = asked.patterns.iter().map(|(place, _)| *place);
        let listed = match asked.listing {
            None => Vec::new(),
            Some(Listing::Stacks(_)) => stated.stacks().into_iter().collect(),
            Some(Listing::Flat | Listing::OfGroups(_)) => list::dimensions(stated),
        };
        let is_by_stack = stated.stacks().is_some_and(|place| asked.by.contains(&place));
        let is_numbered = stated.stacks_below.is_some() && is_by_stack && asked.shown.has(stacks_below::NUMBER.key);
        plan.numbers_stacks = has_stacks || is_numbered;
        let by = asked.by.iter().copied();
        let mut keys: Vec<usize> = by.chain(filtered).chain(plan.about.clone()).chain(listed).collect();
        keys.sort_unstable();
        keys.dedup();
        let named = keys.len();
        keys.retain(|place| !matches!(stated.dimensions[*place].of, Of::Process));
        plan.by_process = keys.len() < named || plan.adds_lives;
        plan.keys = keys;
        plan
    }

    /// Sees to it that a measure is computed.
    fn compute(&mut self, place: usize) {
        if self.cells[place].is_some() {
            return;
        }
        let figure = self.stated.measures[place];
        self.computed.push(figure.column.key);
        self.joined |= self.stated.joined.contains(&figure.column.key);
        match figure.how {
            How::Rows => {}
            How::RowsIf | How::AliveFirst | How::AliveLast | How::Begun | How::Over => self.step(place, &[0]),
            How::Sum | How::SumBegun | How::SumOver | How::SumLeft => self.step(place, &[0]),
            How::SumKnown | How::SumInside | How::Max => self.step(place, &[NO_FIGURE]),
            How::SumOf => self.step(place, &[NO_FIGURE, 0]),
            How::Duration => self.step(place, &[if self.stated.has_unknown_lengths { NO_FIGURE } else { 0 }]),
            How::Shortest | How::Min => self.step(place, &[NO_SMALLEST]),
            How::First => self.step(place, &[i64::MAX]),
            How::Extent => self.step(place, &[NO_SMALLEST, NO_FIGURE]),
            How::Lives => self.adds_lives = true,
            How::Only => self.step(place, &[0, 0]),
            How::Weighted => self.step(place, &[0, 0, 0]),
            How::Longest | How::LongestStart => {
                match self.steps.iter().find(|step| matches!(step.how, How::Longest | How::LongestStart)) {
                    Some(step) => self.cells[place] = Some(step.cell),
                    None => self.step(place, &[NO_TIME, 0]),
                }
            }
            How::Texts => {
                if !self.texts.contains(&place) {
                    self.texts.push(place);
                }
            }
            How::Peak | How::SumPeak | How::Tenths => self.lives = Some(place),
            How::SumOnce => self.once = Some(place),
            How::Union => {
                self.has_unions = true;
                if self.stated.has_unknown_lengths {
                    self.step(place, &[0]);
                }
            }
            How::Percentile(_) => self.has_times = true,
            How::PerTime(of, _) => self.compute(self.stated.measure_of(of)),
            How::Covers(dimension) => {
                self.is_about(dimension);
                (self.has_unions, self.united_by) = (true, Some(self.stated.dimension_of(dimension)));
            }
            How::Mean(of) | How::Difference(of) | How::Ratio(of, _) => {
                let places = of.map(|key| self.stated.measure_of(key));
                places.into_iter().for_each(|place| self.compute(place));
            }
            How::RowsWith(dimension) | How::Distinct(dimension) | How::Counts(dimension) => {
                self.is_about(dimension);
            }
            How::SumsBy(dimension) => {
                let cell = self.fresh.len();
                self.step(place, &[NO_FIGURE]);
                let about = self.is_about(dimension);
                self.sums_by.push((place, about, cell));
            }
        }
    }

    /// Sees to it that values of a dimension stay apart, for measures about them. Gives its place among these dimensions.
    fn is_about(&mut self, dimension: &str) -> usize {
        let dimension = self.stated.dimension_of(dimension);
        self.about.iter().position(|about| *about == dimension).unwrap_or_else(|| {
            self.about.push(dimension);
            self.about.len() - 1
        })
    }

    fn step(&mut self, place: usize, fresh: &[i64]) {
        let cell = self.fresh.len();
        self.cells[place] = Some(cell);
        self.fresh.extend_from_slice(fresh);
        self.steps.push(Step { measure: place, how: self.stated.measures[place].how, cell });
    }

    /// Whether something is kept of each row, which sums do not have.
    pub(super) fn needs_single_rows(&self) -> bool {
        let keeps_times = self.has_unions || self.has_times || self.lives.is_some() || self.once.is_some();
        keeps_times || !self.texts.is_empty() || !self.sums_by.is_empty()
    }

    /// The place of a dimension among the numbers of a place.
    pub(super) fn key_of(&self, dimension: usize) -> usize {
        self.keys.iter().position(|key| *key == dimension).map_or(0, |place| place + 1)
    }
}
