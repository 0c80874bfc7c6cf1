//! The lifetimes of processes and threads as records tell them, before all records are read.
//!
//! A build server has hundreds of thousands of them, so little is kept of each: texts that many share stand once, and what few have
//! stands apart.

use rustc_hash::FxHashMap;

use crate::population::Platform;
use crate::rows::Origin;
use crate::texts::{Text, Texts};

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

/// A life of an id.
#[derive(Clone, Debug)]
pub(crate) struct Instance<F> {
    /// `None`: before the recording.
    pub(crate) start: Option<i64>,
    /// `None`: still alive, as far as known.
    pub(crate) end: Option<i64>,
    pub(crate) origin: Origin,
    pub(crate) facts: F,
}

impl<F: Default> Instance<F> {
    /// One of which no record tells.
    pub(crate) fn unseen(origin: Origin) -> Self {
        Self { start: None, end: None, origin, facts: F::default() }
    }
}

/// What is kept of [`ProcessFacts`].
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownProcess {
    key: u64,
    pub(crate) parent_pid: Option<u32>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) name: Option<Text>,
    pub(crate) command_line: Option<Box<str>>,
    pub(crate) more: Option<Box<MoreOfProcess>>,
}

/// What few processes have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MoreOfProcess {
    pub(crate) session: Option<i32>,
    pub(crate) user: Option<Text>,
    pub(crate) package: Option<Text>,
    pub(crate) application: Option<Text>,
    pub(crate) wow64: Option<bool>,
    pub(crate) cgroup: Option<Text>,
    pub(crate) container: Option<Text>,
    pub(crate) pid_namespace: Option<i64>,
}

/// What is kept of [`ThreadFacts`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KnownThread {
    pub(crate) pid: u32,
    pub(crate) name: Option<Text>,
    pub(crate) base_priority: Option<i8>,
    pub(crate) service_tag: Option<u32>,
    pub(crate) start_address: Option<u64>,
}

impl KnownProcess {
    fn of(facts: ProcessFacts, texts: &mut Texts) -> Self {
        let mut text = |text: Option<String>| texts.number(text.as_deref());
        let more = MoreOfProcess {
            session: facts.session,
            user: text(facts.user),
            package: text(facts.package),
            application: text(facts.application),
            wow64: facts.wow64,
            cgroup: text(facts.cgroup),
            container: text(facts.container),
            pid_namespace: facts.pid_namespace,
        };
        Self {
            key: facts.key,
            parent_pid: facts.parent_pid,
            exit_code: facts.exit_code,
            name: text(facts.name),
            command_line: facts.command_line.map(String::into_boxed_str),
            more: (more != MoreOfProcess::default()).then(|| Box::new(more)),
        }
    }
}

/// Collects lifetimes. Facts must come in time order.
#[derive(Debug, Default)]
pub struct Lifetimes {
    pub(crate) processes: FxHashMap<u32, Vec<Instance<KnownProcess>>>,
    pub(crate) threads: FxHashMap<u32, Vec<Instance<KnownThread>>>,
    pub(crate) texts: Texts,
    /// tid → pid from record headers, for threads without a record of their own.
    pub(crate) pairs: FxHashMap<u32, u32>,
    pub(crate) services: FxHashMap<(u32, u32), Text>,
    /// When threads left a CPU for good for the first and the last time, by tid and by the number of its lives then; those of idle threads
    /// by their CPU.
    pub(crate) ends: FxHashMap<(u32, u32), (i64, i64)>,
    pub(crate) idle_threads: bool,
    pub(crate) platform: Platform,
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
        let facts = KnownProcess::of(facts, &mut self.texts);
        let instances = self.processes.entry(pid).or_insert_with(one);
        let key = facts.key;
        let same = |instance: &Instance<KnownProcess>| instance.facts.key == 0 || key == 0 || instance.facts.key == key;
        edge_into(instances, ticks, edge, facts, same, merge_process);
    }

    /// A thread record. Records of the idle threads (tid 0) do not say of which CPU they are.
    pub fn thread(&mut self, ticks: i64, tid: u32, edge: Edge, facts: ThreadFacts) {
        if tid == 0 {
            self.idle_threads = true;
            return;
        }
        let ThreadFacts { pid, name, base_priority, service_tag, start_address } = facts;
        let name = self.texts.number(name.as_deref());
        let facts = KnownThread { pid, name, base_priority, service_tag, start_address };
        let instances = self.threads.entry(tid).or_insert_with(one);
        // Threads have no identity beyond their ids: a life that has ended is never continued.
        let same = |instance: &Instance<KnownThread>| instance.facts.pid == pid && instance.end.is_none();
        edge_into(instances, ticks, edge, facts, same, merge_thread);
    }

    /// A thread got a name.
    pub fn thread_name(&mut self, tid: u32, pid: u32, name: &str) {
        if let Some(instance) = self.threads.get_mut(&tid).and_then(|instances| instances.last_mut())
            && instance.facts.pid == pid
        {
            instance.facts.name = self.texts.number(Some(name));
        }
    }

    /// A process has another name from now on; of all its names the last one counts.
    pub fn process_name(&mut self, pid: u32, name: &str) {
        if let Some(instance) = self.processes.get_mut(&pid).and_then(|instances| instances.last_mut()) {
            instance.facts.name = self.texts.number(Some(name));
        }
    }

    /// What else is known of a process from now on; what `facts` leave out stays.
    pub fn process_facts(&mut self, pid: u32, facts: ProcessFacts) {
        let Some(instance) = self.processes.get_mut(&pid).and_then(|instances| instances.last_mut()) else { return };
        let before = std::mem::replace(&mut instance.facts, KnownProcess::of(facts, &mut self.texts));
        merge_process(&mut instance.facts, before, false);
    }

    /// A process starts another program, of whose arguments nothing is known yet.
    pub fn forget_command_line(&mut self, pid: u32) {
        if let Some(instance) = self.processes.get_mut(&pid).and_then(|instances| instances.last_mut()) {
            instance.facts.command_line = None;
        }
    }

    /// A thread left a CPU in state Terminated: its life ends here even if its end record came a little earlier.
    pub fn terminated(&mut self, ticks: i64, tid: u32) {
        if tid == 0 {
            return;
        }
        if let Some(instance) = self.threads.get_mut(&tid).and_then(|instances| instances.last_mut()) {
            instance.end = Some(instance.end.map_or(ticks, |end| end.max(ticks)));
        }
    }

    /// A thread left a CPU in state Terminated: from here on its switches decide when its life ends.
    pub fn left_for_good(&mut self, ticks: i64, tid: u32, cpu: u16) {
        let life = match tid {
            0 => u32::from(cpu),
            tid => self.threads.get(&tid).map_or(0, |lives| u32::try_from(lives.len()).unwrap_or(u32::MAX)),
        };
        self.ends.entry((tid, life)).or_insert((ticks, ticks)).1 = ticks;
    }

    /// A record's header names a process and a thread together.
    pub fn pair(&mut self, pid: u32, tid: u32) {
        if tid != 0 {
            self.pairs.insert(tid, pid);
        }
    }

    /// A service runs under a tag in a process.
    pub fn service(&mut self, pid: u32, tag: u32, name: String) {
        if let Some(name) = self.texts.number(Some(&name)) {
            self.services.insert((pid, tag), name);
        }
    }
}

/// Room for one: most ids have a single life, and each is a few hundred bytes.
fn one<T>() -> Vec<T> {
    Vec::with_capacity(1)
}

/// Applies one record to the lives of an id.
fn edge_into<F>(
    instances: &mut Vec<Instance<F>>,
    ticks: i64,
    edge: Edge,
    facts: F,
    same: impl Fn(&Instance<F>) -> bool,
    merge: impl Fn(&mut F, F, bool),
) {
    let is_end = edge == Edge::End;
    let last = instances.last_mut();
    match edge {
        Edge::Start => {
            if let Some(instance) = last
                && instance.end.is_none()
            {
                // The end of the previous life is missing: reuse of the id closes it.
                instance.end = Some(ticks);
            }
            instances.push(Instance { start: Some(ticks), end: None, origin: Origin::Event, facts });
        }
        Edge::End => match last {
            Some(instance) if instance.end.is_none() && same(instance) => {
                instance.end = Some(ticks);
                instance.origin = Origin::Event;
                merge(&mut instance.facts, facts, is_end);
            }
            // The same end told twice, by two parts of a recording.
            Some(instance) if instance.end.is_some_and(|end| ticks <= end) => {}
            _ => {
                let start = last.map(|instance| *instance.end.get_or_insert(ticks));
                instances.push(Instance { start, end: Some(ticks), origin: Origin::Event, facts });
            }
        },
        Edge::AliveAtStart | Edge::AliveAtEnd => match last {
            Some(instance) if same(instance) => merge(&mut instance.facts, facts, is_end),
            Some(instance) => {
                // Another life under the same id without a start record: it cannot have begun before the last one ended.
                let start = Some(*instance.end.get_or_insert(ticks));
                instances.push(Instance { start, end: None, origin: Origin::Rundown, facts });
            }
            None => instances.push(Instance { start: None, end: None, origin: Origin::Rundown, facts }),
        },
        Edge::Defunct(exit) => match instances.iter_mut().rev().find(|instance| same(instance)) {
            Some(instance) => {
                if instance.end.is_none() {
                    instance.end = exit;
                }
                merge(&mut instance.facts, facts, true);
            }
            None => instances
                .insert(0, Instance { start: None, end: exit.or(Some(i64::MIN)), origin: Origin::Rundown, facts }),
        },
    }
}

fn fill<T>(into: &mut Option<T>, from: Option<T>) {
    if into.is_none() {
        *into = from;
    }
}

fn merge_process(into: &mut KnownProcess, from: KnownProcess, is_end: bool) {
    if into.key == 0 {
        into.key = from.key;
    }
    fill(&mut into.parent_pid, from.parent_pid);
    fill(&mut into.name, from.name);
    fill(&mut into.command_line, from.command_line);
    if is_end {
        into.exit_code = from.exit_code.or(into.exit_code);
    }
    let Some(from) = from.more else { return };
    let Some(into) = &mut into.more else {
        into.more = Some(from);
        return;
    };
    fill(&mut into.session, from.session);
    fill(&mut into.user, from.user);
    fill(&mut into.package, from.package);
    fill(&mut into.application, from.application);
    fill(&mut into.wow64, from.wow64);
    fill(&mut into.cgroup, from.cgroup);
    fill(&mut into.container, from.container);
    fill(&mut into.pid_namespace, from.pid_namespace);
}

fn merge_thread(into: &mut KnownThread, from: KnownThread, _is_end: bool) {
    into.name = from.name.or(into.name);
    into.base_priority = into.base_priority.or(from.base_priority);
    into.service_tag = into.service_tag.or(from.service_tag);
    into.start_address = into.start_address.or(from.start_address);
}
