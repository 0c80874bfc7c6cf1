//! Fields of the tracepoint of resident memory.

use super::fields::{Fields, Number};

/// Fields of `kmem:rss_stat`.
#[derive(Clone, Debug)]
pub(crate) struct RssFields {
    /// Number of the address space.
    pub(crate) space: Number,
    /// Whether the address space is that of the current task.
    pub(crate) is_current: Number,
    /// The part of the resident memory: 0 pages of files, 1 anonymous pages, 2 swap, 3 shared memory.
    pub(crate) part: Number,
    /// Bytes.
    pub(crate) size: Number,
}

impl RssFields {
    pub(super) fn of(fields: &Fields<'_>) -> Option<Self> {
        Some(Self {
            space: fields.number("mm_id")?,
            is_current: fields.number("curr")?,
            part: fields.number("member")?,
            size: fields.number("size")?,
        })
    }
}
