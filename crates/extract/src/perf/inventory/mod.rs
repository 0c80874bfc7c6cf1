//! The first pass over a Linux recording: who lived when and under which name, what was mapped where, what was lost.

mod container;
mod programs;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_perf::{
    Comm, CpuMode, FileId, Kind, Ksymbol, LeftOut, Losses, Mapping, Metadata, Namespaces, Payload, Record, Task,
    is_of_a_guest,
};
use tracesift_trace::Health;
use tracesift_trace::HealthKind;
use tracesift_trace::mappings::{MappedFile, MappingRecord, Mappings};
use tracesift_trace::population::{Edge, Lifetimes, Platform, ProcessFacts, ThreadFacts};

use crate::perf::names::{Mapped, mapped, mapped_by_program};
use crate::perf::time::{as_ticks, ticks};
use crate::recorder_facts::Arguments;
use programs::Programs;
pub(super) use programs::needs_whole_samples;

/// Bytes behind the kernel's main part in which its data and the code lie that only runs while it starts. The idle thread of the
/// first CPU has come from there. Modules lie further away.
const KERNEL_TAIL: u64 = 64 << 20;

/// Which of the namespaces of a thread is that of pids (`PID_NS_INDEX`).
const PID_NAMESPACE: usize = 3;

/// CPUs that Linux can have, and more.
const MAX_CPUS: i64 = 1 << 16;

/// What is known when the records were walked over once.
pub(crate) struct Inventory {
    pub(crate) lifetimes: Lifetimes,
    pub(crate) mappings: Mappings,
    pub(crate) health: Health,
    /// Samples by event.
    pub(crate) samples: Vec<u64>,
    pub(crate) records: u64,
    /// What the kernel had no room for.
    pub(crate) losses: Losses,
    /// First and last time.
    pub(crate) span: Option<(i64, i64)>,
    /// The first time of what was measured: the recorder writes of processes and mappings before it switches its events on.
    measured_from: Option<i64>,
    pub(crate) metadata: Option<Arc<Metadata>>,
    /// Single tasks were watched, and not all that CPUs do; `None` where the recorder does not say.
    pub(crate) of_tasks: Option<bool>,
    /// CPUs on which events were recorded, where the recorder says so.
    cpus: BTreeSet<i64>,
    programs: Programs,
    /// What the recorder noted of processes and is still to come.
    arguments: VecDeque<Arguments>,
    threads: FxHashMap<u32, Thread>,
    /// Threads that live, by process.
    alive: FxHashMap<u32, u32>,
    /// Threads beside the first one, by process; some have ended.
    others: FxHashMap<u32, Vec<u32>>,
}

/// The last life of a tid.
struct Thread {
    pid: u32,
    alive: bool,
    name: Option<Box<str>>,
}

impl Inventory {
    pub(crate) fn new() -> Self {
        Self {
            lifetimes: Lifetimes::of(Platform::Linux),
            mappings: Mappings::new(),
            health: Health::new(),
            samples: Vec::new(),
            records: 0,
            losses: Losses::default(),
            span: None,
            measured_from: None,
            metadata: None,
            of_tasks: None,
            cpus: BTreeSet::new(),
            programs: Programs::default(),
            arguments: VecDeque::new(),
            threads: FxHashMap::default(),
            alive: FxHashMap::default(),
            others: FxHashMap::default(),
        }
    }

    /// Command lines that are not in the recording, in order.
    pub(crate) fn with_arguments(mut self, arguments: Vec<Arguments>) -> Self {
        self.arguments = arguments.into();
        self
    }

    /// Time zero: the first record with a time.
    pub(crate) fn zero(&self) -> i64 {
        self.span.map_or(0, |span| span.0)
    }

    /// The time from which on what happens is recorded.
    pub(crate) fn start(&self) -> i64 {
        self.measured_from.unwrap_or_else(|| self.zero())
    }

    /// Tells of CPUs that were left out.
    pub(crate) fn count_unrecorded_cpus(&mut self, metadata: &Metadata) {
        let online = metadata.features.cpus.map_or(0, |cpus| cpus.online as usize);
        let recorded = self.cpus.len();
        let Some(missing) = online.checked_sub(recorded).filter(|missing| *missing > 0 && recorded > 0) else { return };
        let missing = i64::try_from(missing).unwrap_or(i64::MAX);
        let numbers = || self.cpus.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        self.health.add(HealthKind::UNRECORDED_CPUS, missing, None, || {
            let which = match recorded {
                1 => format!("CPU {} of {online} CPUs was", numbers()),
                2..=8 => format!("CPUs {} of {online} CPUs were", numbers()),
                _ => format!("{recorded} of {online} CPUs were"),
            };
            format!(
                "only {which} recorded: what threads do on the other CPUs is missing, and counts as wait or ready time"
            )
        });
    }

    /// A record, in the order of time.
    pub(crate) fn record(&mut self, record: &Record<'_>) {
        self.records += 1;
        let ticks = ticks(record);
        if let Some(ticks) = ticks {
            self.extend_span(ticks);
            self.arguments_until(ticks);
            if matches!(record.kind(), Kind::Sample | Kind::Switch | Kind::SwitchCpuWide) {
                self.measured_at(ticks);
            }
        }
        match record.kind() {
            Kind::Sample => return self.sample(record, ticks),
            Kind::Mmap
            | Kind::Mmap2
            | Kind::Comm
            | Kind::Fork
            | Kind::Exit
            | Kind::Ksymbol
            | Kind::Cgroup
            | Kind::Namespaces
            | Kind::Lost
            | Kind::LostSamples
            | Kind::ThreadMap
            | Kind::IdIndex => {}
            _ => return,
        }
        match record.payload() {
            Ok(Payload::Mapping(mapping)) => self.mapping(&mapping, record.cpu_mode(), ticks),
            Ok(Payload::Comm(comm)) => self.comm(&comm, ticks),
            Ok(Payload::Fork(task)) => self.fork(&task, ticks),
            Ok(Payload::Exit(task)) => self.exit(&task, ticks),
            Ok(Payload::Ksymbol(symbol)) => self.kernel_symbol(&symbol, ticks),
            Ok(Payload::Cgroup(group)) => self.programs.group(&group),
            Ok(Payload::Namespaces(namespaces)) => self.namespaces(&namespaces, ticks),
            Ok(payload @ (Payload::Lost(_) | Payload::LostSamples(_))) => self.losses.add(&payload),
            Ok(Payload::IdIndex(index)) => {
                let of_cpus = index.iter().map(|entry| entry.cpu).filter(|cpu| (0..MAX_CPUS).contains(cpu));
                self.cpus.extend(of_cpus);
            }
            Ok(Payload::ThreadMap(map)) => self.of_tasks = Some(map.iter().all(|(tid, _)| tid >= 0)),
            Ok(_) => {}
            Err(error) => {
                let kind = record.kind();
                self.health.count(HealthKind::UNDECODABLE_RECORDS, ticks, || format!("{kind:?}: {error}"));
            }
        }
    }

    /// Looks for events of interest among those that are known by now: a stream tells of them on its way.
    #[inline]
    pub(crate) fn learn(&mut self, metadata: &Metadata) {
        self.programs.learn(metadata);
    }

    /// Those that processes had before `ticks`.
    pub(crate) fn arguments_until(&mut self, ticks: i64) {
        while let Some(noted) = self.arguments.pop_front_if(|noted| noted.ticks < ticks) {
            // One that has ended in the recording had not when it was looked at: that was another with its id.
            if self.alive.get(&noted.pid).is_some_and(|alive| *alive > 0) {
                let facts = ProcessFacts { command_line: Some(noted.command_line), ..ProcessFacts::default() };
                self.lifetimes.process_facts(noted.pid, facts);
            }
        }
    }

    /// Samples that were not shown to [`Self::record`], since others told of their threads.
    pub(crate) fn left_out(&mut self, left_out: &LeftOut) {
        self.records += left_out.samples;
        for (event, &samples) in left_out.by_event.iter().enumerate() {
            self.count_samples(event, samples);
        }
        if let Some((first, last)) = left_out.span {
            self.extend_span(as_ticks(first));
            self.extend_span(as_ticks(last));
            self.measured_at(as_ticks(first));
        }
    }

    /// Gives back what only further records would need.
    pub(crate) fn forget_the_living(&mut self) {
        (self.threads, self.alive, self.others) = Default::default();
        self.programs = Programs::default();
    }

    /// The end of the recorded span, ns since time zero.
    pub(crate) fn end_ns(&self) -> i64 {
        self.span.map_or(0, |(first, last)| last.saturating_sub(first))
    }

    fn extend_span(&mut self, ticks: i64) {
        let (first, last) = self.span.get_or_insert((ticks, ticks));
        *first = ticks.min(*first);
        *last = ticks.max(*last);
    }

    fn measured_at(&mut self, ticks: i64) {
        self.measured_from = Some(self.measured_from.map_or(ticks, |from| from.min(ticks)));
    }

    fn count_samples(&mut self, event: usize, samples: u64) {
        if self.samples.len() <= event {
            self.samples.resize(event + 1, 0);
        }
        if let Some(sum) = self.samples.get_mut(event) {
            *sum += samples;
        }
    }

    fn sample(&mut self, record: &Record<'_>, ticks: Option<i64>) {
        if let Some(event) = record.event() {
            self.count_samples(event, 1);
        }
        if let Some((pid, tid)) = record.thread().and_then(ids)
            && !is_of_a_guest(record.cpu_mode())
        {
            self.seen(pid, tid, ticks);
            self.programs.sampled(record, pid, &mut self.lifetimes);
        }
    }

    /// A thread is there. It was before the recording, unless its id is known for another process.
    fn seen(&mut self, pid: u32, tid: u32, ticks: Option<i64>) {
        if tid == 0 || self.threads.get(&tid).is_some_and(|thread| thread.pid == pid) {
            return;
        }
        let at = ticks.unwrap_or(i64::MIN);
        if !self.alive.contains_key(&pid) {
            self.lifetimes.process(at, pid, Edge::AliveAtStart, ProcessFacts::default());
        }
        self.lifetimes.thread(at, tid, Edge::AliveAtStart, ThreadFacts { pid, ..ThreadFacts::default() });
        self.begin(pid, tid);
    }

    /// A thread lives from now on; who had its id before does no more.
    fn begin(&mut self, pid: u32, tid: u32) {
        let before = self.threads.insert(tid, Thread { pid, alive: true, name: None });
        if let Some(before) = before.filter(|before| before.alive) {
            self.leave(before.pid);
        }
        *self.alive.entry(pid).or_default() += 1;
        if tid != pid {
            self.others.entry(pid).or_default().push(tid);
        }
    }

    /// A thread of the process has ended; whether it was the last one.
    fn leave(&mut self, pid: u32) -> bool {
        let Some(alive) = self.alive.get_mut(&pid) else { return true };
        *alive = alive.saturating_sub(1);
        if *alive == 0 {
            self.others.remove(&pid);
        }
        *alive == 0
    }

    /// A process starts another program. All its threads but one end without a record; the one that is left takes the id of the first.
    fn exec(&mut self, pid: u32, ticks: i64) {
        if let Some(first) = self.threads.get_mut(&pid).filter(|first| !first.alive && first.pid == pid) {
            first.alive = true;
            *self.alive.entry(pid).or_default() += 1;
            self.lifetimes.thread(ticks, pid, Edge::Start, ThreadFacts { pid, ..ThreadFacts::default() });
        }
        for tid in self.others.remove(&pid).unwrap_or_default() {
            if let Some(thread) = self.threads.get_mut(&tid).filter(|thread| thread.alive && thread.pid == pid) {
                thread.alive = false;
                self.lifetimes.thread(ticks, tid, Edge::End, ThreadFacts { pid, ..ThreadFacts::default() });
                self.leave(pid);
            }
        }
    }

    fn comm(&mut self, comm: &Comm<'_>, ticks: Option<i64>) {
        let Some((pid, tid)) = ids((comm.pid, comm.tid)) else { return };
        if tid == 0 {
            return;
        }
        self.seen(pid, tid, ticks);
        if let Some(ticks) = ticks.filter(|_| comm.exec && pid == tid) {
            self.exec(pid, ticks);
        }
        let name = String::from_utf8_lossy(comm.name);
        self.name(pid, tid, &name);
        if let Some(ticks) = ticks.filter(|_| comm.exec) {
            // Those that it had are of the program before.
            self.lifetimes.forget_command_line(pid);
            self.mappings.exec(ticks, pid);
        }
    }

    fn name(&mut self, pid: u32, tid: u32, name: &str) {
        self.lifetimes.thread_name(tid, pid, name);
        if pid == tid {
            self.lifetimes.process_name(pid, name);
            self.programs.named(pid, name);
        }
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.name = Some(name.into());
        }
    }

    fn fork(&mut self, task: &Task, ticks: Option<i64>) {
        let (Some((pid, tid)), parent) = (ids((task.pid, task.tid)), ids((task.parent_pid, task.parent_tid))) else {
            return;
        };
        if tid == 0 {
            return;
        }
        let parent_pid = parent.map(|parent| parent.0).filter(|parent| *parent != pid);
        let facts = ProcessFacts { parent_pid, ..ProcessFacts::default() };
        let Some(at) = ticks else {
            // The recorder tells who is there when it starts.
            let edge = Edge::AliveAtStart;
            self.lifetimes.process(i64::MIN, pid, edge, facts);
            self.lifetimes.thread(i64::MIN, tid, edge, ThreadFacts { pid, ..ThreadFacts::default() });
            self.begin_once(pid, tid);
            return;
        };
        if let Some(parent_pid) = parent_pid {
            self.alive.remove(&pid);
            self.others.remove(&pid);
            self.lifetimes.process(at, pid, Edge::Start, facts);
            self.mappings.fork(at, pid, parent_pid);
            self.programs.begins(pid);
        } else if !self.alive.contains_key(&pid) {
            self.lifetimes.process(at, pid, Edge::AliveAtStart, ProcessFacts::default());
        }
        self.lifetimes.thread(at, tid, Edge::Start, ThreadFacts { pid, ..ThreadFacts::default() });
        self.begin(pid, tid);
        // Until it takes one of its own it has its creator's name.
        let inherited = parent.and_then(|(_, tid)| self.threads.get(&tid)?.name.clone());
        if let Some(name) = inherited {
            self.name(pid, tid, &name);
        }
        if let Some(parent_pid) = parent_pid {
            self.programs.inherited(pid, parent_pid, &mut self.lifetimes);
        }
    }

    fn begin_once(&mut self, pid: u32, tid: u32) {
        if self.threads.get(&tid).is_none_or(|thread| thread.pid != pid) {
            self.begin(pid, tid);
        }
    }

    fn exit(&mut self, task: &Task, ticks: Option<i64>) {
        let (Some((pid, tid)), Some(at)) = (ids((task.pid, task.tid)), ticks) else { return };
        if tid == 0 {
            return;
        }
        self.seen(pid, tid, ticks);
        let Some(thread) = self.threads.get_mut(&tid).filter(|thread| thread.alive) else { return };
        thread.alive = false;
        self.lifetimes.thread(at, tid, Edge::End, ThreadFacts { pid, ..ThreadFacts::default() });
        if self.leave(pid) {
            self.lifetimes.process(at, pid, Edge::End, ProcessFacts::default());
        }
    }

    /// The namespaces of a thread.
    fn namespaces(&mut self, namespaces: &Namespaces<'_>, ticks: Option<i64>) {
        let (Ok(pid), Ok(tid)) = (u32::try_from(namespaces.pid), u32::try_from(namespaces.tid)) else { return };
        let Some(own) = namespaces.iter().nth(PID_NAMESPACE).filter(|own| own.inode != 0 && tid != 0) else { return };
        self.seen(pid, tid, ticks);
        let facts = ProcessFacts { pid_namespace: i64::try_from(own.inode).ok(), ..ProcessFacts::default() };
        self.lifetimes.process_facts(pid, facts);
    }

    fn mapping(&mut self, mapping: &Mapping<'_>, mode: CpuMode, ticks: Option<i64>) {
        let is_kernel = mode == CpuMode::Kernel || mapping.pid < 0;
        // With build ids, what is told of the kernel has no protection.
        if is_of_a_guest(mode) || !is_kernel && !mapping.executable {
            return;
        }
        let pid = u32::try_from(mapping.pid).ok().filter(|_| !is_kernel);
        let name = String::from_utf8_lossy(mapping.name);
        let build_id = match mapping.file {
            FileId::BuildId(id) => Some(id.to_string()).filter(|id| !id.is_empty()),
            _ => None,
        };
        let end = mapping.start.saturating_add(mapping.length);
        let mapped = if is_kernel { mapped(&name) } else { mapped_by_program(&name, end) };
        if let (Some(pid), Mapped::Named(path)) = (pid, mapped) {
            self.programs.file(pid, path, &mut self.lifetimes);
        }
        let tail = if matches!(mapped, Mapped::Kernel(_)) { KERNEL_TAIL } else { 0 };
        let (file, offset) = match mapped {
            // Where other mappings have the place in their file, the kernel's have the address of a symbol.
            Mapped::Kernel(path) => (MappedFile::Named { path, build_id: build_id.as_deref() }, 0),
            Mapped::Named(path) if is_kernel => (MappedFile::Named { path, build_id: build_id.as_deref() }, 0),
            Mapped::Named(path) => (MappedFile::Named { path, build_id: build_id.as_deref() }, mapping.file_offset),
            Mapped::Anonymous => (MappedFile::Anonymous, 0),
        };
        let (start, size) = (mapping.start, mapping.length);
        self.mappings.map(&MappingRecord { ticks, pid, start, size, offset, file, tail });
    }

    /// Code that the kernel made: a program of BPF, a trampoline.
    fn kernel_symbol(&mut self, symbol: &Ksymbol<'_>, ticks: Option<i64>) {
        let name = String::from_utf8_lossy(symbol.name);
        if symbol.unregister {
            return;
        }
        let file = MappedFile::Named { path: &name, build_id: None };
        let (start, size) = (symbol.address, symbol.length.into());
        self.mappings.map(&MappingRecord { ticks, pid: None, start, size, offset: 0, file, tail: 0 });
    }
}

/// Process and thread, where the record has them.
fn ids((pid, tid): (i32, i32)) -> Option<(u32, u32)> {
    Some((u32::try_from(pid).ok()?, u32::try_from(tid).ok()?))
}
