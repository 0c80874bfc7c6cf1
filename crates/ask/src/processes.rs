//! The processes of a recording with their parents: where most questions begin.

use tracesift_trace::rows::{Origin, ProcessRow};
use tracesift_trace::view;

use crate::filter::ProcessFilter;
use crate::tree::Tree;

view! {
    /// The columns of a process by which it is known.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ProcessKey of ProcessRow { process, pid, origin }
}

/// Whether a process is the idle loop: in no total, and with rows of its own only where somebody asks for it.
#[must_use]
pub fn is_idle(process: impl Into<ProcessKey>) -> bool {
    let process = process.into();
    process.pid == 0 && process.origin != Origin::Pseudo
}

/// The processes of one recording.
#[derive(Clone, Debug)]
pub struct Processes<'a> {
    /// Their rows.
    pub rows: &'a [ProcessRow],
    /// Who started whom, by index of the row.
    pub tree: Tree,
}

impl<'a> Processes<'a> {
    /// The processes of these rows.
    #[must_use]
    pub fn new(rows: &'a [ProcessRow]) -> Self {
        Self { rows, tree: Tree::new(rows) }
    }

    /// The parent of the process at `index`, where the recording has it.
    #[must_use]
    pub fn parent(&self, index: usize) -> Option<&'a ProcessRow> {
        self.tree.parent(index).and_then(|parent| self.rows.get(parent))
    }

    /// Those that pass a filter, with their index.
    pub fn accepted(&self, filter: &ProcessFilter) -> impl Iterator<Item = (usize, &'a ProcessRow)> {
        self.rows.iter().enumerate().filter(|(index, process)| filter.accepts(process, self.parent(*index)))
    }

    /// Those that pass, without the idle loop unless a filter names processes.
    pub fn selected(&self, filter: &ProcessFilter) -> impl Iterator<Item = &'a ProcessRow> {
        let with_idle = !filter.process.is_empty();
        self.accepted(filter).map(|(_, process)| process).filter(move |process| with_idle || !is_idle(*process))
    }
}
