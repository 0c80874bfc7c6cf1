//! Call stacks of kernel events: separate records that point back at their event by its time stamp and thread.

use super::Bytes;
use crate::write::Hook;

/// A stack with its frames in the record.
#[derive(Clone, Copy, Debug)]
pub struct Stack<'a> {
    /// Time stamp of the event, raw ticks.
    pub event_time: i64,
    /// Process of the thread.
    pub pid: u32,
    /// Thread of the event.
    pub tid: u32,
    /// Frames, leaf first.
    pub frames: &'a [u64],
}

impl Stack<'_> {
    /// Stack with frames.
    pub const HOOK: Hook = Hook::new(24, 32, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.i64(self.event_time);
        out.u32(self.pid);
        out.u32(self.tid);
        for frame in self.frames {
            out.pointer(*frame);
        }
    }
}

/// One half of a stack by its key.
#[derive(Clone, Copy, Debug)]
pub struct StackReference {
    /// Time stamp of the event, raw ticks.
    pub event_time: i64,
    /// Process of the thread.
    pub pid: u32,
    /// Thread of the event.
    pub tid: u32,
    /// Key of the definition.
    pub key: u64,
}

impl StackReference {
    /// The kernel half.
    pub const KERNEL: Hook = Hook::new(24, 37, 2);
    /// The user half; written when the thread returns to user mode.
    pub const USER: Hook = Hook::new(24, 38, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.i64(self.event_time);
        out.u32(self.pid);
        out.u32(self.tid);
        out.pointer(self.key);
    }
}

/// The frames behind a key.
#[derive(Clone, Copy, Debug)]
pub struct StackDefinition<'a> {
    /// Key.
    pub key: u64,
    /// Frames, leaf first.
    pub frames: &'a [u64],
}

impl StackDefinition<'_> {
    /// Written when the key comes into use.
    pub const CREATE: Hook = Hook::new(24, 34, 2);
    /// Written when the key goes out of use; it may come back with other frames.
    pub const DELETE: Hook = Hook::new(24, 35, 2);
    /// Written at the end of the session for the keys then in use.
    pub const RUNDOWN: Hook = Hook::new(24, 36, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.pointer(self.key);
        for frame in self.frames {
            out.pointer(*frame);
        }
    }
}
