//! Switches of a small machine over a long time: sleepers, threads that keep a CPU, broken chains, threads that come and go.
//!
//! Rows are those that the trackers make: of each thread in the order of time, none over another one.

use tracesift_trace::rows::{ContextSwitchRow, ThreadRow, switch_flags};
use tracesift_trace::{ProcessId, StackId, ThreadId};

use crate::archive::Random;

const CPUS: usize = 3;

/// The threads of a recording and all of their switches.
#[derive(Clone, Debug, Default)]
pub struct Chains {
    /// Table `threads`.
    pub threads: Vec<ThreadRow>,
    /// Table `context_switches`.
    pub switches: Vec<ContextSwitchRow>,
    /// End of the recording, which starts at 0.
    pub end: i64,
}

/// What the machine knows of a thread.
#[derive(Clone, Copy, Debug)]
struct Thread {
    /// Off the CPU since then.
    since: i64,
    /// Whether it was never seen to leave a CPU.
    is_new: bool,
    /// Whether the chain of its switches is broken.
    is_broken: bool,
    /// How seldom it runs.
    rarity: usize,
    is_dead: bool,
}

struct Machine {
    random: Random,
    chains: Chains,
    threads: Vec<Thread>,
    running: [Option<usize>; CPUS],
    time: i64,
}

/// The switches of about so many switch-ins.
#[must_use]
pub fn chains(seed: u64, count: usize) -> Chains {
    let mut machine = Machine {
        random: Random(seed),
        chains: Chains::default(),
        threads: Vec::new(),
        running: [None; CPUS],
        time: 0,
    };
    // From one that always runs when it can to one that sleeps nearly all the time; one never runs.
    for rarity in [1, 1, 1, 2, 5, 40, 300, usize::MAX] {
        machine.thread(None, rarity);
    }
    while machine.chains.switches.len() < count {
        machine.step();
    }
    machine.finish()
}

impl Machine {
    fn thread(&mut self, start: Option<i64>, rarity: usize) {
        let thread = self.threads.len();
        let id = i32::try_from(thread).unwrap_or(i32::MAX);
        let row = ThreadRow {
            thread: ThreadId(id),
            process: ProcessId(id % 3),
            // Few ids for many threads, one after the other.
            tid: i64::from(id % 11),
            start,
            ..ThreadRow::default()
        };
        self.chains.threads.push(row);
        let since = start.unwrap_or(0);
        self.threads.push(Thread { since, is_new: true, is_broken: false, rarity, is_dead: false });
    }

    fn step(&mut self) {
        self.time += [0, 1, 3, 10, 40][self.random.below(5)];
        match self.random.below(200) {
            0..3 => self.thread(Some(self.time), 3),
            // Some switches were lost: whoever runs now was not seen to come.
            3 => (0..CPUS).for_each(|cpu| {
                if let Some(thread) = self.running[cpu].take() {
                    self.threads[thread].is_broken = true;
                    self.threads[thread].since = self.time;
                }
            }),
            4 => self.gap(),
            _ => self.switch(),
        }
    }

    /// A switch-in of some thread. The last CPU has one in a hundred.
    fn switch(&mut self) {
        let cpu = if self.random.below(100) == 0 { CPUS - 1 } else { self.random.below(CPUS - 1) };
        let place = self.random.below(self.threads.len());
        let next = self.threads[place];
        let is_running = self.running.contains(&Some(place));
        if is_running || next.is_dead || next.rarity == usize::MAX || self.random.below(next.rarity) > 0 {
            return;
        }
        let before = self.running[cpu].replace(place);
        let mut row = ContextSwitchRow {
            time: self.time,
            cpu: i16::try_from(cpu).ok(),
            thread: self.chains.threads[place].thread,
            prev_thread: before.map(|before| self.chains.threads[before].thread),
            off_time: next.since,
            wait_stack: (self.random.below(3) > 0).then_some(StackId(self.random.integer(0, 99))),
            priority: (self.random.below(4) > 0).then_some(self.random.integer(0, 15)),
            off_priority: (self.random.below(4) > 0).then_some(self.random.integer(0, 15)),
            ..ContextSwitchRow::default()
        };
        row.flags = match (next.is_new, next.is_broken, self.random.below(8)) {
            (true, ..) => switch_flags::OPEN_LEFT,
            (_, true, _) => switch_flags::BROKEN,
            (.., 0) => switch_flags::PREEMPTED,
            _ => 0,
        };
        if self.random.below(3) == 0 {
            row.ready_time = Some(next.since + (self.time - next.since) / 3);
        }
        self.chains.switches.push(row);
        let thread = &mut self.threads[place];
        (thread.is_new, thread.is_broken) = (false, false);
        if let Some(before) = before {
            self.leave(before);
        }
    }

    fn leave(&mut self, place: usize) {
        self.threads[place].since = self.time;
        let is_one_of_many = self.chains.threads[place].start.is_some();
        if is_one_of_many && self.random.below(4) == 0 {
            self.threads[place].is_dead = true;
            self.chains.threads[place].end = Some(self.time);
            self.closing(place, self.time, switch_flags::TERMINATED);
        }
    }

    /// A row that ends unknown time.
    fn gap(&mut self) {
        let place = self.random.below(self.threads.len());
        let thread = self.threads[place];
        if !self.running.contains(&Some(place)) && !thread.is_dead && !thread.is_new {
            self.closing(place, thread.since, switch_flags::GAP);
            self.threads[place].since = self.time;
        }
    }

    /// A row that no switch-in ends.
    fn closing(&mut self, place: usize, off_time: i64, flags: i16) {
        let thread = self.chains.threads[place].thread;
        // Who is seen to leave a CPU without having come is on that CPU.
        let cpu = (flags == switch_flags::GAP).then(|| i16::try_from(self.random.below(CPUS)).unwrap_or(0));
        let row = ContextSwitchRow { time: self.time, off_time, thread, flags, cpu, ..ContextSwitchRow::default() };
        self.chains.switches.push(row);
    }

    fn finish(mut self) -> Chains {
        self.time += 100;
        for place in 0..self.threads.len() {
            let thread = self.threads[place];
            if !self.running.contains(&Some(place)) && !thread.is_dead && !thread.is_new {
                self.closing(place, thread.since, switch_flags::OPEN_RIGHT);
            }
        }
        self.chains.end = self.time;
        self.chains
    }
}
