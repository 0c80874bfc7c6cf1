//! Who owned an id at a time, as records tell it.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::ids::{ProcessId, ThreadId};

/// The owners of ids that records tell of. Nothing of it changes any more, so that all threads can ask.
#[derive(Debug, Default)]
pub struct Owners {
    pub(crate) by_pid: FxHashMap<u32, Instances<ProcessId>>,
    pub(crate) by_tid: FxHashMap<u32, Instances<ThreadId>>,
    /// The idle threads, by CPU.
    pub(crate) idle: FxHashMap<u16, ThreadId>,
    /// By thread.
    pub(crate) lives: Vec<Life>,
    /// Number of processes.
    pub(crate) process_count: usize,
}

impl Owners {
    /// The process that owns `pid` at `ticks`.
    #[must_use]
    #[inline]
    pub fn process_at(&self, pid: u32, ticks: i64) -> Option<ProcessId> {
        self.by_pid.get(&pid).map(|instances| instances.owner(ticks))
    }

    /// The thread that owns `tid` at `ticks`, on `cpu` for the idle thread.
    #[must_use]
    #[inline]
    pub fn thread_at(&self, tid: u32, cpu: u16, ticks: i64) -> Option<ThreadId> {
        if tid == 0 {
            return self.idle.get(&cpu).copied();
        }
        self.by_tid.get(&tid).map(|instances| instances.owner(ticks))
    }

    /// How many processes there are; those that are met later have higher numbers.
    #[must_use]
    pub const fn process_count(&self) -> usize {
        self.process_count
    }

    /// How many threads there are; those that are met later have higher numbers.
    #[must_use]
    pub const fn thread_count(&self) -> usize {
        self.lives.len()
    }

    /// The life of `tid` at `ticks`, as a number that tells it apart from other lives of the same tid.
    #[must_use]
    #[inline]
    pub fn instance_of(&self, tid: u32, ticks: i64) -> u32 {
        let instance = self.by_tid.get(&tid).map(|instances| instances.owner(ticks));
        instance.map_or(0, |thread| thread.0.cast_unsigned())
    }

    /// The life of a thread.
    #[must_use]
    #[inline]
    pub fn life(&self, thread: ThreadId) -> Option<&Life> {
        self.lives.get(thread.index())
    }

    /// Switches end lives of a tid, the first one and the last one at these times. Each life that one of them may have ended ends first
    /// then, or when it began.
    pub(crate) fn ends_between(&mut self, tid: u32, cpu: u16, (first, last): (i64, i64)) {
        let Self { lives, by_tid, .. } = self;
        let mut ends = |thread: ThreadId, start: i64| {
            if let Some(life) = lives.get_mut(thread.index()) {
                life.first_end = life.first_end.min(first.max(start));
            }
        };
        if tid == 0 {
            self.idle.get(&cpu).into_iter().for_each(|idle| ends(*idle, i64::MIN));
            return;
        }
        let Some(instances) = by_tid.get(&tid) else { return };
        for ticks in [first, last] {
            ends(instances.owner(ticks), i64::MIN);
        }
        for span in instances.all().iter().filter(|span| span.start <= last) {
            ends(span.id, span.start);
        }
    }
}

/// A thread, as records tell it.
#[derive(Clone, Copy, Debug)]
pub struct Life {
    /// Its tid.
    pub tid: u32,
    /// Its process.
    pub process: ProcessId,
    /// Whether it is the idle thread of a CPU.
    pub is_idle: bool,
    /// Raw times; `i64::MIN` and `i64::MAX` where records do not say.
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// When a record or a switch ends it for the first time, or earlier.
    pub(crate) first_end: i64,
}

impl Life {
    /// Raw start, when it lies inside the recording.
    pub(crate) fn born(&self) -> Option<i64> {
        Some(self.start).filter(|ticks| *ticks != i64::MIN)
    }

    /// Raw end, when it lies inside the recording.
    pub(crate) fn died(&self) -> Option<i64> {
        Some(self.end).filter(|ticks| *ticks != i64::MAX)
    }
}

/// One life of an id inside the population.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<Id> {
    pub(crate) id: Id,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// The lives of one id, ordered by start. Nearly all ids have one, which is found in one step less than a list's.
#[derive(Debug)]
pub(crate) enum Instances<Id> {
    One(Span<Id>),
    Several(Vec<Span<Id>>),
}

impl<Id: Copy> Instances<Id> {
    /// The owner of the id at a time: whoever lives then, else the last owner before, because records of a thread can follow its
    /// end; else the first after, because they can precede its start.
    #[inline]
    pub(crate) fn owner(&self, ticks: i64) -> Id {
        match self {
            Self::One(span) => span.id,
            Self::Several(spans) => owner(spans, ticks).id,
        }
    }

    pub(crate) fn all(&self) -> &[Span<Id>] {
        match self {
            Self::One(span) => std::slice::from_ref(span),
            Self::Several(spans) => spans,
        }
    }

    fn push(&mut self, span: Span<Id>) {
        match self {
            Self::One(first) => *self = Self::Several(vec![*first, span]),
            Self::Several(spans) => spans.push(span),
        }
    }
}

/// Notes a life of an id; lives come in the order of their starts.
pub(crate) fn add_instance<Id: Copy>(instances: &mut FxHashMap<u32, Instances<Id>>, of: u32, span: Span<Id>) {
    match instances.entry(of) {
        Entry::Occupied(mut instances) => instances.get_mut().push(span),
        Entry::Vacant(place) => drop(place.insert(Instances::One(span))),
    }
}

/// The owner of an id at a time among its lives, which are ordered by start and never empty: see [`Lives::owner`].
fn owner<Id: Copy>(spans: &[Span<Id>], ticks: i64) -> Span<Id> {
    let after = spans.partition_point(|span| span.start <= ticks);
    spans[after.saturating_sub(1)]
}
