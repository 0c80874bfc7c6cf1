//! Rows of the tables `events` and `marks`.

use std::fmt::Write as _;
use std::sync::Arc;

use tracesift_etl::schema::Origin;
use tracesift_perf::{Kind, Metadata, Record, is_of_a_guest};
use tracesift_trace::HealthKind;
use tracesift_trace::rows::{EventRow, MarkRow};
use tracesift_trace::{ProcessId, RowSink, StackId, ThreadId};

use super::call_chain::stack_of;
use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::event_row::set_raw;
use crate::event_selection::EventSelection;
use crate::perf::events::{JsonFields, LinuxKinds, ValueFields, subject};

/// Makes the rows, and keeps their texts from one to the next.
pub(crate) struct EventTable {
    kinds: LinuxKinds,
    row: EventRow,
}

impl EventTable {
    /// The rows of those records that are selected.
    pub(crate) fn new(metadata: Arc<Metadata>, selection: &EventSelection) -> Self {
        Self { kinds: LinuxKinds::new(metadata, selection.clone()), row: EventRow::default() }
    }
}

impl EventTable {
    /// Keeps a record as it was logged, if it is one of those that are kept, or a mark.
    pub(crate) fn record<Sink: RowSink>(&mut self, record: &Record<'_>, rows: &mut Rows<'_, Sink>) {
        let Some(index) = self.kinds.of(record) else { return };
        let kind = self.kinds.kind(index);
        let (is_chosen, is_mark) = (kind.names.chosen, kind.is_mark);
        if is_chosen {
            self.event_row(index, record, rows);
        }
        if is_mark {
            self.mark_row(index, record, rows);
        }
    }

    fn event_row<Sink: RowSink>(&mut self, index: usize, record: &Record<'_>, rows: &mut Rows<'_, Sink>) {
        let Self { kinds, row } = self;
        let (kind, ticks) = (kinds.kind(index), rows.now);
        let (pid, tid) = subject(record);
        let cpu = record.cpu().and_then(|cpu| i16::try_from(cpu).ok());
        row.time = rows.clock.ns(ticks);
        row.cpu = cpu.unwrap_or(-1);
        row.process = pid.map(|pid| rows.population.process_at(pid, ticks));
        row.thread = tid.map(|tid| rows.population.named_thread_at(tid, cpu.map_or(0, i16::cast_unsigned), ticks));
        row.stack = row.process.zip(row.thread).and_then(|(process, thread)| stack(record, process, thread, rows));
        row.provider.clone_from(&kind.names.provider);
        row.event.clone_from(&kind.names.event);
        row.id = kind.names.id.map(i32::from);
        row.opcode = i16::try_from(record.kind().number()).unwrap_or(i16::MAX);
        match kind.origin.map(Origin::name) {
            Some(name) => name.clone_into(row.schema.get_or_insert_default()),
            None => row.schema = None,
        }
        row.fields.clear();
        let mut fields = JsonFields::new(&mut row.fields);
        let rest = kinds.read(index, record, &mut fields);
        fields.finish();
        set_raw(&mut row.raw, rest.bytes);
        if kind.origin.is_none() {
            let name = || format!("{}/{}", row.provider, row.event);
            rows.health.count(HealthKind::EVENTS_WITHOUT_SCHEMA, Some(ticks), name);
        } else if let Some(stopped) = &rest.stopped {
            let example = || format!("{}/{}: {stopped}", row.provider, row.event);
            rows.health.count(HealthKind::EVENTS_UNLIKE_THEIR_SCHEMA, Some(ticks), example);
        }
        rows.sink.event(row);
    }

    fn mark_row<Sink: RowSink>(&self, index: usize, record: &Record<'_>, rows: &mut Rows<'_, Sink>) {
        let ticks = rows.now;
        let (pid, tid) = subject(record);
        let cpu = record.cpu().and_then(|cpu| i16::try_from(cpu).ok());
        rows.sink.mark(&MarkRow {
            time: rows.clock.ns(ticks),
            cpu: cpu.unwrap_or(-1),
            process: pid.map(|pid| rows.population.process_at(pid, ticks)),
            thread: tid.map(|tid| rows.population.thread_at(tid, cpu.map_or(0, i16::cast_unsigned), ticks)),
            text: mark_text(&self.kinds, index, record),
        });
    }
}

/// The call stack of an event.
fn stack<Sink: RowSink>(
    record: &Record<'_>,
    process: ProcessId,
    thread: ThreadId,
    rows: &mut Rows<'_, Sink>,
) -> Option<StackId> {
    if record.kind() != Kind::Sample || is_of_a_guest(record.cpu_mode()) {
        return None;
    }
    let (sample, mode, ticks) = (&record.sample().ok()?, record.cpu_mode(), rows.now);
    let (event, chain) = (record.event()?, record.chain_number());
    stack_of(&SampleContext { event, sample, chain, mode, ticks, cpu: None, thread, process }, rows)
}

/// What was written to the trace marker; of an event that a program made up, its name and its fields.
fn mark_text(kinds: &LinuxKinds, index: usize, record: &Record<'_>) -> String {
    let mut fields = ValueFields::default();
    let rest = kinds.read(index, record, &mut fields);
    let decoded = fields.decoded(rest);
    let names = &kinds.kind(index).names;
    if names.provider == "ftrace" {
        let text = decoded.get("buf").map(ToString::to_string).unwrap_or_default();
        return text.strip_suffix('\n').unwrap_or(&text).to_owned();
    }
    let mut text = names.event.clone();
    for (name, value) in &decoded.fields {
        // Writing to a String cannot fail.
        let _ = write!(text, " {name}={value}");
    }
    text
}
