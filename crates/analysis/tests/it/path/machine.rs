//! A machine whose threads wake, preempt, make and end each other: the rows of its recording, and what really happened.
//!
//! The truth is written down while the machine runs, and never derived from rows.

use tracesift_analysis::path::Waker;
use tracesift_analysis::{Interrupt, RecordingFacts, Span};
use tracesift_trace::rows::{ContextSwitchRow, ThreadRow, switch_flags};
use tracesift_trace::{StackId, ThreadId};

use crate::properties::simulation::Dice;

/// What a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Did {
    /// Ran, and then left with this stack.
    Run(Option<StackId>),
    Wait {
        waker: Waker,
        stack: Option<StackId>,
    },
    Ready {
        cpu: Option<i16>,
        stack: Option<StackId>,
    },
    /// Was off the CPU without being seen to leave; where it was born inside, who made it runnable.
    Open {
        born: bool,
        creator: Waker,
    },
    /// Switches of it are lost.
    Lost,
}

/// One thing that a thread did, as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) did: Did,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    Blocked,
    Preempted,
    /// Its switches are lost until its next switch-in.
    Broken,
    /// Its switches are lost until it is seen to leave again.
    Gap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Now {
    Unborn,
    /// Off the CPU since this instant, without having been seen to leave.
    Open(i64),
    On(i64),
    Off {
        since: i64,
        leave: Leave,
        stack: Option<StackId>,
    },
    Dead,
}

/// A wake-up as it was recorded.
#[derive(Clone, Copy, Debug)]
struct WakeUp {
    time: i64,
    readier: ThreadId,
    stack: Option<StackId>,
    flags: i16,
    waker: Waker,
}

#[derive(Clone, Debug)]
struct Thread {
    now: Now,
    ready: Option<WakeUp>,
    idle: bool,
}

pub(super) struct Machine {
    pub(super) recording: RecordingFacts,
    /// The idle threads of the CPUs first.
    pub(super) threads: Vec<ThreadRow>,
    /// In the order of the table.
    pub(super) rows: Vec<ContextSwitchRow>,
    /// Per thread, ascending.
    pub(super) truth: Vec<Vec<Stretch>>,
    /// Per CPU, who had it: from when on.
    pub(super) cpus: Vec<Vec<(i64, ThreadId)>>,
    states: Vec<Thread>,
    time: i64,
    dice: Dice,
}

const INTERRUPTS: [Interrupt; 4] = [Interrupt::Timer, Interrupt::Disk, Interrupt::Network, Interrupt::Other];

/// The waker of a row as the machine records it: stacks from 100 on are of interrupts.
pub(super) fn waker_of(readier: Option<ThreadId>, stack: Option<StackId>) -> Waker {
    match (readier, stack) {
        (_, Some(StackId(stack @ 100..104))) => Waker::Interrupt(INTERRUPTS[usize::try_from(stack).unwrap_or(0) - 100]),
        (Some(thread), _) => Waker::Thread(thread),
        (None, _) => Waker::Nobody,
    }
}

/// Whether waits with this stack are waits for work.
pub(super) fn is_wait_for_work(stack: Option<StackId>) -> bool {
    stack.is_some_and(|stack| stack.0 % 4 == 1)
}

impl Machine {
    /// Runs a machine for some hundred instants.
    pub(super) fn run(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let cpus = 1 + dice.below(4);
        let threads = 2 + dice.below(9);
        let start = [0, -50, 1_000][usize::try_from(dice.below(3)).unwrap_or(0)];
        let mut machine = Self {
            recording: RecordingFacts { span: Span::new(start, start), has_switches: true, has_ready: true },
            threads: Vec::new(),
            rows: Vec::new(),
            truth: Vec::new(),
            cpus: Vec::new(),
            states: Vec::new(),
            time: start,
            dice,
        };
        for cpu in 0..cpus {
            machine.add(Now::On(start), i16::try_from(cpu).ok());
            machine.cpus.push(vec![(start, ThreadId::from_index(machine.threads.len() - 1))]);
        }
        for _ in 0..threads {
            let now = if machine.dice.chance(30) { Now::Unborn } else { Now::Open(start) };
            machine.add(now, None);
        }
        for cpu in 0..machine.cpus.len() {
            // Some run from the start: nothing says that they came.
            let first = machine.some(|thread| thread.now == Now::Open(start) && !thread.idle);
            if let Some(first) = first.filter(|_| machine.dice.chance(50)) {
                machine.states[machine.cpus[cpu][0].1.index()].now = Now::Open(start);
                machine.states[first.index()].now = Now::On(start);
                machine.cpus[cpu][0].1 = first;
            }
        }
        for _ in 0..60 + machine.dice.below(140) {
            machine.time +=
                if machine.dice.chance(35) { 0 } else { 1 + i64::try_from(machine.dice.below(9)).unwrap_or(0) };
            machine.step();
        }
        machine.finish();
        machine
    }

    fn add(&mut self, now: Now, idle_cpu: Option<i16>) {
        let thread = ThreadId::from_index(self.threads.len());
        self.threads.push(ThreadRow { thread, tid: i64::from(thread.0), idle_cpu, ..ThreadRow::default() });
        self.states.push(Thread { now, ready: None, idle: idle_cpu.is_some() });
        self.truth.push(Vec::new());
    }

    /// Any thread of which this is true.
    fn some(&mut self, is: impl Fn(&Thread) -> bool) -> Option<ThreadId> {
        let found: Vec<usize> = (0..self.states.len()).filter(|thread| is(&self.states[*thread])).collect();
        let place = self.dice.below(u64::try_from(found.len()).unwrap_or(0).max(1));
        found.get(usize::try_from(place).unwrap_or(0)).copied().map(ThreadId::from_index)
    }

    fn running(&mut self) -> Option<ThreadId> {
        self.some(|thread| matches!(thread.now, Now::On(_)) && !thread.idle)
    }

    fn on(&self, cpu: usize) -> ThreadId {
        self.cpus[cpu].last().map_or(ThreadId(0), |(_, thread)| *thread)
    }

    fn step(&mut self) {
        match self.dice.below(100) {
            0..55 => self.switch(),
            55..80 => {
                let waits = |now| matches!(now, Now::Off { leave: Leave::Blocked, .. } | Now::Open(_));
                let thread = self.some(|thread| waits(thread.now) && thread.ready.is_none() && !thread.idle);
                self.wake(thread);
            }
            // It is woken before it waits.
            80..84 => {
                let thread =
                    self.some(|thread| matches!(thread.now, Now::On(_)) && !thread.idle && thread.ready.is_none());
                self.wake(thread);
            }
            84..91 => {
                let unborn = self.some(|thread| thread.now == Now::Unborn);
                if let (Some(_), Some(unborn)) = (self.running(), unborn) {
                    self.states[unborn.index()].now = Now::Open(self.time);
                    self.threads[unborn.index()].start = Some(self.time);
                }
            }
            91..95 => self.gap(),
            _ => {
                let victim = self.some(|thread| matches!(thread.now, Now::Off { .. }) && !thread.idle);
                if let Some(victim) = victim.filter(|_| self.dice.chance(15)) {
                    self.threads[victim.index()].end = Some(self.time);
                    self.close(victim);
                }
            }
        }
    }

    fn wake(&mut self, thread: Option<ThreadId>) {
        let Some(thread) = thread else { return };
        let time = self.time;
        let wake_up = match self.dice.below(10) {
            0 => {
                let stack = 100 + i32::try_from(self.dice.below(4)).unwrap_or(0);
                let cpu = usize::try_from(self.dice.below(u64::try_from(self.cpus.len()).unwrap_or(1))).unwrap_or(0);
                let readier = self.on(cpu);
                let waker = waker_of(Some(readier), Some(StackId(stack)));
                WakeUp { time, readier, stack: Some(StackId(stack)), flags: switch_flags::READIED_FROM_DPC, waker }
            }
            // An idle thread wakes nobody by itself, whether or not the recording says so.
            1 => {
                let Some(readier) = self.some(|thread| thread.idle && matches!(thread.now, Now::On(_))) else { return };
                WakeUp { time, readier, stack: None, flags: 0, waker: Waker::Interrupt(Interrupt::Other) }
            }
            _ => {
                let Some(readier) = self.running().filter(|readier| *readier != thread) else { return };
                WakeUp { time, readier, stack: Some(StackId(50)), flags: 0, waker: Waker::Thread(readier) }
            }
        };
        self.states[thread.index()].ready = Some(wake_up);
    }

    fn leave_with(&mut self) -> (Leave, Option<StackId>) {
        let leave = match self.dice.below(100) {
            0..15 => Leave::Preempted,
            15..18 => Leave::Broken,
            18..21 => Leave::Gap,
            _ => Leave::Blocked,
        };
        let stack = i32::try_from(self.dice.below(12)).ok().filter(|_| leave != Leave::Gap).map(StackId);
        (leave, stack.filter(|stack| stack.0 < 10))
    }

    fn switch(&mut self) {
        let cpu = usize::try_from(self.dice.below(u64::try_from(self.cpus.len()).unwrap_or(1))).unwrap_or(0);
        let (time, old) = (self.time, self.on(cpu));
        let is_lost = self.dice.chance(5);
        let new = self.some(|thread| {
            let can_run = match thread.now {
                Now::Off { leave: Leave::Blocked, .. } => thread.ready.is_some() || is_lost,
                Now::Off { leave, .. } => leave != Leave::Gap,
                Now::Open(_) => thread.ready.is_some() || is_lost,
                Now::Unborn | Now::On(_) | Now::Dead => false,
            };
            can_run && !thread.idle
        });
        let idle = ThreadId::from_index(cpu);
        let new = new.filter(|_| old == idle || self.dice.chance(70)).unwrap_or(idle);
        if new == old {
            return;
        }
        self.leave(old);
        let mut row =
            ContextSwitchRow { time, cpu: i16::try_from(cpu).ok(), prev_thread: Some(old), ..self.row_of(new) };
        row.time = time;
        self.note_span(new, row.cpu);
        self.rows.push(row);
        self.states[new.index()].now = Now::On(time);
        self.states[new.index()].ready = None;
        self.cpus[cpu].push((time, new));
    }

    /// The running thread leaves its CPU; it may end with that.
    fn leave(&mut self, old: ThreadId) {
        let time = self.time;
        let is_idle = self.states[old.index()].idle;
        let (leave, stack) = if is_idle { (Leave::Preempted, None) } else { self.leave_with() };
        let Now::On(since) = self.states[old.index()].now else { return };
        if !is_idle && self.dice.chance(2) {
            self.note(old, since, time, Did::Run(None));
            let flags = switch_flags::TERMINATED;
            self.rows.push(ContextSwitchRow {
                time,
                off_time: time,
                thread: old,
                flags,
                ..ContextSwitchRow::default()
            });
            self.threads[old.index()].end = Some(time);
            self.states[old.index()].now = Now::Dead;
            return;
        }
        self.note(old, since, time, Did::Run(stack));
        self.states[old.index()].now = Now::Off { since: time, leave, stack };
        if leave != Leave::Blocked {
            self.states[old.index()].ready = None;
        }
    }

    /// A thread whose switches are lost is seen to leave a CPU.
    fn gap(&mut self) {
        let Some(thread) = self.some(|thread| matches!(thread.now, Now::Off { leave: Leave::Gap, .. })) else { return };
        let row = ContextSwitchRow { time: self.time, cpu: Some(0), ..self.row_of(thread) };
        self.note_span(thread, None);
        self.rows.push(row);
        let (leave, stack) = self.leave_with();
        self.states[thread.index()].now = Now::Off { since: self.time, leave, stack };
    }

    fn close(&mut self, thread: ThreadId) {
        let row = self.row_of(thread);
        let flags = row.flags & !switch_flags::GAP | switch_flags::OPEN_RIGHT;
        self.note_span(thread, None);
        self.rows.push(ContextSwitchRow { flags, ..row });
        self.states[thread.index()].now = Now::Dead;
    }

    /// The row that ends the off-CPU span of a thread now.
    fn row_of(&self, thread: ThreadId) -> ContextSwitchRow {
        let state = &self.states[thread.index()];
        let mut row = ContextSwitchRow { time: self.time, thread, ..ContextSwitchRow::default() };
        let is_born = self.threads[thread.index()].start.is_some();
        let (has_ready, flags) = match state.now {
            Now::Open(_) => (is_born, switch_flags::OPEN_LEFT),
            Now::Off { leave: Leave::Blocked, .. } => (true, 0),
            Now::Off { leave: Leave::Preempted, .. } => (false, switch_flags::PREEMPTED),
            Now::Off { leave: Leave::Broken, .. } => (false, switch_flags::BROKEN),
            Now::Off { leave: Leave::Gap, .. } => (false, switch_flags::BROKEN | switch_flags::GAP),
            Now::Unborn | Now::On(_) | Now::Dead => (false, 0),
        };
        row.flags = flags;
        match state.now {
            Now::Open(since) => row.off_time = since,
            Now::Off { since, stack, .. } => (row.off_time, row.wait_stack) = (since, stack),
            Now::Unborn | Now::On(_) | Now::Dead => {}
        }
        if let Some(wake_up) = state.ready.filter(|_| has_ready) {
            row.ready_time = Some(wake_up.time);
            row.readier = Some(wake_up.readier);
            row.ready_stack = wake_up.stack;
            row.flags |= wake_up.flags;
        }
        row
    }

    /// Writes down how a thread spent its off-CPU span, which ends now.
    fn note_span(&mut self, thread: ThreadId, cpu: Option<i16>) {
        let Thread { now, ready, .. } = self.states[thread.index()];
        let born = self.threads[thread.index()].start.is_some();
        let end = self.time;
        let woken = |since: i64| ready.map_or(end, |wake_up| wake_up.time.max(since));
        let waker = ready.map_or(Waker::Nobody, |wake_up| wake_up.waker);
        match now {
            Now::Open(since) if !born => self.note(thread, since, end, Did::Open { born, creator: Waker::Nobody }),
            Now::Open(since) => {
                self.note(thread, since, woken(since), Did::Open { born, creator: waker });
                self.note(thread, woken(since), end, Did::Ready { cpu, stack: None });
            }
            Now::Off { since, leave: Leave::Preempted, stack } => {
                self.note(thread, since, end, Did::Ready { cpu, stack })
            }
            Now::Off { since, leave: Leave::Broken | Leave::Gap, .. } => self.note(thread, since, end, Did::Lost),
            Now::Off { since, leave: Leave::Blocked, stack } => {
                self.note(thread, since, woken(since), Did::Wait { waker, stack });
                self.note(thread, woken(since), end, Did::Ready { cpu, stack });
            }
            Now::Unborn | Now::On(_) | Now::Dead => {}
        }
    }

    fn note(&mut self, thread: ThreadId, start: i64, end: i64, did: Did) {
        // When it was born says its first stretch, even an empty one.
        if start < end || matches!(did, Did::Open { .. }) {
            self.truth[thread.index()].push(Stretch { start, end, did });
        }
    }

    fn finish(&mut self) {
        self.time += i64::try_from(self.dice.below(20)).unwrap_or(0);
        self.recording.span.end = self.time;
        for thread in (0..self.threads.len()).map(ThreadId::from_index) {
            match self.states[thread.index()].now {
                Now::On(since) => self.note(thread, since, self.time, Did::Run(None)),
                Now::Off { .. } => self.close(thread),
                Now::Unborn | Now::Open(_) | Now::Dead => {}
            }
        }
    }
}
