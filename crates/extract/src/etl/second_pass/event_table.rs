//! The table `events`: which records have rows in it, and whom they are about.

use std::sync::Arc;

use tracesift_etl::schema::Schemas;
use tracesift_etl::{Record, Wanted as _};
use tracesift_trace::{Clock, Health, Population, RowSink, StackId};

use super::event_texts::{EventFacts, EventTexts};
use crate::event_kinds::{EventChoice, EventKinds, WantedHooks, subject};

/// Chooses the records.
pub(super) struct EventTable {
    kinds: EventKinds,
    /// Kernel events are nearly all records; most selections take few of them.
    hooks: WantedHooks,
    texts: EventTexts,
}

impl EventTable {
    pub(super) fn new((choice, hooks): (EventChoice, WantedHooks), sink: &mut impl RowSink) -> Self {
        Self { kinds: EventKinds::new(choice), hooks, texts: EventTexts::new(sink) }
    }

    /// Whether it can want the record at all: cheap to ask.
    #[inline]
    pub(super) fn wants(&self, record: &Record<'_>) -> bool {
        self.hooks.wants(record)
    }

    /// What is known of a record, without its stack; `None` for a record that was not chosen.
    pub(super) fn facts(
        &mut self,
        record: &Record<'_>,
        schemas: &mut Schemas,
        clock: &Clock,
        population: &mut Population,
    ) -> Option<EventFacts> {
        let kind = self.kinds.of(record, schemas);
        if !kind.chosen {
            return None;
        }
        let kind = Arc::clone(kind);
        // Only kernel events are about somebody whom their fields name.
        let fields = kind.schema.as_ref().filter(|_| kind.is_kernel).map(|schema| schema.decode(record));
        let (pid, tid) = subject(record, fields.as_ref(), population);
        let (ticks, cpu) = (record.time(), record.cpu());
        Some(EventFacts {
            process: pid.map(|pid| population.process_at(pid, ticks)),
            thread: tid.map(|tid| population.named_thread_at(tid, cpu, ticks)),
            time: clock.ns(ticks),
            ticks,
            stack: None,
            kind: Arc::clone(&kind),
        })
    }

    /// Has the row of an event made.
    pub(super) fn event(
        &mut self,
        facts: EventFacts,
        stack: Option<StackId>,
        record: &Record<'_>,
        sink: &mut impl RowSink,
    ) {
        self.texts.event(EventFacts { stack, ..facts }, record, sink);
    }

    /// All rows are made. Gives what was wrong with their events.
    pub(super) fn finish(self) -> Health {
        self.texts.finish()
    }
}
