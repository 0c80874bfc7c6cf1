//! Peaks of columns against the largest of the base buckets that `dump timeline --bucket` has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use tracesift_analysis::Span;
use tracesift_analysis::timeline::Grid;
use tracesift_ask::question::timeline::{LaneKind, Measure, Peaks, Question};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_extract::Options;
use tracesift_grammar::TimeRange;
use tracesift_scenario::{Knobs, Scenario, SplitMix64};
use tracesift_testing::recording::{extract_file, with_disk_and_marks, write_etl};

use crate::commands::{integer, rows, time, values};

/// A recording with or without timeline tables, which have short buckets.
fn extracted(seed: u64, directory: &Path, has_tables: bool) -> PathBuf {
    let knobs = Knobs { duration_ms: 500, mean_run_micros: 60, ..Knobs::random(seed) };
    let mut options = Options::default();
    options.budget.group_rows = Some(300);
    if has_tables {
        (options.budget.long_from, options.budget.rows_of_bucket, options.budget.rows_of_tile) = (0, 2 + seed % 5, 0);
    }
    extract_file(&write_etl(&with_disk_and_marks(Scenario::random(seed, &knobs), seed), directory), &options).archive
}

/// Lane and measure, and their words.
const ASKED: [(LaneKind, Measure, [&str; 2]); 9] = [
    (LaneKind::Process, Measure::Run, ["process", "run"]),
    (LaneKind::Process, Measure::Cpu, ["process", "cpu"]),
    (LaneKind::Cpu, Measure::Run, ["cpu", "run"]),
    (LaneKind::Cpu, Measure::Cpu, ["cpu", "cpu"]),
    (LaneKind::Disk, Measure::Bytes, ["disk", "bytes"]),
    (LaneKind::Disk, Measure::ReadBytes, ["disk", "read-bytes"]),
    (LaneKind::Disk, Measure::WriteBytes, ["disk", "write-bytes"]),
    (LaneKind::Disk, Measure::Busy, ["disk", "busy"]),
    (LaneKind::Disk, Measure::Queue, ["disk", "queue"]),
];

/// The largest base bucket of each column by lane, and of all lanes together: from the rows of the command.
fn expected(
    archive: &Path,
    words: [&str; 2],
    peaks: &Peaks,
    grid: &Grid,
    recorded: Span,
) -> BTreeMap<String, Vec<Option<i64>>> {
    let base = &peaks.base;
    let (bucket, time) = (format!("{}ns", base.width()), time(base.range().start, base.range().end));
    let command = ["dump", "timeline", "--lane", words[0], "--measure", words[1], "--bucket", &bucket, &time];
    let mut sums: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for row in rows(archive, &command) {
        assert_eq!((integer(&row, "from_ns"), integer(&row, "bucket_ns")), (base.first(), base.width()));
        // Two instances of a process can have one name: they are told apart by nothing here.
        for name in [format!("{:?}", row["lane"]), "all".to_owned()] {
            let sum = sums.entry(name).or_insert_with(|| vec![0; base.buckets()]);
            sum.iter_mut().zip(values(&row)).for_each(|(sum, value)| *sum += value);
        }
    }
    let largest = |values: &[i64], column: Span| {
        let inside = values.iter().enumerate().filter(|(place, _)| {
            let start = base.first() + base.width() * *place as i64;
            let bucket = Span::new(start, start + base.width()).intersect(recorded);
            bucket.intersect(column) == bucket
        });
        inside.map(|(_, value)| *value).max()
    };
    let of_lane = |values: &Vec<i64>| (0..grid.buckets()).map(|place| largest(values, grid.bucket(place))).collect();
    sums.iter().map(|(name, values)| (name.clone(), of_lane(values))).collect()
}

#[test]
fn peaks_are_the_largest_base_buckets() {
    let (mut compared, mut without) = (0, 0);
    for (seed, has_tables) in (820..826).flat_map(|seed| [(seed, true), (seed, false)]) {
        let directory = tempfile::tempdir().expect("a directory");
        let archive = extracted(seed, directory.path(), has_tables);
        let recording = OpenRecording::open(&Source::archive(archive.clone())).expect("opened");
        let recorded = Span::new(recording.file.start, recording.file.end + 1);
        let mut random = SplitMix64::new(seed);
        for round in 0..4 {
            let (a, b) = (random.between(0, recorded.end - 1), random.between(0, recorded.end - 1));
            let range = if round == 0 { recorded } else { Span::new(a.min(b), a.max(b) + 1) };
            let grid = Grid::columns(range, usize::try_from(random.between(1, 30)).expect("few"));
            let time = TimeRange { start: Some(range.start), end: Some(range.end) };
            for (lane, measure, words) in ASKED {
                let question = Question { lane, measure: Some(measure), time, ..Question::default() };
                let Some(peaks) = question.peaks(&recording, grid, None).expect("read") else {
                    without += 1;
                    continue;
                };
                assert!(peaks.base.width() * 2 <= grid.width());
                let expected = expected(&archive, words, &peaks, &grid, recorded);
                for (of, found) in &peaks.lanes {
                    let name = format!("Text({:?})", of.label());
                    let is_unique = peaks.lanes.iter().filter(|(other, _)| other.label() == of.label()).count() == 1;
                    let zero = || peaks.none.clone();
                    let expected = expected.get(&name).cloned().unwrap_or_else(zero);
                    assert!(
                        !is_unique || *found == expected,
                        "{seed} {has_tables} {words:?} {name} {grid:?}: {found:?}, {expected:?}"
                    );
                    compared += 1;
                }
                if !peaks.all.is_empty() {
                    let expected = expected.get("all").unwrap_or(&peaks.none);
                    assert_eq!(&peaks.all, expected, "{seed} {has_tables} {words:?}");
                }
                if lane == LaneKind::Process {
                    let none = FxHashSet::default();
                    let alone = question.peaks(&recording, grid, Some(&none)).expect("read").expect("some");
                    assert!(alone.lanes.is_empty());
                    assert_eq!(&alone.all, expected.get("all").unwrap_or(&peaks.none), "{seed} {has_tables} {words:?}");
                }
                // A bucket that is twice as long as a base bucket has one of them.
                let has_none = peaks.none.iter().take(grid.buckets() - 1).any(Option::is_none);
                assert!(!has_none, "{grid:?} {:?}", peaks.base);
            }
        }
    }
    assert!(compared > 300 && without > 20, "{compared} lanes, {without} without");
}
