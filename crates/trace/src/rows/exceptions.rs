//! Exceptions and signals.

use crate::ids::{FrameId, ProcessId, StackId, ThreadId};
use crate::row;

/// Values of [`ExceptionRow::kind`]. More may come.
pub mod exception_kinds {
    /// An exception of .NET.
    pub const DOT_NET: i8 = 0;
    /// An exception of C++.
    pub const CPP: i8 = 1;
    /// A signal of Linux.
    pub const SIGNAL: i8 = 2;
}

/// Bits of [`ExceptionRow::flags`], those of the .NET runtime.
pub mod exception_flags {
    /// It has an inner exception.
    pub const INNER: i32 = 1;
    /// It was thrown while another one was handled.
    pub const NESTED: i32 = 2;
    /// It is an exception that was caught and is thrown once more.
    pub const RETHROWN: i32 = 4;
    /// It may tell of damaged memory.
    pub const CORRUPTED_STATE: i32 = 8;
}

/// Values of [`ExceptionRow::handling`]. More may come.
pub mod exception_handling {
    /// The recording does not say.
    pub const UNKNOWN: i8 = 0;
    /// A catch block, or a handler of signals, ran.
    pub const CAUGHT: i8 = 1;
    /// A filter looked at it; nobody was seen to catch it.
    pub const FILTERED: i8 = 2;
    /// Nobody was seen to catch it, though the recording tells of catch blocks of the process.
    pub const NOT_CAUGHT: i8 = 3;
    /// It ended the process.
    pub const UNHANDLED: i8 = 4;
    /// A signal that the process ignores, or that was pending already.
    pub const NO_EFFECT: i8 = 5;
}

row! {
    /// One exception that was thrown, or one signal that was sent. A signal that the kernel makes to end
    /// the other threads of a process has no row.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ExceptionRow in "exceptions", always: false, since: 7, At(time) {
        /// Time of the throw; of a signal the time at which it was sent, or of its delivery where that
        /// alone is recorded.
        time: i64, Delta, "ns", "DotNETRuntime Exception/Start (80); sdt_libstdcxx:throw, rethrow; signal:signal_generate, signal_deliver";
        /// CPU of the throw; −1 where a Linux recording does not say.
        cpu: i16, Dictionary, "", "buffer that holds the event; perf sample cpu";
        /// Process of the thread; of a signal the process that got it.
        process: Option<ProcessId>, Dictionary, "", "header of the event; `threads`";
        /// Thread that threw; of a signal the thread that got it.
        thread: Option<ThreadId>, Dictionary, "", "header of the event; perf sample tid; signal_generate pid";
        /// Stack of the throw; of a signal that of the sender: of a fault the code that failed.
        stack: Option<StackId>, Plain, "", "stack of the event, or CLRStackWalk (82) behind it; call chain of the sample";
        /// 0 .NET, 1 C++, 2 signal of Linux. More may come.
        kind: i8, Dictionary, "", "event";
        /// Number of the .NET runtime in its process.
        runtime: Option<i16>, Dictionary, "", "ClrInstanceID";
        /// Type with its namespace; of a signal its name. Null: not recorded, as of C++.
        exception_type: Option<String>, Dictionary, "", "ExceptionType; sig";
        /// Message; of a signal the reason, with the sender's process id where a process sent it.
        message: Option<String>, Dictionary, "", "ExceptionMessage; code, perf sample pid";
        /// Error number of Windows, without a sign.
        hresult: Option<i64>, Dictionary, "", "ExceptionHRESULT";
        /// 1 has an inner exception, 2 nested, 4 thrown once more, 8 may tell of damaged memory. Null for
        /// signals.
        flags: Option<i32>, Dictionary, "", "ExceptionFlags; sdt_libstdcxx:rethrow";
        /// Method with the catch block.
        caught_by: Option<String>, Dictionary, "", "ExceptionCatch/Start (250) MethodName";
        /// First instruction of the catch block, or of the handler of a signal.
        caught_frame: Option<FrameId>, Dictionary, "", "ExceptionCatch/Start EntryEIP; signal_deliver sa_handler";
        /// Time at which the catch block or the handler began.
        caught: Option<i64>, Plain, "ns", "ExceptionCatch/Start; sdt_libstdcxx:catch; signal:signal_deliver";
        /// 0 unknown, 1 caught, 2 a filter looked at it and nobody was seen to catch it, 3 nobody was seen
        /// to catch it, 4 it ended the process, 5 a signal without effect. More may come.
        handling: i8, Dictionary, "", "made by the extract";
    }
}
