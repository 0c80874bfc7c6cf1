//! The lanes of a recording: from its rows, or from its timeline tables and rows.

use std::slice;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::Span;
use tracesift_analysis::timeline::{EventNumbers, Grid, Lanes};
use tracesift_archive::Error;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::columns::{Lane, Row};
use super::counters::Counted;
use super::from_rows::add_rows;
use super::from_tiles::{Plan, add_tiles};
use super::rates::MeanRates;
use super::{LaneKind, Measure, Question, counters, memory, methods, rates, regions, tags};
use crate::processes::Processes;
use crate::recording::OpenRecording;

/// Figures of buckets that are added up at a time: 128 MiB.
pub(super) const MOST_FIGURES: usize = 1 << 23;

/// The lanes that have any figure, in no order. `None`: they are too many for so many buckets.
pub(super) fn rows(
    recording: &OpenRecording,
    question: &Question,
    measure: Measure,
    grid: Grid,
) -> Result<Option<Vec<Row>>, Error> {
    let tables = Tables::of(recording)?;
    let (asked, mut names) = (tables.asked(recording, question, measure), tables.names(question.lane));
    let row = |lane: Lane, values: Vec<i64>| {
        let total = values.iter().fold(0_i64, |sum, value| sum.saturating_add(*value));
        Row { lane, measure, counter: None, values, total, grid, at_once: at_once(recording, question.lane, measure) }
    };
    Ok(match measure {
        _ if question.lane == LaneKind::Memory => {
            let of_figure = |(name, values): (&'static str, Vec<i64>)| {
                let total = values.last().copied().unwrap_or(0);
                Row { total, ..row(Lane::Kind(name.to_owned()), values) }
            };
            Some(memory::lanes(recording, &grid)?.into_iter().map(of_figure).collect())
        }
        _ if matches!(question.lane, LaneKind::Method | LaneKind::Module) => methods::lanes(&asked, grid)?
            .map(|lanes| lanes.into_iter().map(|(name, values)| row(Lane::Kind(name), values)).collect()),
        _ if question.lane == LaneKind::Region => regions::lanes(&asked, grid)?.map(|lanes| {
            // A region can have a part in several buckets.
            let of_path = |(path, values, total)| Row { total, ..row(Lane::Kind(path), values) };
            lanes.into_iter().map(of_path).collect()
        }),
        Measure::Frequency => rates::lanes(&asked, &tables.processes, &grid)?.map(|lanes| {
            let row = |mean: MeanRates| Some(Row { total: mean.all, ..row(names.lane(mean.lane)?, mean.buckets) });
            lanes.into_iter().filter_map(row).collect()
        }),
        Measure::Counter => counters::lanes(&asked, grid)?.map(|lanes| {
            let row = |of: Counted| Some(Row { counter: Some(of.counter), ..row(names.lane(of.lane)?, of.buckets) });
            lanes.into_iter().filter_map(row).collect()
        }),
        _ => sums(&asked, Collected::new(grid), &mut names)?.map(|lanes| {
            let row = |(lane, values): (i32, Vec<i64>)| Some(row(names.lane(lane)?, values));
            lanes.finish().filter_map(row).collect()
        }),
    })
}

/// What all lanes together have, of a measure whose figures are sums.
pub(super) fn together(
    recording: &OpenRecording,
    question: &Question,
    measure: Measure,
    grid: Grid,
) -> Result<Vec<i64>, Error> {
    let tables = Tables::of(recording)?;
    let (asked, mut names) = (tables.asked(recording, question, measure), tables.names(question.lane));
    let all = sums(&asked, Collected { are_one: true, ..Collected::new(grid) }, &mut names)?;
    let figures = all.and_then(|lanes| lanes.finish().next()).map(|(_, figures)| figures);
    Ok(figures.unwrap_or_else(|| vec![0; grid.buckets()]))
}

/// The tables of those whom lanes can be of.
struct Tables {
    processes: Vec<ProcessRow>,
    threads: Vec<ThreadRow>,
}

impl Tables {
    fn of(recording: &OpenRecording) -> Result<Self, Error> {
        let archive = recording.archive();
        Ok(Self { processes: archive.rows()?, threads: archive.rows()? })
    }

    fn asked<'a>(&'a self, recording: &'a OpenRecording, question: &'a Question, measure: Measure) -> Asked<'a> {
        let accepted = Processes::new(&self.processes).selected(&question.filter).map(|row| row.process).collect();
        Asked { recording, question, measure, threads: &self.threads, accepted }
    }

    fn names(&self, lane: LaneKind) -> Names<'_> {
        Names::new(lane, &self.processes, &self.threads)
    }
}

/// The lanes whose figures are sums. `None`: they are too many for so many buckets.
pub(super) fn sums(
    asked: &Asked<'_>,
    mut lanes: Collected,
    names: &mut Names<'_>,
) -> Result<Option<Lanes<i32>>, Error> {
    let grid = lanes.grid;
    match Plan::of(asked, grid)? {
        _ if asked.question.lane == LaneKind::Tag => names.tags = tags::add_samples(asked, &mut lanes)?,
        None => add_rows(asked, grid.range(), &mut lanes, &mut names.kinds)?,
        Some(plan) => {
            add_pieces(asked, &plan.pieces, &mut lanes, &mut names.kinds)?;
            add_tiles(asked, &plan, &[asked.measure], slice::from_mut(&mut lanes), &mut names.kinds)?;
        }
    }
    Ok((!lanes.is_full).then_some(lanes.lanes))
}

/// Adds what rows say about pieces of time. Two threads share them, since a range mostly has a piece at each end.
fn add_pieces(
    asked: &Asked<'_>,
    pieces: &[Span],
    lanes: &mut Collected,
    kinds: &mut EventNumbers,
) -> Result<(), Error> {
    // Kinds of events get their numbers in the order in which they are met.
    let is_divided = asked.measure != Measure::Count && pieces.len() > 1;
    let (first, second) = pieces.split_at(if is_divided { pieces.len() / 2 } else { pieces.len() });
    let add = |pieces: &[Span], lanes: &mut [Collected], kinds: &mut EventNumbers| {
        lanes.iter_mut().try_for_each(|lanes| pieces.iter().try_for_each(|piece| add_rows(asked, *piece, lanes, kinds)))
    };
    let lanes = slice::from_mut(lanes);
    in_two(lanes, |lanes| add(first, lanes, kinds), |lanes| add(second, lanes, &mut EventNumbers::default()))
}

/// Two threads add to lanes. What the second one adds is added to them at the end.
pub(super) fn in_two(
    lanes: &mut [Collected],
    first: impl FnOnce(&mut [Collected]) -> Result<(), Error> + Send,
    second: impl FnOnce(&mut [Collected]) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let mut others: Vec<Collected> = lanes.iter().map(Collected::alike).collect();
    let (first, second) = rayon::join(|| first(lanes), || second(&mut others));
    first.and(second)?;
    for (lanes, others) in lanes.iter_mut().zip(others) {
        lanes.join(others);
    }
    Ok(())
}

/// Whom the numbers of lanes stand for.
pub(super) struct Names<'a> {
    lane: LaneKind,
    processes: FxHashMap<i32, &'a ProcessRow>,
    threads: FxHashMap<i32, &'a ThreadRow>,
    kinds: EventNumbers,
    tags: Vec<String>,
}

impl<'a> Names<'a> {
    pub(super) fn new(lane: LaneKind, processes: &'a [ProcessRow], threads: &'a [ThreadRow]) -> Self {
        Self {
            lane,
            processes: processes.iter().map(|row| (row.process.0, row)).collect(),
            threads: threads.iter().map(|row| (row.thread.0, row)).collect(),
            kinds: EventNumbers::default(),
            tags: Vec::new(),
        }
    }

    pub(super) fn lane(&self, number: i32) -> Option<Lane> {
        Some(match self.lane {
            LaneKind::Process | LaneKind::Gc | LaneKind::Jit => Lane::Process((*self.processes.get(&number)?).clone()),
            LaneKind::Thread => {
                let thread = *self.threads.get(&number)?;
                Lane::Thread(self.processes.get(&thread.process.0).map(|row| (*row).clone()), thread.clone())
            }
            LaneKind::Cpu => Lane::Cpu(i16::try_from(number).ok()?),
            LaneKind::Disk => Lane::Disk(number),
            LaneKind::Event => {
                let (provider, event) = self.kinds.name(number)?;
                Lane::Event(provider.clone(), event.clone())
            }
            LaneKind::File | LaneKind::Syscall | LaneKind::Network | LaneKind::Fault => {
                Lane::Kind(self.kinds.name(number)?.1.clone())
            }
            // Their figures come by name.
            LaneKind::Memory | LaneKind::Method | LaneKind::Module | LaneKind::Region => return None,
            LaneKind::Tag => Lane::Tag(self.tags.get(usize::try_from(number).ok()?)?.clone()),
        })
    }
}

/// How many CPUs could work for a lane at a time; `None`: its figure has no share.
pub(super) fn at_once(recording: &OpenRecording, lane: LaneKind, measure: Measure) -> Option<i64> {
    match (lane, measure) {
        // All of them would lie in the first bucket, whatever its length.
        (_, Measure::Cpu) if recording.file.has_samples_without_time() => None,
        (LaneKind::Process | LaneKind::Tag, Measure::Cpu | Measure::Run)
        | (LaneKind::Method | LaneKind::Module, Measure::Cpu) => Some(i64::from(recording.info().cpu_count)),
        (LaneKind::Cpu, Measure::Cpu | Measure::Run) | (LaneKind::Disk, Measure::Busy) => Some(1),
        (LaneKind::Gc | LaneKind::Region, Measure::Time) => Some(1),
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

/// Lanes by number, as many as there is room for.
pub(super) struct Collected {
    pub(super) grid: Grid,
    lanes: Lanes<i32>,
    /// Whether all are added to one.
    are_one: bool,
    is_full: bool,
}

impl Collected {
    pub(super) fn new(grid: Grid) -> Self {
        Self { grid, lanes: Lanes::new(grid), are_one: false, is_full: false }
    }

    /// Empty ones of the same kind.
    fn alike(&self) -> Self {
        Self { are_one: self.are_one, ..Self::new(self.grid) }
    }

    /// The lanes. `None`: they are too many.
    pub(super) fn finish(self) -> Option<Lanes<i32>> {
        (!self.is_full).then_some(self.lanes)
    }

    /// Adds what others collected.
    pub(super) fn join(&mut self, others: Self) {
        self.is_full |= others.is_full;
        self.lanes.join(others.lanes);
    }

    /// Once there are too many lanes no more is added: there is no answer any more.
    pub(super) fn has_room(&mut self) -> bool {
        self.is_full |= self.lanes.len().saturating_mul(self.grid.buckets()) > MOST_FIGURES;
        !self.is_full
    }

    pub(super) fn add_at(&mut self, lane: i32, time: i64, amount: i64) {
        if self.has_room() {
            self.lanes.add_at(self.number(lane), time, amount);
        }
    }

    /// Adds an amount to a bucket.
    pub(super) fn add_in(&mut self, lane: i32, place: usize, amount: i64) {
        if self.has_room() {
            self.lanes.add_in(self.number(lane), place, amount);
        }
    }

    pub(super) fn add_span(&mut self, lane: i32, span: Span) {
        if self.has_room() {
            self.lanes.add_span(self.number(lane), span);
        }
    }

    fn number(&self, lane: i32) -> i32 {
        if self.are_one { 0 } else { lane }
    }
}
