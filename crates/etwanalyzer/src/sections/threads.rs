//! Threads of which a section has the ids alone.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{Origin, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

/// Threads that rows name.
#[derive(Debug, Default)]
pub(crate) struct NamedThreads {
    known: FxHashMap<(ProcessId, i64), ThreadId>,
    /// Table `threads`.
    pub(crate) rows: Vec<ThreadRow>,
}

impl NamedThreads {
    /// The thread of a process with this id.
    pub(super) fn of(&mut self, process: ProcessId, tid: i64) -> ThreadId {
        let rows = &mut self.rows;
        *self.known.entry((process, tid)).or_insert_with(|| {
            let thread = ThreadId::from_index(rows.len());
            rows.push(ThreadRow { thread, process, tid, origin: Origin::Inferred, ..ThreadRow::default() });
            thread
        })
    }
}
