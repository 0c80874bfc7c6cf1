//! Samples that several threads add up: however they lie in row groups, methods, tags and trees have the same figures.

use std::path::{Path, PathBuf};

use tracesift_archive::Archive;
use tracesift_ask::answer::{Section, Value};
use tracesift_ask::question::{methods, stacks};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::{Ask, MethodPatterns};
use tracesift_extract::Options;
use tracesift_grammar::TimeRange;
use tracesift_scenario::{Knobs, Scenario, SplitMix64};
use tracesift_testing::recording::{extract_file, with_disk_and_marks, write_etl};
use tracesift_trace::rows::CpuSampleRow;

/// An archive of a recording whose row groups have so many rows, at most.
fn archive(seed: u64, directory: &Path, group_rows: Option<usize>) -> PathBuf {
    let knobs = Knobs { duration_ms: 800, mean_run_micros: 200, ..Knobs::random(seed) };
    let mut options = Options::default();
    options.budget.group_rows = group_rows;
    std::fs::create_dir_all(directory).expect("a directory");
    extract_file(&write_etl(&with_disk_and_marks(Scenario::random(seed, &knobs), seed), directory), &options).archive
}

fn questions(time: TimeRange) -> Vec<Box<dyn Ask>> {
    let all = methods::Question { methods: Some(MethodPatterns::default()), time, ..Default::default() };
    let tree = stacks::Question { time, ..Default::default() };
    vec![
        Box::new(methods::Question { per_thread: true, ..all.clone() }),
        Box::new(methods::Question { first_last: true, ..all }),
        Box::new(stacks::Question { per_thread: true, ..tree.clone() }),
        Box::new(stacks::Question { methods: MethodPatterns::parse("*e*", false), ..tree.clone() }),
        Box::new(tree),
    ]
}

/// The rows without their first cell, which names the archive.
fn without_file(section: Section) -> Vec<Vec<Value>> {
    section.rows.into_iter().map(|row| row.into_iter().skip(1).collect()).collect()
}

#[test]
fn row_groups_do_not_matter() {
    let (mut rows, mut groups) = (0, 0);
    for seed in 900..905 {
        let directory = tempfile::tempdir().expect("a directory");
        let open = |name: &str, group_rows| {
            let archive = archive(seed, &directory.path().join(name), group_rows);
            OpenRecording::open(&Source::archive(archive)).expect("opened")
        };
        let (small, large) = (open("small", Some(25)), open("large", None));
        let count = |recording: &OpenRecording| {
            let archive = Archive::open(recording.archive().path()).expect("opened");
            archive.row_groups::<CpuSampleRow>(None).expect("read").numbers().len()
        };
        assert!(count(&large) <= 1);
        groups = groups.max(count(&small));
        let mut random = SplitMix64::new(seed);
        for round in 0..3 {
            let (a, b) = (random.between(0, small.file.end), random.between(0, small.file.end + 1));
            let range = TimeRange { start: Some(a.min(b)), end: Some(a.max(b) + 1) };
            for question in questions(if round == 0 { TimeRange::default() } else { range }) {
                let (found, expected) = (question.section(&small), question.section(&large));
                let (found, expected) = (found.expect("an answer"), expected.expect("an answer"));
                let (found, expected) = (without_file(found), without_file(expected));
                assert_eq!(found, expected, "seed {seed}, {range:?}, {}", question.name());
                rows += found.len();
            }
        }
    }
    // More of them than are in memory at a time.
    assert!(rows > 1_000 && groups > 20, "{rows} rows, {groups} row groups");
}
