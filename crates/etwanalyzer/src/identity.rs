//! Finds the process of a part. Most parts have its name, pid and start; some have its place in
//! `Processes`.

use rustc_hash::FxHashMap;
use tracesift_trace::HealthKind;
use tracesift_trace::{Health, ProcessId};

use crate::document::{Moment, Process, ProcessKey, ProcessReference};

/// The processes of an extract: those that it lists, and those that only other parts name.
#[derive(Debug)]
pub(crate) struct Identities {
    /// By pid and start; several where a pid has no start and stands for more than one, as in the rows of memory pools.
    by_key: FxHashMap<(i64, i64), Vec<ProcessId>>,
    names: Vec<Option<String>>,
    listed: usize,
    /// Processes that are not listed.
    unlisted: Vec<ProcessKey>,
}

impl Identities {
    /// Those that the document lists: their ids are their places.
    pub(crate) fn new(processes: &[Process]) -> Self {
        let mut by_key: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (index, process) in processes.iter().enumerate() {
            let start = process.start_time.unwrap_or(Moment::NONE).ticks();
            by_key.entry((process.process_id, start)).or_default().push(ProcessId::from_index(index));
        }
        let names = processes.iter().map(|process| process.process_name.clone()).collect();
        Self { by_key, names, listed: processes.len(), unlisted: Vec::new() }
    }

    /// The process that a part speaks of; `None` for one that is not to be found. One that is named and not listed gets a row.
    pub(crate) fn find(&mut self, reference: &ProcessReference, health: &mut Health) -> Option<ProcessId> {
        match reference {
            ProcessReference::Index(index) => {
                let found = usize::try_from(*index).ok().filter(|index| *index < self.listed);
                // A negative one stands for the idle loop or a process without a name.
                if found.is_none() && *index >= 0 {
                    health.count(UNKNOWN, None, || format!("process {index} of {}", self.listed));
                }
                found.map(ProcessId::from_index)
            }
            ProcessReference::Key(key) => Some(self.by_key(key, health)),
            ProcessReference::Unknown(text) => {
                health.count(UNKNOWN, None, || shortened(text));
                None
            }
        }
    }

    /// Those that are not listed, in the order of their ids.
    pub(crate) fn unlisted(&self) -> impl Iterator<Item = (ProcessId, &ProcessKey)> {
        self.unlisted.iter().enumerate().map(|(index, key)| (ProcessId::from_index(self.listed + index), key))
    }

    fn by_key(&mut self, key: &ProcessKey, health: &mut Health) -> ProcessId {
        let start = key.start_time.unwrap_or(Moment::NONE).ticks();
        let known = self.by_key.entry((key.pid, start)).or_default();
        let named = |process: &&ProcessId| {
            self.names.get(process.index()).is_some_and(|name| name.as_deref().unwrap_or_default() == key.name)
        };
        if let Some(process) = known.iter().find(named).or(known.first()) {
            return *process;
        }
        let process = ProcessId::from_index(self.listed + self.unlisted.len());
        known.push(process);
        health.count(HealthKind::UNLISTED_PROCESSES, None, || format!("{}({})", shortened(&key.name), key.pid));
        self.unlisted.push(key.clone());
        process
    }
}

/// Kind of what refers to a process that is not to be found.
const UNKNOWN: HealthKind = HealthKind::ROWS_OF_UNKNOWN_PROCESSES;

/// The beginning of a text that a stranger may have made long.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
