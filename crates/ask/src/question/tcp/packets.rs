//! Single packets of a recording: whose they are, and between which ends.

use rustc_hash::FxHashMap;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{ConnectionRow, NetworkIoRow, ProcessRow};
use tracesift_trace::{ConnectionId, ProcessId};

use super::names;
use crate::filter::ProcessFilter;
use crate::processes::Processes;

/// The connections of a recording, for answers with a row per packet.
pub(super) struct Packets {
    processes: FxHashMap<ProcessId, ProcessRow>,
    process_of: FxHashMap<ConnectionId, Option<ProcessId>>,
    names: FxHashMap<i64, String>,
    /// Whether every process is asked for, those that nobody knows included.
    takes_unknown: bool,
}

impl Packets {
    /// Packets of the processes that the filter lets pass.
    pub(super) fn of(archive: &Archive, connections: &[ConnectionRow], filter: &ProcessFilter) -> Result<Self, Error> {
        let processes: Vec<ProcessRow> = archive.rows()?;
        let processes = Processes::new(&processes);
        Ok(Self {
            processes: processes.selected(filter).map(|row| (row.process, row.clone())).collect(),
            process_of: connections.iter().map(|row| (row.connection, row.process)).collect(),
            names: names::connections(archive)?.into_iter().collect(),
            takes_unknown: filter.is_empty(),
        })
    }

    /// The process of a packet, where it is known, and both ends. `None`: the packet is not asked for.
    pub(super) fn whose(&self, packet: &NetworkIoRow) -> Option<(Option<ProcessRow>, String)> {
        let process = self.process_of.get(&packet.connection).copied().flatten().or(packet.process);
        let process = process.and_then(|process| self.processes.get(&process));
        let is_asked = process.is_some() || self.takes_unknown;
        let name = || self.names.get(&i64::from(packet.connection.0)).cloned().unwrap_or_default();
        is_asked.then(|| (process.cloned(), name()))
    }
}
