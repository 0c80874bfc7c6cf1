//! The archive's summary tables in one pass over samples and switches.

use rustc_hash::FxHashMap;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ProcessSummaryRow, ThreadRow};

use crate::Recording;
use crate::accounting::{Accounting, ThreadAccount};
use crate::largest::LargestMethods;
use crate::methods::MethodAggregator;
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
#[derive(Debug)]
pub struct Summary {
    /// Table `process_summary`, by process.
    pub processes: Vec<ProcessSummaryRow>,
    /// Table `method_summary`.
    pub methods: LargestMethods,
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
    /// `methods_per_process` largest methods of each measure are kept; `name` tells a
    /// method's name, and is asked once for each.
    #[must_use]
    pub fn finish(
        self,
        processes: impl IntoIterator<Item = ProcessId>,
        methods_per_process: usize,
        name: impl FnMut(MethodId) -> MethodName,
    ) -> Summary {
        let accounts = self.accounting.finish(&mut |_| {});
        let mut rows = self.processes.finish(&self.recording, processes, &accounts.threads);
        let (slots, contradictions) = self.methods.into_slots();
        let (methods, counts) = LargestMethods::of(slots, self.recording, methods_per_process, name);
        let by_process: FxHashMap<ProcessId, _> = counts.iter().map(|count| (count.process, count)).collect();
        for row in &mut rows {
            if let Some(count) = by_process.get(&row.process) {
                row.methods = i64::try_from(count.methods).unwrap_or(i64::MAX);
                row.methods_kept = i64::try_from(count.kept).unwrap_or(i64::MAX);
            }
        }
        Summary {
            processes: rows,
            methods,
            threads: accounts.threads,
            contradictions: accounts.contradictions.max(contradictions),
        }
    }
}
