//! Fields of the scheduler's tracepoints.

use super::fields::{Fields, Number};
use super::task_state::TaskStates;

/// Fields of `sched_switch`.
#[derive(Clone, Debug)]
pub(crate) struct SwitchFields {
    pub(crate) prev_pid: Number,
    pub(crate) prev_prio: Option<Number>,
    pub(crate) prev_state: Number,
    pub(crate) next_pid: Number,
    pub(crate) next_prio: Option<Number>,
    pub(crate) states: TaskStates,
}

impl SwitchFields {
    pub(super) fn of(fields: &Fields<'_>) -> Option<Self> {
        Some(Self {
            prev_pid: fields.number("prev_pid")?,
            prev_prio: fields.number("prev_prio"),
            prev_state: fields.number("prev_state")?,
            next_pid: fields.number("next_pid")?,
            next_prio: fields.number("next_prio"),
            states: TaskStates::of(fields.print_format()),
        })
    }
}

/// Which of the wake-ups a tracepoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakeUp {
    /// Somebody begins to wake the thread: the time from which on it could run.
    Waking,
    /// The thread is on a CPU's queue.
    Wakeup,
    /// A new thread is, for the first time.
    New,
}

/// Fields of a wake-up.
#[derive(Clone, Debug)]
pub(crate) struct ReadyFields {
    pub(crate) kind: WakeUp,
    pub(crate) pid: Number,
    /// The kernel's id of who wakes.
    pub(crate) common_pid: Option<Number>,
    /// Kernels before 4.3 say whether it had an effect.
    pub(crate) success: Option<Number>,
    pub(crate) common_flags: Option<Number>,
}

impl ReadyFields {
    pub(super) fn of(fields: &Fields<'_>, kind: WakeUp) -> Option<Self> {
        let (success, common_flags) = (fields.number("success"), fields.number("common_flags"));
        let (pid, common_pid) = (fields.number("pid")?, fields.number("common_pid"));
        Some(Self { kind, pid, common_pid, success, common_flags })
    }
}
