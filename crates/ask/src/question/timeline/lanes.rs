//! The lanes of a recording: from its rows, or from its timeline tables and rows.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::Span;
use tracesift_analysis::timeline::{Grid, Lanes};
use tracesift_archive::Error;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ContextSwitchRow, DiskIoRow, EventRow, ProcessRow, ThreadRow};

use super::columns::{Lane, Row};
use super::from_rows::add_rows;
use super::from_tiles::{Plan, add_tiles};
use super::{LaneKind, Measure, Question};
use crate::processes::Processes;
use crate::recording::OpenRecording;

/// Figures of buckets that are added up at a time: 128 MiB.
const MOST_FIGURES: usize = 1 << 23;

/// Whether a recording has what a measure is made of.
pub(super) fn has_rows(recording: &OpenRecording, measure: Measure) -> bool {
    let archive = recording.archive();
    match measure {
        Measure::Cpu | Measure::Samples => recording.file.has_samples,
        Measure::Bytes | Measure::Operations => archive.row_count::<DiskIoRow>() > 0,
        Measure::Count => archive.row_count::<EventRow>() > 0,
        _ => recording.info().has_switches && archive.row_count::<ContextSwitchRow>() > 0,
    }
}

/// The lanes that have any figure, in no order. `None`: they are too many for so many buckets.
pub(super) fn rows(
    recording: &OpenRecording,
    question: &Question,
    measure: Measure,
    grid: Grid,
) -> Result<Option<Vec<Row>>, Error> {
    let archive = recording.archive();
    let processes: Vec<ProcessRow> = archive.rows()?;
    let threads: Vec<ThreadRow> = archive.rows()?;
    let accepted = Processes::new(&processes).selected(&question.filter).map(|row| row.process).collect();
    let asked = Asked { recording, question, measure, threads: &threads, accepted };
    let mut lanes = Collected::new(grid);
    let mut kinds = Kinds::default();
    match Plan::of(&asked, grid)? {
        None => add_rows(&asked, grid.range(), &mut lanes, &mut kinds)?,
        Some(plan) => {
            for piece in &plan.pieces {
                add_rows(&asked, *piece, &mut lanes, &mut kinds)?;
            }
            add_tiles(&asked, &plan, &mut lanes, &mut kinds)?;
        }
    }
    if lanes.is_full {
        return Ok(None);
    }
    let of_process: FxHashMap<i32, &ProcessRow> = processes.iter().map(|row| (row.process.0, row)).collect();
    let of_thread: FxHashMap<i32, &ThreadRow> = threads.iter().map(|row| (row.thread.0, row)).collect();
    let name = |lane: i32| -> Option<Lane> {
        Some(match question.lane {
            LaneKind::Process => Lane::Process((*of_process.get(&lane)?).clone()),
            LaneKind::Thread => {
                let thread = *of_thread.get(&lane)?;
                Lane::Thread(of_process.get(&thread.process.0).map(|row| (*row).clone()), thread.clone())
            }
            LaneKind::Cpu => Lane::Cpu(i16::try_from(lane).ok()?),
            LaneKind::Disk => Lane::Disk(lane),
            LaneKind::Event => {
                let (provider, event): &(String, String) = kinds.names.get(usize::try_from(lane).ok()?)?;
                Lane::Event(provider.clone(), event.clone())
            }
        })
    };
    let at_once = at_once(recording, question.lane, measure);
    let rows = lanes.lanes.finish().filter_map(|(lane, values)| {
        let lane = name(lane)?;
        Some(Row { lane, measure, values, grid, at_once })
    });
    Ok(Some(rows.collect()))
}

/// How many CPUs could work for a lane at a time; `None`: its figure has no share.
fn at_once(recording: &OpenRecording, lane: LaneKind, measure: Measure) -> Option<i64> {
    match (lane, measure) {
        (LaneKind::Process, Measure::Cpu | Measure::Run) => Some(i64::from(recording.info().cpu_count)),
        (LaneKind::Cpu, Measure::Cpu | Measure::Run) => Some(1),
        (LaneKind::Thread, Measure::Cpu | Measure::Run | Measure::Wait | Measure::Ready) => Some(1),
        (LaneKind::Thread, Measure::Open | Measure::Unknown) => Some(1),
        _ => None,
    }
}

/// What is asked of whom.
pub(super) struct Asked<'a> {
    pub(super) recording: &'a OpenRecording,
    pub(super) question: &'a Question,
    pub(super) measure: Measure,
    pub(super) threads: &'a [ThreadRow],
    /// The processes that count.
    pub(super) accepted: FxHashSet<ProcessId>,
}

/// Numbers of the kinds of events, in the order in which they are met.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// Provider and name of each.
    names: Vec<(String, String)>,
    known: FxHashMap<String, FxHashMap<String, i32>>,
}

impl Kinds {
    /// The number of a kind.
    pub(super) fn number(&mut self, provider: &str, event: &str) -> i32 {
        if let Some(known) = self.known.get(provider).and_then(|events| events.get(event)) {
            return *known;
        }
        let number = i32::try_from(self.names.len()).unwrap_or(i32::MAX);
        self.names.push((provider.to_owned(), event.to_owned()));
        self.known.entry(provider.to_owned()).or_default().insert(event.to_owned(), number);
        number
    }
}

/// Lanes by number, as many as there is room for.
pub(super) struct Collected {
    pub(super) grid: Grid,
    lanes: Lanes<i32>,
    is_full: bool,
}

impl Collected {
    fn new(grid: Grid) -> Self {
        Self { grid, lanes: Lanes::new(grid), is_full: false }
    }

    /// Once there are too many lanes no more is added: there is no answer any more.
    pub(super) fn has_room(&mut self) -> bool {
        self.is_full |= self.lanes.len().saturating_mul(self.grid.buckets()) > MOST_FIGURES;
        !self.is_full
    }

    pub(super) fn add_at(&mut self, lane: i32, time: i64, amount: i64) {
        if self.has_room() {
            self.lanes.add_at(lane, time, amount);
        }
    }

    pub(super) fn add_span(&mut self, lane: i32, span: Span) {
        if self.has_room() {
            self.lanes.add_span(lane, span);
        }
    }
}
