//! Pairs the times at which work of .NET programs was queued, taken and done.

use crate::ids::{ProcessId, ThreadId};
use crate::overlapping::Overlapping;
use crate::pairs::{Outcome, Pairs};
use crate::rows::{WorkItemRow, work_item_sources};

/// Work that waits or runs, and that is followed, at most. Of more the oldest makes room.
const MOST: usize = 1 << 20;
/// Work with the same id that waits, at most.
const MOST_OF_ONE: usize = 1024;

/// Where an event was logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Nanoseconds since time zero.
    pub time: i64,
    /// CPU.
    pub cpu: i16,
    /// Process.
    pub process: Option<ProcessId>,
    /// Thread.
    pub thread: Option<ThreadId>,
}

/// What work is known by: of the same source, in the same runtime of a process, its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    process: Option<ProcessId>,
    source: i8,
    runtime: Option<i32>,
    id: i64,
}

/// Work that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Who tells of it: [`work_item_sources`].
    pub source: i8,
    /// Number of the runtime in the process, where the event has it.
    pub runtime: Option<i32>,
    /// Its id.
    pub id: i64,
}

/// Work on its way. Fed in the order of time. Where several have the same id, the first that was queued is the first that is taken.
#[derive(Debug)]
pub struct WorkItems {
    waiting: Overlapping<Key, WorkItemRow>,
    /// Tasks that run. A task is completed by the thread that began it.
    running: Pairs<(Key, Option<ThreadId>), WorkItemRow, ()>,
}

impl Default for WorkItems {
    fn default() -> Self {
        Self::with_most(MOST, MOST_OF_ONE)
    }
}

fn key(work: Work, at: At) -> Key {
    Key { process: at.process, source: work.source, runtime: work.runtime, id: work.id }
}

impl WorkItems {
    /// None yet. Never more than `most` wait and run, and never more than `most_of_one` with the same id wait.
    #[must_use]
    pub fn with_most(most: usize, most_of_one: usize) -> Self {
        Self { waiting: Overlapping::new(most, most_of_one), running: Pairs::new(most) }
    }

    /// Work is queued; `row` has what is known of it. Whether other work had to make room for it.
    pub fn queued(&mut self, work: Work, at: At, row: WorkItemRow) -> bool {
        let row = WorkItemRow {
            time: at.time,
            start: at.time,
            cpu: at.cpu,
            process: at.process,
            thread: at.thread,
            source: work.source,
            id: work.id,
            runtime: work.runtime,
            ..row
        };
        self.waiting.begin(key(work, at), row).is_some()
    }

    /// A thread takes work. Whether it is known; `put` gets rows that are over.
    pub fn taken(&mut self, work: Work, at: At, mut put: impl FnMut(WorkItemRow)) -> bool {
        let key = key(work, at);
        let first = self.waiting.of(&key).next().map(|(number, _)| number);
        let Some(row) = first.and_then(|number| self.waiting.take(number)) else { return false };
        let time = at.time.max(row.start);
        let row = WorkItemRow { time, cpu: at.cpu, worker: at.thread, started: Some(time), ..row };
        if work.source != work_item_sources::TASK {
            put(row);
            return true;
        }
        for outcome in self.running.begin((key, at.thread), time, row) {
            if let Outcome::Unended(row, time) = outcome {
                put(WorkItemRow { time: time.max(row.time), ..row });
            }
        }
        true
    }

    /// A task is completed. Gives its row; `None` where its begin is not known.
    pub fn completed(&mut self, work: Work, at: At) -> Option<WorkItemRow> {
        match self.running.end((key(work, at), at.thread), ()) {
            Some(Outcome::Whole(row, ())) => {
                let time = at.time.max(row.time);
                Some(WorkItemRow { time, cpu: at.cpu, ended: Some(time), ..row })
            }
            _ => None,
        }
    }

    /// Events were lost at a time: what waits may have been taken, and what runs may be over. Gives the number of what waits; `put` gets
    /// the rows of what runs.
    pub fn lost(&mut self, time: i64, put: impl FnMut(WorkItemRow)) -> i64 {
        self.end_running(time, put);
        self.waiting.drain().count() as i64
    }

    /// The end of the recording; `put` gets the rows of what waits and runs.
    pub fn finish(mut self, end: i64, mut put: impl FnMut(WorkItemRow)) {
        self.end_running(end, &mut put);
        for row in self.waiting.drain() {
            put(WorkItemRow { time: end.max(row.start), open: Some(true), ..row });
        }
    }

    fn end_running(&mut self, time: i64, put: impl FnMut(WorkItemRow)) {
        self.running.drain().map(|row| WorkItemRow { time: time.max(row.time), ..row }).for_each(put);
    }
}

#[cfg(test)]
mod tests;
