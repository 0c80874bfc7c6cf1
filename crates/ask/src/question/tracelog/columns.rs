//! The rows of the three answers, and their columns.

use tracesift_trace::rows::ProcessRow;

use crate::answer::{ColumnOf, Kind, Value, View};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};

/// Number and times of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) count: u64,
    pub(super) first: i64,
    pub(super) last: i64,
}

impl Span {
    /// No events.
    pub(super) const NOTHING: Self = Self { count: 0, first: i64::MAX, last: i64::MIN };

    /// One more event.
    pub(super) fn with(self, time: i64) -> Self {
        self.and(Self { count: 1, first: time, last: time })
    }

    /// All events of both.
    pub(super) fn and(self, other: Self) -> Self {
        let count = self.count.saturating_add(other.count);
        Self { count, first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

/// A provider in a process.
#[derive(Clone, Debug)]
pub(super) struct ProviderRow {
    pub(super) process: Option<ProcessRow>,
    pub(super) provider: String,
    pub(super) span: Span,
    /// Events by name, the most frequent first.
    pub(super) events: Vec<(String, u64)>,
}

/// A kind of event.
#[derive(Clone, Debug)]
pub(super) struct KindRow {
    pub(super) provider: String,
    pub(super) event: String,
    pub(super) id: Option<i32>,
    pub(super) span: Span,
    pub(super) processes: usize,
}

/// A single event.
#[derive(Clone, Debug)]
pub(super) struct EventLine {
    pub(super) time: i64,
    pub(super) process: Option<ProcessRow>,
    pub(super) tid: Option<i64>,
    pub(super) provider: String,
    pub(super) event: String,
    pub(super) id: Option<i32>,
    pub(super) message: String,
    /// Names and values.
    pub(super) fields: Vec<(String, Value)>,
    pub(super) stack: Option<Vec<String>>,
}

impl OfProcess for ProviderRow {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

impl OfProcess for EventLine {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

const FIRST: &str = "Time of the first of these events.";
const LAST: &str = "Time of the last of these events.";

/// Columns of providers.
pub(super) const PROVIDERS: Columns<ProviderRow> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::always("count", "Events", Kind::Count, |r| r.span.count.into(), "Number of events."),
    ColumnOf::always("kinds", "Names", Kind::Count, |r| r.events.len().into(), "Number of distinct names of events."),
    ColumnOf::details("first_ns", "First", Kind::Time, |r| r.span.first.into(), FIRST),
    ColumnOf::details("last_ns", "Last", Kind::Time, |r| r.span.last.into(), LAST),
    ColumnOf::always(
        "provider",
        "Provider",
        Kind::Text,
        |r| (&r.provider).into(),
        "Name of the provider; its GUID where the recording has no name.",
    ),
    ColumnOf::details(
        "events",
        "By name",
        Kind::Map,
        |r| Value::Map(r.events.iter().map(|(name, count)| (name.clone(), (*count).into())).collect()),
        "Number of events by name, the most frequent first.",
    ),
    of_process::label(),
    of_process::command_line().shown(View::Machine),
]);

/// Columns of kinds of events.
pub(super) const KINDS: Columns<KindRow> = Columns(&[
    ColumnOf::always("count", "Events", Kind::Count, |r| r.span.count.into(), "Number of events."),
    ColumnOf::always(
        "processes",
        "Processes",
        Kind::Count,
        |r| r.processes.into(),
        "Number of processes that logged them.",
    ),
    ColumnOf::details("first_ns", "First", Kind::Time, |r| r.span.first.into(), FIRST),
    ColumnOf::details("last_ns", "Last", Kind::Time, |r| r.span.last.into(), LAST),
    ColumnOf::always("provider", "Provider", Kind::Text, |r| (&r.provider).into(), "Name of the provider."),
    ColumnOf::always("event", "Event", Kind::Text, |r| (&r.event).into(), "Name of the event."),
    ColumnOf::always("id", "Id", Kind::Id, |r| r.id.into(), "Id of the event; most TraceLogging events have 0."),
]);

/// Columns of single events.
pub(super) const EVENTS: Columns<EventLine> = Columns(&[
    ColumnOf::always("time_ns", "Time", Kind::Time, |r| r.time.into(), "Time of the event."),
    of_process::name(),
    of_process::pid(),
    of_process::label(),
    ColumnOf::always("tid", "Tid", Kind::Id, |r| r.tid.into(), "Id of the thread that logged the event."),
    ColumnOf::always("provider", "Provider", Kind::Text, |r| (&r.provider).into(), "Name of the provider."),
    ColumnOf::always("event", "Event", Kind::Text, |r| (&r.event).into(), "Name of the event."),
    ColumnOf::always("id", "Id", Kind::Id, |r| r.id.into(), "Id of the event."),
    ColumnOf::always(
        "message",
        "Message",
        Kind::LongText,
        |r| (&r.message).into(),
        "The fields as `name=value`, in the order of the event; `raw` has bytes that no field shows.",
    ),
    ColumnOf::machine(
        "fields",
        "Fields",
        Kind::Map,
        |r| Value::Map(r.fields.clone()),
        "The fields: numbers as numbers, all else as text.",
    ),
    ColumnOf::details(
        "stack",
        "Stack",
        Kind::Below,
        |r| r.stack.as_deref().map_or(Value::None, Value::from),
        "The functions of the call stack, the innermost first.",
    ),
]);
