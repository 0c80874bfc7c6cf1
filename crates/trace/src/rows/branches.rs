//! Branches that the processor recorded before a sample.

use crate::ids::{FrameId, ProcessId};
use crate::row;

/// Values of [`BranchRow::kind`]. More may come.
pub mod branch_kinds {
    /// The recording does not say.
    pub const UNKNOWN: i8 = 0;
    /// A call with a fixed target.
    pub const CALL: i8 = 1;
    /// A return.
    pub const RETURN: i8 = 2;
    /// A jump without a condition.
    pub const JUMP: i8 = 3;
    /// A jump with a condition, which was taken.
    pub const CONDITIONAL: i8 = 4;
    /// A call with a target that is read from a register or from memory.
    pub const INDIRECT_CALL: i8 = 5;
    /// A call of the operating system.
    pub const SYSTEM_CALL: i8 = 6;
    /// The return from the operating system.
    pub const SYSTEM_RETURN: i8 = 7;
    /// An interrupt.
    pub const INTERRUPT: i8 = 8;
    /// Another kind.
    pub const OTHER: i8 = 9;
}

row! {
    /// The branches of a kind from one instruction to another in the processes of one program run: those
    /// that the last branch records of all samples have. What is told of one branch of a row is told of all.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct BranchRow in "branches", always: false, since: 7, Untimed() {
        /// The process that the sample interrupted.
        process: Option<ProcessId>, Dictionary, "", "perf sample pid; LBR (32) ProcessId";
        /// The instruction that branched.
        from: FrameId, Plain, "", "perf sample branch stack from; LBR (32) From";
        /// The instruction that it went to.
        to: FrameId, Plain, "", "perf sample branch stack to; LBR (32) To";
        /// 0 unknown, 1 call, 2 return, 3 jump, 4 conditional jump, 5 indirect call, 6 system call, 7 return
        /// from a system call, 8 interrupt, 9 another kind. More may come.
        kind: i8, Dictionary, "", "perf branch type (branch_type with save_type)";
        /// How often it is in the records.
        count: i64, Plain, "", "made by the extract";
        /// How often the processor had predicted something else. Null: not recorded.
        mispredicted: Option<i64>, Plain, "", "perf branch mispred, predicted";
        /// Cycles since the branch before, summed. Null: not recorded.
        cycles: Option<i64>, Plain, "cycles", "perf branch cycles";
    }
}

row! {
    /// A frame that is the first instruction of its function, of those that branches go to.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct EntryFrameRow in "entry_frames", always: false, since: 7, Untimed() {
        /// The frame.
        frame: FrameId, Delta, "", "symbol file; DotNETRuntime Method/LoadVerbose MethodStartAddress";
    }
}
