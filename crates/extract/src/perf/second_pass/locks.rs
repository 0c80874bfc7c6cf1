//! Waits for locks of the kernel.

use tracesift_trace::lock_waits::LockWaits;
use tracesift_trace::rows::{LockWaitRow, lock_sources};
use tracesift_trace::{HealthKind, RowSink};

use super::call_chain::stack_of;
use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::perf::tracepoint::LockFields;

/// Follows threads that wait for locks.
#[derive(Default)]
pub(crate) struct Locks {
    waits: LockWaits,
}

impl Locks {
    /// A wait begins or ends.
    pub(crate) fn event<Sink: RowSink>(
        &mut self,
        fields: &LockFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let Some((raw, lock)) = at.sample.raw.and_then(|raw| Some((raw, fields.lock.get(raw)?))) else {
            return rows.health.count(HealthKind::INCOMPLETE_LOCK_EVENTS, Some(at.ticks), || {
                "an event without its fields".to_owned()
            });
        };
        let (time, key) = (rows.clock.ns(at.ticks), (at.thread, lock_sources::KERNEL, lock));
        if fields.begins {
            let row = LockWaitRow {
                time,
                start: time,
                cpu: at.cpu_or_none(),
                process: Some(at.process),
                thread: Some(at.thread),
                lock: Some(lock),
                source: lock_sources::KERNEL,
                native: Some(true),
                flags: fields.flags.as_ref().and_then(|flags| i32::try_from(flags.get(raw)?).ok()),
                stack: stack_of(at, rows),
                ..LockWaitRow::default()
            };
            let given_up = self.waits.begin(key, row);
            without_end(given_up, at.ticks, rows);
            return;
        }
        match self.waits.end(key, (time, at.cpu_or_none())) {
            Some(row) => rows.sink.lock_wait(&row),
            None => {
                rows.health.count(HealthKind::LOCK_WAITS_WITHOUT_BEGIN, Some(at.ticks), || format!("lock {lock:#x}"));
            }
        }
    }

    /// Events were lost.
    pub(crate) fn lost<Sink: RowSink>(&mut self, rows: &mut Rows<'_, Sink>) {
        let (open, now) = (self.waits.lost(), rows.now);
        without_end(open, now, rows);
    }

    /// The end of the recording, in ticks: waits that last.
    pub(crate) fn finish<Sink: RowSink>(self, end: i64, rows: &mut Rows<'_, Sink>) {
        let end_ns = rows.clock.ns(end);
        for row in self.waits.finish(end_ns) {
            match row.thread.and_then(|thread| rows.population.died(thread)) {
                Some(_) => without_end(1, end, rows),
                None => rows.sink.lock_wait(&row),
            }
        }
    }
}

fn without_end<Sink: RowSink>(count: i64, ticks: i64, rows: &mut Rows<'_, Sink>) {
    rows.health.add(HealthKind::LOCK_WAITS_WITHOUT_END, count, Some(ticks), || "a wait for a lock".to_owned());
}
