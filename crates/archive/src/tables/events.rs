//! Events as they were logged.

use tracesift_trace::rows::EventRow;
use tracesift_trace::{ProcessId, StackId, ThreadId};

use crate::column::Timing;
use crate::table::table;

table! {
    EventRow in "events", always: false, Timing::At("time"),
    "One event as it was logged. Which events are kept stands in `trace.json` under `events`: `none`; `default`, those of providers, without kernel events and without what only describes others (event metadata and manifests, identities of images, .NET rundown), on Linux those that no other table shows; `all`.";
    time: i64, Delta, "ns", "Time of the event.", "header of the event";
    cpu: i16, Dictionary, "", "CPU; −1 where a Linux recording does not say.", "buffer that holds the event; CPU of a sample";
    process: Option<ProcessId>, Dictionary, "", "Process: that which a kernel event is about, else that which logged it.", "header of the event; ProcessID, PID, ThreadID … of kernel events";
    thread: Option<ThreadId>, Dictionary, "", "Thread, likewise.", "header of the event; ThreadID, TThreadID, IssuingThreadID, NewThreadID of kernel events";
    provider: String, Dictionary, "", "Name of the provider, `Windows Kernel` for the kernel's classes, a GUID where no name is known; on Linux the system of a tracepoint, else `perf`.", "description of the event";
    event: String, Dictionary, "", "Name of the event.", "description of the event";
    id: Option<i32>, Dictionary, "", "Id; null for kernel and classic events, which have an opcode only; on Linux the number of a tracepoint.", "header of the event";
    version: i16, Dictionary, "", "Version of its layout.", "header of the event";
    opcode: i16, Dictionary, "", "Opcode.", "header of the event";
    level: Option<i16>, Dictionary, "", "Level: 1 critical, 2 error, 3 warning, 4 information, 5 verbose; null for kernel events.", "header of the event";
    keyword: Option<i64>, Dictionary, "", "Keyword bits.", "header of the event";
    activity: Option<String>, Dictionary, "", "Activity that it belongs to, a GUID.", "header of the event";
    stack: Option<StackId>, ByteStreamSplit, "", "Call stack.", "stack item of the event, StackWalk/Stack of this event, CLR stack behind it";
    fields: String, Plain, "", "The fields as a JSON object, in the order of the payload.", "payload of the event";
    raw: Option<String>, Plain, "", "Hexadecimal bytes that no field shows: all of them where nobody describes the event, those from the trouble on where its description does not fit, else what stands behind the last field.", "payload of the event";
    schema: Option<String>, Dictionary, "", "Where its description comes from: `metadata`, `tracelogging`, `manifest`, `built-in`, or `unverified` for a layout from documentation of which no real event was ever seen; null where nobody describes it.", "description of the event";
    guid: String, Dictionary, "", "GUID of the provider or event class; empty on Linux.", "header of the event";
    related_activity: Option<String>, Dictionary, "", "Activity from which that of the event was started, a GUID.", "related-activity item of the event";
    user: Option<String>, Dictionary, "", "Security identifier of the user.", "SID item of the event";
}
