//! What `dump timeline` has of disks, against `dump disk` about each bucket, and against a look at every nanosecond.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tracesift_archive::Archive;
use tracesift_extract::Options;
use tracesift_scenario::{Event, Knobs, Scenario, SplitMix64};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::{extract_file, with_disk_and_marks, write_etl};
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{DiskIoRow, DiskOperation};
use tracesift_trace::{ProcessId, RowSink as _, ThreadId};

use crate::commands::{by_bucket, integer, lanes, rows, time, values};

/// Measures of `dump timeline` with the columns of `dump disk`.
const SAME: [(&str, &str); 8] = [
    ("bytes", "total_bytes"),
    ("read-bytes", "read_bytes"),
    ("write-bytes", "write_bytes"),
    ("operations", "operations"),
    ("reads", "reads"),
    ("writes", "writes"),
    ("busy", "busy_ns"),
    ("queue", "under_way_ns"),
];

fn extracted(seed: u64, directory: &Path) -> PathBuf {
    let knobs = Knobs { duration_ms: 300, mean_run_micros: 300, ..Knobs::random(seed) };
    let mut scenario = with_disk_and_marks(Scenario::random(seed, &knobs), seed);
    // The operations of the idle loop are those of a disk, but `dump disk` leaves the idle loop out.
    let idle = usize::from(scenario.machine.cpus);
    scenario.records.retain(|record| !matches!(&record.event, Event::Disk(operation) if operation.thread < idle));
    extract_file(&write_etl(&scenario, directory), &Options::default()).archive
}

#[test]
fn buckets_of_disks_are_the_answers_of_dump_disk_about_their_time() {
    let mut compared = 0;
    for seed in 700..703 {
        let directory = tempfile::tempdir().expect("a directory");
        let archive = extracted(seed, directory.path());
        let recorded_end = Archive::open(&archive).expect("opened").info().end_ns + 1;
        let mut random = SplitMix64::new(seed);
        for (lane, by, keys) in [("disk", "disk", &["disk"][..]), ("process", "process", &["process", "pid"][..])] {
            let (a, b) = (random.between(0, recorded_end), random.between(0, recorded_end));
            let (start, end) = (a.min(b), a.max(b) + 1);
            let end = end.min(recorded_end);
            let (time, buckets) = (time(start, end), random.between(2, 9).to_string());
            for (measure, figure) in SAME {
                let words = ["dump", "timeline", "--lane", lane, "--measure", measure, "--buckets", &buckets, &time];
                let found = rows(&archive, &words);
                let Some(row) = found.first() else { continue };
                let grid = ((start, end), integer(row, "from_ns"), integer(row, "bucket_ns"));
                let count = values(row).len();
                let expected = by_bucket(&archive, &["dump", "disk", "--by", by], (keys, figure), grid, count);
                assert_eq!(lanes(&found, keys), expected, "seed {seed}, {lane} {measure}, {start}..{end}");
                compared += expected.len();
            }
        }
    }
    assert!(compared > 40, "{compared} lanes");
}

/// An operation: start, length, disk, process, kind, bytes.
type Operation = (i64, i64, i32, i32, u8, i64);

const END: i64 = 220;

fn written(operations: &[Operation], directory: &Path) -> PathBuf {
    let mut writer = create(&directory.join("disks.sift"));
    writer.write_table(&[process(1, 100, "a"), process(2, 200, "b")]);
    writer.write_table(&[thread(0, 1, 1000), thread(1, 2, 2000)]);
    let row = |(start, length, disk, of, kind, size): &Operation| DiskIoRow {
        time: start + length,
        start: *start,
        process: (*of > 0).then_some(ProcessId(*of)),
        thread: (*of > 0).then_some(ThreadId(of - 1)),
        disk: *disk,
        operation: [DiskOperation::Read, DiskOperation::Write, DiskOperation::Flush][usize::from(*kind)],
        size: *size,
        ..DiskIoRow::default()
    };
    let mut rows: Vec<DiskIoRow> = operations.iter().map(row).collect();
    rows.sort_by_key(|row| row.time);
    rows.iter().for_each(|row| writer.disk_io(row));
    finish_as(writer, TraceInfo { end_ns: END - 1, ..TraceInfo::default() })
}

/// The figure of a nanosecond.
fn figure(operations: &[Operation], measure: &str, at: i64) -> i64 {
    let ends = operations.iter().filter(|(start, length, ..)| start + length == at);
    let under_way = operations.iter().filter(|(start, length, ..)| *start <= at && at < start + length).count();
    match measure {
        "bytes" => ends.map(|(.., size)| size).sum(),
        "read-bytes" => ends.filter(|row| row.4 == 0).map(|(.., size)| size).sum(),
        "write-bytes" => ends.filter(|row| row.4 == 1).map(|(.., size)| size).sum(),
        "operations" => ends.count() as i64,
        "reads" => ends.filter(|row| row.4 == 0).count() as i64,
        "writes" => ends.filter(|row| row.4 == 1).count() as i64,
        "busy" => i64::from(under_way > 0),
        _ => under_way as i64,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn figures_of_disks_are_those_of_each_nanosecond(
        operations in prop::collection::vec(
            (-20_i64..END, prop_oneof![Just(0_i64), 1_i64..30, 50_i64..300], 0_i32..3, 0_i32..3, 0_u8..3, 0_i64..9),
            1..30,
        ),
        (start, length) in (0_i64..END, 1_i64..END),
        width in 1_i64..90,
    ) {
        // An operation completes in the recorded time.
        let operations: Vec<Operation> = operations.into_iter().filter(|row| (0..END).contains(&(row.0 + row.1))).collect();
        let directory = tempfile::tempdir().expect("a directory");
        let archive = written(&operations, directory.path());
        let (start, end) = (start, (start + length).min(END));
        let (time, bucket) = (time(start, end), format!("{width}ns"));
        for (measure, _) in SAME {
            let words = ["dump", "timeline", "--lane", "disk", "--measure", measure, "--bucket", &bucket, &time];
            let found = lanes(&rows(&archive, &words), &["disk"]);
            let mut expected: BTreeMap<Vec<String>, Vec<i64>> = BTreeMap::new();
            let first = start.div_euclid(width);
            let count = (end - 1).div_euclid(width) - first + 1;
            for disk in 0..3 {
                let own: Vec<Operation> = operations.iter().filter(|row| row.2 == disk).copied().collect();
                let mut buckets = vec![0; usize::try_from(count).expect("few")];
                for at in start..end {
                    buckets[usize::try_from(at.div_euclid(width) - first).expect("few")] += figure(&own, measure, at);
                }
                if buckets.iter().any(|value| *value != 0) {
                    expected.insert(vec![format!("Text({:?})", disk.to_string())], buckets);
                }
            }
            prop_assert_eq!(found, expected, "{} {}..{} by {}", measure, start, end, width);
        }
    }
}
