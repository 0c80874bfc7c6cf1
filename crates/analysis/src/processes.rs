//! The figures of each process: samples, and the accounts of its threads added up.

use std::collections::BTreeMap;

use tracesift_trace::ProcessId;
use tracesift_trace::rows::{CpuSampleRow, Origin, ProcessSummaryRow};
use tracesift_trace::view;

use crate::RecordingFacts;
use crate::accounting::ThreadAccount;
use crate::cpus::CpuSet;
use crate::spans::Span;

/// Whether a process of this id and origin is the idle loop.
#[must_use]
pub fn is_idle(pid: i64, origin: Origin) -> bool {
    pid == 0 && origin != Origin::Pseudo
}

/// Adds up samples per process.
#[derive(Clone, Debug)]
pub struct ProcessTotals {
    range: Span,
    processes: BTreeMap<ProcessId, Samples>,
}

#[derive(Clone, Debug, Default)]
struct Samples {
    samples: i64,
    without_stack: i64,
    cpu: i64,
    cpus: CpuSet,
    priority_sum: i64,
    prioritized: i64,
    seen: Seen,
}

#[derive(Clone, Debug, Default)]
struct Threads {
    run: i64,
    wait: i64,
    ready: Option<i64>,
    open: i64,
    unknown: i64,
    switches: i64,
    cpus: CpuSet,
    priority_time: i128,
    prioritized: i64,
    seen: Seen,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    first: Option<i64>,
    last: Option<i64>,
}

view! {
    /// The columns of a sample that the totals of its process need.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SampleOfProcess of CpuSampleRow { time, cpu, process, weight, stack, priority }
}

impl ProcessTotals {
    /// Totals over `range` ([`Span::ALL`] for everything).
    #[must_use]
    pub fn new(range: Span) -> Self {
        Self { range, processes: BTreeMap::new() }
    }

    /// Takes a sample, in any order.
    pub fn sample(&mut self, row: impl Into<SampleOfProcess>) {
        let row = row.into();
        if !self.range.contains(row.time) {
            return;
        }
        let samples = self.processes.entry(row.process).or_default();
        samples.samples += 1;
        samples.without_stack += i64::from(row.stack.is_none());
        samples.cpu = samples.cpu.saturating_add(row.weight);
        samples.cpus.insert(row.cpu);
        if let Some(priority) = row.priority {
            samples.priority_sum += i64::from(priority);
            samples.prioritized += 1;
        }
        samples.seen.add(Some(row.time), Some(row.time));
    }

    /// One row for each of `processes` and for each process that was sampled or has threads, by process. The counts of
    /// methods are left at 0.
    #[must_use]
    pub fn finish(
        mut self,
        recording: &RecordingFacts,
        processes: impl IntoIterator<Item = ProcessId>,
        accounts: &[ThreadAccount],
    ) -> Vec<ProcessSummaryRow> {
        for process in processes {
            self.processes.entry(process).or_default();
        }
        let mut by_process: Vec<&ThreadAccount> = accounts.iter().collect();
        by_process.sort_by_key(|account| account.process);
        for account in &by_process {
            self.processes.entry(account.process).or_default();
        }
        let mut rest = by_process.into_iter().peekable();
        let row = |(process, samples): (ProcessId, Samples)| {
            let mut threads = Threads::default();
            while let Some(account) = rest.next_if(|account| account.process == process) {
                threads.add(account);
            }
            samples.into_row(process, recording, threads)
        };
        self.processes.into_iter().map(row).collect()
    }
}

impl Samples {
    fn into_row(self, process: ProcessId, recording: &RecordingFacts, threads: Threads) -> ProcessSummaryRow {
        let switches = |value: i64| recording.has_switches.then_some(value);
        let mut seen = self.seen;
        seen.add(threads.seen.first, threads.seen.last);
        let cpus = if threads.cpus.is_empty() { &self.cpus } else { &threads.cpus };
        let sampled = (self.prioritized > 0).then(|| self.priority_sum as f64 / self.prioritized as f64);
        let ran = (threads.prioritized > 0).then(|| threads.priority_time as f64 / threads.prioritized as f64);
        ProcessSummaryRow {
            process,
            samples: self.samples,
            samples_without_stack: self.without_stack,
            cpu: self.cpu,
            run: switches(threads.run),
            wait: switches(threads.wait),
            ready: threads.ready.or(recording.has_ready.then_some(0)).and_then(switches),
            open: switches(threads.open),
            unknown: switches(threads.unknown),
            switches: switches(threads.switches),
            // A set of 15-bit numbers.
            cores_used: i32::try_from(cpus.count()).unwrap_or(i32::MAX),
            priority: sampled.or(ran),
            first: seen.first,
            last: seen.last,
            methods: 0,
            methods_kept: 0,
        }
    }
}

impl Threads {
    fn add(&mut self, account: &ThreadAccount) {
        self.run = self.run.saturating_add(account.run);
        self.wait = self.wait.saturating_add(account.wait);
        if let Some(ready) = account.ready {
            self.ready = Some(self.ready.unwrap_or(0).saturating_add(ready));
        }
        self.open = self.open.saturating_add(account.open);
        self.unknown = self.unknown.saturating_add(account.unknown);
        self.switches += account.switches;
        self.cpus.union_with(&account.cpus);
        self.priority_time += account.priority_time;
        self.prioritized = self.prioritized.saturating_add(account.prioritized);
        self.seen.add(account.first, account.last);
    }
}

impl Seen {
    fn add(&mut self, first: Option<i64>, last: Option<i64>) {
        // `None` is less than any time: right for the later one, but not for the earlier one.
        self.first = [self.first, first].into_iter().flatten().min();
        self.last = self.last.max(last);
    }
}
