//! By what events are grouped: facts about an event, or one of its fields.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{EventRow, ProcessRow, ThreadRow};
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::{ProcessId, StackId};

use super::keys;
use crate::answer::{Column, Kind, Value, View};
use crate::events::{EventRead, FieldPath, Names};
use crate::process_columns::name_with_marks;
use crate::stack_lines::StackLines;
use crate::usage_error::UsageError;

/// By what events are grouped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// A fact about the event.
    Fact(Fact),
    /// A field, with the key of its column.
    Field(FieldPath, &'static str),
}

/// A fact about an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Its process.
    Process,
    /// Its thread.
    Thread,
    /// Name of the provider.
    Provider,
    /// Name of the event.
    Event,
    /// What stands before the slash in the name.
    Class,
    /// Id.
    Id,
    /// Version of the layout.
    Version,
    /// Opcode.
    Opcode,
    /// Level.
    Level,
    /// CPU.
    Cpu,
    /// Activity.
    Activity,
    /// Call stack.
    Stack,
}

/// A name of `--by`, its fact, and the stored columns that it is made of.
type Named = (&'static str, Fact, ColumnSet<EventRow>);

const FACTS: [Named; 12] = [
    ("process", Fact::Process, ColumnSet::of(&["process"])),
    ("thread", Fact::Thread, ColumnSet::of(&["thread"])),
    ("provider", Fact::Provider, ColumnSet::of(&["provider"])),
    ("event", Fact::Event, ColumnSet::of(&["event"])),
    ("class", Fact::Class, ColumnSet::of(&["event"])),
    ("id", Fact::Id, ColumnSet::of(&["id"])),
    ("version", Fact::Version, ColumnSet::of(&["version"])),
    ("opcode", Fact::Opcode, ColumnSet::of(&["opcode"])),
    ("level", Fact::Level, ColumnSet::of(&["level"])),
    ("cpu", Fact::Cpu, ColumnSet::of(&["cpu"])),
    ("activity", Fact::Activity, ColumnSet::of(&["activity"])),
    ("stack", Fact::Stack, ColumnSet::of(&["stack"])),
];

/// What stands before the name of a field that is also the name of a fact.
const FIELD: &str = "field:";

/// Keys that a field cannot have, beside those of facts: the columns of every answer, and of this one.
const TAKEN: [&str; 26] = [
    "file",
    "test",
    "test_ms",
    "machine",
    "date",
    "warnings",
    "bucket_ns",
    "pid",
    "tid",
    "process_label",
    "count",
    "first_ns",
    "last_ns",
    "field",
    "with_field",
    "numbers",
    "sum",
    "min",
    "max",
    "mean",
    "p50",
    "p95",
    "p99",
    "distinct",
    "texts",
    "cells",
];

const fn column(key: &'static str, title: &'static str, kind: Kind, view: View, help: &'static str) -> Column {
    Column { key, title, kind, view, help }
}

impl By {
    /// The fact or field of a name.
    ///
    /// # Errors
    /// When it is too long for a column.
    pub(super) fn parse(text: &str) -> Result<Self, UsageError> {
        let text = text.trim();
        let fact = FACTS.iter().find(|(name, ..)| text.eq_ignore_ascii_case(name));
        if let Some((_, fact, _)) = fact {
            return Ok(Self::Fact(*fact));
        }
        let field = text.strip_prefix(FIELD).unwrap_or(text);
        if field.is_empty() {
            return Err(UsageError::new("--by has no name of a field", "write it as --by process,Size"));
        }
        let is_taken = TAKEN.contains(&field) || FACTS.iter().any(|(name, ..)| *name == field);
        let name = if is_taken { format!("field_{field}") } else { field.to_owned() };
        let Some(key) = keys::key(&name) else {
            return Err(UsageError::new("the name of the field is too long", "fields have shorter names"));
        };
        Ok(Self::Field(FieldPath::new(field), key))
    }

    /// A list of them with `,` or `;` between.
    pub(super) fn parse_list(text: &str) -> Result<Vec<Self>, UsageError> {
        let mut all: Vec<Self> = Vec::new();
        for by in text.split([',', ';']).filter(|name| !name.trim().is_empty()).map(Self::parse) {
            let by = by?;
            if !all.contains(&by) {
                all.push(by);
            }
        }
        Ok(all)
    }

    /// The stored columns that it is made of.
    pub(super) fn needed(&self) -> ColumnSet<EventRow> {
        match self {
            Self::Fact(fact) => {
                FACTS.iter().find(|(_, known, _)| known == fact).map_or(ColumnSet::NONE, |(.., needed)| *needed)
            }
            Self::Field(..) => ColumnSet::of(&["fields"]),
        }
    }

    /// Its columns.
    pub(super) fn columns(&self) -> Vec<Column> {
        let fact = match self {
            Self::Field(_, key) => {
                return vec![column(key, key, Kind::Text, View::Always, "The value of the field, as text.")];
            }
            Self::Fact(fact) => fact,
        };
        let [always, machine] = [View::Always, View::Machine];
        match fact {
            Fact::Process => vec![
                column("process", "Process", Kind::Text, machine, "File name of the process' image."),
                column("pid", "Pid", Kind::Id, machine, "Process id."),
                column(
                    "process_label",
                    "Process",
                    Kind::Text,
                    View::People,
                    "Name and pid; `+` it started, `-` it ended inside the recording.",
                ),
            ],
            Fact::Thread => vec![column("tid", "Tid", Kind::Id, always, "Thread id.")],
            Fact::Provider => vec![column("provider", "Provider", Kind::Text, always, "Name of the provider.")],
            Fact::Event => vec![column("event", "Event", Kind::Text, always, "Name of the event.")],
            Fact::Class => {
                vec![column("class", "Class", Kind::Text, always, "The name of the event up to its slash.")]
            }
            Fact::Id => {
                vec![column("id", "Id", Kind::Id, always, "Id of the event; kernel and classic events have none.")]
            }
            Fact::Version => vec![column("version", "Version", Kind::Id, always, "Version of the layout.")],
            Fact::Opcode => {
                vec![column("opcode", "Opcode", Kind::Id, always, "Opcode; on Linux the type of the record.")]
            }
            Fact::Level => {
                vec![column(
                    "level",
                    "Level",
                    Kind::Id,
                    always,
                    "Level: 1 critical, 2 error, 3 warning, 4 information, 5 verbose.",
                )]
            }
            Fact::Cpu => vec![column("cpu", "CPU", Kind::Id, always, "CPU.")],
            Fact::Activity => {
                vec![column("activity", "Activity", Kind::Text, always, "Activity that the events belong to.")]
            }
            Fact::Stack => {
                vec![column(
                    "stack",
                    "Stack",
                    Kind::Below,
                    always,
                    "The functions of the call stack, the innermost first.",
                )]
            }
        }
    }
}

/// The class of an event: its name up to its slash.
pub(super) fn class(event: &str) -> &str {
    event.split('/').next().unwrap_or_default()
}

/// The CPU of an event, where it is known.
pub(super) fn cpu(stored: Part) -> Part {
    stored.filter(|cpu| *cpu >= 0)
}

/// The value by which an event is grouped: a number, or the number of a text.
pub(super) type Part = Option<i64>;

/// What stands behind the numbers.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) names: Names,
    processes: FxHashMap<ProcessId, ProcessRow>,
    tids: FxHashMap<i64, i64>,
    scratch: String,
}

impl Parts {
    /// The part of an event. An error: there are too many texts.
    pub(super) fn of(&mut self, by: &By, event: &EventRead<'_>) -> Result<Part, ()> {
        let row = event.row;
        Ok(match by {
            By::Fact(Fact::Process) => {
                if let Some(process) = event.process {
                    self.processes.entry(process.process).or_insert_with(|| process.clone());
                }
                row.process.map(|id| i64::from(id.0))
            }
            By::Fact(Fact::Thread) => {
                let thread = row.thread.map(|id| i64::from(id.0));
                if let (Some(thread), Some(tid)) = (thread, event.tid) {
                    self.tids.insert(thread, tid);
                }
                thread
            }
            By::Fact(Fact::Provider) => self.text(&row.provider)?,
            By::Fact(Fact::Event) => self.text(&row.event)?,
            By::Fact(Fact::Class) => self.text(class(&row.event))?,
            By::Fact(Fact::Id) => row.id.map(i64::from),
            By::Fact(Fact::Version) => Some(row.version.into()),
            By::Fact(Fact::Opcode) => Some(row.opcode.into()),
            By::Fact(Fact::Level) => row.level.map(i64::from),
            By::Fact(Fact::Cpu) => cpu(Some(row.cpu.into())),
            By::Fact(Fact::Activity) => match &row.activity {
                Some(activity) => self.text(activity)?,
                None => None,
            },
            By::Fact(Fact::Stack) => row.stack.map(|id| i64::from(id.0)),
            By::Field(path, _) => self.field(path, event)?,
        })
    }

    /// Takes the processes and threads of an archive, where events are not read one by one.
    pub(super) fn of_archive(&mut self, by: &[&By], archive: &Archive) -> Result<(), Error> {
        if by.contains(&&By::Fact(Fact::Process)) {
            self.processes = archive.rows::<ProcessRow>()?.into_iter().map(|row| (row.process, row)).collect();
        }
        if by.contains(&&By::Fact(Fact::Thread)) {
            archive.scan(None, |row: &ThreadRow| _ = self.tids.insert(row.thread.0.into(), row.tid))?;
        }
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str) -> Result<Part, ()> {
        self.names.number(text).map(|number| Some(number.into())).ok_or(())
    }

    /// The value of a field as text; several values in brackets.
    fn field(&mut self, path: &FieldPath, event: &EventRead<'_>) -> Result<Part, ()> {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        let mut values = 0;
        path.each(event.fields, &mut |value| {
            if values > 0 {
                text.push_str(", ");
            }
            let _ = write!(text, "{value}");
            values += 1;
        });
        if values > 1 {
            text.insert(0, '[');
            text.push(']');
        }
        let part = if values == 0 { Ok(None) } else { self.text(&text) };
        self.scratch = text;
        part
    }

    /// The values of the columns of a part.
    pub(super) fn values(&self, by: &By, part: Part, stacks: &mut StackLines) -> Vec<Value> {
        let process = || {
            let id = part.and_then(|number| i32::try_from(number).ok()).map(ProcessId);
            id.and_then(|id| self.processes.get(&id))
        };
        match by {
            By::Fact(Fact::Process) => match process() {
                Some(row) => vec![(&row.name).into(), row.pid.into(), name_with_marks(row).into()],
                None => vec![Value::None; 3],
            },
            By::Fact(Fact::Thread) => vec![part.and_then(|thread| self.tids.get(&thread)).copied().into()],
            By::Fact(Fact::Stack) => {
                let id = part.and_then(|number| i32::try_from(number).ok()).map(StackId);
                vec![stacks.of(id).as_deref().map_or(Value::None, Value::from)]
            }
            By::Fact(Fact::Provider | Fact::Event | Fact::Class | Fact::Activity) | By::Field(..) => {
                vec![self.text_of(part).map_or(Value::None, Value::from)]
            }
            By::Fact(_) => vec![part.into()],
        }
    }

    /// The text of a part by which rows are put in order, and by which a cell is called.
    pub(super) fn label(&self, by: &By, part: Part) -> String {
        match by {
            By::Fact(Fact::Process) => {
                let id = part.and_then(|number| i32::try_from(number).ok()).map(ProcessId);
                id.and_then(|id| self.processes.get(&id))
                    .map_or_else(String::new, |row| format!("{}({})", row.name, row.pid))
            }
            By::Fact(Fact::Thread) => {
                part.and_then(|thread| self.tids.get(&thread)).map_or_else(String::new, ToString::to_string)
            }
            By::Fact(Fact::Provider | Fact::Event | Fact::Class | Fact::Activity) | By::Field(..) => {
                self.text_of(part).unwrap_or_default().to_owned()
            }
            By::Fact(_) => part.map_or_else(String::new, |number| number.to_string()),
        }
    }

    fn text_of(&self, part: Part) -> Option<&str> {
        Some(self.names.text(u32::try_from(part?).ok()?))
    }
}
