//! The events of an archive as questions read them: the columns that an answer is made of, with their processes and threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tracesift_analysis::Times;
use tracesift_archive::{Archive, Error};
use tracesift_etl::schema::Decoded;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{EventRow, ProcessRow, ThreadRow};
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::view;

use super::stored::{Kinds, members};
use super::subjects::Subjects;
use super::{EventFilter, FieldFilter};

view! {
    /// The columns that tell kinds of events apart.
    #[derive(Clone, Debug)]
    pub(crate) struct EventKind of EventRow { provider, event, id, opcode, guid, schema }
}

impl EventKind {
    /// Id of the event; of kernel and classic events the opcode.
    pub(crate) fn number(&self) -> u16 {
        u16::try_from(self.id.unwrap_or(i32::from(self.opcode))).unwrap_or(u16::MAX)
    }
}

/// Which kinds of events are read.
pub(crate) type Choose = Box<dyn FnMut(&EventKind) -> bool + Send>;

/// The kinds that a filter lets pass; `None`: all.
pub(crate) fn choice(filter: &EventFilter) -> Option<Choose> {
    filter.chooses_kinds().then(|| {
        let mut kinds = Kinds::of(filter);
        Box::new(move |kind: &EventKind| kinds.accepts(kind)) as Choose
    })
}

/// What is read of events.
pub(crate) struct Events<'q> {
    /// Which processes and threads they are of. Kinds are left to `choose`, fields to `fields`.
    pub(crate) filter: &'q EventFilter,
    /// What their fields must say.
    pub(crate) fields: &'q [FieldFilter],
    /// Which kinds; `None`: all.
    pub(crate) choose: Option<Choose>,
    /// The stored columns.
    pub(crate) needed: ColumnSet<EventRow>,
    /// Whether somebody looks at the fields.
    pub(crate) with_fields: bool,
    /// The times that count; `None`: all.
    pub(crate) times: Option<&'q Times>,
}

/// One event.
pub(crate) struct EventRead<'r> {
    /// The columns that were asked for.
    pub(crate) row: &'r EventRow,
    /// Its process.
    pub(crate) process: Option<&'r ProcessRow>,
    /// Id of its thread.
    pub(crate) tid: Option<i64>,
    /// Its fields, where they are read.
    pub(crate) fields: &'r Decoded<'r>,
}

/// Fields that a condition compares with a number and that the archive keeps by name, each with such a name.
pub(crate) type NamedFields = BTreeMap<String, String>;

impl Events<'_> {
    /// Shows `visit` the events of a time range, in the order of time, until it breaks off.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn read(
        self,
        archive: &Archive,
        time: TimeRange,
        visit: &mut dyn FnMut(&EventRead<'_>) -> ControlFlow<()>,
    ) -> Result<NamedFields, Error> {
        let processes: Vec<ProcessRow> = archive.rows()?;
        let threads: Vec<ThreadRow> = archive.rows()?;
        let subjects = Subjects::new(self.filter, || processes.clone());
        let with_fields = self.with_fields || !self.fields.is_empty();
        let mut needed = self.needed.and(ColumnSet::of(&["process", "thread"]));
        if with_fields {
            needed = needed.and(ColumnSet::of(&["fields"]));
        }
        if self.times.is_some() {
            needed = needed.and(ColumnSet::of(&["time"]));
        }
        let mut named = NamedFields::new();
        let mut visit_row = |row: &EventRow| {
            let process = row.process.and_then(|id| processes.get(id.index()));
            let pid = process.and_then(|row| u32::try_from(row.pid).ok());
            let tid = row.thread.and_then(|id| threads.get(id.index())).map(|row| row.tid);
            let is_asked = subjects.accept(row.process, pid, tid.and_then(|tid| u32::try_from(tid).ok()), None);
            if !is_asked || self.times.is_some_and(|times| !times.contain(row.process, row.time)) {
                return ControlFlow::Continue(());
            }
            let document = if with_fields { serde_json::from_str(&row.fields).ok() } else { None };
            let document = document.unwrap_or(serde_json::Value::Null);
            let fields = Decoded { fields: members(&document), rest: &[], stopped: None };
            for filter in self.fields {
                filter.names_for_numbers(&fields, &mut |field, name| {
                    if !named.contains_key(field) {
                        named.insert(field.to_owned(), name.to_owned());
                    }
                });
            }
            if !self.fields.iter().all(|filter| filter.accepts(&fields)) {
                return ControlFlow::Continue(());
            }
            visit(&EventRead { row, process, tid, fields: &fields })
        };
        let (start, end) = time.bounds();
        let range = (!time.is_everything()).then_some(start..end);
        archive.scan_needed::<EventKind, EventRow>(needed, range, self.choose, &mut visit_row)?;
        Ok(named)
    }
}

/// What must be said of fields that an archive keeps by name.
pub(crate) fn notes_of_names(named: &NamedFields) -> impl Iterator<Item = String> {
    named
        .iter()
        .map(|(field, name)| format!("{field}: archives keep the names of values, such as {name}; compare with those"))
}

/// Which events an archive keeps, where it does not keep all: for an answer that lacks some.
pub(crate) fn note_of_selection(archive: &Archive) -> Option<&'static str> {
    let info = archive.info();
    match (info.events.as_str(), info.kind.as_str()) {
        ("all" | "chosen", _) => None,
        ("default", "perf") => Some(
            "the archive keeps no samples, switches and wake-ups one by one: `tracesift extract --events all` keeps all",
        ),
        ("default", _) => Some(
            "the archive keeps the events of providers, none of the kernel's: `tracesift extract --events all` keeps all",
        ),
        _ => Some("the archive keeps no single events: `tracesift extract --events default` keeps those of providers"),
    }
}
