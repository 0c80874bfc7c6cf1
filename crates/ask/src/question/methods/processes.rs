//! The processes of an answer about methods: all that pass the filter first, by their ids; names only of those that have methods in it.

use rustc_hash::FxHashSet;
use tracesift_archive::{Error, StoredRows};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::ProcessRow;
use tracesift_trace::schema::ColumnSet;

use super::Question;
use super::order::Method;
use crate::processes::{ProcessKey, Processes, is_idle};
use crate::recording::OpenRecording;

/// What a table shows of them, and what they are sorted by.
const IN_TABLE: ColumnSet<ProcessRow> =
    ColumnSet::of(&["process", "pid", "name", "command_line", "start", "end", "origin"]);
/// Columns of the answer that show more of them.
const BEYOND_TABLE: [&str; 4] = ["parent_pid", "session", "user", "account"];

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
        let is_table = question.filter.is_empty() && !BEYOND_TABLE.iter().any(|column| question.shown.has(column));
        let stored = recording.archive().stored_rows(if is_table { IN_TABLE } else { ColumnSet::ALL })?;
        let keys: Vec<ProcessKey> = stored.keys()?;
        let accepted = if question.filter.is_empty() {
            keys.iter().filter(|key| !is_idle(**key)).map(|key| key.process).collect()
        } else {
            // Filters look at everything, parents included.
            let rows = stored.rows(0..keys.len())?;
            Processes::new(&rows).at_work(&question.filter).map(|row| row.process).collect()
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
