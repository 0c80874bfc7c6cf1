//! A small deterministic scheduler: threads run, wait, are readied, preempted, born and ended, and are sampled meanwhile.
//!
//! Every record has a tick of its own, so that no reader can see two of them in another order than they happened.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tracesift_etl::write::payload::thread_state;

use crate::machine::{Function, Machine, MethodOrigin, StackId, Thread};
use crate::population::Population;
use crate::random::Knobs;
use crate::record::{CounterSample, Event, Ready, Record, Sample, Switch, Walk};
use crate::rng::SplitMix64;
use crate::{Process, Rundown};

/// State in which the idle thread leaves a CPU.
const STATE_RUNNING: i8 = 2;
const WAIT_REASON_EXECUTIVE: i8 = 0;
const WAIT_REASON_TERMINATED: i8 = 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    /// The running thread has nothing more to do for now.
    StepEnd { thread: usize, turn: u64 },
    /// The quantum is over, or somebody more important came.
    Preempt { cpu: usize },
    /// A wait is over.
    Wake { thread: usize },
    /// An idle CPU looks for work.
    Dispatch { cpu: usize },
    /// An exiting thread leaves its CPU for ever.
    Terminate { thread: usize },
    /// The timer interrupt of one CPU.
    Sample { cpu: usize },
    /// The sampling interval changes.
    Interval,
    /// A new process; its pid and tids may be those of an ended one.
    SpawnProcess { pid: u32, first_tid: u32 },
    /// A new thread in a living process.
    SpawnThread { process: usize, tid: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Running { cpu: usize },
    Ready,
    Waiting,
    Exiting { cpu: usize },
    Gone,
}

#[derive(Clone, Debug)]
struct Actor {
    status: Status,
    /// Counts switch-ins, so that the end of an earlier turn is not taken for that of this one.
    turn: u64,
    /// Ends itself at the first step after this time.
    dies_after: Option<i64>,
    /// Never switched in again once it waits after this time.
    hangs_after: Option<i64>,
    /// Stack with which it left the CPU.
    off_stack: Option<(StackId, Option<StackId>)>,
    marked: bool,
}

/// A turn of a thread on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) cpu: u16,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// What a simulation gives.
pub(crate) struct Outcome {
    pub(crate) records: Vec<Record>,
    /// Turns of each thread, in time order.
    pub(crate) turns: Vec<Vec<Turn>>,
}

pub(crate) struct Simulation<'a> {
    machine: &'a mut Machine,
    population: &'a mut Population,
    knobs: &'a Knobs,
    rng: &'a mut SplitMix64,
    queue: BinaryHeap<Reverse<(i64, u64, Action)>>,
    queued: u64,
    records: Vec<Record>,
    actors: Vec<Actor>,
    running: Vec<usize>,
    runnable: VecDeque<usize>,
    turns: Vec<Vec<Turn>>,
    turn_start: Vec<i64>,
    counters: Vec<Vec<u64>>,
    interval: u32,
    last_tick: i64,
    end: i64,
}

impl<'a> Simulation<'a> {
    pub(crate) fn new(
        machine: &'a mut Machine,
        population: &'a mut Population,
        knobs: &'a Knobs,
        rng: &'a mut SplitMix64,
        end: i64,
    ) -> Self {
        let cpus = usize::from(machine.cpus);
        let start = machine.zero_ticks;
        Self {
            queue: BinaryHeap::new(),
            queued: 0,
            records: Vec::new(),
            actors: Vec::new(),
            running: (0..cpus).collect(),
            runnable: VecDeque::new(),
            turns: vec![Vec::new(); machine.threads.len()],
            turn_start: vec![start; cpus],
            counters: vec![vec![0; usize::from(knobs.counters_at_switches)]; cpus],
            interval: knobs.sample_interval,
            last_tick: start + 1_000,
            machine,
            population,
            knobs,
            rng,
            end,
        }
    }

    pub(crate) fn run(mut self) -> Outcome {
        self.set_the_stage();
        while let Some(Reverse((time, _, action))) = self.queue.pop() {
            if time >= self.end {
                break;
            }
            self.last_tick = self.last_tick.max(time);
            if self.last_tick >= self.end - 1_000 {
                break;
            }
            self.act(action);
        }
        for cpu in 0..self.running.len() {
            self.close_turn(cpu, self.end);
        }
        Outcome { records: self.records, turns: self.turns }
    }

    /// Who runs, is runnable or waits when the recording starts.
    fn set_the_stage(&mut self) {
        let cpus = self.running.len();
        for thread in 0..self.machine.threads.len() {
            let actor = self.new_actor(thread);
            self.actors.push(actor);
        }
        for thread in cpus..self.machine.threads.len() {
            let free = self.rng.index(cpus);
            if self.running[free] < cpus && self.rng.chance(50) {
                self.running[free] = thread;
                self.actors[thread].status = Status::Running { cpu: free };
                self.schedule_step(thread);
                self.mark(thread, free);
            } else if self.rng.chance(20) {
                self.actors[thread].status = Status::Ready;
                self.runnable.push_back(thread);
                let cpu = self.rng.index(cpus);
                let delay = self.micros(10, 900);
                self.after(delay, Action::Dispatch { cpu });
            } else {
                let delay = self.wait_length();
                self.after(delay, Action::Wake { thread });
            }
        }
        for cpu in 0..cpus {
            let delay = self.micros(50, 1_000);
            self.after(delay, Action::Sample { cpu });
        }
        if self.knobs.interval_changes {
            let delay = (self.end - self.machine.zero_ticks) / 3;
            self.after(delay, Action::Interval);
            self.after(2 * delay, Action::Interval);
        }
        for index in 0..u32::from(self.knobs.births) {
            let delay = self.rng.between(1, ((self.end - self.machine.zero_ticks) / 2).max(2));
            self.after(delay, Action::SpawnProcess { pid: 9_000 + index * 4, first_tid: 20_000 + index * 100 });
        }
    }

    fn new_actor(&mut self, thread: usize) -> Actor {
        let cpus = self.running.len();
        let span = self.end - self.last_tick;
        let idle = thread < cpus;
        // The System process stays, so that there is always somebody who can create processes.
        let mortal = !idle && self.machine.threads[thread].process != 1;
        let dies = mortal && self.rng.chance(u64::from(self.knobs.deaths_percent));
        let hangs = mortal && self.knobs.hangs && self.rng.chance(15);
        let last_tick = self.last_tick;
        let mut at = |wanted: bool| wanted.then(|| last_tick + self.rng.between(0, span.max(1)));
        Actor {
            status: if idle { Status::Running { cpu: thread } } else { Status::Waiting },
            turn: 0,
            dies_after: at(dies),
            hangs_after: at(hangs),
            off_stack: None,
            marked: false,
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::StepEnd { thread, turn } => self.step_end(thread, turn),
            Action::Preempt { cpu } => self.preempt(cpu),
            Action::Wake { thread } => self.wake(thread),
            Action::Dispatch { cpu } => self.dispatch(cpu),
            Action::Terminate { thread } => self.terminate(thread),
            Action::Sample { cpu } => {
                self.sample(cpu);
                let interval = i64::from(self.interval) * self.machine.frequency / 10_000_000;
                self.after(interval * i64::from(self.knobs.sample_every.max(1)), Action::Sample { cpu });
            }
            Action::Interval => {
                let old = self.interval;
                self.interval = [1_221, 5_000, 10_000, 20_000][self.rng.index(4)];
                self.push(0, Event::Interval { new: self.interval, old });
            }
            Action::SpawnProcess { pid, first_tid } => self.spawn_process(pid, first_tid),
            Action::SpawnThread { process, tid } => self.spawn_thread(process, tid),
        }
    }

    fn step_end(&mut self, thread: usize, turn: u64) {
        let Status::Running { cpu } = self.actors[thread].status else { return };
        if self.actors[thread].turn != turn {
            return;
        }
        if self.actors[thread].dies_after.is_some_and(|time| self.last_tick >= time) {
            self.exit(thread, cpu);
            return;
        }
        let reason = [0, 4, 6, 7, 13, 15, 22, 37][self.rng.index(8)];
        if self.actors[thread].hangs_after.is_some_and(|time| self.last_tick >= time) {
            self.switch_out(cpu, thread_state::WAITING, reason);
            if self.knobs.ready_events && self.rng.chance(30) {
                // Readied at last, but the recording ends before it gets a CPU.
                let delay = self.micros(100, 2_000);
                self.after(delay, Action::Wake { thread });
            }
            return;
        }
        if self.knobs.ready_events && self.rng.chance(8) {
            // The wait is over before it begins: the ready event comes while the thread still runs.
            self.ready_event(thread);
            self.switch_out(cpu, thread_state::WAITING, reason);
            self.make_runnable(thread);
            return;
        }
        self.switch_out(cpu, thread_state::WAITING, reason);
        let delay = self.wait_length();
        self.after(delay, Action::Wake { thread });
    }

    fn preempt(&mut self, cpu: usize) {
        let thread = self.running[cpu];
        if !matches!(self.actors[thread].status, Status::Running { .. }) || thread < self.running.len() {
            return;
        }
        if self.runnable.is_empty() {
            return;
        }
        let state = [thread_state::READY, thread_state::READY, thread_state::STANDBY, thread_state::DEFERRED_READY]
            [self.rng.index(4)];
        self.switch_out(cpu, state, 30);
        self.actors[thread].status = Status::Ready;
        self.runnable.push_back(thread);
    }

    fn wake(&mut self, thread: usize) {
        if self.actors[thread].status != Status::Waiting {
            return;
        }
        // A direct switch can do without a ready event.
        if self.knobs.ready_events && !self.rng.chance(6) {
            self.ready_event(thread);
        }
        if self.actors[thread].hangs_after.is_none_or(|time| self.last_tick < time) {
            self.make_runnable(thread);
        }
    }

    fn make_runnable(&mut self, thread: usize) {
        self.actors[thread].status = Status::Ready;
        self.runnable.push_back(thread);
        let cpus = self.running.len();
        let first = self.rng.index(cpus);
        let idle = (0..cpus).map(|offset| (first + offset) % cpus).find(|cpu| self.running[*cpu] < cpus);
        match idle {
            Some(cpu) => {
                let delay = self.micros(1, 60);
                self.after(delay, Action::Dispatch { cpu });
            }
            None if self.knobs.preemption && self.rng.chance(40) => {
                let delay = self.micros(1, 20);
                self.after(delay, Action::Preempt { cpu: first });
            }
            None => {}
        }
    }

    fn dispatch(&mut self, cpu: usize) {
        if self.running[cpu] < self.running.len()
            && let Some(next) = self.runnable.pop_front()
        {
            self.switch_to(cpu, next, STATE_RUNNING, WAIT_REASON_EXECUTIVE);
        }
    }

    /// The running thread leaves; the next runnable one, or the idle thread, follows.
    fn switch_out(&mut self, cpu: usize, state: i8, reason: i8) {
        let old = self.running[cpu];
        let kernel = self.population.kernel_stack(self.rng);
        let user = self.user_half(old);
        self.actors[old].off_stack = Some((kernel, user));
        self.actors[old].status = if state == thread_state::TERMINATED { Status::Gone } else { Status::Waiting };
        let next = self.runnable.pop_front().unwrap_or(cpu);
        self.switch_to(cpu, next, state, reason);
    }

    fn switch_to(&mut self, cpu: usize, new: usize, old_state: i8, wait_reason: i8) {
        let old = self.running[cpu];
        let time = self.tick();
        self.close_turn(cpu, time);
        let walk = match self.actors[new].off_stack.take() {
            Some((kernel, user)) if !self.rng.chance(5) => Some(Walk {
                kernel: Some(kernel).filter(|_| !self.rng.chance(3)),
                user,
                user_ticks: time,
                user_cpu: cpu as u16,
            }),
            _ => None,
        };
        for counter in &mut self.counters[cpu] {
            *counter += self.rng.below(1_000_000);
        }
        let switch = Switch {
            old,
            new,
            old_state,
            wait_reason: if old_state == thread_state::WAITING { wait_reason } else { 0 },
            user_mode_wait: self.rng.chance(50),
            new_priority: self.machine.threads[new].base_priority as i8,
            old_priority: self.machine.threads[old].base_priority as i8,
            previous_c_state: if old < self.running.len() { self.rng.below(3) as u8 } else { 0 },
            walk,
            counters: self.counters[cpu].clone(),
        };
        if self.knobs.switches {
            self.records.push(Record { ticks: time, cpu: cpu as u16, event: Event::Switch(switch) });
        }
        self.running[cpu] = new;
        self.turn_start[cpu] = time;
        self.actors[new].status = Status::Running { cpu };
        self.actors[new].turn += 1;
        if new >= self.running.len() {
            self.mark(new, cpu);
            self.schedule_step(new);
        } else if !self.runnable.is_empty() {
            let delay = self.micros(1, 60);
            self.after(delay, Action::Dispatch { cpu });
        }
    }

    fn schedule_step(&mut self, thread: usize) {
        let run = self.micros(20, i64::from(self.knobs.mean_run_micros).max(21) * 2);
        let turn = self.actors[thread].turn;
        self.after(run, Action::StepEnd { thread, turn });
        if let (true, Status::Running { cpu }) = (self.knobs.preemption, self.actors[thread].status)
            && self.rng.chance(30)
        {
            let quantum = self.rng.between(1, run.max(2));
            self.after(quantum, Action::Preempt { cpu });
        }
    }

    fn ready_event(&mut self, thread: usize) {
        let cpu = self.rng.index(self.running.len());
        let by = self.running[cpu];
        let kernel = self.population.kernel_stack(self.rng);
        let user = self.user_half(by);
        let time = self.tick();
        let walk = (!self.rng.chance(10)).then_some(Walk {
            kernel: Some(kernel),
            user,
            user_ticks: time,
            user_cpu: cpu as u16,
        });
        let from_dpc = by < self.running.len() || self.rng.chance(20);
        let ready = Ready {
            thread,
            by,
            adjust_reason: self.rng.below(3) as i8,
            adjust_increment: self.rng.below(3) as i8,
            flags: u8::from(from_dpc) | if self.rng.chance(3) { 2 } else { 0 },
            walk,
        };
        self.records.push(Record { ticks: time, cpu: cpu as u16, event: Event::Ready(ready) });
    }

    fn sample(&mut self, cpu: usize) {
        let thread = self.running[cpu];
        let idle = thread < self.running.len();
        let interrupt = self.knobs.interrupts && self.rng.chance(if idle { 20 } else { 5 });
        if idle && !interrupt && !self.rng.chance(u64::from(self.knobs.idle_samples_percent)) {
            return;
        }
        let time = self.tick();
        let in_kernel = idle || interrupt || self.rng.chance(40);
        let kernel = in_kernel.then(|| self.population.kernel_stack(self.rng));
        let user = self.user_half(thread);
        let leaf = kernel.or(user).unwrap_or_else(|| self.population.kernel_stack(self.rng));
        let function = self.machine.stack(leaf)[0];
        let stackless = self.rng.chance(5) || idle && !interrupt;
        let walk = (!stackless).then_some(Walk { kernel, user, user_ticks: time, user_cpu: cpu as u16 });
        let event = if self.knobs.counter_samples && self.rng.chance(20) {
            Event::CounterSample(CounterSample { thread, function, source: 2, walk })
        } else {
            Event::Sample(self.new_sample(thread, function, interrupt, walk))
        };
        self.records.push(Record { ticks: time, cpu: cpu as u16, event });
    }

    fn new_sample(&mut self, thread: usize, function: Function, interrupt: bool, walk: Option<Walk>) -> Sample {
        let in_dpc = interrupt && self.rng.chance(60);
        let batched = self.knobs.batched_samples && self.rng.chance(10);
        Sample {
            thread,
            function,
            count: if batched { 2 + self.rng.below(7) as u16 } else { 1 },
            in_dpc,
            in_isr: interrupt && !in_dpc,
            priority: self.machine.threads[thread].base_priority,
            walk,
        }
    }

    fn exit(&mut self, thread: usize, cpu: usize) {
        self.actors[thread].status = Status::Exiting { cpu };
        let time = self.push(cpu, Event::ThreadEnd { thread });
        self.machine.threads[thread].end = Some(time);
        let process = self.machine.threads[thread].process;
        let last = (0..self.actors.len())
            .all(|other| self.machine.threads[other].process != process || self.machine.threads[other].end.is_some());
        if last {
            let time = self.push(cpu, Event::ProcessEnd { process, by: thread });
            self.machine.processes[process].end = Some(time);
        }
        let tail = self.micros(40, 500);
        self.after(tail, Action::Terminate { thread });
    }

    fn terminate(&mut self, thread: usize) {
        let Status::Exiting { cpu } = self.actors[thread].status else { return };
        if self.knobs.samples_after_end {
            let kernel = self.population.kernel_stack(self.rng);
            let time = self.tick();
            let walk = Walk { kernel: Some(kernel), user: None, user_ticks: time, user_cpu: cpu as u16 };
            let function = self.machine.stack(kernel)[0];
            let sample = self.new_sample(thread, function, false, Some(walk));
            self.records.push(Record { ticks: time, cpu: cpu as u16, event: Event::Sample(sample) });
        }
        self.switch_out(cpu, thread_state::TERMINATED, WAIT_REASON_TERMINATED);
        if !self.knobs.reuse_ids {
            return;
        }
        let delay = self.micros(2_000, 20_000);
        let Thread { process, tid, .. } = self.machine.threads[thread];
        let Process { pid, end, .. } = self.machine.processes[process];
        // Late enough for the images of the old life to be unmapped.
        if end.is_some() {
            self.after(delay, Action::SpawnProcess { pid, first_tid: tid });
        } else {
            let process = 1 + self.rng.index(self.machine.processes.len() - 1);
            self.after(delay, Action::SpawnThread { process, tid });
        }
    }

    fn spawn_process(&mut self, pid: u32, first_tid: u32) {
        let Some(creator_cpu) = self.busy_cpu() else {
            let delay = self.micros(500, 5_000);
            self.after(delay, Action::SpawnProcess { pid, first_tid });
            return;
        };
        let by = self.running[creator_cpu];
        let parent = self.machine.pid_of(by);
        let index = self.population.add_process(self.machine, self.rng, pid, parent);
        let time = self.push(creator_cpu, Event::ProcessStart { process: index, by });
        self.machine.processes[index].start = Some(time);
        self.last_tick += self.machine.processes[index].images.len() as i64 + 1;
        let threads = 1 + self.rng.below(2) as u32;
        for offset in 0..threads {
            self.start_thread(index, first_tid + offset * 50_000, by, creator_cpu);
        }
        for method in 0..self.machine.methods.len() {
            if self.machine.methods[method].process == index {
                let ticks = self.tick();
                self.machine.methods[method].origin = MethodOrigin::Load { ticks, cpu: creator_cpu as u16 };
            }
        }
    }

    fn spawn_thread(&mut self, process: usize, tid: u32) {
        let in_use = self
            .machine
            .threads
            .iter()
            .enumerate()
            .any(|(index, thread)| thread.tid == tid && self.actors[index].status != Status::Gone);
        if in_use || self.machine.processes[process].end.is_some() {
            return;
        }
        match self.busy_cpu() {
            Some(cpu) => self.start_thread(process, tid, self.running[cpu], cpu),
            None => {
                let delay = self.micros(500, 5_000);
                self.after(delay, Action::SpawnThread { process, tid });
            }
        }
    }

    fn start_thread(&mut self, process: usize, tid: u32, by: usize, cpu: usize) {
        let thread = self.machine.threads.len();
        let in_use = |(index, other): (usize, &Thread)| other.tid == tid && self.actors[index].status != Status::Gone;
        let tid = if self.machine.threads.iter().enumerate().any(in_use) { 100_000 + thread as u32 } else { tid };
        self.machine.threads.push(Thread {
            process,
            tid,
            name: String::new(),
            base_priority: 8,
            service_tag: 0,
            start: None,
            end: None,
        });
        let time = self.push(cpu, Event::ThreadStart { thread, by });
        self.machine.threads[thread].start = Some(time);
        self.turns.push(Vec::new());
        let actor = self.new_actor(thread);
        self.actors.push(actor);
        // The new thread's work starts when somebody readies it.
        let delay = self.micros(5, 3_000);
        self.after(delay, Action::Wake { thread });
    }

    /// A CPU on which a thread runs that can create others.
    fn busy_cpu(&mut self) -> Option<usize> {
        let cpus = self.running.len();
        let first = self.rng.index(cpus);
        (0..cpus).map(|offset| (first + offset) % cpus).find(|cpu| {
            self.running[*cpu] >= cpus && matches!(self.actors[self.running[*cpu]].status, Status::Running { .. })
        })
    }

    /// Without rundown, a mark is what says to which process a thread belongs.
    fn mark(&mut self, thread: usize, cpu: usize) {
        if self.knobs.rundown == Rundown::Missing && !self.actors[thread].marked {
            self.actors[thread].marked = true;
            let text = format!("thread {} runs", self.machine.threads[thread].tid);
            self.push(cpu, Event::Mark { thread, text });
        }
    }

    /// Every event of a thread that has a user mode gets a user half: a thread that returns to user mode with a kernel half
    /// pending has its stack walked there.
    fn user_half(&mut self, thread: usize) -> Option<StackId> {
        let process = self.machine.threads[thread].process;
        self.population.user_stack(self.rng, process)
    }

    fn close_turn(&mut self, cpu: usize, end: i64) {
        let turn = Turn { cpu: cpu as u16, start: self.turn_start[cpu], end };
        self.turns[self.running[cpu]].push(turn);
    }

    fn wait_length(&mut self) -> i64 {
        let mean = i64::from(self.knobs.mean_wait_micros).max(11);
        if self.rng.chance(10) { self.micros(10, mean * 12) } else { self.micros(10, mean * 2) }
    }

    fn micros(&mut self, low: i64, high: i64) -> i64 {
        (self.rng.between(low, high) * self.machine.frequency / 1_000_000).max(1)
    }

    fn after(&mut self, delay: i64, action: Action) {
        self.queued += 1;
        self.queue.push(Reverse((self.last_tick + delay, self.queued, action)));
    }

    fn tick(&mut self) -> i64 {
        self.last_tick += 1;
        self.last_tick
    }

    fn push(&mut self, cpu: usize, event: Event) -> i64 {
        let ticks = self.tick();
        self.records.push(Record { ticks, cpu: cpu as u16, event });
        ticks
    }
}
