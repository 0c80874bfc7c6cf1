//! The archive's summary tables in one pass over samples and switches.

use rustc_hash::FxHashMap;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ProcessSummaryRow, ThreadRow};

use crate::Recording;
use crate::accounting::{Accounting, ThreadAccount};
use crate::charger::Charger;
use crate::charges::Charge;
use crate::largest::LargestMethods;
use crate::names::{MethodId, MethodName};
use crate::processes::ProcessTotals;
use crate::settler::Settler;
use crate::spans::Span;
use crate::stacks::MethodSource;
use crate::tags::{TagSource, TagSummaries};

/// Methods kept in `method_summary` per process and measure.
pub const METHODS_PER_PROCESS: usize = 200;

/// Computes `process_summary` and `method_summary` while rows stream by.
///
/// Samples may come in any order. Switch rows must come newest first: see the crate's description for the reason.
///
/// The work has two halves that need nothing of each other but [`Charge`]s, so that two threads can share it.
#[derive(Debug)]
pub struct Summaries<S> {
    recording: Recording,
    rows: RowSummaries,
    stacks: StackSummaries<S>,
}

/// What is known of a row without its stack: where its thread's time went, and what its methods are charged with.
#[derive(Debug)]
pub struct RowSummaries {
    accounting: Accounting,
    processes: ProcessTotals,
    charger: Charger,
}

/// What the methods of the stacks are charged with.
///
/// The tags of the stacks have another one of these, which takes the same charges: [`crate::tags::TagSummaries`].
#[derive(Debug)]
pub struct StackSummaries<S> {
    settler: Settler<S>,
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

impl RowSummaries {
    /// Takes a sample. What it gives is for [`StackSummaries::charge`].
    #[must_use]
    pub fn sample(&mut self, row: &CpuSampleRow) -> Option<Charge> {
        self.processes.sample(row);
        self.charger.sample(row)
    }

    /// Takes a switch row; rows come newest first. What it gives is for [`StackSummaries::charge`].
    #[must_use]
    pub fn switch(&mut self, row: &ContextSwitchRow) -> Option<Charge> {
        self.accounting.switch(row, &mut |_| {});
        self.charger.switch(row)
    }
}

impl<S: MethodSource> StackSummaries<S> {
    /// Takes a charge; they come in the order of their rows.
    pub fn charge(&mut self, charge: Charge) {
        self.settler.charge(charge);
    }
}

impl<S: MethodSource> Summaries<S> {
    /// Summaries over `range` ([`Span::ALL`] for the whole recording).
    #[must_use]
    pub fn new(recording: Recording, range: Span, threads: &[ThreadRow], source: S) -> Self {
        let charger = Charger::new(&recording, range, threads);
        let settler = Settler::new(&charger, source);
        let accounting = Accounting::new(&recording, range, threads);
        Self {
            recording,
            rows: RowSummaries { accounting, processes: ProcessTotals::new(range), charger },
            stacks: StackSummaries { settler },
        }
    }

    /// Takes a sample.
    pub fn sample(&mut self, row: &CpuSampleRow) {
        self.rows.sample(row).into_iter().for_each(|charge| self.stacks.charge(charge));
    }

    /// Takes a switch row; rows come newest first.
    pub fn switch(&mut self, row: &ContextSwitchRow) {
        self.rows.switch(row).into_iter().for_each(|charge| self.stacks.charge(charge));
    }

    /// Sums per stack tag, which take the charges that the stacks take.
    #[must_use]
    pub fn tags<'a, T: MethodSource>(&self, source: TagSource<'a, T>) -> TagSummaries<'a, T> {
        TagSummaries::new(self.recording, Settler::new(&self.rows.charger, source))
    }

    /// The processes behind the numbers in charges.
    pub(crate) fn charged_processes(&self) -> Vec<ProcessId> {
        self.rows.charger.processes().to_vec()
    }

    /// Both halves, for two threads.
    pub fn halves(&mut self) -> (&mut RowSummaries, &mut StackSummaries<S>) {
        (&mut self.rows, &mut self.stacks)
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
        let RowSummaries { accounting, processes: totals, charger } = self.rows;
        let accounts = accounting.finish(&mut |_| {});
        let mut rows = totals.finish(&self.recording, processes, &accounts.threads);
        let contradictions = charger.contradictions();
        let (slots, _) = self.stacks.settler.finish(charger.into_processes());
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
