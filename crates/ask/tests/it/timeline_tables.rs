//! `dump timeline` from the timeline tables against `dump timeline` from rows, and against plain sums of rows.

use std::path::{Path, PathBuf};

use tracesift_archive::Archive;
use tracesift_ask::Ask;
use tracesift_ask::answer::Section;
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::question::timeline::{Buckets, LaneKind, Measure, Question, Sort, Way};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_extract::Options;
use tracesift_grammar::TimeRange;
use tracesift_scenario::{Knobs, Scenario, SplitMix64};
use tracesift_testing::recording::{extract_file, with_disk_and_marks, write_etl};
use tracesift_trace::rows::{
    ContextSwitchRow, TimelineCpuRow, TimelineDiskRow, TimelineEventRow, TimelineProcessRow, TimelineThreadRow,
};

/// All lanes with the measures that tables have.
const ASKED: [(LaneKind, Measure); 22] = [
    (LaneKind::Process, Measure::Cpu),
    (LaneKind::Process, Measure::Samples),
    (LaneKind::Process, Measure::Run),
    (LaneKind::Process, Measure::Wait),
    (LaneKind::Process, Measure::Ready),
    (LaneKind::Process, Measure::Open),
    (LaneKind::Process, Measure::Unknown),
    (LaneKind::Process, Measure::Switches),
    (LaneKind::Thread, Measure::Run),
    (LaneKind::Thread, Measure::Wait),
    (LaneKind::Thread, Measure::Ready),
    (LaneKind::Thread, Measure::Switches),
    (LaneKind::Cpu, Measure::Run),
    (LaneKind::Disk, Measure::Bytes),
    (LaneKind::Disk, Measure::ReadBytes),
    (LaneKind::Disk, Measure::WriteBytes),
    (LaneKind::Disk, Measure::Operations),
    (LaneKind::Disk, Measure::Reads),
    (LaneKind::Disk, Measure::Writes),
    (LaneKind::Disk, Measure::Busy),
    (LaneKind::Disk, Measure::Queue),
    (LaneKind::Event, Measure::Count),
];

/// A recording whose tables have small row groups and short buckets.
fn extracted(seed: u64, directory: &Path) -> PathBuf {
    let knobs = Knobs { duration_ms: 500, mean_run_micros: 150, ..Knobs::random(seed) };
    let mut options = Options::default();
    options.budget.group_rows = Some(300);
    (options.budget.long_from, options.budget.rows_of_bucket, options.budget.rows_of_tile) = (0, 2 + seed % 5, 0);
    extract_file(&write_etl(&with_disk_and_marks(Scenario::random(seed, &knobs), seed), directory), &options).archive
}

/// Some range of the recording, and some buckets in it.
fn some(random: &mut SplitMix64, end: i64) -> (TimeRange, Buckets) {
    let (start, stop) = (random.between(-5, end), random.between(1, end + 9));
    let time = match random.between(0, 5) {
        0 => TimeRange::default(),
        _ => TimeRange { start: Some(start.min(stop - 1)), end: Some(start.max(stop)) },
    };
    let buckets = match random.between(0, 3) {
        // Those of a level, or longer ones of the tables.
        0 | 1 => Buckets::Length(1 << random.between(17, 27)),
        2 => Buckets::Length(random.between(end / 70 + 1, end / 2 + 2)),
        _ => Buckets::Number(u16::try_from(random.between(1, 40)).expect("small")),
    };
    (time, buckets)
}

fn section(recording: &OpenRecording, question: &Question, way: Way) -> Section {
    Question { way, ..question.clone() }.section(recording).expect("an answer")
}

#[test]
fn tables_and_rows_give_the_same_answers() {
    let (mut lanes, mut spared, mut asked, mut disks, mut events) = (0, 0, 0, 0, 0);
    for seed in 800..810 {
        let directory = tempfile::tempdir().expect("a directory");
        let archive = extracted(seed, directory.path());
        let opened = Archive::open(&archive).expect("opened");
        disks += opened.row_count::<TimelineDiskRow>();
        events += opened.row_count::<TimelineEventRow>();
        let recording = OpenRecording::open(&Source::archive(archive)).expect("opened");
        let mut random = SplitMix64::new(seed);
        for round in 0..5 {
            let (time, buckets) = some(&mut random, recording.file.end);
            let origin = if round % 4 == 0 { random.between(0, 1 << 20) } else { 0 };
            for (lane, measure) in ASKED {
                let question = Question {
                    time,
                    lane,
                    measure: Some(measure),
                    buckets,
                    origin,
                    sort: Some(Sort::Lane),
                    ..Question::default()
                };
                let before = recording.archive().rows_read();
                let expected = section(&recording, &question, Way::Rows);
                let by_rows = recording.archive().rows_read() - before;
                let found = section(&recording, &question, Way::Tables);
                let by_tables = recording.archive().rows_read() - before - by_rows;
                assert_eq!(found, expected, "seed {seed}, {question:?}");
                // Without tables or a time range nothing is spared.
                assert_eq!(section(&recording, &question, Way::Usual), expected);
                lanes += expected.rows.len();
                asked += 1;
                spared += usize::from(by_tables != by_rows);
            }
        }
    }
    assert!(disks > 100 && events > 20, "{disks} rows of disks, {events} of events");
    assert!(asked == 1_100 && lanes > 2_500 && spared > 375, "{asked} questions, {lanes} lanes, {spared} by tables");
}

#[test]
fn answers_for_some_processes_are_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = extracted(803, directory.path());
    let recording = OpenRecording::open(&Source::archive(archive)).expect("opened");
    let mut random = SplitMix64::new(9);
    for pattern in ["Idle", "!Idle", "*a*", "System"] {
        let filter = ProcessFilter { process: ProcessPatterns::parse(pattern), ..ProcessFilter::default() };
        for (lane, measure) in ASKED {
            let (time, buckets) = some(&mut random, recording.file.end);
            let question =
                Question { filter: filter.clone(), time, lane, measure: Some(measure), buckets, ..Question::default() };
            let expected = section(&recording, &question, Way::Rows);
            assert_eq!(section(&recording, &question, Way::Tables), expected, "{pattern} {question:?}");
        }
    }
}

#[test]
fn whole_buckets_are_answered_without_a_switch_row() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = extracted(803, directory.path());
    let opened = Archive::open(&archive).expect("opened");
    assert!(opened.row_count::<TimelineProcessRow>() > 0 && opened.row_count::<TimelineThreadRow>() > 0);
    assert!(opened.row_count::<TimelineCpuRow>() > 0);
    let switches = opened.row_count::<ContextSwitchRow>();
    let recording = OpenRecording::open(&Source::archive(archive)).expect("opened");
    let question = Question { measure: Some(Measure::Run), buckets: Buckets::Length(1 << 25), ..Question::default() };
    let read = |way| {
        let before = recording.archive().rows_read();
        let rows = section(&recording, &question, way).rows.len();
        assert!(rows > 3);
        // Processes and threads are read either way.
        recording.archive().rows_read() - before
    };
    let (by_rows, by_tables) = (read(Way::Rows), read(Way::Tables));
    assert!(by_rows >= switches && by_tables < switches / 2, "{by_rows} rows, {by_tables} with tables, {switches}");
}
