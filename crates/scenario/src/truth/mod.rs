//! The truth about a recording, which a reader must find.
//!
//! Computed from the logical records, straightforwardly and independently of the readers that it judges. All times are
//! nanoseconds since time zero; a duration is the difference of two converted times, so that sums telescope exactly.

mod samples;
mod scheduling;

use std::collections::{BTreeMap, HashMap};

use crate::machine::{MethodName, StackId};
use crate::record::{Event, Walk};
use crate::{Record, Rundown, Scenario};

/// What a reader must find.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// End of the recorded span, which begins at 0: the header's end, or the last scheduling or sample record if later.
    pub end: i64,
    /// Processes of which the recording knows, and the pseudo-process for interrupts.
    pub processes: Vec<ProcessTruth>,
    /// Threads of which the recording knows.
    pub threads: Vec<ThreadTruth>,
    /// Samples in time order.
    pub samples: Vec<SampleTruth>,
    /// Switches in time order.
    pub switches: Vec<SwitchTruth>,
    /// Whether there is any ready event. Without one, and without preemption, ready time is not known rather than 0.
    pub has_ready_events: bool,
    /// Whether any thread left the CPU while runnable.
    pub has_preemption: bool,
    /// Switches whose old thread is not the one that was running there.
    pub broken_chains: usize,
    /// Distinct stacks, as indices into [`Truth::names`], leaf first.
    pub stacks: Vec<Vec<usize>>,
    /// Distinct names.
    pub names: Vec<MethodName>,
}

/// What a [`ProcessTruth`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessKind {
    /// A process instance.
    Instance,
    /// The idle process.
    Idle,
    /// `DPC/ISR`: interrupts of idle CPUs.
    Interrupts,
}

/// A process.
#[derive(Clone, Debug)]
pub struct ProcessTruth {
    /// What it stands for.
    pub kind: ProcessKind,
    /// Process id; 0 for `DPC/ISR`.
    pub pid: u32,
    /// File name; `None` when no record names it.
    pub name: Option<String>,
    /// Time of the start record.
    pub start: Option<i64>,
    /// Time of the end record.
    pub end: Option<i64>,
    /// Exit code, when the end was recorded.
    pub exit_code: Option<i32>,
    /// Samples.
    pub samples: u64,
    /// Samples without stack.
    pub samples_without_stack: u64,
    /// Sampled CPU, ns.
    pub cpu: i64,
    /// Methods on the stacks of its samples.
    pub methods: BTreeMap<MethodName, MethodTruth>,
}

/// Samples of a method. Samples without stack count for no method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MethodTruth {
    /// Samples in whose stack it occurs.
    pub samples: u64,
    /// Their weight, ns.
    pub inclusive: i64,
    /// Weight of the samples whose leaf it is, ns.
    pub exclusive: i64,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadTruth {
    /// Index into [`Truth::processes`].
    pub process: usize,
    /// Thread id.
    pub tid: u32,
    /// CPU of an idle thread.
    pub idle_cpu: Option<u16>,
    /// Time of the start record.
    pub start: Option<i64>,
    /// End of its life, when it ended inside the recording: the end record, or the switch-out in state Terminated if later.
    pub end: Option<i64>,
    /// Its life inside the recording.
    pub life: (i64, i64),
    /// On the CPU.
    pub run: i64,
    /// Blocked.
    pub wait: i64,
    /// Runnable, not running.
    pub ready: i64,
    /// Off the CPU at the left edge.
    pub open: i64,
    /// Not known: no switch at all, or broken chains.
    pub unknown: i64,
    /// Switch-ins.
    pub switches: u64,
    /// The span in which it is off the CPU at the end of its life or of the recording.
    pub closing: Option<OffSpan>,
}

impl ThreadTruth {
    /// The sum of its parts; equals the length of its life.
    #[must_use]
    pub fn accounted(&self) -> i64 {
        self.run + self.wait + self.ready + self.open + self.unknown
    }
}

/// Why a thread was off the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffCause {
    /// It had not been seen before: open at the left.
    Open,
    /// It left while runnable.
    Preempted,
    /// It blocked.
    Blocked,
    /// The span touches a broken chain.
    Unknown,
}

/// A span in which a thread was off the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffSpan {
    /// Why.
    pub cause: OffCause,
    /// From when.
    pub from: i64,
    /// Until when.
    pub to: i64,
    /// Since when it was runnable: `from` where it was preempted.
    pub ready_from: Option<i64>,
}

impl OffSpan {
    /// Wait time in it.
    #[must_use]
    pub fn wait(&self) -> i64 {
        match self.cause {
            OffCause::Blocked => self.ready_from.unwrap_or(self.to) - self.from,
            _ => 0,
        }
    }

    /// Ready time in it.
    #[must_use]
    pub fn ready(&self) -> i64 {
        match self.cause {
            OffCause::Unknown => 0,
            _ => self.ready_from.map_or(0, |from| self.to - from),
        }
    }
}

/// A sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleTruth {
    /// Time.
    pub time: i64,
    /// CPU.
    pub cpu: u16,
    /// Index into [`Truth::threads`].
    pub thread: usize,
    /// Index into [`Truth::processes`].
    pub process: usize,
    /// CPU time that it stands for, ns.
    pub weight: i64,
    /// Index into [`Truth::stacks`].
    pub stack: Option<usize>,
    /// Index into [`Truth::names`] of the sampled function.
    pub function: usize,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchTruth {
    /// Time.
    pub time: i64,
    /// CPU.
    pub cpu: u16,
    /// Thread switched in, index into [`Truth::threads`].
    pub thread: usize,
    /// Thread switched out.
    pub previous: usize,
    /// The span off the CPU that ends here.
    pub off: OffSpan,
    /// State in which it had left, where that is known.
    pub off_state: Option<i8>,
    /// Stack with which it had left: index into [`Truth::stacks`].
    pub wait_stack: Option<usize>,
    /// Stack of the ready event that ended the wait.
    pub ready_stack: Option<usize>,
    /// Thread that made it runnable.
    pub readier: Option<usize>,
    /// Hardware counters of the CPU.
    pub counters: Vec<u64>,
}

impl Truth {
    /// Names of a stack, leaf first.
    #[must_use]
    pub fn stack_names(&self, stack: usize) -> Vec<&MethodName> {
        self.stacks[stack].iter().map(|name| &self.names[*name]).collect()
    }

    /// The first process with this name.
    #[must_use]
    pub fn process(&self, name: &str) -> Option<&ProcessTruth> {
        self.processes.iter().find(|process| process.name.as_deref() == Some(name))
    }
}

pub(crate) fn truth(scenario: &Scenario) -> Truth {
    let mut order: Vec<&Record> = scenario.records.iter().collect();
    order.sort_by_key(|record| (record.ticks, record.cpu));
    let mut builder = Builder::new(scenario, &order);
    scheduling::account(&mut builder, &order);
    samples::account(&mut builder, &order);
    builder.truth
}

/// What the two halves of the computation share.
struct Builder<'a> {
    scenario: &'a Scenario,
    truth: Truth,
    /// Index into [`Truth::threads`] for each thread of the machine of which the recording knows.
    threads: Vec<Option<usize>>,
    names: HashMap<MethodName, usize>,
    stacks: HashMap<(Option<StackId>, Option<StackId>), usize>,
}

impl<'a> Builder<'a> {
    fn new(scenario: &'a Scenario, order: &[&Record]) -> Self {
        let mut builder = Self {
            scenario,
            truth: Truth::default(),
            threads: vec![None; scenario.machine.threads.len()],
            names: HashMap::new(),
            stacks: HashMap::new(),
        };
        let seen = builder.seen_threads(order);
        builder.truth.end = builder.recording_end(order);
        builder.add_processes();
        builder.add_threads(&seen);
        builder
    }

    fn ns(&self, ticks: i64) -> i64 {
        self.scenario.machine.ns(ticks)
    }

    fn recording_end(&self, order: &[&Record]) -> i64 {
        let machine = &self.scenario.machine;
        let header = (machine.filetime(self.scenario.recording.end_ticks) - machine.start_filetime) * 100;
        let last = order.iter().rev().find(|record| {
            matches!(record.event, Event::Switch(_) | Event::Ready(_) | Event::Sample(_) | Event::CounterSample(_))
        });
        last.map_or(header, |record| header.max(self.ns(record.ticks)))
    }

    /// Threads that some record shows: by its life's records, or by running.
    fn seen_threads(&self, order: &[&Record]) -> Vec<bool> {
        let machine = &self.scenario.machine;
        let listed = self.scenario.recording.rundown;
        let mut seen: Vec<bool> = machine
            .threads
            .iter()
            .map(|thread| match listed {
                Rundown::Full => thread.start.is_none() || thread.end.is_none(),
                Rundown::Late => thread.end.is_none(),
                Rundown::Missing => false,
            })
            .collect();
        for record in order {
            match &record.event {
                Event::ThreadStart { thread, .. } | Event::ThreadEnd { thread } | Event::Mark { thread, .. } => {
                    seen[*thread] = true;
                }
                Event::Switch(switch) => {
                    seen[switch.old] = true;
                    seen[switch.new] = true;
                }
                Event::Sample(sample) => seen[sample.thread] = true,
                Event::CounterSample(sample) => seen[sample.thread] = true,
                _ => {}
            }
        }
        seen
    }

    fn add_processes(&mut self) {
        let machine = &self.scenario.machine;
        let rundown = self.scenario.recording.rundown;
        for (index, process) in machine.processes.iter().enumerate() {
            // Start and end records name a process as well as rundown does.
            let named = rundown != Rundown::Missing || process.start.is_some() || process.end.is_some();
            self.truth.processes.push(ProcessTruth {
                kind: if index == 0 { ProcessKind::Idle } else { ProcessKind::Instance },
                pid: process.pid,
                name: named.then(|| process.name.clone()),
                start: process.start.map(|ticks| machine.ns(ticks)),
                end: process.end.map(|ticks| machine.ns(ticks)),
                exit_code: process.end.map(|_| process.exit_code),
                samples: 0,
                samples_without_stack: 0,
                cpu: 0,
                methods: BTreeMap::new(),
            });
        }
        let interrupts = ProcessTruth {
            kind: ProcessKind::Interrupts,
            pid: 0,
            name: Some("DPC/ISR".to_owned()),
            start: None,
            end: None,
            exit_code: None,
            samples: 0,
            samples_without_stack: 0,
            cpu: 0,
            methods: BTreeMap::new(),
        };
        self.truth.processes.push(interrupts);
    }

    fn add_threads(&mut self, seen: &[bool]) {
        let machine = &self.scenario.machine;
        for (index, thread) in machine.threads.iter().enumerate().filter(|(index, _)| seen[*index]) {
            self.threads[index] = Some(self.truth.threads.len());
            let start = thread.start.map(|ticks| machine.ns(ticks));
            let end = thread.end.map(|ticks| machine.ns(ticks));
            self.truth.threads.push(ThreadTruth {
                process: thread.process,
                tid: thread.tid,
                idle_cpu: (index < usize::from(machine.cpus)).then_some(index as u16),
                start,
                end,
                life: (start.unwrap_or(0), end.unwrap_or(self.truth.end)),
                run: 0,
                wait: 0,
                ready: 0,
                open: 0,
                unknown: 0,
                switches: 0,
                closing: None,
            });
        }
    }

    /// Index of a machine's thread among the truth's threads. Threads in records are all seen.
    fn thread(&self, thread: usize) -> usize {
        self.threads[thread].unwrap_or(usize::MAX)
    }

    fn name(&mut self, function: crate::Function) -> usize {
        let name = self.scenario.machine.name_of(function);
        if let Some(index) = self.names.get(&name) {
            return *index;
        }
        let index = self.truth.names.len();
        self.truth.names.push(name.clone());
        self.names.insert(name, index);
        index
    }

    fn stack(&mut self, walk: Option<Walk>) -> Option<usize> {
        let walk = walk.filter(|walk| walk.kernel.is_some() || walk.user.is_some())?;
        let key = (walk.kernel, walk.user);
        if let Some(index) = self.stacks.get(&key) {
            return Some(*index);
        }
        let machine = &self.scenario.machine;
        let halves = [walk.kernel, walk.user].into_iter().flatten();
        let functions: Vec<crate::Function> = halves.flat_map(|half| machine.stack(half).iter().copied()).collect();
        let names = functions.into_iter().map(|function| self.name(function)).collect();
        self.truth.stacks.push(names);
        self.stacks.insert(key, self.truth.stacks.len() - 1);
        Some(self.truth.stacks.len() - 1)
    }
}
