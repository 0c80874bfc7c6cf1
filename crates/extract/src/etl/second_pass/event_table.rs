//! Rows of the table `events`: what was logged, named and taken apart.

use tracesift_etl::schema::{Decoded, Schemas};
use tracesift_etl::{Record, Wanted as _};
use tracesift_trace::Clock;
use tracesift_trace::HealthKind;
use tracesift_trace::rows::EventRow;
use tracesift_trace::{Health, Population};

use super::cpu_number;
use crate::event_kinds::{EventChoice, EventKinds, WantedHooks, subject};
use crate::event_row::{set_raw, set_text};

/// Makes the rows, and keeps their texts from one to the next.
pub(super) struct EventTable {
    kinds: EventKinds,
    /// Kernel events are nearly all records; most selections take few of them.
    hooks: WantedHooks,
    row: EventRow,
}

impl EventTable {
    pub(super) fn new(schemas: &Schemas, choice: EventChoice) -> Self {
        let hooks = WantedHooks::of(schemas, &choice);
        Self { kinds: EventKinds::new(choice), hooks, row: EventRow::default() }
    }

    /// Whether it can want the record at all: cheap to ask.
    #[inline]
    pub(super) fn wants(&self, record: &Record<'_>) -> bool {
        self.hooks.wants(record)
    }

    /// The row of a record, without its stack; `None` for a record that was not chosen.
    pub(super) fn row(
        &mut self,
        record: &Record<'_>,
        schemas: &mut Schemas,
        clock: &Clock,
        population: &mut Population,
        health: &mut Health,
    ) -> Option<&mut EventRow> {
        let kind = self.kinds.of(record, schemas);
        if !kind.chosen {
            return None;
        }
        let fields = match &kind.schema {
            Some(schema) => schema.decode(record),
            None => Decoded::undescribed(record.payload()),
        };
        let (pid, tid) = subject(record, kind.is_kernel.then_some(&fields), population);
        let (ticks, cpu) = (record.time(), record.cpu());
        let row = &mut self.row;
        row.time = clock.ns(ticks);
        row.cpu = cpu_number(record);
        row.process = pid.map(|pid| population.process_at(pid, ticks));
        row.thread = tid.map(|tid| population.named_thread_at(tid, cpu, ticks));
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
        row.stack = None;
        set_text(&mut row.schema, kind.schema.as_ref().map(|schema| schema.origin.name()));
        row.guid.clone_from(&kind.guid_text);
        row.fields.clear();
        fields.write_json(&mut row.fields);
        set_raw(&mut row.raw, fields.rest);
        if kind.schema.is_none() {
            health.count(HealthKind::EVENTS_WITHOUT_SCHEMA, Some(ticks), || format!("{}/{}", row.provider, row.event));
        } else if let Some(stopped) = &fields.stopped {
            let example = || format!("{}/{}: {stopped}", row.provider, row.event);
            health.count(HealthKind::EVENTS_UNLIKE_THEIR_SCHEMA, Some(ticks), example);
        }
        Some(row)
    }
}
