//! Rows of which a test states only what it needs; all else is unknown.

use tracesift_trace::rows::{FrameRow, Origin, ProcessRow, StackRow, ThreadRow};
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

/// A process that lives from end to end, with its name and pid.
#[must_use]
pub fn process(id: i32, pid: i64, name: &str) -> ProcessRow {
    ProcessRow { process: ProcessId(id), pid, name: name.to_owned(), origin: Origin::Rundown, ..ProcessRow::default() }
}

/// A thread that lives from end to end.
#[must_use]
pub fn thread(id: i32, process: i32, tid: i64) -> ThreadRow {
    ThreadRow {
        thread: ThreadId(id),
        process: ProcessId(process),
        tid,
        origin: Origin::Rundown,
        ..ThreadRow::default()
    }
}

/// A frame at an address of no module.
#[must_use]
pub fn frame(id: i32, address: i64) -> FrameRow {
    FrameRow { frame: FrameId(id), module: None, rva: None, process: None, address: Some(address) }
}

/// A stack of frames, leaf first.
#[must_use]
pub fn stack(id: i32, frames: &[i32]) -> StackRow {
    StackRow { stack: StackId(id), frames: frames.iter().map(|frame| FrameId(*frame)).collect() }
}
