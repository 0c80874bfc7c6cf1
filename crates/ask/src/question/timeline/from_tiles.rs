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

use super::lanes::{Asked, Collected};
use super::rows::Rows;
use super::{LaneKind, Measure, Way};
use crate::recording::OpenRecording;

/// How many times as long a row of a time range takes as one of those around it, most of which are passed over.
const ROWS_INSIDE: u64 = 2;

/// Pieces of time of which an answer is put together, at most: each one reads some row groups.
const MOST_PIECES: usize = 64;

/// Buckets between two that are wanted, from which on they are read apart.
const FAR: i64 = 4 * TIMELINE_BLOCK;

/// How an answer is put together.
pub(super) struct Plan {
    /// The times that rows tell of.
    pub(super) pieces: Vec<Span>,
    grid: Grid,
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

/// The levels of a table, and its first one; `None` where they are others than those of this version.
pub(super) fn levels(recording: &OpenRecording, tiles: TilesOfTable) -> Option<(Levels, u8)> {
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
        let source = Source::of(asked).filter(|_| asked.question.way != Way::Rows && grid.buckets() > 0);
        let Some(source) = source else { return Ok(None) };
        let tiles = source.tiles(asked.recording.archive())?.and_then(|tiles| levels(asked.recording, tiles));
        let Some((levels, first)) = tiles else { return Ok(None) };
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
        Ok(Some(Self { pieces, grid, wanted }))
    }
}

/// Adds the whole buckets of a plan to the lanes.
pub(super) fn add_tiles(
    asked: &Asked<'_>,
    plan: &Plan,
    lanes: &mut Collected,
    kinds: &mut EventNumbers,
) -> Result<(), Error> {
    let archive = asked.recording.archive();
    for (level, wanted) in &plan.wanted {
        let level = level.cast_signed();
        for wanted in wanted.chunk_by(|a, b| b.buckets.start - a.buckets.end < FAR) {
            let mut add = |lane: i32, bucket: i64, buckets: i16, figure: i64| {
                for (place, buckets) in places(wanted, bucket, buckets) {
                    lanes.add_at(lane, plan.grid.bucket(place).start, figure.saturating_mul(buckets));
                }
            };
            let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { continue };
            read(archive, asked, (level, first.buckets.start..last.buckets.end), kinds, &mut add)?;
        }
    }
    Ok(())
}

/// How many buckets of a tile each bucket of the grid has.
fn places(wanted: &[Wanted], bucket: i64, buckets: i16) -> impl Iterator<Item = (usize, i64)> {
    let end = bucket.saturating_add(buckets.into());
    let first = wanted.partition_point(|wanted| wanted.buckets.end <= bucket);
    let touching = wanted[first..].iter().take_while(move |wanted| wanted.buckets.start < end);
    touching.map(move |wanted| (wanted.place, wanted.buckets.end.min(end) - wanted.buckets.start.max(bucket)))
}

/// Shows lane, first bucket, number of buckets and figure of the tiles of a level that have some of its buckets.
fn read(
    archive: &Archive,
    asked: &Asked<'_>,
    (level, buckets): (i8, Range<i64>),
    kinds: &mut EventNumbers,
    visit: &mut dyn FnMut(i32, i64, i16, i64),
) -> Result<(), Error> {
    let measure = asked.measure;
    match Source::of(asked) {
        None => Ok(()),
        Some(Source::Processes) => {
            let columns = columns::<TimelineProcessRow>("process", of_states(measure));
            archive.scan_tiles(columns, level, buckets, |row: &TimelineProcessRow| {
                if asked.accepted.contains(&row.process) {
                    visit(row.process.0, row.bucket, row.buckets, of_process(row, measure));
                }
            })
        }
        Some(Source::Threads) => {
            let accepted = asked.threads.iter().filter(|row| asked.accepted.contains(&row.process));
            let accepted: FxHashSet<_> = accepted.map(|row| row.thread).collect();
            let columns = columns::<TimelineThreadRow>("thread", of_states(measure));
            archive.scan_tiles(columns, level, buckets, |row: &TimelineThreadRow| {
                if accepted.contains(&row.thread) {
                    visit(row.thread.0, row.bucket, row.buckets, of_thread(row, measure));
                }
            })
        }
        Some(Source::Cpus) => {
            let columns = columns::<TimelineCpuRow>("cpu", &["busy"]);
            archive.scan_tiles(columns, level, buckets, |row: &TimelineCpuRow| {
                visit(row.cpu.into(), row.bucket, row.buckets, row.busy);
            })
        }
        Some(Source::Disks) => {
            let columns = columns::<TimelineDiskRow>("disk", of_disks(measure));
            archive.scan_tiles(columns, level, buckets, |row: &TimelineDiskRow| {
                // Columns that are not read are 0.
                let counts = [row.reads, row.writes, row.flushes];
                let figures = [row.bytes_read, row.bytes_written, row.busy, row.queue];
                let figure = counts.into_iter().chain(figures).fold(0, i64::saturating_add);
                visit(row.disk, row.bucket, row.buckets, figure);
            })
        }
        Some(Source::Events) => archive.scan_tiles(ColumnSet::ALL, level, buckets, |row: &TimelineEventRow| {
            visit(kinds.number(&row.provider, &row.event), row.bucket, row.buckets, row.count);
        }),
    }
}

/// Shows the largest buckets of the first level that are in the tiles of processes, with the place of the grid that has them.
pub(super) fn peaks_of_processes(
    archive: &Archive,
    measure: Measure,
    wanted: &[(u8, Vec<Wanted>)],
    visit: &mut dyn FnMut(ProcessId, usize, i64),
) -> Result<(), Error> {
    for (level, wanted) in wanted {
        let name = match (level, measure) {
            (0, Measure::Cpu) => "cpu",
            (0, _) => "run",
            (_, Measure::Cpu) => "peak_cpu",
            _ => "peak_run",
        };
        let needed = columns::<TimelineProcessRow>("process", &[name]);
        let level = level.cast_signed();
        for wanted in wanted.chunk_by(|a, b| b.buckets.start - a.buckets.end < FAR) {
            let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { continue };
            let buckets = first.buckets.start..last.buckets.end;
            archive.scan_tiles(needed, level, buckets, |row: &TimelineProcessRow| {
                // Columns that are not read are 0 or null.
                let peak = row.peak_cpu.or(row.peak_run).unwrap_or(row.cpu.saturating_add(row.run));
                for (place, _) in places(wanted, row.bucket, row.buckets) {
                    visit(row.process, place, peak);
                }
            })?;
        }
    }
    Ok(())
}

/// The columns that tell buckets, lane and figure.
fn columns<T: Table>(lane: &'static str, figures: &[&'static str]) -> ColumnSet<T> {
    let all = ColumnSet::of(&["bucket", "buckets"]).and(ColumnSet::of(&[lane]));
    figures.iter().fold(all, |columns, figure| columns.and(ColumnSet::of(&[*figure])))
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
