//! The lanes of a recording, from its rows.

use std::ops::Range;

use rustc_hash::FxHashMap;
use tracesift_analysis::timeline::{EventNumbers, OffCpuKind, Watched};
use tracesift_analysis::{Accounting, RecordingFacts, Run, Span, SwitchWithoutPriorities};
use tracesift_archive::Error;
use tracesift_trace::rows::{CpuSampleRow, EventRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId, view};

use super::lanes::{Asked, Collected};
use super::rows::Rows;
use super::{LaneKind, Measure, disks, others};

view! {
    /// A sample, and whom it is of.
    #[derive(Clone, Copy, Debug)]
    struct Sample of CpuSampleRow { time, cpu, process, thread, weight }
}

view! {
    /// The kind of an event.
    #[derive(Clone, Debug)]
    struct Event of EventRow { time, process, provider, event }
}

/// Adds what rows say about a time to the lanes.
pub(super) fn add_rows(
    asked: &Asked<'_>,
    range: Span,
    lanes: &mut Collected,
    kinds: &mut EventNumbers,
) -> Result<(), Error> {
    let is_everything = asked.question.time.is_everything() && range == lanes.grid.range();
    let time = (!is_everything).then_some(range.start..range.end);
    match asked.measure.rows(asked.question.lane) {
        Rows::Samples => of_samples(asked, time, lanes),
        Rows::Disks => disks::add_operations(asked, range, lanes),
        Rows::Events => of_events(asked, time, lanes, kinds),
        Rows::Switches => of_switches(asked, range, lanes),
        // They are no sums of rows alone.
        Rows::Frequencies | Rows::Counters | Rows::Memory | Rows::Regions => Ok(()),
        Rows::Files | Rows::Calls | Rows::Network | Rows::Faults | Rows::Collections | Rows::Compilations => {
            others::add_rows(asked, range, lanes, kinds)
        }
    }
}

fn of_samples(asked: &Asked<'_>, time: Option<Range<i64>>, lanes: &mut Collected) -> Result<(), Error> {
    let of_thread: FxHashMap<ThreadId, ProcessId> = asked.threads.iter().map(|row| (row.thread, row.process)).collect();
    asked.recording.archive().scan(time, |row: &Sample| {
        let lane = match asked.question.lane {
            // What interrupts took from an idle thread is not its own.
            LaneKind::Thread if of_thread.get(&row.thread) != Some(&row.process) => return,
            LaneKind::Thread => row.thread.0,
            LaneKind::Cpu => i32::from(row.cpu),
            _ => row.process.0,
        };
        if asked.accepted.contains(&row.process) {
            lanes.add_at(lane, row.time, if asked.measure == Measure::Cpu { row.weight } else { 1 });
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
        self.span(thread, Measure::of(kind), span);
    }

    fn switch_in(&mut self, thread: ThreadId, time: i64) {
        if self.measure == Measure::Switches
            && let Some(lane) = self.lane_of.get(&thread)
        {
            self.lanes.add_at(*lane, time, 1);
        }
    }
}

fn of_switches(asked: &Asked<'_>, range: Span, lanes: &mut Collected) -> Result<(), Error> {
    let kind = asked.question.lane;
    let lane = |row: &ThreadRow| if kind == LaneKind::Process { row.process.0 } else { row.thread.0 };
    let counted = asked.threads.iter().filter(|row| asked.accepted.contains(&row.process));
    let lane_of = counted.map(|row| (row.thread, lane(row))).collect();
    let mut watched = OfThreads { lanes, lane_of, by_cpu: kind == LaneKind::Cpu, measure: asked.measure };
    let recording = RecordingFacts::from(asked.recording.info());
    let mut accounting = Accounting::new(&recording, range, asked.threads);
    // Where a thread runs all through the range, rows around it say so.
    let time = range.start..range.end;
    asked.recording.archive().scan_around(Some(time), |row: &SwitchWithoutPriorities| {
        accounting.switch_watched(*row, &mut watched);
    })?;
    accounting.finish_watched(&mut watched);
    Ok(())
}

/// Adds the events by their kind.
fn of_events(
    asked: &Asked<'_>,
    time: Option<Range<i64>>,
    lanes: &mut Collected,
    kinds: &mut EventNumbers,
) -> Result<(), Error> {
    let all = asked.question.filter.is_empty();
    asked.recording.archive().scan(time, |row: &Event| {
        let counts = all || row.process.is_some_and(|process| asked.accepted.contains(&process));
        if counts && lanes.has_room() {
            lanes.add_at(kinds.number(&row.provider, &row.event), row.time, 1);
        }
    })
}
