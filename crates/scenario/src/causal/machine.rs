//! The machine: a scheduler over CPUs that runs the scripts of threads, event by event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::history::{Device, Did, Entry, History, Leave, Slice, Timeline, Waker, What};
use super::noise::{Chance, Noise};
use super::task::{Action, Status, Task};
use super::world::{StackNo, Step, WaitKind, World};

/// What is recorded behind the end of the test, ns.
const EPILOGUE: i64 = 2_000_000;
/// From an event that takes a CPU away to the switch, ns.
pub(super) const INTERRUPT: i64 = 1_500;
/// A thread runs so long between its end and its last switch-out, ns.
const LAST_BREATH: i64 = 8_000;

/// A CPU.
#[derive(Clone, Debug, Default)]
pub(super) struct Cpu {
    pub(super) running: Option<usize>,
    /// The thread that it wakes up for.
    pub(super) claimed: Option<usize>,
}

pub(super) struct Machine {
    pub(super) world: World,
    pub(super) chance: Chance,
    pub(super) noise: Noise,
    pub(super) tasks: Vec<Task>,
    /// Owner and waiting threads of each lock.
    pub(super) locks: Vec<(Option<usize>, VecDeque<usize>)>,
    /// Count and waiting threads of each event.
    pub(super) events: Vec<(u32, VecDeque<usize>)>,
    /// Whether each gate is closed, and the waiting threads.
    pub(super) gates: Vec<(bool, Vec<usize>)>,
    /// Who has stopped each process.
    pub(super) stopped: Vec<Option<usize>>,
    pub(super) suspended: Vec<usize>,
    pub(super) now: i64,
    pub(super) cpus: Vec<Cpu>,
    pub(super) runnable: Vec<usize>,
    queue: BinaryHeap<Reverse<(i64, u64, Action)>>,
    queued: u64,
    log: Vec<Entry>,
    pub(super) timelines: Vec<Timeline>,
    pub(super) occupants: Vec<Vec<(i64, Option<usize>)>>,
    stop_at: i64,
}

impl Machine {
    pub(super) fn new(world: World, noise: &Noise, seed: u64) -> Self {
        let (locks, events, gates) = world.counts();
        Self {
            chance: Chance::new(seed, noise),
            noise: noise.clone(),
            tasks: world.threads.iter().map(Task::new).collect(),
            locks: vec![(None, VecDeque::new()); locks],
            events: vec![(0, VecDeque::new()); events],
            gates: vec![(false, Vec::new()); gates],
            stopped: vec![None; world.processes.len()],
            suspended: Vec::new(),
            now: 1_000,
            cpus: vec![Cpu::default(); world.speeds.len()],
            runnable: Vec::new(),
            queue: BinaryHeap::new(),
            queued: 0,
            log: Vec::new(),
            timelines: vec![Timeline::default(); world.threads.len()],
            occupants: vec![vec![(0, None)]; world.speeds.len()],
            stop_at: world.limit,
            world,
        }
    }

    /// Runs until the end of the test, else until the limit.
    pub(super) fn run(mut self) -> History {
        for thread in 0..self.tasks.len() {
            if let Some(starts) = self.world.threads[thread].starts {
                self.at(starts.max(self.now), Action::Begin { thread });
            }
        }
        while let Some(Reverse((time, _, action))) = self.queue.pop() {
            // Some ns are left for what one action logs.
            if time.max(self.now) + 10_000 >= self.stop_at {
                break;
            }
            self.now = self.now.max(time);
            self.act(action);
        }
        self.finish()
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::StepEnd { thread, turn } => self.step_end(thread, turn),
            Action::Quantum { thread, turn } => {
                if let Some(cpu) = self.turn_of(thread, turn).filter(|_| !self.tasks[thread].has_ended) {
                    let priority = self.world.threads[thread].priority;
                    if self.best_for(cpu).is_some_and(|best| self.priority_at(best) >= priority) {
                        self.preempt(cpu);
                    } else {
                        self.at(self.now + self.noise.quantum, Action::Quantum { thread, turn });
                    }
                }
            }
            Action::Preempt { cpu } => {
                let better =
                    |running: usize, best: usize| self.priority_at(best) > self.world.threads[running].priority;
                // A thread that has ended leaves at once in any case.
                if let (Some(running), Some(best)) = (self.cpus[cpu].running, self.best_for(cpu))
                    && !self.tasks[running].has_ended
                    && better(running, best)
                {
                    self.preempt(cpu);
                }
            }
            Action::Suspend { thread, turn } => {
                if self.turn_of(thread, turn).is_some() && self.is_stopped(thread) {
                    self.suspend(thread);
                }
            }
            Action::Dispatch { cpu } => {
                if let Some(thread) = self.cpus[cpu].claimed.take() {
                    self.switch(cpu, Some(thread), Leave::Idle);
                }
            }
            Action::Interrupt { thread, timer } => {
                if let Some((start, start_cpu)) = self.tasks[thread].disk.take()
                    && let WaitKind::Disk(op) = self.tasks[thread].wait
                {
                    let cpu = self.tasks[thread].last_cpu;
                    self.note(cpu, What::Disk { thread, op, start, start_cpu });
                }
                self.wake(thread, Err(if timer { Device::Timer } else { Device::Disk }));
            }
            Action::Leave { thread } => {
                if let Status::Running(cpu) = self.tasks[thread].status {
                    self.leave(cpu, Leave::Ends);
                }
            }
            // Nobody sees what wakes it, as it was not seen to wait.
            Action::Begin { thread } => {
                self.tasks[thread].status = Status::Ready;
                self.place(thread);
            }
        }
    }

    pub(super) fn at(&mut self, time: i64, action: Action) {
        self.queued += 1;
        self.queue.push(Reverse((time.max(self.now + 1), self.queued, action)));
    }

    /// Logs something at a time of its own.
    pub(super) fn note(&mut self, cpu: usize, what: What) -> i64 {
        self.now += 1;
        self.log.push(Entry { time: self.now, cpu, what });
        self.now
    }

    pub(super) fn turn_of(&self, thread: usize, turn: u64) -> Option<usize> {
        match self.tasks[thread].status {
            Status::Running(cpu) if self.tasks[thread].turn == turn => Some(cpu),
            _ => None,
        }
    }

    pub(super) fn is_stopped(&self, thread: usize) -> bool {
        self.stopped[self.world.threads[thread].process].is_some_and(|by| by != thread)
    }

    /// CPU of a running thread.
    pub(super) fn cpu_of(&self, thread: usize) -> usize {
        self.tasks[thread].last_cpu
    }

    fn step_end(&mut self, thread: usize, turn: u64) {
        if self.turn_of(thread, turn).is_none() || self.tasks[thread].has_ended {
            return;
        }
        if self.is_stopped(thread) {
            self.suspend(thread);
            return;
        }
        self.tasks[thread].work = 0;
        while let Some(step) = self.tasks[thread].next_step() {
            if !self.perform(thread, step) {
                return;
            }
        }
        self.end(thread);
    }

    /// Puts steps before those that are left.
    pub(super) fn first(&mut self, thread: usize, steps: Vec<Step>) {
        self.tasks[thread].first(steps);
    }

    /// The thread runs with this stack from now on.
    pub(super) fn go_on_at(&mut self, thread: usize, stack: StackNo) {
        if self.tasks[thread].stack != stack {
            self.close_slice(thread, self.now);
            self.tasks[thread].stack = stack;
        }
    }

    pub(super) fn close_slice(&mut self, thread: usize, end: i64) {
        let task = &mut self.tasks[thread];
        let (start, stack) = (task.slice, task.stack);
        task.slice = end;
        if start < end {
            self.timelines[thread].code.push(Slice { start, end, stack });
        }
    }

    /// Runs for so many ns at normal speed.
    pub(super) fn work(&mut self, thread: usize, ns: i64) {
        self.tasks[thread].work = ns;
        self.schedule_work(thread);
    }

    pub(super) fn schedule_work(&mut self, thread: usize) {
        self.tasks[thread].work_since = self.now;
        let task = &self.tasks[thread];
        let wall = task.work * 1_000_000 / self.speed(task.last_cpu);
        let turn = task.turn;
        self.at(self.now + wall, Action::StepEnd { thread, turn });
    }

    /// Millionths of the normal speed.
    pub(super) fn speed(&self, cpu: usize) -> i64 {
        (self.world.speeds[cpu] * self.noise.clock).max(1_000)
    }

    /// The thread waits from now on.
    pub(super) fn block(&mut self, thread: usize, wait: WaitKind) {
        self.tasks[thread].wait = wait;
        self.leave(self.tasks[thread].last_cpu, Leave::Waits(wait));
    }

    fn suspend(&mut self, thread: usize) {
        self.account_work(thread);
        self.suspended.push(thread);
        self.block(thread, WaitKind::Stopped);
    }

    /// Tells other CPUs to stop the threads of a process.
    pub(super) fn stop(&mut self, by: usize) {
        let process = self.world.threads[by].process;
        self.stopped[process] = Some(by);
        for thread in 0..self.tasks.len() {
            let turn = self.tasks[thread].turn;
            if self.is_stopped(thread) && self.turn_of(thread, turn).is_some() && !self.tasks[thread].has_ended {
                self.at(self.now + INTERRUPT, Action::Suspend { thread, turn });
            }
        }
    }

    /// A thread makes another one.
    pub(super) fn spawn(&mut self, by: usize, thread: usize) {
        if self.tasks[thread].status != Status::Unborn {
            return;
        }
        let process = self.world.threads[thread].process;
        let alive = |other: usize| self.tasks[other].status != Status::Unborn;
        let first = !(0..self.tasks.len()).any(|other| self.world.threads[other].process == process && alive(other));
        let cpu = self.cpu_of(by);
        // A process and its images come a moment before its thread.
        self.now += if first { 1_000 } else { 0 };
        let born = self.note(cpu, What::Start { thread, by, process: first });
        self.now += 50;
        self.tasks[thread].since = born;
        self.tasks[thread].status = Status::Waiting;
        self.tasks[thread].last_cpu = cpu;
        self.timelines[thread].born = Some(born);
        self.wake(thread, Ok(by));
    }

    fn end(&mut self, thread: usize) {
        for joiner in std::mem::take(&mut self.tasks[thread].joiners) {
            self.wake(joiner, Ok(thread));
        }
        let process = self.world.threads[thread].process;
        let lives = |other: usize| {
            self.world.threads[other].process == process
                && !matches!(self.tasks[other].status, Status::Unborn | Status::Ended)
                && !self.tasks[other].has_ended
        };
        let last = !(0..self.tasks.len()).any(|other| other != thread && lives(other));
        self.tasks[thread].has_ended = true;
        let cpu = self.cpu_of(thread);
        self.note(cpu, What::End { thread, process: last });
        self.now += 5;
        self.at(self.now + LAST_BREATH, Action::Leave { thread });
        if self.world.main == Some(thread) {
            self.stop_at = self.stop_at.min(self.now + LAST_BREATH + EPILOGUE);
        }
    }

    fn finish(mut self) -> History {
        // The header of an ETW recording counts in 100 ns.
        let end = (self.stop_at.max(self.now + 1) + 99) / 100 * 100;
        for thread in 0..self.tasks.len() {
            let Task { status, wait, stack, .. } = self.tasks[thread];
            match status {
                Status::Running(cpu) => {
                    self.close_slice(thread, end);
                    self.pass(thread, end, Did::Run(cpu));
                }
                Status::Ready | Status::Waiting
                    if self.timelines[thread].born.is_none() && self.timelines[thread].stretches.is_empty() => {}
                Status::Ready => self.pass(thread, end, Did::Ready(None)),
                Status::Waiting => self.pass(thread, end, Did::Wait(wait, stack, Waker::Nobody)),
                Status::Unborn | Status::Ended => {}
            }
        }
        History {
            world: self.world,
            end,
            log: self.log,
            timelines: self.timelines,
            cpus: self.occupants,
            lost: Vec::new(),
        }
    }
}
