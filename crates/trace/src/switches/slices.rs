//! Switches of slices of a recording, followed side by side.
//!
//! A slice does not know what threads and CPUs did before. It follows the switches nevertheless: what a thread does behind a switch does
//! not depend on what it did before. The rows do. So an event of a thread or a CPU that was not met before in the slice is deferred, with
//! what the slice knew before it. Whoever has the end of the slices before takes the deferred events in their order, each between the rows
//! of the slice that it stood between, and then the end of the slice. That gives the rows of a tracker that has followed all of it; and
//! as slices can be joined to slices as well, the join is associative.

use super::Deaths;
use super::events::{Ready, Switch};
use super::states::{Cpu, Thread};
use super::tracker::Tracker;
use crate::clock::Clock;
use crate::health::Health;
use crate::ids::{StackId, ThreadId};
use crate::lifespans::Lifespans;
use crate::rows::ContextSwitchRow;
use crate::sink::RowSink;

/// Takes what a slice tells, in its order.
pub trait SwitchTarget {
    /// A row.
    fn row(&mut self, row: &ContextSwitchRow);
    /// What the slices before decide.
    fn deferred(&mut self, deferred: Deferred);
}

/// An event that a slice alone cannot explain.
#[derive(Clone, Debug, PartialEq)]
pub enum Deferred {
    /// Lives end before this raw time, none of them in this slice.
    Ends {
        /// That of the first switch.
        before: i64,
        /// Threads that were readied before.
        known: Met,
    },
    /// The life of a thread ends.
    End {
        /// When, raw.
        died: i64,
        /// Of whom.
        thread: ThreadId,
        /// What the slice knew.
        known: Known,
    },
    /// What a context switch means for the old thread.
    Leave {
        /// What it says.
        event: Switch,
        /// What the slice knew.
        known: Known,
    },
    /// What it means for the new thread.
    Enter {
        /// What it says.
        event: Switch,
        /// What the slice knew.
        known: Known,
    },
    /// A ready event.
    Ready {
        /// What it says.
        event: Ready,
        /// What the slice knew.
        known: Known,
    },
    /// A switch shows a thread alive before its start record.
    AliveSince {
        /// The thread.
        thread: ThreadId,
        /// When, raw.
        ticks: i64,
    },
    /// A switch shows a thread alive after its end record, or ends it.
    AliveUntil {
        /// The thread.
        thread: ThreadId,
        /// When, raw.
        ticks: i64,
    },
}

/// Threads that a slice has met before its first switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Met(pub(super) Vec<(ThreadId, Thread)>);

/// What a slice knew of the threads and the CPU of an event before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known(pub(super) Option<Box<KnownStates>>);

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KnownStates {
    pub(super) threads: [Option<(ThreadId, Thread)>; 2],
    pub(super) cpu: Option<(u16, Cpu)>,
}

/// What a slice knows at its end of the threads and CPUs that it met.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceEnd {
    pub(super) threads: Vec<(ThreadId, Thread)>,
    pub(super) cpus: Vec<(u16, Cpu)>,
    /// The first end of a life that has not been taken, by its number.
    pub(super) next_death: Option<usize>,
    pub(super) any_switch: bool,
    pub(super) any_ready: bool,
}

impl Deferred {
    /// Gives its stacks other ids.
    pub fn number_stacks(&mut self, number: impl Fn(StackId) -> Option<StackId>) {
        let anew = |stack: &mut Option<StackId>| *stack = stack.and_then(&number);
        let known = match self {
            Self::Leave { event, known } | Self::Enter { event, known } => {
                anew(&mut event.new_stack);
                anew(&mut event.old_stack);
                known
            }
            Self::Ready { event, known } => {
                anew(&mut event.stack);
                known
            }
            Self::End { known, .. } => known,
            Self::Ends { known, .. } => return known.0.iter_mut().for_each(|(_, thread)| thread.number_stacks(anew)),
            Self::AliveSince { .. } | Self::AliveUntil { .. } => return,
        };
        let threads = known.0.iter_mut().flat_map(|known| known.threads.iter_mut().flatten());
        threads.for_each(|(_, thread)| thread.number_stacks(anew));
    }

    /// Who ran on the CPU of a ready event, or before a thread left it.
    #[must_use]
    pub fn runs(&self) -> Runs {
        let known = match self {
            Self::Leave { known, .. } | Self::Ready { known, .. } => known.0.as_ref().and_then(|known| known.cpu),
            _ => None,
        };
        match known {
            None => Runs::Open,
            Some((_, Cpu::Runs(thread))) => Runs::Thread(thread),
            Some(_) => Runs::Nobody,
        }
    }
}

impl SliceEnd {
    /// Gives its stacks other ids.
    pub fn number_stacks(&mut self, number: impl Fn(StackId) -> Option<StackId>) {
        let anew = |stack: &mut Option<StackId>| *stack = stack.and_then(&number);
        self.threads.iter_mut().for_each(|(_, thread)| thread.number_stacks(anew));
    }
}

/// Who runs on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// The slices before know it.
    Open,
    /// Nobody who is known.
    Nobody,
    /// This thread.
    Thread(ThreadId),
}

/// Follows the switches of one slice after the other, each for itself.
#[derive(Debug)]
pub struct SliceTracker(Tracker);

impl SliceTracker {
    /// A tracker for slices of a recording with these ends of threads.
    #[must_use]
    pub fn new(clock: Clock, deaths: Deaths) -> Self {
        Self(Tracker::behind(clock, deaths))
    }

    /// Who runs on a CPU.
    #[must_use]
    pub fn running(&self, cpu: u16) -> Runs {
        match self.0.running(cpu) {
            Some(thread) => Runs::Thread(thread),
            None if self.0.is_open(cpu) => Runs::Open,
            None => Runs::Nobody,
        }
    }

    /// A ready event.
    pub fn ready(&mut self, event: Ready, target: &mut impl SwitchTarget) {
        self.0.ready(event, target);
    }

    /// A context switch.
    pub fn switch(
        &mut self,
        event: &Switch,
        lives: &mut impl Lifespans,
        health: &mut Health,
        target: &mut impl SwitchTarget,
    ) {
        self.0.switch(event, false, lives, health, target);
    }

    /// A ready event that the slices before are to explain, as it names a thread of which they alone know.
    pub fn defer_ready(&mut self, event: Ready, target: &mut impl SwitchTarget) {
        self.0.defer_ready(event, target);
    }

    /// A context switch whose row the slices before are to make, as something else about it is not known.
    pub fn defer_enter(
        &mut self,
        event: &Switch,
        lives: &mut impl Lifespans,
        health: &mut Health,
        target: &mut impl SwitchTarget,
    ) {
        self.0.switch(event, true, lives, health, target);
    }

    /// What a slice behind this one could not know.
    pub fn join(
        &mut self,
        deferred: &Deferred,
        lives: &mut impl Lifespans,
        health: &mut Health,
        target: &mut impl SwitchTarget,
    ) {
        self.0.join(deferred, lives, health, target);
    }

    /// The end of a slice behind this one, which is a part of it from here on.
    pub fn end_slice(&mut self, end: &SliceEnd) {
        self.0.end_slice(end);
    }

    /// The end of the slice; the next one begins.
    #[must_use]
    pub fn end(&mut self) -> SliceEnd {
        self.0.take()
    }
}

/// A recording's rows: nothing of it is deferred.
pub(super) struct AllRows<'s, Sink>(pub(super) &'s mut Sink);

impl<Sink: RowSink> SwitchTarget for AllRows<'_, Sink> {
    #[inline]
    fn row(&mut self, row: &ContextSwitchRow) {
        self.0.context_switch(row);
    }

    fn deferred(&mut self, _: Deferred) {}
}

/// Where a recording's tracker has neither rows nor anything to defer.
pub(super) struct Whole;

impl SwitchTarget for Whole {
    fn row(&mut self, _: &ContextSwitchRow) {}

    fn deferred(&mut self, _: Deferred) {}
}

/// Rows that whoever takes a deferred event makes.
pub(super) struct WithoutRows<'t, Target>(pub(super) &'t mut Target);

impl<Target: SwitchTarget> SwitchTarget for WithoutRows<'_, Target> {
    fn row(&mut self, _: &ContextSwitchRow) {}

    fn deferred(&mut self, deferred: Deferred) {
        self.0.deferred(deferred);
    }
}
