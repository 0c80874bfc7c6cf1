//! The lifetimes of processes and threads, from start, end and rundown records.
//!
//! Much is known late: rundown at the end of a session names processes and threads that lived from end to end, ids are
//! reused, records are missing. So the facts are collected first ([`Lifetimes`], fed in time order) and frozen into a
//! [`Population`] that answers who owned an id at a time. Ids that only ever appear in events get rows when asked for.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::clock::Clock;
use crate::ids::{ProcessId, ThreadId};
pub use crate::lifetimes::{Edge, Lifetimes, ProcessFacts, ThreadFacts};
use crate::lifetimes::{Instance, KnownProcess, KnownThread};
use crate::owners::{Instances, Life, Owners, Span, add_instance};
use crate::rows::{Origin, ProcessRow, ThreadRow};
use crate::texts::{Text, Texts};

/// Whose conventions hold for ids that no record explains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// Pid 4 is the System process, into which kernel modules are mapped.
    #[default]
    Windows,
    /// The kernel is no process; a pseudo-process stands for it.
    Linux,
}

impl Lifetimes {
    /// Gives out ids, in the order of pid and start, and freezes the lifetimes. Where the recording lists idle threads, each
    /// of the `cpus` gets one; else they are made when they are met.
    #[must_use]
    pub fn freeze(self, clock: Clock, cpus: u16) -> Population {
        let Self { processes, threads, texts, pairs, services, ends, idle_threads, platform } = self;
        let mut population = Population { clock, pairs, platform, texts, ends, ..Population::default() };
        let mut pids: Vec<_> = processes.into_iter().collect();
        pids.sort_unstable_by_key(|(pid, _)| *pid);
        for (pid, instances) in pids {
            for instance in instances {
                population.add_process(pid, instance);
            }
        }
        let mut tids: Vec<_> = threads.into_iter().collect();
        tids.sort_unstable_by_key(|(tid, _)| *tid);
        for (tid, instances) in tids {
            for instance in instances {
                population.add_thread(tid, instance, &services);
            }
        }
        population.link_parents();
        population.first_inferred = population.threads.len();
        for cpu in (0..cpus).filter(|_| idle_threads) {
            population.idle_thread(cpu);
        }
        population
    }
}

/// What nearly every event asks of a thread, apart from its row so that it stays in the processor's cache.
#[derive(Clone, Copy, Debug)]
struct ThreadInstance {
    /// Raw times; `i64::MIN` / `i64::MAX` where the recording does not say.
    start: i64,
    end: i64,
    process: ProcessId,
    is_idle: bool,
}

/// A process, as far as its row is not made of its number alone.
#[derive(Debug)]
struct Process {
    /// −1 for those that are none.
    pid: i64,
    parent: Option<ProcessId>,
    instance: Instance<KnownProcess>,
}

/// A thread, without its life.
#[derive(Debug)]
struct Thread {
    /// −1 for those that have lost their id.
    tid: i64,
    start_address: Option<u64>,
    service_tag: Option<u32>,
    name: Option<Text>,
    service: Option<Text>,
    idle_cpu: Option<i16>,
    base_priority: Option<i8>,
    origin: Origin,
}

/// Frozen lifetimes, growing only by ids that no record described.
#[derive(Debug)]
pub struct Population {
    clock: Clock,
    texts: Texts,
    processes: Vec<Process>,
    threads: Vec<Thread>,
    /// By thread.
    thread_instances: Vec<ThreadInstance>,
    /// The owners that were known when this was shared. Those of other ids stand here.
    told: Arc<Owners>,
    by_pid: FxHashMap<u32, Instances<ProcessId>>,
    by_tid: FxHashMap<u32, Instances<ThreadId>>,
    /// Threads that got a row because something names them, and are not known for that.
    named: FxHashMap<u32, ThreadId>,
    /// The threads before that one have records of their own.
    first_inferred: usize,
    pairs: FxHashMap<u32, u32>,
    /// When threads left a CPU for good: see [`Lifetimes::left_for_good`].
    ends: FxHashMap<(u32, u32), (i64, i64)>,
    idle: FxHashMap<u16, ThreadId>,
    interrupts: Option<ProcessId>,
    /// Ids of parts of the system, with their pseudo-processes.
    system_parts: Vec<(u32, ProcessId)>,
    unknown: Option<ProcessId>,
    kernel: Option<ProcessId>,
    /// Threads without an id, by their process.
    nameless: FxHashMap<ProcessId, ThreadId>,
    platform: Platform,
}

impl Default for Population {
    fn default() -> Self {
        Self {
            clock: Clock::new(0, 0),
            texts: Texts::default(),
            processes: Vec::new(),
            threads: Vec::new(),
            thread_instances: Vec::new(),
            told: Arc::default(),
            by_pid: FxHashMap::default(),
            by_tid: FxHashMap::default(),
            named: FxHashMap::default(),
            first_inferred: 0,
            pairs: FxHashMap::default(),
            ends: FxHashMap::default(),
            idle: FxHashMap::default(),
            interrupts: None,
            system_parts: Vec::new(),
            unknown: None,
            kernel: None,
            nameless: FxHashMap::default(),
            platform: Platform::default(),
        }
    }
}

impl Population {
    /// The owners that are known so far, for all threads; ids that are met later are known here alone.
    pub fn share(&mut self) -> Arc<Owners> {
        let lives = self.threads.iter().zip(&self.thread_instances).map(|(thread, instance)| {
            let ThreadInstance { start, end, process, is_idle } = *instance;
            let tid = u32::try_from(thread.tid).unwrap_or(u32::MAX);
            Life { tid, process, is_idle, start, end, first_end: end }
        });
        let mut owners = Owners {
            lives: lives.collect(),
            by_pid: std::mem::take(&mut self.by_pid),
            by_tid: std::mem::take(&mut self.by_tid),
            idle: self.idle.clone(),
            process_count: self.processes.len(),
        };
        for ((tid, life), between) in std::mem::take(&mut self.ends) {
            // The number of lives of an idle thread is its CPU.
            let cpu = u16::try_from(life).unwrap_or(u16::MAX);
            owners.ends_between(tid, cpu, between);
        }
        self.told = Arc::new(owners);
        Arc::clone(&self.told)
    }

    #[inline]
    fn lives_of_pid(&self, pid: u32) -> Option<&Instances<ProcessId>> {
        self.told.by_pid.get(&pid).or_else(|| self.by_pid.get(&pid))
    }

    #[inline]
    fn lives_of_tid(&self, tid: u32) -> Option<&Instances<ThreadId>> {
        self.told.by_tid.get(&tid).or_else(|| self.by_tid.get(&tid))
    }

    fn add_process(&mut self, pid: u32, instance: Instance<KnownProcess>) -> ProcessId {
        let id = ProcessId::from_index(self.processes.len());
        let span = Span { id, start: instance.start.unwrap_or(i64::MIN), end: instance.end.unwrap_or(i64::MAX) };
        self.processes.push(Process { pid: pid.into(), parent: None, instance });
        add_instance(&mut self.by_pid, pid, span);
        id
    }

    fn add_thread(
        &mut self,
        tid: u32,
        instance: Instance<KnownThread>,
        services: &FxHashMap<(u32, u32), Text>,
    ) -> ThreadId {
        let id = ThreadId::from_index(self.threads.len());
        let (start, end) = (instance.start.unwrap_or(i64::MIN), instance.end.unwrap_or(i64::MAX));
        let anchor = instance.start.or(instance.end).unwrap_or(self.clock.zero);
        let KnownThread { pid, name, base_priority, service_tag, start_address } = instance.facts;
        let process = self.process_at(pid, anchor);
        let service_tag = service_tag.filter(|tag| *tag != 0);
        self.threads.push(Thread {
            tid: tid.into(),
            start_address,
            service_tag,
            name,
            service: service_tag.and_then(|tag| services.get(&(pid, tag)).copied()),
            idle_cpu: None,
            base_priority,
            origin: instance.origin,
        });
        self.thread_instances.push(ThreadInstance { start, end, process, is_idle: false });
        add_instance(&mut self.by_tid, tid, Span { id, start, end });
        id
    }

    fn link_parents(&mut self) {
        for index in 0..self.processes.len() {
            let (id, process) = (ProcessId::from_index(index), &self.processes[index]);
            let Some(parent_pid) = process.instance.facts.parent_pid else { continue };
            // The times of rows are rounded.
            let start = process.instance.start.map_or(i64::MIN, |ticks| self.clock.ticks(self.clock.ns(ticks)));
            let parent = self.by_pid.get(&parent_pid).and_then(|instances| {
                // A parent pid may have been reused: only somebody who was alive at the child's start can be it.
                instances.all().iter().find(|span| span.id != id && span.start <= start && span.end >= start)
            });
            self.processes[index].parent = parent.map(|span| span.id);
        }
    }

    /// Process that owned a pid at a tick, where a record told of it.
    #[must_use]
    pub fn known_process_at(&self, pid: u32, ticks: i64) -> Option<ProcessId> {
        Some(self.lives_of_pid(pid)?.owner(ticks))
    }

    /// The process that owns `pid` at `ticks`: alive then, else its last owner before, else the first after; a process
    /// without any record gets a row now.
    pub fn process_at(&mut self, pid: u32, ticks: i64) -> ProcessId {
        if let Some(instances) = self.lives_of_pid(pid) {
            return instances.owner(ticks);
        }
        self.add_process(pid, Instance::unseen(Origin::Inferred))
    }

    /// The terminal-services session of a process.
    #[must_use]
    pub fn session_of(&self, process: ProcessId) -> Option<i32> {
        self.processes.get(process.index())?.instance.facts.more.as_deref()?.session
    }

    /// The thread that owns `tid` at `ticks`, on `cpu` for the idle thread. A thread without any record gets a row now,
    /// in the process that record headers named beside it, else in the pseudo-process `Unknown`.
    #[inline]
    pub fn thread_at(&mut self, tid: u32, cpu: u16, ticks: i64) -> ThreadId {
        if tid == 0 {
            return self.idle_thread(cpu);
        }
        if let Some(instances) = self.lives_of_tid(tid) {
            return instances.owner(ticks);
        }
        let id = match self.named.remove(&tid) {
            Some(id) => id,
            None => self.inferred_thread(tid, ticks),
        };
        add_instance(&mut self.by_tid, tid, Span { id, start: i64::MIN, end: i64::MAX });
        id
    }

    /// As [`Self::thread_at`], but a thread without any record does not become known by it: for rows that must not change what
    /// others find out.
    pub fn named_thread_at(&mut self, tid: u32, cpu: u16, ticks: i64) -> ThreadId {
        if let Some(id) = self.known_thread_at(tid, cpu, ticks).or_else(|| self.named.get(&tid).copied()) {
            return id;
        }
        let id = self.inferred_thread(tid, ticks);
        self.named.insert(tid, id);
        id
    }

    fn inferred_thread(&mut self, tid: u32, ticks: i64) -> ThreadId {
        let process = match self.pairs.get(&tid).copied() {
            Some(pid) => self.process_at(pid, ticks),
            None => self.unknown_process(),
        };
        self.push_thread(i64::from(tid), process, Origin::Inferred, None);
        ThreadId::from_index(self.threads.len() - 1)
    }

    /// Pid of the process that the thread which owns `tid` at `ticks` belongs to, as the thread's own records say; `None` for a
    /// thread without any.
    #[must_use]
    pub fn recorded_owner(&self, tid: u32, ticks: i64) -> Option<u32> {
        if tid == 0 {
            return Some(0);
        }
        let thread = self.lives_of_tid(tid)?.owner(ticks);
        if thread.index() >= self.first_inferred {
            return None;
        }
        u32::try_from(self.processes.get(self.process_of(thread).index())?.pid).ok()
    }

    /// A thread that has lost its id, in the process that owns `pid` at `ticks`: while a thread ends, its ids are given back
    /// before it leaves the CPU for the last time. Its tid is −1.
    pub fn nameless_thread(&mut self, pid: Option<u32>, ticks: i64) -> ThreadId {
        let process = match pid {
            Some(pid) => self.process_at(pid, ticks),
            None => self.unknown_process(),
        };
        if let Some(id) = self.nameless.get(&process) {
            return *id;
        }
        self.push_thread(-1, process, Origin::Inferred, None);
        let id = ThreadId::from_index(self.threads.len() - 1);
        self.nameless.insert(process, id);
        id
    }

    /// A thread of which only an id outside of the recorder's pid namespace is known. No tid means it.
    pub fn outside_thread(&mut self, id: u32) -> ThreadId {
        let process = self.unknown_process();
        self.push_thread(i64::from(id), process, Origin::Inferred, None);
        ThreadId::from_index(self.threads.len() - 1)
    }

    /// As [`Self::thread_at`], but only for a thread that something else than this event shows.
    #[inline]
    pub fn known_thread_at(&mut self, tid: u32, cpu: u16, ticks: i64) -> Option<ThreadId> {
        if tid == 0 {
            return Some(self.idle_thread(cpu));
        }
        self.lives_of_tid(tid).map(|instances| instances.owner(ticks))
    }

    /// The idle thread of a CPU.
    pub fn idle_thread(&mut self, cpu: u16) -> ThreadId {
        if let Some(id) = self.idle.get(&cpu) {
            return *id;
        }
        let process = self.process_at(0, self.clock.zero);
        self.push_thread(0, process, Origin::Inferred, i16::try_from(cpu).ok());
        let id = ThreadId::from_index(self.threads.len() - 1);
        self.idle.insert(cpu, id);
        id
    }

    fn push_thread(&mut self, tid: i64, process: ProcessId, origin: Origin, idle_cpu: Option<i16>) {
        self.threads.push(Thread {
            tid,
            start_address: None,
            service_tag: None,
            name: None,
            service: None,
            idle_cpu,
            base_priority: None,
            origin,
        });
        let is_idle = idle_cpu.is_some();
        self.thread_instances.push(ThreadInstance { start: i64::MIN, end: i64::MAX, process, is_idle });
    }

    /// The pseudo-process that interrupts of the idle thread are charged to.
    pub fn interrupts(&mut self) -> ProcessId {
        if let Some(id) = self.interrupts {
            return id;
        }
        let id = self.pseudo_process(0, "DPC/ISR");
        self.interrupts = Some(id);
        id
    }

    /// The process into which the kernel's own modules are mapped.
    pub fn kernel_process(&mut self) -> ProcessId {
        match (self.platform, self.kernel) {
            (Platform::Windows, _) => self.process_at(4, self.clock.zero),
            (Platform::Linux, Some(id)) => id,
            (Platform::Linux, None) => {
                let id = self.pseudo_process(-1, "Kernel");
                self.kernel = Some(id);
                id
            }
        }
    }

    fn unknown_process(&mut self) -> ProcessId {
        if let Some(id) = self.unknown {
            return id;
        }
        let id = self.pseudo_process(-1, "Unknown");
        self.unknown = Some(id);
        id
    }

    /// A part of the system that events name like a process, by an id that no process has. The first 64 of them have processes of their own.
    pub fn system_part(&mut self, id: u32) -> ProcessId {
        /// Parts that are told apart. Windows has four.
        const MOST_PARTS: usize = 64;
        if let Some((_, part)) = self.system_parts.iter().find(|(known, _)| *known == id) {
            return *part;
        }
        if self.system_parts.len() >= MOST_PARTS {
            return self.unknown_process();
        }
        let part = self.pseudo_process(i64::from(id), &format!("System part {id:#x}"));
        self.system_parts.push((id, part));
        part
    }

    fn pseudo_process(&mut self, pid: i64, name: &str) -> ProcessId {
        let process = ProcessId::from_index(self.processes.len());
        let mut instance = Instance::<KnownProcess>::unseen(Origin::Pseudo);
        instance.facts.name = self.texts.number(Some(name));
        self.processes.push(Process { pid, parent: None, instance });
        process
    }

    /// The process of a thread.
    #[must_use]
    #[inline]
    pub fn process_of(&self, thread: ThreadId) -> ProcessId {
        self.thread_instances[thread.index()].process
    }

    /// The tid of a thread.
    #[must_use]
    pub fn tid_of(&self, thread: ThreadId) -> u32 {
        u32::try_from(self.threads[thread.index()].tid).unwrap_or(u32::MAX)
    }

    /// Whether a thread is the idle thread of some CPU.
    #[must_use]
    #[inline]
    pub fn is_idle(&self, thread: ThreadId) -> bool {
        self.thread_instances[thread.index()].is_idle
    }

    /// Raw start of a thread's life, when it lies inside the recording.
    #[must_use]
    #[inline]
    pub fn born(&self, thread: ThreadId) -> Option<i64> {
        Some(self.thread_instances[thread.index()].start).filter(|ticks| *ticks != i64::MIN)
    }

    /// Raw end of a thread's life, when it lies inside the recording.
    #[must_use]
    #[inline]
    pub fn died(&self, thread: ThreadId) -> Option<i64> {
        Some(self.thread_instances[thread.index()].end).filter(|ticks| *ticks != i64::MAX)
    }

    /// A scheduling event shows the thread alive before its start record: the record came late.
    pub fn alive_since(&mut self, thread: ThreadId, ticks: i64) {
        self.thread_instances[thread.index()].start = ticks;
    }

    /// A scheduling event shows the thread alive after its end record.
    pub fn alive_until(&mut self, thread: ThreadId, ticks: i64) {
        self.thread_instances[thread.index()].end = ticks;
    }

    /// Ends of threads inside the recording, in time order.
    #[must_use]
    pub fn deaths(&self) -> Vec<(i64, ThreadId)> {
        let mut deaths: Vec<_> = (0..self.threads.len())
            .map(ThreadId::from_index)
            .filter_map(|thread| self.died(thread).map(|ticks| (ticks, thread)))
            .collect();
        deaths.sort_unstable();
        deaths
    }

    /// Whether a process began inside of the recording.
    #[must_use]
    pub fn is_born_inside(&self, process: ProcessId) -> bool {
        self.processes.get(process.index()).is_some_and(|process| process.instance.start.is_some())
    }

    /// Start of a process, nanoseconds since time zero, where it is inside of the recording, and its creator.
    #[must_use]
    pub fn birth(&self, process: ProcessId) -> (Option<i64>, Option<ProcessId>) {
        self.processes
            .get(process.index())
            .map_or((None, None), |process| (process.instance.start.map(|ticks| self.clock.ns(ticks)), process.parent))
    }

    /// The name that the recording or the system gives a process; `None` for one of which only the pid is known.
    #[must_use]
    pub fn recorded_name(&self, process: ProcessId) -> Option<Cow<'_, str>> {
        let Process { pid, instance, .. } = self.processes.get(process.index())?;
        match (self.texts.get(instance.facts.name).filter(|name| !name.is_empty()), pid) {
            (Some(name), _) => Some(Cow::Borrowed(name)),
            (None, 0) => Some(Cow::Borrowed("Idle")),
            (None, 4) if self.platform == Platform::Windows => Some(Cow::Borrowed("System")),
            (None, _) if instance.origin == Origin::Inferred => None,
            (None, pid) => Some(Cow::Owned(format!("pid {pid}"))),
        }
    }

    /// The rows of table `processes`, by id.
    pub fn processes(&self) -> impl Iterator<Item = ProcessRow> {
        (0..self.processes.len()).map(|index| self.process_row(index))
    }

    /// The rows of table `threads`, by id.
    pub fn threads(&self) -> impl Iterator<Item = ThreadRow> {
        (0..self.threads.len()).map(|index| self.thread_row(index))
    }

    fn process_row(&self, index: usize) -> ProcessRow {
        let id = ProcessId::from_index(index);
        let Process { pid, parent, instance } = &self.processes[index];
        let facts = &instance.facts;
        let more = facts.more.as_deref().cloned().unwrap_or_default();
        let text = |text: Option<Text>| self.texts.owned(text);
        let not_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
        ProcessRow {
            process: id,
            pid: *pid,
            name: self.recorded_name(id).map_or_else(|| format!("pid {pid}"), Cow::into_owned),
            command_line: facts.command_line.as_deref().filter(|text| !text.is_empty()).map(str::to_owned),
            parent_pid: facts.parent_pid.map(i64::from),
            parent: *parent,
            session: more.session,
            user: text(more.user),
            package: not_empty(text(more.package)),
            application: not_empty(text(more.application)),
            start: instance.start.map(|ticks| self.clock.ns(ticks)),
            // A process that was dead before the recording ended at its start at the latest.
            end: instance.end.map(|ticks| if ticks == i64::MIN { 0 } else { self.clock.ns(ticks) }),
            exit_code: facts.exit_code.filter(|_| instance.end.is_some()),
            wow64: more.wow64,
            origin: instance.origin,
            cgroup: text(more.cgroup),
            container: text(more.container),
            pid_namespace: more.pid_namespace,
        }
    }

    fn thread_row(&self, index: usize) -> ThreadRow {
        let thread = ThreadId::from_index(index);
        let own = &self.threads[index];
        ThreadRow {
            thread,
            process: self.process_of(thread),
            tid: own.tid,
            name: self.texts.owned(own.name).filter(|name| !name.is_empty()),
            start: self.born(thread).map(|ticks| self.clock.ns(ticks)),
            end: self.died(thread).map(|ticks| self.clock.ns(ticks)),
            base_priority: own.base_priority,
            service_tag: own.service_tag.map(i64::from),
            service: self.texts.owned(own.service),
            start_address: own.start_address.map(u64::cast_signed),
            idle_cpu: own.idle_cpu,
            origin: own.origin,
        }
    }
}
