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
