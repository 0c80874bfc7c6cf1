//! A history as a Linux recording, written as perf writes it.

use std::collections::{HashMap, HashSet};
use std::io::{self, Seek, Write};

use super::etl::tid;
use super::history::{Device, Entry, History, Leave, What};
use super::kernel::linux;
use super::samples::samples;
use super::world::{CodeId, DiskOp, StackNo, WaitKind, World};
use crate::MethodName;
use crate::linux::events::{Event, Sampled};
use crate::linux::fields::Fields;
use crate::linux::layout::{KERNEL_BASE, KERNEL_BYTES, SWITCH_ID, WAKEUP_NEW_ID, WAKING_ID, ZERO};
use crate::linux::rundown::{self, FUNCTION_BYTES};
use crate::linux::writer::Writer;

/// Where the functions of the kernel lie that have names.
const NAMED: u64 = KERNEL_BASE + KERNEL_BYTES + 0x0100_0000;
/// Where the files of a program are mapped.
const MAPPED: u64 = 0x5600_0000_0000;
const FILE_BYTES: u64 = 0x0010_0000;
/// `TRACE_FLAG_HARDIRQ`.
const IN_INTERRUPT: u8 = 0x08;

/// The name that an archive has for a function of a program; `None` for those of the kernel, whose names are
/// their modules'.
#[must_use]
pub fn method_name(world: &World, code: CodeId) -> Option<MethodName> {
    let known = world.codes.get(code.0).filter(|code| !code.kernel)?;
    let module = format!("{}.so", known.module);
    Some(MethodName { function: format!("{module}+0x{:x}", offset(world, code)), module: Some(module) })
}

/// Where the function is in its module.
fn offset(world: &World, code: CodeId) -> u64 {
    let known = &world.codes[code.0];
    let before = world.codes[..code.0].iter().filter(|other| other.module == known.module).count() as u64;
    (before + 1) * 0x1000 + 0x10
}

/// Writes a history down as `perf.data`, with samples at an interval of so many ns.
///
/// # Errors
/// An output that fails.
pub fn write<W: Write + Seek>(history: &History, interval: i64, output: W) -> io::Result<()> {
    let cpus = history.world.speeds.len() as u16;
    let mut recorder = Recorder::new(history, Writer::create(output, cpus, Event::ALL, false)?);
    recorder.rundown();
    let idle = Sampled { time: ZERO, event: Event::CpuClock, ..EMPTY };
    idle.write(recorder.writer.buffer(0));
    // Each CPU's buffer is in the order of time.
    let mut sampled = samples(history, interval);
    sampled.sort_by_key(|sample| sample.time);
    let mut sampled = sampled.into_iter().peekable();
    for (place, entry) in history.log.iter().enumerate() {
        while let Some(sample) = sampled.next_if(|sample| sample.time < entry.time) {
            recorder.clock(&sample, interval);
        }
        recorder.entry(entry, history.lost.binary_search(&place).is_ok());
    }
    sampled.for_each(|sample| recorder.clock(&sample, interval));
    let last = Sampled { time: ns(history.end), event: Event::CpuClock, ..EMPTY };
    last.write(recorder.writer.buffer(0));
    recorder.writer.finish()
}

const EMPTY: Sampled<'static> =
    Sampled { event: Event::Switch, ids: (0, 0), time: 0, cpu: 0, period: 1, kernel: &[], user: &[], raw: &[] };

fn ns(time: i64) -> u64 {
    ZERO + time.cast_unsigned()
}

struct Recorder<'a, W> {
    history: &'a History,
    writer: Writer<W>,
    kernel: HashMap<String, u64>,
    /// User modules, in the order in which programs map them.
    modules: Vec<&'a str>,
    /// Offset of each function in its module.
    offsets: Vec<u64>,
    /// First thread of each process.
    leaders: Vec<Option<usize>>,
    dead: HashSet<usize>,
    /// Programs that have not begun yet.
    forked: HashSet<usize>,
}

impl<'a, W: Write + Seek> Recorder<'a, W> {
    fn new(history: &'a History, writer: Writer<W>) -> Self {
        let mut modules: Vec<&str> = Vec::new();
        for code in &history.world.codes {
            if !modules.contains(&code.module.as_str()) {
                modules.push(&code.module);
            }
        }
        let offsets = (0..history.world.codes.len()).map(|code| offset(&history.world, CodeId(code))).collect();
        let mut kernel = HashMap::new();
        let waits = [
            WaitKind::Lock,
            WaitKind::Disk(DiskOp::Read),
            WaitKind::Disk(DiskOp::Write),
            WaitKind::Disk(DiskOp::Fault),
            WaitKind::Sleep,
            WaitKind::Gate,
            WaitKind::Reply,
            WaitKind::Queue,
            WaitKind::Stopped,
        ];
        let leaves = waits.map(Leave::Waits).into_iter().chain([Leave::Preempted, Leave::Ends, Leave::Idle]);
        let stacks = leaves.map(linux::leaving).chain([Device::Timer, Device::Disk].map(linux::interrupt));
        let mut names: Vec<&str> = stacks.chain([linux::READY]).flatten().copied().collect();
        names.extend(history.world.codes.iter().filter(|code| code.kernel).map(|code| code.name.as_str()));
        for name in names {
            let next = NAMED + kernel.len() as u64 * u64::from(FUNCTION_BYTES);
            kernel.entry(name.to_owned()).or_insert(next);
        }
        let (dead, forked) = (HashSet::new(), HashSet::new());
        Self { history, writer, kernel, modules, offsets, leaders: leaders(history), dead, forked }
    }

    fn is_kernel(&self, thread: usize) -> bool {
        self.history.world.threads[thread].process == 0
    }

    fn is_first(&self, thread: usize) -> bool {
        self.is_kernel(thread) || self.leaders[self.history.world.threads[thread].process] == Some(thread)
    }

    /// Process and thread. A process has the id of its first thread, and a thread of the kernel is a process
    /// of its own.
    fn ids(&self, thread: usize) -> (u32, u32) {
        let leader = self.leaders[self.history.world.threads[thread].process];
        let first = leader.filter(|_| !self.is_kernel(thread)).unwrap_or(thread);
        (tid(first), tid(thread))
    }

    fn sample_ids(&self, thread: Option<usize>) -> (i32, i32) {
        match thread {
            None => (0, 0),
            // A thread that nobody waits for has lost its ids when it is dead.
            Some(thread) if self.dead.contains(&thread) && !self.is_first(thread) => (-1, -1),
            Some(thread) => {
                let (pid, tid) = self.ids(thread);
                (pid.cast_signed(), tid.cast_signed())
            }
        }
    }

    fn name(&self, thread: usize) -> &'a str {
        let world = &self.history.world;
        let own = world.threads[thread].name.as_str();
        if own.is_empty() || self.is_first(thread) && !self.is_kernel(thread) {
            &world.processes[world.threads[thread].process].name
        } else {
            own
        }
    }

    fn rundown(&mut self) {
        let mut kernel: Vec<(u64, &str)> = self.kernel.iter().map(|(name, at)| (*at, name.as_str())).collect();
        kernel.sort_unstable();
        rundown::kernel(self.writer.buffer(0), &kernel);
        for thread in 0..self.history.timelines.len() {
            if self.history.world.threads[thread].starts.is_none() {
                continue;
            }
            let (ids, name) = (self.ids(thread), self.name(thread));
            let out = self.writer.buffer(0);
            rundown::forked(out, ids, (ids.0, ids.0), 0, 0);
            rundown::named(out, ids, name, false, (0, 0));
            if ids.0 == ids.1 {
                self.mappings(thread, (0, 0));
            }
        }
    }

    fn mappings(&mut self, thread: usize, at: (u64, u16)) {
        if self.is_kernel(thread) {
            return;
        }
        let world = &self.history.world;
        let process = &world.processes[world.threads[thread].process];
        let program = format!("/usr/bin/{}", process.name);
        let out = self.writer.buffer(at.1);
        let pid = tid(thread);
        rundown::mapped(out, pid, (MAPPED - FILE_BYTES, FILE_BYTES), &program, at);
        for (index, module) in self.modules.iter().enumerate() {
            let place = (MAPPED + index as u64 * FILE_BYTES, FILE_BYTES);
            rundown::mapped(out, pid, place, &format!("/usr/lib/{module}.so"), at);
        }
    }

    fn chain(&self, kernel: &[&str], own: Option<(usize, StackNo)>) -> (Vec<u64>, Vec<u64>) {
        let world = &self.history.world;
        let named = |name: &str| self.kernel.get(name).map_or(KERNEL_BASE, |at| at + 0x10);
        let mut kernel: Vec<u64> = kernel.iter().map(|name| named(name)).collect();
        let mut user = Vec::new();
        for code in own.and_then(|(_, stack)| world.stacks.get(stack.0)).into_iter().flatten() {
            let Some(known) = world.codes.get(code.0) else { continue };
            if known.kernel {
                kernel.push(named(&known.name));
            } else {
                let module = self.modules.iter().position(|module| *module == known.module).unwrap_or(0);
                user.push(MAPPED + module as u64 * FILE_BYTES + self.offsets[code.0]);
            }
        }
        (kernel, user)
    }

    fn clock(&mut self, sample: &super::samples::Sampled, interval: i64) {
        let (kernel, user) = self.chain(&[], sample.running);
        let sampled = Sampled {
            event: Event::CpuClock,
            ids: self.sample_ids(sample.running.map(|(thread, _)| thread)),
            time: ns(sample.time),
            cpu: sample.cpu as u16,
            period: interval.cast_unsigned(),
            kernel: &kernel,
            user: &user,
            raw: &[],
        };
        sampled.write(self.writer.buffer(sample.cpu as u16));
    }

    fn entry(&mut self, entry: &Entry, lost: bool) {
        let (time, cpu) = (ns(entry.time), entry.cpu as u16);
        match entry.what {
            What::Switch { old, leave, new } => {
                if !lost {
                    self.switch(entry, old, leave, new);
                }
                if let Some(new) = new.filter(|new| self.forked.remove(new)) {
                    let ids = self.ids(new);
                    let name = self.name(new);
                    rundown::named(self.writer.buffer(cpu), ids, name, true, (time, cpu));
                    self.mappings(new, (time, cpu));
                }
            }
            What::Wake { thread, by, device, new } if !lost => self.wake(entry, thread, by, (device, new)),
            What::Start { thread, by, process } => {
                let (ids, creator) = (self.ids(thread), self.ids(by));
                let name = self.name(thread);
                let out = self.writer.buffer(cpu);
                rundown::forked(out, ids, creator, time, cpu);
                if process {
                    self.forked.insert(thread);
                } else {
                    rundown::named(out, ids, name, false, (time, cpu));
                }
            }
            What::End { thread, .. } => {
                let (ids, sampled) = (self.ids(thread), self.sample_ids(Some(thread)));
                rundown::exited(self.writer.buffer(cpu), ids, sampled, time, cpu);
                self.dead.insert(thread);
            }
            What::Wake { .. } | What::Disk { .. } | What::Mark { .. } => {}
        }
    }

    fn priority(&self, thread: Option<usize>) -> u32 {
        let own = thread.map_or(8, |thread| self.history.world.threads[thread].priority);
        (128 - u32::from(own)).clamp(100, 139)
    }

    fn switch(&mut self, entry: &Entry, old: Option<(usize, StackNo)>, leave: Leave, new: Option<usize>) {
        let side = |thread: Option<usize>| thread.map_or(("swapper", 0), |thread| (self.name(thread), tid(thread)));
        let old_thread = old.map(|(old, _)| old);
        let ((old_name, old_tid), (new_name, new_tid)) = (side(old_thread), side(new));
        let state = match (leave, old) {
            (Leave::Waits(WaitKind::Disk(_) | WaitKind::Gate | WaitKind::Reply), _) => 2,
            (Leave::Waits(_), _) => 1,
            (Leave::Preempted, _) => 0x100,
            (Leave::Ends, Some((old, _))) if self.is_first(old) => 0x20,
            (Leave::Ends, _) => 0x10,
            (Leave::Idle, _) => 0,
        };
        let mut raw = Fields::default();
        raw.u16(SWITCH_ID).u16(0).u32(old_tid);
        raw.text(old_name, 16).u32(old_tid).u32(self.priority(old_thread)).u64(state);
        raw.text(new_name, 16).u32(new_tid).u32(self.priority(new));
        self.tracepoint(Event::Switch, entry, linux::leaving(leave), old, &raw);
    }

    fn wake(
        &mut self,
        entry: &Entry,
        thread: usize,
        by: Option<(usize, StackNo)>,
        (device, new): (Option<Device>, bool),
    ) {
        let (event, id) = if new { (Event::WakeupNew, WAKEUP_NEW_ID) } else { (Event::Waking, WAKING_ID) };
        let mut raw = Fields::default();
        let flags = if device.is_some() { [IN_INTERRUPT, 0] } else { [0, 0] };
        raw.u16(id).raw(&flags).u32(by.map_or(0, |(by, _)| tid(by)));
        raw.text(self.name(thread), 16).u32(tid(thread)).u32(self.priority(Some(thread))).u32(entry.cpu as u32);
        self.tracepoint(event, entry, device.map_or(linux::READY, linux::interrupt), by, &raw);
    }

    fn tracepoint(
        &mut self,
        event: Event,
        entry: &Entry,
        kernel: &[&str],
        own: Option<(usize, StackNo)>,
        raw: &Fields,
    ) {
        let (kernel, user) = self.chain(kernel, own);
        let sampled = Sampled {
            event,
            ids: self.sample_ids(own.map(|(thread, _)| thread)),
            time: ns(entry.time),
            cpu: entry.cpu as u16,
            kernel: &kernel,
            user: &user,
            raw: &raw.0,
            ..EMPTY
        };
        sampled.write(self.writer.buffer(entry.cpu as u16));
    }
}

/// The first thread of each process: the one that made it, else one that is older than the recording.
fn leaders(history: &History) -> Vec<Option<usize>> {
    let threads = &history.world.threads;
    let made = history.log.iter().filter_map(|entry| match entry.what {
        What::Start { thread, process: true, .. } => Some(thread),
        _ => None,
    });
    let old = (0..threads.len()).filter(|thread| threads[*thread].starts.is_some());
    let mut leaders = vec![None; history.world.processes.len()];
    for thread in made.chain(old) {
        leaders[threads[thread].process].get_or_insert(thread);
    }
    leaders
}
