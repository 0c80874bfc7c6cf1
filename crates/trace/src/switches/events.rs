//! What a tracker of switches is told.

use crate::ids::{StackId, ThreadId};

/// How a thread leaves the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Still runnable: it was preempted, and waits for a CPU only.
    Runnable,
    /// Blocked until somebody readies it.
    Blocked,
    /// For good.
    Ended,
    /// Nobody saw how: until it is back nothing is known of it.
    Unseen,
}

/// A context switch: `old` leaves `cpu`, `new` gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Raw time.
    pub ticks: i64,
    /// CPU; `None` where it was not recorded: then the threads alone tell whether a chain is whole.
    pub cpu: Option<u16>,
    /// The thread that is switched in; `None`: one that the recording does not watch.
    pub new: Option<ThreadId>,
    /// The thread that the record says leaves; `None`: one that the recording does not watch.
    pub old: Option<ThreadId>,
    /// How it leaves.
    pub leave: Leave,
    /// State that it enters, as recorded.
    pub old_state: Option<i8>,
    /// Wait reason, where it blocks.
    pub wait_reason: Option<i8>,
    /// It waits in user mode.
    pub user_mode_wait: bool,
    /// Priority of the new thread.
    pub new_priority: Option<i8>,
    /// Priority of the old thread.
    pub old_priority: Option<i8>,
    /// Ideal processor of the old thread.
    pub old_ideal_cpu: Option<i16>,
    /// Remaining quantum of the old thread.
    pub old_remaining_quantum: Option<i64>,
    /// C-state that the CPU comes from, when it was idle.
    pub previous_c_state: Option<i8>,
    /// The scheduler's own wait time of the new thread, in clock interrupts.
    pub new_wait_ticks: Option<i64>,
    /// Stack with which the new thread had left, where the switch-in brings it (ETW).
    pub new_stack: Option<StackId>,
    /// Stack with which the old thread leaves, where the switch-out brings it (perf).
    pub old_stack: Option<StackId>,
    /// Hardware counters read at the switch.
    pub counters: Option<Vec<i64>>,
}

impl Switch {
    /// A switch of which nothing is known but who leaves how and who comes.
    #[must_use]
    pub fn between(ticks: i64, cpu: Option<u16>, old: Option<ThreadId>, leave: Leave, new: Option<ThreadId>) -> Self {
        Self {
            ticks,
            cpu,
            new,
            old,
            leave,
            old_state: None,
            wait_reason: None,
            user_mode_wait: false,
            new_priority: None,
            old_priority: None,
            old_ideal_cpu: None,
            old_remaining_quantum: None,
            previous_c_state: None,
            new_wait_ticks: None,
            new_stack: None,
            old_stack: None,
            counters: None,
        }
    }
}

/// A ready event: somebody made `thread` runnable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ready {
    /// Raw time.
    pub ticks: i64,
    /// CPU on which it was logged.
    pub cpu: u16,
    /// The thread that becomes runnable.
    pub thread: ThreadId,
    /// Who readies it, where the event says; else it is whoever runs on the CPU.
    pub readier: Option<ThreadId>,
    /// 0 none, 1 unwait, 2 boost.
    pub adjust_reason: Option<i8>,
    /// Priority increment.
    pub adjust_increment: Option<i8>,
    /// Bits of [`switch_flags`](crate::rows::switch_flags) that the event carries (readied from DPC …).
    pub flags: i16,
    /// Stack of the readier.
    pub stack: Option<StackId>,
}
