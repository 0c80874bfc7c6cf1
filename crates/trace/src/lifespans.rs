//! When threads began and ended, for those who follow switches: a switch shows a thread alive.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ids::ThreadId;
use crate::owners::Owners;
use crate::population::Population;

/// The lives of threads.
pub trait Lifespans {
    /// Raw start of a thread's life, when it lies inside the recording.
    fn born(&self, thread: ThreadId) -> Option<i64>;
    /// Raw end of a thread's life, when it lies inside the recording.
    fn died(&self, thread: ThreadId) -> Option<i64>;
    /// The tid of a thread.
    fn tid_of(&self, thread: ThreadId) -> u32;
    /// A switch shows the thread alive before its start record: the record came late.
    fn alive_since(&mut self, thread: ThreadId, ticks: i64);
    /// A switch shows the thread alive after its end record, or ends it.
    fn alive_until(&mut self, thread: ThreadId, ticks: i64);
    /// Whether only the slices before know its life, so that they decide each event of it.
    fn is_open(&self, thread: ThreadId) -> bool;
}

impl Lifespans for Population {
    fn born(&self, thread: ThreadId) -> Option<i64> {
        Self::born(self, thread)
    }

    fn died(&self, thread: ThreadId) -> Option<i64> {
        Self::died(self, thread)
    }

    fn tid_of(&self, thread: ThreadId) -> u32 {
        Self::tid_of(self, thread)
    }

    fn alive_since(&mut self, thread: ThreadId, ticks: i64) {
        Self::alive_since(self, thread, ticks);
    }

    fn alive_until(&mut self, thread: ThreadId, ticks: i64) {
        Self::alive_until(self, thread, ticks);
    }

    fn is_open(&self, _: ThreadId) -> bool {
        false
    }
}

/// The lives of threads inside of a slice of the recording: as records tell them, and as the switches of the slice change them.
///
/// Switches of slices before may have changed the life of a thread that has ended there. Such threads are open, and so are those that
/// no record tells of.
#[derive(Debug)]
pub struct SliceLives {
    owners: Arc<Owners>,
    /// Raw time of the first record of the slice.
    start: i64,
    changed: FxHashMap<ThreadId, (Option<i64>, Option<i64>)>,
}

impl SliceLives {
    /// Those in a slice that begins at raw tick `start`.
    #[must_use]
    pub fn new(owners: Arc<Owners>, start: i64) -> Self {
        Self { owners, start, changed: FxHashMap::default() }
    }

    /// The next slice begins at raw tick `start`.
    pub fn begin(&mut self, start: i64) {
        self.start = start;
        self.changed.clear();
    }

    fn life(&self, thread: ThreadId) -> (Option<i64>, Option<i64>) {
        let told = || self.owners.life(thread).map_or((None, None), |life| (life.born(), life.died()));
        self.changed.get(&thread).copied().unwrap_or_else(told)
    }
}

impl Lifespans for SliceLives {
    fn born(&self, thread: ThreadId) -> Option<i64> {
        self.life(thread).0
    }

    fn died(&self, thread: ThreadId) -> Option<i64> {
        self.life(thread).1
    }

    fn tid_of(&self, thread: ThreadId) -> u32 {
        self.owners.life(thread).map_or(u32::MAX, |life| life.tid)
    }

    fn alive_since(&mut self, thread: ThreadId, ticks: i64) {
        let (_, died) = self.life(thread);
        self.changed.insert(thread, (Some(ticks), died));
    }

    fn alive_until(&mut self, thread: ThreadId, ticks: i64) {
        let (born, _) = self.life(thread);
        self.changed.insert(thread, (born, Some(ticks)));
    }

    fn is_open(&self, thread: ThreadId) -> bool {
        self.owners.life(thread).is_none_or(|life| life.first_end <= self.start)
    }
}
