//! The processes of a recording with their parents: where most questions begin.

use rustc_hash::FxHashSet;
use tracesift_archive::{Archive, Error};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{Origin, ProcessRow};
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::view;

use crate::filter::ProcessFilter;
use crate::shown::Shown;
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
    tracesift_analysis::processes::is_idle(process.pid, process.origin)
}

view! {
    /// The columns of a process that tell whether it lived in the recording.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct ProcessLife of ProcessRow { start, end, origin }
}

impl ProcessLife {
    /// Whether the process had ended at an instant before which the recording has nothing. Windows tells of dead processes whose objects are
    /// still in use, by their end or without it: then the archive has time zero.
    pub(crate) fn had_ended_at(self, begin: i64) -> bool {
        self.origin == Origin::Rundown && self.start.is_none() && self.end.is_some_and(|end| end <= begin)
    }

    /// Start and end as far as they were seen. The begin of the recording is taken for time zero, where nobody knows better.
    pub(crate) fn seen(self) -> [Option<i64>; 2] {
        [self.start, self.end.filter(|_| !self.had_ended_at(0))]
    }
}

/// The processes that count where none is chosen.
#[must_use]
pub fn all_but_idle(processes: impl IntoIterator<Item = impl Into<ProcessKey>>) -> FxHashSet<ProcessId> {
    let keys = processes.into_iter().map(Into::into);
    keys.filter(|key: &ProcessKey| !is_idle(*key)).map(|key| key.process).collect()
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

    /// Those that pass, without the idle loop unless a filter asks for it: patterns that only exclude others do not.
    pub fn selected(&self, filter: &ProcessFilter) -> impl Iterator<Item = &'a ProcessRow> {
        let with_idle = filter.process.includes();
        self.accepted(filter).map(|(_, process)| process).filter(move |process| with_idle || !is_idle(*process))
    }
}

/// What answers show of every process, and what tells the idle loop from the others.
const ALWAYS: ColumnSet<ProcessRow> = ColumnSet::of_view::<ProcessKey>().and(ColumnSet::of(&["name", "start", "end"]));

/// The processes of an archive with what a filter looks at, and an answer of these columns. Of hundreds of archives the command lines take
/// longer than most answers.
///
/// # Errors
/// When the table cannot be read.
pub(crate) fn read(archive: &Archive, filter: &ProcessFilter, shown: &Shown) -> Result<Vec<ProcessRow>, Error> {
    if !filter.is_empty() {
        return archive.rows();
    }
    const SOME: [&str; 3] = ["command_line", "session", "container"];
    let needed = SOME.iter().filter(|column| shown.has(column));
    archive.needed_rows(needed.fold(ALWAYS, |needed, column| needed.and(ColumnSet::of(&[*column]))))
}

/// The processes that a filter lets pass; without a filter all but the idle loop.
pub(crate) fn asked<'a>(processes: &'a [ProcessRow], filter: &ProcessFilter) -> Vec<&'a ProcessRow> {
    if filter.is_empty() {
        // No parent has to be looked up.
        return processes.iter().filter(|row| !is_idle(*row)).collect();
    }
    Processes::new(processes).selected(filter).collect()
}

#[cfg(test)]
mod tests {
    use tracesift_testing::rows::process;

    use super::*;
    use crate::filter::ProcessPatterns;

    /// Who leaves a process out must not get more time than before.
    #[test]
    fn the_idle_loop_comes_only_where_a_pattern_includes_it() {
        let rows = [process(0, 0, "Idle"), process(1, 10, "python3"), process(2, 20, "other")];
        let pids = |list: &str| {
            let filter = ProcessFilter::from(ProcessPatterns::parse(list));
            let pids: Vec<i64> = Processes::new(&rows).selected(&filter).map(|row| row.pid).collect();
            assert_eq!(asked(&rows, &filter).iter().map(|row| row.pid).collect::<Vec<_>>(), pids, "{list}");
            pids
        };
        for (list, expected) in [
            ("", &[10, 20][..]),
            ("!python3", &[20]),
            ("*", &[0, 10, 20]),
            ("*;!python3", &[0, 20]),
            ("Idle", &[0]),
            ("0", &[0]),
            ("Idle;python3", &[0, 10]),
        ] {
            assert_eq!(pids(list), expected, "{list}");
        }
    }
}
