//! Lanes of rows of one table: operations on files, system calls, network, memory, page faults, .NET.

use tracesift_analysis::timeline::Grid;
use tracesift_archive::Error;
use tracesift_ask::question::timeline::{self, LaneKind, Measure, Question, Row};
use tracesift_ask::recording::OpenRecording;
use tracesift_trace::rows::{GcCollectionRow, JitMethodRow};
use tracesift_trace::{ProcessId, view};

use super::columns::Figures;
use super::machine::{rows, unit, words};
use super::people::People;
use crate::failure::Failure;

view! {
    /// The process of a collection of .NET.
    #[derive(Clone, Copy, Debug)]
    struct Collection of GcCollectionRow { process }
}

view! {
    /// The process of a compilation of .NET.
    #[derive(Clone, Copy, Debug)]
    struct Compilation of JitMethodRow { process }
}

/// What such a lane is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Files,
    Network,
    Faults,
    Syscalls,
    Memory,
    Gc(ProcessId),
    Jit(ProcessId),
}

impl What {
    /// Those of the machine.
    pub(crate) const MACHINE: [Self; 5] = [Self::Files, Self::Network, Self::Memory, Self::Faults, Self::Syscalls];

    /// The kind of the lane, and its number.
    pub(crate) fn id(self) -> (&'static str, i32) {
        (self.kind().word(), if let Self::Gc(process) | Self::Jit(process) = self { process.0 } else { 0 })
    }

    /// The kind of rows of `dump timeline` that have its figures.
    fn kind(self) -> LaneKind {
        match self {
            Self::Files => LaneKind::File,
            Self::Network => LaneKind::Network,
            Self::Faults => LaneKind::Fault,
            Self::Syscalls => LaneKind::Syscall,
            Self::Memory => LaneKind::Memory,
            Self::Gc(_) => LaneKind::Gc,
            Self::Jit(_) => LaneKind::Jit,
        }
    }

    /// What it can show; the first without a choice.
    pub(crate) fn measures(self) -> &'static [Measure] {
        match self {
            Self::Files => &[Measure::Operations, Measure::Bytes, Measure::Time],
            Self::Network => &[Measure::Bytes, Measure::Operations],
            Self::Memory => &[Measure::Bytes],
            Self::Faults | Self::Syscalls => &[Measure::Count, Measure::Time],
            Self::Gc(_) | Self::Jit(_) => &[Measure::Time, Measure::Count],
        }
    }

    /// Whether each row of the question is a series of its own; else their sum is one.
    fn has_series(self) -> bool {
        matches!(self, Self::Network | Self::Memory)
    }

    pub(crate) fn parse(kind: &str, number: i32) -> Option<Self> {
        let of_process = [Self::Gc(ProcessId(number)), Self::Jit(ProcessId(number))];
        Self::MACHINE.into_iter().chain(of_process).find(|what| what.id() == (kind, number))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Files => "Operations on files",
            Self::Network => "Network",
            Self::Faults => "Page faults",
            Self::Syscalls => "System calls",
            Self::Memory => "Memory",
            Self::Gc(_) => "Garbage collections",
            Self::Jit(_) => "JIT compilations",
        }
    }

    /// What it shows without a choice.
    fn usual(self) -> Measure {
        self.measures().first().copied().unwrap_or(Measure::Count)
    }

    /// Whether a recording has rows of it, of any process.
    pub(crate) fn is_in(self, recording: &OpenRecording) -> bool {
        self.usual().is_recorded(self.kind(), recording)
    }

    /// Whether a row of the question is one of its own.
    fn has(self, row: &Row) -> bool {
        match (self, row.lane()) {
            (Self::Gc(process) | Self::Jit(process), timeline::Lane::Process(of)) => of.process == process,
            (Self::Gc(_) | Self::Jit(_), _) => false,
            _ => true,
        }
    }
}

/// The names of series that a lane of several has, in the order of the page.
const SERIES: [&str; 8] = ["free", "active", "commit", "available", "standby", "modified", "sent", "received"];

/// The figures of a lane.
pub(crate) fn figures(
    recording: &OpenRecording,
    people: &People,
    what: What,
    measure: Option<Measure>,
    grid: Grid,
) -> Result<Figures, Failure> {
    let (kind, usual) = (what.kind(), what.usual());
    let measure = measure.filter(|measure| what.measures().contains(measure)).unwrap_or(usual);
    let question = Question { lane: kind, measure: Some(measure), ..Question::default() };
    let found = rows(question, recording, grid)?
        .ok_or_else(|| Failure::bad(format!("columns: too many for a lane of {}", kind.word())))?;
    let own = found.iter().filter(|row| what.has(row));
    let mut series: Vec<(&'static str, Vec<i64>)> = Vec::new();
    if what.has_series() {
        for name in SERIES {
            if let Some(row) = found.iter().find(|row| row.label() == name) {
                series.push((name, row.values().to_vec()));
            } else if what == What::Network && matches!(name, "sent" | "received") {
                series.push((name, vec![0; grid.buckets()]));
            }
        }
    } else {
        let mut sum = vec![0_i64; grid.buckets()];
        for row in own {
            sum.iter_mut().zip(row.values()).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
        }
        series.push((measure.word(), sum));
    }
    if what == What::Memory {
        // No reading is known before the first one.
        series
            .iter_mut()
            .flat_map(|(_, values)| values)
            .filter(|value| **value == 0)
            .for_each(|value| *value = UNKNOWN);
    }
    let pid = match what {
        What::Gc(process) | What::Jit(process) => people.process(process).map(|row| row.pid.to_string()),
        _ => None,
    };
    let more: Vec<&str> = pid.iter().flat_map(|pid| ["-p", pid.as_str()]).collect();
    let words = words(kind.word(), measure, grid, &more);
    Ok(Figures {
        unit: unit(measure),
        words: series.iter().map(|(name, _)| (*name, words.clone())).collect(),
        series,
        ..Figures::default()
    })
}

/// No number of a frame: see [`crate::frame::number`].
const UNKNOWN: i64 = i64::MIN;

/// The processes that have rows of a kind, in the order of their ids.
pub(crate) fn processes(recording: &OpenRecording, is_gc: bool) -> Result<Vec<ProcessId>, Error> {
    let mut found = std::collections::BTreeSet::new();
    if is_gc {
        recording.archive().scan(None, |row: &Collection| {
            found.insert(row.process);
        })?;
    } else {
        recording.archive().scan(None, |row: &Compilation| {
            found.extend(row.process);
        })?;
    }
    Ok(found.into_iter().collect())
}
