//! Context switches and ready events joined into off-CPU spans.
//!
//! One row per switch-in carries the span that it ends: when and how the thread left, who readied it and when. The
//! tracker keeps one small state per thread and per CPU and nothing per event. What it cannot know it says: a span
//! that touches a broken switch chain becomes `BROKEN` or `GAP`, a span at an edge of the recording `OPEN_LEFT` or
//! `OPEN_RIGHT`; nothing is ever computed as a remainder.

use crate::clock::Clock;
use crate::health::Health;
use crate::health_kinds::HealthKind;
use crate::ids::{StackId, ThreadId};
use crate::population::Population;
use crate::rows::{ContextSwitchRow, switch_flags};
use crate::sink::RowSink;

/// How a thread leaves the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Still runnable: it was preempted, and waits for a CPU only.
    Runnable,
    /// Blocked until somebody readies it.
    Blocked,
    /// For good.
    Ended,
    /// Nobody saw how: until it is back nothing is known of it.
    Unseen,
}

/// A context switch: `old` leaves `cpu`, `new` gets it.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Raw time.
    pub ticks: i64,
    /// CPU; `None` where it was not recorded: then the threads alone tell whether a chain is whole.
    pub cpu: Option<u16>,
    /// The thread that is switched in; `None`: one that the recording does not watch.
    pub new: Option<ThreadId>,
    /// The thread that the record says leaves; `None`: one that the recording does not watch.
    pub old: Option<ThreadId>,
    /// How it leaves.
    pub leave: Leave,
    /// State that it enters, as recorded.
    pub old_state: Option<i8>,
    /// Wait reason, where it blocks.
    pub wait_reason: Option<i8>,
    /// It waits in user mode.
    pub user_mode_wait: bool,
    /// Priority of the new thread.
    pub new_priority: Option<i8>,
    /// Priority of the old thread.
    pub old_priority: Option<i8>,
    /// Ideal processor of the old thread.
    pub old_ideal_cpu: Option<i16>,
    /// Remaining quantum of the old thread.
    pub old_remaining_quantum: Option<i64>,
    /// C-state that the CPU comes from, when it was idle.
    pub previous_c_state: Option<i8>,
    /// The scheduler's own wait time of the new thread, in clock interrupts.
    pub new_wait_ticks: Option<i64>,
    /// Stack with which the new thread had left, where the switch-in brings it (ETW).
    pub new_stack: Option<StackId>,
    /// Stack with which the old thread leaves, where the switch-out brings it (perf).
    pub old_stack: Option<StackId>,
    /// Hardware counters read at the switch.
    pub counters: Option<Vec<i64>>,
}

impl Switch {
    /// A switch of which nothing is known but who leaves how and who comes.
    #[must_use]
    pub fn between(ticks: i64, cpu: Option<u16>, old: Option<ThreadId>, leave: Leave, new: Option<ThreadId>) -> Self {
        Self {
            ticks,
            cpu,
            new,
            old,
            leave,
            old_state: None,
            wait_reason: None,
            user_mode_wait: false,
            new_priority: None,
            old_priority: None,
            old_ideal_cpu: None,
            old_remaining_quantum: None,
            previous_c_state: None,
            new_wait_ticks: None,
            new_stack: None,
            old_stack: None,
            counters: None,
        }
    }
}

/// A ready event: somebody made `thread` runnable.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// Raw time.
    pub ticks: i64,
    /// CPU on which it was logged.
    pub cpu: u16,
    /// The thread that becomes runnable.
    pub thread: ThreadId,
    /// Who readies it, where the event says; else it is whoever runs on the CPU.
    pub readier: Option<ThreadId>,
    /// 0 none, 1 unwait, 2 boost.
    pub adjust_reason: Option<i8>,
    /// Priority increment.
    pub adjust_increment: Option<i8>,
    /// Bits of [`switch_flags`] that the event carries (readied from DPC …).
    pub flags: i16,
    /// Stack of the readier.
    pub stack: Option<StackId>,
}

#[derive(Clone, Copy, Debug)]
struct ReadyFacts {
    event: Ready,
    readier: Option<ThreadId>,
}

#[derive(Clone, Copy, Debug)]
struct OffFacts {
    since: i64,
    leave: Leave,
    state: Option<i8>,
    wait_reason: Option<i8>,
    user_mode_wait: bool,
    priority: Option<i8>,
    ideal_cpu: Option<i16>,
    remaining_quantum: Option<i64>,
    stack: Option<StackId>,
}

#[derive(Clone, Copy, Debug)]
enum State {
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

/// Counter of health: the thread that leaves a CPU is not the one that came last.
const BROKEN_CHAIN: HealthKind = HealthKind::BROKEN_SWITCH_CHAIN;
/// Counter of health: a thread is on a CPU though it was last seen elsewhere, and no link of a CPU is broken by that. Its time between is unknown.
const MOVED_UNSEEN: HealthKind = HealthKind::THREAD_MOVED_UNSEEN;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cpu {
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

#[derive(Clone, Debug)]
struct Thread {
    state: State,
    /// First ready event of the current span; while it runs: the one that will count at the switch-out.
    ready: Option<ReadyFacts>,
}

/// Joins switches and ready events. Feed both in time order.
#[derive(Debug)]
pub struct SwitchTracker {
    clock: Clock,
    start: i64,
    threads: Vec<Thread>,
    cpus: Vec<Cpu>,
    deaths: Vec<(i64, ThreadId)>,
    next_death: usize,
    any_switch: bool,
    any_ready: bool,
}

impl SwitchTracker {
    /// A tracker for a recording that starts at raw tick `start`; `population` says which threads end inside it.
    #[must_use]
    pub fn new(clock: Clock, start: i64, population: &Population) -> Self {
        Self {
            clock,
            start,
            threads: Vec::new(),
            cpus: Vec::new(),
            deaths: population.deaths(),
            next_death: 0,
            any_switch: false,
            any_ready: false,
        }
    }

    /// The thread that runs on a CPU, as far as known.
    #[must_use]
    pub fn running(&self, cpu: u16) -> Option<ThreadId> {
        match self.cpus.get(usize::from(cpu)) {
            Some(Cpu::Runs(thread)) => Some(*thread),
            _ => None,
        }
    }

    /// The CPUs of which a switch was seen have numbers below.
    #[must_use]
    pub fn cpu_count(&self) -> usize {
        self.cpus.len()
    }

    /// Whether any switch was seen on any CPU.
    #[must_use]
    pub fn has_switches(&self) -> bool {
        self.any_switch
    }

    /// Whether any ready event was seen.
    #[must_use]
    pub fn has_ready(&self) -> bool {
        self.any_ready
    }

    /// A ready event.
    pub fn ready(&mut self, event: Ready) {
        self.any_ready = true;
        let readier = event.readier.or_else(|| self.running(event.cpu));
        let thread = self.thread(event.thread);
        if thread.ready.is_none() {
            thread.ready = Some(ReadyFacts { event, readier });
        }
    }

    /// A context switch.
    pub fn switch(
        &mut self,
        event: &Switch,
        population: &mut Population,
        health: &mut Health,
        sink: &mut impl RowSink,
    ) {
        self.bury_before(event.ticks, population, sink);
        self.any_switch = true;
        match event.old {
            Some(old) => self.leave(old, event, population, health, sink),
            None => self.leave_unseen(event, population, health),
        }
        match event.new {
            Some(new) => self.enter(new, event, population, health, sink),
            None => self.set_cpu(event.cpu, Cpu::Unwatched),
        }
    }

    /// The end of the recording, `end` nanoseconds after time zero: closes what is open.
    pub fn finish(&mut self, end: i64, population: &Population, sink: &mut impl RowSink) {
        self.bury_before(self.clock.ticks(end.saturating_add(1)), population, sink);
        for index in 0..self.threads.len() {
            let thread = ThreadId::from_index(index);
            // Whose switches go on behind the end record has lived until the last of them: nothing is open there.
            let is_over = match self.thread(thread).state {
                State::Off(off) => population.died(thread) == Some(off.since),
                _ => false,
            };
            if !is_over {
                self.close(thread, end, sink);
            }
        }
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        let index = thread.index();
        if index >= self.threads.len() {
            self.threads.resize(index + 1, Thread { state: State::Unseen, ready: None });
        }
        &mut self.threads[index]
    }

    fn cpu(&self, cpu: Option<u16>) -> Cpu {
        cpu.map_or(Cpu::Unnamed, |cpu| self.cpus.get(usize::from(cpu)).copied().unwrap_or(Cpu::Fresh))
    }

    fn set_cpu(&mut self, cpu: Option<u16>, state: Cpu) {
        let Some(cpu) = cpu.map(usize::from) else { return };
        if self.cpus.len() <= cpu {
            self.cpus.resize(cpu + 1, Cpu::Fresh);
        }
        self.cpus[cpu] = state;
    }

    fn lifetime_start(&self, thread: ThreadId, population: &Population) -> i64 {
        population.born(thread).map_or(self.start, |born| born.max(self.start))
    }

    /// A thread comes in from one that is not watched; a watched one must have left before.
    fn leave_unseen(&mut self, event: &Switch, population: &Population, health: &mut Health) {
        let Cpu::Runs(current) = self.cpu(event.cpu) else { return };
        // Events of single tasks end with the task: after its exit nothing says that it leaves the CPU.
        if population.died(current).is_some_and(|died| died <= event.ticks) {
            self.thread(current).state = State::Dead;
            return;
        }
        health.count(BROKEN_CHAIN, Some(event.ticks), || {
            let tid = population.tid_of(current);
            format!("{}: tid {tid} was running there and was not seen to leave", cpu_text(event.cpu))
        });
        if let State::Running { since, .. } = self.thread(current).state {
            self.thread(current).state = State::Unknown { since };
        }
    }

    /// The old thread leaves.
    fn leave(
        &mut self,
        old: ThreadId,
        event: &Switch,
        population: &mut Population,
        health: &mut Health,
        sink: &mut impl RowSink,
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
        if !intact {
            // A recorder that goes from CPU to CPU to switch its events on or off is seen on some of them only; the links of the CPUs are whole.
            let moved = current == Cpu::Fresh && event.leave != Leave::Unseen;
            health.count(if moved { MOVED_UNSEEN } else { BROKEN_CHAIN }, Some(event.ticks), || {
                format!(
                    "{}: tid {} is switched out, but {} was running there",
                    cpu_text(event.cpu),
                    population.tid_of(old),
                    match current {
                        Cpu::Runs(thread) => format!("tid {}", population.tid_of(thread)),
                        Cpu::Fresh | Cpu::Unwatched | Cpu::Unnamed | Cpu::Lost => "nobody known".to_owned(),
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
            self.gap(old, event, old_state, population, sink);
        }
        if intact && event.leave == Leave::Unseen {
            health.count(BROKEN_CHAIN, Some(event.ticks), || {
                format!("{}: nobody saw how tid {} left", cpu_text(event.cpu), population.tid_of(old))
            });
        }
        let died = population.died(old);
        if event.leave == Leave::Ended || died.is_some_and(|died| died < event.ticks) {
            population.alive_until(old, event.ticks);
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
            self.close(old, self.clock.ns(event.ticks), sink);
        }
    }

    /// A row for the unknown time of a thread that a broken chain shows running.
    fn gap(
        &mut self,
        old: ThreadId,
        event: &Switch,
        old_state: State,
        population: &Population,
        sink: &mut impl RowSink,
    ) {
        let since = match old_state {
            State::Unseen => self.lifetime_start(old, population).min(event.ticks),
            State::Running { since, .. } | State::Unknown { since } => since,
            State::Off(facts) => facts.since,
            State::Dead => population.died(old).unwrap_or(event.ticks).min(event.ticks),
        };
        self.thread(old).ready = None;
        sink.context_switch(&ContextSwitchRow {
            time: self.clock.ns(event.ticks),
            cpu: event.cpu.and_then(|cpu| i16::try_from(cpu).ok()),
            thread: old,
            off_time: self.clock.ns(since),
            flags: switch_flags::GAP | switch_flags::BROKEN,
            ..ContextSwitchRow::default()
        });
    }

    /// The new thread gets the CPU.
    fn enter(
        &mut self,
        new: ThreadId,
        event: &Switch,
        population: &mut Population,
        health: &mut Health,
        sink: &mut impl RowSink,
    ) {
        let clock = self.clock;
        if population.born(new).is_some_and(|born| born > event.ticks) {
            population.alive_since(new, event.ticks);
        }
        let died = population.died(new).filter(|died| *died < event.ticks);
        if died.is_some() {
            population.alive_until(new, event.ticks);
        }
        let lifetime_start = self.lifetime_start(new, population).min(event.ticks);
        let born_inside = population.born(new).is_some();
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
            State::Unseen => {
                row.off_time = clock.ns(lifetime_start);
                row.flags = switch_flags::OPEN_LEFT;
                if born_inside {
                    fill_ready(&mut row, thread.ready, clock, lifetime_start);
                }
            }
            State::Off(off) => fill_off(&mut row, off, thread.ready, clock),
            State::Unknown { since } => {
                row.off_time = clock.ns(since);
                row.flags = switch_flags::BROKEN;
            }
            State::Running { since, cpu } => {
                health.count(MOVED_UNSEEN, Some(event.ticks), || {
                    format!(
                        "tid {} is switched in on {} while it was running on {}",
                        population.tid_of(new),
                        cpu_text(event.cpu),
                        cpu_text(cpu)
                    )
                });
                row.off_time = clock.ns(since);
                row.flags = switch_flags::BROKEN;
            }
            State::Dead => {
                health.count(HealthKind::SWITCH_IN_AFTER_THREAD_END, Some(event.ticks), || {
                    format!("tid {} on {}", population.tid_of(new), cpu_text(event.cpu))
                });
                row.off_time = clock.ns(died.unwrap_or(event.ticks));
                row.flags = switch_flags::BROKEN;
            }
        }
        thread.ready = None;
        thread.state = State::Running { cpu: event.cpu, since: event.ticks };
        self.set_cpu(event.cpu, Cpu::Runs(new));
        sink.context_switch(&row);
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
    fn bury_before(&mut self, ticks: i64, population: &Population, sink: &mut impl RowSink) {
        while let Some(&(died, thread)) = self.deaths.get(self.next_death)
            && died < ticks
        {
            self.next_death += 1;
            // A switch after its end record prolonged the life.
            if population.died(thread) == Some(died) {
                self.close(thread, self.clock.ns(died), sink);
            }
        }
    }

    /// A closing row for a thread that is off the CPU when its life or the recording ends.
    fn close(&mut self, id: ThreadId, time: i64, sink: &mut impl RowSink) {
        let clock = self.clock;
        let thread = self.thread(id);
        let mut row = ContextSwitchRow { time, thread: id, ..ContextSwitchRow::default() };
        match thread.state {
            State::Off(off) if off.leave == Leave::Ended => {
                fill_off(&mut row, off, None, clock);
                row.flags = switch_flags::TERMINATED;
            }
            State::Off(off) => {
                fill_off(&mut row, off, thread.ready, clock);
                row.flags |= switch_flags::OPEN_RIGHT;
            }
            State::Unknown { since } => {
                row.off_time = clock.ns(since);
                row.flags = switch_flags::BROKEN | switch_flags::OPEN_RIGHT;
            }
            // It ran to its end, or nothing is known of it.
            State::Running { .. } | State::Unseen | State::Dead => return,
        }
        thread.state = State::Dead;
        thread.ready = None;
        sink.context_switch(&row);
    }
}

fn cpu_text(cpu: Option<u16>) -> String {
    cpu.map_or_else(|| "an unnamed CPU".to_owned(), |cpu| format!("CPU {cpu}"))
}

fn fill_off(row: &mut ContextSwitchRow, off: OffFacts, ready: Option<ReadyFacts>, clock: Clock) {
    row.off_time = clock.ns(off.since);
    row.off_state = off.state;
    row.wait_reason = off.wait_reason;
    row.off_priority = off.priority;
    row.ideal_cpu = off.ideal_cpu;
    row.remaining_quantum = off.remaining_quantum;
    row.wait_stack = row.wait_stack.or(off.stack);
    if off.user_mode_wait {
        row.flags |= switch_flags::USER_MODE_WAIT;
    }
    if off.leave == Leave::Runnable {
        row.flags |= switch_flags::PREEMPTED;
    } else {
        // An event that came while the thread still ran counts at the switch-out.
        fill_ready(row, ready, clock, off.since);
    }
}

fn fill_ready(row: &mut ContextSwitchRow, ready: Option<ReadyFacts>, clock: Clock, not_before: i64) {
    let Some(ReadyFacts { event, readier }) = ready else { return };
    row.ready_time = Some(clock.ns(event.ticks.max(not_before)));
    row.readier = readier;
    row.ready_cpu = i16::try_from(event.cpu).ok();
    row.adjust_reason = event.adjust_reason;
    row.adjust_increment = event.adjust_increment;
    row.ready_stack = event.stack;
    row.flags |= event.flags;
}
