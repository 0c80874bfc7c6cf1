//! The processes of an answer about methods: all that pass the filter first, by their ids; names only of those that have methods in it.

use rustc_hash::FxHashSet;
use tracesift_archive::{Error, Projection, StoredRows};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::ProcessRow;

use super::Question;
use super::order::Method;
use crate::processes::{Processes, is_idle};
use crate::recording::OpenRecording;

/// What processes are chosen by where no filter asks for more.
const KEYS: Projection<ProcessRow> = Projection::of(&["process", "pid", "origin"]);
/// What a table shows of them, and what they are sorted by.
const IN_TABLE: Projection<ProcessRow> =
    Projection::of(&["process", "pid", "name", "command_line", "start", "end", "origin"]);
/// Columns of the answer that show more of them.
const BEYOND_TABLE: [&str; 4] = ["parent_pid", "session", "user", "account"];

/// The processes.
pub(super) struct OfProcesses {
    /// Those that pass the filter.
    pub(super) accepted: FxHashSet<ProcessId>,
    stored: StoredRows<ProcessRow>,
    keys: Vec<ProcessRow>,
}

impl OfProcesses {
    /// Reads them.
    pub(super) fn read(recording: &OpenRecording, question: &Question) -> Result<Self, Error> {
        let is_table = question.filter.is_empty() && !BEYOND_TABLE.iter().any(|column| question.shown.has(column));
        let stored = recording.archive().stored_rows(if is_table { IN_TABLE } else { Projection::ALL })?;
        let (keys, accepted) = if question.filter.is_empty() {
            let keys = stored.keys(KEYS)?;
            let accepted = keys.iter().filter(|key| !is_idle(key)).map(|key| key.process).collect();
            (keys, accepted)
        } else {
            // Filters look at everything, parents included.
            let keys = stored.keys(Projection::ALL)?;
            let accepted = Processes::new(&keys).at_work(&question.filter).map(|key| key.process).collect();
            (keys, accepted)
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
