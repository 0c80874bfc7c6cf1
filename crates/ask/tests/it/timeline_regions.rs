//! Lanes of regions of `dump timeline`: against `dump regions` about the time of each bucket, and against plain sums of its list.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracesift_ask::answer::Value;
use tracesift_scenario::SplitMix64;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{GcCollectionRow, JitMethodRow, MarkRow};
use tracesift_trace::{ProcessId, RowSink as _, ThreadId};

use crate::cells::recording;
use crate::commands::{Lanes, Row, by_bucket, integer, rows, texts, time, values};

const END: i64 = 100_000;

/// Collections, compilations on two threads at once, and marks, some of which have no end.
fn archive(directory: &Path, seed: u64) -> PathBuf {
    let mut random = SplitMix64::new(seed);
    let mut writer = create(&directory.join("regions.sift"));
    writer.write_table(&[process(1, 100, "a"), process(2, 200, "b")]);
    writer.write_table(&[thread(0, 1, 1000), thread(1, 2, 2000), thread(2, 2, 2001)]);
    let mut collections = Vec::new();
    let mut compilations = Vec::new();
    let mut marks = Vec::new();
    for number in 0..60 {
        let start = random.between(0, END - 1);
        let time = if random.chance(10) { start } else { random.between(start, END.min(start + 9_000)) };
        let process = ProcessId(1 + i32::from(random.chance(50)));
        collections.push(GcCollectionRow { number, start, time, process, ..GcCollectionRow::default() });
        let start = random.between(0, END - 1);
        let time = random.between(start, END.min(start + 20_000));
        let on = ThreadId(i32::try_from(random.between(0, 2)).expect("small"));
        let open = Some(random.chance(10));
        compilations.push(JitMethodRow {
            start,
            time,
            process: Some(ProcessId(if on == ThreadId(0) { 1 } else { 2 })),
            thread: Some(on),
            open,
            method: format!("M{number}"),
            ..JitMethodRow::default()
        });
        let text = format!("{} job{}", if random.chance(60) { "start" } else { "stop" }, random.between(0, 5));
        let process = Some(ProcessId(1 + i32::from(random.chance(50)))).filter(|_| random.chance(80));
        marks.push(MarkRow { time: random.between(0, END), text, process, ..MarkRow::default() });
    }
    collections.sort_by_key(|row| row.time);
    compilations.sort_by_key(|row| row.time);
    marks.sort_by_key(|row| row.time);
    collections.iter().for_each(|row| writer.gc_collection(row));
    compilations.iter().for_each(|row| writer.jit_method(row));
    marks.iter().for_each(|row| writer.mark(row));
    finish_as(writer, TraceInfo { end_ns: END, ..TraceInfo::default() })
}

fn timeline(archive: &Path, measure: &str, more: &[&str]) -> Vec<Row> {
    rows(archive, &[&["dump", "timeline", "--lane", "region", "--measure", measure][..], more].concat())
}

/// The figures of each lane that has any, by its path.
fn found(rows: &[Row]) -> Lanes {
    rows.iter().map(|row| (texts(row, &["kind"]), values(row))).collect()
}

#[test]
fn figures_are_those_of_dump_regions_about_the_time_of_each_bucket() {
    let mut compared = 0;
    for seed in 1..5 {
        let directory = tempfile::tempdir().expect("a directory");
        let archive = archive(directory.path(), seed);
        let mut random = SplitMix64::new(seed);
        for process in [&[][..], &["-p", "b"]] {
            for (measure, figure) in [("time", "union_ns"), ("count", "count")] {
                let start = random.between(0, END / 2);
                let end = random.between(start + 1, END + 1);
                let time = time(start, end);
                let length = format!("--bucket={}ns", random.between(300, 20_000));
                for buckets in ["--buckets=7", &*length] {
                    let rows = timeline(&archive, measure, &[&[buckets, &*time][..], process].concat());
                    let Some(row) = rows.first() else { continue };
                    let grid = ((start, end), integer(row, "from_ns"), integer(row, "bucket_ns"));
                    let question = [&["dump", "regions", "--by", "region"][..], process].concat();
                    let mut expected = by_bucket(&archive, &question, (&["path"], figure), grid, values(row).len());
                    expected.retain(|_, values| values.iter().any(|value| *value > 0));
                    assert_eq!(found(&rows), expected, "seed {seed}, {measure} {start}..{end} {buckets}");
                    totals(&archive, &rows, &[&question[..], &[&*time]].concat(), figure);
                    compared += expected.len();
                }
            }
        }
    }
    assert!(compared > 60, "{compared}");
}

/// Compares the totals of lanes with the answer about the whole range.
fn totals(archive: &Path, found: &[Row], question: &[&str], figure: &str) {
    let expected: BTreeMap<_, _> =
        rows(archive, question).iter().map(|row| (texts(row, &["path"]), integer(row, figure))).collect();
    for row in found {
        let total = integer(row, "total") + integer(row, "total_ns");
        assert_eq!(Some(&total), expected.get(&texts(row, &["kind"])), "{question:?}");
    }
}

#[test]
fn figures_are_plain_sums_of_the_list() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = archive(directory.path(), 9);
    let list = rows(&archive, &["dump", "regions", "--list"]);
    let closed: Vec<&Row> = list.iter().filter(|row| row["open"] == Value::Bool(false)).collect();
    assert!(closed.len() > 60 && closed.len() < list.len(), "{} of {}", closed.len(), list.len());
    let mut paths = 0;
    for (measure, is_time) in [("time", true), ("count", false)] {
        for row in timeline(&archive, measure, &["--bucket=1us"]) {
            let of_path = closed.iter().filter(|one| one["path"] == row["kind"]);
            let spans: Vec<(i64, i64)> =
                of_path.map(|one| (integer(one, "start_ns"), integer(one, "end_ns"))).collect();
            for (place, value) in values(&row).iter().enumerate() {
                let from = integer(&row, "from_ns") + 1000 * place as i64;
                let bucket = from..(from + 1000).min(END + 1);
                let runs = |at: &i64| spans.iter().any(|(start, end)| (*start..*end).contains(at));
                let has_part = |(start, end): &&(i64, i64)| match start == end {
                    true => bucket.contains(start),
                    false => *start < bucket.end && *end > bucket.start,
                };
                let expected =
                    if is_time { bucket.clone().filter(runs).count() } else { spans.iter().filter(has_part).count() };
                assert_eq!(*value, expected as i64, "{measure} {:?} {place}", row["kind"]);
            }
            paths += 1;
        }
    }
    assert!(paths >= 6, "{paths}");
}

#[test]
fn the_marks_of_the_demo_are_a_lane() {
    let directory = tempfile::tempdir().expect("a directory");
    let recording = recording(&directory);
    let archive = recording.file.path.clone();
    let path = Path::new(&archive);
    let lanes = timeline(path, "time", &[]);
    let [lane] = &lanes[..] else { panic!("{lanes:?}") };
    let regions = rows(path, &["dump", "regions", "--by", "region"]);
    let [region] = &regions[..] else { panic!("{regions:?}") };
    assert_eq!((&lane["kind"], integer(lane, "total_ns")), (&region["path"], integer(region, "union_ns")));
    assert_eq!(values(lane).iter().sum::<i64>(), integer(region, "union_ns"));
}
