//! Who runs where and who waits since when: the states behind the rows of switches, of a recording or of a slice of it.

use super::Deaths;
use super::events::{Leave, Ready, Switch};
use super::slices::{Deferred, Met, SwitchTarget, WithoutRows};
use super::spans::{fill_off, fill_ready};
use super::states::{Cpu, OffFacts, Readied, ReadyFacts, State, Thread, Threads};
use crate::clock::Clock;
use crate::health::Health;
use crate::health_kinds::HealthKind;
use crate::ids::ThreadId;
use crate::lifespans::Lifespans;
use crate::rows::{ContextSwitchRow, switch_flags};

/// Counter of health: the thread that leaves a CPU is not the one that came last.
const BROKEN_CHAIN: HealthKind = HealthKind::BROKEN_SWITCH_CHAIN;
/// Counter of health: a thread is on a CPU though it was last seen elsewhere, and no link of a CPU is broken by that. Its time between is unknown.
const MOVED_UNSEEN: HealthKind = HealthKind::THREAD_MOVED_UNSEEN;

/// The states of a recording's threads and CPUs, or of a slice's.
#[derive(Debug)]
pub(super) struct Tracker {
    clock: Clock,
    start: i64,
    pub(super) threads: Threads,
    pub(super) cpus: Vec<Cpu>,
    /// What a CPU begins with.
    first_cpu: Cpu,
    pub(super) deaths: Deaths,
    /// The first of them that has not been closed; `None` as long as only the slices before know it.
    pub(super) next_death: Option<usize>,
    pub(super) any_switch: bool,
    pub(super) any_ready: bool,
}

impl Tracker {
    /// Of a recording that starts at raw tick `start`, or of its first slice.
    pub(super) fn new(clock: Clock, start: i64, deaths: Deaths) -> Self {
        Self {
            clock,
            start,
            threads: Threads::new(Thread::UNSEEN),
            cpus: Vec::new(),
            first_cpu: Cpu::Fresh,
            deaths,
            next_death: Some(0),
            any_switch: false,
            any_ready: false,
        }
    }

    /// Of a slice behind others.
    pub(super) fn behind(clock: Clock, deaths: Deaths) -> Self {
        Self {
            threads: Threads::new(Thread::OPEN),
            first_cpu: Cpu::Open,
            next_death: None,
            ..Self::new(clock, i64::MIN, deaths)
        }
    }

    pub(super) const fn is_slice(&self) -> bool {
        matches!(self.first_cpu, Cpu::Open)
    }

    /// The thread that runs on a CPU, as far as known.
    pub(super) fn running(&self, cpu: u16) -> Option<ThreadId> {
        match self.cpu(Some(cpu)) {
            Cpu::Runs(thread) => Some(thread),
            _ => None,
        }
    }

    /// Whether no switch of a CPU was seen.
    pub(super) fn is_fresh(&self, cpu: u16) -> bool {
        self.cpu(Some(cpu)) == Cpu::Fresh
    }

    /// Whether only the slices before know who runs on a CPU.
    pub(super) fn is_open(&self, cpu: u16) -> bool {
        self.cpu(Some(cpu)) == Cpu::Open
    }

    /// A ready event.
    pub(super) fn ready(&mut self, event: Ready, target: &mut impl SwitchTarget) {
        let is_open = event.readier.is_none() && self.is_open(event.cpu);
        let readier = event.readier.or_else(|| self.running(event.cpu));
        let facts = ReadyFacts { event, readier };
        let first = match self.threads.get(event.thread).ready {
            // Only the first one counts.
            Readied::By(_) | Readied::OpenOr(_) => None,
            // Who readies the slices before know.
            Readied::No | Readied::Open if is_open => return self.defer_ready(event, target),
            Readied::No => Some(Readied::By(facts)),
            Readied::Open => Some(Readied::OpenOr(facts)),
        };
        self.any_ready = true;
        if let Some(first) = first {
            self.thread(event.thread).ready = first;
        }
    }

    /// A context switch; with `defers_enter` the slices before explain what it means for the new thread.
    pub(super) fn switch(
        &mut self,
        event: &Switch,
        defers_enter: bool,
        lives: &mut impl Lifespans,
        health: &mut Health,
        target: &mut impl SwitchTarget,
    ) {
        self.bury_before(event.ticks, lives, target);
        self.any_switch = true;
        self.leave_first(event, lives, health, target);
        self.enter_then(event, defers_enter, lives, health, target);
    }

    /// The end of the recording, `end` nanoseconds after time zero: closes what is open.
    pub(super) fn finish(&mut self, end: i64, lives: &mut impl Lifespans, target: &mut impl SwitchTarget) {
        self.bury_before(self.clock.ticks(end.saturating_add(1)), lives, target);
        for thread in self.threads.ids() {
            // Whose switches go on behind the end record has lived until the last of them: nothing is open there.
            let is_over = match self.threads.get(thread).state {
                State::Off(off) => lives.died(thread) == Some(off.since),
                _ => false,
            };
            if !is_over {
                self.close(thread, end, target);
            }
        }
    }

    pub(super) fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        self.threads.get_mut(thread)
    }

    pub(super) fn cpu(&self, cpu: Option<u16>) -> Cpu {
        cpu.map_or(Cpu::Unnamed, |cpu| self.cpus.get(usize::from(cpu)).copied().unwrap_or(self.first_cpu))
    }

    pub(super) fn set_cpu(&mut self, cpu: Option<u16>, state: Cpu) {
        let Some(cpu) = cpu.map(usize::from) else { return };
        if self.cpus.len() <= cpu {
            self.cpus.resize(cpu + 1, self.first_cpu);
        }
        self.cpus[cpu] = state;
    }

    pub(super) fn alive_since(
        &self,
        thread: ThreadId,
        ticks: i64,
        lives: &mut impl Lifespans,
        target: &mut impl SwitchTarget,
    ) {
        if !lives.is_open(thread) {
            lives.alive_since(thread, ticks);
            if self.is_slice() {
                target.deferred(Deferred::AliveSince { thread, ticks });
            }
        }
    }

    pub(super) fn alive_until(
        &self,
        thread: ThreadId,
        ticks: i64,
        lives: &mut impl Lifespans,
        target: &mut impl SwitchTarget,
    ) {
        if !lives.is_open(thread) {
            lives.alive_until(thread, ticks);
            if self.is_slice() {
                target.deferred(Deferred::AliveUntil { thread, ticks });
            }
        }
    }

    fn lifetime_start(&self, thread: ThreadId, lives: &impl Lifespans) -> i64 {
        lives.born(thread).map_or(self.start, |born| born.max(self.start))
    }

    /// A thread comes in from one that is not watched; a watched one must have left before.
    pub(super) fn leave_unseen(&mut self, event: &Switch, lives: &impl Lifespans, health: &mut Health) {
        let Cpu::Runs(current) = self.cpu(event.cpu) else { return };
        // Events of single tasks end with the task: after its exit nothing says that it leaves the CPU.
        if lives.died(current).is_some_and(|died| died <= event.ticks) {
            self.thread(current).state = State::Dead;
            return;
        }
        health.count(BROKEN_CHAIN, Some(event.ticks), || {
            let tid = lives.tid_of(current);
            format!("{}: tid {tid} was running there and was not seen to leave", cpu_text(event.cpu))
        });
        if let State::Running { since, .. } = self.thread(current).state {
            self.thread(current).state = State::Unknown { since };
        }
    }

    /// The old thread leaves.
    pub(super) fn leave(
        &mut self,
        old: ThreadId,
        event: &Switch,
        lives: &mut impl Lifespans,
        health: &mut Health,
        target: &mut impl SwitchTarget,
    ) {
        let current = self.cpu(event.cpu);
        let old_state = self.thread(old).state;
        let intact = match (current, old_state) {
            // The CPU's first switch: who leaves now ran here since the start of the recording.
            // Where nobody saw how, others may have run there before, unseen as well.
            (Cpu::Fresh, State::Unseen) => event.leave != Leave::Unseen,
            (Cpu::Unnamed, State::Unseen | State::Running { .. }) => true,
            (Cpu::Runs(current), State::Running { cpu, .. }) => current == old && cpu == event.cpu,
            _ => false,
        };
        if old_state == State::Open && matches!(current, Cpu::Open | Cpu::Unnamed) {
            // Whether a ready event before still counts, the slices before know.
            self.thread(old).ready = Readied::Open;
        } else if !intact {
            // A recorder that goes from CPU to CPU to switch its events on or off is seen on some of them only; the links of the CPUs are whole.
            let moved = current == Cpu::Fresh && event.leave != Leave::Unseen;
            health.count(if moved { MOVED_UNSEEN } else { BROKEN_CHAIN }, Some(event.ticks), || {
                format!(
                    "{}: tid {} is switched out, but {} was running there",
                    cpu_text(event.cpu),
                    lives.tid_of(old),
                    match current {
                        Cpu::Runs(thread) => format!("tid {}", lives.tid_of(thread)),
                        Cpu::Open | Cpu::Fresh | Cpu::Unwatched | Cpu::Unnamed | Cpu::Lost => {
                            "nobody known".to_owned()
                        }
                    }
                )
            });
            if let Cpu::Runs(current) = current
                && let State::Running { cpu, since } = self.thread(current).state
                && cpu == event.cpu
                && current != old
            {
                // If its life is over it may still come back: the next of its switches says so, or the end of the recording.
                self.thread(current).state = State::Unknown { since };
            }
            self.lose_cpu_of(old_state, old);
            self.gap(old, event, old_state, lives, target);
        }
        if event.cpu.is_none() {
            self.lose_cpu_of(old_state, old);
        }
        if intact && event.leave == Leave::Unseen {
            health.count(BROKEN_CHAIN, Some(event.ticks), || {
                format!("{}: nobody saw how tid {} left", cpu_text(event.cpu), lives.tid_of(old))
            });
        }
        let died = lives.died(old);
        if event.leave == Leave::Ended || died.is_some_and(|died| died < event.ticks) {
            self.alive_until(old, event.ticks, lives, target);
        }
        let facts = OffFacts {
            since: event.ticks,
            leave: event.leave,
            state: event.old_state,
            wait_reason: event.wait_reason,
            user_mode_wait: event.user_mode_wait,
            priority: event.old_priority,
            ideal_cpu: event.old_ideal_cpu,
            remaining_quantum: event.old_remaining_quantum,
            stack: event.old_stack,
        };
        self.thread(old).state = match event.leave {
            Leave::Unseen => State::Unknown { since: event.ticks },
            Leave::Runnable | Leave::Blocked | Leave::Ended => State::Off(facts),
        };
        // Behind its end record a thread goes on for a while, on Linux also off the CPU and back.
        if event.leave == Leave::Ended || died == Some(event.ticks) {
            self.close(old, self.clock.ns(event.ticks), target);
        }
    }

    /// A row for the unknown time of a thread that a broken chain shows running.
    fn gap(
        &mut self,
        old: ThreadId,
        event: &Switch,
        old_state: State,
        lives: &impl Lifespans,
        target: &mut impl SwitchTarget,
    ) {
        let since = match old_state {
            State::Open => event.ticks,
            State::Unseen => self.lifetime_start(old, lives).min(event.ticks),
            State::Running { since, .. } | State::Unknown { since } => since,
            State::Off(facts) => facts.since,
            State::Dead => lives.died(old).unwrap_or(event.ticks).min(event.ticks),
        };
        self.thread(old).ready = Readied::No;
        target.row(&ContextSwitchRow {
            time: self.clock.ns(event.ticks),
            cpu: event.cpu.and_then(|cpu| i16::try_from(cpu).ok()),
            thread: old,
            off_time: self.clock.ns(since),
            flags: switch_flags::GAP | switch_flags::BROKEN,
            ..ContextSwitchRow::default()
        });
    }

    /// The new thread gets the CPU.
    pub(super) fn enter(
        &mut self,
        new: ThreadId,
        event: &Switch,
        lives: &mut impl Lifespans,
        health: &mut Health,
        target: &mut impl SwitchTarget,
    ) {
        let clock = self.clock;
        if lives.born(new).is_some_and(|born| born > event.ticks) {
            self.alive_since(new, event.ticks, lives, target);
        }
        let died = lives.died(new).filter(|died| *died < event.ticks);
        if died.is_some() {
            self.alive_until(new, event.ticks, lives, target);
        }
        let lifetime_start = self.lifetime_start(new, lives).min(event.ticks);
        let born_inside = lives.born(new).is_some();
        let state = self.thread(new).state;
        self.lose_cpu_of(state, new);
        let thread = self.thread(new);
        let mut row = ContextSwitchRow {
            time: clock.ns(event.ticks),
            cpu: event.cpu.and_then(|cpu| i16::try_from(cpu).ok()),
            thread: new,
            prev_thread: event.old,
            wait_stack: event.new_stack,
            priority: event.new_priority,
            previous_c_state: event.previous_c_state,
            wait_ticks: event.new_wait_ticks,
            counters: event.counters.clone(),
            ..ContextSwitchRow::default()
        };
        match thread.state {
            State::Open => {}
            State::Unseen => {
                row.off_time = clock.ns(lifetime_start);
                row.flags = switch_flags::OPEN_LEFT;
                if born_inside {
                    fill_ready(&mut row, thread.ready.facts(), clock, lifetime_start);
                }
            }
            State::Off(off) => fill_off(&mut row, off, thread.ready.facts(), clock),
            State::Unknown { since } => {
                row.off_time = clock.ns(since);
                row.flags = switch_flags::BROKEN;
            }
            State::Running { since, cpu } => {
                health.count(MOVED_UNSEEN, Some(event.ticks), || {
                    format!(
                        "tid {} is switched in on {} while it was running on {}",
                        lives.tid_of(new),
                        cpu_text(event.cpu),
                        cpu_text(cpu)
                    )
                });
                row.off_time = clock.ns(since);
                row.flags = switch_flags::BROKEN;
            }
            State::Dead => {
                health.count(HealthKind::SWITCH_IN_AFTER_THREAD_END, Some(event.ticks), || {
                    format!("tid {} on {}", lives.tid_of(new), cpu_text(event.cpu))
                });
                row.off_time = clock.ns(died.unwrap_or(event.ticks));
                row.flags = switch_flags::BROKEN;
            }
        }
        thread.ready = Readied::No;
        thread.state = State::Running { cpu: event.cpu, since: event.ticks };
        self.set_cpu(event.cpu, Cpu::Runs(new));
        target.row(&row);
    }

    /// A thread that was believed to run somewhere is seen elsewhere: nobody knows who runs there now.
    fn lose_cpu_of(&mut self, state: State, thread: ThreadId) {
        if let State::Running { cpu: Some(cpu), .. } = state
            && let Some(runs) = self.cpus.get_mut(usize::from(cpu))
            && *runs == Cpu::Runs(thread)
        {
            *runs = Cpu::Lost;
        }
    }

    /// Closes the threads whose life ended before `ticks`, in the order of their ends.
    pub(super) fn bury_before(&mut self, ticks: i64, lives: &mut impl Lifespans, target: &mut impl SwitchTarget) {
        let Some(mut next) = self.next_death else {
            self.next_death = Some(self.deaths.partition_point(|(died, _)| *died < ticks));
            let known = Met(self.threads.met_open());
            return target.deferred(Deferred::Ends { before: ticks, known });
        };
        while let Some((died, thread)) = self.deaths.get(next).copied()
            && died < ticks
        {
            next += 1;
            self.next_death = Some(next);
            self.bury(died, thread, lives, target);
        }
    }

    /// Closes a thread whose life ended then.
    pub(super) fn bury(&mut self, died: i64, thread: ThreadId, lives: &impl Lifespans, target: &mut impl SwitchTarget) {
        let time = self.clock.ns(died);
        // A switch after its end record prolonged the life.
        let is_over = lives.died(thread) == Some(died);
        if self.is_slice() && self.threads.get(thread).is_open() {
            let known = self.hand_over([Some(thread), None], None);
            target.deferred(Deferred::End { died, thread, known });
            if is_over {
                self.close(thread, time, &mut WithoutRows(target));
            }
        } else if is_over {
            self.close(thread, time, target);
        }
    }

    /// A closing row for a thread that is off the CPU when its life or the recording ends.
    fn close(&mut self, id: ThreadId, time: i64, target: &mut impl SwitchTarget) {
        let clock = self.clock;
        let thread = self.thread(id);
        let mut row = ContextSwitchRow { time, thread: id, ..ContextSwitchRow::default() };
        match thread.state {
            State::Off(off) if off.leave == Leave::Ended => {
                fill_off(&mut row, off, None, clock);
                row.flags = switch_flags::TERMINATED;
            }
            State::Off(off) => {
                fill_off(&mut row, off, thread.ready.facts(), clock);
                row.flags |= switch_flags::OPEN_RIGHT;
            }
            State::Unknown { since } => {
                row.off_time = clock.ns(since);
                row.flags = switch_flags::BROKEN | switch_flags::OPEN_RIGHT;
            }
            // It ran to its end, or nothing is known of it.
            State::Running { .. } | State::Unseen | State::Dead | State::Open => return,
        }
        thread.state = State::Dead;
        thread.ready = Readied::No;
        target.row(&row);
    }
}

fn cpu_text(cpu: Option<u16>) -> String {
    cpu.map_or_else(|| "an unnamed CPU".to_owned(), |cpu| format!("CPU {cpu}"))
}
