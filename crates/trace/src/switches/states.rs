//! What a tracker of switches remembers of threads and CPUs.

use super::events::{Leave, Ready};
use crate::ids::{StackId, ThreadId};

/// A ready event, and who readied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReadyFacts {
    pub(super) event: Ready,
    pub(super) readier: Option<ThreadId>,
}

/// How a thread left the CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OffFacts {
    pub(super) since: i64,
    pub(super) leave: Leave,
    pub(super) state: Option<i8>,
    pub(super) wait_reason: Option<i8>,
    pub(super) user_mode_wait: bool,
    pub(super) priority: Option<i8>,
    pub(super) ideal_cpu: Option<i16>,
    pub(super) remaining_quantum: Option<i64>,
    pub(super) stack: Option<StackId>,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    /// The slices before know it.
    Open,
    /// No switch of this thread was seen.
    Unseen,
    /// On `cpu` since the switch-in at `since`.
    Running { cpu: Option<u16>, since: i64 },
    /// Off the CPU.
    Off(OffFacts),
    /// A broken chain: what it does since `since` is unknown.
    Unknown { since: i64 },
    /// Its life is over.
    Dead,
}

/// The first ready event of a thread's current span; while it runs: the one that will count at the switch-out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Readied {
    /// The slices before know it.
    Open,
    /// That of the slices before; if there is none, this one.
    OpenOr(ReadyFacts),
    No,
    By(ReadyFacts),
}

impl Readied {
    pub(super) fn facts(self) -> Option<ReadyFacts> {
        match self {
            Self::By(facts) => Some(facts),
            Self::Open | Self::OpenOr(_) | Self::No => None,
        }
    }

    /// As it is known behind this one, which may be open.
    pub(super) fn then(self, later: Self) -> Self {
        match (self, later) {
            (_, Self::No | Self::By(_)) => later,
            (Self::No, Self::OpenOr(facts)) => Self::By(facts),
            (Self::Open, Self::OpenOr(_)) => later,
            (Self::OpenOr(_) | Self::By(_), Self::OpenOr(_)) | (_, Self::Open) => self,
        }
    }
}

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Thread {
    pub(super) state: State,
    pub(super) ready: Readied,
}

impl Thread {
    /// One of which this recording has told nothing yet.
    pub(super) const UNSEEN: Self = Self { state: State::Unseen, ready: Readied::No };
    /// One of which this slice has told nothing yet.
    pub(super) const OPEN: Self = Self { state: State::Open, ready: Readied::Open };

    /// Whether the slices before decide what the next event of it means.
    pub(super) fn is_open(&self) -> bool {
        self.state == State::Open || matches!(self.ready, Readied::Open | Readied::OpenOr(_))
    }

    /// Gives the stacks that a later row may have other ids.
    pub(super) fn number_stacks(&mut self, anew: impl Fn(&mut Option<StackId>)) {
        if let State::Off(off) = &mut self.state {
            anew(&mut off.stack);
        }
        if let Readied::By(facts) | Readied::OpenOr(facts) = &mut self.ready {
            anew(&mut facts.event.stack);
        }
    }
}

/// A CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cpu {
    /// The slices before know it.
    Open,
    /// No switch yet.
    Fresh,
    /// This thread runs.
    Runs(ThreadId),
    /// Somebody runs whom the recording does not watch.
    Unwatched,
    /// The record does not say which CPU it is about.
    Unnamed,
    /// Whoever ran was seen elsewhere meanwhile.
    Lost,
}

/// The place of a thread of which nothing was told.
const NOWHERE: u32 = u32::MAX;

/// The threads that were met. A recording can have a million of them, and a slice meets some.
#[derive(Debug)]
pub(super) struct Threads {
    /// By thread: its place in `met`.
    places: Vec<u32>,
    met: Vec<(ThreadId, Thread)>,
    /// What a thread begins with.
    first: Thread,
}

impl Threads {
    pub(super) fn new(first: Thread) -> Self {
        Self { places: Vec::new(), met: Vec::new(), first }
    }

    #[inline]
    pub(super) fn get(&self, thread: ThreadId) -> Thread {
        let place = self.places.get(thread.index()).copied().unwrap_or(NOWHERE);
        self.met.get(place as usize).map_or(self.first, |(_, thread)| *thread)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, thread: ThreadId) -> &mut Thread {
        let index = thread.index();
        if index >= self.places.len() {
            self.places.resize(index + 1, NOWHERE);
        }
        if self.places[index] == NOWHERE {
            self.places[index] = u32::try_from(self.met.len()).unwrap_or(NOWHERE);
            self.met.push((thread, self.first));
        }
        &mut self.met[self.places[index] as usize].1
    }

    /// Those that were met; they are forgotten.
    pub(super) fn take(&mut self) -> Vec<(ThreadId, Thread)> {
        let met = std::mem::take(&mut self.met);
        met.iter().for_each(|(thread, _)| self.places[thread.index()] = NOWHERE);
        met
    }

    /// Those with a ready event of which the slices before decide whether it counts, for the slices before: they know it from here on.
    pub(super) fn met_open(&mut self) -> Vec<(ThreadId, Thread)> {
        let open = self.met.iter_mut().filter(|(_, thread)| matches!(thread.ready, Readied::OpenOr(_)));
        open.map(|(id, thread)| {
            let known = (*id, *thread);
            thread.ready = Readied::Open;
            known
        })
        .collect()
    }

    /// Those that were met, by their ids.
    pub(super) fn ids(&self) -> Vec<ThreadId> {
        let mut ids: Vec<_> = self.met.iter().map(|(thread, _)| *thread).collect();
        ids.sort_unstable();
        ids
    }
}
