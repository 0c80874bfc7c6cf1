//! System calls, file operations and page faults.

use crate::ids::{FileId, FrameId, ProcessId, StackId, ThreadId};
use crate::row;

/// Values of [`PageFaultRow::kind`]. More may come.
pub mod page_fault_kinds {
    /// The recording does not say.
    pub const UNKNOWN: i8 = 0;
    /// The page was in memory, or needed no data.
    pub const MINOR: i8 = 1;
    /// The page had to be read.
    pub const MAJOR: i8 = 2;
    /// Windows: the page was in memory, on the list of modified or standby pages.
    pub const TRANSITION: i8 = 3;
    /// Windows: the page is new and has zeros.
    pub const DEMAND_ZERO: i8 = 4;
    /// Windows: the page was shared until this write.
    pub const COPY_ON_WRITE: i8 = 5;
    /// Windows: the page guards the end of a stack or another region.
    pub const GUARD_PAGE: i8 = 6;
    /// Windows: the page had to be read. A row of `hard_faults` tells of the same fault.
    pub const HARD: i8 = 7;
    /// Windows: the thread must not touch the address.
    pub const ACCESS_VIOLATION: i8 = 8;
}

/// Values of [`FileIoRow::operation`]. More may come.
pub mod file_operations {
    /// A file is opened, perhaps made.
    pub const OPEN: i8 = 0;
    /// A descriptor is closed.
    pub const CLOSE: i8 = 1;
    /// Bytes are read.
    pub const READ: i8 = 2;
    /// Bytes are written.
    pub const WRITE: i8 = 3;
    /// What was written is to reach the disk.
    pub const FLUSH: i8 = 4;
    /// Attributes are asked for.
    pub const QUERY: i8 = 5;
    /// Attributes or the size are changed.
    pub const SET: i8 = 6;
    /// A name is deleted.
    pub const DELETE: i8 = 7;
    /// A name is changed.
    pub const RENAME: i8 = 8;
    /// A directory is listed.
    pub const LIST: i8 = 9;
    /// A file is mapped into memory.
    pub const MAP: i8 = 10;
    /// A directory, link or special file is made.
    pub const CREATE: i8 = 11;
    /// Owner or rights are changed.
    pub const SET_SECURITY: i8 = 12;
    /// The last handle of a file object is closed. The kernel may use the object for longer: then comes the close.
    pub const CLEANUP: i8 = 13;
    /// A control code is sent to the file system.
    pub const CONTROL: i8 = 14;
    /// A thread asks to be told of changes in a directory. The operation ends with the first change.
    pub const WAIT: i8 = 15;
    /// Owner or rights are asked for.
    pub const QUERY_SECURITY: i8 = 16;
    /// Extended attributes are asked for or changed.
    pub const EXTENDED_ATTRIBUTES: i8 = 17;
}

row! {
    /// One page fault, or as many as a sample of them stands for. Where several events of a
    /// recording report the same faults, one of them is used: minor and major faults, else all
    /// faults, else the traps.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PageFaultRow in "page_faults", always: false, since: 3, At(time) {
        /// Time of the fault.
        time: i64, Delta, "ns", "perf page-faults, minor-faults, major-faults; exceptions:page_fault_user, page_fault_kernel; Memory/TransitionFault, DemandZeroFault, CopyOnWrite, GuardMemory, HardMemory, AccessViolation";
        /// CPU; −1 where a Linux recording does not say.
        cpu: i16, Dictionary, "", "perf sample cpu; buffer that holds the event";
        /// Process of the thread.
        process: ProcessId, Dictionary, "", "`threads`";
        /// The thread.
        thread: ThreadId, Dictionary, "", "perf sample tid; header of the event, else the thread that ran on the CPU";
        /// The address that was not mapped (`perf record -d`); addresses above 2^63 are negative.
        address: Option<i64>, Plain, "", "perf sample addr; page_fault_user address; Memory VirtualAddress";
        /// 0 unknown. Linux: 1 minor (no data had to be read), 2 major. Windows: 3 transition (the
        /// page was on the list of modified or standby pages), 4 demand zero (a new page), 5 copy on
        /// write, 6 guard page, 7 hard (also a row of `hard_faults`; do not add the two), 8 access
        /// violation. More may come.
        kind: i8, Dictionary, "", "event";
        /// Whether the kernel touched the address on behalf of the thread, and not the program
        /// itself; null where the recording does not say.
        kernel: Option<bool>, Plain, "", "perf sample misc; name of the tracepoint; Memory ProgramCounter";
        /// How many faults the row stands for.
        weight: i64, Dictionary, "", "perf sample period";
        /// Call stack.
        stack: Option<StackId>, Plain, "", "perf sample callchain; StackWalk/Stack of this event";
        /// The instruction, only where there is no stack.
        frame: Option<FrameId>, Plain, "", "perf sample ip; Memory ProgramCounter";
        /// True: a major fault of Linux that is a row of `hard_faults`, too; do not add the two.
        hard: Option<bool>, Plain, "", "filemap:mm_filemap_fault, mm_filemap_add_to_page_cache", since: 6;
    }
}

row! {
    /// One system call. A call that has not returned at the end of the recording, or never returns
    /// (`exit`), has no result. A call whose thread ended before it returned has no row, nor one of
    /// Linux whose thread called again; `health` counts it. On Windows a call can lie inside of
    /// another one of its thread: the kernel calls the program back, or itself.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SyscallRow in "syscalls", always: false, since: 3, Span(start, time) {
        /// Time of the return. A call that has not returned ends with the recording; a call that
        /// never returns (`exit`, `exit_group`) ends when it starts.
        time: i64, Delta, "ns", "raw_syscalls:sys_exit, else syscalls:sys_exit_*; PerfInfo/SysClExit";
        /// Time of the call.
        start: i64, Delta, "ns", "raw_syscalls:sys_enter, else syscalls:sys_enter_*; PerfInfo/SysClEnter";
        /// CPU on which the call returned; CPU of the start where it has not returned; −1 where the
        /// recording does not say.
        cpu: i16, Dictionary, "", "perf sample cpu; buffer that holds the event";
        /// Process of the thread.
        process: ProcessId, Dictionary, "", "`threads`";
        /// The thread that called.
        thread: ThreadId, Dictionary, "", "perf sample tid; the thread that ran on the CPU";
        /// Number of the call; its name is in `syscall_names`. On Windows the frame of the routine.
        number: i32, Dictionary, "", "sys_enter id, __syscall_nr; SysCallAddress";
        /// Return value; null where the call has not returned. On Windows the NTSTATUS.
        result: Option<i64>, Plain, "", "sys_exit ret; SysCallNtStatus";
        /// Number of the error (errno) of a failed call; null where it succeeded or has not
        /// returned. On Windows an NTSTATUS of warnings and errors: bit 31 is set.
        error: Option<i64>, Dictionary, "", "sys_exit ret from −4095 to −1; SysCallNtStatus";
        /// Call stack at the entry.
        stack: Option<StackId>, Plain, "", "call chain of sys_enter; StackWalk/Stack of SysClEnter";
        /// Windows: the routine of the kernel. Its name is that of the call.
        frame: Option<FrameId>, Dictionary, "", "SysCallAddress", since: 7;
    }
}

row! {
    /// The name of a system call that has rows in `syscalls`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SyscallNameRow in "syscall_names", always: false, since: 3, Untimed() {
        /// Number of the system call.
        number: i32, Plain, "", "`syscalls`";
        /// Name of the system call, such as `openat`.
        name: String, Plain, "", "the kernel's table for HEADER_ARCH, else name of the tracepoint";
    }
}

row! {
    /// One file operation; on Linux a completed one, also on pipes, sockets and devices, which have
    /// descriptors like files. Where a recording of Windows has operations of the class FileIo and of
    /// Microsoft-Windows-Kernel-File, those of the class have rows.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct FileIoRow in "file_io", always: false, since: 3, Span(start, time) {
        /// Time of the completion. Where `open`: when the request was used again, or the end of the
        /// recording; of a recording without any completion the time of the request.
        time: i64, Delta, "ns", "sys_exit; FileIo/OperationEnd, Kernel-File 24";
        /// Time of the request.
        start: i64, Delta, "ns", "sys_enter; FileIo 64 to 82, Kernel-File 12 to 34";
        /// CPU of the completion; −1 where the recording does not say.
        cpu: i16, Dictionary, "", "perf sample cpu; buffer that holds the event";
        /// Process of the thread.
        process: ProcessId, Dictionary, "", "`threads`";
        /// The thread that requested it.
        thread: ThreadId, Dictionary, "", "perf sample tid; TTID, IssuingThreadId";
        /// 0 open, 1 close, 2 read, 3 write, 4 flush, 5 query attributes, 6 set attributes or size,
        /// 7 delete, 8 rename, 9 list directory, 10 map, 11 create directory, link or special file,
        /// 12 set owner or rights. Windows only: 13 close the last handle, 14 control code, 15 wait for
        /// changes of a directory, 16 query owner or rights, 17 extended attributes. More may come.
        operation: i8, Dictionary, "", "name of the system call; FileIo opcode, Kernel-File id";
        /// Descriptor of the open file in its process; for an open the new descriptor. Null where
        /// the call names a path. On Windows the address of the file object.
        handle: Option<i64>, Plain, "", "arguments of sys_enter, ret of sys_exit; FileObject";
        /// Offset in the file, where the call says so.
        offset: Option<i64>, Plain, "bytes", "arguments of sys_enter; Offset, ByteOffset";
        /// Bytes that were requested.
        size: Option<i64>, Plain, "bytes", "arguments of sys_enter; IoSize, Length";
        /// Bytes that were read or written; for a list of a directory the bytes of its entries.
        transferred: Option<i64>, Plain, "bytes", "sys_exit ret; ExtraInfo of the end";
        /// Number of the error of a failed operation: errno of Linux, NTSTATUS of Windows. Null where
        /// it succeeded or has not returned.
        error: Option<i64>, Dictionary, "", "sys_exit ret from −4095 to −1; NtStatus with bit 31";
        /// The file, where the recording has its name; on Linux the file that the descriptor stood
        /// for.
        file: Option<FileId>, Plain, "", "FileKey by names of keys, else FileObject by opens, OpenPath; probes of `tracesift record`, /proc/PID/fd";
        /// Number of the system call. Linux only.
        syscall: Option<i32>, Dictionary, "", "sys_enter id, __syscall_nr";
        /// Call stack of the request.
        stack: Option<StackId>, Plain, "", "call chain of sys_enter; stack of the event";
        /// How a file is opened. Windows: bits 24 to 31 have 0 supersede, 1 open, 2 create, 3 open or
        /// create, 4 overwrite, 5 overwrite or create; below these are the create options. Linux: the
        /// open flags of the call; null for `openat2`, which has them in memory, and for `creat`.
        options: Option<i64>, Dictionary, "", "CreateOptions; flags of open, openat, open_by_handle_at";
        /// Windows only, as are the next columns but `open`. Flags of the request: 1 not cached, 2 for the memory manager (paging), 4 synchronous, …
        io_flags: Option<i64>, Dictionary, "", "IoFlags, IOFlags";
        /// Kind of the information that is asked for or set (FILE_INFORMATION_CLASS), or control code.
        info_class: Option<i64>, Dictionary, "", "InfoClass";
        /// What a directory is searched for.
        pattern: Option<String>, Dictionary, "", "FileName of FileIo/DirEnum, Kernel-File 20";
        /// NTSTATUS of every completed operation, also of success: 0x103 pending, 0x104 reparse.
        status: Option<i64>, Dictionary, "", "NtStatus, Status";
        /// True: the completion is not in the recording.
        open: Option<bool>, Plain, "", "made by the extract";
        /// Address of the request of a completed operation, which rows of `filter_calls` name, too. Null
        /// if the recording has no call of a filter driver before the completion.
        irp: Option<i64>, Dictionary, "", "IrpPtr, Irp";
        /// Of a read of Linux: bytes of the pages that its thread added to the page cache meanwhile,
        /// with what is read ahead. Null of other operations and of copies, where the file is not
        /// known or not cached (`O_DIRECT`, devices, `/proc`, `/sys`), and without the event.
        cache_read: Option<i64>, Plain, "bytes", "filemap:mm_filemap_add_to_page_cache", since: 6;
    }
}
