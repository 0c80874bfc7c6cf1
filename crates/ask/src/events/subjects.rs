//! Whom events are about, as the filter of processes judges it: the same processes pass as in every other question.

use tracesift_trace::ProcessId;
use tracesift_trace::rows::ProcessRow;

use super::EventFilter;
use crate::candidates::{self, Candidates};
use crate::processes::Processes;

/// The filter's choice of processes and threads, for the processes of one recording.
pub(super) struct Subjects<'f> {
    filter: &'f EventFilter,
    /// All processes pass.
    all: bool,
    /// Pid and name of a process decide.
    only_names: bool,
    rows: Vec<ProcessRow>,
    /// By the number of the process.
    passing: Vec<bool>,
}

impl<'f> Subjects<'f> {
    /// The choice among these processes, which are asked for where the filter looks at processes.
    pub(super) fn new(filter: &'f EventFilter, rows: impl FnOnce() -> Vec<ProcessRow>) -> Self {
        let all = filter.processes.is_empty();
        let rows = if all { Vec::new() } else { rows() };
        let mut passing = vec![false; rows.len()];
        for (index, _) in Processes::new(&rows).accepted(&filter.processes) {
            if let Some(passes) = passing.get_mut(index) {
                *passes = true;
            }
        }
        Self { filter, all, only_names: filter.processes.has_only_names(), rows, passing }
    }

    /// Whether an event passes: cheap to ask. A process that the recording does not describe has a pid, and perhaps a name.
    pub(super) fn accept(
        &self,
        process: Option<ProcessId>,
        pid: Option<u32>,
        tid: Option<u32>,
        name: Option<&str>,
    ) -> bool {
        let by_process = || match process.and_then(|process| self.passing.get(process.index())) {
            Some(passes) => *passes,
            None if !self.only_names => false,
            None => pid.is_some_and(|pid| self.filter.processes.process.matches(name.unwrap_or_default(), pid.into())),
        };
        self.filter.accepts_thread(tid) && (self.all || by_process())
    }

    /// What the parts of the filter could have let pass, without that which looks at names: events tell these.
    pub(super) fn candidates(&self) -> Vec<Candidates> {
        let mut found = candidates::among(&self.rows, &self.filter.processes, "", |_| 0);
        found.retain(|of| of.option != "--process");
        found
    }
}
