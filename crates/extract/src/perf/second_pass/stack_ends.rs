//! How many stacks of each process end where their thread began, and why the others do not: inclusive figures are too small where
//! callers are missing.

use rustc_hash::FxHashMap;
use tracesift_trace::modules::{AddressSpace, Modules};
use tracesift_trace::rows::{StackEndRow, stack_ends};
use tracesift_trace::{ProcessId, StackId};

/// What libraries are called in which threads begin: the C library, its threads, the loader.
const BEGINNINGS: [&str; 8] = ["libc.so", "libc-", "libc.musl", "libpthread", "ld-linux", "ld-musl", "ld-2", "ld64.so"];

/// Counts of one recording.
#[derive(Debug, Default)]
pub(crate) struct StackEnds {
    /// By stack: its end, −1 where nothing is known of it.
    ends: Vec<i8>,
    counts: FxHashMap<(ProcessId, i8), i64>,
    /// The chain at hand.
    chain: Vec<u64>,
}

/// A stack without a user side, or one of which nobody can tell.
const UNKNOWN: i8 = -1;

impl StackEnds {
    /// Where a stack ends; `None` where nothing is known of it.
    pub(super) fn learn(&mut self, stack: StackId, end: Option<i8>) {
        if self.ends.len() <= stack.index() {
            self.ends.resize(stack.index() + 1, UNKNOWN);
        }
        self.ends[stack.index()] = end.unwrap_or(UNKNOWN);
    }

    /// A CPU sample with a stack.
    #[inline]
    pub(super) fn count(&mut self, process: ProcessId, stack: StackId) {
        let end = self.ends.get(stack.index()).copied().unwrap_or(UNKNOWN);
        if end != UNKNOWN {
            *self.counts.entry((process, end)).or_default() += 1;
        }
    }

    /// How a chain ends that the kernel walked by frame pointers, leaf first; `None` without a user side.
    ///
    /// A thread begins in the C library, which does not keep frame pointers everywhere: behind its frame there may be words that are
    /// no frames. A chain whose last code is in another library, or that has no code in files but its leaf, has lost its callers. Of
    /// one that ends in the program itself nobody can tell: programs that are linked statically begin there.
    pub(super) fn of_walked(
        &mut self,
        chain: impl Iterator<Item = u64>,
        process: ProcessId,
        modules: &Modules,
        ticks: i64,
    ) -> Option<i8> {
        self.chain.clear();
        self.chain.extend(chain);
        if self.chain.is_empty() {
            return None;
        }
        let space = AddressSpace::Process(process);
        let found = |(index, address): (usize, &u64)| Some((modules.find(space, *address, ticks)?.0, index));
        let Some((module, index)) = self.chain.iter().enumerate().rev().find_map(found) else {
            return Some(stack_ends::NO_FRAME_POINTERS);
        };
        let is_last = index + 1 == self.chain.len();
        let name = modules.modules.get(module.index()).map_or("", |row| row.name.as_str());
        let is_whole = if BEGINNINGS.iter().any(|start| name.starts_with(start)) {
            // Else its frame is that of what was interrupted, and no caller was found.
            index > 0 || is_last
        } else {
            is_last && !name.contains(".so") && !name.starts_with('[')
        };
        Some(if is_whole { stack_ends::WHOLE } else { stack_ends::NO_FRAME_POINTERS })
    }

    /// The rows of the table.
    pub(crate) fn finish(self) -> Vec<StackEndRow> {
        let row = |((process, end), samples): ((ProcessId, i8), i64)| StackEndRow { process, end, samples };
        let mut rows: Vec<StackEndRow> = self.counts.into_iter().map(row).collect();
        rows.sort_unstable_by_key(|row| (row.process, row.end));
        rows
    }
}
