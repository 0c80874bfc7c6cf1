//! The first and the last reading of memory, in whole MiB.

use serde::Deserialize;
use tracesift_trace::rows::{MemoryProcessRow, MemoryStateRow};
use tracesift_trace::{Health, RowSink};

use crate::bounded::List;
use crate::document::ProcessReference;
use crate::identity::Identities;
use crate::limits::PROCESSES;
use crate::values::Integer;

/// `MemoryUsage`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct MemoryUsage {
    /// Committed memory of the machine at the first reading.
    #[serde(rename = "MachineCommitStartMiB")]
    pub commit_start: Integer,
    /// At the last one.
    #[serde(rename = "MachineCommitEndMiB")]
    pub commit_end: Integer,
    /// Memory in use at the first reading.
    #[serde(rename = "MachineActiveStartMiB")]
    pub active_start: Integer,
    /// At the last one.
    #[serde(rename = "MachineActiveEndMiB")]
    pub active_end: Integer,
    /// Processes at the first reading.
    pub working_sets_at_start: List<WorkingSet, PROCESSES>,
    /// At the last one.
    pub working_sets_at_end: List<WorkingSet, PROCESSES>,
}

/// An element of `WorkingSetsAtStart` and `WorkingSetsAtEnd`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct WorkingSet {
    /// The process, or a part of the system.
    pub process: Option<ProcessReference>,
    /// Working set.
    pub working_set_in_mi_b: Integer,
    /// Committed memory.
    pub commit_in_mi_b: Integer,
    /// Private part of the working set.
    pub workingset_private_in_mi_b: Integer,
    /// Committed memory that is shared.
    pub shared_commit_size_in_mi_b: Integer,
}

/// The readings as rows. When they were taken an extract does not say: they have the start and the end of the session.
#[derive(Debug, Default)]
pub(super) struct MemoryRows {
    states: Vec<MemoryStateRow>,
    processes: Vec<MemoryProcessRow>,
}

impl MemoryRows {
    pub(super) fn read(part: &MemoryUsage, end: i64, identities: &mut Identities, health: &mut Health) -> Self {
        let state = |time, commit: Integer, active: Integer| MemoryStateRow {
            time,
            commit: bytes(commit),
            active: bytes(active),
            ..MemoryStateRow::default()
        };
        let states = vec![state(0, part.commit_start, part.active_start), state(end, part.commit_end, part.active_end)];
        // Zeros are what ETWAnalyzer writes where no reading was recorded.
        let is_read = states.iter().any(|state| state.commit.unwrap_or(0) > 0 || state.active.unwrap_or(0) > 0);
        let mut processes = Vec::new();
        for (time, sets) in [(0, &part.working_sets_at_start), (end, &part.working_sets_at_end)] {
            for set in &sets.0 {
                let Some(process) = set.process.as_ref().and_then(|process| identities.find(process, health)) else {
                    continue;
                };
                processes.push(MemoryProcessRow {
                    time,
                    process,
                    working_set: bytes(set.working_set_in_mi_b),
                    private_working_set: bytes(set.workingset_private_in_mi_b),
                    commit: bytes(set.commit_in_mi_b),
                    shared_commit: bytes(set.shared_commit_size_in_mi_b),
                    ..MemoryProcessRow::default()
                });
            }
        }
        processes.sort_by_key(|row| (row.time, row.process));
        Self { states: if is_read { states } else { Vec::new() }, processes }
    }

    pub(super) fn write(&self, sink: &mut impl RowSink) {
        self.states.iter().for_each(|row| sink.memory_state(row));
        self.processes.iter().for_each(|row| sink.memory_process(row));
    }
}

fn bytes(mib: Integer) -> Option<i64> {
    mib.count()?.checked_mul(1 << 20)
}
