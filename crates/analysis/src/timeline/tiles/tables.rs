//! The timeline tables: windows go in, rows of all levels come out.

use tracesift_trace::rows::{TimelineCpuRow, TimelineDiskRow, TimelineProcessRow, TimelineThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

use super::levels::{BLOCK, LEVEL_OF_THREADS, Levels};
use super::pyramid::Pyramid;
use super::tile::{InOrder, Run, Tile};
use super::tops::Tops;
use super::window::{
    BYTES_READ, BYTES_WRITTEN, CPU, DISK_BUSY, FLUSHES, LIFE, LONGEST, OPEN, QUEUE, READS, READY, RUN, SAMPLES,
    SWITCHES, UNKNOWN, WRITES, WindowTiles,
};

/// Figures of processes, behind those of a window.
const PEAK_RUN: usize = 8;
const PEAK_CPU: usize = 9;

/// A figure of CPUs that stands for nobody.
const NOBODY: i64 = -1;

/// A tile of a table.
pub type ProcessTile = Tile<10>;
/// A tile of a table.
pub type ThreadTile = Tile<6>;
/// A tile of a table.
pub type CpuTile = Tile<6>;
/// A tile of a table.
pub type DiskTile = Tile<8>;
/// A tile of a table; its lane is a kind of event.
pub type EventTile = Tile<1>;

/// Where tiles go. Those of a level of a table come in the order of their rows.
pub trait TileTarget {
    /// Tiles of `timeline_processes`.
    fn processes(&mut self, level: u8, tiles: &[ProcessTile]);
    /// Tiles of `timeline_threads`.
    fn threads(&mut self, level: u8, tiles: &[ThreadTile]);
    /// Tiles of `timeline_cpus`.
    fn cpus(&mut self, level: u8, tiles: &[CpuTile]);
    /// Tiles of `timeline_disks`.
    fn disks(&mut self, level: u8, tiles: &[DiskTile]);
    /// Tiles of `timeline_events`.
    fn events(&mut self, level: u8, tiles: &[EventTile]);
}

/// The timeline tables of a recording in the making.
#[derive(Debug)]
pub struct Timelines {
    processes: Pyramid<10>,
    threads: Pyramid<6>,
    cpus: Pyramid<4>,
    tops: Tops,
    disks: Pyramid<8>,
    events: Pyramid<1>,
    in_order: TablesInOrder,
}

/// Memory for tiles in the order of rows.
#[derive(Debug, Default)]
struct TablesInOrder {
    processes: InOrder<10>,
    threads: InOrder<6>,
    cpus: InOrder<6>,
    disks: InOrder<8>,
    events: InOrder<1>,
}

impl Timelines {
    /// Nothing yet.
    #[must_use]
    pub fn new(levels: &Levels) -> Self {
        let last = levels.last();
        Self {
            processes: Pyramid::new(0, last, PEAK_RUN),
            threads: Pyramid::new(LEVEL_OF_THREADS, last, SWITCHES + 1),
            cpus: Pyramid::new(0, last, 4),
            tops: Tops::new(usize::from(last) + 1),
            disks: Pyramid::new(0, last, LONGEST),
            events: Pyramid::new(0, last, 1),
            in_order: TablesInOrder::default(),
        }
    }

    /// Takes the next window, in the order of time.
    pub fn take(&mut self, mut window: WindowTiles, target: &mut impl TileTarget) {
        let with_peaks = |tile: &Tile<8>| {
            let mut figures = [0; 10];
            figures[..8].copy_from_slice(&tile.figures);
            (figures[PEAK_RUN], figures[PEAK_CPU]) = (tile.figures[RUN], tile.figures[CPU]);
            Tile { bucket: tile.bucket, buckets: tile.buckets, lane: tile.lane, figures }
        };
        let Self { processes, threads, cpus, tops, disks, events, in_order } = self;
        while let Some((buckets, tiles)) = window.processes.next_block() {
            processes.take(
                buckets.start,
                tiles.iter().map(with_peaks),
                &mut of_processes(target, &mut in_order.processes),
            );
        }
        while let Some((buckets, tiles)) = window.threads.next_block() {
            threads.take(buckets.start, tiles.iter().copied(), &mut of_threads(target, &mut in_order.threads));
        }
        while let Some((buckets, tiles)) = window.disks.next_block() {
            disks.take(buckets.start, tiles.iter().copied(), &mut of_disks(target, &mut in_order.disks));
        }
        for tiles in window.events.chunk_by(|a, b| a.bucket.div_euclid(BLOCK) == b.bucket.div_euclid(BLOCK)) {
            events.take(tiles[0].bucket, tiles.iter().copied(), &mut of_events(target, &mut in_order.events));
        }
        window.runs.each(|bucket, cpu, runs| tops.take(bucket, cpu, runs));
        tops.close_before(window.buckets.end);
        while let Some((bucket, tiles)) = window.cpus.next_block() {
            cpus.take(bucket, tiles, &mut of_cpus(target, tops, &mut in_order.cpus));
        }
    }

    /// Hands over what is left.
    pub fn finish(self, target: &mut impl TileTarget) {
        let Self { mut processes, mut threads, mut cpus, mut tops, mut disks, mut events, mut in_order } = self;
        processes.finish(&mut of_processes(target, &mut in_order.processes));
        threads.finish(&mut of_threads(target, &mut in_order.threads));
        disks.finish(&mut of_disks(target, &mut in_order.disks));
        events.finish(&mut of_events(target, &mut in_order.events));
        tops.close_before(i64::MAX);
        cpus.finish(&mut of_cpus(target, &mut tops, &mut in_order.cpus));
    }
}

fn of_processes(target: &mut impl TileTarget, in_order: &mut InOrder<10>) -> impl FnMut(u8, &[ProcessTile]) {
    |level, tiles| target.processes(level, in_order.of(tiles))
}

fn of_threads(target: &mut impl TileTarget, in_order: &mut InOrder<6>) -> impl FnMut(u8, &[ThreadTile]) {
    |level, tiles| target.threads(level, in_order.of(tiles))
}

fn of_cpus(target: &mut impl TileTarget, tops: &mut Tops, in_order: &mut InOrder<6>) -> impl FnMut(u8, &[Tile<4>]) {
    let mut all = Vec::new();
    move |level, tiles| {
        all.clear();
        with_tops(level, tiles, tops, &mut all);
        target.cpus(level, in_order.of(&all));
    }
}

fn of_disks(target: &mut impl TileTarget, in_order: &mut InOrder<8>) -> impl FnMut(u8, &[DiskTile]) {
    |level, tiles| target.disks(level, in_order.of(tiles))
}

fn of_events(target: &mut impl TileTarget, in_order: &mut InOrder<1>) -> impl FnMut(u8, &[EventTile]) {
    |level, tiles| target.events(level, in_order.of(tiles))
}

/// Adds the tiles of a block of CPUs with those who ran for the longest time.
fn with_tops(level: u8, tiles: &[Tile<4>], tops: &mut Tops, all: &mut Vec<CpuTile>) {
    let end = tiles.first().map_or(0, |tile| (tile.bucket.div_euclid(BLOCK) + 1) * BLOCK);
    for of_cpu in tiles.chunk_by(|a, b| a.lane == b.lane) {
        let cpu = of_cpu[0].lane;
        let mut run = Run::new(all, cpu);
        let mut tops = tops.before(level, cpu, end).peekable();
        for tile in of_cpu {
            for bucket in tile.bucket..tile.bucket + tile.buckets {
                while tops.next_if(|top| top.bucket < bucket).is_some() {}
                let top = tops.next_if(|top| top.bucket == bucket);
                let [busy, idle, unknown, switches] = tile.figures;
                let (process, top_run) = top.map_or((NOBODY, 0), |top| (i64::from(top.process), top.run));
                run.add(bucket, 1, &[busy, idle, unknown, switches, process, top_run]);
            }
        }
    }
}

/// Number of buckets of a tile, which all are in one block.
fn buckets(buckets: i64) -> i16 {
    i16::try_from(buckets).unwrap_or(i16::MAX)
}

/// The row of a tile.
#[must_use]
pub fn process_row(levels: &Levels, level: u8, tile: &ProcessTile) -> TimelineProcessRow {
    let figures = &tile.figures;
    let peak = |figure: usize| (level > 0).then_some(figures[figure]);
    TimelineProcessRow {
        level: level.cast_signed(),
        width: levels.width(level),
        bucket: tile.bucket,
        buckets: buckets(tile.buckets),
        process: ProcessId(tile.lane),
        cpu: figures[CPU],
        samples: figures[SAMPLES],
        run: figures[RUN],
        life: figures[LIFE],
        ready: figures[READY],
        open: figures[OPEN],
        unknown: figures[UNKNOWN],
        switches: figures[SWITCHES],
        peak_cpu: peak(PEAK_CPU),
        peak_run: peak(PEAK_RUN),
    }
}

/// The row of a tile.
#[must_use]
pub fn thread_row(levels: &Levels, level: u8, tile: &ThreadTile) -> TimelineThreadRow {
    let figures = &tile.figures;
    TimelineThreadRow {
        level: level.cast_signed(),
        width: levels.width(level),
        bucket: tile.bucket,
        buckets: buckets(tile.buckets),
        thread: ThreadId(tile.lane),
        run: figures[RUN],
        life: figures[LIFE],
        ready: figures[READY],
        open: figures[OPEN],
        unknown: figures[UNKNOWN],
        switches: figures[SWITCHES],
    }
}

/// The row of a tile.
#[must_use]
pub fn cpu_row(levels: &Levels, level: u8, tile: &CpuTile) -> TimelineCpuRow {
    let [busy, idle, unknown, switches, process, top_run] = tile.figures;
    TimelineCpuRow {
        level: level.cast_signed(),
        width: levels.width(level),
        bucket: tile.bucket,
        buckets: buckets(tile.buckets),
        cpu: i16::try_from(tile.lane).unwrap_or(i16::MAX),
        busy,
        known: busy.saturating_add(idle),
        unknown,
        switches,
        top_process: (process != NOBODY).then_some(process).and_then(|id| i32::try_from(id).ok()).map(ProcessId),
        top_run,
    }
}

/// The row of a tile.
#[must_use]
pub fn disk_row(levels: &Levels, level: u8, tile: &DiskTile) -> TimelineDiskRow {
    let figures = &tile.figures;
    TimelineDiskRow {
        level: level.cast_signed(),
        width: levels.width(level),
        bucket: tile.bucket,
        buckets: buckets(tile.buckets),
        disk: tile.lane,
        reads: figures[READS],
        writes: figures[WRITES],
        flushes: figures[FLUSHES],
        bytes_read: figures[BYTES_READ],
        bytes_written: figures[BYTES_WRITTEN],
        busy: figures[DISK_BUSY],
        queue: figures[QUEUE],
        longest: figures[LONGEST],
    }
}
