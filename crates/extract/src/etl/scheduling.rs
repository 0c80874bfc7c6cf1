//! Records of which a recording has most, decoded: switches, wake-ups, samples.

use tracesift_etl::payload::{ContextSwitch, ReadyThread, SampledProfile};
use tracesift_trace::ids::ThreadId;
use tracesift_trace::owners::Owners;

/// A decoded record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheduling {
    pub(super) ticks: i64,
    pub(super) cpu: u16,
    pub(super) event: SchedulingEvent,
}

/// What it says, and who its threads are.
#[derive(Clone, Copy, Debug)]
pub(super) enum SchedulingEvent {
    Switch { event: ContextSwitch, new: ThreadId, old: ThreadId },
    Ready { event: ReadyThread, thread: ThreadId },
    Sample { event: SampledProfile, thread: ThreadId },
}

/// A thread that runs on a CPU, as pass 1 knows it, which does not know whose a tid is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RunningTid {
    pub(super) tid: u32,
    /// The CPU of an idle thread: each has its own.
    idle_cpu: Option<u16>,
}

impl RunningTid {
    /// The thread with this tid in a record of a CPU.
    pub(super) fn new(tid: u32, cpu: u16) -> Self {
        Self { tid, idle_cpu: (tid == 0).then_some(cpu) }
    }
}

/// A thread that runs on a CPU, as a worker knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Runner {
    pub(super) of: RunningTid,
    /// The thread; `None` where no record tells of it. There is one such thread for a tid, then.
    pub(super) thread: Option<ThreadId>,
}

impl Runner {
    /// The thread with this tid in a record of a CPU at a time.
    pub(super) fn at(owners: &Owners, tid: u32, cpu: u16, ticks: i64) -> Self {
        Self { of: RunningTid::new(tid, cpu), thread: owners.thread_at(tid, cpu, ticks) }
    }
}
