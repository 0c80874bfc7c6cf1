//! Lanes of disks: what they read and wrote, how busy they were, and how many operations were under way.

use tracesift_analysis::timeline::Grid;
use tracesift_ask::question::timeline::{self, LaneKind, Measure};
use tracesift_ask::recording::OpenRecording;
use tracesift_trace::rows::DiskOperation;

use super::Lane;
use super::list::rows;
use super::totals::{Entry, Totals};
use crate::failure::Failure;

/// A part of what a disk does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DiskPart {
    Busy,
    Queue,
    Read,
    Write,
}

impl DiskPart {
    /// In the order of the page.
    pub(crate) const ALL: [Self; 4] = [Self::Busy, Self::Queue, Self::Read, Self::Write];

    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Queue => "queue",
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    pub(crate) fn parse(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.id() == id)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Queue => "queue depth",
            Self::Read => "reads",
            Self::Write => "writes",
        }
    }

    /// What its lane can show; the first without a choice.
    pub(crate) fn measures(self) -> &'static [Measure] {
        match self {
            Self::Busy => &[Measure::Busy],
            Self::Queue => &[Measure::Queue],
            Self::Read => &[Measure::ReadBytes, Measure::Reads],
            Self::Write => &[Measure::WriteBytes, Measure::Writes],
        }
    }

    /// Whether an operation is one of those that its lane shows.
    pub(crate) fn has(self, operation: DiskOperation) -> bool {
        match self {
            Self::Busy | Self::Queue => true,
            Self::Read => operation == DiskOperation::Read,
            Self::Write => operation == DiskOperation::Write,
        }
    }
}

/// What lanes of disks show without a choice: what is read and what is written, apart.
pub(crate) const USUAL: [Measure; 2] = [Measure::ReadBytes, Measure::WriteBytes];

/// What lanes of disks can show.
const MEASURES: [Measure; 8] = [
    Measure::Bytes,
    Measure::ReadBytes,
    Measure::WriteBytes,
    Measure::Operations,
    Measure::Reads,
    Measure::Writes,
    Measure::Busy,
    Measure::Queue,
];

/// The lanes of disks.
pub(crate) fn list(recording: &OpenRecording, all: Grid) -> Result<Vec<Entry>, Failure> {
    let mut disks = rows(recording, LaneKind::Disk, Measure::Bytes, all)?;
    let counts = rows(recording, LaneKind::Disk, Measure::Operations, all)?;
    // Flushes have no bytes.
    for row in &counts {
        if !disks.iter().any(|known| known.lane() == row.lane()) {
            disks.push(row.clone());
        }
    }
    let mut entries: Vec<(i32, Entry)> = Vec::new();
    for row in &disks {
        let timeline::Lane::Disk(disk) = row.lane() else { continue };
        let count = counts.iter().find(|of| of.lane() == row.lane()).map(timeline::Row::total);
        let bytes = if row.measure() == Measure::Bytes { row.total() } else { 0 };
        let totals = Totals { bytes: Some(bytes), count, ..Totals::default() };
        let entry = Entry::new(Lane::Disk(*disk), "disk", &row.label()).with(totals);
        entries.push((*disk, entry.with_measures(words(&MEASURES)).with_children()));
    }
    entries.sort_by_key(|(disk, _)| *disk);
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// The lanes below the one of a disk.
pub(crate) fn parts(recording: &OpenRecording, disk: i32, all: Grid) -> Result<Vec<Entry>, Failure> {
    let mut entries = Vec::new();
    for part in DiskPart::ALL {
        let mut totals = Totals::default();
        for measure in part.measures() {
            let rows = rows(recording, LaneKind::Disk, *measure, all)?;
            let row = rows.iter().find(|row| *row.lane() == timeline::Lane::Disk(disk));
            let total = row.map_or(0, timeline::Row::total);
            match measure {
                Measure::ReadBytes | Measure::WriteBytes => totals.bytes = Some(total),
                Measure::Reads | Measure::Writes => totals.count = Some(total),
                Measure::Busy => totals.busy = Some(total),
                _ => {}
            }
        }
        let name = format!("{}: {}", timeline::Lane::Disk(disk).label(), part.name());
        let entry = Entry::new(Lane::DiskPart(disk, part), "disk", &name);
        entries.push(entry.with(totals).with_measures(words(part.measures())));
    }
    Ok(entries)
}

fn words(measures: &[Measure]) -> Vec<&'static str> {
    measures.iter().map(|measure| measure.word()).collect()
}
