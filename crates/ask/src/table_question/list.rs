//! Single rows in place of groups: `--list` and `--top-details`.

use tracesift_trace::schema::Timing;

use super::dimension::Of;
use super::layout::Cell as GroupCell;
use super::measure::How;
use super::names::Names;
use super::plan::{NO_FIGURE, Plan, measure_of};
use super::rows::{Values, name};
use super::sums::Part;
use super::{Question, TableQuestion, layout, table};
use crate::answer::{Column, ColumnOf, Kind, Value, View};
use crate::columns;
use crate::order::Top;

/// Which single rows an answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// All rows in the order of `--sort`. `--top` says how many.
    Flat,
    /// The rows of the groups below these groups: of each so many of the largest.
    OfGroups(usize),
    /// No single rows: the stacks with most in each group below it.
    Stacks(Top),
}

/// Where a value of a single row comes from.
#[derive(Clone, Copy)]
enum Cell {
    Start,
    Duration,
    Name(GroupCell),
    Own(usize),
}

const START: Column = ColumnOf::<()>::always("start", "Start", Kind::Time, |()| Value::None, "When it began.").column;
const TIME: Column = ColumnOf::<()>::always("time", "Time", Kind::Time, |()| Value::None, "When it happened.").column;
const DURATION: Column =
    ColumnOf::<()>::always("duration_ns", "Duration", Kind::Milliseconds, |()| Value::None, "How long it took.").column;

/// The columns of single rows, with the way to their values: who, when, which, and what the question adds.
fn cells<Q: TableQuestion>() -> Vec<(Column, Cell)> {
    let times = match table::<Q>().timing {
        Timing::Span { .. } => vec![(START, Cell::Start), (DURATION, Cell::Duration)],
        _ => vec![(TIME, Cell::Start)],
    };
    let of_groups = |is_wanted: fn(GroupCell) -> bool| {
        let cells = layout::cells::<Q>().into_iter().filter(move |(_, cell)| is_wanted(*cell));
        cells.map(|(column, cell)| (in_list::<Q>(column, cell), Cell::Name(cell)))
    };
    let is_id = |cell: GroupCell| {
        let of_process = matches!(cell, GroupCell::Process(_) | GroupCell::Pid(_));
        of_process || matches!(cell, GroupCell::Tid(_) | GroupCell::ThreadName(_) | GroupCell::Number(_))
    };
    let is_text = |cell: GroupCell| match cell {
        GroupCell::Who { .. } | GroupCell::Stack(_) => true,
        GroupCell::Text(place) => !matches!(Q::DIMENSIONS[place].of, Of::Texts { .. }),
        _ => false,
    };
    let own = Q::LIST.iter().enumerate().map(|(place, column)| (column.column, Cell::Own(place)));
    let command_line = of_groups(|cell| matches!(cell, GroupCell::CommandLine(_)));
    of_groups(is_id).chain(times).chain(of_groups(is_text)).chain(own).chain(command_line).collect()
}

/// The column of a dimension in lists.
fn in_list<Q: TableQuestion>(column: Column, cell: GroupCell) -> Column {
    match cell {
        GroupCell::Text(place) | GroupCell::Stack(place) if Q::DIMENSIONS[place].is_coarse => {
            Column { view: View::Details, ..column }
        }
        _ => column,
    }
}

/// The descriptions of the columns of single rows.
pub(super) fn descriptions<Q: TableQuestion>() -> Vec<Column> {
    columns::of_file_and(cells::<Q>().into_iter().map(|(column, _)| column))
}

/// The descriptions of the columns of single rows below a row: without those of the file.
pub(super) fn nested<Q: TableQuestion>() -> Vec<Column> {
    cells::<Q>().into_iter().map(|(column, _)| column).collect()
}

/// The dimensions that single rows show.
pub(super) fn dimensions<Q: TableQuestion>() -> Vec<usize> {
    let shown = Q::DIMENSIONS.iter().enumerate();
    shown.filter(|(_, dimension)| !matches!(dimension.of, Of::Texts { .. })).map(|(place, _)| place).collect()
}

/// A single row on its way to the answer.
#[derive(Debug)]
pub(super) struct Single {
    /// The figure by which rows are sorted.
    figure: i64,
    part: Part,
    /// Whether its length is known.
    has_length: bool,
    /// The place with the numbers of its dimensions.
    pub(super) place: u32,
    /// The values of the columns that the question adds.
    own: Vec<Value>,
}

impl Single {
    fn rank(&self) -> Rank {
        (self.figure, self.part.start)
    }
}

/// Figure and start of a row.
type Rank = (i64, i64);

/// Rows of which the largest stay.
#[derive(Debug, Default)]
struct Largest {
    rows: Vec<Single>,
    /// Rows below it are smaller than all that stay.
    floor: Option<Rank>,
}

/// The single rows of an answer while the table is read: as many in memory as the answer shows, and as many again.
pub(super) struct Keeper {
    listing: Listing,
    sort: Option<usize>,
    most: usize,
    /// One list, or one for each place.
    lists: Vec<Largest>,
}

impl Keeper {
    pub(super) fn new<Q: TableQuestion>(question: &Question<Q>, listing: Listing) -> Self {
        let most = match listing {
            Listing::Flat => question.top.take.map_or(usize::MAX, |take| take.saturating_add(question.top.skip)),
            Listing::OfGroups(most) => most,
            Listing::Stacks(_) => 0,
        };
        Self { listing, sort: question.sort, most, lists: Vec::new() }
    }

    /// Sees a row of a place.
    pub(super) fn add<Q: TableQuestion>(&mut self, place: u32, row: &Q::Row, part: Part) {
        let list = if self.listing == Listing::Flat { 0 } else { place as usize };
        if self.lists.len() <= list {
            self.lists.resize_with(list + 1, Largest::default);
        }
        let figure = self.sort.map_or(0, |place| figure::<Q>(place, row, part));
        let Largest { rows, floor } = &mut self.lists[list];
        if floor.is_some_and(|floor| (figure, part.start) < floor) {
            return;
        }
        let has_length = Q::HAS_LENGTH.is_none_or(|has_length| has_length(row));
        rows.push(Single {
            figure,
            part,
            has_length,
            place,
            own: Q::LIST.iter().map(|column| (column.value)(row)).collect(),
        });
        if rows.len() / 2 > self.most {
            keep_largest(rows, self.most);
            *floor = rows.first().map(Single::rank);
        }
    }

    /// All rows of a flat list, ascending.
    pub(super) fn flat(mut self) -> Vec<Single> {
        let mut rows = self.lists.pop().unwrap_or_default().rows;
        rows.sort_by_key(Single::rank);
        rows
    }

    /// The largest rows of these places together, ascending.
    pub(super) fn of_places(&self, places: &[u32]) -> Vec<&Single> {
        let lists = places.iter().filter_map(|place| self.lists.get(*place as usize));
        let mut rows: Vec<&Single> = lists.flat_map(|list| &list.rows).collect();
        rows.sort_by_key(|row| row.rank());
        let before = rows.len().saturating_sub(self.most);
        rows.split_off(before)
    }
}

fn keep_largest(rows: &mut Vec<Single>, most: usize) {
    rows.sort_by_key(Single::rank);
    rows.drain(..rows.len().saturating_sub(most));
}

/// What a measure is of a row alone.
fn figure<Q: TableQuestion>(measure: usize, row: &Q::Row, part: Part) -> i64 {
    match Q::MEASURES[measure].how {
        How::Rows | How::RowsWith(_) | How::Distinct(_) | How::Counts(_) | How::Texts(_) => 1,
        How::SumsBy(_, figure) => figure(row).unwrap_or(0),
        How::RowsIf(holds) => holds(row).into(),
        How::AliveFirst(is_older) => (part.is_older || is_older(row)).into(),
        How::AliveLast(is_open) => (!part.ends || is_open(row)).into(),
        How::Begun(is_older) => (!part.is_older && !is_older(row)).into(),
        How::Over(is_open) => (part.ends && !is_open(row)).into(),
        How::Peak(is_open) => (part.length > 0 || !part.ends || is_open(row)).into(),
        How::Sum(figure) => figure(row),
        How::SumBegun(figure) => {
            if part.is_older {
                0
            } else {
                figure(row)
            }
        }
        How::SumLeft(is_open, figure) => {
            if !part.is_older && (!part.ends || is_open(row)) {
                figure(row)
            } else {
                0
            }
        }
        How::SumOver(figure) => {
            if part.ends {
                figure(row)
            } else {
                0
            }
        }
        How::SumPeak(is_open, figure) | How::Tenths(is_open, figure) => {
            if part.length > 0 || !part.ends || is_open(row) { figure(row) } else { 0 }
        }
        How::SumKnown(figure) => figure(row).unwrap_or(NO_FIGURE),
        How::SumOnce(figure) => figure(row).map_or(NO_FIGURE, |(_, figure)| figure),
        How::SumOf(is_of_kind, figure) if is_of_kind(row) => figure(row).unwrap_or(NO_FIGURE),
        How::SumOf(..) => 0,
        How::Duration
        | How::PerTime(..)
        | How::Covers(_)
        | How::Union
        | How::Shortest
        | How::Longest
        | How::Percentile(_) => part.length,
        How::LongestStart | How::First => part.start,
        How::Max(figure) | How::Min(figure) | How::Only(figure) => figure(row).unwrap_or(NO_FIGURE),
        How::Weighted(figures) => figures(row).map_or(NO_FIGURE, |(figure, _)| figure),
        How::Mean(of) | How::Ratio(of, _) => {
            let [of, by] = of.map(|key| figure::<Q>(measure_of::<Q>(key), row, part));
            of.checked_div(by).unwrap_or(NO_FIGURE)
        }
        How::Difference(of) => {
            let [of, less] = of.map(|key| figure::<Q>(measure_of::<Q>(key), row, part));
            of.saturating_sub(less)
        }
    }
}

/// What single rows of an answer show: the same for all of them.
pub(super) struct Layout {
    cells: Vec<Cell>,
    dimensions: Vec<usize>,
}

impl Layout {
    pub(super) fn of<Q: TableQuestion>() -> Self {
        Self { cells: cells::<Q>().into_iter().map(|(_, cell)| cell).collect(), dimensions: dimensions::<Q>() }
    }

    /// A single row of the answer. `numbers` are those of its place.
    pub(super) fn values<R>(
        &self,
        plan: &Plan<R>,
        names: &mut Names<'_, R>,
        row: &Single,
        numbers: &[i64],
    ) -> Vec<Value> {
        let of_dimensions: Vec<i64> =
            self.dimensions.iter().map(|dimension| names.value(*dimension, numbers[plan.key_of(*dimension)])).collect();
        let known = Values { by: &self.dimensions, values: &of_dimensions };
        let value = |cell: &Cell| match *cell {
            Cell::Start => row.part.start.into(),
            Cell::Duration => Some(row.part.length).filter(|_| row.has_length).into(),
            Cell::Name(cell) => name(names, known, cell),
            Cell::Own(place) => row.own[place].clone(),
        };
        self.cells.iter().map(value).collect()
    }
}
