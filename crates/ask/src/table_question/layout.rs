//! The columns of an answer, and their order: numbers that identify, figures, texts, maps, the command line.

use tracesift_trace::rows::ProcessRow;

use super::dimension::Of;
use super::measure::Figure;
use super::stacks_below;
use super::stated::Stated;
use crate::answer::{Column, ColumnOf, Kind, Value, View};
use crate::columns;
use crate::process_columns::{self as of_process, OfProcess};

/// Where a value of a row comes from; the numbers are places of dimensions and measures.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    Process(usize),
    Pid(usize),
    Tid(usize),
    ThreadName(usize),
    Number(usize),
    Measure(usize),
    Who {
        process: usize,
        thread: Option<usize>,
    },
    Text(usize),
    /// Number of nodes above a path in the tree.
    Depth(usize),
    /// The last name of a path, indented by its depth.
    Branch(usize),
    Stack(usize),
    CommandLine(usize),
    /// The single rows below the row.
    Rows,
    /// The number of a stack.
    StackNumber(usize),
    /// The stacks below the row.
    Stacks,
}

/// The columns of processes that all questions have are those of their rows.
struct Process;

impl OfProcess for Process {
    fn process(&self) -> Option<&ProcessRow> {
        None
    }
}

const PROCESS: Column = of_process::name::<Process>().column;
const PID: Column = of_process::pid::<Process>().column;
const COMMAND_LINE: Column = of_process::command_line::<Process>().shown(View::Machine).column;
const TID: Column =
    ColumnOf::<()>::machine("tid", "Tid", Kind::Id, |()| Value::None, "Thread id, in rows per thread.").column;
const THREAD_NAME: Column = ColumnOf::<()>::machine(
    "thread_name",
    "Thread",
    Kind::Text,
    |()| Value::None,
    "Name of the thread, in rows per thread.",
)
.column;
const WHO: Column = ColumnOf::<()>::people(
    "who",
    "Process",
    Kind::Text,
    |()| Value::None,
    "Name and pid; in rows per thread thread id and name, too.",
)
.column;

const DEPTH: Column = ColumnOf::<()>::machine(
    "depth",
    "Depth",
    Kind::Id,
    |()| Value::None,
    "Number of directories above it, with the drive; only with `--tree`.",
)
.column;
const BRANCH: Column = ColumnOf::<()>::people(
    "branch",
    "Path",
    Kind::LongText,
    |()| Value::None,
    "With `--tree` the last part of the path, indented by its depth.",
)
.column;

/// The single rows below a row.
pub(super) const ROWS: Column = ColumnOf::<()>::always(
    "rows",
    "Rows",
    Kind::Table,
    |()| Value::None,
    "With `--top-details` the largest single rows in it: objects with the columns of `--list`, without those of the file.",
)
.column;

/// All columns of a question, with the way to their values.
pub(super) fn cells(stated: &Stated) -> Vec<(Column, Cell)> {
    let mut cells = Vec::new();
    let dimensions = || stated.dimensions.iter().enumerate();
    let thread = stated.dimension_that(|of| matches!(of, Of::Thread));
    for (place, dimension) in dimensions() {
        match dimension.of {
            Of::Process => cells.extend([(PROCESS, Cell::Process(place)), (PID, Cell::Pid(place))]),
            Of::Thread => cells.extend([(TID, Cell::Tid(place)), (THREAD_NAME, Cell::ThreadName(place))]),
            Of::Number { raw: Some(column), .. } => cells.push((column, Cell::Number(place))),
            _ => {}
        }
    }
    let is_map = |figure: &Figure| figure.column.kind == Kind::Map;
    let measures = |maps: bool| {
        let measures = stated.measures.iter().enumerate().filter(move |(_, figure)| is_map(figure) == maps);
        measures.map(|(place, figure)| (figure.column, Cell::Measure(place)))
    };
    let tree = stated.tree_place();
    cells.extend(tree.map(|place| (DEPTH, Cell::Depth(place))));
    let numbered = stated.stacks().filter(|_| stated.stacks_below.is_some());
    cells.extend(numbered.map(|place| (stacks_below::NUMBER, Cell::StackNumber(place))));
    cells.extend(measures(false));
    cells.extend(tree.map(|place| (BRANCH, Cell::Branch(place))));
    for (place, dimension) in dimensions() {
        match (dimension.of, dimension.column) {
            (Of::Process, _) => cells.push((WHO, Cell::Who { process: place, thread })),
            (Of::Stack, Some(column)) => cells.push((column, Cell::Stack(place))),
            (_, Some(column)) => cells.push((column, Cell::Text(place))),
            (_, None) => {}
        }
    }
    cells.extend(measures(true));
    let processes = dimensions().filter(|(_, dimension)| matches!(dimension.of, Of::Process));
    cells.extend(processes.map(|(place, _)| (COMMAND_LINE, Cell::CommandLine(place))));
    cells.push((ROWS, Cell::Rows));
    if stated.stacks_below.is_some() {
        cells.push((stacks_below::STACKS, Cell::Stacks));
    }
    cells
}

/// The columns of an answer. Those that a grouping leaves without a meaning are shown nowhere; without a grouping all are shown.
/// `by` has the dimensions of the grouping, and whether it is a tree.
pub(super) fn descriptions(stated: &Stated, by: Option<(&[usize], bool)>) -> Vec<Column> {
    let name = |place: usize| stated.dimensions[place].name;
    let tree = stated.tree_place();
    let is_meant = |cell: Cell| {
        let Some((by, is_tree)) = by else { return true };
        let usual = usual_dimensions(stated, by);
        match cell {
            Cell::Tid(place) | Cell::ThreadName(place) | Cell::Number(place) => usual.contains(&place),
            Cell::Depth(_) | Cell::Branch(_) => is_tree,
            Cell::Rows | Cell::Stacks => false,
            Cell::StackNumber(place) => by.contains(&place),
            Cell::Measure(place) => stated.measures[place].is_of(by.iter().map(|by| name(*by))),
            Cell::Who { process: place, .. }
            | Cell::Process(place)
            | Cell::Pid(place)
            | Cell::Text(place)
            | Cell::Stack(place)
            | Cell::CommandLine(place) => by.contains(&place),
        }
    };
    let cells = cells(stated).into_iter();
    let is_tree = by.is_some_and(|(_, is_tree)| is_tree);
    columns::of_file_and(cells.map(|(column, cell)| {
        let view = match cell {
            // Tables show the branch in its place.
            Cell::Text(place) if is_tree && tree == Some(place) => View::Machine,
            _ if is_meant(cell) => column.view,
            _ => View::Nowhere,
        };
        Column { view, ..column }
    }))
}

/// The columns whose texts name a group, whatever the recording: ids are left out.
pub(super) fn names(stated: &Stated, by: &[usize]) -> Vec<Column> {
    let name = |place: &usize| {
        let dimension = stated.dimensions[*place];
        dimension.column.unwrap_or(if matches!(dimension.of, Of::Thread) { THREAD_NAME } else { PROCESS })
    };
    by.iter().map(name).collect()
}

/// The dimensions of a grouping. The usual grouping and those of the shorthands have the same keys in JSON, so they have the dimensions of
/// all of them together.
fn usual_dimensions(stated: &Stated, by: &[usize]) -> Vec<usize> {
    let names = [stated.by].into_iter().chain(stated.shorthands.iter().map(|shorthand| shorthand.by));
    let usual: Vec<Vec<usize>> = names.filter_map(|names| stated.grouping(names).ok()).collect();
    if usual.iter().any(|usual| usual == by) { usual.concat() } else { by.to_vec() }
}
