//! Processes and threads of events, by what sections have of them.

use tracesift_trace::{Health, ProcessId, ThreadId};

use super::threads::NamedThreads;
use crate::document::{Moment, Process, ProcessReference};
use crate::identity::Identities;
use crate::values::Integer;

/// The process that has the handles of the kernel.
const SYSTEM: i64 = 4;

/// Finds the processes and threads of events.
pub(super) struct Who<'a> {
    pub(super) identities: &'a mut Identities,
    pub(super) threads: &'a mut NamedThreads,
    pub(super) health: &'a mut Health,
    /// The end of each listed process, ns.
    ends: Vec<Option<i64>>,
    /// The process `System`.
    pub(super) system: Option<ProcessId>,
}

impl<'a> Who<'a> {
    pub(super) fn new(
        processes: &[Process],
        zero: Moment,
        identities: &'a mut Identities,
        threads: &'a mut NamedThreads,
        health: &'a mut Health,
    ) -> Self {
        let end = |process: &Process| process.end_time.filter(|end| end.is_known()).map(|end| end.ns_since(zero));
        let system = processes.iter().position(|process| process.process_id == SYSTEM).map(ProcessId::from_index);
        Self { identities, threads, health, ends: processes.iter().map(end).collect(), system }
    }

    /// The process at a place of the list.
    pub(super) fn process(&mut self, place: Integer) -> Option<ProcessId> {
        self.identities.find(&ProcessReference::Index(place.0?), self.health)
    }

    /// The thread of a process.
    pub(super) fn thread(&mut self, process: Option<ProcessId>, tid: Integer) -> Option<ThreadId> {
        process.zip(tid.count()).map(|(process, tid)| self.threads.of(process, tid))
    }

    /// When a process ended; `None`: not in the recording.
    pub(super) fn end_of(&self, process: ProcessId) -> Option<i64> {
        self.ends.get(process.index()).copied().flatten()
    }
}
