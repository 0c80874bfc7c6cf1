//! A busy machine, for figures of size: rows with the entropy of real ones, the same in every run.
//!
//! 64 CPUs, 4000 threads of very different activity, times in steps of 100 ns, off-CPU spans from 1 µs to 10 s, evenly on
//! a logarithmic scale, 20,000 stacks of depth 30 that share their outer frames.

use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, FrameRow, StackRow};
use tracesift_trace::{FrameId, ModuleId, ProcessId, StackId, ThreadId};

const CPUS: usize = 64;
const THREADS: i32 = 4000;
const STACKS: i32 = 20_000;
const DEPTH: usize = 30;

/// A thread and what it usually does.
#[derive(Debug)]
struct Thread {
    ideal_cpu: i16,
    priority: i8,
    /// Stacks that it waits with, the usual one first, and the wait reason of each.
    waits: Vec<(StackId, i8)>,
    readies: Vec<StackId>,
}

/// Makes rows in the order of time.
#[derive(Debug)]
pub struct Machine {
    random: Random,
    time: i64,
    threads: Vec<Thread>,
    running: Vec<i32>,
    idle_since: Vec<i64>,
}

impl Default for Machine {
    fn default() -> Self {
        let mut random = Random(7);
        let threads = (0..THREADS)
            .map(|index| Thread {
                ideal_cpu: (index as usize % CPUS) as i16,
                priority: [8, 8, 8, 9, 10, 13, 15][random.below(7)],
                waits: (0..5)
                    .map(|_| (StackId(random.skewed(STACKS)), [0, 5, 6, 13, 15, 15][random.below(6)]))
                    .collect(),
                readies: (0..5).map(|_| StackId(random.skewed(STACKS))).collect(),
            })
            .collect();
        Self { random, time: 0, threads, running: (0..CPUS as i32).collect(), idle_since: vec![0; CPUS] }
    }
}

impl Machine {
    /// The idle threads have the first ids.
    fn is_idle(thread: i32) -> bool {
        thread < CPUS as i32
    }

    fn tick(&mut self, mean: f64) {
        // Exponential gaps in steps of 100 ns.
        let gap = -mean * (1.0 - self.random.unit()).ln() / 100.0;
        self.time += (gap as i64).max(1) * 100;
    }

    fn log_uniform(&mut self, from: f64, to: f64) -> i64 {
        ((from.ln() + (to.ln() - from.ln()) * self.random.unit()).exp() / 100.0) as i64 * 100
    }

    /// The next context switch, with its ready event unless the thread is idle or was preempted.
    pub fn switch(&mut self) -> ContextSwitchRow {
        self.tick(2500.0);
        let cpu = self.random.skewed(CPUS as i32) as usize;
        let previous = self.running[cpu];
        let to_idle = !Self::is_idle(previous) && self.random.below(10) < 4;
        let mut row = ContextSwitchRow {
            time: self.time,
            cpu: Some(cpu as i16),
            prev_thread: Some(ThreadId(previous)),
            ..Default::default()
        };
        if to_idle {
            self.running[cpu] = cpu as i32;
            row.thread = ThreadId(cpu as i32);
            row.off_time = self.idle_since[cpu];
            row.off_state = Some(2);
            row.priority = Some(0);
            row.off_priority = Some(0);
            row.ideal_cpu = Some(cpu as i16);
            row.wait_ticks = Some(0);
            row.remaining_quantum = Some(0);
            return row;
        }
        if Self::is_idle(previous) {
            self.idle_since[cpu] = self.time;
            row.previous_c_state = Some([0, 1, 1, 2][self.random.below(4)]);
        }
        let thread = CPUS as i32 + self.random.skewed(THREADS - CPUS as i32);
        let off = self.log_uniform(1e3, 1e10);
        let readier = self.random.skewed(THREADS);
        let usual = self.random.skewed(5) as usize;
        let usual_ready = self.random.skewed(5) as usize;
        self.running[cpu] = thread;
        row.thread = ThreadId(thread);
        row.off_time = self.time - off;
        let preempted = self.random.below(20) == 0;
        row.off_state = Some(if preempted { 1 } else { 5 });
        let boost = [0, 0, 0, 1, 2][self.random.below(5)];
        if !preempted {
            let ready = self.log_uniform(1e3, 1e6).min(off);
            row.ready_time = Some(self.time - ready);
            row.readier = Some(ThreadId(readier));
            row.ready_cpu = Some(if self.random.below(2) == 0 { cpu as i16 } else { self.random.below(CPUS) as i16 });
            row.ready_stack = Some(self.threads[readier as usize].readies[usual_ready]);
            row.adjust_reason = Some(1);
            row.adjust_increment = Some(boost);
        }
        let own = &self.threads[thread as usize];
        let (stack, reason) = own.waits[usual];
        row.wait_stack = Some(stack);
        row.wait_reason = (!preempted).then_some(reason);
        row.priority = Some(own.priority + boost);
        row.off_priority = Some(own.priority);
        row.ideal_cpu = Some(own.ideal_cpu);
        row.wait_ticks = Some(off / 15_625_000);
        row.remaining_quantum = Some(self.random.below(18) as i64);
        row.flags = if preempted {
            16
        } else if self.random.below(3) == 0 {
            512
        } else {
            0
        };
        row
    }

    /// CPUs are sampled in turn, each millisecond.
    pub fn sample(&mut self, index: usize) -> CpuSampleRow {
        let cpu = index % CPUS;
        if cpu == 0 {
            self.running = (0..CPUS as i32)
                .map(|idle| {
                    if self.random.below(2) == 0 {
                        idle
                    } else {
                        CPUS as i32 + self.random.skewed(THREADS - CPUS as i32)
                    }
                })
                .collect();
        }
        let thread = self.running[cpu];
        let idle = Self::is_idle(thread);
        let own = &self.threads[thread as usize];
        let jitter = self.random.below(150) as i64 * 100;
        CpuSampleRow {
            time: (index / CPUS) as i64 * 1_000_000 + cpu as i64 * 15_000 + jitter,
            cpu: cpu as i16,
            process: ProcessId(if idle { 0 } else { 1 + thread % 150 }),
            thread: ThreadId(thread),
            weight: 1_000_000,
            stack: (!idle).then(|| own.readies[self.random.skewed(5) as usize]),
            frame: idle.then(|| FrameId(self.random.below(4) as i32)),
            priority: Some(if idle { 0 } else { own.priority }),
            flags: i8::from(self.random.below(50) == 0),
        }
    }

    /// Stacks as paths from the leaves of a call tree to its root, and their frames.
    pub fn stacks(&mut self) -> (Vec<FrameRow>, Vec<StackRow>) {
        let mut frames = Vec::new();
        let mut stacks: Vec<StackRow> = Vec::new();
        for stack in 0..STACKS {
            // Shares the outer frames of an earlier stack, up to a depth that is evenly spread.
            let shared = self.random.below(DEPTH);
            let mut path = match stacks.len() {
                0 => Vec::new(),
                count => stacks[self.random.below(count)].frames[DEPTH - shared..].to_vec(),
            };
            while path.len() < DEPTH {
                // Half of the inner frames are well known, such as those of the wait functions.
                let frame = if frames.len() > 2000 && self.random.below(2) == 0 {
                    FrameId(self.random.skewed(2000))
                } else {
                    let frame = FrameId(frames.len() as i32);
                    frames.push(FrameRow {
                        frame,
                        module: Some(ModuleId(self.random.skewed(300))),
                        rva: Some(self.random.below(2_000_000) as i64),
                        process: None,
                        address: None,
                    });
                    frame
                };
                path.insert(0, frame);
            }
            stacks.push(StackRow { stack: StackId(stack), frames: path });
        }
        (frames, stacks)
    }
}

/// SplitMix64.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Below `limit`, small values far more often: the density falls as 1/x.
    fn skewed(&mut self, limit: i32) -> i32 {
        ((f64::from(limit).ln() * self.unit()).exp() as i32 - 1).clamp(0, limit - 1)
    }
}
