//! Who lived when: processes and threads from start, end and rundown records.
//!
//! Much is known late: rundown at the end of a session names processes and threads that lived from end to end, ids are
//! reused, records are missing. So the facts are collected first ([`Lifetimes`], fed in time order) and frozen into a
//! [`Population`] that answers who owned an id at a time. Ids that only ever appear in events get rows when asked for.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::clock::Clock;
use crate::ids::{ProcessId, ThreadId};
use crate::rows::{Origin, ProcessRow, ThreadRow};

/// Whose conventions hold for ids that no record explains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// Pid 4 is the System process, into which kernel modules are mapped.
    #[default]
    Windows,
    /// The kernel is no process; a pseudo-process stands for it.
    Linux,
}

/// Which edge of a life a record reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// It started now.
    Start,
    /// It ended now.
    End,
    /// It was alive when the recording began (rundown at the start).
    AliveAtStart,
    /// It was alive when the recording ended (rundown at the end).
    AliveAtEnd,
    /// It had ended before this rundown; the object was still referenced. Carries the exit time where known.
    Defunct(Option<i64>),
}

/// What a record says about a process. Later records fill what earlier ones left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessFacts {
    /// Address of the kernel's process object: tells two lives of a pid apart. 0: not given.
    pub key: u64,
    /// Pid of the creator.
    pub parent_pid: Option<u32>,
    /// Image file name.
    pub name: Option<String>,
    /// Command line.
    pub command_line: Option<String>,
    /// Terminal-services session.
    pub session: Option<i32>,
    /// Security identifier.
    pub user: Option<String>,
    /// Package full name.
    pub package: Option<String>,
    /// Application user model id.
    pub application: Option<String>,
    /// Exit status; only kept from end records.
    pub exit_code: Option<i32>,
    /// 32-bit on a 64-bit system.
    pub wow64: Option<bool>,
    /// Path of the control group.
    pub cgroup: Option<String>,
    /// Id of the container.
    pub container: Option<String>,
    /// Inode of the pid namespace.
    pub pid_namespace: Option<i64>,
}

/// What a record says about a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadFacts {
    /// Pid of the process.
    pub pid: u32,
    /// Thread name.
    pub name: Option<String>,
    /// Base priority.
    pub base_priority: Option<i8>,
    /// Service tag.
    pub service_tag: Option<u32>,
    /// Win32 start address.
    pub start_address: Option<u64>,
}

#[derive(Clone, Debug)]
struct Life<F> {
    /// `None`: before the recording.
    start: Option<i64>,
    /// `None`: still alive, as far as known.
    end: Option<i64>,
    origin: Origin,
    facts: F,
}

/// Collects lifetimes. Facts must come in time order.
#[derive(Debug, Default)]
pub struct Lifetimes {
    processes: FxHashMap<u32, Vec<Life<ProcessFacts>>>,
    threads: FxHashMap<u32, Vec<Life<ThreadFacts>>>,
    /// tid → pid from record headers, for threads without a record of their own.
    pairs: FxHashMap<u32, u32>,
    services: FxHashMap<(u32, u32), String>,
    idle_threads: bool,
    platform: Platform,
}

impl Lifetimes {
    /// Nothing known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing known, on a platform.
    #[must_use]
    pub fn of(platform: Platform) -> Self {
        Self { platform, ..Self::default() }
    }

    /// A process record.
    pub fn process(&mut self, ticks: i64, pid: u32, edge: Edge, facts: ProcessFacts) {
        let lives = self.processes.entry(pid).or_insert_with(one);
        let key = facts.key;
        let same = |life: &Life<ProcessFacts>| life.facts.key == 0 || key == 0 || life.facts.key == key;
        edge_into(lives, ticks, edge, facts, same, merge_process);
    }

    /// A thread record. Records of the idle threads (tid 0) do not say of which CPU they are.
    pub fn thread(&mut self, ticks: i64, tid: u32, edge: Edge, facts: ThreadFacts) {
        if tid == 0 {
            self.idle_threads = true;
            return;
        }
        let pid = facts.pid;
        let lives = self.threads.entry(tid).or_insert_with(one);
        // Threads have no identity beyond their ids: a life that has ended is never continued.
        let same = |life: &Life<ThreadFacts>| life.facts.pid == pid && life.end.is_none();
        edge_into(lives, ticks, edge, facts, same, merge_thread);
    }

    /// A thread got a name.
    pub fn thread_name(&mut self, tid: u32, pid: u32, name: String) {
        if let Some(life) = self.threads.get_mut(&tid).and_then(|lives| lives.last_mut())
            && life.facts.pid == pid
        {
            life.facts.name = Some(name);
        }
    }

    /// A process has another name from now on; of all its names the last one counts.
    pub fn process_name(&mut self, pid: u32, name: &str) {
        if let Some(life) = self.processes.get_mut(&pid).and_then(|lives| lives.last_mut())
            && life.facts.name.as_deref() != Some(name)
        {
            life.facts.name = Some(name.to_owned());
        }
    }

    /// What else is known of a process from now on; what `facts` leave out stays.
    pub fn process_facts(&mut self, pid: u32, facts: ProcessFacts) {
        let Some(life) = self.processes.get_mut(&pid).and_then(|lives| lives.last_mut()) else { return };
        let before = std::mem::replace(&mut life.facts, facts);
        merge_process(&mut life.facts, before, false);
    }

    /// A process starts another program, of whose arguments nothing is known yet.
    pub fn forget_command_line(&mut self, pid: u32) {
        if let Some(life) = self.processes.get_mut(&pid).and_then(|lives| lives.last_mut()) {
            life.facts.command_line = None;
        }
    }

    /// A thread left a CPU in state Terminated: its life ends here even if its end record came a little earlier.
    pub fn terminated(&mut self, ticks: i64, tid: u32) {
        if tid == 0 {
            return;
        }
        if let Some(life) = self.threads.get_mut(&tid).and_then(|lives| lives.last_mut()) {
            life.end = Some(life.end.map_or(ticks, |end| end.max(ticks)));
        }
    }

    /// A record's header names a process and a thread together.
    pub fn pair(&mut self, pid: u32, tid: u32) {
        if tid != 0 {
            self.pairs.insert(tid, pid);
        }
    }

    /// A service runs under a tag in a process.
    pub fn service(&mut self, pid: u32, tag: u32, name: String) {
        self.services.insert((pid, tag), name);
    }

    /// Gives out ids, in the order of pid and start, and freezes the lifetimes. Where the recording lists idle threads, each
    /// of the `cpus` gets one; else they are made when they are met.
    #[must_use]
    pub fn freeze(self, clock: Clock, cpus: u16) -> Population {
        let mut population = Population { clock, pairs: self.pairs, platform: self.platform, ..Population::default() };
        let mut pids: Vec<_> = self.processes.into_iter().collect();
        pids.sort_unstable_by_key(|(pid, _)| *pid);
        for (pid, lives) in pids {
            for life in lives {
                population.add_process(pid, life);
            }
        }
        let mut tids: Vec<_> = self.threads.into_iter().collect();
        tids.sort_unstable_by_key(|(tid, _)| *tid);
        for (tid, lives) in tids {
            for life in lives {
                population.add_thread(tid, life, &self.services);
            }
        }
        population.link_parents();
        population.first_inferred = population.threads.len();
        for cpu in (0..cpus).filter(|_| self.idle_threads) {
            population.idle_thread(cpu);
        }
        population
    }
}

/// Room for one: most ids have a single life, and each is a few hundred bytes.
fn one<T>() -> Vec<T> {
    Vec::with_capacity(1)
}

/// Applies one record to the lives of an id.
fn edge_into<F>(
    lives: &mut Vec<Life<F>>,
    ticks: i64,
    edge: Edge,
    facts: F,
    same: impl Fn(&Life<F>) -> bool,
    merge: impl Fn(&mut F, F, bool),
) {
    let is_end = edge == Edge::End;
    let last = lives.last_mut();
    match edge {
        Edge::Start => {
            if let Some(life) = last
                && life.end.is_none()
            {
                // The end of the previous life is missing: reuse of the id closes it.
                life.end = Some(ticks);
            }
            lives.push(Life { start: Some(ticks), end: None, origin: Origin::Event, facts });
        }
        Edge::End => match last {
            Some(life) if life.end.is_none() && same(life) => {
                life.end = Some(ticks);
                life.origin = Origin::Event;
                merge(&mut life.facts, facts, is_end);
            }
            // The same end told twice, by two parts of a recording.
            Some(life) if life.end.is_some_and(|end| ticks <= end) => {}
            _ => {
                let start = last.map(|life| *life.end.get_or_insert(ticks));
                lives.push(Life { start, end: Some(ticks), origin: Origin::Event, facts });
            }
        },
        Edge::AliveAtStart | Edge::AliveAtEnd => match last {
            Some(life) if same(life) => merge(&mut life.facts, facts, is_end),
            Some(life) => {
                // Another life under the same id without a start record: it cannot have begun before the last one ended.
                let start = Some(*life.end.get_or_insert(ticks));
                lives.push(Life { start, end: None, origin: Origin::Rundown, facts });
            }
            None => lives.push(Life { start: None, end: None, origin: Origin::Rundown, facts }),
        },
        Edge::Defunct(exit) => match lives.iter_mut().rev().find(|life| same(life)) {
            Some(life) => {
                if life.end.is_none() {
                    life.end = exit;
                }
                merge(&mut life.facts, facts, true);
            }
            None => lives.insert(0, Life { start: None, end: exit.or(Some(i64::MIN)), origin: Origin::Rundown, facts }),
        },
    }
}

fn merge_process(into: &mut ProcessFacts, from: ProcessFacts, is_end: bool) {
    fn fill<T>(into: &mut Option<T>, from: Option<T>) {
        if into.is_none() {
            *into = from;
        }
    }
    if into.key == 0 {
        into.key = from.key;
    }
    fill(&mut into.parent_pid, from.parent_pid);
    fill(&mut into.name, from.name);
    fill(&mut into.command_line, from.command_line);
    fill(&mut into.session, from.session);
    fill(&mut into.user, from.user);
    fill(&mut into.package, from.package);
    fill(&mut into.application, from.application);
    fill(&mut into.wow64, from.wow64);
    fill(&mut into.cgroup, from.cgroup);
    fill(&mut into.container, from.container);
    fill(&mut into.pid_namespace, from.pid_namespace);
    if is_end {
        into.exit_code = from.exit_code.or(into.exit_code);
    }
}

fn merge_thread(into: &mut ThreadFacts, from: ThreadFacts, _is_end: bool) {
    if from.name.is_some() {
        into.name = from.name;
    }
    into.base_priority = into.base_priority.or(from.base_priority);
    into.service_tag = into.service_tag.or(from.service_tag);
    into.start_address = into.start_address.or(from.start_address);
}

/// One life of an id inside the population.
#[derive(Clone, Copy, Debug)]
struct Span<Id> {
    id: Id,
    start: i64,
    end: i64,
}

/// The lives of one id, ordered by start. Nearly all ids have one, which is found in one step less than a list's.
#[derive(Debug)]
enum Lives<Id> {
    One(Span<Id>),
    Several(Vec<Span<Id>>),
}

impl<Id: Copy> Lives<Id> {
    /// The owner of the id at a time: whoever lives then, else the last owner before, because records of a thread can follow its
    /// end; else the first after, because they can precede its start.
    #[inline]
    fn owner(&self, ticks: i64) -> Id {
        match self {
            Self::One(span) => span.id,
            Self::Several(spans) => owner(spans, ticks).id,
        }
    }

    fn push(&mut self, span: Span<Id>) {
        match self {
            Self::One(first) => *self = Self::Several(vec![*first, span]),
            Self::Several(spans) => spans.push(span),
        }
    }
}

/// What nearly every event asks of a thread, apart from its row so that it stays in the processor's cache.
#[derive(Clone, Copy, Debug)]
struct ThreadLife {
    /// Raw times; `i64::MIN` / `i64::MAX` where the recording does not say.
    start: i64,
    end: i64,
    process: ProcessId,
    is_idle: bool,
}

/// Frozen lifetimes, growing only by ids that no record described.
#[derive(Debug)]
pub struct Population {
    clock: Clock,
    processes: Vec<ProcessRow>,
    threads: Vec<ThreadRow>,
    /// By thread.
    thread_lives: Vec<ThreadLife>,
    by_pid: FxHashMap<u32, Vec<Span<ProcessId>>>,
    by_tid: FxHashMap<u32, Lives<ThreadId>>,
    /// Threads that got a row because something names them, and are not known for that.
    named: FxHashMap<u32, ThreadId>,
    /// The threads before that one have records of their own.
    first_inferred: usize,
    pairs: FxHashMap<u32, u32>,
    idle: FxHashMap<u16, ThreadId>,
    interrupts: Option<ProcessId>,
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
            processes: Vec::new(),
            threads: Vec::new(),
            thread_lives: Vec::new(),
            by_pid: FxHashMap::default(),
            by_tid: FxHashMap::default(),
            named: FxHashMap::default(),
            first_inferred: 0,
            pairs: FxHashMap::default(),
            idle: FxHashMap::default(),
            interrupts: None,
            unknown: None,
            kernel: None,
            nameless: FxHashMap::default(),
            platform: Platform::default(),
        }
    }
}

impl Population {
    fn add_process(&mut self, pid: u32, life: Life<ProcessFacts>) -> ProcessId {
        let id = ProcessId::from_index(self.processes.len());
        let facts = life.facts;
        let name = match (facts.name.filter(|name| !name.is_empty()), pid) {
            (Some(name), _) => name,
            (None, 0) => "Idle".to_owned(),
            (None, 4) if self.platform == Platform::Windows => "System".to_owned(),
            (None, _) => format!("pid {pid}"),
        };
        self.processes.push(ProcessRow {
            process: id,
            pid: i64::from(pid),
            name,
            command_line: facts.command_line.filter(|text| !text.is_empty()),
            parent_pid: facts.parent_pid.map(i64::from),
            parent: None,
            session: facts.session,
            user: facts.user,
            package: facts.package.filter(|text| !text.is_empty()),
            application: facts.application.filter(|text| !text.is_empty()),
            start: life.start.map(|ticks| self.clock.ns(ticks)),
            // A process that was dead before the recording ended at its start at the latest.
            end: life.end.map(|ticks| if ticks == i64::MIN { 0 } else { self.clock.ns(ticks) }),
            exit_code: facts.exit_code.filter(|_| life.end.is_some()),
            wow64: facts.wow64,
            origin: life.origin,
            cgroup: facts.cgroup,
            container: facts.container,
            pid_namespace: facts.pid_namespace,
        });
        let span = Span { id, start: life.start.unwrap_or(i64::MIN), end: life.end.unwrap_or(i64::MAX) };
        self.by_pid.entry(pid).or_default().push(span);
        id
    }

    fn add_thread(&mut self, tid: u32, life: Life<ThreadFacts>, services: &FxHashMap<(u32, u32), String>) -> ThreadId {
        let id = ThreadId::from_index(self.threads.len());
        let (start, end) = (life.start.unwrap_or(i64::MIN), life.end.unwrap_or(i64::MAX));
        let anchor = life.start.or(life.end).unwrap_or(self.clock.zero);
        let process = self.process_at(life.facts.pid, anchor);
        let tag = life.facts.service_tag.filter(|tag| *tag != 0);
        self.threads.push(ThreadRow {
            thread: id,
            process,
            tid: i64::from(tid),
            name: life.facts.name.filter(|name| !name.is_empty()),
            start: life.start.map(|ticks| self.clock.ns(ticks)),
            end: life.end.map(|ticks| self.clock.ns(ticks)),
            base_priority: life.facts.base_priority,
            service_tag: tag.map(i64::from),
            service: tag.and_then(|tag| services.get(&(life.facts.pid, tag)).cloned()),
            start_address: life.facts.start_address.map(u64::cast_signed),
            idle_cpu: None,
            origin: life.origin,
        });
        self.thread_lives.push(ThreadLife { start, end, process, is_idle: false });
        self.add_life(tid, Span { id, start, end });
        id
    }

    fn add_life(&mut self, tid: u32, span: Span<ThreadId>) {
        match self.by_tid.entry(tid) {
            Entry::Occupied(mut lives) => lives.get_mut().push(span),
            Entry::Vacant(place) => drop(place.insert(Lives::One(span))),
        }
    }

    fn link_parents(&mut self) {
        for index in 0..self.processes.len() {
            let row = &self.processes[index];
            let Some(parent_pid) = row.parent_pid.and_then(|pid| u32::try_from(pid).ok()) else { continue };
            let (child, start) = (row.process, row.start.map_or(i64::MIN, |ns| self.clock.ticks(ns)));
            let parent = self.by_pid.get(&parent_pid).and_then(|spans| {
                // A parent pid may have been reused: only somebody who was alive at the child's start can be it.
                spans.iter().find(|span| span.id != child && span.start <= start && span.end >= start)
            });
            self.processes[index].parent = parent.map(|span| span.id);
        }
    }

    /// Process that owned a pid at a tick, where a record told of it.
    #[must_use]
    pub fn known_process_at(&self, pid: u32, ticks: i64) -> Option<&ProcessRow> {
        let spans = self.by_pid.get(&pid)?;
        self.processes.get(owner(spans, ticks).id.index())
    }

    /// The process that owns `pid` at `ticks`: alive then, else its last owner before, else the first after; a process
    /// without any record gets a row now.
    pub fn process_at(&mut self, pid: u32, ticks: i64) -> ProcessId {
        if let Some(spans) = self.by_pid.get(&pid) {
            return owner(spans, ticks).id;
        }
        let facts = ProcessFacts::default();
        self.add_process(pid, Life { start: None, end: None, origin: Origin::Inferred, facts })
    }

    /// The thread that owns `tid` at `ticks`, on `cpu` for the idle thread. A thread without any record gets a row now,
    /// in the process that record headers named beside it, else in the pseudo-process `Unknown`.
    #[inline]
    pub fn thread_at(&mut self, tid: u32, cpu: u16, ticks: i64) -> ThreadId {
        if tid == 0 {
            return self.idle_thread(cpu);
        }
        if let Some(lives) = self.by_tid.get(&tid) {
            return lives.owner(ticks);
        }
        let id = match self.named.remove(&tid) {
            Some(id) => id,
            None => self.inferred_thread(tid, ticks),
        };
        self.add_life(tid, Span { id, start: i64::MIN, end: i64::MAX });
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
        let thread = self.by_tid.get(&tid)?.owner(ticks);
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
        self.by_tid.get(&tid).map(|lives| lives.owner(ticks))
    }

    /// The life of `tid` at `ticks`, as a number that tells it apart from other lives of the same tid; makes no row.
    #[must_use]
    pub fn life_of(&self, tid: u32, ticks: i64) -> u32 {
        let life = self.by_tid.get(&tid).map(|lives| lives.owner(ticks));
        life.map_or(0, |thread| thread.0.cast_unsigned())
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
        let thread = ThreadId::from_index(self.threads.len());
        self.threads.push(ThreadRow {
            thread,
            process,
            tid,
            name: None,
            start: None,
            end: None,
            base_priority: None,
            service_tag: None,
            service: None,
            start_address: None,
            idle_cpu,
            origin,
        });
        let is_idle = idle_cpu.is_some();
        self.thread_lives.push(ThreadLife { start: i64::MIN, end: i64::MAX, process, is_idle });
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

    fn pseudo_process(&mut self, pid: i64, name: &str) -> ProcessId {
        let process = ProcessId::from_index(self.processes.len());
        self.processes.push(ProcessRow {
            process,
            pid,
            name: name.to_owned(),
            command_line: None,
            parent_pid: None,
            parent: None,
            session: None,
            user: None,
            package: None,
            application: None,
            start: None,
            end: None,
            exit_code: None,
            wow64: None,
            origin: Origin::Pseudo,
            cgroup: None,
            container: None,
            pid_namespace: None,
        });
        process
    }

    /// The process of a thread.
    #[must_use]
    #[inline]
    pub fn process_of(&self, thread: ThreadId) -> ProcessId {
        self.thread_lives[thread.index()].process
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
        self.thread_lives[thread.index()].is_idle
    }

    /// Raw start of a thread's life, when it lies inside the recording.
    #[must_use]
    #[inline]
    pub fn born(&self, thread: ThreadId) -> Option<i64> {
        Some(self.thread_lives[thread.index()].start).filter(|ticks| *ticks != i64::MIN)
    }

    /// Raw end of a thread's life, when it lies inside the recording.
    #[must_use]
    #[inline]
    pub fn died(&self, thread: ThreadId) -> Option<i64> {
        Some(self.thread_lives[thread.index()].end).filter(|ticks| *ticks != i64::MAX)
    }

    /// A scheduling event shows the thread alive before its start record: the record came late.
    pub fn alive_since(&mut self, thread: ThreadId, ticks: i64) {
        self.thread_lives[thread.index()].start = ticks;
        self.threads[thread.index()].start = Some(self.clock.ns(ticks));
    }

    /// A scheduling event shows the thread alive after its end record.
    pub fn alive_until(&mut self, thread: ThreadId, ticks: i64) {
        self.thread_lives[thread.index()].end = ticks;
        self.threads[thread.index()].end = Some(self.clock.ns(ticks));
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

    /// Pids with their lives, for joins that key on pid and time.
    #[must_use]
    pub fn processes(&self) -> &[ProcessRow] {
        &self.processes
    }

    /// The rows of both tables, ordered by id.
    #[must_use]
    pub fn into_rows(self) -> (Vec<ProcessRow>, Vec<ThreadRow>) {
        (self.processes, self.threads)
    }

    /// Threads seen so far.
    #[must_use]
    pub fn threads(&self) -> &[ThreadRow] {
        &self.threads
    }
}

/// The owner of an id at a time among its lives, which are ordered by start and never empty: see [`Lives::owner`].
fn owner<Id: Copy>(spans: &[Span<Id>], ticks: i64) -> Span<Id> {
    let after = spans.partition_point(|span| span.start <= ticks);
    spans[after.saturating_sub(1)]
}
