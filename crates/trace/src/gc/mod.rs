//! Garbage collections of .NET: which suspensions of threads each of them had, and so for how long threads stood for it.
//!
//! All state is kept per process and runtime. A suspension is paired by its thread, a collection by its number. A collection that
//! begins in a suspension has the time from there on; one that begins while another is under way in it gives the rest back when it ends.

mod figures;
mod finalized;
mod held;
mod runtime;
#[cfg(test)]
mod tests;

pub use self::figures::{Generation, HeapStats, History};
pub use self::finalized::Finalized;

use self::held::Held;
use self::runtime::Runtime;
use crate::ids::{ProcessId, StackId, ThreadId};
use crate::open_lives::OpenLives;
use crate::rows::{GcCollectionRow, GcSuspensionRow};

/// Runtimes that are followed at most. Of more the oldest ones are given up.
const MOST_RUNTIMES: usize = 1 << 16;
/// Rows of collections that have ended and wait for figures that the runtime tells later, at most.
const MOST_HELD: usize = 4096;

/// When and where an event was logged.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Nanoseconds since time zero.
    pub time: i64,
    /// The process.
    pub process: ProcessId,
    /// The runtime of the process.
    pub runtime: i16,
    /// The thread.
    pub thread: Option<ThreadId>,
}

/// A collection as its begin tells it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// Number of the collection in its runtime.
    pub number: i32,
    /// The oldest generation that it collects.
    pub generation: i8,
    /// Why; see `gc_collections.reason`.
    pub reason: i8,
    /// See [`gc_kinds`](crate::rows::gc_kinds).
    pub kind: i8,
}

/// Collections and suspensions on their way.
#[derive(Debug)]
pub struct Collections {
    runtimes: OpenLives<(ProcessId, i16), Runtime>,
    held: Held,
    /// Suspensions that have ended, in this order.
    suspensions: Vec<GcSuspensionRow>,
}

impl Default for Collections {
    fn default() -> Self {
        Self::with_most(MOST_RUNTIMES, MOST_HELD)
    }
}

impl Collections {
    fn with_most(runtimes: usize, held: usize) -> Self {
        Self { runtimes: OpenLives::new(runtimes), held: Held::new(held), suspensions: Vec::new() }
    }

    /// Does something with the runtime of an event.
    fn with<T>(
        &mut self,
        at: At,
        change: impl FnOnce(&mut Runtime, &mut Held, &mut Vec<GcSuspensionRow>) -> T,
    ) -> Option<T> {
        let key = (at.process, at.runtime);
        if self.runtimes.get(&key).is_none()
            && let Some(mut oldest) = self.runtimes.insert(key, None, Runtime::default())
        {
            oldest.give_up(at.time, &mut self.held, &mut self.suspensions);
        }
        let runtime = self.runtimes.get_mut(&key)?;
        Some(change(runtime, &mut self.held, &mut self.suspensions))
    }

    /// A suspension is asked for.
    pub fn suspending(&mut self, at: At, reason: i8) {
        self.with(at, |runtime, held, done| runtime.suspending(at, reason, held, done));
    }

    /// All threads stand.
    pub fn suspended(&mut self, at: At) {
        self.with(at, |runtime, held, done| runtime.suspended(at, held, done));
    }

    /// The threads begin to go on.
    pub fn restarting(&mut self, at: At) {
        self.with(at, |runtime, _, _| runtime.restarting(at));
    }

    /// All threads went on.
    pub fn resumed(&mut self, at: At) {
        self.with(at, |runtime, held, done| runtime.resumed(at, held, done));
    }

    /// Somebody asks for a collection.
    pub fn triggered(&mut self, at: At, reason: i8, stack: Option<StackId>) {
        self.with(at, |runtime, _, _| runtime.triggered(at, reason, stack));
    }

    /// A collection begins. .NET Framework tells it twice: the second time changes nothing.
    pub fn started(&mut self, at: At, start: Start) {
        self.with(at, |runtime, held, _| runtime.started(at, start, held));
    }

    /// A collection ends. False: its begin is not known.
    pub fn ended(&mut self, at: At, number: i32) -> bool {
        self.with(at, |runtime, held, _| runtime.ended(at, number, held)).unwrap_or(false)
    }

    /// Sizes after the collection that ended last on this thread.
    pub fn heap_stats(&mut self, at: At, stats: &HeapStats) {
        self.with(at, |runtime, held, _| {
            if let Some(life) = runtime.ended_last(at.thread, held) {
                life.set_stats(stats);
            }
        });
    }

    /// What a collection did to one of its heaps, or to all.
    pub fn history(&mut self, at: At, history: &History<'_>) {
        self.with(at, |runtime, held, _| {
            if let Some(life) = runtime.of_history(at.thread, history.is_of_heap(), held) {
                life.add_history(history);
            }
        });
    }

    /// Roots of a kind led to so many bytes of objects that survive, on one heap.
    pub fn marked(&mut self, at: At, kind: usize, bytes: i64) {
        self.with(at, |runtime, _, _| {
            if let Some(life) = runtime.marking(at.thread) {
                life.add_root(kind, bytes);
            }
        });
    }

    /// An event without a fixed layout, as an object of JSON, about the collection that began last.
    pub fn dynamic(&mut self, at: At, event: &str) {
        self.with(at, |runtime, held, _| {
            if let Some(life) = runtime.began_last(held) {
                life.add_dynamic(event);
            }
        });
    }

    /// So many bytes were allocated since the event before.
    pub fn allocated(&mut self, at: At, bytes: i64, is_large: bool) {
        self.with(at, |runtime, _, _| runtime.allocated(bytes, is_large));
    }

    /// So many finalizers ran.
    pub fn finalized(&mut self, at: At, count: i64) {
        self.with(at, |runtime, held, _| {
            if let Some(life) = runtime.ended_last(None, held) {
                life.row.finalized = Some(life.row.finalized.unwrap_or(0).saturating_add(count));
            }
        });
    }

    /// The next collection whose figures are complete, in the order of ends.
    pub fn next_collection(&mut self) -> Option<GcCollectionRow> {
        self.held.next()
    }

    /// Suspensions that have ended since the last call, in this order.
    pub fn take_suspensions(&mut self) -> impl Iterator<Item = GcSuspensionRow> + '_ {
        self.suspensions.drain(..)
    }

    /// The end of the recording: all that has not ended is open until then.
    pub fn finish(&mut self, end: i64) {
        while let Some(mut runtime) = self.runtimes.oldest() {
            runtime.finish(end, &mut self.held, &mut self.suspensions);
        }
        self.held.give_all();
    }
}
