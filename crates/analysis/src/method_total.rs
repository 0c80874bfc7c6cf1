//! The figures of one method in one process, or of another owner.

use tracesift_trace::ProcessId;
use tracesift_trace::rows::MethodSummaryRow;

use crate::RecordingFacts;
use crate::names::{MethodId, MethodName};

/// The figures of one method, or another item, in one process, or of another [`Owner`](crate::Owner).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodTotal<I = MethodId, O = ProcessId> {
    /// Whose they are.
    pub owner: O,
    /// The method.
    pub method: I,
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

impl<I, O> MethodTotal<I, O> {
    /// The figures as the archive has them, as those of a process: what was not recorded is not 0.
    #[must_use]
    pub fn row(&self, process: ProcessId, recording: &RecordingFacts, name: MethodName) -> MethodSummaryRow {
        let switches = |value: i64| recording.has_switches.then_some(value);
        let ready = |value: i64| (recording.has_ready || self.ready.count > 0).then_some(value).and_then(switches);
        MethodSummaryRow {
            process,
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

/// How many methods one owner has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodCount<O = ProcessId> {
    /// Whose they are.
    pub owner: O,
    /// All of its methods.
    pub methods: usize,
    /// Those that were kept.
    pub kept: usize,
}
