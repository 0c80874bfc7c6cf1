//! What rows say about a window of neighbouring buckets.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, DiskIoRow, DiskOperation};
use tracesift_trace::{ProcessId, ThreadId, view};

use super::cells::{Blocks, Cells};
use super::levels::{BLOCK, LEVEL_OF_THREADS, Levels};
use super::tile::{Run as RunOfTiles, Tile};
use super::tops::RunsOfCpus;
use crate::RecordingFacts;
use crate::accounting::{Accounts, Run, ThreadLifetime};
use crate::by_id::ById;
use crate::spans::{Span, is_switch_in};
use crate::timeline::{OffCpuKind, Watched};

view! {
    /// A sample, and the process that it is of.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct TiledSample of CpuSampleRow { time, process, weight }
}

view! {
    /// A disk operation, and the disk that it is of.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct TiledOperation of DiskIoRow { time, disk, operation, start, size }
}

view! {
    /// A switch, and the CPU that it is on.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SwitchOnCpu of ContextSwitchRow { time, cpu, flags }
}

/// Places of the figures of processes and threads. Those that most buckets do not have come first.
///
/// The time that threads live: what they wait is the rest, which takes no figure of its own.
pub(super) const LIFE: usize = 0;
pub(super) const OPEN: usize = 1;
pub(super) const UNKNOWN: usize = 2;
pub(super) const RUN: usize = 3;
pub(super) const READY: usize = 4;
pub(super) const SWITCHES: usize = 5;
pub(super) const CPU: usize = 6;
pub(super) const SAMPLES: usize = 7;

/// Of CPUs.
const BUSY: usize = 0;
const IDLE: usize = 1;
const SWITCHES_OF_CPU: usize = 2;

/// Of disks.
pub(super) const DISK_BUSY: usize = 0;
pub(super) const QUEUE: usize = 1;
pub(super) const READS: usize = 2;
pub(super) const WRITES: usize = 3;
pub(super) const FLUSHES: usize = 4;
pub(super) const BYTES_READ: usize = 5;
pub(super) const BYTES_WRITTEN: usize = 6;
pub(super) const LONGEST: usize = 7;

/// Whom the figures of a recording are of.
#[derive(Clone, Debug)]
pub struct TiledLanes {
    recording: RecordingFacts,
    threads: ById<OfThread>,
    /// The time in which a process has threads.
    processes: FxHashMap<ProcessId, Span>,
    /// CPUs of the machine.
    cpus: i16,
}

#[derive(Clone, Copy, Debug)]
struct OfThread {
    process: ProcessId,
    life: Span,
    life_of_process: Span,
    is_idle: bool,
}

impl TiledLanes {
    /// The threads of a recording, the processes that are its idle loop, and the number of its CPUs.
    #[must_use]
    pub fn new(recording: RecordingFacts, threads: &[ThreadLifetime], idle: &FxHashSet<ProcessId>, cpus: u32) -> Self {
        let life = |row: &ThreadLifetime| {
            let start = row.start.unwrap_or(recording.span.start);
            Span::new(start, row.end.unwrap_or(recording.span.end)).intersect(recording.span)
        };
        let mut processes: FxHashMap<ProcessId, Span> = FxHashMap::default();
        for row in threads {
            let life = life(row);
            let of_process = processes.entry(row.process).or_insert(life);
            *of_process = Span::new(of_process.start.min(life.start), of_process.end.max(life.end));
        }
        let of_thread = |row: &ThreadLifetime| OfThread {
            process: row.process,
            life: life(row),
            life_of_process: processes.get(&row.process).copied().unwrap_or(recording.span),
            is_idle: idle.contains(&row.process),
        };
        let mut by_id = ById::default();
        threads.iter().for_each(|row| by_id.insert(row.thread.0, of_thread(row)));
        Self { recording, threads: by_id, processes, cpus: i16::try_from(cpus).unwrap_or(i16::MAX) }
    }
}

/// The figures of a window while they are added up.
///
/// It watches an [`Accounting`](crate::Accounting) over the time of the window.
#[derive(Debug)]
pub struct Window<'a> {
    lanes: &'a TiledLanes,
    levels: Levels,
    buckets: Range<i64>,
    time: Span,
    processes: Cells<8, 5>,
    threads: Cells<6, 3>,
    cpus: Cells<3, 3>,
    runs: RunsOfCpus,
    disks: Cells<8, 8>,
    /// By disk the time from which on an operation that ended later was under way.
    under_way: FxHashMap<i32, i64>,
    events: FxHashMap<(i32, i64), i64>,
}

/// The figures of a window.
#[derive(Debug)]
pub struct WindowTiles {
    pub(super) buckets: Range<i64>,
    pub(super) processes: Blocks<8, 5>,
    pub(super) threads: Blocks<6, 3>,
    pub(super) cpus: BlocksOfCpus,
    pub(super) runs: RunsOfCpus,
    pub(super) disks: Blocks<8, 8>,
    /// In the order of blocks, lanes and buckets.
    pub(super) events: Vec<Tile<1>>,
}

impl<'a> Window<'a> {
    /// Nothing yet in these buckets of level 0: from the beginning of a block to the end of this or another one.
    #[must_use]
    pub fn new(lanes: &'a TiledLanes, levels: Levels, buckets: &Range<i64>) -> Self {
        let all = levels.buckets(0);
        let buckets = buckets.start.max(all.start)..buckets.end.min(all.end);
        let time = Span::new(levels.bucket(0, buckets.start).start, levels.bucket(0, buckets.end - 1).end);
        Self {
            lanes,
            levels,
            time,
            processes: Cells::new(levels, 0, &buckets),
            threads: Cells::new(levels, LEVEL_OF_THREADS, &buckets),
            cpus: Cells::new(levels, 0, &buckets),
            runs: RunsOfCpus::new(levels.shift(0), buckets.clone()),
            disks: Cells::new(levels, 0, &buckets),
            under_way: FxHashMap::default(),
            events: FxHashMap::default(),
            buckets,
        }
    }

    /// Its time.
    #[must_use]
    pub fn time(&self) -> Span {
        self.time
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let events = self.events.capacity() * size_of::<((i32, i64), i64)>();
        let cells = self.processes.bytes() + self.threads.bytes() + self.cpus.bytes() + self.disks.bytes();
        cells + self.runs.bytes() + events
    }

    /// Adds a sample.
    #[inline]
    pub fn sample(&mut self, row: impl Into<TiledSample>) {
        let row = row.into();
        if self.time.contains(row.time) {
            let life = self.lanes.processes.get(&row.process).copied().unwrap_or(self.time);
            self.processes.add_at(row.process.0, life, CPU, row.time, row.weight);
            self.processes.add_at(row.process.0, life, SAMPLES, row.time, 1);
        }
    }

    /// Counts a switch for its CPU.
    #[inline]
    pub fn switch(&mut self, row: impl Into<SwitchOnCpu>) {
        let row = row.into();
        if let Some(cpu) = row.cpu.filter(|_| is_switch_in(row.flags) && self.time.contains(row.time)) {
            self.cpus.add_at(i32::from(cpu), self.time, SWITCHES_OF_CPU, row.time, 1);
        }
    }

    /// Adds a disk operation. The one that completes last comes first.
    pub fn operation(&mut self, row: impl Into<TiledOperation>) {
        let row = row.into();
        let span = Span::new(row.start, row.time);
        let (disk, life) = (row.disk, self.time);
        let inside = span.intersect(life);
        if !inside.is_empty() {
            self.disks.add_span(disk, life, QUEUE, inside);
        }
        let from = self.under_way.entry(disk).or_insert(i64::MAX);
        // All behind that time is covered by operations that ended no earlier.
        let new = Span::new(span.start, span.end.min(*from)).intersect(life);
        *from = (*from).min(span.start);
        if !new.is_empty() {
            self.disks.add_span(disk, life, DISK_BUSY, new);
        }
        if life.contains(row.time) {
            let (count, bytes) = match row.operation {
                DiskOperation::Read => (READS, BYTES_READ),
                DiskOperation::Write => (WRITES, BYTES_WRITTEN),
                DiskOperation::Flush => (FLUSHES, BYTES_WRITTEN),
            };
            self.disks.add_at(disk, life, count, row.time, 1);
            self.disks.add_at(disk, life, bytes, row.time, row.size);
            self.disks.maximum_at(disk, life, LONGEST, row.time, span.length());
        }
    }

    /// Counts an event of a kind.
    #[inline]
    pub fn event(&mut self, kind: i32, time: i64) {
        if self.time.contains(time) {
            *self.events.entry((kind, self.levels.place(0, time))).or_default() += 1;
        }
    }

    /// Gives the kinds of events other numbers, which are listed by those that they have.
    pub fn renumber_events(&mut self, numbers: &[i32]) {
        let number = |kind: i32| usize::try_from(kind).ok().and_then(|kind| numbers.get(kind)).copied().unwrap_or(kind);
        self.events = self.events.drain().map(|((kind, bucket), count)| ((number(kind), bucket), count)).collect();
    }

    /// Adds the lives of threads in the window, which the accounts over its time have.
    pub fn lives(&mut self, accounts: &Accounts) {
        for account in accounts.threads.iter().filter(|account| !account.life.is_empty()) {
            let Some(&of) = self.lanes.threads.get(account.thread.0) else { continue };
            self.processes.add_span(of.process.0, of.life_of_process, LIFE, account.life);
            self.threads.add_span(account.thread.0, of.life, LIFE, account.life);
        }
    }

    /// The figures. Without [lives](Self::lives) no thread is known to wait.
    #[must_use]
    pub fn finish(self) -> WindowTiles {
        let cpus = if self.lanes.recording.has_switches { self.lanes.cpus } else { 0 };
        let mut events: Vec<Tile<1>> = self
            .events
            .into_iter()
            .map(|((lane, bucket), count)| Tile { bucket, buckets: 1, lane, figures: [count] })
            .collect();
        events.sort_unstable_by_key(|tile| (tile.bucket.div_euclid(BLOCK), tile.lane, tile.bucket));
        WindowTiles {
            processes: self.processes.finish(),
            threads: self.threads.finish(),
            cpus: BlocksOfCpus { known: self.cpus.finish(), cpus, levels: self.levels },
            runs: self.runs,
            disks: self.disks.finish(),
            events,
            buckets: self.buckets,
        }
    }
}

/// The tiles of CPUs, block by block, with the time in which nobody is known to run.
#[derive(Debug)]
pub(super) struct BlocksOfCpus {
    known: Blocks<3, 3>,
    cpus: i16,
    levels: Levels,
}

impl BlocksOfCpus {
    /// The next block: its first bucket, and its tiles.
    pub(super) fn next_block(&mut self) -> Option<(i64, Vec<Tile<4>>)> {
        let (cpus, levels) = (self.cpus, self.levels);
        let (buckets, tiles) = self.known.next_block()?;
        Some((buckets.start, with_unknown(tiles, cpus, &levels, &buckets)))
    }
}

/// Adds the time in which nobody is known to run to the figures of CPUs.
fn with_unknown(tiles: &[Tile<3>], cpus: i16, levels: &Levels, buckets: &Range<i64>) -> Vec<Tile<4>> {
    let mut all = Vec::new();
    let mut others = tiles.chunk_by(|a, b| a.lane == b.lane).peekable();
    let first = others.peek().map_or(0, |tiles| tiles[0].lane).min(0);
    let last = tiles.last().map_or(0, |tile| tile.lane + 1).max(i32::from(cpus));
    for cpu in first..last {
        let of_cpu = others.next_if(|tiles| tiles[0].lane == cpu).unwrap_or(&[]);
        let is_known = cpu >= 0 && cpu < i32::from(cpus);
        let mut run = RunOfTiles::new(&mut all, cpu);
        let mut add = |from: i64, to: i64, figures: &[i64; 3]| {
            for (bucket, count, length) in levels.equal_lengths(0, from..to) {
                let [busy, idle, switches] = *figures;
                let rest = if is_known { length.saturating_sub(busy).saturating_sub(idle).max(0) } else { 0 };
                run.add(bucket, count, &[busy, idle, rest, switches]);
            }
        };
        let mut at = buckets.start;
        for tile in of_cpu {
            add(at, tile.bucket, &[0; 3]);
            at = tile.bucket + tile.buckets;
            add(tile.bucket, at, &tile.figures);
        }
        add(at, buckets.end, &[0; 3]);
    }
    all
}

impl Watched for Window<'_> {
    #[inline]
    fn run(&mut self, run: Run) {
        let Some(&of) = self.lanes.threads.get(run.thread.0) else { return };
        self.processes.add_span(of.process.0, of.life_of_process, RUN, run.span);
        self.threads.add_span(run.thread.0, of.life, RUN, run.span);
        if let Some(cpu) = run.cpu {
            self.cpus.add_span(i32::from(cpu), self.time, if of.is_idle { IDLE } else { BUSY }, run.span);
            if let Some(cpu) = usize::try_from(cpu).ok().filter(|_| !of.is_idle) {
                self.runs.add(cpu, of.process.0, run.span);
            }
        }
    }

    #[inline]
    fn off(&mut self, thread: ThreadId, kind: OffCpuKind, span: Span) {
        let figure = match kind {
            OffCpuKind::Wait => return,
            OffCpuKind::Ready => READY,
            OffCpuKind::Open => OPEN,
            OffCpuKind::Unknown => UNKNOWN,
        };
        let Some(&of) = self.lanes.threads.get(thread.0) else { return };
        self.processes.add_span(of.process.0, of.life_of_process, figure, span);
        self.threads.add_span(thread.0, of.life, figure, span);
    }

    #[inline]
    fn switch_in(&mut self, thread: ThreadId, time: i64) {
        let Some(&of) = self.lanes.threads.get(thread.0) else { return };
        self.processes.add_at(of.process.0, of.life_of_process, SWITCHES, time, 1);
        self.threads.add_at(thread.0, of.life, SWITCHES, time, 1);
    }
}
