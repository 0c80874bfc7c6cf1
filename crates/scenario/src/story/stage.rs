//! The stage: threads play slot by slot, one slot a millisecond, and what they play becomes switches, ready events and samples.
//!
//! Everything begins and ends at slot boundaries and every CPU is sampled in the middle of each slot, so a figure in
//! milliseconds is a number of slots and exact by construction.

use std::collections::HashMap;

use tracesift_etl::write::payload::thread_state;

use super::cast::{Cast, Halves};
use super::counters::{NAMES, Rates};
use crate::machine::{Function, StackId};
use crate::record::{Event, Ready, Record, Sample, Switch, Walk};
use crate::rng::SplitMix64;

/// Ticks of a slot: 1 ms at 10 MHz.
pub(super) const SLOT: i64 = 10_000;
const MICROSECOND: i64 = 10;
/// From an event to the return to user mode, where the user half of its stack is walked.
const RETURN: i64 = 20 * MICROSECOND;
/// The counters of a CPU at the start. Cycles come to the end of their 48 bits within a second.
const FIRST_COUNTS: [u64; NAMES.len()] = [(1 << 48) - 500_000_000, 7_000_000_000, 900_000];
/// State in which the idle thread leaves a CPU.
const STATE_RUNNING: i8 = 2;
/// Reason of a wait: sleep.
pub(super) const DELAY_EXECUTION: i8 = 4;

/// What a thread does in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Play {
    /// Not born yet, or ended.
    Absent,
    /// Runs with this stack; `None`: its samples have no stack.
    Run(Option<Halves>),
    /// Blocked, having left with this stack for this reason.
    Wait(Option<Halves>, i8),
    /// Runnable, having left with this stack.
    Ready(Option<Halves>),
}

/// A thread with what it does from slot 0 on; the last play goes on to the end.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) thread: usize,
    pub(super) plays: Vec<Play>,
    /// Runs on this CPU and nobody else does.
    pub(super) pinned: Option<usize>,
    /// Takes the first free CPU: threads that it wakes then find a later one.
    pub(super) leads: bool,
    /// Who ends its waits.
    pub(super) woken_by: Waker,
    /// Who ends those waits that end with these slots.
    pub(super) woken_at: Vec<(usize, Waker)>,
}

/// Who ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waker {
    /// The timer.
    Timer,
    /// The disk.
    Disk,
    /// A thread of this process, where one of them runs; else the disk.
    Process(usize),
    /// This thread.
    Thread(usize),
}

impl Part {
    pub(super) fn new(thread: usize) -> Self {
        let (plays, woken_at) = (Vec::new(), Vec::new());
        Self { thread, plays, pinned: None, leads: false, woken_by: Waker::Timer, woken_at }
    }

    /// Who ends the wait that this slot ends. Only the timer ends a sleep.
    fn waker(&self, slot: usize) -> Waker {
        if matches!(self.at(slot - 1), Play::Wait(_, DELAY_EXECUTION)) {
            return Waker::Timer;
        }
        self.woken_at.iter().find(|(at, _)| *at == slot).map_or(self.woken_by, |(_, waker)| *waker)
    }

    /// Whether a wait ends with this slot.
    fn wakes(&self, slot: usize) -> bool {
        slot > 0 && matches!(self.at(slot - 1), Play::Wait(..)) && !matches!(self.at(slot), Play::Wait(..))
    }

    pub(super) fn push(&mut self, slots: usize, play: Play) {
        self.plays.extend(std::iter::repeat_n(play, slots));
    }

    fn at(&self, slot: usize) -> Play {
        self.plays.get(slot).or(self.plays.last()).copied().unwrap_or(Play::Absent)
    }

    fn runs(&self, slot: usize) -> bool {
        matches!(self.at(slot), Play::Run(_))
    }
}

/// A thread that works in bursts where there is room.
#[derive(Clone, Debug)]
pub(super) struct Extra {
    pub(super) thread: usize,
    /// Shortest and longest burst.
    pub(super) burst: (usize, usize),
    /// Shortest and longest pause.
    pub(super) pause: (usize, usize),
    /// Slots in which it may begin a burst.
    pub(super) active: std::ops::Range<usize>,
    /// Steps in where every CPU must be busy.
    pub(super) filler: bool,
    /// Stacks that it runs with; one is drawn for each slot.
    pub(super) stacks: Vec<Halves>,
    /// Stack and reason of its waits.
    pub(super) rest: (Halves, i8),
    /// Who ends its pauses.
    pub(super) woken_by: Waker,
}

/// An event in the middle of a slot on the CPU of a thread that runs then.
#[derive(Clone, Debug)]
pub(super) struct Aside {
    pub(super) slot: usize,
    pub(super) micros: i64,
    pub(super) on: usize,
    pub(super) event: Event,
}

/// Everything that plays.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) slots: usize,
    pub(super) parts: Vec<Part>,
    pub(super) extras: Vec<Extra>,
    pub(super) asides: Vec<Aside>,
    /// What threads count.
    pub(super) rates: Rates,
}

/// Stacks and functions that the machine itself shows.
struct House {
    idle: Function,
    interrupts: Vec<Halves>,
    ready_from_timer: Halves,
    ready_from_disk: Halves,
    ready_from_thread: Halves,
}

impl Stage {
    /// Plays all slots.
    pub(super) fn play(mut self, cast: &mut Cast, rng: &mut SplitMix64) -> Vec<Record> {
        let cpus = usize::from(cast.machine.cpus);
        self.plan_extras(cpus, rng);
        let house = House::new(cast);
        let mut performance = Performance {
            cast,
            rng,
            house,
            running: vec![None; cpus],
            cpu_of: HashMap::new(),
            asides: HashMap::new(),
            owed: HashMap::new(),
            rates: self.rates,
            counted: vec![FIRST_COUNTS; cpus],
            records: Vec::new(),
        };
        for aside in self.asides.drain(..) {
            performance.asides.entry(aside.slot).or_default().push(aside);
        }
        for slot in 0..self.slots {
            performance.slot(slot, &self.parts);
        }
        performance.records
    }

    /// Turns extras into parts: bursts where the other parts leave room, preempted where they do not.
    fn plan_extras(&mut self, cpus: usize, rng: &mut SplitMix64) {
        let pinned = self.parts.iter().filter(|part| part.pinned.is_some()).count();
        let extras = std::mem::take(&mut self.extras);
        let part = |extra: &Extra| Part { woken_by: extra.woken_by, ..Part::new(extra.thread) };
        let mut parts: Vec<Part> = extras.iter().map(part).collect();
        let mut bursts: Vec<Burst> = extras
            .iter()
            .map(|extra| Burst { until: 0, wake: rng.index(extra.pause.1) + extra.active.start, waiting: 0 })
            .collect();
        for slot in 0..self.slots {
            let others = self.parts.iter().filter(|part| part.pinned.is_none());
            let busy = others.clone().filter(|part| part.runs(slot)).count();
            let crowded = others.clone().any(|part| matches!(part.at(slot), Play::Ready(_)));
            let room = cpus - pinned - busy;
            let mut wanting: Vec<usize> = Vec::new();
            for (index, extra) in extras.iter().enumerate() {
                let burst = &mut bursts[index];
                if slot >= burst.until && slot >= burst.wake && extra.active.contains(&slot) {
                    burst.until = slot + between(rng, extra.burst);
                }
                if slot < burst.until {
                    wanting.push(index);
                }
            }
            // A thread that is runnable but does not run shows that all CPUs are taken.
            let fillers = (0..extras.len()).filter(|index| extras[*index].filler && slot >= bursts[*index].until);
            let missing = if crowded { room.saturating_sub(wanting.len()) } else { 0 };
            let called: Vec<usize> = fillers.take(missing).collect();
            for index in called {
                bursts[index].until = slot + 1;
                wanting.push(index);
            }
            // Who runs goes on, unless others have waited for long.
            wanting.sort_by_key(|index| {
                let ran = slot > 0 && parts[*index].runs(slot - 1);
                (!ran && bursts[*index].waiting < 12, std::cmp::Reverse(bursts[*index].waiting), *index)
            });
            for (rank, index) in wanting.iter().enumerate() {
                let stack = extras[*index].stacks[rng.index(extras[*index].stacks.len())];
                let before = slot.checked_sub(1).map(|slot| parts[*index].at(slot));
                let burst = &mut bursts[*index];
                let play = if rank < room {
                    burst.waiting = 0;
                    Play::Run(Some(stack))
                } else {
                    burst.waiting += 1;
                    // What is not done stays to be done.
                    burst.until += 1;
                    match before {
                        Some(Play::Wait(off, _) | Play::Ready(off)) => Play::Ready(off),
                        _ => Play::Ready(Some(stack)),
                    }
                };
                if slot + 1 >= burst.until {
                    burst.wake = slot + 1 + between(rng, extras[*index].pause).max(1);
                }
                parts[*index].plays.push(play);
            }
            for (index, extra) in extras.iter().enumerate() {
                if parts[index].plays.len() == slot {
                    parts[index].plays.push(Play::Wait(Some(extra.rest.0), extra.rest.1));
                }
            }
        }
        self.parts.extend(parts);
    }
}

/// State of an extra.
#[derive(Clone, Copy, Debug)]
struct Burst {
    until: usize,
    wake: usize,
    /// Slots for which it has been runnable without running.
    waiting: usize,
}

fn between(rng: &mut SplitMix64, (low, high): (usize, usize)) -> usize {
    low + rng.index(high - low + 1)
}

impl House {
    fn new(cast: &mut Cast) -> Self {
        let dpc = ["ntoskrnl.exe!KiExecuteAllDpcs", "ntoskrnl.exe!KiRetireDpcList", "ntoskrnl.exe!KiIdleLoop"];
        Self {
            idle: cast.function("ntoskrnl.exe!KiIdleLoop"),
            interrupts: vec![
                cast.stack(&[&["ntoskrnl.exe!KiTimerExpiration"], &dpc]),
                cast.stack(&[&["ntoskrnl.exe!KiDispatchInterrupt"], &dpc]),
            ],
            ready_from_timer: cast.stack(&[&["ntoskrnl.exe!KiTimerExpiration"], &dpc]),
            ready_from_disk: cast.stack(&[&["storport.sys!RaidUnitCompleteRequest"], &dpc]),
            ready_from_thread: cast.stack(&[&["ntoskrnl.exe!KeSetEvent", "ntoskrnl.exe!KiSystemServiceCopyEnd"]]),
        }
    }
}

struct Performance<'a> {
    cast: &'a mut Cast,
    rng: &'a mut SplitMix64,
    house: House,
    /// Index of the part that runs on each CPU.
    running: Vec<Option<usize>>,
    /// CPU of each part that runs.
    cpu_of: HashMap<usize, usize>,
    asides: HashMap<usize, Vec<Aside>>,
    /// Ready events of parts that left the CPU before they were back in user mode: their records, and the user halves that
    /// they still need.
    owed: HashMap<usize, Vec<(usize, StackId)>>,
    rates: Rates,
    /// The counters of each CPU.
    counted: Vec<[u64; NAMES.len()]>,
    records: Vec<Record>,
}

impl Performance<'_> {
    fn slot(&mut self, slot: usize, parts: &[Part]) {
        let boundary = self.cast.machine.zero_ticks + slot as i64 * SLOT;
        let previous = self.running.clone();
        self.assign(slot, parts, &previous);
        if slot > 0 {
            self.ready_events(slot, boundary, parts, &previous);
            for (cpu, previous) in previous.into_iter().enumerate() {
                if self.running[cpu] != previous {
                    self.switch(slot, boundary, cpu, parts, previous);
                }
            }
        }
        self.samples(slot, boundary + SLOT / 2, parts);
        for aside in self.asides.remove(&slot).unwrap_or_default() {
            let cpu = parts.iter().position(|part| part.thread == aside.on).and_then(|part| self.cpu_of.get(&part));
            let cpu = cpu.copied().unwrap_or(0) as u16;
            self.records.push(Record { ticks: boundary + aside.micros * MICROSECOND, cpu, event: aside.event });
        }
        for (running, counted) in self.running.iter().zip(&mut self.counted) {
            let process = running.map(|part| self.cast.machine.threads[parts[part].thread].process);
            for (sum, more) in counted.iter_mut().zip(self.rates.of_slot(process)) {
                // Counters have 48 bits.
                *sum = (*sum + more) % (1 << 48);
            }
        }
    }

    /// Who runs goes on where it ran; who starts takes a free CPU.
    fn assign(&mut self, slot: usize, parts: &[Part], previous: &[Option<usize>]) {
        for cpu in 0..self.running.len() {
            if let Some(part) = self.running[cpu].take_if(|part| !parts[*part].runs(slot)) {
                self.cpu_of.remove(&part);
            }
        }
        let reserved: Vec<usize> = parts.iter().filter_map(|part| part.pinned).collect();
        for (index, part) in parts.iter().enumerate() {
            if !part.runs(slot) || self.cpu_of.contains_key(&index) {
                continue;
            }
            let free: Vec<usize> = match part.pinned {
                Some(cpu) => vec![cpu],
                None => (0..self.running.len())
                    .filter(|cpu| self.running[*cpu].is_none() && !reserved.contains(cpu))
                    .collect(),
            };
            if free.is_empty() {
                continue;
            }
            // Who runs at once must be readied on a CPU before its own or on its own.
            let waker = part.wakes(slot).then(|| self.waking_cpu(part.waker(slot), parts, previous)).flatten();
            let behind: Vec<usize> =
                free.iter().copied().filter(|cpu| waker.is_none_or(|waker| *cpu >= waker)).collect();
            let free = if behind.is_empty() { free } else { behind };
            let any = self.rng.index(free.len());
            let cpu = free[if part.leads { 0 } else { any }];
            self.running[cpu] = Some(index);
            self.cpu_of.insert(index, cpu);
        }
    }

    /// The CPU on which somebody ran just before who ends a wait.
    fn waking_cpu(&self, waker: Waker, parts: &[Part], previous: &[Option<usize>]) -> Option<usize> {
        let threads = &self.cast.machine.threads;
        previous.iter().position(|running| {
            running.is_some_and(|running| match waker {
                Waker::Process(process) => threads[parts[running].thread].process == process,
                Waker::Thread(thread) => parts[running].thread == thread,
                Waker::Timer | Waker::Disk => false,
            })
        })
    }

    /// Whose wait ends here becomes runnable.
    fn ready_events(&mut self, slot: usize, boundary: i64, parts: &[Part], previous: &[Option<usize>]) {
        let mut stacks_taken = vec![false; previous.len()];
        for (index, part) in parts.iter().enumerate().filter(|(_, part)| part.wakes(slot)) {
            let waker = part.waker(slot);
            let own = self.cpu_of.get(&index).copied();
            // At one time, records are ordered by CPU: who runs at once must not be readied on a later CPU than its own.
            let waking = self.waking_cpu(waker, parts, previous).filter(|cpu| own.is_none_or(|own| *cpu <= own));
            let cpu = waking.or(own).unwrap_or_else(|| self.rng.index(previous.len()));
            let free = !std::mem::replace(&mut stacks_taken[cpu], true);
            // Where no thread ends the wait, a deferred procedure call does, whoever runs when the interrupt comes.
            let by = waking.and_then(|cpu| previous[cpu]);
            // A thread whose samples have no stack is not walked here either.
            let is_walked = by.is_none_or(|by| parts[by].at(slot - 1) != Play::Run(None));
            let walk = (free && is_walked).then(|| match by {
                Some(by) => self.readier_walk(slot, boundary, parts, cpu, by),
                None if waker == Waker::Timer => walk(self.house.ready_from_timer, boundary, cpu),
                None => walk(self.house.ready_from_disk, boundary, cpu),
            });
            let ready = Ready {
                thread: part.thread,
                by: previous[cpu].map_or(cpu, |running| parts[running].thread),
                adjust_reason: 1,
                adjust_increment: 1,
                flags: u8::from(by.is_none()),
                walk,
            };
            self.records.push(Record { ticks: boundary, cpu: cpu as u16, event: Event::Ready(ready) });
        }
    }

    /// Stack of a ready event, whose record is pushed next. The user half of a thread that leaves the CPU in the same stay in
    /// kernel mode is the one that it leaves with, and is written when it comes back.
    fn readier_walk(&mut self, slot: usize, boundary: i64, parts: &[Part], cpu: usize, by: usize) -> Walk {
        let kernel = self.house.ready_from_thread;
        let with_user = |user| walk(Halves { user, ..kernel }, boundary, cpu);
        let user_half = |play| match play {
            Play::Run(stack) | Play::Wait(stack, _) | Play::Ready(stack) => stack.and_then(|stack| stack.user),
            Play::Absent => None,
        };
        let ran_with = user_half(parts[by].at(slot - 1));
        match parts[by].at(slot) {
            Play::Run(_) => with_user(ran_with),
            Play::Absent => with_user(None),
            leaves => {
                if let Some(user) = user_half(leaves).or(ran_with) {
                    self.owed.entry(by).or_default().push((self.records.len(), user));
                }
                with_user(None)
            }
        }
    }

    /// A thread is back in user mode, where the user halves of its ready events are walked.
    fn give_owed(&mut self, part: usize, boundary: i64, cpu: usize) {
        for (record, user) in self.owed.remove(&part).unwrap_or_default() {
            if let Event::Ready(Ready { walk: Some(walk), .. }) = &mut self.records[record].event {
                (walk.user, walk.user_ticks, walk.user_cpu) = (Some(user), boundary + RETURN, cpu as u16);
            }
        }
    }

    fn switch(&mut self, slot: usize, boundary: i64, cpu: usize, parts: &[Part], previous: Option<usize>) {
        let (old_state, wait_reason) = match previous.map(|part| parts[part].at(slot)) {
            None => (STATE_RUNNING, 0),
            Some(Play::Wait(_, reason)) => (thread_state::WAITING, reason),
            Some(Play::Absent) => (thread_state::TERMINATED, 0),
            Some(Play::Ready(_) | Play::Run(_)) => (thread_state::READY, 0),
        };
        let left_with = self.running[cpu].and_then(|part| match parts[part].at(slot - 1) {
            Play::Wait(stack, _) | Play::Ready(stack) => stack,
            Play::Run(_) | Play::Absent => None,
        });
        let walk = left_with.map(|stack| walk(stack, boundary, cpu));
        if let Some(part) = self.running[cpu] {
            self.give_owed(part, boundary, cpu);
        }
        let old = previous.map_or(cpu, |part| parts[part].thread);
        let new = self.running[cpu].map_or(cpu, |part| parts[part].thread);
        let threads = &self.cast.machine.threads;
        let switch = Switch {
            old,
            new,
            old_state,
            wait_reason,
            user_mode_wait: wait_reason == 6,
            new_priority: threads[new].base_priority as i8,
            old_priority: threads[old].base_priority as i8,
            previous_c_state: u8::from(previous.is_none()),
            walk,
            counters: self.counted[cpu].to_vec(),
        };
        self.records.push(Record { ticks: boundary, cpu: cpu as u16, event: Event::Switch(switch) });
    }

    fn samples(&mut self, slot: usize, ticks: i64, parts: &[Part]) {
        for cpu in 0..self.running.len() {
            let (thread, stack, interrupted) = match self.running[cpu] {
                Some(part) => match parts[part].at(slot) {
                    Play::Run(stack) => (parts[part].thread, stack, false),
                    _ => (parts[part].thread, None, false),
                },
                None if self.rng.below(150) == 0 => {
                    let stack = self.house.interrupts[self.rng.index(self.house.interrupts.len())];
                    (cpu, Some(stack), true)
                }
                None => (cpu, None, false),
            };
            let sample = Sample {
                thread,
                function: stack.map_or(self.house.idle, |stack| stack.leaf),
                count: 1,
                in_dpc: interrupted,
                in_isr: false,
                priority: self.cast.machine.threads[thread].base_priority,
                walk: stack.map(|stack| walk(stack, ticks, cpu)),
            };
            self.records.push(Record { ticks, cpu: cpu as u16, event: Event::Sample(sample) });
        }
    }
}

/// The user half comes a moment later, on the way back to user mode.
fn walk(stack: Halves, ticks: i64, cpu: usize) -> Walk {
    Walk { kernel: stack.kernel, user: stack.user, user_ticks: ticks + RETURN, user_cpu: cpu as u16 }
}
