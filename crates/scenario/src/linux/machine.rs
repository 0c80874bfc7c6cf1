//! The options of a recording: the machine, its load and the length.

use std::io::{self, Seek, Write};

use super::events::{CLOCK_PERIOD, Event, Sampled};
use super::fields::Fields;
use super::layout::{KERNEL_BASE, KERNEL_PARTS, ZERO};
use super::tasks::Tasks;
use super::threads::{Cpu, Waiting};
use super::writer::Writer;
use super::{others, rundown};
use crate::rng::SplitMix64;
use crate::scale::walk;

/// Kinds of events in a deck, per cent: switches, wakings and samples as `perf record -a` finds them on a machine that works with many
/// processes which wait for each other.
const DECK: [(Kind, usize); 3] = [(Kind::Switch, 50), (Kind::Waking, 40), (Kind::Sample, 10)];

/// Distinct stacks; each process has its own share.
const STACKS: u64 = 20_000;
const KERNEL_FRAMES: usize = 10;
const USER_FRAMES: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Switch,
    Waking,
    Sample,
}

/// The machine and the recording of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// Bytes of the recording, at least.
    pub bytes: u64,
    /// The same seed gives the same recording.
    pub seed: u64,
    /// CPUs, at least one.
    pub cpus: u16,
    /// Processes that last, at least one.
    pub processes: u32,
    /// Threads that last, at least one per process.
    pub threads: u32,
    /// Files that each process maps, at least one.
    pub files: u16,
    /// One process or thread is born every so many events, and soon ends.
    pub events_per_birth: u64,
    /// Programs that are started, at least; the recording becomes larger than `bytes` where it must.
    pub programs: u64,
    /// So many per cent of the samples find no room in the buffer.
    pub lost_percent: u64,
    /// Written as perf writes to a pipe.
    pub stream: bool,
    /// One record of each other kind stands at the start.
    pub every_kind: bool,
}

impl Default for Knobs {
    /// The scale recording.
    fn default() -> Self {
        Self {
            bytes: 1 << 30,
            seed: 1,
            cpus: 16,
            processes: 300,
            threads: 4_000,
            files: 8,
            events_per_birth: 1_000,
            programs: 0,
            lost_percent: 0,
            stream: false,
            every_kind: false,
        }
    }
}

/// What a recording holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Samples of the CPU clock.
    pub samples: u64,
    /// Samples of `sched_switch`.
    pub switches: u64,
    /// Samples of `sched_waking`.
    pub wakings: u64,
    /// Threads that were born.
    pub births: u64,
    /// Threads that ended.
    pub deaths: u64,
    /// Programs that were started.
    pub programs: u64,
    /// Samples that were lost; they are among those above.
    pub lost: u64,
    /// Length, ns.
    pub duration: u64,
}

impl Figures {
    fn events(&self) -> u64 {
        self.samples + self.switches + self.wakings
    }
}

/// Writes a recording.
///
/// # Errors
/// An output that fails.
pub fn write<W: Write + Seek>(output: W, knobs: &Knobs) -> io::Result<Figures> {
    let cpus = knobs.cpus.max(1);
    let threads = knobs.threads.max(knobs.processes).max(1);
    let tasks = Tasks::new(knobs.processes.max(1), threads, knobs.files.max(1).into());
    let mut machine = Machine {
        writer: Writer::create(output, cpus, Event::USUAL, knobs.stream)?,
        rng: SplitMix64::new(knobs.seed),
        time: ZERO,
        cpus: (0..cpus).map(|_| Cpu::default()).collect(),
        waiting: Waiting::all(tasks.lasting()),
        tasks,
        figures: Figures::default(),
        lost_percent: knobs.lost_percent,
        raw: Fields::default(),
    };
    rundown::write(machine.writer.buffer(0), &machine.tasks);
    if knobs.every_kind {
        others::write(machine.writer.buffer(0));
    }
    machine.writer.round()?;
    let mut deck: Vec<Kind> = DECK.iter().flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count)).collect();
    let births = knobs.events_per_birth.max(1);
    while machine.writer.bytes() < knobs.bytes || machine.figures.programs < knobs.programs {
        for index in (1..deck.len()).rev() {
            deck.swap(index, machine.rng.index(index + 1));
        }
        for kind in &deck {
            machine.event(*kind);
            if machine.figures.events().is_multiple_of(births) {
                machine.birth();
            }
        }
        machine.writer.turn()?;
    }
    machine.writer.finish()?;
    Ok(Figures { duration: machine.time - ZERO, ..machine.figures })
}

pub(super) struct Machine<W> {
    pub(super) writer: Writer<W>,
    pub(super) rng: SplitMix64,
    pub(super) time: u64,
    pub(super) cpus: Vec<Cpu>,
    pub(super) waiting: Waiting,
    pub(super) tasks: Tasks,
    pub(super) figures: Figures,
    lost_percent: u64,
    /// Fields of a tracepoint, for one sample.
    pub(super) raw: Fields,
}

impl<W: Write + Seek> Machine<W> {
    pub(super) fn any_cpu(&mut self) -> u16 {
        self.rng.index(self.cpus.len()) as u16
    }

    pub(super) fn tick(&mut self) {
        self.time += 200 + self.rng.below(3_600);
    }

    fn event(&mut self, kind: Kind) {
        self.tick();
        let cpu = self.any_cpu();
        match kind {
            Kind::Switch => self.switch(cpu),
            Kind::Waking => self.waking(cpu),
            Kind::Sample => {
                let running = self.cpus[usize::from(cpu)].running;
                self.figures.samples += 1;
                self.sample(Event::CpuClock, cpu, running);
            }
        }
    }

    /// A sample of `thread`, with the tracepoint's fields from `raw`.
    pub(super) fn sample(&mut self, event: Event, cpu: u16, thread: Option<u32>) {
        if self.lost_percent > 0 && self.rng.chance(self.lost_percent) {
            self.raw.0.clear();
            self.figures.lost += 1;
            return rundown::lost(self.writer.buffer(cpu), event, self.time, cpu);
        }
        let (ids, program) = thread.map_or(((0, 0), None), |thread| {
            let task = self.tasks.get(thread);
            (task.ids(), task.program)
        });
        // Each process has stacks of its own; few of them are common, most are rare.
        let share = STACKS.div_ceil(self.tasks.processes().into());
        let rank = self.rng.below(share) * self.rng.below(share) / share;
        let stack = u64::from(program.unwrap_or(0)) * share + rank;
        let in_kernel = event != Event::CpuClock || program.is_none() || self.rng.chance(40);
        let user = program.map(|_| walk::<USER_FRAMES>(self.tasks.base(thread), self.tasks.files(), stack));
        let kernel = in_kernel.then(|| walk::<KERNEL_FRAMES>(KERNEL_BASE, KERNEL_PARTS, stack % (STACKS / 10)));
        let sampled = Sampled {
            event,
            ids,
            time: self.time,
            cpu,
            period: if event == Event::CpuClock { CLOCK_PERIOD } else { 1 },
            kernel: kernel.as_ref().map_or(&[], |frames| frames),
            user: user.as_ref().map_or(&[], |frames| frames),
            raw: &self.raw.0,
        };
        sampled.write(self.writer.buffer(cpu));
        self.raw.0.clear();
    }
}
