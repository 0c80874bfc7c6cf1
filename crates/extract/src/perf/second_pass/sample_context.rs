//! The thread and the process that a sample interrupted.

use tracesift_perf::{ChainNumber, CpuMode, Sample};
use tracesift_trace::{ProcessId, ThreadId};

/// A sample of the recorded machine, and who was interrupted when and where.
pub(crate) struct SampleContext<'a> {
    pub(crate) event: usize,
    /// By reference: it is large, and a copy of what was just written makes the processor wait.
    pub(crate) sample: &'a Sample<'a>,
    /// The number of its call chain.
    pub(crate) chain: Option<ChainNumber>,
    pub(crate) mode: CpuMode,
    pub(crate) ticks: i64,
    pub(crate) cpu: Option<u16>,
    pub(crate) thread: ThreadId,
    pub(crate) process: ProcessId,
}

impl SampleContext<'_> {
    /// The CPU as rows have it; −1 where it was not recorded.
    pub(crate) fn cpu_or_none(&self) -> i16 {
        self.cpu.and_then(|cpu| i16::try_from(cpu).ok()).unwrap_or(-1)
    }
}
