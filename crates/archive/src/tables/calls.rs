//! What programs ask the kernel for: system calls, file operations, pages.

use tracesift_trace::rows::{FileIoRow, PageFaultRow, SyscallNameRow, SyscallRow};
use tracesift_trace::{FileId, FrameId, ProcessId, StackId, ThreadId};

use crate::column::Timing;
use crate::table::table;

table! {
    PageFaultRow in "page_faults", always: false, Timing::At("time"),
    "One page fault, or as many as a sample of them stands for; from schema 1.3. Of a recording in which several events tell of the same faults one is used: minor and major faults, else all, else the traps.";
    time: i64, Delta, "ns", "Time of the fault.", "perf page-faults, minor-faults, major-faults; exceptions:page_fault_user, page_fault_kernel";
    cpu: i16, Dictionary, "", "CPU.", "perf sample cpu";
    process: ProcessId, Dictionary, "", "Process of the thread.", "`threads`";
    thread: ThreadId, Dictionary, "", "The thread.", "perf sample tid";
    address: Option<i64>, Plain, "", "The address that was not mapped (`perf record -d`); addresses above 2^63 are negative.", "perf sample addr; page_fault_user address";
    kind: i8, Dictionary, "", "0 unknown, 1 minor (no data had to be read), 2 major. More may come.", "event";
    kernel: Option<bool>, Plain, "", "Whether the kernel touched it on behalf of the thread, and not the program itself.", "perf sample misc; name of the tracepoint";
    weight: i64, Dictionary, "", "How many faults the row stands for.", "perf sample period";
    stack: Option<StackId>, Plain, "", "Call stack.", "perf sample callchain";
    frame: Option<FrameId>, Plain, "", "The instruction, only where there is no stack.", "perf sample ip";
}

table! {
    SyscallRow in "syscalls", always: false, Timing::Span { start: "start", end: "time" },
    "One system call; from schema 1.3. A call that has not returned at the end of the recording, or never does (`exit`), has no result.";
    time: i64, Delta, "ns", "Time of the return. A call that has not returned ends with its thread, else with the recording; one that never returns (`exit`, `exit_group`) ends when it starts.", "raw_syscalls:sys_exit, else syscalls:sys_exit_*";
    start: i64, Delta, "ns", "Time of the call.", "raw_syscalls:sys_enter, else syscalls:sys_enter_*";
    cpu: i16, Dictionary, "", "CPU on which it returned; of the call, where it has not.", "perf sample cpu";
    process: ProcessId, Dictionary, "", "Process of the thread.", "`threads`";
    thread: ThreadId, Dictionary, "", "The thread that called.", "perf sample tid";
    number: i32, Dictionary, "", "Number of the call; its name is in `syscall_names`.", "sys_enter id, __syscall_nr";
    result: Option<i64>, Plain, "", "What it returned; null: it has not.", "sys_exit ret";
    error: Option<i64>, Dictionary, "", "Number of the error (errno) with which it failed; null: it succeeded.", "sys_exit ret from −4095 to −1";
    stack: Option<StackId>, Plain, "", "Call stack at the entry.", "call chain of sys_enter";
}

table! {
    SyscallNameRow in "syscall_names", always: false, Timing::Untimed,
    "The name of a system call that has rows; from schema 1.3.";
    number: i32, Plain, "", "Its number.", "`syscalls`";
    name: String, Plain, "", "Its name, such as `openat`.", "the kernel's table for HEADER_ARCH, else name of the tracepoint";
}

table! {
    FileIoRow in "file_io", always: false, Timing::Span { start: "start", end: "time" },
    "One completed file operation, with those of what else has a descriptor (pipes, sockets, devices) on Linux; from schema 1.3.";
    time: i64, Delta, "ns", "Time of the completion.", "sys_exit";
    start: i64, Delta, "ns", "Time at which it was asked for.", "sys_enter";
    cpu: i16, Dictionary, "", "CPU of the completion.", "perf sample cpu";
    process: ProcessId, Dictionary, "", "Process of the thread.", "`threads`";
    thread: ThreadId, Dictionary, "", "The thread that asked.", "perf sample tid";
    operation: i8, Dictionary, "", "0 open, 1 close, 2 read, 3 write, 4 flush, 5 query attributes, 6 set attributes or size, 7 delete, 8 rename, 9 list directory, 10 map, 11 create directory, link or special file, 12 set owner or rights. More may come.", "name of the system call";
    handle: Option<i64>, Plain, "", "The open file: its descriptor; of an open the new one. Null where the call names a path.", "arguments of sys_enter, ret of sys_exit";
    offset: Option<i64>, Plain, "bytes", "Where in the file, where the call says so.", "arguments of sys_enter";
    size: Option<i64>, Plain, "bytes", "Bytes that were asked for.", "arguments of sys_enter";
    transferred: Option<i64>, Plain, "bytes", "Bytes that were read or written; of a list of a directory those of its entries.", "sys_exit ret";
    error: Option<i64>, Dictionary, "", "Number of the error (errno) with which it failed; null: it succeeded.", "sys_exit ret from −4095 to −1";
    file: Option<FileId>, Plain, "", "The file, where the recording has its name: paths of Linux calls stand in the memory of the program, which is not recorded.", "none yet";
    syscall: Option<i32>, Dictionary, "", "Number of the system call.", "sys_enter id, __syscall_nr";
    stack: Option<StackId>, Plain, "", "Call stack of the one who asked.", "call chain of sys_enter";
}
