//! Events as they were logged.

use crate::ids::{ProcessId, StackId, ThreadId};
use crate::row;

row! {
    /// One event as it was logged. `events` in `trace.json` tells which events are kept: `none`;
    /// `default`, the events of providers, without kernel events, without events that only describe
    /// others (event metadata and manifests, identities of images, .NET rundown) and without network
    /// traffic and readings of memory, on Linux the events that no other table shows; `all`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct EventRow in "events", always: false, since: 0, At(time) {
        /// Time of the event.
        time: i64, Delta, "ns", "header of the event";
        /// CPU; −1 where a Linux recording does not say.
        cpu: i16, Dictionary, "", "buffer that holds the event; CPU of a sample";
        /// Process that a kernel event is about, else the process that logged it.
        process: Option<ProcessId>, Dictionary, "", "header of the event; ProcessID, PID, ThreadID … of kernel events";
        /// Thread that a kernel event is about, else the thread that logged it.
        thread: Option<ThreadId>, Dictionary, "", "header of the event; ThreadID, TThreadID, IssuingThreadID, NewThreadID of kernel events";
        /// Name of the provider, `Windows Kernel` for the kernel's classes, a GUID where no name is
        /// known; on Linux the system of a tracepoint, else `perf`.
        provider: String, Dictionary, "", "description of the event";
        /// Name of the event.
        event: String, Dictionary, "", "description of the event";
        /// Id; null for kernel and classic events, which have an opcode only; on Linux the number
        /// of a tracepoint.
        id: Option<i32>, Dictionary, "", "header of the event";
        /// Version of its layout; 0 on Linux.
        version: i16, Dictionary, "", "header of the event";
        /// Opcode; on Linux the type of the record (`PERF_RECORD_SAMPLE` and so on).
        opcode: i16, Dictionary, "", "header of the event";
        /// Level: 1 critical, 2 error, 3 warning, 4 information, 5 verbose; null for kernel events and on Linux.
        level: Option<i16>, Dictionary, "", "header of the event";
        /// Keyword bits; null for kernel and classic events, and on Linux.
        keyword: Option<i64>, Dictionary, "", "header of the event";
        /// Activity that it belongs to, a GUID.
        activity: Option<String>, Dictionary, "", "header of the event";
        /// Call stack.
        stack: Option<StackId>, ByteStreamSplit, "", "stack item of the event, StackWalk/Stack of this event, CLR stack behind it";
        /// The fields as a JSON object, in the order of the payload.
        fields: String, Plain, "", "payload of the event";
        /// Hexadecimal bytes that no field shows: all bytes of an event without a description, the
        /// bytes from the first misfit on where the description does not fit, else the bytes behind
        /// the last field.
        raw: Option<String>, Plain, "", "payload of the event";
        /// Source of its description: `metadata`, `tracelogging`, `manifest`, `built-in`, or
        /// `unverified` for a layout from documentation that no real event has confirmed; null for
        /// an event without a description.
        schema: Option<String>, Dictionary, "", "description of the event";
        /// GUID of the provider or event class; empty on Linux.
        guid: String, Dictionary, "", "header of the event";
        /// Activity that started the activity of the event, a GUID.
        related_activity: Option<String>, Dictionary, "", "related-activity item of the event";
        /// Security identifier of the user, where the header items of the event have it.
        user: Option<String>, Dictionary, "", "SID item of the event";
    }
}
