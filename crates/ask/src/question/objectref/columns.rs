//! The columns of objects and of their handles.

use tracesift_trace::rows::{MappedViewRow, ProcessRow};

use super::lives::{Held, Life};
use super::references::{self, Reference};
use crate::answer::{Column, ColumnOf, Kind, Table, Value, View, descriptions, values};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::question::handles::{hexadecimal, made_by};
use crate::time_format::milliseconds;

/// Handles below a row of a table. Programs get all of them.
const LINES: usize = 8;

/// One object of the answer.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) life: Life,
    pub(super) process: Option<ProcessRow>,
    pub(super) object_type: Option<String>,
    pub(super) name: Option<String>,
    /// The functions of the stacks of creation and deletion, the innermost first.
    pub(super) stacks: [Option<Vec<String>>; 2],
    pub(super) leaked: usize,
    pub(super) handles: Vec<HandleOf>,
    /// Its mapped views.
    pub(super) views: Vec<ViewOf>,
    /// Events of references, where they are asked for.
    pub(super) references: Vec<Reference>,
    /// All its events in order, where they are asked for.
    pub(super) history: Option<Value>,
}

/// A mapped view of an object.
#[derive(Clone, Debug)]
pub(super) struct ViewOf {
    pub(super) view: MappedViewRow,
    /// Name and pid of the process that has it.
    pub(super) process: Option<(String, i64)>,
    /// Thread that mapped it.
    pub(super) tid: Option<i64>,
    /// The functions of the stacks that mapped and unmapped it, the innermost first.
    pub(super) stacks: [Option<Vec<String>>; 2],
}

/// A handle of an object.
#[derive(Clone, Debug)]
pub(super) struct HandleOf {
    pub(super) held: Held,
    /// Name and pid of the process that has it.
    pub(super) owner: Option<(String, i64)>,
    /// Name and pid of the process that made it.
    pub(super) maker: Option<(String, i64)>,
    /// Thread that made it.
    pub(super) tid: Option<i64>,
    /// The functions of the stacks that made and closed it, the innermost first.
    pub(super) stacks: [Option<Vec<String>>; 2],
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

impl HandleOf {
    fn duration(&self) -> i64 {
        self.held.end.saturating_sub(self.held.start)
    }

    /// When it was made; unknown where it was there before.
    pub(super) fn opened(&self) -> Option<i64> {
        (self.held.made_by != tracesift_trace::rows::handle_origins::THERE).then_some(self.held.start)
    }

    fn line(&self) -> String {
        let owner = self.owner.as_ref().map_or_else(|| "unknown process".to_owned(), label);
        let by = match (&self.maker, self.tid) {
            (Some(maker), tid) if Some(maker) != self.owner.as_ref() => {
                format!(" by {}{}", label(maker), tid.map(|tid| format!(" {tid}")).unwrap_or_default())
            }
            (_, Some(tid)) => format!(" by {tid}"),
            _ => String::new(),
        };
        let end = match (self.held.is_open, self.held.by_exit) {
            (true, _) => "open",
            (_, true) => "closed by exit",
            _ => "closed",
        };
        let ms = milliseconds(self.duration());
        let made = made_by(i64::from(self.held.made_by));
        let value = hexadecimal(self.held.value);
        format!("{value} {owner}: {made}{by}, {ms} ms, {end}")
    }
}

fn label((name, pid): &(String, i64)) -> String {
    format!("{name}({pid})")
}

impl Row {
    fn lines(&self) -> Value {
        first_lines(&self.handles, HandleOf::line, ["handle", "handles"])
    }

    fn reference_lines(&self) -> Value {
        first_lines(&self.references, Reference::line, ["reference event", "reference events"])
    }
}

/// The first of some things, a line each, and how many follow.
fn first_lines<T>(things: &[T], line: impl Fn(&T) -> String, [one, many]: [&str; 2]) -> Value {
    let mut lines: Vec<String> = things.iter().take(LINES).map(line).collect();
    match things.len().saturating_sub(LINES) {
        0 => {}
        1 => lines.push(format!("and 1 more {one}")),
        more => lines.push(format!("and {more} more {many}")),
    }
    if lines.is_empty() { Value::None } else { Value::List(lines) }
}

const HANDLES: &[ColumnOf<HandleOf>] = &[
    ColumnOf::always("handle", "Handle", Kind::Text, |r| hexadecimal(r.held.value).into(), "Value of the handle."),
    ColumnOf::always(
        "process",
        "Process",
        Kind::Text,
        |r| r.owner.as_ref().map(|(name, _)| name.clone()).into(),
        "Process that has it.",
    ),
    ColumnOf::always("pid", "Pid", Kind::Id, |r| r.owner.as_ref().map(|(_, pid)| *pid).into(), "Its process id."),
    ColumnOf::always(
        "opened_ns",
        "Opened",
        Kind::Time,
        |r| r.opened().into(),
        "When it was made; of an inherited handle the start of the process; empty: before the recording.",
    ),
    ColumnOf::always(
        "closed_ns",
        "Closed",
        Kind::Time,
        |r| (!r.held.is_open).then_some(r.held.end).into(),
        "When it was closed; empty: it is open at the end of the recording.",
    ),
    ColumnOf::always(
        "duration_ns",
        "Duration",
        Kind::Milliseconds,
        |r| r.duration().into(),
        "Time for which it was open in the recording.",
    ),
    ColumnOf::always(
        "made_by",
        "Made by",
        Kind::Text,
        |r| made_by(i64::from(r.held.made_by)).into(),
        "How it came to be: `created` (or opened), `duplicated`, `there` before the recording, `inherited`.",
    ),
    ColumnOf::always(
        "maker_process",
        "Maker",
        Kind::Text,
        |r| r.maker.as_ref().map(|(name, _)| name.clone()).into(),
        "Process that made it.",
    ),
    ColumnOf::always(
        "maker_pid",
        "Maker pid",
        Kind::Id,
        |r| r.maker.as_ref().map(|(_, pid)| *pid).into(),
        "Id of that process.",
    ),
    ColumnOf::always("maker_tid", "Maker tid", Kind::Id, |r| r.tid.into(), "Thread that made it."),
    ColumnOf::always(
        "closed_by_exit",
        "Closed by exit",
        Kind::Bool,
        |r| r.held.by_exit.into(),
        "Whether the end of its process closed it.",
    ),
    ColumnOf::always(
        "stack",
        "Stack",
        Kind::List,
        |r| list(r.stacks[0].as_ref()),
        "Functions of the stack that made it, the innermost first.",
    ),
    ColumnOf::always(
        "close_stack",
        "Close stack",
        Kind::List,
        |r| list(r.stacks[1].as_ref()),
        "Functions of the stack that closed it.",
    ),
];

const VIEWS: &[ColumnOf<ViewOf>] = &[
    ColumnOf::always("base", "Base", Kind::Text, |r| hexadecimal(r.view.base).into(), "Address of the view."),
    ColumnOf::always("size", "Size", Kind::Bytes, |r| r.view.size.into(), "Size of the view."),
    ColumnOf::always(
        "process",
        "Process",
        Kind::Text,
        |r| r.process.as_ref().map(|(name, _)| name.clone()).into(),
        "Process that has it.",
    ),
    ColumnOf::always("pid", "Pid", Kind::Id, |r| r.process.as_ref().map(|(_, pid)| *pid).into(), "Its process id."),
    ColumnOf::always("tid", "Tid", Kind::Id, |r| r.tid.into(), "Thread that mapped it."),
    ColumnOf::always(
        "mapped_ns",
        "Mapped",
        Kind::Time,
        |r| (r.view.there != Some(true)).then_some(r.view.start).into(),
        "When it was mapped; empty: before the recording.",
    ),
    ColumnOf::always(
        "unmapped_ns",
        "Unmapped",
        Kind::Time,
        |r| (r.view.open != Some(true)).then_some(r.view.time).into(),
        "When it was unmapped; empty: not in the recording.",
    ),
    ColumnOf::always(
        "stack",
        "Stack",
        Kind::List,
        |r| list(r.stacks[0].as_ref()),
        "Functions of the stack that mapped it, the innermost first.",
    ),
    ColumnOf::always(
        "unmap_stack",
        "Unmap stack",
        Kind::List,
        |r| list(r.stacks[1].as_ref()),
        "Functions of the stack that unmapped it.",
    ),
];

fn list(stack: Option<&Vec<String>>) -> Value {
    stack.map_or(Value::None, |functions| Value::List(functions.clone()))
}

/// A stack below a row, with a word on its first line.
pub(super) fn below(word: &str, stack: Option<&Vec<String>>) -> Value {
    let Some(functions) = stack else { return Value::None };
    let line = |(place, function): (usize, &String)| match place {
        0 => format!("{word} {function}"),
        _ => format!("{:width$} {function}", "", width = word.len()),
    };
    Value::List(functions.iter().enumerate().map(line).collect())
}

/// The columns of the objects in `views`.
pub(super) fn view_columns() -> Vec<Column> {
    descriptions(VIEWS)
}

/// The columns of the objects in `handles`.
pub(super) fn handle_columns() -> Vec<Column> {
    descriptions(HANDLES)
}

/// The columns.
pub(super) const COLUMNS: Columns<Row> = Columns(&[
    of_process::name().meaning("Process that made the object."),
    of_process::pid(),
    ColumnOf::machine(
        "number",
        "Number",
        Kind::Id,
        |r| r.life.number.into(),
        "Number of the object in the table `objects`; empty: only its handles were recorded.",
    ),
    ColumnOf::always("object", "Object", Kind::Text, |r| hexadecimal(r.life.address).into(), "Address of the object."),
    ColumnOf::always(
        "type",
        "Type",
        Kind::Text,
        |r| r.object_type.as_ref().into(),
        "Type of the object: `File`, `Event`, `Section`, …; `type N` where the recording does not name it.",
    ),
    ColumnOf::always(
        "created_ns",
        "Created",
        Kind::Time,
        |r| (!r.life.there).then_some(r.life.start).into(),
        "When it was created; empty: before the recording. If only handles were recorded, the time of the first one.",
    ),
    ColumnOf::always(
        "destroyed_ns",
        "Destroyed",
        Kind::Time,
        |r| (!r.life.is_open).then_some(r.life.end).into(),
        "When it was deleted; empty: not in the recording. If only handles were recorded, the time at which the last one was closed.",
    ),
    ColumnOf::always(
        "duration_ns",
        "Duration",
        Kind::Milliseconds,
        |r| r.life.duration().into(),
        "Its life inside the recording.",
    ),
    ColumnOf::always(
        "handle_count",
        "Handles",
        Kind::Count,
        |r| r.handles.len().into(),
        "Handles of the object that are open in the time range, or in a part of it.",
    ),
    ColumnOf::always(
        "open",
        "Open",
        Kind::Count,
        |r| r.handles.iter().filter(|handle| handle.held.is_open).count().into(),
        "Those of them that are open at the end of the recording.",
    ),
    ColumnOf::details(
        "leaked",
        "Leaked",
        Kind::Count,
        |r| r.leaked.into(),
        "Those of them that were made in the time range and not closed, while their process runs on.",
    ),
    ColumnOf::always(
        "processes",
        "Processes",
        Kind::Count,
        |r| r.life.processes().into(),
        "Processes that have these handles.",
    ),
    ColumnOf::details(
        "inherited",
        "Inherited",
        Kind::Bool,
        |r| r.life.is_inherited().into(),
        "Whether a process got a handle from its creator.",
    ),
    ColumnOf::details(
        "overlapped",
        "Overlapped",
        Kind::Bool,
        |r| r.life.is_overlapped().into(),
        "Whether a process has several handles of the object at once.",
    ),
    ColumnOf::details(
        "view_count",
        "Views",
        Kind::Count,
        |r| r.views.len().into(),
        "Mapped views of the object in the time range: of a section without a file. Views of files are known by the file, see `--map`.",
    ),
    ColumnOf::details(
        "references",
        "References",
        Kind::Count,
        |r| r.life.references.map(|(taken, _)| taken).into(),
        "References to the object that were taken in the recording; empty: only its handles were recorded.",
    ),
    ColumnOf::details(
        "dereferences",
        "Dereferences",
        Kind::Count,
        |r| r.life.references.map(|(_, given)| given).into(),
        "References that were released in the recording.",
    ),
    ColumnOf::always("name", "Name", Kind::LongText, |r| r.name.as_ref().into(), "Name of the object."),
    of_process::label()
        .meaning("Process that made the object: name and pid; `+` it started, `-` it ended inside the recording."),
    of_process::command_line().shown(View::Machine),
    ColumnOf::details(
        "create_stack",
        "Create stack",
        Kind::Below,
        |r| below("created by", r.stacks[0].as_ref()),
        "Functions of the stack that created it, the innermost first.",
    ),
    ColumnOf::details(
        "destroy_stack",
        "Destroy stack",
        Kind::Below,
        |r| below("deleted by", r.stacks[1].as_ref()),
        "Functions of the stack that deleted it. If only handles were recorded, that of the close of the last one.",
    ),
    ColumnOf::people("lines", "Handles", Kind::Below, Row::lines, "Its first eight handles, on lines below the row."),
    ColumnOf::machine(
        "handles",
        "Handles",
        Kind::Table,
        |r| Value::Table(Table { columns: handle_columns(), rows: values(HANDLES, &r.handles), is_sparse: false }),
        "The handles of the object, in the order of their creation.",
    ),
    ColumnOf::machine(
        "views",
        "Views",
        Kind::Table,
        |r| Value::Table(Table { columns: view_columns(), rows: values(VIEWS, &r.views), is_sparse: false }),
        "The mapped views of the object, in the order of mapping.",
    ),
    ColumnOf::people(
        "reference_lines",
        "References",
        Kind::Below,
        Row::reference_lines,
        "With `--references` its first eight events of references in the time range, below the handles.",
    ),
    ColumnOf::machine(
        "reference_events",
        "Reference events",
        Kind::Table,
        |r| {
            let rows = values(references::COLUMNS, &r.references);
            Value::Table(Table { columns: references::columns(), rows, is_sparse: false })
        },
        "With `--references` the events of references in the time range.",
    ),
    ColumnOf::always(
        "history",
        "History",
        Kind::Table,
        |r| r.history.clone().into(),
        "With `--history` the events of the object in the time range, in their order.",
    ),
]);
