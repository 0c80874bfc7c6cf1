//! Waits for locks, as the .NET runtime logs them.

use tracesift_etl::{Record, event_fields};
use tracesift_trace::lock_waits::LockWaits;
use tracesift_trace::rows::{LockWaitRow, lock_sources};
use tracesift_trace::{HealthKind, RowSink, ThreadId};

use super::provider_fields::Fields;
use super::{SecondPass, cpu_number};

/// Event ids of the runtime.
mod id {
    pub(super) const CONTENTION_START: u16 = 81;
    pub(super) const CONTENTION_STOP: u16 = 91;
    pub(super) const WAIT_START: u16 = 301;
    pub(super) const WAIT_STOP: u16 = 302;
}

event_fields! {
    /// A wait begins or ends.
    struct Wait<'a> {
        flags: i64 = "ContentionFlags",
        lock: u64 = "LockID",
        object: u64 = "AssociatedObjectID",
        owner: u64 = "LockOwnerThreadID",
        duration: f64 = "DurationNs",
    }
}

/// The events of waits.
pub(super) const IDS: [u16; 4] = [id::CONTENTION_START, id::CONTENTION_STOP, id::WAIT_START, id::WAIT_STOP];

/// Bit of the flags: the lock is one of the runtime itself.
const NATIVE: i64 = 1;

/// Waits on their way.
#[derive(Default)]
pub(super) struct Contention {
    fields: Fields<Wait<'static>>,
    waits: LockWaits,
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// A thread of a .NET program begins to wait for a lock, or ends it.
    pub(super) fn contention(&mut self, record: &Record<'_>, id: u16) {
        let ticks = record.time();
        let Some(event) = self.contention.fields.read(record, &self.schemas, &mut self.health) else { return };
        let caller = self.caller(record);
        let Some(thread) = caller.thread else { return };
        let source = match id {
            id::CONTENTION_START | id::CONTENTION_STOP => lock_sources::MONITOR,
            _ => lock_sources::WAIT_HANDLE,
        };
        // The runtime tells no lock at the end; a thread waits for one at a time.
        let key = (thread, source, 0);
        if matches!(id, id::CONTENTION_START | id::WAIT_START) {
            let row = LockWaitRow {
                time: caller.time,
                start: caller.time,
                cpu: cpu_number(record),
                process: caller.process,
                thread: Some(thread),
                lock: event.lock.or(event.object).filter(|lock| *lock != 0).map(u64::cast_signed),
                owner: event.owner.and_then(|owner| self.lock_owner(owner, record)),
                source,
                native: event.flags.map(|flags| flags & NATIVE != 0),
                stack: self.provider_stack(record),
                ..LockWaitRow::default()
            };
            // A second begin without an end: the end of the first one is missing.
            if self.contention.waits.end(key, (caller.time, row.cpu)).is_some() {
                self.lock_waits_without_end(1, ticks);
            }
            let given_up = self.contention.waits.begin(key, row);
            self.lock_waits_without_end(given_up, ticks);
            return;
        }
        match self.contention.waits.end(key, (caller.time, cpu_number(record))) {
            Some(row) => {
                let measured = event.duration.filter(|duration| duration.is_finite() && *duration >= 0.0);
                self.sink.lock_wait(&LockWaitRow { measured: measured.map(|duration| duration as i64), ..row });
            }
            None => self.health.count(HealthKind::LOCK_WAITS_WITHOUT_BEGIN, Some(ticks), || {
                format!("tid {}", record.tid().unwrap_or(0))
            }),
        }
    }

    /// The end of the recording, ns: waits that last.
    pub(super) fn finish_contention(&mut self, end: i64) {
        for row in std::mem::take(&mut self.contention.waits).finish(end) {
            let has_died = row.thread.is_some_and(|thread| self.population.died(thread).is_some());
            if has_died {
                self.lock_waits_without_end(1, self.clock.ticks(end));
            } else {
                self.sink.lock_wait(&row);
            }
        }
    }

    /// Events were lost.
    pub(super) fn contention_lost(&mut self, ticks: i64) {
        let open = self.contention.waits.lost();
        self.lock_waits_without_end(open, ticks);
    }

    fn lock_owner(&mut self, owner: u64, record: &Record<'_>) -> Option<ThreadId> {
        let owner = u32::try_from(owner).ok().filter(|owner| *owner != 0)?;
        Some(self.population.named_thread_at(owner, record.cpu(), record.time()))
    }

    fn lock_waits_without_end(&mut self, count: i64, ticks: i64) {
        self.health
            .add(HealthKind::LOCK_WAITS_WITHOUT_END, count, Some(ticks), || "a wait of a .NET thread".to_owned());
    }
}
