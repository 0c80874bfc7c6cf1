//! The thread pool of .NET programs.

use crate::ids::{ProcessId, StackId, ThreadId};
use crate::row;

/// Values of [`ThreadPoolRow::event`]. More may come.
pub mod thread_pool_events {
    /// The number of worker threads that the pool wants was changed.
    pub const ADJUSTED: i8 = 0;
    /// A worker thread started.
    pub const STARTED: i8 = 1;
    /// A worker thread ended.
    pub const STOPPED: i8 = 2;
    /// A worker thread has nothing to do.
    pub const WAITS: i8 = 3;
    /// The smallest or the largest number of threads was set.
    pub const LIMITS: i8 = 4;
    /// Throughput was measured.
    pub const SAMPLE: i8 = 5;
}

/// Values of [`ThreadPoolRow::reason`], those of .NET. More may come.
pub mod adjustment_reasons {
    /// Work waits, and no thread takes any.
    pub const STARVATION: i8 = 6;
}

/// Values of [`WorkItemRow::source`]. More may come.
pub mod work_item_sources {
    /// The pool, as the runtime logs it.
    pub const RUNTIME: i8 = 0;
    /// Tasks.
    pub const TASK: i8 = 1;
    /// The pool, as the class library logs it.
    pub const FRAMEWORK: i8 = 2;
}

row! {
    /// One event of the thread pool of a .NET program.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ThreadPoolRow in "thread_pool", always: false, since: 7, At(time) {
        /// Time of the event.
        time: i64, Delta, "ns", "DotNETRuntime 50, 51, 54, 55, 57, 59";
        /// CPU.
        cpu: i16, Dictionary, "", "buffer that holds the event";
        /// Process.
        process: Option<ProcessId>, Dictionary, "", "header of the event";
        /// Thread that logged the event.
        thread: Option<ThreadId>, Dictionary, "", "header of the event";
        /// 0 the wanted number of workers was changed, 1 worker started, 2 worker stopped, 3 worker
        /// waits for work, 4 smallest and largest number of workers, 5 measured throughput. More may
        /// come.
        event: i8, Dictionary, "", "event id";
        /// Workers: of an adjustment the number that the pool wants from now on; of a worker the number
        /// of active ones; of limits the smallest number.
        workers: Option<i32>, Plain, "", "NewWorkerThreadCount, ActiveWorkerThreadCount, MinWorkerThreads";
        /// Of limits the largest number of workers; of a worker the number of retired ones.
        others: Option<i32>, Plain, "", "MaxWorkerThreads, RetiredWorkerThreadCount";
        /// Why the number was changed: 0 warm-up, 1 initializing, 2 random move, 3 climbing move, 4
        /// change point, 5 stabilizing, 6 starvation, 7 thread timed out, 8 cooperative blocking.
        reason: Option<i8>, Dictionary, "", "Reason";
        /// Work items completed per second.
        throughput: Option<f64>, Plain, "1/s", "AverageThroughput, Throughput";
        /// Of an adjustment: change of the number since the adjustment before in the runtime of the
        /// process; null of the first one.
        change: Option<i32>, Plain, "", "made by the extract";
        /// Of an adjustment: time since the one before.
        since: Option<i64>, Plain, "ns", "made by the extract";
        /// Of an adjustment: that time, if the one before was for starvation; the pool was starved for
        /// so long.
        starved: Option<i64>, Plain, "ns", "made by the extract";
        /// Number of the runtime in the process.
        runtime: Option<i32>, Dictionary, "", "ClrInstanceID";
        /// Call stack.
        stack: Option<StackId>, Plain, "", "stack of the event";
    }
}

row! {
    /// One piece of work that a .NET program queued for its pool, or one task. Several sources can tell of the same work, each in a row
    /// of its own. Work that was queued before the recording has no row; `health` counts it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct WorkItemRow in "work_items", always: false, since: 7, Span(start, time) {
        /// Time at which the work was done: of a task its completion; of other work, whose end is not logged, the time at which a
        /// thread took it. Where neither was recorded: the end of the recording, or the time at which events were lost.
        time: i64, Delta, "ns", "DotNETRuntime 62; TplEventSource 9; FrameworkEventSource 31";
        /// Time at which it was queued.
        start: i64, Delta, "ns", "DotNETRuntime 61; TplEventSource 7; FrameworkEventSource 30";
        /// CPU of the last event of it.
        cpu: i16, Dictionary, "", "buffer that holds the event";
        /// Process.
        process: Option<ProcessId>, Dictionary, "", "header of the event";
        /// Thread that queued it.
        thread: Option<ThreadId>, Dictionary, "", "header of the event";
        /// Thread that took it; null where none did in the recording.
        worker: Option<ThreadId>, Dictionary, "", "header of DotNETRuntime 62, TplEventSource 8, FrameworkEventSource 31";
        /// 0 the pool as the runtime logs it, 1 a task, 2 the pool as the class library logs it. More may come.
        source: i8, Dictionary, "", "provider";
        /// Number of the task, or what the pool knows the work by. Both are used again.
        id: i64, Plain, "", "WorkID, TaskID, workID";
        /// Time at which a thread took the work out of the queue, or began the task; null where none did in the recording.
        started: Option<i64>, Plain, "ns", "DotNETRuntime 62; TplEventSource 8; FrameworkEventSource 31";
        /// Time at which the task was completed; null of other work, and where it was not recorded.
        ended: Option<i64>, Plain, "ns", "TplEventSource 9";
        /// Number of the runtime in the process; null of tasks and of the class library.
        runtime: Option<i32>, Dictionary, "", "ClrInstanceID";
        /// Call stack of the event that queued it.
        stack: Option<StackId>, Plain, "", "stack of the event";
        /// True: the recording does not tell that a thread took it. A thread that waits for a task may run the work itself, which the
        /// pool does not log.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}
