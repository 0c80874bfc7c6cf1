//! The groups below the outermost frames: programs, processes, threads.

use crate::profile::{Catalog, ThreadId};

use super::Grouping;

/// The names of the groups that a thread's stacks hang below, outermost first.
pub(super) fn path(catalog: &Catalog, thread: ThreadId, grouping: Grouping) -> [Option<String>; 2] {
    let process = catalog.threads()[thread.row()].process;
    match grouping {
        Grouping::All => [None, None],
        Grouping::Program => {
            let name = catalog.text(catalog.processes()[process.row()].name);
            [Some(name.to_owned()), None]
        }
        Grouping::Process => [Some(catalog.process_label(process)), None],
        Grouping::Thread => [Some(catalog.process_label(process)), Some(catalog.thread_label(thread))],
    }
}
