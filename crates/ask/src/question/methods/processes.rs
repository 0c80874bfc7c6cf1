//! The processes of an answer about methods: all that pass the filter first, by their ids; names only of those that have methods in it.

use rustc_hash::FxHashSet;
use tracesift_archive::{Error, StoredRows};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::ProcessRow;
use tracesift_trace::schema::ColumnSet;

use super::order::Method;
use super::{Question, Row};
use crate::needs::Needs;
use crate::process_columns as of_process;
use crate::processes::{ProcessKey, Processes, all_but_idle};
use crate::recording::OpenRecording;

/// What headings show of a process, and what processes are sorted by.
const IN_HEADINGS: Needs = of_process::label::<Row>().needs.and(of_process::command_line::<Row>().needs);

/// The processes.
pub(super) struct OfProcesses {
    /// Those that pass the filter.
    pub(super) accepted: FxHashSet<ProcessId>,
    stored: StoredRows<ProcessKey, ProcessRow>,
    keys: Vec<ProcessKey>,
}

impl OfProcesses {
    /// Reads them.
    pub(super) fn read(recording: &OpenRecording, question: &Question) -> Result<Self, Error> {
        let needed = if question.filter.is_empty() {
            ColumnSet::of_view::<ProcessKey>().and(IN_HEADINGS.processes).and(question.needs().processes)
        } else {
            ColumnSet::ALL
        };
        let stored = recording.archive().stored_rows(needed)?;
        let keys: Vec<ProcessKey> = stored.keys()?;
        let accepted = if question.filter.is_empty() {
            all_but_idle(keys.iter().copied())
        } else {
            // Filters look at everything, parents included.
            let rows = stored.rows(0..keys.len())?;
            Processes::new(&rows).selected(&question.filter).map(|row| row.process).collect()
        };
        Ok(Self { accepted, stored, keys })
    }

    /// The rows of those that have methods.
    pub(super) fn rows(&self, methods: &[Method]) -> Result<Vec<ProcessRow>, Error> {
        let shown: FxHashSet<ProcessId> = methods.iter().map(|method| method.figures.process).collect();
        let places = self.keys.iter().enumerate().filter(|(_, key)| shown.contains(&key.process));
        self.stored.rows(places.map(|(place, _)| place))
    }
}
