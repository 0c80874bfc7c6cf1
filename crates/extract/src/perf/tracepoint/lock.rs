//! Fields of the tracepoints of waits for locks of the kernel.

use super::fields::{Fields, Number};

/// A thread begins to wait for a lock, with the flags of the wait, or ends it.
#[derive(Clone, Debug)]
pub(crate) struct LockFields {
    pub(crate) lock: Number,
    /// Of a begin.
    pub(crate) flags: Option<Number>,
    pub(crate) begins: bool,
}

impl LockFields {
    /// Whether [`of`](Self::of) may know a tracepoint.
    pub(crate) fn is_read_from(name: &str) -> bool {
        matches!(name, "lock:contention_begin" | "lock:contention_end")
    }

    pub(super) fn of(fields: &Fields<'_>, name: &str) -> Option<Self> {
        let begins = name == "lock:contention_begin";
        Some(Self { lock: fields.number("lock_addr")?, flags: fields.number("flags"), begins })
    }
}
