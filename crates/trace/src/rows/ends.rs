//! Where the stacks of processes end.

use crate::ids::ProcessId;

/// Table `stack_ends`: how many CPU samples of a process have user stacks that end so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackEndRow {
    /// The process.
    pub process: ProcessId,
    /// Where they end; see [`stack_ends`].
    pub end: i8,
    /// CPU samples.
    pub samples: i64,
}

/// Values of [`StackEndRow::end`]. More may come; what is larger than 0 is an early end.
pub mod stack_ends {
    /// Where the thread began, as far as anybody can tell.
    pub const WHOLE: i8 = 0;
    /// Where the copy of the stack ends.
    pub const CUT: i8 = 1;
    /// In a file that was not there, or was another one.
    pub const WITHOUT_FILE: i8 = 2;
    /// In code that was made at run time and keeps no frame pointers.
    pub const MADE_CODE: i8 = 3;
    /// In code without unwind information, or with such that is damaged.
    pub const WITHOUT_INFORMATION: i8 = 4;
    /// Beyond 512 frames.
    pub const TOO_LONG: i8 = 5;
    /// The kernel followed frame pointers that were none.
    pub const NO_FRAME_POINTERS: i8 = 6;
}
