//! Where code ran: frames, stacks and the names of frames.

use tracesift_trace::rows::{FrameRow, StackRow, SymbolRow};
use tracesift_trace::{FrameId, ModuleId, ProcessId, StackId};

use crate::column::Timing;
use crate::table::table;

table! {
    FrameRow in "frames", always: true, Timing::Untimed,
    "One code address: module and RVA, or an address outside of any module with its process.";
    frame: FrameId, Delta, "", "Row id, given at first sight.", "made by the extract";
    module: Option<ModuleId>, Dictionary, "", "The module that contains the address.", "`modules`";
    rva: Option<i64>, Delta, "bytes", "Offset from the base of the module; on Linux the offset in the file, of the kernel that from its first mapped address.", "StackWalk, SampledProfile InstructionPointer; perf sample ip, callchain";
    process: Option<ProcessId>, Plain, "", "The process, for user-mode code outside of any module (JIT code, unknown code).", "`processes`";
    address: Option<i64>, Plain, "", "The address, for code outside of any module; addresses above 2^63 are negative.", "StackWalk, SampledProfile InstructionPointer";
}

table! {
    StackRow in "stacks", always: true, Timing::Untimed,
    "One call stack. Equal stacks are stored once as far as memory allows, so two ids can name equal stacks.";
    stack: StackId, Delta, "", "Row id, given at first sight.", "made by the extract";
    frames: Vec<FrameId>, Plain, "", "Frames, leaf first.", "StackWalk";
}

table! {
    SymbolRow in "symbols", always: true, Timing::Untimed,
    "The function at a frame, with one more row per function that it was inlined into. A frame without a row is shown as `module!module+0xRVA`.";
    frame: FrameId, Delta, "", "The frame.", "`frames`";
    depth: i16, Dictionary, "", "0 for the function itself, 1 and up for the functions that it was inlined into.", "made by the extract";
    module: Option<String>, Dictionary, "", "Module name without path.", "CLR MethodLoadVerbose and module events; later the symbol file";
    function: String, Dictionary, "", "Function without arguments.", "CLR MethodLoadVerbose, MethodDCStartVerbose, MethodDCEndVerbose";
    arguments: Option<String>, Dictionary, "", "Argument list with its parentheses.", "CLR MethodLoadVerbose, MethodDCStartVerbose, MethodDCEndVerbose";
    file: Option<String>, Dictionary, "", "Source file.", "symbol file";
    line: Option<i32>, Plain, "", "Source line, from 1.", "symbol file";
    source: String, Dictionary, "", "Where the name came from: `jit`, `rundown`, `pdb`, `dwarf` and so on.", "made by the extract";
}
