//! What a slice defers, and how the slices before take it.

use super::events::{Ready, Switch};
use super::slices::{Deferred, Known, KnownStates, SliceEnd, SwitchTarget, WithoutRows};
use super::states::{Cpu, Readied, State, Thread};
use super::tracker::Tracker;
use crate::health::Health;
use crate::ids::ThreadId;
use crate::lifespans::Lifespans;

impl Tracker {
    /// A ready event that the slices before explain.
    pub(super) fn defer_ready(&mut self, event: Ready, target: &mut impl SwitchTarget) {
        let known = self.hand_over([Some(event.thread), None], Some(event.cpu));
        if self.threads.get(event.thread) != Thread::OPEN {
            self.thread(event.thread).ready = Readied::Open;
        }
        target.deferred(Deferred::Ready { event, known });
    }

    /// What a switch means for the old thread.
    pub(super) fn leave_first(
        &mut self,
        event: &Switch,
        lives: &mut impl Lifespans,
        health: &mut Health,
        target: &mut impl SwitchTarget,
    ) {
        let is_open = self.is_slice()
            && (self.cpu(event.cpu) == Cpu::Open || event.old.is_some_and(|old| self.threads.get(old).is_open()));
        if !is_open {
            return match event.old {
                Some(old) => self.leave(old, event, lives, health, target),
                None => self.leave_unseen(event, lives, health),
            };
        }
        let current = if let Cpu::Runs(current) = self.cpu(event.cpu) { Some(current) } else { None };
        let known = self.hand_over([event.old, current], event.cpu);
        target.deferred(Deferred::Leave { event: event.clone(), known });
        // What is behind the switch does not depend on what was before it; rows and troubles do.
        let (ignored, without_rows) = (&mut Health::new(), &mut WithoutRows(target));
        match event.old {
            Some(old) => {
                self.leave(old, event, lives, ignored, without_rows);
                self.release(old, lives);
            }
            None => self.leave_unseen(event, lives, ignored),
        }
    }

    /// What a switch means for the new thread.
    pub(super) fn enter_then(
        &mut self,
        event: &Switch,
        defers: bool,
        lives: &mut impl Lifespans,
        health: &mut Health,
        target: &mut impl SwitchTarget,
    ) {
        let Some(new) = event.new else { return self.set_cpu(event.cpu, Cpu::Unwatched) };
        if !self.is_slice() || !defers && !self.threads.get(new).is_open() {
            return self.enter(new, event, lives, health, target);
        }
        let known = self.hand_over([Some(new), None], None);
        target.deferred(Deferred::Enter { event: event.clone(), known });
        self.enter(new, event, lives, &mut Health::new(), &mut WithoutRows(target));
        if self.release(new, lives) {
            self.set_cpu(event.cpu, Cpu::Open);
        }
    }

    /// What this slice knows of threads and of a CPU, for the slices before. They know the threads' ready events from here on.
    pub(super) fn hand_over(&mut self, threads: [Option<ThreadId>; 2], cpu: Option<u16>) -> Known {
        let known_cpu = cpu.map(|number| (number, self.cpu(cpu))).filter(|(_, known)| *known != Cpu::Open);
        let known = threads.map(|thread| {
            let known = (thread?, self.threads.get(thread?));
            if let Readied::OpenOr(_) = known.1.ready {
                self.thread(known.0).ready = Readied::Open;
            }
            Some(known).filter(|(_, known)| *known != Thread::OPEN)
        });
        let is_any = known_cpu.is_some() || known.iter().any(Option::is_some);
        Known(is_any.then(|| Box::new(KnownStates { threads: known, cpu: known_cpu })))
    }

    /// Takes what a slice behind this one knew before one of its events.
    pub(super) fn learn(&mut self, known: &Known) {
        let Some(known) = &known.0 else { return };
        known.threads.iter().flatten().for_each(|(thread, known)| self.learn_thread(*thread, *known));
        if let Some((cpu, known)) = known.cpu {
            self.set_cpu(Some(cpu), known);
        }
    }

    pub(super) fn learn_thread(&mut self, id: ThreadId, known: Thread) {
        let thread = self.thread(id);
        if known.state != State::Open {
            thread.state = known.state;
        }
        thread.ready = thread.ready.then(known.ready);
    }

    /// Gives a thread back if only the slices before know its life.
    pub(super) fn release(&mut self, thread: ThreadId, lives: &impl Lifespans) -> bool {
        let is_open = lives.is_open(thread);
        if is_open {
            *self.thread(thread) = Thread::OPEN;
        }
        is_open
    }

    /// What a slice could not know; all that it told before has been joined.
    pub(super) fn join(
        &mut self,
        deferred: &Deferred,
        lives: &mut impl Lifespans,
        health: &mut Health,
        target: &mut impl SwitchTarget,
    ) {
        match deferred {
            Deferred::Ends { before, known } => {
                known.0.iter().for_each(|(thread, known)| self.learn_thread(*thread, *known));
                self.bury_before(*before, lives, target);
            }
            Deferred::End { died, thread, known } => {
                self.learn(known);
                self.bury(*died, *thread, lives, target);
            }
            Deferred::Leave { event, known } => {
                self.learn(known);
                self.leave_first(event, lives, health, target);
            }
            Deferred::Enter { event, known } => {
                self.learn(known);
                self.enter_then(event, false, lives, health, target);
            }
            Deferred::Ready { event, known } => {
                self.learn(known);
                self.ready(*event, target);
            }
            Deferred::AliveSince { thread, ticks } => {
                if lives.born(*thread).is_some_and(|born| born > *ticks) {
                    self.alive_since(*thread, *ticks, lives, target);
                }
            }
            Deferred::AliveUntil { thread, ticks } => self.alive_until(*thread, *ticks, lives, target),
        }
    }

    /// The end of a slice, all of whose deferred events have been joined.
    pub(super) fn end_slice(&mut self, end: &SliceEnd) {
        end.threads.iter().for_each(|(thread, known)| self.learn_thread(*thread, *known));
        end.cpus.iter().for_each(|(cpu, known)| self.set_cpu(Some(*cpu), *known));
        if end.next_death.is_some() {
            self.next_death = end.next_death;
        }
        self.any_switch |= end.any_switch;
        self.any_ready |= end.any_ready;
    }

    /// What a slice knows at its end. The tracker is as it was at its begin, for the next slice.
    pub(super) fn take(&mut self) -> SliceEnd {
        let cpus = (0..=u16::MAX).zip(self.cpus.drain(..)).filter(|(_, known)| *known != Cpu::Open).collect();
        let mut threads = self.threads.take();
        threads.retain(|(_, known)| *known != Thread::OPEN);
        SliceEnd {
            threads,
            cpus,
            next_death: self.next_death.take(),
            any_switch: std::mem::take(&mut self.any_switch),
            any_ready: std::mem::take(&mut self.any_ready),
        }
    }
}
