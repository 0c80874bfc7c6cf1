//! Waits for locks.

use crate::ids::{ProcessId, StackId, ThreadId};
use crate::row;

/// Values of [`LockWaitRow::source`]. More may come.
pub mod lock_sources {
    /// .NET: a monitor (`lock`).
    pub const MONITOR: i8 = 0;
    /// .NET: a wait handle.
    pub const WAIT_HANDLE: i8 = 1;
    /// Linux: a lock of the kernel.
    pub const KERNEL: i8 = 2;
}

/// Bits of [`LockWaitRow::flags`], those of Linux.
pub mod lock_flags {
    /// The thread spins.
    pub const SPIN: i32 = 1;
    /// It wants to read.
    pub const READ: i32 = 2;
    /// It wants to write.
    pub const WRITE: i32 = 4;
    /// The lock is of a real-time kernel.
    pub const REAL_TIME: i32 = 8;
    /// The lock has a part per CPU.
    pub const PER_CPU: i32 = 16;
    /// The lock is a mutex.
    pub const MUTEX: i32 = 32;
}

row! {
    /// One wait of a thread for a lock that another thread held. A wait whose begin was not recorded
    /// has no row; `health` counts it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct LockWaitRow in "lock_waits", always: false, since: 7, Span(start, time) {
        /// Time at which the thread got the lock, or gave up. Where `open`: the end of the recording.
        time: i64, Delta, "ns", "DotNETRuntime 91, 302; lock:contention_end";
        /// Time at which it began to wait.
        start: i64, Delta, "ns", "DotNETRuntime 81, 301; lock:contention_begin";
        /// CPU of the end; −1 where a Linux recording does not say.
        cpu: i16, Dictionary, "", "buffer that holds the event; perf sample cpu";
        /// Process of the thread.
        process: Option<ProcessId>, Dictionary, "", "header of the event; `threads`";
        /// The thread that waited; of a lock of the Linux kernel that an interrupt wanted, the
        /// interrupted one.
        thread: Option<ThreadId>, Dictionary, "", "header of the event; perf sample tid";
        /// Address of the lock, in .NET of the object; null where the version of the event has none.
        lock: Option<i64>, Plain, "", "LockID, AssociatedObjectID; lock_addr";
        /// The thread that held the lock when the wait began; null where it is not recorded.
        owner: Option<ThreadId>, Dictionary, "", "LockOwnerThreadID";
        /// 0 .NET monitor, 1 .NET wait handle, 2 lock of the Linux kernel. More may come.
        source: i8, Dictionary, "", "event";
        /// Whether the lock is one of the runtime itself, or of the kernel.
        native: Option<bool>, Plain, "", "ContentionFlags; true of Linux";
        /// Linux: 1 spins, 2 reads, 4 writes, 8 real time, 16 per CPU, 32 mutex; 0 a semaphore.
        flags: Option<i32>, Dictionary, "", "contention_begin flags";
        /// Duration that the .NET runtime measured.
        measured: Option<i64>, Plain, "ns", "DotNETRuntime 91 DurationNs";
        /// Call stack of the begin.
        stack: Option<StackId>, Plain, "", "stack of the event; call chain of contention_begin";
        /// True: the wait lasts at the end of the recording, or its end was not recorded.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}
