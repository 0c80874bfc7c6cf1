//! Page faults.

use crate::ids::{FrameId, ProcessId, StackId, ThreadId};

/// Values of [`PageFaultRow::kind`]. More may come.
pub mod page_fault_kinds {
    /// The recording does not say.
    pub const UNKNOWN: i8 = 0;
    /// The page was in memory, or needed no data.
    pub const MINOR: i8 = 1;
    /// The page had to be read.
    pub const MAJOR: i8 = 2;
}

/// Table `page_faults`: one page fault, or as many as a sample of them stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFaultRow {
    /// Time of the fault.
    pub time: i64,
    /// CPU.
    pub cpu: i16,
    /// Process of the thread.
    pub process: ProcessId,
    /// The thread.
    pub thread: ThreadId,
    /// The address that was not mapped, where it was recorded.
    pub address: Option<i64>,
    /// See [`page_fault_kinds`].
    pub kind: i8,
    /// The kernel touched it, on behalf of the thread.
    pub kernel: Option<bool>,
    /// How many faults the row stands for.
    pub weight: i64,
    /// Call stack.
    pub stack: Option<StackId>,
    /// The instruction, only where there is no stack.
    pub frame: Option<FrameId>,
}
