//! The buckets of `dump timeline` against the questions about each bucket as a time range.

use std::collections::BTreeMap;

use tracesift_ask::Ask;
use tracesift_ask::answer::{Section, Value};
use tracesift_ask::question::timeline::{Buckets, LaneKind, Measure, Question};
use tracesift_ask::question::{cpu, threads};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_extract::Options;
use tracesift_grammar::TimeRange;
use tracesift_scenario::{Knobs, Scenario, SplitMix64};
use tracesift_testing::recording::{extract_file, write_etl};
use tracesift_trace::rows::{DiskIoRow, EventRow};

/// Figures of lanes, by what names them.
type Figures = BTreeMap<Vec<String>, Vec<i64>>;

fn place(question: &dyn Ask, key: &str) -> usize {
    question.columns().iter().position(|column| column.key == key).unwrap_or_else(|| panic!("no column {key}"))
}

fn texts(question: &dyn Ask, row: &[Value], keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| format!("{:?}", row[place(question, key)])).collect()
}

/// The values of each lane, and the buckets: start of the first, and length.
fn timeline(recording: &OpenRecording, question: &Question, keys: &[&str]) -> (Figures, Option<(i64, i64)>) {
    let section = question.section(recording).expect("an answer");
    let (mut figures, mut buckets) = (Figures::new(), None);
    for row in &section.rows {
        let integer = |key: &str| if let Value::Int(value) = row[place(question, key)] { value } else { 0 };
        let Value::Integers(values) = &row[place(question, "values")] else { panic!("no values") };
        buckets = Some((integer("from_ns"), integer("bucket_ns")));
        let total = integer("total_ns") + integer("total_bytes") + integer("total");
        assert_eq!(values.iter().sum::<i64>(), total);
        let peak = integer("peak_ns") + integer("peak_bytes") + integer("peak");
        assert_eq!(values.iter().max(), Some(&peak));
        let of_lane = figures.entry(texts(question, row, keys)).or_insert_with(|| vec![0; values.len()]);
        // Two instances of one process may have the same name and id.
        of_lane.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    (figures, buckets)
}

/// Adds the figure of each row of another question to the bucket.
fn add(sums: &mut Figures, question: &dyn Ask, section: &Section, (keys, figure): (&[&str], &str), at: (usize, usize)) {
    for row in &section.rows {
        if let Value::Int(value) = row[place(question, figure)]
            && value != 0
        {
            sums.entry(texts(question, row, keys)).or_insert_with(|| vec![0; at.1])[at.0] += value;
        }
    }
}

/// The time ranges of the buckets, cut to the range and to the recording.
fn ranges(recording: &OpenRecording, time: TimeRange, (from, width): (i64, i64), count: usize) -> Vec<TimeRange> {
    let (start, end) = time.bounds();
    let (start, end) = (start.max(recording.file.start), end.min(recording.file.end + 1));
    let bucket = |place: usize| {
        let at = from + width * place as i64;
        TimeRange { start: Some(at.max(start)), end: Some((at + width).min(end)) }
    };
    (0..count).map(bucket).collect()
}

fn each(mut visit: impl FnMut(u64, &OpenRecording, TimeRange, Buckets)) {
    for seed in 500..510 {
        let scenario = Scenario::random(seed, &Knobs::random(seed));
        let directory = tempfile::tempdir().expect("a directory");
        let extracted = extract_file(&write_etl(&scenario, directory.path()), &Options::default());
        let recording = OpenRecording::open(&Source::archive(extracted.archive)).expect("opened");
        let mut random = SplitMix64::new(seed);
        let end = recording.file.end;
        for place in 0..3 {
            let (start, stop) = (random.between(-5, end), random.between(1, end + 9));
            let time = match place {
                0 => TimeRange::default(),
                _ => TimeRange { start: Some(start.min(stop - 1)), end: Some(start.max(stop)) },
            };
            let buckets = match place {
                2 => Buckets::Length(random.between(end / 7 + 1, end / 2 + 2)),
                _ => Buckets::Number(u16::try_from(random.between(1, 9)).expect("small")),
            };
            visit(seed, &recording, time, buckets);
        }
    }
}

#[test]
fn buckets_of_threads_are_the_answers_about_their_time() {
    let mut compared = 0;
    each(|seed, recording, time, buckets| {
        for (measure, figure) in [
            (Measure::Run, "run_ns"),
            (Measure::Wait, "wait_ns"),
            (Measure::Switches, "switches"),
            (Measure::Cpu, "cpu_ns"),
            (Measure::Samples, "samples"),
        ] {
            let keys: &[&str] = &["process", "pid", "tid"];
            let question =
                Question { time, lane: LaneKind::Thread, measure: Some(measure), buckets, ..Question::default() };
            let (found, grid) = timeline(recording, &question, keys);
            let Some(grid) = grid else { continue };
            let count = found.values().next().map_or(0, Vec::len);
            let mut expected = Figures::new();
            for (place, time) in ranges(recording, time, grid, count).into_iter().enumerate() {
                let threads = threads::Question { time, ..threads::Question::default() };
                let section = threads.section(recording).expect("an answer");
                add(&mut expected, &threads, &section, (keys, figure), (place, count));
            }
            assert_eq!(found, expected, "seed {seed}, {measure:?}, {time:?}, {buckets:?}");
            compared += found.len();
        }
    });
    assert!(compared > 200, "{compared} lanes");
}

#[test]
fn buckets_of_processes_are_the_answers_about_their_time() {
    each(|seed, recording, time, buckets| {
        for (measure, figure) in [(Measure::Run, "run_ns"), (Measure::Cpu, "cpu_ns"), (Measure::Samples, "samples")] {
            let keys: &[&str] = &["process", "pid"];
            let question = Question { time, measure: Some(measure), buckets, ..Question::default() };
            let (found, grid) = timeline(recording, &question, keys);
            let Some(grid) = grid else { continue };
            let count = found.values().next().map_or(0, Vec::len);
            let mut expected = Figures::new();
            for (place, time) in ranges(recording, time, grid, count).into_iter().enumerate() {
                let cpu = cpu::Question { time, ..cpu::Question::default() };
                let mut section = cpu.section(recording).expect("an answer");
                // The idle loop has a row of its own, outside of all totals.
                let idle = self::place(&cpu, "idle");
                section.rows.retain(|row| row[idle] != Value::Bool(true));
                add(&mut expected, &cpu, &section, (keys, figure), (place, count));
            }
            assert_eq!(found, expected, "seed {seed}, {measure:?}, {time:?}, {buckets:?}");
        }
    });
}

#[test]
fn states_of_threads_fill_their_lives() {
    each(|seed, recording, time, buckets| {
        if !recording.info().has_switches {
            return;
        }
        let sums = [Measure::Run, Measure::Wait, Measure::Ready, Measure::Open, Measure::Unknown].map(|measure| {
            let question = Question { time, measure: Some(measure), buckets, ..Question::default() };
            let (figures, _) = timeline(recording, &question, &["process", "pid"]);
            figures.values().flatten().sum::<i64>()
        });
        let (start, end) = time.bounds();
        let range = start.max(recording.file.start)..end.min(recording.file.end);
        let of_process = recording
            .process_figures(&recording.archive().rows().expect("processes"), time, None)
            .expect("figures")
            .iter()
            .map(|row| [row.run, row.wait, row.ready, row.open, row.unknown].map(Option::unwrap_or_default))
            .fold([0; 5], |sums: [i64; 5], row| std::array::from_fn(|place| sums[place] + row[place]));
        // The figures of processes have the idle loop, too: no lane has more.
        for (place, sum) in sums.iter().enumerate() {
            assert!(*sum <= of_process[place], "seed {seed}, {range:?}, figure {place}");
        }
    });
}

#[test]
fn disks_and_events_are_counted_where_they_are() {
    each(|seed, recording, time, buckets| {
        let (start, end) = time.bounds();
        let (start, end) = (start.max(recording.file.start), end.min(recording.file.end + 1));
        let inside = |time: i64| time >= start && time < end;
        let total = |lane, measure| {
            let question = Question { time, lane, measure: Some(measure), buckets, ..Question::default() };
            let key = if lane == LaneKind::Disk { "disk" } else { "event" };
            timeline(recording, &question, &[key]).0.values().flatten().sum::<i64>()
        };
        let disk: Vec<DiskIoRow> = recording.archive().rows().expect("read");
        let disk: Vec<_> = disk.iter().filter(|row| inside(row.time)).collect();
        assert_eq!(total(LaneKind::Disk, Measure::Bytes), disk.iter().map(|row| row.size).sum::<i64>(), "seed {seed}");
        assert_eq!(total(LaneKind::Disk, Measure::Operations), disk.len() as i64, "seed {seed}");
        let events: Vec<EventRow> = recording.archive().rows().expect("read");
        let events = events.iter().filter(|row| inside(row.time)).count();
        assert_eq!(total(LaneKind::Event, Measure::Count), events as i64, "seed {seed}");
    });
}
