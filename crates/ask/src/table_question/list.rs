//! Single rows in place of groups: `--list` and `--top-details`.

use tracesift_trace::schema::Timing;

use super::asked::Asked;
use super::dimension::Of;
use super::layout::{self, Cell as GroupCell};
use super::names::Names;
use super::plan::Plan;
use super::rows::{Values, name};
use super::stated::Stated;
use super::sums::Part;
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
fn cells(stated: &Stated) -> Vec<(Column, Cell)> {
    let times = match stated.table.timing {
        Timing::Span { .. } => vec![(START, Cell::Start), (DURATION, Cell::Duration)],
        _ => vec![(TIME, Cell::Start)],
    };
    let all = layout::cells(stated);
    let of_groups = |is_wanted: &dyn Fn(GroupCell) -> bool| -> Vec<(Column, Cell)> {
        let cells = all.iter().filter(|(_, cell)| is_wanted(*cell));
        cells.map(|(column, cell)| (in_list(stated, *column, *cell), Cell::Name(*cell))).collect()
    };
    let is_id = |cell: GroupCell| {
        let of_process = matches!(cell, GroupCell::Process(_) | GroupCell::Pid(_));
        of_process || matches!(cell, GroupCell::Tid(_) | GroupCell::ThreadName(_) | GroupCell::Number(_))
    };
    let is_text = |cell: GroupCell| match cell {
        GroupCell::Who { .. } | GroupCell::Stack(_) => true,
        GroupCell::Text(place) => !matches!(stated.dimensions[place].of, Of::Texts),
        _ => false,
    };
    let own = stated.list.iter().enumerate().map(|(place, column)| (*column, Cell::Own(place))).collect();
    let command_line = of_groups(&|cell| matches!(cell, GroupCell::CommandLine(_)));
    [of_groups(&is_id), times, of_groups(&is_text), own, command_line].concat()
}

/// The column of a dimension in lists.
fn in_list(stated: &Stated, column: Column, cell: GroupCell) -> Column {
    match cell {
        GroupCell::Text(place) | GroupCell::Stack(place) if stated.dimensions[place].is_coarse => {
            Column { view: View::Details, ..column }
        }
        _ => column,
    }
}

/// The descriptions of the columns of single rows.
pub(super) fn descriptions(stated: &Stated) -> Vec<Column> {
    columns::of_file_and(cells(stated).into_iter().map(|(column, _)| column))
}

/// The descriptions of the columns of single rows below a row: without those of the file.
pub(super) fn nested(stated: &Stated) -> Vec<Column> {
    cells(stated).into_iter().map(|(column, _)| column).collect()
}

/// The dimensions that single rows show.
pub(super) fn dimensions(stated: &Stated) -> Vec<usize> {
    let shown = stated.dimensions.iter().enumerate();
    shown.filter(|(_, dimension)| !matches!(dimension.of, Of::Texts)).map(|(place, _)| place).collect()
}

/// A single row on its way to the answer.
#[derive(Debug)]
pub(super) struct Single {
    /// The figure by which rows are sorted.
    pub(super) figure: i64,
    pub(super) part: Part,
    /// Whether its length is known.
    pub(super) has_length: bool,
    /// The place with the numbers of its dimensions.
    pub(super) place: u32,
    /// The values of the columns that the question adds.
    pub(super) own: Vec<Value>,
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
    /// The measure by which rows are sorted.
    pub(super) sort: Option<usize>,
    most: usize,
    /// One list, or one for each place.
    lists: Vec<Largest>,
}

impl Keeper {
    pub(super) fn new(asked: &Asked, listing: Listing) -> Self {
        let most = match listing {
            Listing::Flat => asked.top.take.map_or(usize::MAX, |take| take.saturating_add(asked.top.skip)),
            Listing::OfGroups(most) => most,
            Listing::Stacks(_) => 0,
        };
        Self { listing, sort: asked.sort, most, lists: Vec::new() }
    }

    /// Whether a row of a place is large enough to stay.
    pub(super) fn takes(&self, place: u32, figure: i64, part: Part) -> bool {
        let floor = self.lists.get(self.list(place)).and_then(|list| list.floor);
        floor.is_none_or(|floor| (figure, part.start) >= floor)
    }

    /// Adds a row that is large enough.
    pub(super) fn add(&mut self, row: Single) {
        let list = self.list(row.place);
        if self.lists.len() <= list {
            self.lists.resize_with(list + 1, Largest::default);
        }
        let Largest { rows, floor } = &mut self.lists[list];
        rows.push(row);
        if rows.len() / 2 > self.most {
            keep_largest(rows, self.most);
            *floor = rows.first().map(Single::rank);
        }
    }

    /// The list that has the rows of a place.
    fn list(&self, place: u32) -> usize {
        if self.listing == Listing::Flat { 0 } else { place as usize }
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

/// What single rows of an answer show: the same for all of them.
pub(super) struct Layout {
    cells: Vec<Cell>,
    dimensions: Vec<usize>,
}

impl Layout {
    pub(super) fn of(stated: &Stated) -> Self {
        Self { cells: cells(stated).into_iter().map(|(_, cell)| cell).collect(), dimensions: dimensions(stated) }
    }

    /// A single row of the answer. `numbers` are those of its place.
    pub(super) fn values(&self, plan: &Plan, names: &mut Names<'_>, row: &Single, numbers: &[i64]) -> Vec<Value> {
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
