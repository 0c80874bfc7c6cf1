//! The scale file: a recording of any size, streamed.
//!
//! The committed mix of events: 35 % switches, 25 % ready events, 15 % samples, 25 % others, which are what a recorder for
//! files, disks, page faults, interrupts and a provider of events writes. Every switch, ready event and sample has a stack of 30
//! frames, by key: its kernel half at once, its user half when the thread is back in user mode. Keys are defined when they go
//! out of use, or at the end, where processes, threads, images and files are listed too. 64 CPUs, buffers of 64 KiB. Memory is
//! bounded by the machine and does not grow with the recording.

mod others;
mod rundown;

use std::collections::VecDeque;
use std::io::{Seek, Write};

use tracesift_etl::write::payload::{
    Bytes, ContextSwitch, CpuConfig, ReadyThread, Sample, SampleInterval, StackDefinition, StackReference, thread_state,
};
use tracesift_etl::write::{Head, Hook, PointerSize, SessionOptions, WriteError, Writer};

use self::others::Others;
pub(crate) use self::rundown::walk;
use crate::rng::SplitMix64;

const CPUS: u16 = 64;
const PROCESSES: u32 = 300;
const THREADS: u32 = 4_000;
const BUSY_SHARE: u32 = 16;
/// Distinct stacks; each has a user half of its own.
const STACKS: u64 = 20_000;
const STACKS_PER_PROCESS: u64 = STACKS.div_ceil(PROCESSES as u64);
const KERNEL_HALVES: u64 = 2_000;
const KERNEL_FRAMES: usize = 12;
const USER_FRAMES: usize = 18;
const KERNEL_MODULES: u64 = 10;
const USER_MODULES: u64 = 40;
const MODULE_BYTES: u64 = 0x0010_0000;
const KERNEL_BASE: u64 = 0xFFFF_F805_0000_0000;
const USER_BASE: u64 = 0x7FFC_0000_0000;
/// Kinds of events in a deck.
const DECK: [(Kind, usize); 4] = [(Kind::Switch, 35), (Kind::Ready, 25), (Kind::Sample, 15), (Kind::Other, 25)];
/// A user key goes out of use every so many events.
const EVENTS_PER_DELETED_KEY: u64 = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Switch,
    Ready,
    Sample,
    Other,
}

/// What a scale file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScaleFigures {
    /// Context switches.
    pub switches: u64,
    /// Ready events.
    pub ready: u64,
    /// Samples.
    pub samples: u64,
    /// Other events: files, disks, page faults, interrupts, a provider.
    pub others: u64,
    /// Events that have a stack.
    pub stacks: u64,
    /// Records that are no events: stack references and definitions, rundown, and the header.
    pub descriptions: u64,
    /// Processes, Idle and System among them.
    pub processes: u32,
    /// Threads without the idle ones.
    pub threads: u32,
    /// Length of the recording, ns.
    pub duration: i64,
}

impl ScaleFigures {
    /// All events.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.switches + self.ready + self.samples + self.others
    }
}

/// Streams a recording of at least `bytes` bytes to `output`; the same seed gives the same recording, and a longer one begins
/// like a shorter one.
///
/// # Errors
/// An output that fails.
pub fn scale<W: Write + Seek>(output: W, bytes: u64, seed: u64) -> Result<ScaleFigures, WriteError> {
    let options = SessionOptions { cpus: CPUS, session_name: "Scale".to_owned(), ..SessionOptions::default() };
    let mut recorder = Recorder {
        ticks: options.zero_ticks,
        zero: options.zero_ticks,
        start_filetime: options.start_filetime,
        writer: Writer::create(output, options)?,
        payload: Bytes::new(PointerSize::Eight),
        rng: SplitMix64::new(seed),
        cpus: (0..CPUS).map(|_| Cpu::default()).collect(),
        waiting: Waiting::all(),
        generations: vec![0; STACKS as usize],
        others: Others::default(),
        figures: ScaleFigures {
            descriptions: 1,
            processes: PROCESSES + 2,
            threads: THREADS,
            ..ScaleFigures::default()
        },
    };
    recorder.start()?;
    let mut deck: Vec<Kind> = DECK.iter().flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count)).collect();
    while recorder.writer.bytes_written() < bytes {
        for index in (1..deck.len()).rev() {
            deck.swap(index, recorder.rng.index(index + 1));
        }
        for kind in &deck {
            recorder.event(*kind)?;
        }
    }
    recorder.end()
}

#[derive(Debug, Default)]
struct Cpu {
    /// Thread that runs; `None`: idle.
    running: Option<u32>,
    runnable: VecDeque<u32>,
    /// User halves that are written when the CPU is next in user mode: event time, thread, key.
    pending: Vec<(i64, u32, u64)>,
}

/// The threads that wait. A few do most of the work, as everywhere: one in [`BUSY_SHARE`] is busy and four of five that are woken
/// are busy ones.
#[derive(Debug)]
struct Waiting {
    busy: Vec<u32>,
    quiet: Vec<u32>,
}

impl Waiting {
    fn all() -> Self {
        let (busy, quiet) = (0..THREADS).partition(|thread| Self::is_busy(*thread));
        Self { busy, quiet }
    }

    const fn is_busy(thread: u32) -> bool {
        thread.is_multiple_of(BUSY_SHARE)
    }

    fn put(&mut self, thread: u32) {
        if Self::is_busy(thread) { self.busy.push(thread) } else { self.quiet.push(thread) }
    }

    fn take(&mut self, rng: &mut SplitMix64) -> Option<u32> {
        let (first, second) =
            if rng.chance(80) { (&mut self.busy, &mut self.quiet) } else { (&mut self.quiet, &mut self.busy) };
        let threads = if first.is_empty() { second } else { first };
        let count = std::num::NonZeroUsize::new(threads.len())?;
        Some(threads.swap_remove(rng.index(count.get())))
    }
}

struct Recorder<W: Write + Seek> {
    writer: Writer<W>,
    payload: Bytes,
    rng: SplitMix64,
    ticks: i64,
    zero: i64,
    start_filetime: i64,
    cpus: Vec<Cpu>,
    waiting: Waiting,
    /// How often each user key has been used anew.
    generations: Vec<u64>,
    others: Others,
    figures: ScaleFigures,
}

fn tid(thread: Option<u32>) -> u32 {
    thread.map_or(0, |thread| 1_000 + thread * 4)
}

fn process_of(thread: u32) -> u32 {
    thread % (PROCESSES + 1)
}

/// Process id; process 0 is System.
fn pid(thread: Option<u32>) -> u32 {
    thread.map_or(0, |thread| process_pid(process_of(thread)))
}

fn process_pid(process: u32) -> u32 {
    if process == 0 { 4 } else { 2_000 + process * 4 }
}

impl<W: Write + Seek> Recorder<W> {
    fn perfinfo(&mut self, cpu: u16, hook: Hook) -> Result<(), WriteError> {
        self.writer.record(cpu, self.ticks, &Head::Perfinfo { hook, counters: &[] }, self.payload.as_slice())?;
        self.payload.clear();
        Ok(())
    }

    /// A record that is no event.
    fn description(&mut self, cpu: u16, hook: Hook) -> Result<(), WriteError> {
        self.figures.descriptions += 1;
        self.perfinfo(cpu, hook)
    }

    fn start(&mut self) -> Result<(), WriteError> {
        let cpus = u32::from(CPUS);
        let config = CpuConfig { mhz: 3_000, cpus, memory_mib: 262_144, computer: "SCALE", domain: "WORKGROUP" };
        config.encode(&mut self.payload);
        self.description(0, CpuConfig::HOOK)?;
        let interval = SampleInterval { source: 0, new_interval: 10_000, old_interval: 10_000, name: "Timer" };
        interval.encode(&mut self.payload);
        self.description(0, SampleInterval::START)
    }

    fn event(&mut self, kind: Kind) -> Result<(), WriteError> {
        self.ticks += 2 + self.rng.below(36).cast_signed();
        let cpu = self.rng.below(u64::from(CPUS)) as u16;
        self.flush_pending(cpu)?;
        if self.figures.events().is_multiple_of(EVENTS_PER_DELETED_KEY) {
            self.delete_key(cpu)?;
        }
        let thread = match kind {
            Kind::Switch => self.switch(cpu)?,
            Kind::Ready => self.ready(cpu)?,
            Kind::Sample => self.sample(cpu)?,
            Kind::Other => return self.other(cpu),
        };
        self.stack(cpu, thread)
    }

    fn switch(&mut self, cpu: u16) -> Result<Option<u32>, WriteError> {
        let slot = &mut self.cpus[usize::from(cpu)];
        let old = slot.running;
        let mut new = slot.runnable.pop_front();
        if old.is_none() && new.is_none() {
            // Somebody is handed the CPU without a ready event.
            new = self.waiting.take(&mut self.rng);
        }
        let preempted = old.is_some() && new.is_some() && self.rng.chance(15);
        let slot = &mut self.cpus[usize::from(cpu)];
        slot.running = new;
        match old {
            Some(old) if preempted => slot.runnable.push_back(old),
            Some(old) => self.waiting.put(old),
            None => {}
        }
        let payload = ContextSwitch {
            new_tid: tid(new),
            old_tid: tid(old),
            new_priority: if new.is_some() { 8 } else { 0 },
            old_priority: if old.is_some() { 8 } else { 0 },
            previous_c_state: u8::from(old.is_none()),
            wait_reason: if old.is_some() && !preempted { 6 } else { 0 },
            wait_mode: 1,
            old_state: match (old, preempted) {
                (None, _) => 2,
                (Some(_), true) => thread_state::READY,
                (Some(_), false) => thread_state::WAITING,
            },
            ideal_cpu: cpu as u8,
            new_wait_ticks: 1,
            remaining_quantum: 0,
        };
        payload.encode(&mut self.payload);
        self.figures.switches += 1;
        self.perfinfo(cpu, ContextSwitch::HOOK.with_version(4))?;
        Ok(new)
    }

    fn ready(&mut self, cpu: u16) -> Result<Option<u32>, WriteError> {
        let thread = match self.waiting.take(&mut self.rng) {
            // Everybody is runnable: somebody is boosted once more.
            None => self.rng.below(u64::from(THREADS)) as u32,
            Some(thread) => {
                let home = self.rng.index(usize::from(CPUS));
                self.cpus[home].runnable.push_back(thread);
                thread
            }
        };
        let payload = ReadyThread {
            tid: tid(Some(thread)),
            adjust_reason: 1,
            adjust_increment: 1,
            flags: u8::from(cpu.is_multiple_of(4)),
        };
        payload.encode(&mut self.payload);
        self.figures.ready += 1;
        self.perfinfo(cpu, ReadyThread::HOOK)?;
        Ok(self.cpus[usize::from(cpu)].running)
    }

    fn sample(&mut self, cpu: u16) -> Result<Option<u32>, WriteError> {
        let thread = self.cpus[usize::from(cpu)].running;
        let instruction = address(KERNEL_BASE, KERNEL_MODULES, self.rng.below(4_000));
        let payload = Sample { instruction, tid: tid(thread), count: 1, in_dpc: false, in_isr: false, priority: 8 };
        payload.encode(&mut self.payload);
        self.figures.samples += 1;
        self.perfinfo(cpu, Sample::HOOK)?;
        Ok(thread)
    }

    /// The kernel half at once, the user half when the CPU is back in user mode.
    fn stack(&mut self, cpu: u16, thread: Option<u32>) -> Result<(), WriteError> {
        self.figures.stacks += 1;
        let event_time = self.ticks;
        // Each process has stacks of its own; few of them are common, most are rare.
        let process = u64::from(thread.map_or(0, process_of));
        let rank = self.rng.below(STACKS_PER_PROCESS) * self.rng.below(STACKS_PER_PROCESS) / STACKS_PER_PROCESS;
        let key = (process * STACKS_PER_PROCESS + rank) % STACKS;
        self.ticks += 1;
        self.reference(cpu, event_time, thread, key % KERNEL_HALVES, StackReference::KERNEL)?;
        if thread.is_some_and(|thread| process_of(thread) != 0) {
            self.cpus[usize::from(cpu)].pending.push((event_time, thread.unwrap_or(0), key));
        }
        Ok(())
    }

    fn flush_pending(&mut self, cpu: u16) -> Result<(), WriteError> {
        while let Some((event_time, thread, key)) = self.cpus[usize::from(cpu)].pending.pop() {
            self.reference(cpu, event_time, Some(thread), key, StackReference::USER)?;
        }
        Ok(())
    }

    fn reference(
        &mut self,
        cpu: u16,
        event_time: i64,
        thread: Option<u32>,
        key: u64,
        hook: Hook,
    ) -> Result<(), WriteError> {
        let payload = StackReference { event_time, pid: pid(thread), tid: tid(thread), key: key_address(key) };
        payload.encode(&mut self.payload);
        self.description(cpu, hook)
    }

    /// A user key goes out of use, which defines it, and comes back with another stack.
    fn delete_key(&mut self, cpu: u16) -> Result<(), WriteError> {
        let key = self.rng.below(STACKS);
        self.define_user(cpu, key, StackDefinition::DELETE)?;
        self.generations[key as usize] += 1;
        self.ticks += 1;
        Ok(())
    }

    fn define_user(&mut self, cpu: u16, key: u64, hook: Hook) -> Result<(), WriteError> {
        let stack = (key + self.generations[key as usize] * 7_919) % STACKS;
        let frames: [u64; USER_FRAMES] = walk(USER_BASE, USER_MODULES, stack);
        StackDefinition { key: key_address(key), frames: &frames }.encode(&mut self.payload);
        self.description(cpu, hook)
    }
}

fn key_address(key: u64) -> u64 {
    0xFFFF_9A0F_0000_0000 + key * 0x40
}

fn address(base: u64, modules: u64, function: u64) -> u64 {
    base + function % modules * MODULE_BYTES + 0x1000 + function / modules * 0x100 + 0x40
}
