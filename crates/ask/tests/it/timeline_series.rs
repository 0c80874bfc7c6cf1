//! Figures of chosen processes and threads, several measures at once, against the rows of `dump timeline` about one measure each.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use tracesift_analysis::Span;
use tracesift_analysis::timeline::Grid;
use tracesift_ask::question::timeline::{Chosen, Lane, LaneKind, Measure, Question, STATES, Way, series};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_extract::Options;
use tracesift_grammar::TimeRange;
use tracesift_scenario::{Knobs, Scenario, SplitMix64};
use tracesift_testing::recording::{extract_file, with_disk_and_marks, write_etl};
use tracesift_trace::rows::{ProcessRow, ThreadRow};

/// A recording whose tables have small row groups and short buckets.
fn extracted(seed: u64, directory: &std::path::Path) -> OpenRecording {
    let knobs = Knobs { duration_ms: 400, mean_run_micros: 200, ..Knobs::random(seed) };
    let mut options = Options::default();
    options.budget.group_rows = Some(300);
    (options.budget.long_from, options.budget.rows_of_bucket, options.budget.rows_of_tile) = (0, 2 + seed % 5, 0);
    let file = write_etl(&with_disk_and_marks(Scenario::random(seed, &knobs), seed), directory);
    OpenRecording::open(&Source::archive(extract_file(&file, &options).archive)).expect("opened")
}

/// The figures that `dump timeline` has of a measure, by the number of the process or thread.
fn rows(recording: &OpenRecording, lane: LaneKind, measure: Measure, grid: Grid) -> BTreeMap<i32, Vec<i64>> {
    let range = grid.range();
    let time = TimeRange { start: Some(range.start), end: Some(range.end) };
    let question = Question { lane, measure: Some(measure), time, way: Way::Rows, ..Question::default() };
    let rows = question.lanes(recording, grid).expect("read").unwrap_or_default();
    let number = |lane: &Lane| match lane {
        Lane::Process(row) => row.process.0,
        Lane::Thread(_, row) => row.thread.0,
        other => panic!("{other:?}"),
    };
    rows.iter().map(|row| (number(row.lane()), row.values().to_vec())).collect()
}

#[test]
fn several_measures_at_once_are_those_of_one_each() {
    let mut compared = 0;
    for seed in 0..6 {
        let directory = tempfile::tempdir().expect("a directory");
        let recording = extracted(seed, directory.path());
        let processes: Vec<ProcessRow> = recording.archive().rows().expect("processes");
        let threads: Vec<ThreadRow> = recording.archive().rows().expect("threads");
        let mut random = SplitMix64::new(seed);
        let end = recording.file.end;
        for _ in 0..8 {
            let (a, b) = (random.between(0, end), random.between(0, end));
            let grid =
                Grid::columns(Span::new(a.min(b), a.max(b) + 1), usize::try_from(random.between(1, 40)).expect("few"));
            let some_processes = processes.iter().filter(|row| row.pid != 0 && random.between(0, 3) > 0);
            let some_processes: FxHashSet<_> = some_processes.map(|row| row.process).collect();
            let some_threads = threads.iter().filter(|row| row.idle_cpu.is_none() && random.between(0, 3) > 0);
            let some_threads: FxHashSet<_> = some_threads.map(|row| row.thread).collect();
            for (lane, chosen) in [
                (LaneKind::Process, Chosen::Processes(some_processes.clone())),
                (LaneKind::Thread, Chosen::Threads(some_threads.clone())),
            ] {
                let measures: Vec<Measure> = STATES.into_iter().chain([Measure::Cpu, Measure::Switches]).collect();
                for way in [Way::Rows, Way::Tables, Way::Usual] {
                    let found = series(&recording, &chosen, &measures, grid, way).expect("read").expect("few");
                    assert!(found.absent.is_empty() && (way != Way::Rows || !found.is_from_tables));
                    for (place, measure) in measures.iter().enumerate() {
                        let mut expected = rows(&recording, lane, *measure, grid);
                        expected.retain(|number, _| match &chosen {
                            Chosen::Processes(ids) => ids.iter().any(|id| id.0 == *number),
                            Chosen::Threads(ids) => ids.iter().any(|id| id.0 == *number),
                        });
                        let of_measure = found.lanes.iter().filter(|((_, of), _)| *of == place);
                        let of_measure: BTreeMap<i32, Vec<i64>> =
                            of_measure.map(|((lane, _), values)| (*lane, values.clone())).collect();
                        assert_eq!(of_measure, expected, "{seed} {way:?} {measure:?} {grid:?}");
                        compared += expected.len();
                    }
                }
            }
        }
    }
    assert!(compared > 1_000, "{compared}");
}
