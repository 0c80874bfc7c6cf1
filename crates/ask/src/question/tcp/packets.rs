//! Single packets of a recording: whose they are, and between which ends.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::Error;
use tracesift_trace::rows::{ConnectionRow, NetworkIoRow, ProcessRow};
use tracesift_trace::{ConnectionId, ProcessId};

use super::names;
use crate::processes::Processes;
use crate::recording::OpenRecording;

/// The order of answers with a row per packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By delay.
    #[default]
    Delay,
    /// By time.
    Time,
}

impl Order {
    /// That of a word of `--sort`; `None`: connections have it alone.
    pub(super) fn of_word(word: Option<&str>) -> Option<Self> {
        match word {
            None | Some("retransmit-delay") => Some(Self::Delay),
            Some("start") => Some(Self::Time),
            Some(_) => None,
        }
    }

    /// The column by which the rows are sorted.
    pub(super) fn column(self) -> &'static str {
        match self {
            Self::Delay => "delay_ns",
            Self::Time => "time_ns",
        }
    }
}

/// The connections of a recording, for answers with a row per packet.
pub(super) struct Packets {
    processes: FxHashMap<ProcessId, ProcessRow>,
    process_of: FxHashMap<ConnectionId, Option<ProcessId>>,
    names: FxHashMap<i64, String>,
    /// The connections that are asked for; `None`: all.
    asked: Option<FxHashSet<ConnectionId>>,
    /// Whether every process is asked for, those that nobody knows included.
    takes_unknown: bool,
}

impl Packets {
    /// Packets of the processes and of the connections that a question is about.
    pub(super) fn of(
        recording: &OpenRecording,
        connections: &[ConnectionRow],
        question: &super::Question,
    ) -> Result<Self, Error> {
        let (archive, filter) = (recording.archive(), &question.filter);
        let asked = match question.asks_of_rows() {
            true => Some(question.passing(recording)?.iter().map(|row| row.connection).collect()),
            false => None,
        };
        let processes: Vec<ProcessRow> = archive.rows()?;
        let processes = Processes::new(&processes);
        Ok(Self {
            processes: processes.selected(filter).map(|row| (row.process, row.clone())).collect(),
            process_of: connections.iter().map(|row| (row.connection, row.process)).collect(),
            names: names::connections(archive)?.all().collect(),
            asked,
            takes_unknown: filter.is_empty(),
        })
    }

    /// The process of a packet, where it is known, and both ends. `None`: the packet is not asked for.
    pub(super) fn whose(&self, packet: &NetworkIoRow) -> Option<(Option<ProcessRow>, String)> {
        if self.asked.as_ref().is_some_and(|asked| !asked.contains(&packet.connection)) {
            return None;
        }
        let process = self.process_of.get(&packet.connection).copied().flatten().or(packet.process);
        let process = process.and_then(|process| self.processes.get(&process));
        let is_asked = process.is_some() || self.takes_unknown;
        let name = || self.names.get(&i64::from(packet.connection.0)).cloned().unwrap_or_default();
        is_asked.then(|| (process.cloned(), name()))
    }
}
