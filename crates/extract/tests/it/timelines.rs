//! The timeline tables of extracts: their sums are those of the summaries, on every level.

use std::collections::BTreeMap;

use tracesift_archive::{Archive, Table};
use tracesift_extract::{Budget, Options, add_timelines};
use tracesift_scenario::{Knobs, Scenario};
use tracesift_testing::recording::{extract_file, with_disk_and_marks, write_etl};
use tracesift_trace::rows::{
    DiskIoRow, EventRow, ProcessSummaryRow, TIMELINE_BLOCK, ThreadRow, TimelineCpuRow, TimelineDiskRow,
    TimelineEventRow, TimelineProcessRow, TimelineThreadRow,
};

fn options(group_rows: usize) -> Options {
    let mut options = Options::default();
    options.budget.group_rows = Some(group_rows);
    (options.budget.long_from, options.budget.rows_of_bucket, options.budget.rows_of_tile) = (0, 3, 0);
    options
}

fn extracted(seed: u64, options: &Options) -> (tempfile::TempDir, Archive) {
    let directory = tempfile::tempdir().expect("a directory");
    let knobs = Knobs { duration_ms: 500, mean_run_micros: 150, ..Knobs::random(seed) };
    let report =
        extract_file(&write_etl(&with_disk_and_marks(Scenario::random(seed, &knobs), seed), directory.path()), options);
    let archive = Archive::open(&report.archive).expect("opened");
    archive.verify().expect("sound");
    (directory, archive)
}

/// Checks the rows of a table one by one, and adds up a figure of each by level and lane.
fn sums<T: Table, L: Ord + Clone, const N: usize>(
    archive: &Archive,
    of: impl Fn(&T) -> ((i8, i64, i64, i16), L, [i64; N]),
) -> BTreeMap<(i8, L), [i64; N]> {
    let rows: Vec<T> = archive.rows().expect("read");
    let keys: Vec<_> = rows.iter().map(&of).map(|((level, _, bucket, _), ..)| (level, bucket)).collect();
    assert!(keys.is_sorted(), "{}", T::TABLE.name);
    let mut sums: BTreeMap<(i8, L), [i64; N]> = BTreeMap::new();
    let base = rows.first().map_or(0, |row| of(row).0.1 >> (2 * of(row).0.0));
    for row in &rows {
        let ((level, width, bucket, buckets), lane, figures) = of(row);
        assert_eq!(width, base << (2 * level));
        assert!(buckets > 0 && figures.iter().any(|figure| *figure != 0));
        let last = bucket + i64::from(buckets) - 1;
        assert_eq!(bucket.div_euclid(TIMELINE_BLOCK), last.div_euclid(TIMELINE_BLOCK));
        let sum = sums.entry((level, lane)).or_insert([0; N]);
        sum.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure * i64::from(buckets));
    }
    sums
}

/// Every level from the first one on has the same sums.
fn of_levels<L: Ord + Clone + std::fmt::Debug, const N: usize>(
    sums: BTreeMap<(i8, L), [i64; N]>,
    first: i8,
) -> BTreeMap<L, [i64; N]> {
    let last = sums.keys().map(|(level, _)| *level).max().unwrap_or(first);
    assert!(sums.is_empty() || last >= 2);
    let of = |level: i8| -> BTreeMap<L, [i64; N]> {
        sums.iter().filter(|((of, _), _)| *of == level).map(|((_, lane), sum)| (lane.clone(), *sum)).collect()
    };
    let expected = of(first);
    for level in first..=last {
        assert_eq!(of(level), expected, "level {level}");
    }
    expected
}

#[test]
fn sums_of_all_levels_are_those_of_the_recording() {
    for seed in 900..908 {
        let (_directory, archive) = extracted(seed, &options(400));
        let info = archive.info();
        let processes = of_levels(
            sums(&archive, |row: &TimelineProcessRow| {
                let wait = row.life - row.run - row.ready - row.open - row.unknown;
                let figures = [row.cpu, row.samples, row.run, wait, row.ready, row.open, row.unknown];
                ((row.level, row.width, row.bucket, row.buckets), row.process, figures)
            }),
            0,
        );
        let summaries: Vec<ProcessSummaryRow> = archive.rows().expect("read");
        for row in summaries {
            let of_switches = [row.run, row.wait, row.ready, row.open, row.unknown].map(Option::unwrap_or_default);
            let mut expected = [row.cpu, row.samples, 0, 0, 0, 0, 0];
            expected[2..].copy_from_slice(&of_switches);
            let found = processes.get(&row.process).copied().unwrap_or_default();
            assert_eq!(found, expected, "seed {seed}, {:?}", row.process);
        }
        let threads = of_levels(
            sums(&archive, |row: &TimelineThreadRow| {
                let wait = row.life - row.run - row.ready - row.open - row.unknown;
                let figures = [row.run, wait, row.ready, row.open, row.unknown];
                ((row.level, row.width, row.bucket, row.buckets), row.thread, figures)
            }),
            2,
        );
        let mut by_process = BTreeMap::new();
        for row in archive.rows::<ThreadRow>().expect("read") {
            let sum = by_process.entry(row.process).or_insert([0; 5]);
            let figures = threads.get(&row.thread).copied().unwrap_or_default();
            sum.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        }
        for (process, figures) in &processes {
            assert_eq!(figures[2..], by_process.get(process).copied().unwrap_or_default(), "seed {seed}");
        }
        let cpus = of_levels(
            sums(&archive, |row: &TimelineCpuRow| {
                let figures = [row.busy, row.known - row.busy, row.unknown];
                ((row.level, row.width, row.bucket, row.buckets), row.cpu, figures)
            }),
            0,
        );
        let recorded = info.end_ns + 1 - info.start_ns;
        if info.has_switches {
            assert_eq!(cpus.len(), info.cpu_count as usize, "seed {seed}");
        }
        for (cpu, figures) in cpus {
            let sum = figures.iter().sum::<i64>();
            assert!(sum >= recorded, "seed {seed}, CPU {cpu}: {figures:?} of {recorded}");
        }
        let disks = of_levels(
            sums(&archive, |row: &TimelineDiskRow| {
                let figures = [row.reads, row.writes, row.flushes, row.bytes_read + row.bytes_written, row.queue];
                ((row.level, row.width, row.bucket, row.buckets), row.disk, figures)
            }),
            0,
        );
        let mut expected = BTreeMap::new();
        for row in archive.rows::<DiskIoRow>().expect("read") {
            let sum = expected.entry(row.disk).or_insert([0; 5]);
            sum[row.operation as usize] += 1;
            sum[3] += row.size;
            sum[4] += row.time - row.start.max(info.start_ns);
        }
        assert_eq!(disks, expected, "seed {seed}");
        let events = of_levels(
            sums(&archive, |row: &TimelineEventRow| {
                let kind = (row.provider.clone(), row.event.clone());
                ((row.level, row.width, row.bucket, row.buckets), kind, [row.count])
            }),
            0,
        );
        let mut expected = BTreeMap::new();
        for row in archive.rows::<EventRow>().expect("read") {
            expected.entry((row.provider, row.event)).or_insert([0; 1])[0] += 1;
        }
        assert_eq!(events, expected, "seed {seed}");
    }
}

/// Two archives have the same rows of a table.
fn same<T: Table>(one: &Archive, other: &Archive) {
    let (one, other): (Vec<T>, Vec<T>) = (one.rows().expect("read"), other.rows().expect("read"));
    let differs = one.iter().zip(&other).position(|(one, other)| one != other);
    assert_eq!((one.len(), differs), (other.len(), None), "{}", T::TABLE.name);
}

#[test]
fn tables_do_not_depend_on_memory_and_row_groups() {
    let mut rows = 0;
    for seed in 911..917 {
        let (_first, plenty) = extracted(seed, &options(1 << 19));
        let mut few = options(100);
        few.budget.rows_of_bucket = 1 << 40;
        let (_second, archive) = extracted(seed, &few);
        assert_eq!(archive.row_count::<TimelineProcessRow>(), 0);
        // Windows of one block each, and levels that wait in files.
        let budget = Budget { memory: 1 << 12, ..options(100).budget };
        assert!(add_timelines(archive.path(), &budget).expect("written"));
        assert!(!add_timelines(archive.path(), &budget).expect("nothing to do"));
        let little = Archive::open(archive.path()).expect("opened");
        little.verify().expect("sound");
        same::<TimelineProcessRow>(&plenty, &little);
        same::<TimelineThreadRow>(&plenty, &little);
        same::<TimelineCpuRow>(&plenty, &little);
        same::<TimelineDiskRow>(&plenty, &little);
        same::<TimelineEventRow>(&plenty, &little);
        rows += plenty.row_count::<TimelineProcessRow>();
    }
    assert!(rows > 5_000, "{rows} rows");
}

#[test]
fn short_recordings_have_no_tables() {
    let (_directory, archive) = extracted(900, &Options::default());
    assert_eq!(archive.row_count::<TimelineProcessRow>() + archive.row_count::<TimelineCpuRow>(), 0);
    assert!(archive.info().tables.iter().all(|table| !table.name.starts_with("timeline")));
}

#[test]
fn tables_are_a_small_part_of_an_archive() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("scale.etl");
    tracesift_scenario::scale(std::fs::File::create(&file).expect("created"), 24 << 20, 1).expect("written");
    let mut options = Options::default();
    options.budget.long_from = 1;
    let archive = Archive::open(&extract_file(&file, &options).archive).expect("opened");
    let bytes = |is_counted: &dyn Fn(&str) -> bool| -> u64 {
        archive.info().tables.iter().filter(|table| is_counted(&table.name)).map(|table| table.bytes).sum()
    };
    let (all, timelines) = (bytes(&|_| true), bytes(&|name| name.starts_with("timeline")));
    assert!(timelines > 0 && timelines * 100 <= all * 8, "{timelines} of {all} bytes");
}
