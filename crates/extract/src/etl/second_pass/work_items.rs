//! Work of .NET programs that waits for a thread of their pool, and tasks.

use tracesift_etl::payload::dotnet::{FRAMEWORK_PROVIDER, RUNTIME_PROVIDER, TASKS_PROVIDER};
use tracesift_etl::{Guid, Record, event_fields};
use tracesift_trace::rows::{WorkItemRow, work_item_sources as sources};
use tracesift_trace::work_items::{At, Work, WorkItems};
use tracesift_trace::{HealthKind, RowSink};

use super::provider_fields::Fields;
use super::{SecondPass, cpu_number};

event_fields! {
    /// Work is queued, taken or done.
    struct Event<'a> {
        // `WorkID` of the runtime, `workID` of the class library.
        work: i64 = "WorkID",
        task: i64 = "TaskID",
        runtime: i64 = "ClrInstanceID",
    }
}

/// What happens to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happens {
    Queued,
    Taken,
    Completed,
}

/// What an event tells of work, and who tells it.
pub(super) fn tells(provider: Guid, id: u16) -> Option<(i8, Happens)> {
    Some(match (provider, id) {
        (RUNTIME_PROVIDER, 61) => (sources::RUNTIME, Happens::Queued),
        (RUNTIME_PROVIDER, 62) => (sources::RUNTIME, Happens::Taken),
        (TASKS_PROVIDER, 7) => (sources::TASK, Happens::Queued),
        (TASKS_PROVIDER, 8) => (sources::TASK, Happens::Taken),
        (TASKS_PROVIDER, 9) => (sources::TASK, Happens::Completed),
        (FRAMEWORK_PROVIDER, 30) => (sources::FRAMEWORK, Happens::Queued),
        (FRAMEWORK_PROVIDER, 31) => (sources::FRAMEWORK, Happens::Taken),
        _ => return None,
    })
}

/// Work on its way.
#[derive(Default)]
pub(super) struct QueuedWork {
    /// By source.
    fields: [Fields<Event<'static>>; 3],
    items: WorkItems,
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// Work is queued, taken or done.
    pub(super) fn work_item(&mut self, record: &Record<'_>, source: i8, happens: Happens) {
        let Some(fields) = usize::try_from(source).ok().and_then(|place| self.queued_work.fields.get_mut(place)) else {
            return;
        };
        let Some(event) = fields.read(record, &self.schemas, &mut self.health) else { return };
        let id = if source == sources::TASK { event.task } else { event.work };
        let Some(id) = id else {
            return self.health.count(HealthKind::FIELDS_NOT_AS_EXPECTED, Some(record.time()), || {
                format!("event {} of a thread pool: it has no id", record.event_id().unwrap_or(0))
            });
        };
        let runtime = event.runtime.and_then(|runtime| i32::try_from(runtime).ok());
        let caller = self.caller(record);
        let (process, thread) = (caller.process, caller.thread);
        let at = At { time: caller.time, cpu: cpu_number(record), process, thread };
        let work = Work { source, runtime, id };
        match happens {
            Happens::Queued => {
                let row = WorkItemRow { stack: self.provider_stack(record), ..WorkItemRow::default() };
                let given_up = self.queued_work.items.queued(work, at, row);
                self.work_without_dequeue(given_up.into(), record.time());
            }
            Happens::Taken => {
                let sink = &mut *self.sink;
                if !self.queued_work.items.taken(work, at, |row| sink.work_item(&row)) {
                    self.health.count(HealthKind::WORK_ITEMS_WITHOUT_ENQUEUE, Some(record.time()), || {
                        format!("tid {}: {id}", record.tid().unwrap_or(0))
                    });
                }
            }
            Happens::Completed => {
                if let Some(row) = self.queued_work.items.completed(work, at) {
                    self.sink.work_item(&row);
                }
            }
        }
    }

    /// Events were lost.
    pub(super) fn work_lost(&mut self, ticks: i64) {
        let sink = &mut *self.sink;
        let waiting = self.queued_work.items.lost(self.clock.ns(ticks), |row| sink.work_item(&row));
        self.work_without_dequeue(waiting, ticks);
    }

    /// The end of the recording, ns: work that waits or runs.
    pub(super) fn finish_work(&mut self, end: i64) {
        let sink = &mut *self.sink;
        std::mem::take(&mut self.queued_work.items).finish(end, |row| sink.work_item(&row));
    }

    fn work_without_dequeue(&mut self, count: i64, ticks: i64) {
        self.health
            .add(HealthKind::WORK_ITEMS_WITHOUT_DEQUEUE, count, Some(ticks), || "work of a .NET program".to_owned());
    }
}
