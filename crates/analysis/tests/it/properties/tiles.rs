//! Timeline tables against what the simulated machine really did, and against plain sums of rows cut to buckets.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proptest::prelude::*;
use tracesift_analysis::timeline::tiles::{
    BLOCK, CpuTile, DiskTile, EventTile, LEVEL_OF_THREADS, Levels, ProcessTile, ThreadTile, Tile, TileTarget,
    TiledLanes, Timelines, Window, cpu_row, disk_row, process_row, thread_row,
};
use tracesift_analysis::{Accounting, RecordingFacts, Run, Span, ThreadLifetime};
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, DiskIoRow, DiskOperation, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

use crate::properties::simulation::{Dice, Did, Machine, run};

/// A recording of some microseconds: each nanosecond of the machine lasts for so many here.
struct Recording {
    stretch: i64,
    machine: Machine,
    facts: RecordingFacts,
    threads: Vec<ThreadRow>,
    switches: Vec<ContextSwitchRow>,
    samples: Vec<CpuSampleRow>,
    disk: Vec<DiskIoRow>,
    events: Vec<(i32, i64)>,
}

const CPUS: u32 = 2;

fn recording(seed: u64, has_ready: bool, stretch: i64) -> Recording {
    let machine = run(seed, has_ready);
    let mut dice = Dice::new(seed ^ 77);
    let span = machine.recording.span;
    let facts = RecordingFacts { span: Span::new(span.start * stretch, span.end * stretch), ..machine.recording };
    let mut threads = machine.threads.clone();
    for row in &mut threads {
        (row.start, row.end) = (row.start.map(|time| time * stretch), row.end.map(|time| time * stretch));
    }
    let mut switches = machine.switches.clone();
    for row in &mut switches {
        (row.time, row.off_time) = (row.time * stretch, row.off_time * stretch);
        row.ready_time = row.ready_time.map(|time| time * stretch);
    }
    let mut samples = machine.samples.clone();
    samples.iter_mut().for_each(|row| row.time = row.time * stretch + stretch / 2);
    let length = facts.span.length() as u64;
    let mut disk: Vec<DiskIoRow> = (0..dice.below(60))
        .map(|_| {
            let time = facts.span.start + dice.below(length + 1) as i64;
            DiskIoRow {
                time,
                start: time - [0, 1, 40, 900][dice.below(4) as usize] * dice.below(4) as i64,
                disk: [0, 1, 8 << 20][dice.below(3) as usize],
                operation: [DiskOperation::Read, DiskOperation::Write, DiskOperation::Flush][dice.below(3) as usize],
                size: dice.below(5) as i64 * 512,
                ..DiskIoRow::default()
            }
        })
        .collect();
    disk.sort_by_key(|row| row.time);
    let mut events: Vec<(i32, i64)> =
        (0..dice.below(90)).map(|_| (dice.below(4) as i32, facts.span.start + dice.below(length + 1) as i64)).collect();
    events.sort_by_key(|(_, time)| *time);
    Recording { stretch, machine, facts, threads, switches, samples, disk, events }
}

/// Bucket, lane and number of buckets of the tiles of a level of a table.
type TilesOfLevels = BTreeMap<(&'static str, u8), Vec<(i64, i32, i64)>>;

/// All tiles of all tables, spread over their buckets: by level, bucket and lane.
#[derive(Debug, Default, PartialEq)]
struct Tables {
    processes: BTreeMap<(u8, i64, i32), [i64; 10]>,
    threads: BTreeMap<(u8, i64, i32), [i64; 6]>,
    cpus: BTreeMap<(u8, i64, i32), [i64; 6]>,
    disks: BTreeMap<(u8, i64, i32), [i64; 8]>,
    events: BTreeMap<(u8, i64, i32), [i64; 1]>,
    rows: TilesOfLevels,
}

impl Tables {
    fn add<const N: usize>(
        to: &mut BTreeMap<(u8, i64, i32), [i64; N]>,
        (table, rows): (&'static str, &mut TilesOfLevels),
        level: u8,
        tiles: &[Tile<N>],
    ) {
        for tile in tiles {
            assert!(tile.figures.iter().any(|figure| *figure != 0) && tile.buckets > 0);
            rows.entry((table, level)).or_default().push((tile.bucket, tile.lane, tile.buckets));
            for bucket in tile.bucket..tile.bucket + tile.buckets {
                assert_eq!(to.insert((level, bucket, tile.lane), tile.figures), None, "{table}, level {level}");
            }
        }
    }
}

impl TileTarget for Tables {
    fn processes(&mut self, level: u8, tiles: &[ProcessTile]) {
        Self::add(&mut self.processes, ("processes", &mut self.rows), level, tiles);
    }

    fn threads(&mut self, level: u8, tiles: &[ThreadTile]) {
        Self::add(&mut self.threads, ("threads", &mut self.rows), level, tiles);
    }

    fn cpus(&mut self, level: u8, tiles: &[CpuTile]) {
        Self::add(&mut self.cpus, ("cpus", &mut self.rows), level, tiles);
    }

    fn disks(&mut self, level: u8, tiles: &[DiskTile]) {
        Self::add(&mut self.disks, ("disks", &mut self.rows), level, tiles);
    }

    fn events(&mut self, level: u8, tiles: &[EventTile]) {
        Self::add(&mut self.events, ("events", &mut self.rows), level, tiles);
    }
}

/// The tables, made from windows of so many blocks.
fn tables(recording: &Recording, levels: Levels, blocks: i64) -> Tables {
    let lifetimes: Vec<ThreadLifetime> = recording.threads.iter().map(ThreadLifetime::from).collect();
    let idle = [ProcessId(0)].into_iter().collect();
    let lanes = TiledLanes::new(recording.facts, &lifetimes, &idle, CPUS);
    let (mut tables, mut timelines) = (Tables::default(), Timelines::new(&levels));
    let all = levels.buckets(0);
    let mut at = all.start.div_euclid(BLOCK) * BLOCK;
    while at < all.end {
        let window = at..at + blocks * BLOCK;
        at = window.end;
        let mut window = Window::new(&lanes, levels, &window);
        recording.samples.iter().for_each(|row| window.sample(row));
        recording.disk.iter().rev().for_each(|row| window.operation(row));
        recording.events.iter().for_each(|(kind, time)| window.event(*kind, *time));
        let mut accounting = Accounting::new(&recording.facts, window.time(), lifetimes.iter().copied());
        for row in &recording.switches {
            window.switch(row);
            accounting.switch_watched(row, &mut window);
        }
        let accounts = accounting.finish_watched(&mut window);
        window.lives(&accounts);
        timelines.take(window.finish(), &mut tables);
    }
    timelines.finish(&mut tables);
    tables
}

/// Sums of the machine's nanoseconds: run, wait, ready, open and unknown of a thread in a time.
fn did(recording: &Recording, thread: ThreadId, time: Span) -> [i64; 5] {
    let mut sums = [0; 5];
    let inside = time.intersect(recording.facts.span);
    for at in inside.start..inside.end {
        match recording.machine.did(thread, at.div_euclid(recording.stretch)) {
            Did::Run(..) => sums[0] += 1,
            Did::Wait => sums[1] += 1,
            Did::Ready => sums[2] += 1,
            Did::Open => sums[3] += 1,
            Did::Unknown => sums[4] += 1,
            Did::Nothing => {}
        }
    }
    sums
}

fn each_bucket(levels: &Levels, mut visit: impl FnMut(u8, i64, Span)) {
    for level in 0..=levels.last() {
        for place in levels.buckets(level) {
            visit(level, place, levels.bucket(level, place));
        }
    }
}

fn levels_of(recording: &Recording) -> Levels {
    Levels::new(recording.facts.span, 3).expect("levels")
}

fn within(time: Span, rows: &[i64]) -> i64 {
    rows.iter().filter(|row| time.contains(**row)).count() as i64
}

fn check_threads(recording: &Recording, levels: &Levels, tables: &Tables) {
    let switch_in = |row: &&ContextSwitchRow| row.cpu.is_some() && row.flags & 0b100 == 0 && row.flags & 8 == 0;
    let mut lives = BTreeMap::new();
    each_bucket(levels, |level, place, time| {
        let mut of_processes: BTreeMap<i32, [i64; 6]> = BTreeMap::new();
        for row in &recording.threads {
            let times = recording.switches.iter().filter(switch_in).filter(|switch| switch.thread == row.thread);
            let switches = within(time, &times.map(|row| row.time).collect::<Vec<_>>());
            let [run, wait, ready, open, unknown] = did(recording, row.thread, time);
            let lived = run + wait + ready + open + unknown;
            let figures = [lived, open, unknown, run, ready, switches];
            let sums = of_processes.entry(row.process.0).or_default();
            sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
            if level >= LEVEL_OF_THREADS {
                let found = tables.threads.get(&(level, place, row.thread.0)).copied().unwrap_or_default();
                assert_eq!(found, figures, "level {level}, bucket {place}, {:?}", row.thread);
                let life = Span::new(
                    row.start.unwrap_or(recording.facts.span.start),
                    row.end.unwrap_or(recording.facts.span.end),
                );
                *lives.entry(row.thread).or_insert(0) += life.intersect(time).intersect(recording.facts.span).length();
                assert_eq!(lived, life.intersect(time).intersect(recording.facts.span).length());
            }
        }
        for process in 0..5 {
            let found = tables.processes.get(&(level, place, process)).copied().unwrap_or_default();
            let samples: Vec<_> = recording.samples.iter().filter(|row| row.process.0 == process).collect();
            let inside = samples.iter().filter(|row| time.contains(row.time));
            let cpu = inside.clone().map(|row| row.weight).sum::<i64>();
            let expected = of_processes.get(&process).copied().unwrap_or_default();
            assert_eq!(found[..6], expected, "level {level}, bucket {place}, process {process}");
            assert_eq!(found[6..8], [cpu, inside.count() as i64]);
            let base = levels.place(0, time.start)..levels.place(0, time.end - 1) + 1;
            let peak = |figure: usize| {
                let of = |place| tables.processes.get(&(0, place, process)).map_or(0, |figures| figures[figure]);
                base.clone().map(of).max().expect("a bucket")
            };
            assert_eq!(found[8..], [peak(3), peak(6)]);
        }
    });
}

fn check_cpus(recording: &Recording, levels: &Levels, tables: &Tables) {
    let mut runs: Vec<Run> = Vec::new();
    let mut accounting = Accounting::new(&recording.facts, Span::ALL, &recording.threads);
    recording.switches.iter().for_each(|row| accounting.switch(row, &mut |run| runs.push(run)));
    accounting.finish(&mut |run| runs.push(run));
    let process_of = |thread: ThreadId| recording.threads[thread.index()].process.0;
    let cpus: BTreeSet<i32> = (0..CPUS as i32).chain(runs.iter().filter_map(|run| run.cpu.map(i32::from))).collect();
    let mut rest: BTreeMap<(i64, i32), i64> = BTreeMap::new();
    each_bucket(levels, |level, place, time| {
        for &cpu in &cpus {
            let mut by_process: BTreeMap<i32, i64> = BTreeMap::new();
            for run in runs.iter().filter(|run| run.cpu.map(i32::from) == Some(cpu)) {
                *by_process.entry(process_of(run.thread)).or_default() += run.span.intersect(time).length();
            }
            let idle = by_process.remove(&0).unwrap_or_default();
            let busy: i64 = by_process.values().sum();
            by_process.retain(|_, run| *run > 0);
            let longest = by_process.values().copied().max().unwrap_or(0);
            let top =
                by_process.iter().find(|(_, run)| **run == longest).map_or(-1, |(process, _)| i64::from(*process));
            let is_in = |row: &&ContextSwitchRow| row.flags & 12 == 0 && row.cpu.map(i32::from) == Some(cpu);
            let switches = recording.switches.iter().filter(is_in).map(|row| row.time).collect::<Vec<_>>();
            let unknown = if level == 0 {
                let unknown = if cpu < CPUS as i32 { (time.length() - busy - idle).max(0) } else { 0 };
                *rest.entry((place, cpu)).or_default() += unknown;
                unknown
            } else {
                let base = levels.place(0, time.start)..levels.place(0, time.end - 1) + 1;
                base.map(|place| rest[&(place, cpu)]).sum()
            };
            let expected = [busy, idle, unknown, within(time, &switches), top, longest];
            let found = tables.cpus.get(&(level, place, cpu)).copied();
            let nothing = expected == [0, 0, 0, 0, -1, 0];
            assert_eq!(found, Some(expected).filter(|_| !nothing), "level {level}, bucket {place}, CPU {cpu}");
        }
    });
}

fn check_disks_and_events(recording: &Recording, levels: &Levels, tables: &Tables) {
    each_bucket(levels, |level, place, time| {
        for disk in [0, 1, 8 << 20] {
            let rows: Vec<_> = recording.disk.iter().filter(|row| row.disk == disk).collect();
            let done: Vec<_> = rows.iter().filter(|row| time.contains(row.time)).collect();
            let count = |operation| done.iter().filter(|row| row.operation == operation).count() as i64;
            let bytes = |is_read| {
                let of = done.iter().filter(|row| (row.operation == DiskOperation::Read) == is_read);
                of.map(|row| row.size).sum::<i64>()
            };
            let under_way = |at: i64| rows.iter().filter(|row| row.start <= at && at < row.time).count() as i64;
            let busy = (time.start..time.end).filter(|at| under_way(*at) > 0).count() as i64;
            let expected = [
                busy,
                (time.start..time.end).map(under_way).sum(),
                count(DiskOperation::Read),
                count(DiskOperation::Write),
                count(DiskOperation::Flush),
                bytes(true),
                bytes(false),
                done.iter().map(|row| row.time - row.start).max().unwrap_or(0),
            ];
            let found = tables.disks.get(&(level, place, disk)).copied().unwrap_or_default();
            assert_eq!(found, expected, "level {level}, bucket {place}, disk {disk}");
        }
        for kind in 0..4 {
            let times: Vec<i64> =
                recording.events.iter().filter(|(of, _)| *of == kind).map(|(_, time)| *time).collect();
            let found = tables.events.get(&(level, place, kind)).map_or(0, |count| count[0]);
            assert_eq!(found, within(time, &times));
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tiles_are_what_the_machine_did(seed in any::<u64>(), has_ready in any::<bool>(), stretch in 1_i64..40) {
        let recording = recording(seed, has_ready, stretch);
        let levels = levels_of(&recording);
        let tables = tables(&recording, levels, 1);
        check_threads(&recording, &levels, &tables);
        check_cpus(&recording, &levels, &tables);
        check_disks_and_events(&recording, &levels, &tables);
    }

    #[test]
    fn windows_make_no_difference_and_rows_are_in_order(seed in any::<u64>(), stretch in 30_i64..200) {
        let recording = recording(seed, true, stretch);
        let levels = levels_of(&recording);
        let one = tables(&recording, levels, 1);
        for rows in one.rows.values() {
            prop_assert!(rows.is_sorted());
            for (bucket, _, buckets) in rows {
                prop_assert_eq!(bucket.div_euclid(BLOCK), (bucket + buckets - 1).div_euclid(BLOCK));
            }
        }
        prop_assert_eq!(&one, &tables(&recording, levels, 3));
        prop_assert_eq!(&one, &tables(&recording, levels, 1_000));
    }
}

#[test]
fn rows_have_the_figures_of_tiles_in_their_columns() {
    let levels = Levels::new(Span::new(0, 1_000_000), 16).expect("levels");
    let figures: [i64; 10] = std::array::from_fn(|place| place as i64 + 100);
    let tile = |lane| ProcessTile { bucket: 3, buckets: 2, lane, figures };
    let row = process_row(&levels, 1, &tile(7));
    assert_eq!((row.level, row.width, row.bucket, row.buckets, row.process), (1, 1 << 18, 3, 2, ProcessId(7)));
    assert_eq!([row.life, row.open, row.unknown, row.run, row.ready], [100, 101, 102, 103, 104]);
    assert_eq!([row.switches, row.cpu, row.samples], [105, 106, 107]);
    assert_eq!((row.peak_run, row.peak_cpu), (Some(108), Some(109)));
    assert_eq!(process_row(&levels, 0, &tile(7)).peak_run, None);
    let figures = std::array::from_fn(|place| place as i64 + 100);
    let row = thread_row(&levels, 2, &ThreadTile { bucket: 3, buckets: 2, lane: 7, figures });
    assert_eq!([row.life, row.open, row.unknown, row.run, row.ready, row.switches], [100, 101, 102, 103, 104, 105]);
    let row = cpu_row(&levels, 0, &CpuTile { bucket: 3, buckets: 2, lane: 7, figures });
    assert_eq!([row.busy, row.known, row.unknown, row.switches, row.top_run], [100, 201, 102, 103, 105]);
    assert_eq!((row.cpu, row.top_process), (7, Some(ProcessId(104))));
    let figures = std::array::from_fn(|place| place as i64 + 100);
    let row = disk_row(&levels, 0, &DiskTile { bucket: 3, buckets: 2, lane: 7, figures });
    assert_eq!([row.busy, row.queue, row.reads, row.writes, row.flushes], [100, 101, 102, 103, 104]);
    assert_eq!([row.bytes_read, row.bytes_written, row.longest], [105, 106, 107]);
}

#[test]
fn a_sleeper_of_a_long_recording_is_few_rows() {
    let facts = RecordingFacts { span: Span::new(0, 1 << 30), has_switches: true, has_ready: true };
    let thread = ThreadRow { thread: ThreadId(0), process: ProcessId(1), tid: 4, ..ThreadRow::default() };
    let switches = [(100, 5, 2), (1 << 30, 1_000, 4)].map(|(time, off_time, flags)| ContextSwitchRow {
        time,
        off_time,
        flags,
        cpu: (flags != 4).then_some(0),
        prev_thread: None,
        ..ContextSwitchRow::default()
    });
    let machine = run(1, true);
    let recording = Recording {
        stretch: 1,
        machine,
        facts,
        threads: vec![thread],
        switches: switches.to_vec(),
        samples: Vec::new(),
        disk: Vec::new(),
        events: Vec::new(),
    };
    let levels = Levels::new(facts.span, 16).expect("levels");
    let tables = tables(&recording, levels, 4);
    let buckets: Range<i64> = levels.buckets(0);
    assert_eq!(buckets.end, (1 << 14) + 1);
    // A row of each block, and those of the ends.
    let rows = &tables.rows[&("processes", 0)];
    assert!(rows.len() <= (1 << 14) / 256 + 3, "{} rows", rows.len());
    let of_level = tables.processes.iter().filter(|((level, ..), _)| *level == 0);
    let wait: i64 =
        of_level.map(|(_, [life, open, unknown, run, ready, ..])| life - run - ready - open - unknown).sum();
    assert_eq!(wait, (1 << 30) - 1_000);
}
