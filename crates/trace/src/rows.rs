//! The rows of the archive's tables, one type per table.
//!
//! Times are nanoseconds since time zero, durations nanoseconds, sizes bytes; ids are those of [`crate::ids`]. `None` means
//! that the recording does not say. The archive adds the constant column `trace` in front of each row.

mod calls;
mod counters;
mod ends;
mod faults;
mod power;

pub use calls::{FileIoRow, SyscallNameRow, SyscallRow, file_operations};
pub use counters::CounterValueRow;
pub use ends::{StackEndRow, stack_ends};
pub use faults::{PageFaultRow, page_fault_kinds};
pub use power::{CpuFrequencyRow, CpuIdleStateRow, CpuRow};

use crate::ids::{FileId, FrameId, ModuleId, ProcessId, StackId, ThreadId};

/// How the recording came to know of a process or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i8)]
pub enum Origin {
    /// A start or end record was seen.
    Event = 0,
    /// Known from rundown only: it lived from end to end.
    Rundown = 1,
    /// No record of its own; inferred from records that carry its id.
    Inferred = 2,
    /// Made by the model: the pseudo-process `DPC/ISR`.
    Pseudo = 3,
}

/// Table `processes`: one life of a pid.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessRow {
    /// Row id.
    pub process: ProcessId,
    /// Process id of the operating system.
    pub pid: i64,
    /// File name of the image (`FileWriter.exe`), or `pid N` when nothing named it.
    pub name: String,
    /// Command line.
    pub command_line: Option<String>,
    /// Process id of the creator.
    pub parent_pid: Option<i64>,
    /// The creator, when it was alive at the start of this process.
    pub parent: Option<ProcessId>,
    /// Terminal-services session.
    pub session: Option<i32>,
    /// Security identifier of the owner (`S-1-5-18`).
    pub user: Option<String>,
    /// Full name of the app package.
    pub package: Option<String>,
    /// Application user model id.
    pub application: Option<String>,
    /// Start inside the recording; `None`: it ran before.
    pub start: Option<i64>,
    /// End inside the recording; `None`: it runs on.
    pub end: Option<i64>,
    /// Exit status, when the end was seen.
    pub exit_code: Option<i32>,
    /// A 32-bit process on a 64-bit system.
    pub wow64: Option<bool>,
    /// How the recording knows of it.
    pub origin: Origin,
    /// Path of its control group (Linux), the last one that it was in.
    pub cgroup: Option<String>,
    /// Id of the container that this group belongs to.
    pub container: Option<String>,
    /// Inode of its pid namespace (Linux): processes of a container share one.
    pub pid_namespace: Option<i64>,
}

/// Table `threads`: one life of a tid.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadRow {
    /// Row id.
    pub thread: ThreadId,
    /// The process that it belongs to.
    pub process: ProcessId,
    /// Thread id of the operating system; 0 for the idle threads.
    pub tid: i64,
    /// Thread name (description).
    pub name: Option<String>,
    /// Start inside the recording; `None`: it ran before.
    pub start: Option<i64>,
    /// End inside the recording (the switch-out in state Terminated, else the end record); `None`: it runs on.
    pub end: Option<i64>,
    /// Base priority at the start or in the rundown.
    pub base_priority: Option<i8>,
    /// Service tag, the key of the service that a svchost thread works for.
    pub service_tag: Option<i64>,
    /// Name of that service.
    pub service: Option<String>,
    /// Win32 start address.
    pub start_address: Option<i64>,
    /// CPU of an idle thread.
    pub idle_cpu: Option<i16>,
    /// How the recording knows of it.
    pub origin: Origin,
}

/// Table `modules`: one image file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ModuleRow {
    /// Row id.
    pub module: ModuleId,
    /// File name (`ntdll.dll`).
    pub name: String,
    /// Path with drive letter where the volume mapping is known, else as recorded.
    pub path: String,
    /// Size of the image in memory, bytes.
    pub size: i64,
    /// Time stamp of the PE header: with `size` the identity of the image.
    pub time_date_stamp: Option<i64>,
    /// Checksum of the PE header.
    pub checksum: Option<i64>,
    /// Name of the PDB (CodeView RSDS).
    pub pdb_name: Option<String>,
    /// GUID of the PDB, lower case with dashes.
    pub pdb_guid: Option<String>,
    /// Age of the PDB.
    pub pdb_age: Option<i32>,
    /// Name of the managed PDB of a precompiled image.
    pub managed_pdb_name: Option<String>,
    /// GUID of the managed PDB.
    pub managed_pdb_guid: Option<String>,
    /// Age of the managed PDB.
    pub managed_pdb_age: Option<i32>,
    /// Original file name from the version resource.
    pub original_file_name: Option<String>,
    /// File version text from the version resource.
    pub file_version: Option<String>,
    /// Binary file version (`10.0.19041.1`).
    pub binary_file_version: Option<String>,
    /// Product version text.
    pub product_version: Option<String>,
    /// Product name.
    pub product_name: Option<String>,
    /// Company name.
    pub company: Option<String>,
    /// File description.
    pub description: Option<String>,
    /// Build id of an ELF file, lower-case hex digits.
    pub build_id: Option<String>,
}

/// Table `process_modules`: one mapping of a module into a process.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessModuleRow {
    /// The process; kernel modules are mapped into the System process, on Linux into the pseudo-process `Kernel`.
    pub process: ProcessId,
    /// The module.
    pub module: ModuleId,
    /// Base address.
    pub base: i64,
    /// Size of the mapping, bytes.
    pub size: i64,
    /// Load inside the recording; `None`: loaded before.
    pub load: Option<i64>,
    /// Unload inside the recording; `None`: stays loaded.
    pub unload: Option<i64>,
}

/// Table `frames`: one code address. Either module and RVA, or an address (with its process for user-mode code).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameRow {
    /// Row id.
    pub frame: FrameId,
    /// The module that contains the address.
    pub module: Option<ModuleId>,
    /// Offset from the module's base.
    pub rva: Option<i64>,
    /// The process, for user-mode code outside any module (JIT code, unknown code).
    pub process: Option<ProcessId>,
    /// The address, for code outside any module.
    pub address: Option<i64>,
}

/// Table `stacks`: one call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackRow {
    /// Row id.
    pub stack: StackId,
    /// Frames, leaf first.
    pub frames: Vec<FrameId>,
}

/// Table `symbols`: the function at a frame. Frames without a row are shown as `module!module+0xRVA`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SymbolRow {
    /// The frame.
    pub frame: FrameId,
    /// 0 for the function itself, 1 and up for functions that it was inlined into.
    pub depth: i16,
    /// Module name without path.
    pub module: Option<String>,
    /// Function without arguments.
    pub function: String,
    /// Argument list, with its parentheses.
    pub arguments: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Source line, from 1.
    pub line: Option<i32>,
    /// Where the name came from: `jit`, `rundown`, `entry-point`, later `pdb`, `dwarf` …
    pub source: String,
}

/// Table `managed_code`: what source lines of managed code are found by.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ManagedCodeRow {
    /// The frame.
    pub frame: FrameId,
    /// Path of the assembly.
    pub path: String,
    /// Name of its PDB, with the path on the machine that built it.
    pub pdb_name: Option<String>,
    /// GUID of its PDB.
    pub pdb_guid: Option<String>,
    /// Age of its PDB.
    pub pdb_age: Option<i32>,
    /// Metadata token of the method.
    pub token: i32,
    /// IL offset of the instruction at the address: where the code was, if the frame is the leaf of a stack.
    pub il_offset: Option<i32>,
    /// IL offset of the instruction in front of the address: where the call is, if the address is that it returns to.
    pub call_il_offset: Option<i32>,
}

/// Bits of [`CpuSampleRow::flags`].
pub mod sample_flags {
    /// The sample fell into a deferred procedure call.
    pub const DPC: i8 = 1;
    /// The sample fell into an interrupt service routine.
    pub const ISR: i8 = 2;
}

/// Table `cpu_samples`: one sample of the timer source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuSampleRow {
    /// Time of the sample.
    pub time: i64,
    /// CPU.
    pub cpu: i16,
    /// The process that is charged: that of the thread, or `DPC/ISR` for interrupts of the idle thread.
    pub process: ProcessId,
    /// The thread that ran.
    pub thread: ThreadId,
    /// CPU time that the sample stands for, ns: interval in force × the record's count; perf: period of the CPU event.
    pub weight: i64,
    /// Call stack.
    pub stack: Option<StackId>,
    /// The sampled instruction, only where there is no stack.
    pub frame: Option<FrameId>,
    /// Priority of the thread.
    pub priority: Option<i8>,
    /// See [`sample_flags`].
    pub flags: i8,
}

/// Table `counter_samples`: one overflow of a hardware counter (PMC sample). Never CPU time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterSampleRow {
    /// Time of the sample.
    pub time: i64,
    /// CPU.
    pub cpu: i16,
    /// Process of the thread.
    pub process: ProcessId,
    /// The thread that ran.
    pub thread: ThreadId,
    /// Number of the profile source; named in `trace.json`.
    pub source: i32,
    /// Call stack.
    pub stack: Option<StackId>,
    /// The sampled instruction, only where there is no stack.
    pub frame: Option<FrameId>,
}

/// Bits of [`ContextSwitchRow::flags`].
pub mod switch_flags {
    /// The off-CPU span touches a broken switch chain: its time is unknown, neither wait nor ready.
    pub const BROKEN: i16 = 1;
    /// The thread was not seen to leave: off the CPU at the left edge. Counted as open up to `ready_time`, which is only set
    /// where the thread was born inside the recording.
    pub const OPEN_LEFT: i16 = 2;
    /// No switch-in: the row closes a span that is still open at the end of the thread or of the recording.
    pub const OPEN_RIGHT: i16 = 4;
    /// No switch-in: the row ends a span of unknown time at the moment at which a broken chain shows the thread running.
    pub const GAP: i16 = 8;
    /// The thread left while runnable: the whole span is ready time.
    pub const PREEMPTED: i16 = 16;
    /// The ready event ran in a deferred procedure call, on Linux in an interrupt or a softirq; the readier is the thread that was
    /// interrupted by it.
    pub const READIED_FROM_DPC: i16 = 32;
    /// The kernel stack was swapped out when the thread was readied.
    pub const KERNEL_STACK_SWAPPED_OUT: i16 = 64;
    /// The process was swapped out when the thread was readied.
    pub const PROCESS_SWAPPED_OUT: i16 = 128;
    /// The readier handed its CPU over to the thread directly.
    pub const DIRECT_HAND_OFF: i16 = 256;
    /// The thread had been switched out in user mode (wait mode 1).
    pub const USER_MODE_WAIT: i16 = 512;
    /// No switch-in: the thread left the CPU for the last time in state Terminated. The span is empty.
    pub const TERMINATED: i16 = 1024;
    /// The bits of rows that no switch-in ends: the thread does not run after them.
    pub const NO_SWITCH_IN: i16 = OPEN_RIGHT | GAP | TERMINATED;
}

/// Table `context_switches`: one row per switch-in with the off-CPU span that it ends, and one closing row per thread
/// that is off the CPU at the end of its life or of the recording. Every thread with a switch has at least one row.
///
/// The off-CPU span is [off_time, time). Between the rows of a thread it runs: from `time` to the `off_time` of its
/// next row.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ContextSwitchRow {
    /// Time of the switch-in; of the closing for rows with `OPEN_RIGHT`; of the gap's end for `GAP`.
    pub time: i64,
    /// CPU that the thread is switched in on; `None` in closing rows.
    pub cpu: Option<i16>,
    /// The thread that is switched in.
    pub thread: ThreadId,
    /// The thread that leaves the CPU at this switch; `None` in closing and gap rows.
    pub prev_thread: Option<ThreadId>,
    /// When this thread left the CPU; the start of its life in the recording for `OPEN_LEFT`.
    pub off_time: i64,
    /// State that it entered then (0 Initialized … 5 Waiting …, on Linux a letter; see the format's documentation).
    pub off_state: Option<i8>,
    /// Wait reason, when it entered the state Waiting.
    pub wait_reason: Option<i8>,
    /// First ready event in the span.
    pub ready_time: Option<i64>,
    /// The thread that readied it.
    pub readier: Option<ThreadId>,
    /// CPU on which the ready event was logged.
    pub ready_cpu: Option<i16>,
    /// 0 none, 1 unwait, 2 boost.
    pub adjust_reason: Option<i8>,
    /// Priority increment of the ready event.
    pub adjust_increment: Option<i8>,
    /// Stack with which the thread left the CPU.
    pub wait_stack: Option<StackId>,
    /// Stack of the readier.
    pub ready_stack: Option<StackId>,
    /// Priority of the thread at the switch-in.
    pub priority: Option<i8>,
    /// Priority that the thread had when it left the CPU.
    pub off_priority: Option<i8>,
    /// C-state that the CPU came from at this switch-in, when it was idle.
    pub previous_c_state: Option<i8>,
    /// Ideal processor of the thread when it left the CPU.
    pub ideal_cpu: Option<i16>,
    /// Remaining quantum of the thread when it left the CPU, in the recorder's unit.
    pub remaining_quantum: Option<i64>,
    /// Wait time that the scheduler kept, in clock interrupts (coarse).
    pub wait_ticks: Option<i64>,
    /// See [`switch_flags`].
    pub flags: i16,
    /// Hardware counters read at this switch on this CPU, in the order named in `trace.json`.
    pub counters: Option<Vec<i64>>,
}

/// Table `marks`: a mark that somebody wrote into the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkRow {
    /// Time of the mark.
    pub time: i64,
    /// CPU.
    pub cpu: i16,
    /// Process that wrote it.
    pub process: Option<ProcessId>,
    /// Thread that wrote it.
    pub thread: Option<ThreadId>,
    /// The text.
    pub text: String,
}

/// Table `events`: one event as it was logged, with its fields.
///
/// Its texts are filled anew for each event by whoever makes the rows, so that none allocates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventRow {
    /// Time of the event.
    pub time: i64,
    /// CPU whose buffer holds it.
    pub cpu: i16,
    /// Process: that which a kernel event is about, else that which logged it.
    pub process: Option<ProcessId>,
    /// Thread, likewise.
    pub thread: Option<ThreadId>,
    /// Name of the provider, its GUID where no name is known.
    pub provider: String,
    /// Name of the event.
    pub event: String,
    /// Id; `None` for kernel and classic events, which have an opcode only.
    pub id: Option<i32>,
    /// Version of its layout.
    pub version: i16,
    /// Opcode.
    pub opcode: i16,
    /// Level: 1 critical … 5 verbose; `None` for kernel events, which have none.
    pub level: Option<i16>,
    /// Keyword bits of the event; `None` where it has none.
    pub keyword: Option<i64>,
    /// Activity that it belongs to, a GUID.
    pub activity: Option<String>,
    /// Call stack.
    pub stack: Option<StackId>,
    /// The fields as a JSON object, in the order of the payload.
    pub fields: String,
    /// Hexadecimal bytes that no field shows.
    pub raw: Option<String>,
    /// Where its description comes from: `metadata`, `tracelogging`, `manifest`, `built-in`, `unverified`; `None` where nobody
    /// describes it.
    pub schema: Option<String>,
    /// GUID of the provider or event class.
    pub guid: String,
    /// Activity from which that of the event was started, a GUID.
    pub related_activity: Option<String>,
    /// Security identifier of the user that the event names in its header items.
    pub user: Option<String>,
}

/// Kind of a disk operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i8)]
pub enum DiskOperation {
    /// Read.
    Read = 0,
    /// Write.
    Write = 1,
    /// Flush of the disk's cache.
    Flush = 2,
}

/// Table `files`: a path that disk operations and hard faults point at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// Row id.
    pub file: FileId,
    /// Path with drive letter where the volume mapping is known, else as recorded.
    pub path: String,
}

/// Table `disk_io`: one completed disk operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskIoRow {
    /// Time of the completion.
    pub time: i64,
    /// CPU that logged the completion.
    pub cpu: i16,
    /// Process that asked for it.
    pub process: Option<ProcessId>,
    /// Thread that asked for it.
    pub thread: Option<ThreadId>,
    /// Disk number.
    pub disk: i32,
    /// Read, write or flush.
    pub operation: DiskOperation,
    /// When the driver stack got it: completion − recorded response time.
    pub start: i64,
    /// Byte offset on the disk.
    pub offset: Option<i64>,
    /// Bytes.
    pub size: i64,
    /// Priority: 0 not set, 1 very low … 5 critical.
    pub priority: i8,
    /// IRP flags as recorded.
    pub irp_flags: i64,
    /// The file.
    pub file: Option<FileId>,
    /// Stack of the initiation.
    pub stack: Option<StackId>,
}

/// Table `hard_faults`: one page read in from a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HardFaultRow {
    /// Time at which the fault was resolved.
    pub time: i64,
    /// CPU.
    pub cpu: i16,
    /// Process of the faulting thread.
    pub process: Option<ProcessId>,
    /// The faulting thread.
    pub thread: Option<ThreadId>,
    /// Time of the fault.
    pub start: i64,
    /// Faulting address.
    pub address: i64,
    /// Offset in the file.
    pub offset: i64,
    /// Bytes read.
    pub size: i64,
    /// The file.
    pub file: Option<FileId>,
    /// Stack of the fault.
    pub stack: Option<StackId>,
}

/// Table `health`: what could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthRow {
    /// Kind, a stable word (`events_lost`, `broken_switch_chain` …).
    pub kind: String,
    /// How often, or how many.
    pub count: i64,
    /// Time of the first occurrence.
    pub first_time: Option<i64>,
    /// The first occurrence in words.
    pub example: Option<String>,
}

/// Table `process_summary`: every process, for instant answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessSummaryRow {
    /// The process.
    pub process: ProcessId,
    /// Samples charged to it.
    pub samples: i64,
    /// Samples of those without a stack.
    pub samples_without_stack: i64,
    /// Sampled CPU, ns: the sum of the samples' weights.
    pub cpu: i64,
    /// Time on the CPU from switches (precise), summed over the threads; `None` without switches in the recording.
    pub run: Option<i64>,
    /// Wait, summed over the threads.
    pub wait: Option<i64>,
    /// Ready, summed over the threads; `None` when the recording has neither ready events nor preemption.
    pub ready: Option<i64>,
    /// Off the CPU at the left edge, neither wait nor ready.
    pub open: Option<i64>,
    /// Unknown: threads without a switch, spans at broken chains.
    pub unknown: Option<i64>,
    /// Switch-ins.
    pub switches: Option<i64>,
    /// Distinct CPUs on which it ran (from switches, else from samples).
    pub cores_used: i32,
    /// Mean priority over samples, else over run time; `None` when neither says.
    pub priority: Option<f64>,
    /// First time at which it was seen running or sampled.
    pub first: Option<i64>,
    /// Last time at which it was seen running or sampled.
    pub last: Option<i64>,
    /// Number of methods before `method_summary` was cut.
    pub methods: i64,
    /// Number of methods kept in `method_summary`.
    pub methods_kept: i64,
}

/// Table `method_summary`: the largest methods of each process by inclusive CPU, exclusive CPU, wait and ready.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodSummaryRow {
    /// The process.
    pub process: ProcessId,
    /// Module name without path; `None` where no module is known.
    pub module: Option<String>,
    /// Function without arguments.
    pub function: String,
    /// Samples in which it occurs.
    pub samples: i64,
    /// Inclusive sampled CPU, ns.
    pub cpu: i64,
    /// Exclusive sampled CPU, ns.
    pub exclusive_cpu: i64,
    /// Union of its waits over the threads, ns.
    pub wait: Option<i64>,
    /// Plain sum of its waits.
    pub wait_sum: Option<i64>,
    /// Number of its waits.
    pub wait_count: Option<i64>,
    /// Longest single wait.
    pub wait_longest: Option<i64>,
    /// Union of its ready spans over the threads, ns.
    pub ready: Option<i64>,
    /// Plain sum of its ready spans.
    pub ready_sum: Option<i64>,
    /// Number of its ready spans.
    pub ready_count: Option<i64>,
    /// Longest single ready span.
    pub ready_longest: Option<i64>,
    /// Switch-ins whose wait stack has it.
    pub switches: Option<i64>,
    /// Distinct threads.
    pub threads: i32,
    /// First time at which it was seen in a sample or span.
    pub first: i64,
    /// Last time at which it was seen in a sample or span.
    pub last: i64,
}

/// Table `tag_summary`: the stack tags of each process. A cache like `method_summary`, but whole.
#[derive(Clone, Debug, PartialEq)]
pub struct TagSummaryRow {
    /// The process.
    pub process: ProcessId,
    /// Hash of the tag files; `None` for tags that were imported, whose files are not known.
    pub tag_set: Option<String>,
    /// Full name of the tag, `Parent\\Child`.
    pub tag: String,
    /// Samples whose stack has it; with children those of all below it.
    pub samples: i64,
    /// Sampled CPU of these, ns.
    pub cpu: i64,
    /// Sampled CPU of the tag alone, ns: the same, unless tags have children.
    pub exclusive_cpu: i64,
    /// Union of its waits over the threads, ns.
    pub wait: Option<i64>,
    /// Plain sum of its waits.
    pub wait_sum: Option<i64>,
    /// Number of its waits.
    pub wait_count: Option<i64>,
    /// Longest single wait.
    pub wait_longest: Option<i64>,
    /// Union of its ready spans over the threads, ns.
    pub ready: Option<i64>,
    /// Plain sum of its ready spans.
    pub ready_sum: Option<i64>,
    /// Number of its ready spans.
    pub ready_count: Option<i64>,
    /// Longest single ready span.
    pub ready_longest: Option<i64>,
    /// Switch-ins whose wait stack has it.
    pub switches: Option<i64>,
    /// Distinct threads; `None` for imported tags.
    pub threads: Option<i32>,
    /// First time at which it was seen in a sample or span.
    pub first: Option<i64>,
    /// Last time at which it was seen in a sample or span.
    pub last: Option<i64>,
}
