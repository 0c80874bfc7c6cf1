//! Fields of the tracepoints of reclaim and compaction of memory.

use tracesift_trace::rows::reclaim_kinds;

use super::fields::{Fields, Number};

/// What a tracepoint tells of memory that is freed.
#[derive(Clone, Debug)]
pub(crate) enum ReclaimFields {
    /// A thread begins to free memory of this kind, for a block of 2 to the power of `order` pages.
    Begins { kind: i8, order: Option<Number> },
    /// It ends, and has freed so many pages.
    Ends { kind: i8, pages: Option<Number> },
    /// A process is to be killed.
    Victim {
        /// The kernel's own id of one of its threads.
        thread: Number,
        /// The kernel's own id of the thread that needed memory.
        common_pid: Option<Number>,
    },
}

impl ReclaimFields {
    /// Whether [`of`](Self::of) may know a tracepoint.
    pub(crate) fn is_read_from(name: &str) -> bool {
        name == VICTIM || edge(name).is_some()
    }

    pub(super) fn of(fields: &Fields<'_>, name: &str) -> Option<Self> {
        if name == VICTIM {
            return Some(Self::Victim { thread: fields.number("pid")?, common_pid: fields.number("common_pid") });
        }
        let (kind, begins) = edge(name)?;
        Some(if begins {
            Self::Begins { kind, order: fields.number("order") }
        } else {
            Self::Ends { kind, pages: fields.number("nr_reclaimed") }
        })
    }

    /// Whether it is the begin or the end of something.
    pub(crate) fn is_one_of_a_pair(&self) -> bool {
        !matches!(self, Self::Victim { .. })
    }
}

const VICTIM: &str = "oom:mark_victim";

/// The kind of a tracepoint, and whether it is a begin.
fn edge(name: &str) -> Option<(i8, bool)> {
    Some(match name {
        "vmscan:mm_vmscan_direct_reclaim_begin" => (reclaim_kinds::DIRECT, true),
        "vmscan:mm_vmscan_direct_reclaim_end" => (reclaim_kinds::DIRECT, false),
        "vmscan:mm_vmscan_memcg_reclaim_begin" => (reclaim_kinds::CGROUP, true),
        "vmscan:mm_vmscan_memcg_reclaim_end" => (reclaim_kinds::CGROUP, false),
        "vmscan:mm_vmscan_kswapd_wake" => (reclaim_kinds::KSWAPD, true),
        "vmscan:mm_vmscan_kswapd_sleep" => (reclaim_kinds::KSWAPD, false),
        "compaction:mm_compaction_begin" => (reclaim_kinds::COMPACTION, true),
        "compaction:mm_compaction_end" => (reclaim_kinds::COMPACTION, false),
        _ => return None,
    })
}
