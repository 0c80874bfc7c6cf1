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

use tracesift_trace::{ProcessId, ThreadId};

use crate::RecordingFacts;
use crate::accounting::ThreadLifetime;
use crate::attribution::Attribution;
use crate::method_total::{MethodCount, MethodTotal};
use crate::names::MethodId;
use crate::owner::Owner;
use crate::parts_by_end::PartsByEnd;
use crate::process_number::ProcessNumber;
use crate::row_contributions::{AttributedSample, AttributedSwitch, ChargedSample, RowContributions};
use crate::sample_total::SampleTotal;
use crate::spans::Span;
use crate::stack_aggregator::StackAggregator;
use crate::stacks::MethodSource;
use crate::times::TimesOfThreads;
use crate::top_methods;

/// The result of a [`MethodAggregator`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodTotals<I = MethodId, O = ProcessId> {
    /// By owner and method number.
    pub methods: Vec<MethodTotal<I, O>>,
    /// How many methods each owner has, and how many of them are listed; by owner.
    pub counts: Vec<MethodCount<O>>,
    /// Switch rows that were not used because they were out of order, overlapped a later row of their thread, or belong
    /// to a thread that is not in the thread table: 0 unless the archive is damaged.
    pub contradictions: u64,
}

/// Adds up samples and switches per process and method. A question that tells more apart than processes has [owners](Owner) of its own.
///
/// Samples may come in any order, before, after or between the switches. Switch rows must come newest first, in
/// descending order of the table.
#[derive(Debug)]
pub struct MethodAggregator<S: MethodSource, O = ProcessId> {
    rows: RowContributions<O>,
    /// The times that count; `None`: all of the range.
    inside: Option<PartsByEnd<(ProcessNumber, AttributedSwitch)>>,
    stacks: StackAggregator<S>,
}

impl<S: MethodSource> MethodAggregator<S> {
    /// An aggregator over `range` ([`Span::ALL`] for everything). `threads` tells the process of each thread that
    /// switches.
    #[must_use]
    pub fn new(
        recording: &RecordingFacts,
        range: Span,
        threads: impl IntoIterator<Item = impl Into<ThreadLifetime>>,
        source: S,
    ) -> Self {
        Self::of_rows(RowContributions::new(recording, range, threads), source)
    }

    /// Takes a sample.
    pub fn sample(&mut self, row: impl Into<AttributedSample>) {
        let row = row.into();
        self.sample_of(row.process, &row);
    }
}

impl<S: MethodSource, O: Owner> MethodAggregator<S, O> {
    /// As [`Self::new`]. `threads` tells whose each thread is that switches.
    #[must_use]
    pub fn of_owners(
        recording: &RecordingFacts,
        range: Span,
        threads: impl IntoIterator<Item = (ThreadId, O)>,
        source: S,
    ) -> Self {
        Self::of_rows(RowContributions::of_owners(recording, range, threads), source)
    }

    fn of_rows(rows: RowContributions<O>, source: S) -> Self {
        let stacks = StackAggregator::new(&rows, source);
        Self { rows, inside: None, stacks }
    }

    /// Counts nothing of switches but what lies in these times, which lie in the range. What they cut apart counts once for each part.
    /// Which samples count is up to who gives them.
    #[must_use]
    pub fn inside(self, times: TimesOfThreads) -> Self {
        Self { inside: Some(PartsByEnd::new(times)), ..self }
    }

    /// Lets the cache of stacks take about this many bytes.
    #[must_use]
    pub fn with_cache_bytes(mut self, bytes: usize) -> Self {
        self.stacks = self.stacks.with_cache_bytes(bytes);
        self
    }

    /// Takes a sample of an owner.
    pub fn sample_of(&mut self, owner: O, row: impl Into<ChargedSample>) {
        self.rows.sample(owner, &row.into()).into_iter().for_each(|contribution| self.stacks.add(contribution));
    }

    /// Takes samples of an owner and a place that were added up, all of them inside the range.
    pub fn samples_of(&mut self, owner: O, attribution: Attribution, total: &SampleTotal) {
        self.stacks.add_samples(self.rows.process(owner), attribution, total);
    }

    /// Takes a switch row; rows come newest first.
    pub fn switch(&mut self, row: impl Into<AttributedSwitch>) {
        let (row, Self { rows, inside, stacks }) = (row.into(), self);
        match inside {
            None => rows.switch(&row).into_iter().for_each(|contribution| stacks.add(contribution)),
            Some(inside) => {
                if let Some(process) = rows.accept(&row) {
                    let span = (row.off_time.min(row.time), row.time);
                    inside.row(row.thread, span, (process, row), &mut |(process, row), time, end| {
                        rows.part((*process, row), time, end).into_iter().for_each(|part| stacks.add(part));
                    });
                }
            }
        }
    }

    /// Closes the totals of all methods.
    #[must_use]
    pub fn finish(mut self) -> MethodTotals<S::Item, O> {
        if let Some(mut inside) = self.inside.take() {
            inside.finish(&mut |(process, row), time, end| {
                self.rows.part((*process, row), time, end).into_iter().for_each(|part| self.stacks.add(part));
            });
        }
        let contradictions = self.rows.contradictions();
        let (slots, _) = self.stacks.finish(self.rows.into_processes());
        let order = slots.in_order();
        let counts = top_methods::count(&order, |slot| slots.owner_of(slot));
        MethodTotals { methods: order.iter().map(|&slot| slots.total(slot)).collect(), counts, contradictions }
    }
}
