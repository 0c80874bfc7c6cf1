//! Reads the events, and makes the rows of them.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;
use tracesift_archive::Error;
use tracesift_etl::schema::Value as Field;
use tracesift_trace::rows::{EventRow, ProcessRow};
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::{ProcessId, StackId};

use super::columns::{EventLine, KindRow, ProviderRow, Span};
use super::{Question, Sort, is_self_described};
use crate::answer::Value;
use crate::events::{Choose, EventKind, EventRead, Events, Names, note_of_selection};
use crate::inside::Inside;
use crate::recording::OpenRecording;
use crate::stack_lines::StackLines;

/// Kinds of events that are told apart; more only a forged archive has.
const MOST_KINDS: usize = 1 << 17;

/// Single events that are shown of a file.
const MOST_EVENTS: usize = 1_000_000;

/// What was read beside the rows.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// Events that passed.
    pub(super) events: u64,
    pub(super) notes: Vec<String>,
    /// Events that found no place.
    left_out: u64,
}

impl Counted {
    fn finish(mut self, recording: &OpenRecording) -> Self {
        if self.left_out > 0 {
            let left_out = self.left_out;
            self.notes
                .push(format!("{left_out} events are of further kinds: a row for each of {MOST_KINDS} is the limit"));
        }
        if self.events == 0 {
            self.notes.extend(note_of_selection(recording.archive()).map(str::to_owned));
        }
        self
    }
}

/// A kind of event in a process: process, provider, name, id.
type Kind = (Option<ProcessId>, u32, u32, Option<i32>);

/// Events of a provider, and their number by name.
type OfProvider = (Span, FxHashMap<u32, u64>);

/// The kinds of events that were met.
#[derive(Debug, Default)]
struct Kinds {
    names: Names,
    spans: FxHashMap<Kind, Span>,
    processes: FxHashMap<ProcessId, ProcessRow>,
}

impl Kinds {
    /// Counts an event. False: there are too many kinds.
    fn add(&mut self, event: &EventRead<'_>) -> bool {
        let EventRow { process, provider, event: name, id, time, .. } = event.row;
        let (Some(provider), Some(name)) = (self.names.number(provider), self.names.number(name)) else { return false };
        let kind = (*process, provider, name, *id);
        if let Some(span) = self.spans.get_mut(&kind) {
            *span = span.with(*time);
            return true;
        }
        if self.spans.len() >= MOST_KINDS {
            return false;
        }
        self.spans.insert(kind, Span { count: 1, first: *time, last: *time });
        if let Some(process) = event.process {
            self.processes.entry(process.process).or_insert_with(|| process.clone());
        }
        true
    }
}

impl Question {
    fn counted(&self, recording: &OpenRecording) -> Result<(Kinds, Counted), Error> {
        let (mut kinds, mut counted) = (Kinds::default(), Counted::default());
        self.read(recording, &mut counted, &mut |event, counted| {
            counted.left_out += u64::from(!kinds.add(event));
            ControlFlow::Continue(())
        })?;
        Ok((kinds, counted))
    }

    /// Which process logs events of which provider.
    pub(super) fn providers(&self, recording: &OpenRecording) -> Result<(Vec<ProviderRow>, Counted), Error> {
        let (kinds, counted) = self.counted(recording)?;
        let mut found: FxHashMap<(Option<ProcessId>, u32), OfProvider> = FxHashMap::default();
        for ((process, provider, name, _), span) in &kinds.spans {
            let (sum, names) =
                found.entry((*process, *provider)).or_insert_with(|| (Span::NOTHING, FxHashMap::default()));
            *sum = sum.and(*span);
            *names.entry(*name).or_default() += span.count;
        }
        let row = |((process, provider), (span, names)): ((Option<ProcessId>, u32), OfProvider)| {
            let mut events: Vec<(String, u64)> =
                names.iter().map(|(name, count)| (kinds.names.text(*name).to_owned(), *count)).collect();
            events.sort_by(|a, b| (Reverse(a.1), &a.0).cmp(&(Reverse(b.1), &b.0)));
            let process = process.and_then(|id| kinds.processes.get(&id)).cloned();
            ProviderRow { process, provider: kinds.names.text(provider).to_owned(), span, events }
        };
        let mut rows: Vec<ProviderRow> = found.into_iter().map(row).collect();
        let name = |row: &ProviderRow| {
            let process = row.process.as_ref().map(|row| (row.name.to_lowercase(), row.pid, row.process.index()));
            (row.provider.to_lowercase(), row.provider.clone(), process)
        };
        rows.sort_by_cached_key(|row| match self.sort {
            None | Some(Sort::Count) => (row.span.count, 0, name(row)),
            Some(Sort::Time) => (0, row.span.first, name(row)),
            Some(Sort::Name | Sort::Id) => (0, 0, name(row)),
        });
        self.top.apply(&mut rows);
        Ok((rows, counted.finish(recording)))
    }

    /// The events of the providers by name and id.
    pub(super) fn kinds(&self, recording: &OpenRecording) -> Result<(Vec<KindRow>, Counted), Error> {
        let (kinds, counted) = self.counted(recording)?;
        let mut found: FxHashMap<(u32, u32, Option<i32>), (Span, usize)> = FxHashMap::default();
        for ((process, provider, name, id), span) in &kinds.spans {
            let (sum, processes) = found.entry((*provider, *name, *id)).or_insert((Span::NOTHING, 0));
            *sum = sum.and(*span);
            *processes += usize::from(process.is_some());
        }
        let row = |((provider, name, id), (span, processes)): ((u32, u32, Option<i32>), (Span, usize))| KindRow {
            provider: kinds.names.text(provider).to_owned(),
            event: kinds.names.text(name).to_owned(),
            id,
            span,
            processes,
        };
        let mut rows: Vec<KindRow> = found.into_iter().map(row).collect();
        rows.sort_by_cached_key(|row| {
            let key = match self.sort {
                None | Some(Sort::Count) => i64::try_from(row.span.count).unwrap_or(i64::MAX),
                Some(Sort::Time) => row.span.first,
                Some(Sort::Id) => row.id.map_or(-1, i64::from),
                Some(Sort::Name) => 0,
            };
            let name = (row.provider.to_lowercase(), row.event.to_lowercase());
            (key, name, row.provider.clone(), row.event.clone(), row.id)
        });
        self.top.apply(&mut rows);
        Ok((rows, counted.finish(recording)))
    }

    /// Single events.
    pub(super) fn events(&self, recording: &OpenRecording) -> Result<(Vec<EventLine>, Counted), Error> {
        let mut rows: VecDeque<(EventLine, Option<StackId>)> = VecDeque::new();
        let mut counted = Counted::default();
        let is_by_time = matches!(self.sort, None | Some(Sort::Count | Sort::Time));
        // Of rows in the order of time, those at the end are shown.
        let wanted = self.top.take.filter(|_| is_by_time).map(|take| take.saturating_add(self.top.skip));
        let most = wanted.unwrap_or(MOST_EVENTS).min(MOST_EVENTS);
        let stops_at = self.max_count.and_then(|count| u64::try_from(count).ok());
        let mut is_cut = false;
        self.read(recording, &mut counted, &mut |event, counted| {
            if stops_at == Some(0) {
                counted.events -= 1;
                return ControlFlow::Break(());
            }
            if rows.len() >= most {
                if wanted.is_some_and(|wanted| wanted <= MOST_EVENTS) {
                    rows.pop_front();
                } else {
                    is_cut = true;
                    counted.events -= 1;
                    return ControlFlow::Break(());
                }
            }
            if most > 0 {
                rows.push_back((line(event), event.row.stack));
            }
            if stops_at == Some(counted.events) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if is_cut {
            counted
                .notes
                .push(format!("only the first {MOST_EVENTS} events are shown: --time or --message choose among them"));
        }
        let mut rows: Vec<(EventLine, Option<StackId>)> = rows.into();
        match self.sort {
            Some(Sort::Name) => {
                rows.sort_by_cached_key(|(row, _)| (row.provider.to_lowercase(), row.event.to_lowercase()));
            }
            Some(Sort::Id) => rows.sort_by_key(|(row, _)| row.id),
            _ => {}
        }
        self.top.apply(&mut rows);
        let mut stacks = StackLines::new(recording, self.with_stacks && rows.iter().any(|(_, stack)| stack.is_some()))?;
        let rows = rows.into_iter().map(|(row, stack)| EventLine { stack: stacks.of(stack), ..row });
        Ok((rows.collect(), counted.finish(recording)))
    }

    /// Shows `visit` the events that pass, and counts them.
    fn read(
        &self,
        recording: &OpenRecording,
        counted: &mut Counted,
        visit: &mut dyn FnMut(&EventRead<'_>, &mut Counted) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let is_single = self.provider.names_events();
        let with_fields = is_single || !self.message.is_empty();
        let mut needed = ColumnSet::of(&["time", "provider", "event", "id"]);
        if with_fields {
            needed = needed.and(ColumnSet::of(&["fields", "raw"]));
        }
        if is_single {
            needed = needed.and(ColumnSet::of(&["stack"]));
        }
        let provider = self.provider.clone();
        let choose: Choose = Box::new(move |kind: &EventKind| {
            is_self_described(kind) && provider.accepts(&kind.provider, &kind.guid, &kind.event, kind.number())
        });
        let times = Inside::times(&self.inside, recording)?;
        let times = times.as_ref();
        let events = Events { filter: &self.filter, fields: &[], choose: Some(choose), needed, with_fields, times };
        events.read(recording.archive(), self.time, &mut |event| {
            let is_asked = self.instant.contains(Some(event.row.time))
                && (self.message.is_empty() || self.message.matches(&message(event)));
            if !is_asked {
                return ControlFlow::Continue(());
            }
            counted.events += 1;
            visit(event, counted)
        })?;
        Ok(())
    }
}

/// The fields as `name=value`, and the bytes that none of them shows.
fn message(event: &EventRead<'_>) -> String {
    let mut text = String::new();
    for (name, value) in &event.fields.fields {
        let blank = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{blank}{name}={value}");
    }
    if let Some(raw) = event.row.raw.as_deref().filter(|raw| !raw.is_empty()) {
        let blank = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{blank}raw={raw}");
    }
    text
}

fn line(event: &EventRead<'_>) -> EventLine {
    let EventRow { time, provider, event: name, id, .. } = event.row;
    let fields = event.fields.fields.iter().map(|(name, value)| ((*name).to_owned(), of_field(value)));
    EventLine {
        time: *time,
        process: event.process.cloned(),
        tid: event.tid,
        provider: provider.clone(),
        event: name.clone(),
        id: *id,
        message: message(event),
        fields: fields.collect(),
        stack: None,
    }
}

/// A number as a number, all else as text.
fn of_field(value: &Field<'_>) -> Value {
    match value {
        Field::Signed(number) => Value::Int(*number),
        Field::Unsigned(number) => i64::try_from(*number).map_or_else(|_| Value::Text(number.to_string()), Value::Int),
        Field::Double(number) => Value::Float(*number),
        Field::Bool(value) => Value::Bool(*value),
        Field::Sid(None) => Value::None,
        other => Value::Text(other.to_string()),
    }
}
