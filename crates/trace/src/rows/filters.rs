//! Calls of file system filter drivers.

use crate::ids::{FileId, FrameId, ModuleId, ProcessId, StackId, ThreadId};
use crate::row;

row! {
    /// One call of a routine of a file system filter driver (minifilter) for an operation on a file.
    /// A call before the operation that pends lasts until it is completed: the caller waits for so
    /// long.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct FilterCallRow in "filter_calls", always: false, since: 6, Span(start, time) {
        /// Time at which the filter was done or failed the operation. Where `open`: when the next
        /// call of the routine for the same operation began, or the end of the recording.
        time: i64, Delta, "ns", "FileIo/PreOpCompletion, PostOpCompletion, PreOpFailure, PostOpFailure";
        /// Time at which the filter was called. A failure whose begin was not recorded begins when it
        /// ends.
        start: i64, Delta, "ns", "InitialTime of a completion, else FileIo/PreOpInit, PostOpInit";
        /// CPU that logged the end.
        cpu: i16, Dictionary, "", "buffer that holds the event";
        /// Process of the thread.
        process: Option<ProcessId>, Dictionary, "", "`threads`";
        /// The thread in which the filter was called, where the recording has the begin of the call;
        /// else the thread in which the call ended.
        thread: Option<ThreadId>, Dictionary, "", "header of FileIo/PreOpInit, PostOpInit, else of the end";
        /// 0 before the operation, 1 after it.
        phase: i8, Dictionary, "", "FileIo opcode";
        /// Major function of the operation: 0 create, 2 close, 3 read, 4 write, 5 query information, 6
        /// set information, 9 flush, 12 directory, 13 file system control, 18 cleanup, … Negative ones
        /// have no request packet: −1 to −6 calls of the memory and cache manager, −13 to −18 fast
        /// I/O, −19 and −20 mount and dismount.
        major: i16, Dictionary, "", "MajorFunction";
        /// The driver; null where no loaded module has the routine.
        driver: Option<ModuleId>, Dictionary, "", "RoutineAddr, `modules`";
        /// The routine.
        frame: Option<FrameId>, Dictionary, "", "RoutineAddr";
        /// The file, where the recording has its name.
        file: Option<FileId>, Plain, "", "FileContext by names of keys, else FileObject by opens";
        /// Address of the file object.
        file_object: i64, Plain, "", "FileObject";
        /// Address of the request; null where there is none (fast I/O).
        irp: Option<i64>, Plain, "", "IrpPtr";
        /// NTSTATUS with which the filter failed the operation; null where it did not.
        status: Option<i64>, Dictionary, "", "FileIo/PreOpFailure, PostOpFailure Status";
        /// Call stack of the begin, else of the end.
        stack: Option<StackId>, Plain, "", "StackWalk/Stack of this event";
        /// True: the end of the call is not in the recording.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}
