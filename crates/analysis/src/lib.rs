//! The meaning of the numbers: pure functions over the rows of a recording.
//!
//! Every figure that the questions print is defined here once; `docs/questions/numbers.md` says the same in words. The
//! crate opens no file and prints nothing. It sees rows one at a time, in one pass, and keeps what grows with the
//! number of threads, methods and processes, never with the number of events.
//!
//! * [`spans`]: a switch row taken apart into wait, ready, open and unknown
//! * [`accounting`]: where each thread's lifetime went, an identity and not an estimate
//! * [`activity`]: what one thread did in a stretch of time, the link of a wait chain
//! * [`path`]: to whom each nanosecond of a run belongs, across threads
//! * [`disturbances`]: which of that time others took
//! * [`roles`]: names of processes, threads and modules that are the same in two recordings
//! * [`interrupts`]: what a wake-up out of an interrupt is about
//! * [`union`]: the time that overlapping spans cover
//! * [`methods`]: CPU, wait and ready per process and method
//! * [`largest`]: those of them that the archive keeps
//! * [`processes`]: the same per process
//! * [`run_stacks`]: precise CPU per stack, where there are no samples
//! * [`percentiles`]: distributions of single spans, the ready latency with its deep sleep part
//! * [`tags`]: one name per stack, from files of rules
//! * [`stack_weights`]: one measure per process and stack; [`call_tree`]: a tree of it
//! * [`regions`]: spans between events that begin and end them
//! * [`summaries`]: all of it in one pass, for the archive's summary tables
//!
//! **Switch rows are read newest first.** A row stands at the end of the span that it describes, so going back in time
//! every span is met at its end, with its start known. Unions then need two numbers per method (see
//! [`union::DescendingUnion`]); forward, they would have to keep every gap until the longest sleeper wakes up.

pub mod accounting;
pub mod activity;
pub mod attribution;
mod by_id;
pub mod call_tree;
mod contribution;
mod counters;
pub mod cpus;
pub mod disturbances;
pub mod interrupts;
mod item;
pub mod largest;
mod method_slots;
pub mod method_total;
pub mod methods;
pub mod names;
pub mod off_cpu;
mod owner;
mod parts_by_end;
pub mod path;
pub mod percentiles;
mod process_number;
pub mod processes;
pub mod regions;
pub mod roles;
mod row_contributions;
pub mod run_stacks;
mod sample_total;
mod shared_totals;
mod slot_index;
pub mod spans;
mod stack_aggregator;
mod stack_cache;
pub mod stack_frames;
pub mod stack_weights;
pub mod stacks;
pub mod summaries;
pub mod syscall_sums;
pub mod tags;
mod thread_set;
pub mod timeline;
pub mod times;
mod top_methods;
pub mod union;

pub use accounting::{
    AccountedSwitch, Accounting, Accounts, Run, SwitchWithoutPriorities, ThreadAccount, ThreadLifetime,
};
pub use activity::{Activity, ActivityWalk};
pub use attribution::Attribution;
pub use call_tree::CallTree;
pub use contribution::{ByProcess, Contribution, ContributionsByProcess};
pub use counters::{Counted, CounterSpans, CounterSwitch};
pub use cpus::CpuSet;
pub use interrupts::Interrupt;
pub use item::Item;
pub use largest::LargestMethods;
pub use method_total::MethodTotal;
pub use methods::{MethodAggregator, MethodTotals};
pub use names::{MethodId, MethodName, MethodNames, Place};
pub use owner::Owner;
pub use parts_by_end::PartsByEnd;
pub use percentiles::{Distribution, ReadyLatency, ReadySwitch, SwitchFromIdle};
pub use processes::{ProcessTotals, SampleOfProcess};
pub use row_contributions::{AttributedSample, AttributedSwitch, ChargedSample};
pub use run_stacks::{RunStacks, RunSwitch};
pub use sample_total::SampleTotal;
pub use spans::{OffCpuSpan, Pieces, Span, pieces};
pub use stack_aggregator::DEFAULT_CACHE_BYTES;
pub use stack_frames::StackFrames;
pub use stack_weights::{Measure, StackWeight, StackWeights, Weight};
pub use stacks::{MethodSource, StackMethods};
pub use summaries::{
    Bounds, RowSummaries, RowTotals, StackSummaries, Summaries, Summary, SummarySample, SummarySwitch,
};
pub use times::{Times, TimesOfThreads};
pub use union::{DescendingUnion, IntervalUnion};

use tracesift_trace::info::TraceInfo;

/// Facts about the recording as a whole that the analysis needs; `trace.json` has all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingFacts {
    /// The recorded time, ns since time zero. No row lies outside; the last event stands at its end.
    pub span: Span,
    /// Whether context switches were recorded. Without them nothing is known of run, wait and ready.
    pub has_switches: bool,
    /// Whether ready events were recorded. Without them ready time is unknown apart from preemption.
    pub has_ready: bool,
}

impl From<&TraceInfo> for RecordingFacts {
    fn from(info: &TraceInfo) -> Self {
        Self { span: Span::new(info.start_ns, info.end_ns), has_switches: info.has_switches, has_ready: info.has_ready }
    }
}
