//! The timeline tables: windows go in, rows of all levels come out.

use tracesift_trace::rows::{TimelineCpuRow, TimelineDiskRow, TimelineProcessRow, TimelineThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

use super::levels::{BLOCK, LEVEL_OF_THREADS, Levels};
use super::pyramid::Pyramid;
use super::tile::{Run, Tile};
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
        }
    }

    /// Takes the next window, in the order of time.
    pub fn take(&mut self, window: WindowTiles, target: &mut impl TileTarget) {
        let peaks = |tile: Tile<8>| {
            let mut figures = [0; 10];
            figures[..8].copy_from_slice(&tile.figures);
            (figures[PEAK_RUN], figures[PEAK_CPU]) = (tile.figures[RUN], tile.figures[CPU]);
            Tile { bucket: tile.bucket, buckets: tile.buckets, lane: tile.lane, figures }
        };
        let processes = window.processes.into_iter().map(peaks).collect();
        self.processes.take(processes, &mut |level, tiles| target.processes(level, &tiles));
        self.threads.take(window.threads, &mut |level, tiles| target.threads(level, &tiles));
        self.disks.take(window.disks, &mut |level, tiles| target.disks(level, &tiles));
        self.events.take(window.events, &mut |level, tiles| target.events(level, &tiles));
        let Self { cpus, tops, .. } = self;
        window.runs.each(|bucket, runs| tops.take(bucket, runs));
        tops.close_before(window.buckets.end);
        cpus.take(window.cpus, &mut |level, tiles| target.cpus(level, &with_tops(level, tiles, tops)));
    }

    /// Hands over what is left.
    pub fn finish(mut self, target: &mut impl TileTarget) {
        self.processes.finish(&mut |level, tiles| target.processes(level, &tiles));
        self.threads.finish(&mut |level, tiles| target.threads(level, &tiles));
        self.disks.finish(&mut |level, tiles| target.disks(level, &tiles));
        self.events.finish(&mut |level, tiles| target.events(level, &tiles));
        let Self { mut cpus, mut tops, .. } = self;
        tops.close_before(i64::MAX);
        cpus.finish(&mut |level, tiles| target.cpus(level, &with_tops(level, tiles, &mut tops)));
    }
}

/// The tiles of a block of CPUs with those who ran for the longest time.
fn with_tops(level: u8, mut tiles: Vec<Tile<4>>, tops: &mut Tops) -> Vec<CpuTile> {
    let end = tiles.first().map_or(0, |tile| (tile.bucket.div_euclid(BLOCK) + 1) * BLOCK);
    let mut tops: Vec<_> = tops.before(level, end).collect();
    tops.sort_unstable_by_key(|top| (top.cpu, top.bucket));
    tiles.sort_unstable_by_key(|tile| (tile.lane, tile.bucket));
    let (mut all, mut tops) = (Vec::new(), tops.into_iter().peekable());
    for of_cpu in tiles.chunk_by(|a, b| a.lane == b.lane) {
        let cpu = of_cpu[0].lane;
        let mut run = Run::new(&mut all, cpu);
        for tile in of_cpu {
            for bucket in tile.bucket..tile.bucket + tile.buckets {
                while tops.next_if(|top| (i32::from(top.cpu), top.bucket) < (cpu, bucket)).is_some() {}
                let top = tops.next_if(|top| (i32::from(top.cpu), top.bucket) == (cpu, bucket));
                let [busy, idle, unknown, switches] = tile.figures;
                let (process, top_run) = top.map_or((NOBODY, 0), |top| (i64::from(top.process), top.run));
                run.add(bucket, 1, &[busy, idle, unknown, switches, process, top_run]);
            }
        }
    }
    all.sort_unstable_by_key(|tile| (tile.bucket, tile.lane));
    all
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
