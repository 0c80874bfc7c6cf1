//! System calls and what they do to files.

use crate::ids::{FileId, ProcessId, StackId, ThreadId};

/// Table `syscalls`: one system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyscallRow {
    /// Time of the return. A call that has not returned ends with its thread, else with the recording; one that never returns (`exit`,
    /// `exit_group`) ends when it starts.
    pub time: i64,
    /// Time of the call.
    pub start: i64,
    /// CPU on which it returned; of the call, where it has not.
    pub cpu: i16,
    /// Process of the thread.
    pub process: ProcessId,
    /// The thread that called.
    pub thread: ThreadId,
    /// Number of the call on that architecture.
    pub number: i32,
    /// What it returned; `None`: it has not.
    pub result: Option<i64>,
    /// Number of the error with which it failed.
    pub error: Option<i64>,
    /// Call stack of the call.
    pub stack: Option<StackId>,
}

/// Table `syscall_names`: the name of a system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyscallNameRow {
    /// Its number.
    pub number: i32,
    /// Its name, such as `openat`.
    pub name: String,
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
}

/// Table `file_io`: one completed file operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIoRow {
    /// Time of the completion.
    pub time: i64,
    /// Time at which it was asked for.
    pub start: i64,
    /// CPU of the completion.
    pub cpu: i16,
    /// Process of the thread.
    pub process: ProcessId,
    /// The thread that asked.
    pub thread: ThreadId,
    /// See [`file_operations`].
    pub operation: i8,
    /// Descriptor of the open file in its process; of an open the new one.
    pub handle: Option<i64>,
    /// Where in the file, where the call says so.
    pub offset: Option<i64>,
    /// Bytes that were asked for.
    pub size: Option<i64>,
    /// Bytes that were read or written.
    pub transferred: Option<i64>,
    /// Number of the error with which it failed; `None` for one that succeeded.
    pub error: Option<i64>,
    /// The file.
    pub file: Option<FileId>,
    /// Number of the system call.
    pub syscall: Option<i32>,
    /// Stack of the one who asked.
    pub stack: Option<StackId>,
}
