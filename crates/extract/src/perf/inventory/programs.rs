//! Facts about a process besides its ids: the full name of its program, its control group, its
//! namespaces.

use rustc_hash::FxHashMap;
use tracesift_perf::{Cgroup, Metadata, Record, SampleFormat};
use tracesift_trace::population::{Lifetimes, ProcessFacts};

use super::container::container_of;
use crate::perf::tracepoint::{Fields, Number, Text};

/// The tracepoint of a program that starts.
const EXEC: &str = "sched:sched_process_exec";
/// Bytes of a thread's name at most (`TASK_COMM_LEN` less the NUL): a name of that length may have been longer.
const CUT_AT: usize = 15;
/// Control groups that are kept; machines have thousands.
const MAX_GROUPS: usize = 1 << 16;

/// What is known of the programs of processes.
#[derive(Default)]
pub(crate) struct Programs {
    /// Names of processes that may have been cut.
    cut: FxHashMap<u32, Box<str>>,
    /// Their whole names.
    whole: FxHashMap<u32, Box<str>>,
    /// Paths of control groups.
    groups: FxHashMap<u64, Box<str>>,
    /// The group in which a process was seen last.
    group_of: FxHashMap<u32, u64>,
    /// `sched:sched_process_exec`, by event.
    execs: Vec<Option<ExecFields>>,
    /// What of the events was known when these fields were looked for.
    learned: (usize, bool),
}

/// Fields of `sched:sched_process_exec`.
struct ExecFields {
    pid: Number,
    path: Text,
}

/// Whether the first pass looks at more of an event's samples than whose they are.
pub(crate) fn needs_whole_samples(metadata: &Metadata, event: usize) -> bool {
    let Some(attr) = metadata.events.get(event).map(|event| &event.attr) else { return true };
    let may_be_exec = attr.is_tracepoint() && (metadata.tracing.is_none() || metadata.event_name(event) == EXEC);
    may_be_exec || attr.sample_format.contains(SampleFormat::CGROUP)
}

impl Programs {
    /// Looks for events of interest among those that are known by now: a stream tells of them on its way.
    #[inline]
    pub(super) fn learn(&mut self, metadata: &Metadata) {
        let known = (metadata.events.len(), metadata.tracing.is_some());
        if known == self.learned {
            return;
        }
        self.learned = known;
        let exec = |index: usize| {
            let fields = Fields::of(metadata, index).filter(|_| metadata.event_name(index) == EXEC)?;
            Some(ExecFields { pid: fields.number("pid")?, path: fields.text("filename")? })
        };
        self.execs = (0..metadata.events.len()).map(exec).collect();
    }

    /// A process has a name, which may be cut.
    pub(super) fn named(&mut self, pid: u32, name: &str) {
        self.whole.remove(&pid);
        if name.len() == CUT_AT {
            self.cut.insert(pid, name.into());
        } else {
            self.cut.remove(&pid);
        }
    }

    /// A new process goes on with the program of its creator.
    pub(super) fn inherited(&mut self, pid: u32, parent_pid: u32, lifetimes: &mut Lifetimes) {
        let Some(name) = self.whole.get(&parent_pid).cloned() else { return };
        // Other threads of the creator have other names.
        if self.cut.get(&pid).is_some_and(|cut| name.starts_with(&**cut)) {
            lifetimes.process_name(pid, &name);
            self.whole.insert(pid, name);
        }
    }

    /// A process has a file in which its program may be: one whose name goes on where that of the process was cut.
    pub(super) fn file(&mut self, pid: u32, path: &str, lifetimes: &mut Lifetimes) {
        let Some(cut) = self.cut.get(&pid) else { return };
        let file = path.rsplit('/').next().unwrap_or(path);
        if file.len() > cut.len() && file.starts_with(&**cut) {
            lifetimes.process_name(pid, file);
            self.whole.insert(pid, file.into());
        }
    }

    /// What a sample says of its process besides that it is there.
    #[inline]
    pub(super) fn sampled(&mut self, record: &Record<'_>, pid: u32, lifetimes: &mut Lifetimes) {
        let exec = record.event().and_then(|event| self.execs.get(event)?.as_ref());
        let in_group = record.layout().sample_format().contains(SampleFormat::CGROUP);
        if exec.is_none() && !in_group {
            return;
        }
        // What does not decode is counted in the second pass.
        let Ok(sample) = record.sample() else { return };
        let started = exec.zip(sample.raw).and_then(|(exec, raw)| Some((exec.pid.id(raw)?, exec.path.get(raw)?)));
        if let Some((tid, path)) = started
            && !path.is_empty()
            && tid == pid
        {
            let path = String::from_utf8_lossy(path).into_owned();
            self.file(pid, &path, lifetimes);
            let facts = ProcessFacts { command_line: Some(path), ..ProcessFacts::default() };
            lifetimes.process_facts(pid, facts);
        }
        if let Some(group) = sample.tail().cgroup {
            self.in_group(pid, group, lifetimes);
        }
    }

    fn in_group(&mut self, pid: u32, group: u64, lifetimes: &mut Lifetimes) {
        if self.group_of.get(&pid) == Some(&group) {
            return;
        }
        let Some(path) = self.groups.get(&group) else { return };
        let container = container_of(path).map(str::to_owned);
        let facts = ProcessFacts { cgroup: Some(path.to_string()), container, ..ProcessFacts::default() };
        self.group_of.insert(pid, group);
        lifetimes.process_facts(pid, facts);
    }

    /// A process begins: what was known of its pid was another's.
    pub(super) fn begins(&mut self, pid: u32) {
        self.group_of.remove(&pid);
        self.whole.remove(&pid);
        self.cut.remove(&pid);
    }

    /// The path of a control group.
    pub(super) fn group(&mut self, group: &Cgroup<'_>) {
        if self.groups.len() < MAX_GROUPS {
            self.groups.insert(group.id, String::from_utf8_lossy(group.path).into());
        }
    }
}
