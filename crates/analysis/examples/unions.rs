//! What the summaries cost per switch: 64 CPUs, 4,000 threads, 20,000 stacks of 30 frames, a million switches.
//!
//! ```text
//! cargo run --release -p tracesift-analysis --example unions [million switches]
//! ```
//!
//! The last line shows the alternative that the crate does not take: the same waits in the order of the table, with
//! disjoint intervals per method.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tracesift_analysis::{
    Accounting, IntervalUnion, MethodAggregator, MethodId, MethodSource, RecordingFacts, Span, StackMethods, pieces,
};
use tracesift_trace::rows::{ContextSwitchRow, Origin, StackRow, ThreadRow};
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

const CPUS: u64 = 64;
const THREADS: u64 = 4_000;
const PROCESSES: u64 = 100;
const STACKS: u64 = 20_000;
const DEPTH: u64 = 30;
const METHODS: u64 = 20_000;
const RUNS: usize = 5;

/// A switch without what the summaries do not look at.
#[derive(Clone, Copy)]
struct Switch {
    time: i64,
    off_time: i64,
    ready_time: i64,
    thread: i32,
    prev_thread: i32,
    stack: i32,
    cpu: i16,
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn main() {
    let million = std::env::args().nth(1).and_then(|text| text.parse::<u64>().ok()).unwrap_or(1);
    let count = million * 1_000_000;
    let mut dice = Dice(1);
    let threads = threads();
    let mut source = stacks(&mut dice);
    let (switches, end) = switches(count, &mut dice);
    let recording = RecordingFacts { span: Span::new(0, end), has_switches: true, has_ready: true };
    println!(
        "{count} switches in {:.1} s, {CPUS} CPUs, {THREADS} threads, {STACKS} stacks of {DEPTH} frames; best of {RUNS} runs",
        end as f64 / 1e9
    );

    let per_switch = |time: Duration| time.as_nanos() as f64 / switches.len() as f64;
    // The rows are made while they are fed; what that takes is not what is asked.
    let making = best(|| (newest_first(&switches, |row| _ = black_box(row)), ())).0;
    let accounting = best(|| {
        let mut accounting = Accounting::new(&recording, Span::ALL, &threads);
        let time = newest_first(&switches, |row| accounting.switch(row, &mut |_| {}));
        let run = accounting.finish(&mut |_| {}).threads.iter().map(|account| account.run).sum::<i64>();
        (time.saturating_sub(making), run)
    });
    println!("accounting             {:7.0} ns per switch", per_switch(accounting.0));

    let methods = best(|| {
        let mut aggregator = MethodAggregator::new(&recording, Span::ALL, &threads, &mut source);
        let time = newest_first(&switches, |row| aggregator.switch(row));
        let start = cpu_time();
        let totals = aggregator.finish();
        let wait = totals.methods.iter().map(|total| total.wait.union).sum::<i64>();
        (time.saturating_sub(making) + (cpu_time() - start), (totals.methods.len(), wait))
    });
    println!(
        "wait and ready unions  {:7.0} ns per switch, {} methods in processes, at most 32 bytes of unions each",
        per_switch(methods.0),
        methods.1.0
    );
    println!("together               {:7.0} ns per switch", per_switch(accounting.0 + methods.0));

    let start = cpu_time();
    let (wait, bytes) = in_table_order(&switches, &threads, &mut source);
    println!(
        "waits in table order   {:7.0} ns per switch, {} MiB of intervals, the same unions: {}",
        per_switch(cpu_time() - start),
        bytes >> 20,
        wait == methods.1.1
    );
}

fn best<T>(mut run: impl FnMut() -> (Duration, T)) -> (Duration, T) {
    let mut best = run();
    for _ in 1..RUNS {
        let next = run();
        if next.0 < best.0 {
            best = next;
        }
    }
    best
}

/// Feeds all rows, newest first; the time that it took.
fn newest_first(switches: &[Switch], mut take: impl FnMut(&ContextSwitchRow)) -> Duration {
    let start = cpu_time();
    switches.iter().rev().for_each(|switch| take(&row(switch)));
    cpu_time() - start
}

/// Time that this thread spent on a CPU, so that other work on the machine does not count; the wall clock where the
/// operating system does not say.
fn cpu_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let start = *START;
    let scheduler = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let on_cpu = scheduler.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
    on_cpu.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

fn in_table_order(switches: &[Switch], threads: &[ThreadRow], source: &mut StackMethods) -> (i64, usize) {
    let mut slots: FxHashMap<(ProcessId, MethodId), usize> = FxHashMap::default();
    let mut lists: FxHashMap<i32, Vec<usize>> = FxHashMap::default();
    let mut unions: Vec<IntervalUnion> = Vec::new();
    for switch in switches {
        let list = lists.entry(switch.stack).or_insert_with(|| {
            let process = threads[ThreadId(switch.thread).index()].process;
            let mut methods = Vec::new();
            source.stack(StackId(switch.stack), &mut methods);
            methods.sort_unstable();
            methods.dedup();
            let slot = |method: MethodId| {
                let next = slots.len();
                *slots.entry((process, method)).or_insert(next)
            };
            methods.into_iter().map(slot).collect()
        });
        unions.resize_with(unions.len().max(slots.len()), IntervalUnion::default);
        if let Some(wait) = pieces(&row(switch), true).wait {
            list.iter().for_each(|&slot| unions[slot].add(wait));
        }
    }
    let bytes = unions.iter().map(IntervalUnion::heap_bytes).sum();
    (unions.iter_mut().map(IntervalUnion::covered).sum(), bytes)
}

fn row(switch: &Switch) -> ContextSwitchRow {
    ContextSwitchRow {
        time: switch.time,
        cpu: Some(switch.cpu),
        thread: ThreadId(switch.thread),
        prev_thread: Some(ThreadId(switch.prev_thread)),
        off_time: switch.off_time,
        ready_time: Some(switch.ready_time),
        wait_stack: Some(StackId(switch.stack)),
        priority: Some(8),
        ..ContextSwitchRow::default()
    }
}

fn threads() -> Vec<ThreadRow> {
    let thread = |thread: u64| ThreadRow {
        thread: ThreadId(thread as i32),
        process: ProcessId((thread % PROCESSES) as i32),
        tid: thread as i64,
        origin: Origin::Rundown,
        ..ThreadRow::default()
    };
    (0..THREADS).map(thread).collect()
}

/// Stack s belongs to process s mod PROCESSES. A third of each stack is common to its process, the rest is drawn from all
/// methods: the caches of the CPU get no help that real stacks would not give.
fn stacks(dice: &mut Dice) -> StackMethods {
    let mut source = StackMethods::new();
    for method in 0..METHODS {
        source.add_frame(FrameId(method as i32), &[MethodId(method as u32)]);
    }
    for stack in 0..STACKS {
        let frame = |depth: u64| match depth {
            20.. => FrameId(((stack % PROCESSES) * DEPTH + depth) as i32),
            _ => FrameId(dice.below(METHODS) as i32),
        };
        source.add_stack(&StackRow { stack: StackId(stack as i32), frames: (0..DEPTH).map(frame).collect() });
    }
    source
}

/// Every thread runs for a while, waits, is readied and switched in, some a thousand times as often as others.
fn switches(count: u64, dice: &mut Dice) -> (Vec<Switch>, i64) {
    let shares = (0..THREADS).map(|thread| 1.0 / (1 + thread / 8) as f64).collect::<Vec<_>>();
    let all = shares.iter().sum::<f64>();
    let duration = count as f64 * 10_000.0;
    let mut switches = Vec::new();
    for (thread, share) in (0..THREADS).zip(shares) {
        let own = (count as f64 * share / all).ceil();
        let cycle = (duration / own) as u64;
        let mut time = dice.below(cycle) as i64;
        for _ in 0..own as u64 {
            let off_time = time + dice.below(cycle / 4 + 1) as i64;
            let ready_time = off_time + dice.below(cycle + 1) as i64;
            time = ready_time + 1_000 + dice.below(50_000) as i64;
            let of_process = dice.below(STACKS / PROCESSES) * PROCESSES + thread % PROCESSES;
            switches.push(Switch {
                time,
                off_time,
                ready_time,
                thread: thread as i32,
                prev_thread: 0,
                stack: of_process as i32,
                cpu: dice.below(CPUS) as i16,
            });
        }
    }
    switches.sort_by_key(|switch| switch.time);
    let mut running = [0; CPUS as usize];
    for switch in &mut switches {
        let cpu = usize::try_from(switch.cpu).unwrap_or(0);
        switch.prev_thread = std::mem::replace(&mut running[cpu], switch.thread);
    }
    let end = switches.last().map_or(0, |last| last.time) + 1;
    (switches, end)
}
