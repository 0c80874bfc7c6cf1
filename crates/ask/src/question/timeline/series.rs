//! Figures of chosen processes and threads by buckets, several at once: the numbers of `dump timeline` for whoever draws them.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::timeline::{EventNumbers, Grid, OffCpuKind, Watched};
use tracesift_analysis::{Accounting, RecordingFacts, Run, Span, SwitchWithoutPriorities};
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{ContextSwitchRow, ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

use super::from_tiles::{Plan, add_tiles};
use super::lanes::{Asked, Collected, Names, at_once, in_two, sums};
use super::rows::Rows;
use super::{LaneKind, Measure, Question, Row, Way};
use crate::recording::OpenRecording;

/// What a thread does: the measures that one reading of the switches gives together.
pub const STATES: [Measure; 5] = [Measure::Run, Measure::Ready, Measure::Wait, Measure::Open, Measure::Unknown];

/// Rows of switches that two threads read in halves: with fewer, the row groups on both sides of the middle are most of the work.
const ROWS_FOR_TWO: u64 = 2_000_000;

/// Chosen processes or threads.
#[derive(Clone, Debug)]
pub enum Chosen {
    /// Processes.
    Processes(FxHashSet<ProcessId>),
    /// Threads.
    Threads(FxHashSet<ThreadId>),
}

/// Figures by buckets.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Whether the timeline tables have whole buckets of it.
    pub is_from_tables: bool,
    /// How many CPUs could work for a lane at a time; `None`: its figures have no share.
    pub at_once: Option<i64>,
    /// Places of the measures that the recording has nothing of.
    pub absent: Vec<usize>,
    /// By the number of a process or thread and the place of a measure: the figure of each bucket. A lane without any amount is not there.
    pub lanes: FxHashMap<(i32, usize), Vec<i64>>,
}

/// The figures of chosen processes or threads, of which the recording may have some. Those of states come from one reading of the
/// switches. `None`: they are too many for so many buckets.
///
/// # Errors
/// When a table cannot be read.
pub fn series(
    recording: &OpenRecording,
    chosen: &Chosen,
    measures: &[Measure],
    grid: Grid,
    way: Way,
) -> Result<Option<Series>, Error> {
    let archive = recording.archive();
    let processes: Vec<ProcessRow> = archive.rows()?;
    let threads: Vec<ThreadRow> = archive.rows()?;
    let lane = match chosen {
        Chosen::Processes(_) => LaneKind::Process,
        Chosen::Threads(_) => LaneKind::Thread,
    };
    let range = grid.range();
    let time = TimeRange { start: Some(range.start), end: Some(range.end) };
    let question = Question { lane, way, time, ..Question::default() };
    let of_chosen: Vec<ThreadRow> = threads.iter().filter(|row| chosen.has(row)).cloned().collect();
    let accepted: FxHashSet<ProcessId> = match chosen {
        Chosen::Processes(ids) => ids.clone(),
        Chosen::Threads(_) => of_chosen.iter().map(|row| row.process).collect(),
    };
    let asked = |measure: Measure| Asked {
        recording,
        question: &question,
        measure,
        threads: &of_chosen,
        accepted: accepted.clone(),
    };
    let mut all = Series::default();
    let states: Vec<(usize, Measure)> =
        measures.iter().copied().enumerate().filter(|(_, measure)| STATES.contains(measure)).collect();
    for (place, measure) in measures.iter().enumerate() {
        all.at_once = all.at_once.or(at_once(recording, lane, *measure));
        if !measure.rows(lane).are_in(recording) {
            all.absent.push(place);
            continue;
        }
        if states.iter().any(|(of_state, _)| *of_state == place) {
            continue;
        }
        let asked = asked(*measure);
        all.is_from_tables |= Plan::of(&asked, grid)?.is_some();
        let mut names = Names::new(lane, &processes, &of_chosen);
        let Some(lanes) = sums(&asked, Collected::new(grid), &mut names)? else { return Ok(None) };
        all.lanes.extend(lanes.finish().map(|(lane, figures)| ((lane, place), figures)));
    }
    if !states.is_empty() && Rows::Switches.are_in(recording) {
        let of_states = StatesAsked { asked: &asked(Measure::Run), states: &states };
        if !of_states.add(grid, &mut all)? {
            return Ok(None);
        }
    }
    Ok(Some(all))
}

impl Chosen {
    fn has(&self, row: &ThreadRow) -> bool {
        match self {
            Self::Processes(ids) => ids.contains(&row.process),
            Self::Threads(ids) => ids.contains(&row.thread),
        }
    }
}

/// The states of chosen threads.
struct StatesAsked<'a> {
    asked: &'a Asked<'a>,
    /// Each with its place among the measures.
    states: &'a [(usize, Measure)],
}

impl StatesAsked<'_> {
    /// Adds them to a series. False: they are too many.
    fn add(&self, grid: Grid, all: &mut Series) -> Result<bool, Error> {
        let plan = Plan::of(self.asked, grid)?;
        let mut lanes: Vec<Collected> = self.states.iter().map(|_| Collected::new(grid)).collect();
        match &plan {
            Some(plan) => self.add_pieces(&plan.pieces, &mut lanes)?,
            None => self.add_pieces(&self.halves(grid)?, &mut lanes)?,
        }
        if let Some(plan) = &plan {
            all.is_from_tables = true;
            let measures: Vec<Measure> = self.states.iter().map(|(_, measure)| *measure).collect();
            add_tiles(self.asked, plan, &measures, &mut lanes, &mut EventNumbers::default())?;
        }
        for ((place, _), lanes) in self.states.iter().zip(lanes) {
            let Some(lanes) = lanes.finish() else { return Ok(false) };
            all.lanes.extend(lanes.finish().map(|(lane, figures)| ((lane, *place), figures)));
        }
        Ok(true)
    }

    /// Two threads share the pieces, since a range mostly has one at each end.
    fn add_pieces(&self, pieces: &[Span], lanes: &mut [Collected]) -> Result<(), Error> {
        let add =
            |pieces: &[Span], lanes: &mut [Collected]| pieces.iter().try_for_each(|piece| self.add_rows(*piece, lanes));
        let (first, second) = pieces.split_at(pieces.len().div_ceil(2));
        if second.is_empty() {
            return add(first, lanes);
        }
        in_two(lanes, |lanes| add(first, lanes), |lanes| add(second, lanes))
    }

    /// A grid as one piece, or as two where it has very many rows.
    fn halves(&self, grid: Grid) -> Result<Vec<Span>, Error> {
        let whole = grid.range();
        let rows = self.asked.recording.archive().rows_around::<ContextSwitchRow>(whole.start..whole.end)?;
        if rows < ROWS_FOR_TWO || grid.buckets() < 2 {
            return Ok(vec![whole]);
        }
        let middle = grid.bucket(grid.buckets() / 2).start;
        Ok(vec![Span::new(whole.start, middle), Span::new(middle, whole.end)])
    }

    fn add_rows(&self, piece: Span, lanes: &mut [Collected]) -> Result<(), Error> {
        let by_process = self.asked.question.lane == LaneKind::Process;
        let lane = |row: &ThreadRow| if by_process { row.process.0 } else { row.thread.0 };
        let lane_of = self.asked.threads.iter().map(|row| (row.thread, lane(row))).collect();
        let mut watched = OfThreads { lane_of, states: self.states, lanes };
        let recording = RecordingFacts::from(self.asked.recording.info());
        let mut accounting = Accounting::new(&recording, piece, self.asked.threads);
        let (time, threads) = (Some(piece.start..piece.end), self.asked.threads.iter().map(|row| row.thread));
        // Where a thread runs all through the range, rows around it say so. What others do tells nothing of it.
        let archive = self.asked.recording.archive();
        archive.scan_around_threads(time, threads, |row: &SwitchWithoutPriorities| {
            accounting.switch_watched(*row, &mut watched);
        })?;
        accounting.finish_watched(&mut watched);
        Ok(())
    }
}

/// Adds what threads do to the lanes of each state.
struct OfThreads<'a> {
    lane_of: FxHashMap<ThreadId, i32>,
    states: &'a [(usize, Measure)],
    lanes: &'a mut [Collected],
}

impl OfThreads<'_> {
    fn span(&mut self, thread: ThreadId, measure: Measure, span: Span) {
        let Some(lane) = self.lane_of.get(&thread) else { return };
        let place = self.states.iter().position(|(_, state)| *state == measure);
        if let Some(lanes) = place.and_then(|place| self.lanes.get_mut(place)) {
            lanes.add_span(*lane, span);
        }
    }
}

impl Watched for OfThreads<'_> {
    fn run(&mut self, run: Run) {
        self.span(run.thread, Measure::Run, run.span);
    }

    fn off(&mut self, thread: ThreadId, kind: OffCpuKind, span: Span) {
        self.span(thread, Measure::of(kind), span);
    }
}

impl Question {
    /// The lanes of a recording with their figures, in no order: what the answer has rows of. `None`: the recording has no such rows, or
    /// they are too many for so many buckets.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn lanes(&self, recording: &OpenRecording, grid: Grid) -> Result<Option<Vec<Row>>, Error> {
        let measure = self.measure_of(recording);
        if !measure.rows(self.lane).are_in(recording) {
            return Ok(None);
        }
        super::lanes::rows(recording, self, measure, grid)
    }

    /// The sum of all lanes of a recording in each bucket. `None`: the recording has no such rows, or their figures are no sums.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn together(&self, recording: &OpenRecording, grid: Grid) -> Result<Option<Vec<i64>>, Error> {
        let measure = self.measure_of(recording);
        let are_sums = !matches!(self.lane, LaneKind::Memory | LaneKind::Method | LaneKind::Module | LaneKind::Region)
            && !matches!(measure, Measure::Frequency | Measure::Counter);
        if !are_sums || !measure.rows(self.lane).are_in(recording) {
            return Ok(None);
        }
        super::lanes::together(recording, self, measure, grid).map(Some)
    }

    /// Whether whole buckets come from the timeline tables.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn is_from_tables(&self, recording: &OpenRecording, grid: Grid) -> Result<bool, Error> {
        let measure = self.measure_of(recording);
        let asked = Asked { recording, question: self, measure, threads: &[], accepted: FxHashSet::default() };
        Ok(Plan::of(&asked, grid)?.is_some())
    }
}
