//! The texts of events: their fields as JSON, and what else of a row is text. They cost more than all the rest of such a row, so a
//! thread of its own makes the rows where the sink takes them from there.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle, available_parallelism};

use tracesift_etl::Record;
use tracesift_etl::schema::Decoded;
use tracesift_trace::rows::EventRow;
use tracesift_trace::sink::EventsApart;
use tracesift_trace::{Health, HealthKind, ProcessId, RowSink, StackId, ThreadId};

use super::cpu_number;
use crate::event_kinds::EventKind;
use crate::event_row::{set_raw, set_text};

/// Bytes of records, and records, that go to the thread at once.
const PARCEL_BYTES: usize = 256 << 10;
const PARCEL_EVENTS: usize = 1024;

/// Full parcels that wait for the thread, at most.
const WAITING: usize = 4;

/// What is known of an event beside its record.
pub(super) struct EventFacts {
    pub(super) kind: Arc<EventKind>,
    pub(super) ticks: i64,
    /// Nanoseconds since time zero.
    pub(super) time: i64,
    pub(super) process: Option<ProcessId>,
    pub(super) thread: Option<ThreadId>,
    pub(super) stack: Option<StackId>,
}

/// Makes the rows, here or on a thread of its own.
pub(super) enum EventTexts {
    /// Here.
    Here(Box<RowMaker>),
    /// There.
    Thread(TextThread),
}

impl EventTexts {
    /// On a thread, where the sink takes rows from there and a CPU is left for it.
    pub(super) fn new(sink: &mut impl RowSink) -> Self {
        let has_cpu = available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
        let thread = has_cpu.then(|| sink.events_apart()).flatten().and_then(TextThread::start);
        thread.map_or_else(|| Self::Here(Box::default()), Self::Thread)
    }

    /// Makes the row of an event.
    pub(super) fn event(&mut self, facts: EventFacts, record: &Record<'_>, sink: &mut impl RowSink) {
        match self {
            Self::Here(maker) => sink.event(maker.row(&facts, record)),
            Self::Thread(thread) => thread.event(facts, record),
        }
    }

    /// All rows are made. Gives what was wrong with their events.
    pub(super) fn finish(self) -> Health {
        match self {
            Self::Here(maker) => maker.health,
            Self::Thread(thread) => thread.finish(),
        }
    }
}

/// Makes rows, and keeps the memory of their texts from one to the next.
#[derive(Default)]
pub(super) struct RowMaker {
    row: EventRow,
    health: Health,
}

impl RowMaker {
    fn row(&mut self, facts: &EventFacts, record: &Record<'_>) -> &EventRow {
        let EventFacts { kind, ticks, time, process, thread, stack } = facts;
        let fields = match &kind.schema {
            Some(schema) => schema.decode(record),
            None => Decoded::undescribed(record.payload()),
        };
        let row = &mut self.row;
        row.time = *time;
        row.cpu = cpu_number(record);
        row.process = *process;
        row.thread = *thread;
        row.provider.clone_from(&kind.provider);
        row.event.clone_from(&kind.event);
        row.id = kind.id.map(i32::from);
        row.version = i16::from(record.version());
        row.opcode = i16::from(record.opcode());
        row.level = (!kind.is_kernel).then(|| i16::from(record.level()));
        row.keyword = record.kind().is_event().then(|| record.keyword().cast_signed());
        set_text(&mut row.activity, record.activity_id());
        set_text(&mut row.related_activity, record.related_activity_id());
        set_text(&mut row.user, record.user());
        row.stack = *stack;
        set_text(&mut row.schema, kind.schema.as_ref().map(|schema| schema.origin.name()));
        row.guid.clone_from(&kind.guid_text);
        row.fields.clear();
        fields.write_json(&mut row.fields);
        set_raw(&mut row.raw, fields.rest);
        let (ticks, health) = (Some(*ticks), &mut self.health);
        if kind.schema.is_none() {
            health.count(HealthKind::EVENTS_WITHOUT_SCHEMA, ticks, || format!("{}/{}", row.provider, row.event));
        } else if let Some(stopped) = &fields.stopped {
            let example = || format!("{}/{}: {stopped}", row.provider, row.event);
            health.count(HealthKind::EVENTS_UNLIKE_THEIR_SCHEMA, ticks, example);
        }
        &self.row
    }
}

/// Events on their way to the thread.
#[derive(Default)]
struct Parcel {
    events: Vec<(EventFacts, RecordPlace)>,
    bytes: Vec<u8>,
}

/// Where a record lies in a parcel, and what its bytes do not say.
struct RecordPlace {
    bytes: Range<usize>,
    cpu: u16,
    part: u16,
}

/// The thread.
pub(super) struct TextThread {
    parcel: Parcel,
    full: Option<SyncSender<Parcel>>,
    used: Receiver<Parcel>,
    thread: Option<JoinHandle<Health>>,
}

impl TextThread {
    /// Starts it; `None` where the system has no thread left.
    fn start(rows: Box<dyn EventsApart>) -> Option<Self> {
        let (full, parcels) = sync_channel(WAITING);
        let (back, used) = channel();
        let thread = Builder::new().name("event texts".to_owned()).spawn(move || write(&parcels, &back, rows)).ok()?;
        Some(Self { parcel: Parcel::default(), full: Some(full), used, thread: Some(thread) })
    }

    fn event(&mut self, facts: EventFacts, record: &Record<'_>) {
        let Parcel { events, bytes } = &mut self.parcel;
        let start = bytes.len();
        bytes.extend_from_slice(record.bytes());
        events.push((facts, RecordPlace { bytes: start..bytes.len(), cpu: record.cpu(), part: record.part() }));
        if bytes.len() >= PARCEL_BYTES || events.len() >= PARCEL_EVENTS {
            self.send();
        }
    }

    fn send(&mut self) {
        let next = self.used.try_recv().unwrap_or_default();
        let parcel = std::mem::replace(&mut self.parcel, next);
        if let Some(full) = &self.full {
            // Where the thread is gone, its end says why.
            drop(full.send(parcel));
        }
    }

    fn finish(mut self) -> Health {
        self.send();
        self.full = None;
        let thread = self.thread.take();
        thread.map_or_else(Health::new, |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

impl Drop for TextThread {
    /// Waits for the thread: whoever drops it before its end gives up the archive, and nobody may write there any more.
    fn drop(&mut self) {
        self.full = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// What the thread does.
fn write(parcels: &Receiver<Parcel>, back: &std::sync::mpsc::Sender<Parcel>, mut rows: Box<dyn EventsApart>) -> Health {
    let mut maker = RowMaker::default();
    for mut parcel in parcels {
        for (facts, place) in &parcel.events {
            let bytes = parcel.bytes.get(place.bytes.clone()).unwrap_or_default();
            if let Some(record) = Record::parse(bytes, place.cpu, place.part) {
                rows.event(maker.row(facts, &record));
            }
        }
        parcel.events.clear();
        parcel.bytes.clear();
        // Nobody takes it back any more at the end.
        drop(back.send(parcel));
    }
    maker.health
}
