//! Values of counters.

use crate::ids::{ProcessId, ThreadId};

/// Table `counter_values`: what a counter has counted since it was read before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterValueRow {
    /// Time of the reading.
    pub time: i64,
    /// CPU.
    pub cpu: i16,
    /// Process of the thread.
    pub process: ProcessId,
    /// The thread that ran up to now, or that ended.
    pub thread: ThreadId,
    /// Number of the counter; named in `trace.json`.
    pub source: i32,
    /// Its count since the reading before; since the start of the recording for the first one.
    pub value: i64,
    /// It counted all that the thread did, and is read at the thread's end.
    pub total: Option<bool>,
}
