//! The archive's summary tables in one pass over samples and switches.

use rustc_hash::FxHashMap;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, MethodSummaryRow, ProcessSummaryRow, ThreadRow};

use crate::Recording;
use crate::accounting::{Accounting, ThreadAccount};
use crate::methods::{MethodAggregator, MethodTotal};
use crate::names::{MethodId, MethodName};
use crate::processes::ProcessTotals;
use crate::spans::Span;
use crate::stacks::MethodSource;

/// Methods kept in `method_summary` per process and measure.
pub const METHODS_PER_PROCESS: usize = 200;

/// Computes `process_summary` and `method_summary` while rows stream by.
///
/// Samples may come in any order. Switch rows must come newest first: see the crate's description for the reason.
#[derive(Debug)]
pub struct Summaries<S> {
    recording: Recording,
    accounting: Accounting,
    processes: ProcessTotals,
    methods: MethodAggregator<S>,
}

/// The summary tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Table `process_summary`, by process.
    pub processes: Vec<ProcessSummaryRow>,
    /// Table `method_summary`, by process, in it the largest inclusive CPU first, then wait, then the name.
    pub methods: Vec<MethodSummaryRow>,
    /// The account of each thread.
    pub threads: Vec<ThreadAccount>,
    /// Rows that contradict each other or the thread table; worth a line in the health table when not 0.
    pub contradictions: u64,
}

impl<S: MethodSource> Summaries<S> {
    /// Summaries over `range` ([`Span::ALL`] for the whole recording).
    #[must_use]
    pub fn new(recording: Recording, range: Span, threads: &[ThreadRow], source: S) -> Self {
        Self {
            recording,
            accounting: Accounting::new(&recording, range, threads),
            processes: ProcessTotals::new(range),
            methods: MethodAggregator::new(&recording, range, threads, source),
        }
    }

    /// Takes a sample.
    pub fn sample(&mut self, row: &CpuSampleRow) {
        self.processes.sample(row);
        self.methods.sample(row);
    }

    /// Takes a switch row; rows come newest first.
    pub fn switch(&mut self, row: &ContextSwitchRow) {
        self.accounting.switch(row, &mut |_| {});
        self.methods.switch(row);
    }

    /// Closes the summaries. `processes` are those that get a row even when nothing was seen of them; per process the
    /// `methods_per_process` largest methods of each measure are kept; `name` tells a method's name.
    #[must_use]
    pub fn finish(
        self,
        processes: impl IntoIterator<Item = ProcessId>,
        methods_per_process: usize,
        mut name: impl FnMut(MethodId) -> MethodName,
    ) -> Summary {
        let accounts = self.accounting.finish(&mut |_| {});
        let mut rows = self.processes.finish(&self.recording, processes, &accounts.threads);
        let totals = self.methods.finish_largest(methods_per_process, &mut name);
        let by_process: FxHashMap<ProcessId, _> = totals.counts.iter().map(|count| (count.process, count)).collect();
        for row in &mut rows {
            if let Some(count) = by_process.get(&row.process) {
                row.methods = i64::try_from(count.methods).unwrap_or(i64::MAX);
                row.methods_kept = i64::try_from(count.kept).unwrap_or(i64::MAX);
            }
        }
        let mut methods = totals
            .methods
            .iter()
            .map(|total| method_row(total, &self.recording, name(total.method)))
            .collect::<Vec<_>>();
        methods.sort_by(|a: &MethodSummaryRow, b| {
            let size = |row: &MethodSummaryRow| (row.cpu, row.wait);
            let by_name = || (&a.module, &a.function).cmp(&(&b.module, &b.function));
            a.process.cmp(&b.process).then_with(|| size(b).cmp(&size(a))).then_with(by_name)
        });
        Summary {
            processes: rows,
            methods,
            threads: accounts.threads,
            contradictions: accounts.contradictions.max(totals.contradictions),
        }
    }
}

fn method_row(total: &MethodTotal, recording: &Recording, name: MethodName) -> MethodSummaryRow {
    let switches = |value: i64| recording.has_switches.then_some(value);
    let ready = |value: i64| (recording.has_ready || total.ready.count > 0).then_some(value).and_then(switches);
    MethodSummaryRow {
        process: total.process,
        module: name.module,
        function: name.function,
        samples: total.samples,
        cpu: total.cpu,
        exclusive_cpu: total.exclusive_cpu,
        wait: switches(total.wait.union),
        wait_sum: switches(total.wait.sum),
        wait_count: switches(total.wait.count),
        wait_longest: switches(total.wait.longest),
        ready: ready(total.ready.union),
        ready_sum: ready(total.ready.sum),
        ready_count: ready(total.ready.count),
        ready_longest: ready(total.ready.longest),
        switches: switches(total.switches),
        // More threads than that do not fit into the thread table.
        threads: i32::try_from(total.threads).unwrap_or(i32::MAX),
        first: total.first,
        last: total.last,
    }
}
