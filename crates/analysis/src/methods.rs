//! CPU, wait and ready time per process and method.
//!
//! What makes it fast: everything that all methods of a stack share (sums, counts, the longest, first and last, threads)
//! is added up once per (process, stack) and handed out to the methods at the end. Unions cannot be handed out, but
//! methods that have occurred in the same stacks only have the same unions, and share one: per switch there are
//! as many updates as the stack has such groups, not as it has frames, and no hashing per frame.
//!
//! Rows are added process by process, a few thousand at a time, so that they meet what they update in the processor's cache.
//!
//! What keeps it small: a slot per (process, method), and a cache of stacks with a byte budget. When that is full,
//! its sums are handed out and it starts again; the figures do not depend on it.

use crate::RecordingFacts;
use crate::accounting::ThreadLife;
use crate::method_total::{MethodCount, MethodTotal};
use crate::names::MethodId;
use crate::row_contributions::{AttributedSample, AttributedSwitch, RowContributions};
use crate::sample_sums::SampleSum;
use crate::spans::Span;
use crate::stack_aggregator::StackAggregator;
use crate::stacks::MethodSource;
use crate::top_methods;

/// The result of a [`MethodAggregator`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodTotals<I = MethodId> {
    /// By process and method number.
    pub methods: Vec<MethodTotal<I>>,
    /// How many methods each process has, and how many of them are listed; by process.
    pub counts: Vec<MethodCount>,
    /// Switch rows that were not used because they were out of order, overlapped a later row of their thread, or belong
    /// to a thread that is not in the thread table: 0 unless the archive is damaged.
    pub contradictions: u64,
}

/// Adds up samples and switches per process and method.
///
/// Samples may come in any order, before, after or between the switches. Switch rows must come newest first, in
/// descending order of the table.
#[derive(Debug)]
pub struct MethodAggregator<S: MethodSource> {
    rows: RowContributions,
    stacks: StackAggregator<S>,
}

impl<S: MethodSource> MethodAggregator<S> {
    /// An aggregator over `range` ([`Span::ALL`] for everything). `threads` tells the process of each thread that
    /// switches.
    #[must_use]
    pub fn new(
        recording: &RecordingFacts,
        range: Span,
        threads: impl IntoIterator<Item = impl Into<ThreadLife>>,
        source: S,
    ) -> Self {
        let rows = RowContributions::new(recording, range, threads);
        let stacks = StackAggregator::new(&rows, source);
        Self { rows, stacks }
    }

    /// Lets the cache of stacks take about this many bytes.
    #[must_use]
    pub fn with_cache_bytes(mut self, bytes: usize) -> Self {
        self.stacks = self.stacks.with_cache_bytes(bytes);
        self
    }

    /// Takes a sample.
    pub fn sample(&mut self, row: impl Into<AttributedSample>) {
        self.rows.sample(&row.into()).into_iter().for_each(|contribution| self.stacks.add(contribution));
    }

    /// Takes samples that were added up, all of them inside the range.
    pub fn samples(&mut self, sum: &SampleSum) {
        self.stacks.add(self.rows.samples(sum));
    }

    /// Takes a switch row; rows come newest first.
    pub fn switch(&mut self, row: impl Into<AttributedSwitch>) {
        self.rows.switch(&row.into()).into_iter().for_each(|contribution| self.stacks.add(contribution));
    }

    /// Closes the totals of all methods.
    #[must_use]
    pub fn finish(self) -> MethodTotals<S::Item> {
        let contradictions = self.rows.contradictions();
        let (slots, _) = self.stacks.finish(self.rows.into_processes());
        let order = slots.in_order();
        let counts = top_methods::count(&order, |slot| slots.process_of(slot));
        MethodTotals { methods: order.iter().map(|&slot| slots.total(slot)).collect(), counts, contradictions }
    }
}
