//! Frames, stacks and the names of frames.

use crate::ids::{FrameId, ModuleId, ProcessId, StackId};
use crate::row;

/// Values of [`StackEndRow::end`]. More may come; what is larger than 0 is an early end.
pub mod stack_ends {
    /// Where the thread began, as far as anybody can tell.
    pub const WHOLE: i8 = 0;
    /// Where the copy of the stack ends.
    pub const CUT: i8 = 1;
    /// In a file that was not there, or was another one.
    pub const WITHOUT_FILE: i8 = 2;
    /// In code that was made at run time and keeps no frame pointers.
    pub const JIT_CODE: i8 = 3;
    /// In code without unwind information, or with such that is damaged.
    pub const WITHOUT_INFORMATION: i8 = 4;
    /// Beyond 512 frames.
    pub const TOO_LONG: i8 = 5;
    /// The kernel followed frame pointers that were none.
    pub const NO_FRAME_POINTERS: i8 = 6;
}

row! {
    /// One code address: module and RVA, or an address outside of any module with its process.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct FrameRow in "frames", always: true, since: 0, Untimed() {
        /// Row id, in the order of first occurrence.
        frame: FrameId, Delta, "", "made by the extract";
        /// The module that contains the address.
        module: Option<ModuleId>, Dictionary, "", "`modules`";
        /// Offset from the base of the module; on Linux the offset in the file, and in the kernel
        /// the offset from its first mapped address.
        rva: Option<i64>, Delta, "bytes", "StackWalk/Stack, PerfInfo/Sample InstructionPointer; perf sample ip, callchain";
        /// The process, for user-mode code outside of any module (JIT code, unknown code).
        process: Option<ProcessId>, Plain, "", "`processes`";
        /// The address, for code outside of any module; addresses above 2^63 are negative.
        address: Option<i64>, Plain, "", "StackWalk/Stack, PerfInfo/Sample InstructionPointer";
    }
}

row! {
    /// One call stack. Equal stacks are stored once as far as memory allows, so two ids can name
    /// equal stacks.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct StackRow in "stacks", always: true, since: 0, Untimed() {
        /// Row id, in the order of first occurrence.
        stack: StackId, Delta, "", "made by the extract";
        /// Frames, leaf first.
        frames: Vec<FrameId>, Plain, "", "StackWalk/Stack; perf sample callchain";
    }
}

row! {
    /// Number of CPU samples of a process whose user stacks end in the same way, in Linux
    /// recordings.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct StackEndRow in "stack_ends", always: false, since: 6, Untimed() {
        /// The process.
        process: ProcessId, Delta, "", "`processes`";
        /// 0 where the thread began, as far as can be told; all other values are early ends: 1 at
        /// the end of the copy of the stack, 2 in a file that was absent or had another identity, 3
        /// in JIT code, 4 in code without usable unwind information, 5 after 512 frames, 6 the
        /// kernel followed registers that were no frame pointers. More may come.
        end: i8, Dictionary, "", "unwinding; perf sample callchain";
        /// CPU samples.
        samples: i64, Plain, "", "`cpu_samples`";
    }
}

row! {
    /// The function at a frame, with one more row per function that it was inlined into. A frame
    /// without a row is shown as `module!module+0xRVA`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct SymbolRow in "symbols", always: true, since: 0, Untimed() {
        /// The frame.
        frame: FrameId, Delta, "", "`frames`";
        /// 0 for the function itself, 1 and up for the functions that it was inlined into.
        depth: i16, Dictionary, "", "made by the extract";
        /// Module name without path.
        module: Option<String>, Dictionary, "", "Method/LoadVerbose and module events; later the symbol file";
        /// Function without arguments.
        function: String, Dictionary, "", "Method/LoadVerbose, DCStartVerbose, DCStopVerbose, R2RGetEntryPoint";
        /// Argument list with its parentheses.
        arguments: Option<String>, Dictionary, "", "Method/LoadVerbose, DCStartVerbose, DCStopVerbose, R2RGetEntryPoint";
        /// Source file.
        file: Option<String>, Dictionary, "", "symbol file";
        /// Source line, from 1.
        line: Option<i32>, Plain, "", "symbol file";
        /// Where the name came from: `jit`, `rundown`, `entry-point` (a precompiled .NET method at
        /// its first use), `pdb`, `dwarf` and so on.
        source: String, Dictionary, "", "made by the extract";
    }
}

row! {
    /// The place of a frame of .NET code in its assembly: the method, and the offset in the
    /// intermediate language (IL) that the code was compiled from. The PDB of the assembly turns it
    /// into file and line, even when it is found later. One frame can be the leaf of one stack and
    /// call in another: as a leaf it is at `il_offset`, else at `call_il_offset`, since a return
    /// address lies behind the call and often in the next line.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ManagedCodeRow in "managed_code", always: false, since: 4, Untimed() {
        /// The frame.
        frame: FrameId, Delta, "", "`frames`";
        /// Path of the assembly as recorded.
        path: String, Dictionary, "", "Loader/ModuleLoad, ModuleDCStart, ModuleDCStop ModuleILPath";
        /// Name of its PDB, with the path on the machine that built it.
        pdb_name: Option<String>, Dictionary, "", "Loader/ModuleLoad, ModuleDCStart, ModuleDCStop ManagedPdbBuildPath";
        /// GUID of its PDB, lower case with dashes.
        pdb_guid: Option<String>, Dictionary, "", "ManagedPdbSignature of the same";
        /// Age of its PDB.
        pdb_age: Option<i32>, Dictionary, "", "ManagedPdbAge of the same";
        /// Metadata token of the method.
        token: i32, Plain, "", "Method/LoadVerbose, DCStartVerbose, DCStopVerbose MethodToken";
        /// IL offset of the instruction at the address; null where no map of the method was
        /// recorded, and for code that the compiler added.
        il_offset: Option<i32>, Plain, "bytes", "Method/ILToNativeMap, ILToNativeMapDCStart, ILToNativeMapDCStop";
        /// IL offset of the instruction in front of the address, which is the call where the
        /// address is a return address.
        call_il_offset: Option<i32>, Plain, "bytes", "as `il_offset`";
    }
}
