//! The archive's summary tables in one pass over samples and switches.

use std::panic::resume_unwind;
use std::thread;

use rustc_hash::FxHashMap;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ProcessSummaryRow};
use tracesift_trace::view;

use crate::RecordingFacts;
use crate::accounting::{Accounting, ThreadAccount, ThreadLifetime};
use crate::contribution::{Contribution, ContributionsByProcess};
use crate::largest::LargestMethods;
use crate::names::{MethodId, MethodName};
use crate::processes::ProcessTotals;
use crate::row_contributions::RowContributions;
use crate::spans::Span;
use crate::stack_aggregator::DEFAULT_CACHE_BYTES;
use crate::stack_aggregator::StackAggregator;
use crate::stacks::MethodSource;
use crate::tags::{TagSource, TagSummaries};

/// Methods kept in `method_summary` per process and measure.
pub const METHODS_PER_PROCESS: usize = 200;

/// Computes `process_summary` and `method_summary` while rows stream by.
///
/// Samples may come in any order. Switch rows must come newest first: see the crate's description for the reason.
///
/// The work has two halves. The first half makes [`Contribution`]s from rows, and the second half
/// adds them to methods. The second half has parts with processes of their own, so that several
/// threads share it.
#[derive(Debug)]
pub struct Summaries<S: MethodSource> {
    recording: RecordingFacts,
    bounds: Bounds,
    rows: RowSummaries,
    /// Those of the processes whose [`Contribution::part`] is the index.
    stacks: Vec<StackSummaries<S>>,
}

/// Bytes that summaries may take, methods and tags each.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Limit of the sums. Contributions beyond it are dropped: [`StackSummaries::is_full`].
    pub sums: usize,
    /// Limit of the cache of stacks. A smaller cache gives the same sums and takes longer.
    pub cache: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { sums: usize::MAX, cache: DEFAULT_CACHE_BYTES }
    }
}

/// The part of the summaries that needs no stack: the time of threads, and the contributions of
/// rows.
#[derive(Debug)]
pub struct RowSummaries {
    accounting: Accounting,
    processes: ProcessTotals,
    contributions: RowContributions,
}

/// The part of the summaries that needs stacks: the sums of methods.
///
/// [`crate::tags::TagSummaries`] does the same for stack tags, from the same contributions.
#[derive(Debug)]
pub struct StackSummaries<S: MethodSource> {
    aggregator: StackAggregator<S>,
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

/// The result of [`RowSummaries`].
#[derive(Debug)]
pub struct RowTotals {
    /// Table `process_summary`, by process, without its counts of methods.
    pub processes: Vec<ProcessSummaryRow>,
    /// The account of each thread.
    pub threads: Vec<ThreadAccount>,
    /// As [`Summary::contradictions`].
    pub contradictions: u64,
}

view! {
    /// The columns of a sample that the summaries need.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SummarySample of CpuSampleRow { time, cpu, process, thread, weight, stack, frame, priority }
}

view! {
    /// The columns of a switch row that the summaries need.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SummarySwitch of ContextSwitchRow {
        time, cpu, thread, prev_thread, off_time, ready_time, wait_stack, priority, off_priority, flags,
    }
}

impl RowSummaries {
    /// Totals over `range` ([`Span::ALL`] for the whole recording) without the methods of the stacks.
    #[must_use]
    pub fn new(recording: &RecordingFacts, range: Span, threads: &[ThreadLifetime]) -> Self {
        Self {
            accounting: Accounting::new(recording, range, threads),
            processes: ProcessTotals::new(range),
            contributions: RowContributions::new(recording, range, threads),
        }
    }

    /// Closes the totals. `processes` are those that get a row even when nothing was seen of them.
    #[must_use]
    pub fn finish(self, recording: &RecordingFacts, processes: impl IntoIterator<Item = ProcessId>) -> RowTotals {
        let accounts = self.accounting.finish(&mut |_| {});
        let rows = self.processes.finish(recording, processes, &accounts.threads);
        let contradictions = accounts.contradictions.max(self.contributions.contradictions());
        RowTotals { processes: rows, threads: accounts.threads, contradictions }
    }

    /// Takes a sample. What it gives is for [`StackSummaries::add_all`].
    #[must_use]
    pub fn sample(&mut self, row: &SummarySample) -> Option<Contribution> {
        self.processes.sample(row);
        self.contributions.sample(row.process, &row.into())
    }

    /// Takes a switch row; rows come newest first. What it gives is for [`StackSummaries::add_all`].
    #[must_use]
    pub fn switch(&mut self, row: &SummarySwitch) -> Option<Contribution> {
        self.accounting.switch(row, &mut |_| {});
        self.contributions.switch(&row.into())
    }
}

impl<S: MethodSource> StackSummaries<S> {
    /// Takes contributions; those before come from the rows before.
    pub fn add_all(&mut self, contributions: ContributionsByProcess<'_>) {
        self.aggregator.add_all(contributions);
    }

    /// Bytes of what was added up so far, without the cache.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.aggregator.bytes()
    }

    /// Whether contributions were passed over because there was no room for more sums.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.aggregator.is_full()
    }
}

impl<S: MethodSource<Item = MethodId> + Send> Summaries<S> {
    /// Summaries over `range` ([`Span::ALL`] for the whole recording).
    #[must_use]
    pub fn new(
        recording: RecordingFacts,
        range: Span,
        threads: impl IntoIterator<Item = impl Into<ThreadLifetime>>,
        source: S,
    ) -> Self {
        Self::in_parts(recording, range, threads, vec![source], Bounds::default())
    }

    /// The same in as many parts as there are sources, all of them alike.
    #[must_use]
    pub fn in_parts(
        recording: RecordingFacts,
        range: Span,
        threads: impl IntoIterator<Item = impl Into<ThreadLifetime>>,
        sources: Vec<S>,
        bounds: Bounds,
    ) -> Self {
        let threads: Vec<ThreadLifetime> = threads.into_iter().map(Into::into).collect();
        let rows = RowSummaries::new(&recording, range, &threads);
        let parts = sources.len();
        let part = |source| StackSummaries { aggregator: aggregator(&rows.contributions, source, parts, bounds) };
        let stacks = sources.into_iter().map(part).collect();
        Self { recording, bounds, rows, stacks }
    }

    /// Takes a sample.
    pub fn sample(&mut self, row: impl Into<SummarySample>) {
        let contribution = self.rows.sample(&row.into());
        self.add(contribution);
    }

    /// Takes a switch row; rows come newest first.
    pub fn switch(&mut self, row: impl Into<SummarySwitch>) {
        let contribution = self.rows.switch(&row.into());
        self.add(contribution);
    }

    fn add(&mut self, contribution: Option<Contribution>) {
        let parts = self.stacks.len();
        if let Some((contribution, stacks)) =
            contribution.and_then(|contribution| Some((contribution, self.stacks.get_mut(contribution.part(parts))?)))
        {
            stacks.aggregator.add(contribution);
        }
    }

    /// Sums per stack tag, which take the contributions that a part of the stacks takes.
    #[must_use]
    pub fn tags<'a, T: MethodSource<Item = MethodId>>(&self, source: TagSource<'a, T>) -> TagSummaries<'a, T> {
        TagSummaries::new(self.recording, aggregator(&self.rows.contributions, source, self.stacks.len(), self.bounds))
    }

    /// The processes behind the numbers in contributions, for [`TagSummaries::finish`].
    #[must_use]
    pub fn processes(&self) -> Vec<ProcessId> {
        self.rows.contributions.processes().to_vec()
    }

    /// As [`StackSummaries::bytes`], of all parts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.stacks.iter().map(StackSummaries::bytes).sum()
    }

    /// Both halves, for threads: each of the parts takes the contributions whose [`Contribution::part`] is its index.
    pub fn halves(&mut self) -> (&mut RowSummaries, &mut [StackSummaries<S>]) {
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
        let charged = self.processes();
        let RowTotals { processes: mut rows, threads, contradictions } = self.rows.finish(&self.recording, processes);
        let finish = |stacks: StackSummaries<S>| stacks.aggregator.finish(charged.clone()).0;
        let parts = thread::scope(|scope| {
            let finishing: Vec<_> = self.stacks.into_iter().map(|stacks| scope.spawn(|| finish(stacks))).collect();
            let slots =
                |part: thread::ScopedJoinHandle<'_, _>| part.join().unwrap_or_else(|panic| resume_unwind(panic));
            finishing.into_iter().map(slots).collect()
        });
        let (methods, counts) = LargestMethods::of(parts, self.recording, methods_per_process, name);
        let by_process: FxHashMap<ProcessId, _> = counts.iter().map(|count| (count.owner, count)).collect();
        for row in &mut rows {
            if let Some(count) = by_process.get(&row.process) {
                row.methods = i64::try_from(count.methods).unwrap_or(i64::MAX);
                row.methods_kept = i64::try_from(count.kept).unwrap_or(i64::MAX);
            }
        }
        Summary { processes: rows, methods, threads, contradictions }
    }
}

/// Adds up for one of so many parts, which share the memory.
fn aggregator<S: MethodSource>(
    contributions: &RowContributions,
    source: S,
    parts: usize,
    bounds: Bounds,
) -> StackAggregator<S> {
    let parts = parts.max(1);
    StackAggregator::new(contributions, source)
        .with_cache_bytes(bounds.cache / parts)
        .with_sum_bytes(bounds.sums / parts)
}
