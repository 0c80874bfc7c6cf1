//! Files, disk operations and pages read in.

use tracesift_trace::rows::{DiskIoRow, DiskOperation, FileRow, HardFaultRow};
use tracesift_trace::{FileId, ProcessId, StackId, ThreadId};

use crate::column::Timing;
use crate::table::table;

table! {
    FileRow in "files", always: false, Timing::Untimed,
    "A path that disk operations and hard faults point at.";
    file: FileId, Delta, "", "Row id, given at first sight.", "made by the extract";
    path: String, Plain, "", "Path, with drive letter where the volume mapping is known, else as recorded.", "FileIO/Name, FileCreate, FileRundown; SysConfig/VolumeMapping";
}

table! {
    DiskIoRow in "disk_io", always: false, Timing::At("time"),
    "One completed disk operation. It belongs to a time range when it completes there.";
    time: i64, Delta, "ns", "Time of the completion.", "DiskIO/Read, Write, FlushBuffers; block_rq_complete";
    cpu: i16, Dictionary, "", "CPU that logged the completion.", "buffer that holds the event";
    process: Option<ProcessId>, Dictionary, "", "Process that asked for it.", "`threads`";
    thread: Option<ThreadId>, Dictionary, "", "Thread that asked for it; on Linux the one that ran when the first part of it was asked for, of what the kernel writes later one of its own.", "DiskIO/Read IssuingThreadId, else the init event with the same IRP; block_bio_queue, else block_rq_insert, else block_rq_issue";
    disk: i32, Dictionary, "", "Disk number; on Linux the device number (major × 2^20 + minor).", "DiskIO/Read DiskNumber; block_rq_complete dev";
    operation: DiskOperation, Dictionary, "", "0 read, 1 write, 2 flush. Discards and other operations have no row; they are counted in `health`.", "name of the DiskIO event; block_rq_complete rwbs";
    start: i64, Delta, "ns", "When the driver stack got it: completion − recorded response time; on Linux when it was put into the driver's queue, where that is recorded, else given to the device.", "DiskIO/Read HighResResponseTime; block_rq_insert, else block_rq_issue";
    offset: Option<i64>, Plain, "bytes", "Offset on the disk.", "DiskIO/Read ByteOffset; block_rq_issue sector";
    size: i64, Dictionary, "bytes", "Bytes read or written.", "DiskIO/Read TransferSize; block_rq_issue nr_sector";
    priority: i8, Dictionary, "", "0 not set, 1 very low, 2 low, 3 normal, 4 high, 5 critical; of Linux by class: 1 idle, 3 best effort, 4 real time, 0 where none was set or the kernel does not tell.", "DiskIO/Read IrpFlags bits 17 to 19; block_rq_issue ioprio";
    irp_flags: i64, Dictionary, "", "Flags of the I/O request packet as recorded.", "DiskIO/Read IrpFlags";
    file: Option<FileId>, Plain, "", "The file.", "DiskIO/Read FileObject, FileIO/Name";
    stack: Option<StackId>, Plain, "", "Stack of the initiation.", "StackWalk/Stack of DiskIO/ReadInit, WriteInit, FlushInit; call chain of the event that `thread` comes from";
}

table! {
    HardFaultRow in "hard_faults", always: false, Timing::At("time"),
    "One page fault that had to read from a file. It belongs to a time range when it is resolved there.";
    time: i64, Delta, "ns", "Time at which the fault was resolved.", "Memory/HardFault";
    cpu: i16, Dictionary, "", "CPU.", "buffer that holds the event";
    process: Option<ProcessId>, Dictionary, "", "Process of the faulting thread.", "`threads`";
    thread: Option<ThreadId>, Dictionary, "", "The faulting thread.", "Memory/HardFault TThreadId";
    start: i64, Delta, "ns", "Time of the fault.", "Memory/HardFault InitialTime";
    address: i64, Plain, "", "Faulting address; addresses above 2^63 are negative.", "Memory/HardFault VirtualAddress";
    offset: i64, Plain, "bytes", "Offset in the file.", "Memory/HardFault ReadOffset";
    size: i64, Dictionary, "bytes", "Bytes read.", "Memory/HardFault ByteCount";
    file: Option<FileId>, Plain, "", "The file.", "Memory/HardFault FileObject, FileIO/Name";
    stack: Option<StackId>, Plain, "", "Stack of the fault.", "StackWalk/Stack of this event";
}
