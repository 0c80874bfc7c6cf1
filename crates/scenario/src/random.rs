//! Random scenarios: what varies, and the machine that they play on.

use tracesift_etl::write::PointerSize;

use crate::machine::Machine;
use crate::population::Population;
use crate::record::{Event, Record, Walk};
use crate::rng::SplitMix64;
use crate::simulate::{Outcome, Simulation, Turn};
use crate::{KeyStyle, Recording, Rundown, Scenario, StackStyle};

/// What varies from one scenario to the next. Each field turns on one difficulty of real recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// Logical CPUs.
    pub cpus: u16,
    /// Processes besides Idle and System that run from the start.
    pub processes: u16,
    /// Threads per process at the start.
    pub threads: u16,
    /// Length of the recording.
    pub duration_ms: u32,
    /// Ticks per second.
    pub frequency: i64,
    /// Mean length of a turn on a CPU.
    pub mean_run_micros: u32,
    /// Mean length of a wait.
    pub mean_wait_micros: u32,
    /// Interval of the timer source at the start, 100 ns.
    pub sample_interval: u32,
    /// Sample every so many intervals: keeps long scenarios small.
    pub sample_every: u16,
    /// Share of the idle samples that is recorded.
    pub idle_samples_percent: u8,
    /// Record switches.
    pub switches: bool,
    /// Record ready events.
    pub ready_events: bool,
    /// Threads leave while runnable.
    pub preemption: bool,
    /// Switch records that are lost, per thousand; the first of each CPU is kept.
    pub lost_switches_per_mille: u16,
    /// Processes born inside the recording.
    pub births: u8,
    /// Threads that end inside the recording.
    pub deaths_percent: u8,
    /// Ids of ended processes and threads are used again.
    pub reuse_ids: bool,
    /// Threads that wait until the end.
    pub hangs: bool,
    /// Rundown of processes and threads.
    pub rundown: Rundown,
    /// The rundown at the end lies behind the session's end.
    pub rundown_after_end: bool,
    /// Stacks.
    pub stacks: StackStyle,
    /// User halves arrive turns later, up to seconds, mostly on another CPU.
    pub late_user_halves: bool,
    /// Samples between a thread's end record and its last switch-out.
    pub samples_after_end: bool,
    /// Samples in DPCs and ISRs.
    pub interrupts: bool,
    /// The sampling interval changes twice.
    pub interval_changes: bool,
    /// Whether the interval at the start is recorded. Without it, 1 ms holds.
    pub interval_recorded: bool,
    /// Samples that stand for several intervals.
    pub batched_samples: bool,
    /// Samples of a hardware counter.
    pub counter_samples: bool,
    /// Hardware counters in switch records, up to 7.
    pub counters_at_switches: u8,
    /// Pointer size of the system.
    pub pointer_size: PointerSize,
    /// Bytes of a buffer.
    pub buffer_size: u32,
    /// Buffer headers of Windows 7.
    pub windows7: bool,
    /// Compressed buffers.
    pub compress: bool,
    /// Data buffers moved from the start of the file to its end.
    pub rotate_buffers: usize,
    /// The .NET events stand in a file of their own.
    pub separate_rundown: bool,
}

impl Default for Knobs {
    /// A short, plain recording without difficulties.
    fn default() -> Self {
        Self {
            cpus: 4,
            processes: 3,
            threads: 3,
            duration_ms: 200,
            frequency: 10_000_000,
            mean_run_micros: 400,
            mean_wait_micros: 2_000,
            sample_interval: 10_000,
            sample_every: 1,
            idle_samples_percent: 30,
            switches: true,
            ready_events: true,
            preemption: false,
            lost_switches_per_mille: 0,
            births: 0,
            deaths_percent: 0,
            reuse_ids: false,
            hangs: false,
            rundown: Rundown::Full,
            rundown_after_end: false,
            stacks: StackStyle::Inline,
            late_user_halves: false,
            samples_after_end: false,
            interrupts: false,
            interval_changes: false,
            interval_recorded: true,
            batched_samples: false,
            counter_samples: false,
            counters_at_switches: 0,
            pointer_size: PointerSize::Eight,
            buffer_size: 16 * 1024,
            windows7: false,
            compress: false,
            rotate_buffers: 0,
            separate_rundown: false,
        }
    }
}

impl Knobs {
    /// Knobs turned at random.
    #[must_use]
    pub fn random(seed: u64) -> Self {
        let mut rng = SplitMix64::new(seed ^ 0x6B6E_6F62_7321);
        let long = rng.chance(25);
        let interval_changes = rng.chance(30);
        let keys = KeyStyle {
            create: rng.chance(40),
            capacity: rng.chance(60).then(|| 1 + rng.index(12)),
            rundown: rng.chance(60),
        };
        let compress = rng.chance(30);
        Self {
            cpus: 1 + rng.below(6) as u16,
            processes: 1 + rng.below(4) as u16,
            threads: 1 + rng.below(4) as u16,
            duration_ms: if long { rng.between(3_000, 7_000) as u32 } else { rng.between(30, 300) as u32 },
            frequency: [10_000_000, 2_337_949, 3_117_777, 1_000_000_000][rng.index(4)],
            mean_run_micros: if long { 20_000 } else { 600 },
            mean_wait_micros: if long { 120_000 } else { 2_500 },
            sample_interval: if rng.chance(80) { 10_000 } else { 1_221 },
            sample_every: if long { 40 } else { 1 },
            idle_samples_percent: rng.below(100) as u8,
            switches: !rng.chance(5),
            ready_events: !rng.chance(12),
            preemption: rng.chance(60),
            lost_switches_per_mille: if rng.chance(40) { rng.below(200) as u16 } else { 0 },
            births: rng.below(4) as u8,
            deaths_percent: if rng.chance(60) { 40 } else { 0 },
            reuse_ids: rng.chance(50),
            hangs: rng.chance(40),
            rundown: [Rundown::Full, Rundown::Late, Rundown::Missing][rng.index(3)],
            rundown_after_end: rng.chance(50),
            stacks: match rng.below(5) {
                0 => StackStyle::Inline,
                1 => StackStyle::Mixed(keys),
                _ => StackStyle::Keys(keys),
            },
            late_user_halves: rng.chance(50),
            samples_after_end: rng.chance(50),
            interrupts: rng.chance(50),
            interval_changes,
            interval_recorded: interval_changes || rng.chance(70),
            batched_samples: rng.chance(30),
            counter_samples: rng.chance(30),
            counters_at_switches: if rng.chance(30) { 1 + rng.below(7) as u8 } else { 0 },
            pointer_size: if rng.chance(20) { PointerSize::Four } else { PointerSize::Eight },
            buffer_size: [1024 * 8, 1024 * 16, 1024 * 64][rng.index(3)],
            windows7: rng.chance(20),
            compress,
            rotate_buffers: if !compress && rng.chance(30) { 1 + rng.index(20) } else { 0 },
            separate_rundown: rng.chance(30),
        }
    }
}

impl Scenario {
    /// A scenario under `knobs`; the same seed gives the same scenario.
    #[must_use]
    pub fn random(seed: u64, knobs: &Knobs) -> Self {
        let mut rng = SplitMix64::new(seed);
        let mut machine = Machine::new(knobs.cpus.max(1), knobs.frequency, knobs.pointer_size);
        let mut population = Population::new(&mut machine, &mut rng, knobs.processes, knobs.threads);
        let end_ticks = machine.zero_ticks + i64::from(knobs.duration_ms) * knobs.frequency / 1_000;
        let outcome = Simulation::new(&mut machine, &mut population, knobs, &mut rng, end_ticks).run();
        let Outcome { mut records, turns } = outcome;
        let events_lost = lose_switches(&mut records, &mut rng, knobs.lost_switches_per_mille);
        place_user_halves(&mut records, &machine, &turns, &mut rng, knobs.late_user_halves);
        let mut recording = Recording::new(end_ticks);
        recording.rundown = knobs.rundown;
        recording.rundown_after_end = knobs.rundown_after_end;
        recording.stacks = knobs.stacks;
        recording.sample_interval = knobs.interval_recorded.then_some(knobs.sample_interval);
        recording.counter_names = [
            "InstructionRetired",
            "TotalCycles",
            "CacheMisses",
            "LLCMisses",
            "BranchInstructions",
            "LLCReference",
            "X",
        ]
        .iter()
        .take(usize::from(knobs.counters_at_switches))
        .map(|name| (*name).to_owned())
        .collect();
        recording.buffer_size = knobs.buffer_size;
        recording.compress = knobs.compress;
        recording.windows7 = knobs.windows7;
        recording.rotate_buffers = knobs.rotate_buffers;
        recording.separate_rundown = knobs.separate_rundown;
        recording.events_lost = events_lost;
        Self { machine, records, recording }
    }
}

/// Drops switch records, but never the first of a CPU: what ran there since the start would be anybody's guess.
fn lose_switches(records: &mut Vec<Record>, rng: &mut SplitMix64, per_mille: u16) -> u32 {
    let mut seen = Vec::new();
    let before = records.len();
    records.retain(|record| {
        if !matches!(record.event, Event::Switch(_)) {
            return true;
        }
        if !seen.contains(&record.cpu) {
            seen.push(record.cpu);
            return true;
        }
        rng.below(1_000) >= u64::from(per_mille)
    });
    (before - records.len()) as u32
}

/// Decides when and where the user half of each stack is written: when its thread is next in user mode.
fn place_user_halves(records: &mut [Record], machine: &Machine, turns: &[Vec<Turn>], rng: &mut SplitMix64, late: bool) {
    for record in records {
        let ticks = record.ticks;
        let (thread, walk) = match &mut record.event {
            Event::Switch(switch) => (switch.new, &mut switch.walk),
            Event::Ready(ready) => (ready.by, &mut ready.walk),
            Event::Sample(sample) => (sample.thread, &mut sample.walk),
            Event::CounterSample(sample) => (sample.thread, &mut sample.walk),
            _ => continue,
        };
        let Some(walk) = walk.as_mut().filter(|walk| walk.user.is_some()) else { continue };
        let turns = &turns[thread];
        let current = turns.partition_point(|turn| turn.end <= ticks);
        let later = if late && rng.chance(40) { turns.len().saturating_sub(current + 1) as u64 } else { 0 };
        let skip = if rng.chance(20) { later } else { rng.below(later.min(20) + 1) };
        let Some(turn) = turns.get(current + skip as usize) else { continue };
        let from = turn.start.max(ticks) + 1;
        let until = turn.end.min(machine.threads[thread].end.unwrap_or(i64::MAX));
        if from < until {
            let at = rng.between(from, until.min(from + machine.frequency / 5_000));
            *walk = Walk { user_ticks: at, user_cpu: turn.cpu, ..*walk };
        }
    }
}
