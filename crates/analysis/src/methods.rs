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

use tracesift_trace::ProcessId;
use tracesift_trace::rows::MethodSummaryRow;

use crate::Recording;
use crate::accounting::ThreadLife;
use crate::charger::{ChargedSample, ChargedSwitch, Charger};
use crate::cut;
use crate::names::{MethodId, MethodName};
use crate::sample_sums::SampleSum;
use crate::settler::Settler;
use crate::spans::Span;
use crate::stacks::MethodSource;

/// Bytes that the cache of stacks may take by default.
pub const DEFAULT_CACHE_BYTES: usize = 64 << 20;

/// The figures of one method in one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodTotal {
    /// The process.
    pub process: ProcessId,
    /// The method.
    pub method: MethodId,
    /// Samples in which it occurs.
    pub samples: i64,
    /// Inclusive sampled CPU, ns: each sample once, however often the method recurs in its stack.
    pub cpu: i64,
    /// Exclusive sampled CPU, ns: samples whose leaf it is.
    pub exclusive_cpu: i64,
    /// Waits of threads that left the CPU below it.
    pub wait: SpanTotal,
    /// Ready spans of those threads, charged to the method in which they had waited.
    pub ready: SpanTotal,
    /// Switch-ins whose wait stack has it.
    pub switches: i64,
    /// Distinct threads.
    pub threads: u64,
    /// First time at which it was seen in a sample, a span or a switch-in.
    pub first: i64,
    /// Last time at which it was seen in a sample, a span or a switch-in.
    pub last: i64,
}

impl MethodTotal {
    /// The figures as the archive has them: what was not recorded is not 0.
    #[must_use]
    pub fn row(&self, recording: &Recording, name: MethodName) -> MethodSummaryRow {
        let switches = |value: i64| recording.has_switches.then_some(value);
        let ready = |value: i64| (recording.has_ready || self.ready.count > 0).then_some(value).and_then(switches);
        MethodSummaryRow {
            process: self.process,
            module: name.module,
            function: name.function,
            samples: self.samples,
            cpu: self.cpu,
            exclusive_cpu: self.exclusive_cpu,
            wait: switches(self.wait.union),
            wait_sum: switches(self.wait.sum),
            wait_count: switches(self.wait.count),
            wait_longest: switches(self.wait.longest),
            ready: ready(self.ready.union),
            ready_sum: ready(self.ready.sum),
            ready_count: ready(self.ready.count),
            ready_longest: ready(self.ready.longest),
            switches: switches(self.switches),
            // More threads than that do not fit into the thread table.
            threads: i32::try_from(self.threads).unwrap_or(i32::MAX),
            first: self.first,
            last: self.last,
        }
    }
}

/// Spans of one kind of one method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanTotal {
    /// The time that the spans cover, overlaps counted once, ns.
    pub union: i64,
    /// Their plain sum, ns.
    pub sum: i64,
    /// Their number.
    pub count: i64,
    /// The longest single one, ns.
    pub longest: i64,
}

/// How many methods one process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodCount {
    /// The process.
    pub process: ProcessId,
    /// All of its methods.
    pub methods: usize,
    /// Those that were kept.
    pub kept: usize,
}

/// The result of a [`MethodAggregator`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodTotals {
    /// By process and method number.
    pub methods: Vec<MethodTotal>,
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
pub struct MethodAggregator<S> {
    charger: Charger,
    settler: Settler<S>,
}

impl<S: MethodSource> MethodAggregator<S> {
    /// An aggregator over `range` ([`Span::ALL`] for everything). `threads` tells the process of each thread that
    /// switches.
    #[must_use]
    pub fn new(
        recording: &Recording,
        range: Span,
        threads: impl IntoIterator<Item = impl Into<ThreadLife>>,
        source: S,
    ) -> Self {
        let charger = Charger::new(recording, range, threads);
        let settler = Settler::new(&charger, source);
        Self { charger, settler }
    }

    /// Lets the cache of stacks take about this many bytes.
    #[must_use]
    pub fn with_cache_bytes(mut self, bytes: usize) -> Self {
        self.settler = self.settler.with_cache_bytes(bytes);
        self
    }

    /// Takes a sample.
    pub fn sample(&mut self, row: impl Into<ChargedSample>) {
        self.charger.sample(&row.into()).into_iter().for_each(|charge| self.settler.charge(charge));
    }

    /// Takes samples that were added up, all of them inside the range.
    pub fn samples(&mut self, sum: &SampleSum) {
        self.settler.charge(self.charger.samples(sum));
    }

    /// Takes a switch row; rows come newest first.
    pub fn switch(&mut self, row: impl Into<ChargedSwitch>) {
        self.charger.switch(&row.into()).into_iter().for_each(|charge| self.settler.charge(charge));
    }

    /// Closes the totals of all methods.
    #[must_use]
    pub fn finish(self) -> MethodTotals {
        let contradictions = self.charger.contradictions();
        let (slots, _) = self.settler.finish(self.charger.into_processes());
        let order = slots.in_order();
        let counts = cut::count(&order, |slot| slots.process_of(slot));
        MethodTotals { methods: order.iter().map(|&slot| slots.total(slot)).collect(), counts, contradictions }
    }
}
