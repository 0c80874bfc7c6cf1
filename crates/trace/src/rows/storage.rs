//! Files, disk operations and hard faults.

use crate::ids::{FileId, ProcessId, StackId, ThreadId};
use crate::row;

/// Kind of a disk operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i8)]
pub enum DiskOperation {
    /// Read.
    #[default]
    Read = 0,
    /// Write.
    Write = 1,
    /// Flush of the disk's cache.
    Flush = 2,
}

row! {
    /// A path that disk operations, hard faults, mapped views and operations on files point at. Of
    /// Linux also the type of a descriptor without a path: `socket:`, `pipe:`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct FileRow in "files", always: false, since: 0, Untimed() {
        /// Row id, in the order of first occurrence.
        file: FileId, Delta, "", "made by the extract";
        /// Path, with drive letter where the volume mapping is known, else as recorded.
        path: String, Plain, "", "FileIO/Name, FileCreate, FileRundown; SysConfig/VolumeMapping; probes of `tracesift record`, /proc/PID/fd";
    }
}

row! {
    /// One completed disk operation. It belongs to a time range when it completes in it.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct DiskIoRow in "disk_io", always: false, since: 0, Span(start, time) {
        /// Time of the completion.
        time: i64, Delta, "ns", "DiskIO/Read, Write, FlushBuffers; block_rq_complete";
        /// CPU that logged the completion.
        cpu: i16, Dictionary, "", "buffer that holds the event";
        /// Process of the thread that requested it.
        process: Option<ProcessId>, Dictionary, "", "`threads`";
        /// Thread that requested it; on Linux the thread that ran when the first part of it was
        /// requested, which is a kernel thread for delayed writes.
        thread: Option<ThreadId>, Dictionary, "", "DiskIO/Read IssuingThreadId, else the init event with the same IRP; block_bio_queue, else block_rq_insert, else block_rq_issue";
        /// Disk number; on Linux the device number (major × 2^20 + minor).
        disk: i32, Dictionary, "", "DiskIO/Read DiskNumber; block_rq_complete dev";
        /// 0 read, 1 write, 2 flush. Discards and other operations have no row; they are counted in
        /// `health`.
        operation: DiskOperation, Dictionary, "", "name of the DiskIO event; block_rq_complete rwbs";
        /// Time at which the driver stack got it: completion − recorded response time; on Linux the
        /// time at which it entered the driver's queue, where that is recorded, else reached the
        /// device.
        start: i64, Delta, "ns", "DiskIO/Read HighResResponseTime; block_rq_insert, else block_rq_issue";
        /// Offset on the disk.
        offset: Option<i64>, Plain, "bytes", "DiskIO/Read ByteOffset; block_rq_issue sector";
        /// Bytes read or written.
        size: i64, Dictionary, "bytes", "DiskIO/Read TransferSize; block_rq_issue nr_sector";
        /// 0 not set, 1 very low, 2 low, 3 normal, 4 high, 5 critical; on Linux by class: 1 idle, 3
        /// best effort, 4 real time, 0 where none was set or the kernel does not tell.
        priority: i8, Dictionary, "", "DiskIO/Read IrpFlags bits 17 to 19; block_rq_issue ioprio";
        /// Flags of the I/O request packet as recorded.
        irp_flags: i64, Dictionary, "", "DiskIO/Read IrpFlags";
        /// The file.
        file: Option<FileId>, Plain, "", "DiskIO/Read FileObject, FileIO/Name";
        /// Stack of the initiation.
        stack: Option<StackId>, Plain, "", "StackWalk/Stack of DiskIO/ReadInit, WriteInit, FlushInit; call chain of the event that `thread` comes from";
        /// Service time: for how long the disk worked for this operation, counted from `start`, or
        /// from the completion before it on this disk where that is later. Service times of a disk
        /// do not overlap. Null where a loss of records, or the begin of the recording, may hide the
        /// completion before it.
        service: Option<i64>, Dictionary, "ns", "made by the extract", since: 6;
        /// Other operations under way on the disk when it started.
        queue_start: Option<i16>, Dictionary, "", "made by the extract", since: 6;
        /// Other operations under way on the disk when it completed.
        queue_end: Option<i16>, Dictionary, "", "made by the extract", since: 6;
        /// Of the time from `start` to `time`, how long it waited in the kernel's queue before the
        /// device got it. Linux only; null where the recording does not have both events.
        queued: Option<i64>, Dictionary, "ns", "block_rq_insert to the last block_rq_issue", since: 6;
        /// Number of the error with which it failed; null without an error. Linux only.
        error: Option<i64>, Dictionary, "", "block_rq_complete error; block_rq_error error", since: 6;
        /// Priority of Linux as recorded: class × 8,192 + hint × 8 + level. Null where the kernel does
        /// not record it.
        io_class: Option<i16>, Dictionary, "", "block_rq_issue ioprio, else block_rq_insert", since: 6;
        /// True: it is a part of a larger operation, whose stack, thread and file it has. Null: it is
        /// not, or the recording does not say.
        parent: Option<bool>, Plain, "", "SplitIo", since: 6;
    }
}

row! {
    /// One page fault that read from a file. It belongs to a time range when it is resolved in it. Of
    /// Linux a major fault of which the kernel told the page: `page_faults` has it, too.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct HardFaultRow in "hard_faults", always: false, since: 0, Span(start, time) {
        /// Time at which the fault was resolved.
        time: i64, Delta, "ns", "Memory/HardFault; perf major-faults";
        /// CPU; −1 where a Linux recording does not say.
        cpu: i16, Dictionary, "", "buffer that holds the event; perf sample cpu";
        /// Process of the faulting thread.
        process: Option<ProcessId>, Dictionary, "", "`threads`";
        /// The faulting thread.
        thread: Option<ThreadId>, Dictionary, "", "Memory/HardFault TThreadId; perf sample tid";
        /// Time of the fault; on Linux without the trap the time at which the kernel looked for the
        /// page.
        start: i64, Delta, "ns", "Memory/HardFault InitialTime; exceptions:page_fault_user, page_fault_kernel, else filemap:mm_filemap_fault";
        /// Faulting address; addresses above 2^63 are negative.
        address: i64, Plain, "", "Memory/HardFault VirtualAddress; perf sample addr, else page_fault_user address";
        /// Offset in the file; on Linux that of the page.
        offset: i64, Plain, "bytes", "Memory/HardFault ReadOffset; mm_filemap_fault index, else mm_filemap_add_to_page_cache index";
        /// Bytes read. On Linux the pages of the file that the thread added to the page cache, with
        /// what is read ahead; 0 where another thread was reading the page already.
        size: i64, Dictionary, "bytes", "Memory/HardFault ByteCount; mm_filemap_add_to_page_cache";
        /// The file. Of Linux `major:minor:inode` where no mapping tells its path.
        file: Option<FileId>, Plain, "", "Memory/HardFault FileObject, FileIO/Name; MMAP2 by device and inode, else by address";
        /// Stack of the fault.
        stack: Option<StackId>, Plain, "", "StackWalk/Stack of this event; call chain of major-faults";
    }
}

row! {
    /// Operations on one file, or on one disk, of an import of an extract of ETWAnalyzer: their sums,
    /// without times and without their number.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct DiskSummaryRow in "disk_summary", always: false, since: 7, Untimed() {
        /// The process that asked, where a single one did. Null: several did, or none is known.
        process: Option<ProcessId>, Dictionary, "", "Disk Processes";
        /// Disk number; null where the operations have a file: the extract has its drive instead.
        disk: Option<i32>, Dictionary, "", "Disk DriveToPath";
        /// 0 read, 1 write, 2 flush.
        operation: DiskOperation, Dictionary, "", "Disk FilePathToDiskEvents";
        /// The file; null: none, or not known.
        file: Option<FileId>, Plain, "", "Disk FilePathToDiskEvents";
        /// Bytes read or written.
        size: i64, Plain, "bytes", "Disk SizeInBytes";
        /// Sum of the service times, each cut to whole µs.
        service: i64, Plain, "ns", "Disk DiskServiceTimeInus";
        /// I/O priority, as in `disk_io`; null: the operations had several.
        priority: Option<i8>, Dictionary, "", "Disk Priorities";
    }
}

row! {
    /// Operations of one kind of one process on one file, of an import of an extract of ETWAnalyzer:
    /// their sums, without times. It has opens, closes, cleanups, reads, writes, deletes, renames and
    /// changes of owner or rights.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct FileSummaryRow in "file_summary", always: false, since: 7, Untimed() {
        /// The process that asked.
        process: Option<ProcessId>, Dictionary, "", "FileIO Process";
        /// The file; null where the extract has an empty path.
        file: Option<FileId>, Plain, "", "FileIO FileName2PerProcessMapping";
        /// Kind of the operation, as in `file_io`.
        operation: i8, Dictionary, "", "FileIO Open, Close, Read, Write, Delete, Rename, SetSecurity";
        /// Number of operations.
        count: i64, Plain, "", "FileIO Count, Cleanups; number of Times";
        /// Bytes that reads or writes asked for; null: neither reads nor writes.
        asked: Option<i64>, Plain, "bytes", "FileIO AccessedBytes";
        /// Largest offset to which reads or writes came; null: neither reads nor writes.
        position: Option<i64>, Plain, "bytes", "FileIO MaxFilePosition";
        /// Sum of the durations, each rounded to whole µs; null where the extract has none. Closes have
        /// the time of the cleanups, too, which have one themselves only without closes.
        duration: Option<i64>, Plain, "ns", "FileIO Durationus";
        /// The errors with which operations failed, each once, as NTSTATUS. Null: the extract does not tell
        /// whether some failed.
        errors: Option<Vec<i64>>, Plain, "", "FileIO NtStatus";
    }
}
