//! The lanes of a recording, from the timeline tables of its archive: whole buckets from there, the rest from rows.

use std::ops::Range;

use rustc_hash::FxHashSet;
use tracesift_analysis::Span;
use tracesift_analysis::timeline::tiles::{Cover, Levels, Wanted};
use tracesift_analysis::timeline::{EventNumbers, Grid};
use tracesift_archive::{Archive, Error, Table, TilesOfTable};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, DiskIoRow, EventRow, TIMELINE_BLOCK, TimelineCpuRow, TimelineDiskRow,
    TimelineEventRow, TimelineProcessRow, TimelineThreadRow,
};
use tracesift_trace::schema::ColumnSet;

use super::lanes::{Asked, Collected, in_two};
use super::rows::Rows;
use super::{LaneKind, Measure, Way};
use crate::recording::OpenRecording;

/// How many times as long a row of a time range takes as one of those around it, most of which are passed over.
const ROWS_INSIDE: u64 = 2;

/// Pieces of time of which an answer is put together, at most: each one reads some row groups.
const MOST_PIECES: usize = 64;

/// Buckets between two that are wanted, from which on they are read apart.
const FAR: i64 = 4 * TIMELINE_BLOCK;

/// Processes whose rows are chosen before their figures are decoded, at most: of more, most rows are needed.
const FEW_PROCESSES: usize = 64;

/// Likewise threads.
const FEW_THREADS: usize = 512;

/// Stretches of buckets that two threads read in halves: of fewer the row group in the middle is most of the work.
const WANTED_FOR_TWO: usize = 256;

/// How an answer is put together.
pub(super) struct Plan {
    /// The times that rows tell of.
    pub(super) pieces: Vec<Span>,
    wanted: Vec<(u8, Vec<Wanted>)>,
}

/// The table that has the figure of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Processes,
    Threads,
    Cpus,
    Disks,
    Events,
}

impl Source {
    /// `None`: rows alone have it.
    fn of(asked: &Asked<'_>) -> Option<Self> {
        use Measure::{Busy, Bytes, Operations, Queue, ReadBytes, Reads, Writes};
        use Measure::{Count, Cpu, Open, Ready, Run, Samples, Switches, Unknown, Wait};
        // Figures of a CPU, a disk or an event are those of all processes.
        let all = asked.question.filter.is_empty();
        match (asked.question.lane, asked.measure) {
            (LaneKind::Process, Cpu | Samples | Run | Wait | Ready | Open | Unknown | Switches) => {
                Some(Self::Processes)
            }
            (LaneKind::Thread, Run | Wait | Ready | Open | Unknown | Switches) => Some(Self::Threads),
            (LaneKind::Cpu, Run) if all => Some(Self::Cpus),
            // `bytes_written` of the table has the bytes of flushes, too: rows alone tell those of writes.
            (LaneKind::Disk, Bytes | ReadBytes | Operations | Reads | Writes | Busy | Queue) if all => {
                Some(Self::Disks)
            }
            (LaneKind::Event, Count) if all => Some(Self::Events),
            _ => None,
        }
    }

    fn tiles(self, archive: &Archive) -> Result<Option<TilesOfTable>, Error> {
        match self {
            Self::Processes => archive.tiles_of::<TimelineProcessRow>(),
            Self::Threads => archive.tiles_of::<TimelineThreadRow>(),
            Self::Cpus => archive.tiles_of::<TimelineCpuRow>(),
            Self::Disks => archive.tiles_of::<TimelineDiskRow>(),
            Self::Events => archive.tiles_of::<TimelineEventRow>(),
        }
    }
}

/// The levels of the table that has what is asked for, and its first one; `None`: rows alone have it.
pub(super) fn tiles_of(asked: &Asked<'_>) -> Result<Option<(Levels, u8)>, Error> {
    let Some(source) = Source::of(asked) else { return Ok(None) };
    Ok(source.tiles(asked.recording.archive())?.and_then(|tiles| levels(asked.recording, tiles)))
}

/// The levels of a table, and its first one; `None` where they are others than those of this version.
fn levels(recording: &OpenRecording, tiles: TilesOfTable) -> Option<(Levels, u8)> {
    let first = u8::try_from(tiles.first).ok()?;
    let shift = tiles.width.trailing_zeros().checked_sub(2 * u32::from(first))?;
    let label = &recording.file;
    let levels = Levels::new(Span::new(label.start, label.end), shift)?;
    let is_same = levels.width(first) == tiles.width && i8::try_from(levels.last()) == Ok(tiles.last);
    is_same.then_some((levels, first))
}

/// Rows that are read for a time, those inside of it several times.
pub(super) fn cost(asked: &Asked<'_>, time: Span) -> Result<u64, Error> {
    let (archive, time) = (asked.recording.archive(), time.start..time.end);
    match asked.measure.rows(asked.question.lane) {
        Rows::Samples => archive.rows_touching::<CpuSampleRow>(time),
        Rows::Disks => archive.rows_touching::<DiskIoRow>(time),
        Rows::Events => archive.rows_touching::<EventRow>(time),
        _ => {
            // Around its start alone there are as many as around a short time.
            let around = archive.rows_around::<ContextSwitchRow>(time.start..time.start)?;
            let all = archive.rows_around::<ContextSwitchRow>(time)?;
            Ok(all.saturating_add(all.saturating_sub(around).saturating_mul(ROWS_INSIDE)))
        }
    }
}

impl Plan {
    /// How to answer with the help of tables; `None`: rows alone are as good, or the tables do not have it.
    pub(super) fn of(asked: &Asked<'_>, grid: Grid) -> Result<Option<Self>, Error> {
        if asked.question.way == Way::Rows || grid.buckets() == 0 {
            return Ok(None);
        }
        let Some((levels, first)) = tiles_of(asked)? else { return Ok(None) };
        let Cover { pieces, wanted } = Cover::of(&levels, first, &grid);
        if asked.question.way == Way::Usual {
            if pieces.len() > MOST_PIECES {
                return Ok(None);
            }
            let (all, mut parts) = (cost(asked, grid.range())?, 0_u64);
            for piece in &pieces {
                parts = parts.saturating_add(cost(asked, *piece)?);
            }
            if parts >= all {
                return Ok(None);
            }
        }
        Ok(Some(Self { pieces, wanted }))
    }
}

/// Adds the whole buckets of a plan to lanes, those of each measure, which come from one reading.
///
/// Several measures: states of processes or threads.
pub(super) fn add_tiles(
    asked: &Asked<'_>,
    plan: &Plan,
    measures: &[Measure],
    lanes: &mut [Collected],
    kinds: &mut EventNumbers,
) -> Result<(), Error> {
    for (level, wanted) in &plan.wanted {
        for wanted in wanted.chunk_by(|a, b| b.buckets.start - a.buckets.end < FAR) {
            let add = |wanted: &[Wanted], lanes: &mut [Collected], kinds: &mut EventNumbers| {
                add_neighbours(asked, measures, (*level, wanted), (lanes, kinds))
            };
            // Kinds of events get their numbers in the order in which they are met.
            if wanted.len() < WANTED_FOR_TWO || asked.measure == Measure::Count {
                add(wanted, lanes, kinds)?;
                continue;
            }
            let (first, second) = wanted.split_at(wanted.len() / 2);
            in_two(lanes, |lanes| add(first, lanes, kinds), |lanes| add(second, lanes, &mut EventNumbers::default()))?;
        }
    }
    Ok(())
}

/// Adds buckets of a level that are near one another.
fn add_neighbours(
    asked: &Asked<'_>,
    measures: &[Measure],
    (level, wanted): (u8, &[Wanted]),
    (lanes, kinds): (&mut [Collected], &mut EventNumbers),
) -> Result<(), Error> {
    let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { return Ok(()) };
    let mut places = Places::of(wanted);
    let mut add = |lane: i32, (bucket, buckets): (i64, i16), figure: &dyn Fn(Measure) -> i64| {
        for (place, buckets) in places.of_tile(bucket, buckets) {
            for (measure, lanes) in measures.iter().zip(&mut *lanes) {
                let figure = figure(*measure);
                if figure != 0 {
                    lanes.add_in(lane, place, figure.saturating_mul(buckets));
                }
            }
        }
    };
    read(asked, measures, (level.cast_signed(), first.buckets.start..last.buckets.end), kinds, &mut add)
}

/// Buckets of a grid, for tiles in the order of their buckets.
struct Places<'a> {
    wanted: &'a [Wanted],
    /// The first one that does not end before the tile.
    at: usize,
}

impl<'a> Places<'a> {
    fn of(wanted: &'a [Wanted]) -> Self {
        Self { wanted, at: 0 }
    }

    /// How many buckets of a tile each bucket of the grid has.
    fn of_tile(&mut self, bucket: i64, buckets: i16) -> impl Iterator<Item = (usize, i64)> + use<'a> {
        let wanted = self.wanted;
        let ends = |at: usize| wanted.get(at).is_some_and(|wanted| wanted.buckets.end <= bucket);
        let is_first = |at: usize| !ends(at) && (at == 0 || ends(at - 1));
        // Mostly the same one as before, or the next one.
        if !is_first(self.at) {
            self.at += 1;
        }
        if !is_first(self.at) {
            self.at = wanted.partition_point(|wanted| wanted.buckets.end <= bucket);
        }
        let end = bucket.saturating_add(buckets.into());
        let touching = wanted.iter().skip(self.at).take_while(move |wanted| wanted.buckets.start < end);
        touching.map(move |wanted| (wanted.place, wanted.buckets.end.min(end) - wanted.buckets.start.max(bucket)))
    }
}

/// Takes the lane, the first bucket and the number of buckets of a tile, and its figure of a measure.
pub(super) type Visit<'a> = dyn FnMut(i32, (i64, i16), &dyn Fn(Measure) -> i64) + 'a;

/// Shows the tiles of a level that have some of its buckets.
pub(super) fn read(
    asked: &Asked<'_>,
    measures: &[Measure],
    (level, buckets): (i8, Range<i64>),
    kinds: &mut EventNumbers,
    visit: &mut Visit<'_>,
) -> Result<(), Error> {
    let archive = asked.recording.archive();
    match Source::of(asked) {
        None => Ok(()),
        Some(Source::Processes) => {
            let columns = columns::<TimelineProcessRow>("process", measures, of_states);
            let show = |row: &TimelineProcessRow| {
                if asked.accepted.contains(&row.process) {
                    visit(row.process.0, (row.bucket, row.buckets), &|measure| of_process(row, measure));
                }
            };
            of_processes(archive, columns, (level, buckets), &asked.accepted, show)
        }
        Some(Source::Threads) => {
            let accepted = asked.threads.iter().filter(|row| asked.accepted.contains(&row.process));
            let accepted: FxHashSet<_> = accepted.map(|row| row.thread).collect();
            let columns = columns::<TimelineThreadRow>("thread", measures, of_states);
            let show = |row: &TimelineThreadRow| {
                if accepted.contains(&row.thread) {
                    visit(row.thread.0, (row.bucket, row.buckets), &|measure| of_thread(row, measure));
                }
            };
            if accepted.len() > FEW_THREADS {
                return archive.scan_tiles(columns, level, buckets, show);
            }
            archive.scan_tiles_of(columns, level, buckets, ("thread", accepted.iter().map(|thread| thread.0)), show)
        }
        Some(Source::Cpus) => {
            let columns = columns::<TimelineCpuRow>("cpu", measures, |_| &["busy"]);
            archive.scan_tiles(columns, level, buckets, |row: &TimelineCpuRow| {
                visit(row.cpu.into(), (row.bucket, row.buckets), &|_| row.busy);
            })
        }
        Some(Source::Disks) => {
            let columns = columns::<TimelineDiskRow>("disk", measures, of_disks);
            archive.scan_tiles(columns, level, buckets, |row: &TimelineDiskRow| {
                visit(row.disk, (row.bucket, row.buckets), &|measure| of_disk(row, measure));
            })
        }
        Some(Source::Events) => archive.scan_tiles(ColumnSet::ALL, level, buckets, |row: &TimelineEventRow| {
            visit(kinds.number(&row.provider, &row.event), (row.bucket, row.buckets), &|_| row.count);
        }),
    }
}

/// Shows at least the tiles of some processes.
fn of_processes(
    archive: &Archive,
    columns: ColumnSet<TimelineProcessRow>,
    (level, buckets): (i8, Range<i64>),
    processes: &FxHashSet<ProcessId>,
    show: impl FnMut(&TimelineProcessRow),
) -> Result<(), Error> {
    if processes.len() > FEW_PROCESSES {
        return archive.scan_tiles(columns, level, buckets, show);
    }
    archive.scan_tiles_of(columns, level, buckets, ("process", processes.iter().map(|process| process.0)), show)
}

/// Shows the largest buckets of the first level that are in the tiles of at least some processes, with the place of the grid that has
/// them.
pub(super) fn peaks_of_processes(
    archive: &Archive,
    measure: Measure,
    wanted: &[(u8, Vec<Wanted>)],
    processes: &FxHashSet<ProcessId>,
    visit: &mut dyn FnMut(ProcessId, usize, i64),
) -> Result<(), Error> {
    for (level, wanted) in wanted {
        let name = match (level, measure) {
            (0, Measure::Cpu) => "cpu",
            (0, _) => "run",
            (_, Measure::Cpu) => "peak_cpu",
            _ => "peak_run",
        };
        let needed = of_lane::<TimelineProcessRow>("process").and(ColumnSet::of(&[name]));
        let level = level.cast_signed();
        for wanted in wanted.chunk_by(|a, b| b.buckets.start - a.buckets.end < FAR) {
            let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { continue };
            let buckets = first.buckets.start..last.buckets.end;
            let mut places = Places::of(wanted);
            of_processes(archive, needed, (level, buckets), processes, |row: &TimelineProcessRow| {
                // Columns that are not read are 0 or null.
                let peak = row.peak_cpu.or(row.peak_run).unwrap_or(row.cpu.saturating_add(row.run));
                for (place, _) in places.of_tile(row.bucket, row.buckets) {
                    visit(row.process, place, peak);
                }
            })?;
        }
    }
    Ok(())
}

/// The columns that tell buckets and lane.
fn of_lane<T: Table>(lane: &'static str) -> ColumnSet<T> {
    ColumnSet::of(&["bucket", "buckets"]).and(ColumnSet::of(&[lane]))
}

/// The columns that tell buckets, lane and figures.
fn columns<T: Table>(
    lane: &'static str,
    measures: &[Measure],
    of: impl Fn(Measure) -> &'static [&'static str],
) -> ColumnSet<T> {
    let figures = measures.iter().flat_map(|measure| of(*measure));
    figures.fold(of_lane(lane), |columns, figure| columns.and(ColumnSet::of(&[*figure])))
}

/// The columns of a disk that add up to a measure.
fn of_disks(measure: Measure) -> &'static [&'static str] {
    match measure {
        Measure::Bytes => &["bytes_read", "bytes_written"],
        Measure::ReadBytes => &["bytes_read"],
        Measure::Operations => &["reads", "writes", "flushes"],
        Measure::Reads => &["reads"],
        Measure::Writes => &["writes"],
        Measure::Busy => &["busy"],
        Measure::Queue => &["queue"],
        _ => &[],
    }
}

/// A figure of a disk's tile.
fn of_disk(row: &TimelineDiskRow, measure: Measure) -> i64 {
    match measure {
        Measure::Bytes => row.bytes_read.saturating_add(row.bytes_written),
        Measure::ReadBytes => row.bytes_read,
        Measure::Operations => [row.reads, row.writes, row.flushes].into_iter().fold(0, i64::saturating_add),
        Measure::Reads => row.reads,
        Measure::Writes => row.writes,
        Measure::Busy => row.busy,
        Measure::Queue => row.queue,
        _ => 0,
    }
}

/// The columns of a process or a thread that have a measure.
fn of_states(measure: Measure) -> &'static [&'static str] {
    match measure {
        Measure::Wait => &["life", "run", "ready", "open", "unknown"],
        Measure::Run => &["run"],
        Measure::Ready => &["ready"],
        Measure::Open => &["open"],
        Measure::Unknown => &["unknown"],
        Measure::Switches => &["switches"],
        Measure::Cpu => &["cpu"],
        Measure::Samples => &["samples"],
        _ => &[],
    }
}

/// The time blocked: the rest of a life.
fn wait(life: i64, others: [i64; 4]) -> i64 {
    others.into_iter().fold(life, i64::saturating_sub)
}

fn of_process(row: &TimelineProcessRow, measure: Measure) -> i64 {
    match measure {
        Measure::Cpu => row.cpu,
        Measure::Samples => row.samples,
        Measure::Run => row.run,
        Measure::Wait => wait(row.life, [row.run, row.ready, row.open, row.unknown]),
        Measure::Ready => row.ready,
        Measure::Open => row.open,
        Measure::Unknown => row.unknown,
        Measure::Switches => row.switches,
        _ => 0,
    }
}

fn of_thread(row: &TimelineThreadRow, measure: Measure) -> i64 {
    match measure {
        Measure::Run => row.run,
        Measure::Wait => wait(row.life, [row.run, row.ready, row.open, row.unknown]),
        Measure::Ready => row.ready,
        Measure::Open => row.open,
        Measure::Unknown => row.unknown,
        Measure::Switches => row.switches,
        _ => 0,
    }
}
