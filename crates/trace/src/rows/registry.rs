//! Operations on the registry of Windows.

use crate::ids::{ProcessId, StackId, ThreadId};
use crate::row;

/// Values of [`RegistryRow::operation`]: the opcode of the event less 10. More may come.
pub mod registry_operations {
    /// A key is created, or opened if it is there.
    pub const CREATE: i8 = 0;
    /// A key is opened.
    pub const OPEN: i8 = 1;
    /// A key is deleted.
    pub const DELETE: i8 = 2;
    /// Information about a key is asked for.
    pub const QUERY: i8 = 3;
    /// A value is set.
    pub const SET_VALUE: i8 = 4;
    /// A value is deleted.
    pub const DELETE_VALUE: i8 = 5;
    /// A value is read.
    pub const QUERY_VALUE: i8 = 6;
    /// A subkey is listed.
    pub const ENUMERATE_KEY: i8 = 7;
    /// A value is listed.
    pub const ENUMERATE_VALUE: i8 = 8;
    /// Several values are read.
    pub const QUERY_VALUES: i8 = 9;
    /// Information about a key is set.
    pub const SET_INFORMATION: i8 = 10;
    /// A key is written to the disk.
    pub const FLUSH: i8 = 11;
    /// An access is redirected to the user's own keys.
    pub const VIRTUALIZE: i8 = 16;
    /// A key is closed.
    pub const CLOSE: i8 = 17;
    /// Owner or rights of a key are set.
    pub const SET_SECURITY: i8 = 18;
    /// Owner or rights of a key are asked for.
    pub const QUERY_SECURITY: i8 = 19;
}

row! {
    /// One operation on the registry of Windows. An operation that lasts at the end of the recording has
    /// no row, as the kernel logs an event only when the operation is done.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct RegistryRow in "registry", always: false, since: 7, Span(start, time) {
        /// Time at which the operation was done.
        time: i64, Delta, "ns", "Registry 10 to 21, 26 to 29";
        /// Time at which it began. Where `begin_unknown`: the same as `time`.
        start: i64, Delta, "ns", "InitialTime; time less ElapsedTime";
        /// CPU of the end.
        cpu: i16, Dictionary, "", "buffer that holds the event";
        /// Process.
        process: Option<ProcessId>, Dictionary, "", "header of the event, else the thread that ran on the CPU";
        /// The thread.
        thread: Option<ThreadId>, Dictionary, "", "header of the event, else the thread that ran on the CPU";
        /// 0 create, 1 open, 2 delete, 3 query, 4 set value, 5 delete value, 6 query value, 7 enumerate
        /// key, 8 enumerate value, 9 query several values, 10 set information, 11 flush, 16
        /// virtualize, 17 close, 18 set security, 19 query security. More may come.
        operation: i8, Dictionary, "", "opcode less 10";
        /// Whole name of the key. `KCB 0x…` stands for a key without a recorded name (its key control
        /// block), `handle 0x…` for one in version 0 of the event, which has handles. Null where the
        /// event names none.
        key: Option<String>, Dictionary, "", "KeyHandle by Registry 22 to 25, KeyName";
        /// Name of the value; empty: the default value of the key. Null of operations on keys, and where
        /// the event names none.
        value: Option<String>, Dictionary, "", "KeyName of Registry 14 to 16, 18, 19";
        /// NTSTATUS. Bit 31 is set in warnings and errors.
        status: i64, Dictionary, "", "Status";
        /// Number of the subkey or value of an enumeration, else the kind of the information. Null in
        /// version 0 of the event.
        index: Option<i64>, Plain, "", "Index";
        /// True: the event does not tell when the operation began.
        begin_unknown: Option<bool>, Plain, "", "InitialTime, ElapsedTime";
        /// Call stack.
        stack: Option<StackId>, Plain, "", "StackWalk/Stack of this event";
    }
}
