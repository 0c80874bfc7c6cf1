//! The lanes of a recording, from its rows.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::timeline::{Grid, Lanes, OffCpuKind, Watched};
use tracesift_analysis::{AccountedSwitch, Accounting, RecordingFacts, Run, Span};
use tracesift_archive::Error;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, DiskIoRow, EventRow, ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId, view};

use super::columns::{Lane, Row};
use super::{LaneKind, Measure, Question};
use crate::processes::Processes;
use crate::recording::OpenRecording;

/// Figures of buckets that are added up at a time: 128 MiB.
const MOST_FIGURES: usize = 1 << 23;

view! {
    /// A sample, and whom it is of.
    #[derive(Clone, Copy, Debug)]
    struct Sample of CpuSampleRow { time, cpu, process, thread, weight }
}

view! {
    /// A disk operation, and whom it is of.
    #[derive(Clone, Copy, Debug)]
    struct Operation of DiskIoRow { time, process, disk, size }
}

view! {
    /// The kind of an event.
    #[derive(Clone, Debug)]
    struct Event of EventRow { time, process, provider, event }
}

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
    let accepted: FxHashSet<ProcessId> =
        Processes::new(&processes).selected(&question.filter).map(|row| row.process).collect();
    let mut lanes = Collected::new(grid);
    let mut names = Vec::new();
    match measure {
        Measure::Cpu | Measure::Samples => of_samples(recording, question, (measure, &accepted, &threads), &mut lanes)?,
        Measure::Bytes | Measure::Operations => of_disks(recording, question, (measure, &accepted), &mut lanes)?,
        Measure::Count => names = of_events(recording, question, &accepted, &mut lanes)?,
        _ => of_switches(recording, question, (measure, &accepted, &threads), &mut lanes)?,
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
                let (provider, event): &(String, String) = names.get(usize::try_from(lane).ok()?)?;
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

/// Lanes by number, as many as there is room for.
struct Collected {
    grid: Grid,
    lanes: Lanes<i32>,
    is_full: bool,
}

impl Collected {
    fn new(grid: Grid) -> Self {
        Self { grid, lanes: Lanes::new(grid), is_full: false }
    }

    /// Once there are too many lanes no more is added: there is no answer any more.
    fn has_room(&mut self) -> bool {
        self.is_full |= self.lanes.len().saturating_mul(self.grid.buckets()) > MOST_FIGURES;
        !self.is_full
    }

    fn add_at(&mut self, lane: i32, time: i64, amount: i64) {
        if self.has_room() {
            self.lanes.add_at(lane, time, amount);
        }
    }

    fn add_span(&mut self, lane: i32, span: Span) {
        if self.has_room() {
            self.lanes.add_span(lane, span);
        }
    }
}

fn of_samples(
    recording: &OpenRecording,
    question: &Question,
    (measure, accepted, threads): (Measure, &FxHashSet<ProcessId>, &[ThreadRow]),
    lanes: &mut Collected,
) -> Result<(), Error> {
    let of_thread: FxHashMap<ThreadId, ProcessId> = threads.iter().map(|row| (row.thread, row.process)).collect();
    let range = lanes.grid.range();
    let time = (!question.time.is_everything()).then_some(range.start..range.end);
    recording.archive().scan(time, |row: &Sample| {
        let lane = match question.lane {
            // What interrupts took from an idle thread is not its own.
            LaneKind::Thread if of_thread.get(&row.thread) != Some(&row.process) => return,
            LaneKind::Thread => row.thread.0,
            LaneKind::Cpu => i32::from(row.cpu),
            _ => row.process.0,
        };
        if accepted.contains(&row.process) {
            lanes.add_at(lane, row.time, if measure == Measure::Cpu { row.weight } else { 1 });
        }
    })
}

/// Adds what threads do to the lanes.
struct OfThreads<'a> {
    lanes: &'a mut Collected,
    /// The lane of each thread that counts, but for lanes of CPUs.
    lane_of: FxHashMap<ThreadId, i32>,
    by_cpu: bool,
    measure: Measure,
}

impl OfThreads<'_> {
    fn span(&mut self, thread: ThreadId, measure: Measure, span: Span) {
        if self.measure == measure
            && let Some(lane) = self.lane_of.get(&thread)
        {
            self.lanes.add_span(*lane, span);
        }
    }
}

impl Watched for OfThreads<'_> {
    fn run(&mut self, run: Run) {
        if !self.by_cpu {
            self.span(run.thread, Measure::Run, run.span);
        } else if let Some(cpu) = run.cpu.filter(|_| self.lane_of.contains_key(&run.thread)) {
            self.lanes.add_span(i32::from(cpu), run.span);
        }
    }

    fn off(&mut self, thread: ThreadId, kind: OffCpuKind, span: Span) {
        let measure = match kind {
            OffCpuKind::Wait => Measure::Wait,
            OffCpuKind::Ready => Measure::Ready,
            OffCpuKind::Open => Measure::Open,
            OffCpuKind::Unknown => Measure::Unknown,
        };
        self.span(thread, measure, span);
    }

    fn switch_in(&mut self, thread: ThreadId, time: i64) {
        if self.measure == Measure::Switches
            && let Some(lane) = self.lane_of.get(&thread)
        {
            self.lanes.add_at(*lane, time, 1);
        }
    }
}

fn of_switches(
    recording: &OpenRecording,
    question: &Question,
    (measure, accepted, threads): (Measure, &FxHashSet<ProcessId>, &[ThreadRow]),
    lanes: &mut Collected,
) -> Result<(), Error> {
    let range = lanes.grid.range();
    let lane = |row: &ThreadRow| if question.lane == LaneKind::Process { row.process.0 } else { row.thread.0 };
    let asked = threads.iter().filter(|row| accepted.contains(&row.process));
    let lane_of = asked.map(|row| (row.thread, lane(row))).collect();
    let by_cpu = question.lane == LaneKind::Cpu;
    let mut watched = OfThreads { lanes, lane_of, by_cpu, measure };
    let mut accounting = Accounting::new(&RecordingFacts::from(recording.info()), range, threads);
    // Where a thread runs all through the range, rows around it say so.
    recording.archive().scan_around(Some(range.start..range.end), |row: &AccountedSwitch| {
        accounting.switch_watched(row, &mut watched)
    })?;
    accounting.finish_watched(&mut watched);
    Ok(())
}

fn of_disks(
    recording: &OpenRecording,
    question: &Question,
    (measure, accepted): (Measure, &FxHashSet<ProcessId>),
    lanes: &mut Collected,
) -> Result<(), Error> {
    let range = lanes.grid.range();
    // An operation that completes at the first instant ends a span that lies before it.
    let time = range.start.saturating_sub(1)..range.end.saturating_add(1);
    let all = question.filter.is_empty();
    recording.archive().scan(Some(time), |row: &Operation| {
        let process = row.process.filter(|process| accepted.contains(process));
        let lane = match question.lane {
            LaneKind::Disk => Some(row.disk).filter(|_| all || process.is_some()),
            _ => process.map(|process| process.0),
        };
        if let Some(lane) = lane {
            lanes.add_at(lane, row.time, if measure == Measure::Bytes { row.size } else { 1 });
        }
    })
}

/// Adds the events by their kind. Returns provider and event of each lane.
fn of_events(
    recording: &OpenRecording,
    question: &Question,
    accepted: &FxHashSet<ProcessId>,
    lanes: &mut Collected,
) -> Result<Vec<(String, String)>, Error> {
    let range = lanes.grid.range();
    let all = question.filter.is_empty();
    let mut names: Vec<(String, String)> = Vec::new();
    let mut known: FxHashMap<String, FxHashMap<String, i32>> = FxHashMap::default();
    let time = (!question.time.is_everything()).then_some(range.start..range.end);
    recording.archive().scan(time, |row: &Event| {
        if !all && !row.process.is_some_and(|process| accepted.contains(&process)) || !lanes.has_room() {
            return;
        }
        let lane = known.get(&row.provider).and_then(|events| events.get(&row.event)).copied();
        let lane = lane.unwrap_or_else(|| {
            let lane = i32::try_from(names.len()).unwrap_or(i32::MAX);
            names.push((row.provider.clone(), row.event.clone()));
            known.entry(row.provider.clone()).or_default().insert(row.event.clone(), lane);
            lane
        });
        lanes.add_at(lane, row.time, 1);
    })?;
    Ok(names)
}
