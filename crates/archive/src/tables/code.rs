//! Where code ran: frames, stacks, the names of frames, and what lines of managed code are found by.

use tracesift_trace::rows::{FrameRow, ManagedCodeRow, StackEndRow, StackRow, SymbolRow};
use tracesift_trace::{FrameId, ModuleId, ProcessId, StackId};

use crate::column::Timing;
use crate::table::table;

table! {
    FrameRow in "frames", always: true, Timing::Untimed,
    "One code address: module and RVA, or an address outside of any module with its process.";
    frame: FrameId, Delta, "", "Row id, given at first sight.", "made by the extract";
    module: Option<ModuleId>, Dictionary, "", "The module that contains the address.", "`modules`";
    rva: Option<i64>, Delta, "bytes", "Offset from the base of the module; on Linux the offset in the file, of the kernel that from its first mapped address.", "StackWalk/Stack, PerfInfo/Sample InstructionPointer; perf sample ip, callchain";
    process: Option<ProcessId>, Plain, "", "The process, for user-mode code outside of any module (JIT code, unknown code).", "`processes`";
    address: Option<i64>, Plain, "", "The address, for code outside of any module; addresses above 2^63 are negative.", "StackWalk/Stack, PerfInfo/Sample InstructionPointer";
}

table! {
    StackRow in "stacks", always: true, Timing::Untimed,
    "One call stack. Equal stacks are stored once as far as memory allows, so two ids can name equal stacks.";
    stack: StackId, Delta, "", "Row id, given at first sight.", "made by the extract";
    frames: Vec<FrameId>, Plain, "", "Frames, leaf first.", "StackWalk/Stack";
}

table! {
    StackEndRow in "stack_ends", always: false, Timing::Untimed,
    "How many CPU samples of a process have user stacks that end so; from schema 1.6, of Linux recordings.";
    process: ProcessId, Delta, "", "The process.", "`processes`";
    end: i8, Dictionary, "", "0 where the thread began, as far as anybody can tell; all others end early: 1 with the copy of the stack, 2 in a file that was not there or was another one, 3 in code that was made at run time, 4 in code without usable unwind information, 5 after 512 frames, 6 the kernel followed frame pointers that were none. More may come.", "unwinding; perf sample callchain";
    samples: i64, Plain, "", "CPU samples.", "`cpu_samples`";
}

table! {
    SymbolRow in "symbols", always: true, Timing::Untimed,
    "The function at a frame, with one more row per function that it was inlined into. A frame without a row is shown as `module!module+0xRVA`.";
    frame: FrameId, Delta, "", "The frame.", "`frames`";
    depth: i16, Dictionary, "", "0 for the function itself, 1 and up for the functions that it was inlined into.", "made by the extract";
    module: Option<String>, Dictionary, "", "Module name without path.", "Method/LoadVerbose and module events; later the symbol file";
    function: String, Dictionary, "", "Function without arguments.", "Method/LoadVerbose, DCStartVerbose, DCStopVerbose, R2RGetEntryPoint";
    arguments: Option<String>, Dictionary, "", "Argument list with its parentheses.", "Method/LoadVerbose, DCStartVerbose, DCStopVerbose, R2RGetEntryPoint";
    file: Option<String>, Dictionary, "", "Source file.", "symbol file";
    line: Option<i32>, Plain, "", "Source line, from 1.", "symbol file";
    source: String, Dictionary, "", "Where the name came from: `jit`, `rundown`, `entry-point` (a precompiled .NET method at its first use), `pdb`, `dwarf` and so on.", "made by the extract";
}

table! {
    ManagedCodeRow in "managed_code", always: false, Timing::Untimed,
    "What the source line of a frame of .NET code is found by: the method in its assembly, and the offset in the intermediate language (IL) that the code was compiled from. The PDB of the assembly turns it into file and line, also when it turns up later. One frame can be the leaf of one stack and call in another: as a leaf it is at `il_offset`, else at `call_il_offset`, since a return address lies behind the call and often in the next line. From schema 1.4.";
    frame: FrameId, Delta, "", "The frame.", "`frames`";
    path: String, Dictionary, "", "Path of the assembly as recorded.", "Loader/ModuleLoad, ModuleDCStart, ModuleDCStop ModuleILPath";
    pdb_name: Option<String>, Dictionary, "", "Name of its PDB, with the path on the machine that built it.", "Loader/ModuleLoad, ModuleDCStart, ModuleDCStop ManagedPdbBuildPath";
    pdb_guid: Option<String>, Dictionary, "", "GUID of its PDB, lower case with dashes.", "ManagedPdbSignature of the same";
    pdb_age: Option<i32>, Dictionary, "", "Age of its PDB.", "ManagedPdbAge of the same";
    token: i32, Plain, "", "Metadata token of the method.", "Method/LoadVerbose, DCStartVerbose, DCStopVerbose MethodToken";
    il_offset: Option<i32>, Plain, "bytes", "IL offset of the instruction at the address; null where no map of the method was recorded, or for code that the compiler added.", "Method/ILToNativeMap, ILToNativeMapDCStart, ILToNativeMapDCStop";
    call_il_offset: Option<i32>, Plain, "bytes", "IL offset of the instruction in front of the address: that of the call, where the address is one that a call returns to.", "as `il_offset`";
}
