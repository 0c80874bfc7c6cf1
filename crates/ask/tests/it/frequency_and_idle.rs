//! `dump frequency` and `dump idle` in an archive of one process on two CPUs whose every figure is known.

use std::path::{Path, PathBuf};

use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::question::timeline::{Buckets, LaneKind, Measure};
use tracesift_ask::question::{frequency, idle, timeline};
use tracesift_ask::recording::Source;
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::{Ask, When, ask};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuFrequencyRow, CpuIdleStateRow, CpuRow, CpuSampleRow, CpuStateRow, cpu_state_kinds,
    switch_flags,
};
use tracesift_trace::{ProcessId, RowSink as _, ThreadId};

const MS: i64 = 1_000_000;

/// Threads: the idle loops of CPUs 0 and 1, two of the process.
const IDLE: [i32; 2] = [0, 1];
const APP: [i32; 2] = [2, 3];

/// A switch: time in ms, CPU, the thread that comes and when it left before, the thread that leaves, the state before.
type Switch = (i64, i16, i32, i64, i32, Option<i8>);

/// The first thread runs on CPU 0 from 10 to 30 and from 50 to 70 ms, the second one on CPU 1 from 40 ms on.
const SWITCHES: [Switch; 5] = [
    (10, 0, APP[0], 0, IDLE[0], Some(0)),
    (30, 0, IDLE[0], 10, APP[0], None),
    (40, 1, APP[1], 0, IDLE[1], Some(3)),
    (50, 0, APP[0], 30, IDLE[0], Some(2)),
    (70, 0, IDLE[0], 50, APP[0], None),
];

/// CPU 0 has 1 GHz from 20 ms on and 2 GHz from 60 ms on, CPU 1 has 3 GHz from the start.
const RATES: [(i64, i16, i64); 3] = [(0, 1, 3_000), (20, 0, 1_000), (60, 0, 2_000)];

/// Idle states: CPU, state, from, to in ms.
const STAYS: [(i16, i16, i64, i64); 4] = [(1, 2, 5, 25), (1, 1, 26, 40), (0, 1, 30, 49), (0, 1, 70, 100)];

fn archive(directory: &Path, with_switches: bool, with_states: bool) -> PathBuf {
    let target = directory.join("power.sift");
    let mut writer = create(&target);
    writer.write_table(&[process(0, 0, "Idle"), process(1, 10, "app")]);
    writer.write_table(&[thread(IDLE[0], 0, 0), thread(IDLE[1], 0, 0), thread(APP[0], 1, 100), thread(APP[1], 1, 101)]);
    let kind = |cpu, class, mhz: i64| CpuRow {
        cpu,
        core_type: None,
        efficiency_class: Some(class),
        nominal_khz: Some(mhz * 1000),
        package: None,
        max_khz: None,
    };
    writer.write_table(&[kind(0, 0, 2_000), kind(1, 1, 4_000)]);
    if with_switches {
        for (time, cpu, comes, off, leaves, state) in SWITCHES {
            let flags = if off == 0 { switch_flags::OPEN_LEFT } else { 0 };
            writer.context_switch(&ContextSwitchRow {
                time: time * MS,
                cpu: Some(cpu),
                thread: ThreadId(comes),
                prev_thread: Some(ThreadId(leaves)),
                off_time: off * MS,
                previous_c_state: state,
                flags,
                ..ContextSwitchRow::default()
            });
        }
        let closing = |thread: i32, off: i64| ContextSwitchRow {
            time: 100 * MS,
            thread: ThreadId(thread),
            off_time: off * MS,
            flags: switch_flags::OPEN_RIGHT,
            ..ContextSwitchRow::default()
        };
        writer.context_switch(&closing(APP[0], 70));
        writer.context_switch(&closing(IDLE[1], 40));
    } else {
        // Before the first rate, at 1 GHz, at 3 GHz.
        for (time, cpu, weight) in [(15, 0, 2), (20, 0, 3), (45, 1, 1)] {
            writer.cpu_sample(&CpuSampleRow {
                time: time * MS,
                cpu,
                process: ProcessId(1),
                thread: ThreadId(APP[usize::from(cpu.unsigned_abs())]),
                weight: weight * MS,
                ..CpuSampleRow::default()
            });
        }
    }
    for (time, cpu, mhz) in RATES {
        // CPU 0 may have 2 GHz at most.
        let max_khz = (cpu == 0).then_some(2_000_000);
        let rate = CpuFrequencyRow { time: time * MS, cpu, khz: mhz * 1000, max_khz, ..CpuFrequencyRow::default() };
        writer.cpu_frequency(&rate);
    }
    if with_states {
        let kinds =
            [cpu_state_kinds::CAPPED_BY_HEAT, cpu_state_kinds::CAPPED_BY_FIRMWARE, cpu_state_kinds::SOFT_PARKED];
        for (kind, start, end) in [(kinds[0], 10, 40), (kinds[1], 30, 50), (kinds[2], 60, 75)] {
            let state = CpuStateRow { time: end * MS, cpu: 0, start: start * MS, kind, value: None };
            writer.cpu_state(&state);
        }
        for (cpu, state, start, end) in STAYS {
            writer.cpu_idle_state(&CpuIdleStateRow { time: end * MS, cpu, start: start * MS, state });
        }
    }
    let info = TraceInfo {
        name: "power".to_owned(),
        kind: "perf".to_owned(),
        end_ns: 100 * MS,
        cpu_count: 3,
        has_switches: with_switches,
        ..TraceInfo::default()
    };
    finish_as(writer, info)
}

fn answer(archive: PathBuf, question: &dyn Ask, time: &str) -> Answer {
    let when = When { time: time.parse::<TimeSpec>().expect("a time range"), ..When::default() };
    let outcome = ask(&[Source::archive(archive)], question, &when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

/// Figures of each row: times in ms, others as they are.
fn figures(answer: &Answer, keys: &[&str]) -> Vec<Vec<Option<f64>>> {
    let place = |key: &&str| answer.columns.iter().position(|column| column.key == *key).expect("a column");
    let places: Vec<(usize, bool)> = keys.iter().map(|key| (place(key), key.ends_with("_ns"))).collect();
    let figure = |(place, is_time): &(usize, bool), row: &Vec<Value>| match &row[*place] {
        Value::Int(figure) if *is_time => Some(*figure as f64 / MS as f64),
        Value::Int(figure) => Some(*figure as f64),
        Value::Float(figure) => Some((figure * 1000.0).round() / 1000.0),
        _ => None,
    };
    answer.rows().map(|row| places.iter().map(|place| figure(place, row)).collect()).collect()
}

const OF_RATES: [&str; 6] = ["run_ns", "known_ns", "mean_mhz", "percent_of_nominal", "min_mhz", "max_mhz"];

fn rates(by: frequency::By, time: &str, with_switches: bool) -> Vec<Vec<Option<f64>>> {
    let directory = tempfile::tempdir().expect("temporary directory");
    let question = frequency::Question { by, ..frequency::Question::default() };
    figures(&answer(archive(directory.path(), with_switches, false), &question, time), &OF_RATES)
}

#[test]
fn rates_are_weighted_with_run_time() {
    // CPU 0: 20 ms at 1 GHz and 10 ms at 2 GHz; of its first 10 ms nothing is known. CPU 1: 60 ms at 3 GHz.
    let some = |figures: [f64; 6]| figures.map(Some).to_vec();
    let cpus = [some([40.0, 30.0, 1333.333, 66.667, 1000.0, 2000.0]), some([60.0, 60.0, 3000.0, 75.0, 3000.0, 3000.0])];
    assert_eq!(rates(frequency::By::Cpu, "..", true), cpus);
    assert_eq!(rates(frequency::By::CoreType, "..", true), cpus);
    let all = some([100.0, 90.0, 2444.444, 72.222, 1000.0, 3000.0]);
    assert_eq!(rates(frequency::By::Process, "..", true), [all]);
    // From 25 to 55 ms: 5 and 5 ms at 1 GHz, 15 ms at 3 GHz.
    let part = some([25.0, 25.0, 2200.0, 65.0, 1000.0, 3000.0]);
    assert_eq!(rates(frequency::By::Process, "25ms..55ms", true), [part]);
    // Before 20 ms the rate of CPU 0 is unknown.
    assert_eq!(rates(frequency::By::Cpu, "..20ms", true), [vec![Some(10.0), Some(0.0), None, None, None, None]]);
}

#[test]
fn time_at_the_highest_rate_is_known_where_limits_are() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let archive = archive(directory.path(), true, false);
    let keys = ["cpu", "at_cap_ns"];
    let of = |time| figures(&answer(archive.clone(), &frequency::Question::default(), time), &keys);
    // CPU 0 has 2 GHz from 60 ms on and runs until 70 ms.
    assert_eq!(of(".."), [[Some(0.0), Some(10.0)].to_vec(), [Some(1.0), None].to_vec()]);
    assert_eq!(of("20ms..65ms"), [[Some(0.0), Some(5.0)].to_vec(), [Some(1.0), None].to_vec()]);
    assert_eq!(of("..20ms"), [[Some(0.0), None].to_vec()]);
}

#[test]
fn without_switches_samples_are_weighted() {
    let some = |figures: [f64; 6]| figures.map(Some).to_vec();
    let expected = [some([5.0, 3.0, 1000.0, 50.0, 1000.0, 1000.0]), some([1.0, 1.0, 3000.0, 75.0, 3000.0, 3000.0])];
    assert_eq!(rates(frequency::By::Cpu, "..", false), expected);
}

#[test]
fn a_cpu_that_is_capped_twice_counts_once() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let archive = archive(directory.path(), true, true);
    let keys = ["cpu", "parked_ns", "capped_ns"];
    let of = |time| figures(&answer(archive.clone(), &frequency::Question::default(), time), &keys);
    let row = |figures: [f64; 3]| figures.map(Some).to_vec();
    assert_eq!(of(".."), [row([0.0, 15.0, 40.0]), row([1.0, 0.0, 0.0])]);
    assert_eq!(of("35ms..65ms"), [row([0.0, 5.0, 15.0]), row([1.0, 0.0, 0.0])]);
}

#[test]
fn a_cpu_that_is_not_allowed_its_highest_rate_is_capped() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let target = directory.path().join("limits.sift");
    let mut writer = create(&target);
    writer.write_table(&[process(1, 10, "app")]);
    writer.write_table(&[thread(APP[0], 1, 100)]);
    // Of CPU 0 the highest rate is known, of CPU 1 the nominal one, of CPU 2 none.
    let kind = |cpu, nominal_khz, max_khz| CpuRow { cpu, nominal_khz, max_khz, ..CpuRow::default() };
    writer.write_table(&[kind(0, Some(2_000), Some(4_000)), kind(1, Some(2_000), None)]);
    for cpu in 0..3 {
        writer.cpu_sample(&CpuSampleRow {
            time: 90 * MS,
            cpu,
            process: ProcessId(1),
            thread: ThreadId(APP[0]),
            weight: MS,
            ..CpuSampleRow::default()
        });
        for (time, max_khz) in [(10, None), (20, Some(4_000)), (50, Some(3_000)), (80, Some(1_000))] {
            let rate = CpuFrequencyRow { time: time * MS, cpu, khz: 1_000, max_khz, ..CpuFrequencyRow::default() };
            writer.cpu_frequency(&rate);
        }
    }
    let info = TraceInfo {
        name: "limits".to_owned(),
        kind: "perf".to_owned(),
        end_ns: 100 * MS,
        cpu_count: 3,
        ..TraceInfo::default()
    };
    let archive = finish_as(writer, info);
    let keys = ["cpu", "parked_ns", "capped_ns"];
    let of = |time| figures(&answer(archive.clone(), &frequency::Question::default(), time), &keys);
    let row = |cpu: f64, capped: Option<f64>| vec![Some(cpu), None, capped];
    assert_eq!(of(".."), [row(0.0, Some(50.0)), row(1.0, Some(20.0)), row(2.0, None)]);
    assert_eq!(of("70ms..95ms"), [row(0.0, Some(25.0)), row(1.0, Some(15.0)), row(2.0, None)]);
}

/// Each time window of a series has the figures of the question about this time alone.
#[test]
fn a_series_has_the_figures_of_its_time_windows() {
    let directory = tempfile::tempdir().expect("temporary directory");
    for (with_switches, with_states) in [(true, true), (true, false), (false, true)] {
        let archive = archive(directory.path(), with_switches, with_states);
        let rates = |by| frequency::Question { by, ..frequency::Question::default() };
        let idle = |by| idle::Question { by, ..idle::Question::default() };
        let questions: [Box<dyn Ask>; 4] = [
            Box::new(rates(frequency::By::Cpu)),
            Box::new(rates(frequency::By::Process)),
            Box::new(idle(idle::By::State)),
            Box::new(idle(idle::By::Process)),
        ];
        for question in questions.iter().filter(|question| with_switches || question.name() == "frequency") {
            let when = When { bucket: Some(13 * MS), ..When::default() };
            let series = ask(&[Source::archive(archive.clone())], &**question, &when).answer;
            let place = series.columns.iter().position(|column| column.key == "bucket_ns").expect("a column");
            let of_bucket = |from: i64| {
                let rows = series.rows().filter(move |row| row[place] == Value::Int(from * MS));
                let without = |row: &Vec<Value>| [&row[..place], &row[place + 1..]].concat();
                rows.map(without).collect::<Vec<_>>()
            };
            let mut count = 0;
            for from in (0..=100).step_by(13) {
                let until = (from + 13).min(100);
                let alone = answer(archive.clone(), &**question, &format!("{from}ms..{until}ms"));
                let alone: Vec<Vec<Value>> = alone.rows().cloned().collect();
                count += alone.len();
                assert_eq!(of_bucket(from), alone, "{} from {from} ms", question.name());
            }
            assert_eq!(series.rows().count(), count);
        }
        std::fs::remove_dir_all(archive).expect("an archive");
    }
}

#[test]
fn rows_come_in_the_order_that_is_asked_for() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let archive = archive(directory.path(), true, true);
    let ask_idle = |sort| {
        let question = idle::Question { sort: Some(sort), ..idle::Question::default() };
        figures(&answer(archive.clone(), &question, ".."), &["cpu", "time_ns", "stays", "max_ns"])
    };
    let figure = |rows: Vec<Vec<Option<f64>>>, place: usize| rows.iter().map(|row| row[place]).collect::<Vec<_>>();
    let some = |figures: &[f64]| figures.iter().copied().map(Some).collect::<Vec<_>>();
    assert_eq!(figure(ask_idle(idle::Sort::Time), 1), some(&[5.0, 14.0, 20.0, 21.0, 30.0, 49.0, 61.0, 100.0]));
    let stays = figure(ask_idle(idle::Sort::Stays), 2);
    assert_eq!(stays, [&[None; 5][..], &some(&[1.0, 1.0, 2.0])].concat());
    let longest = figure(ask_idle(idle::Sort::Longest), 3);
    assert_eq!(longest, [&[None; 5][..], &some(&[14.0, 20.0, 30.0])].concat());
    // The mean stay of 24.5 ms is longer than that of 20 ms.
    let average = figure(ask_idle(idle::Sort::Average), 1);
    assert_eq!(average[5..], some(&[14.0, 20.0, 49.0]));
    let ask_rates = |sort| {
        let question = frequency::Question { sort: Some(sort), ..frequency::Question::default() };
        figure(figures(&answer(archive.clone(), &question, ".."), &["cpu"]), 0)
    };
    assert_eq!(ask_rates(frequency::Sort::Mhz), some(&[0.0, 1.0]));
    assert_eq!(ask_rates(frequency::Sort::Run), some(&[0.0, 1.0]));
}

#[test]
fn states_have_the_names_that_the_recorder_noted() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let archive = archive(directory.path(), true, true);
    let path = archive.join("trace.json");
    let text = std::fs::read_to_string(&path).expect("facts");
    let mut document: serde_json::Value = serde_json::from_str(&text).expect("a document");
    document["facts"] = serde_json::json!([
        ["power.idle.0.cpus", "0,7"],
        ["power.idle.0.states.1.name", "C1"],
        ["power.idle.0.states.1.latency_us", "2"],
        ["power.idle.1.cpus", "1"],
        ["power.idle.1.states.2.name", "C6"],
    ]);
    std::fs::write(&path, document.to_string()).expect("written");
    let answer = answer(archive, &idle::Question::default(), "..");
    let place = |key: &str| answer.columns.iter().position(|column| column.key == key).expect("a column");
    let columns = ["cpu", "state", "name", "latency_us"].map(place);
    let named: Vec<Vec<Value>> = answer
        .rows()
        .filter(|row| row[columns[2]] != Value::None)
        .map(|row| columns.iter().map(|place| row[*place].clone()).collect())
        .collect();
    assert_eq!(
        named,
        [
            vec![Value::Int(0), "idle 1".into(), "C1".into(), Value::Int(2)],
            vec![Value::Int(1), "idle 2".into(), "C6".into(), Value::None],
        ]
    );
}

fn residency(time: &str, with_states: bool) -> Vec<(String, Vec<Option<f64>>)> {
    let directory = tempfile::tempdir().expect("temporary directory");
    let answer = answer(archive(directory.path(), true, with_states), &idle::Question::default(), time);
    let states = answer.columns.iter().position(|column| column.key == "state").expect("a column");
    let names = answer.rows().map(|row| match &row[states] {
        Value::Text(state) => state.clone(),
        other => panic!("{other:?}"),
    });
    let figures = figures(&answer, &["cpu", "time_ns", "percent", "stays", "max_ns"]);
    names.zip(figures).collect()
}

fn of(state: &str, cpu: f64, figures: [f64; 4]) -> (String, Vec<Option<f64>>) {
    (state.to_owned(), [cpu].into_iter().chain(figures).map(Some).collect())
}

fn rest(state: &str, cpu: f64, figures: [f64; 2]) -> (String, Vec<Option<f64>>) {
    (state.to_owned(), vec![Some(cpu), Some(figures[0]), Some(figures[1]), None, None])
}

#[test]
fn shares_of_a_cpu_add_up() {
    assert_eq!(
        residency("..", true),
        [
            rest("unknown", 0.0, [30.0, 30.0]),
            rest("C0", 0.0, [21.0, 21.0]),
            of("idle 1", 0.0, [49.0, 49.0, 2.0, 30.0]),
            rest("unknown", 1.0, [5.0, 5.0]),
            rest("C0", 1.0, [61.0, 61.0]),
            of("idle 1", 1.0, [14.0, 14.0, 1.0, 14.0]),
            of("idle 2", 1.0, [20.0, 20.0, 1.0, 20.0]),
            rest("unknown", 2.0, [100.0, 100.0]),
        ]
    );
    // From 20 to 40 ms.
    assert_eq!(
        residency("20ms..40ms", true),
        [
            rest("unknown", 0.0, [10.0, 50.0]),
            of("idle 1", 0.0, [10.0, 50.0, 1.0, 10.0]),
            rest("C0", 1.0, [1.0, 5.0]),
            of("idle 1", 1.0, [14.0, 70.0, 1.0, 14.0]),
            of("idle 2", 1.0, [5.0, 25.0, 1.0, 5.0]),
            rest("unknown", 2.0, [20.0, 100.0]),
        ]
    );
}

#[test]
fn without_idle_states_the_idle_loop_tells() {
    // CPU 1 was idle from the start; its switch-in is not in the recording.
    assert_eq!(
        residency("..", false),
        [
            rest("unknown", 0.0, [30.0, 30.0]),
            rest("C0", 0.0, [20.0, 20.0]),
            of("idle", 0.0, [30.0, 30.0, 1.0, 30.0]),
            of("idle 2", 0.0, [20.0, 20.0, 1.0, 20.0]),
            rest("unknown", 1.0, [100.0, 100.0]),
            rest("unknown", 2.0, [100.0, 100.0]),
        ]
    );
}

#[test]
fn the_first_thread_after_idle_woke_the_cpu() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let question = idle::Question { by: idle::By::Process, ..idle::Question::default() };
    let archive = archive(directory.path(), true, false);
    let keys = ["pid", "wake_ups", "from_sleep"];
    let whole = figures(&answer(archive.clone(), &question, ".."), &keys);
    assert_eq!(whole, [[10.0, 3.0, 2.0].map(Some).to_vec()]);
    let part = figures(&answer(archive.clone(), &question, "..45ms"), &keys);
    assert_eq!(part, [[10.0, 2.0, 1.0].map(Some).to_vec()]);
    let none = idle::Question {
        filter: ProcessFilter { process: ProcessPatterns::parse("other"), ..ProcessFilter::default() },
        ..question
    };
    assert_eq!(answer(archive, &none, "..").rows().count(), 0);
}

/// The mean rate of each bucket of `dump timeline` is that of `dump frequency` with the bucket as its time range.
#[test]
fn rates_of_buckets_are_those_of_their_time() {
    for with_switches in [true, false] {
        let directory = tempfile::tempdir().expect("a directory");
        let archive = archive(directory.path(), with_switches, false);
        for (lane, by, key) in
            [(LaneKind::Cpu, frequency::By::Cpu, "cpu"), (LaneKind::Process, frequency::By::Process, "pid")]
        {
            let question = timeline::Question {
                lane,
                measure: Some(Measure::Frequency),
                buckets: Buckets::Length(7 * MS),
                ..timeline::Question::default()
            };
            let found = answer(archive.clone(), &question, "0ms..101ms");
            let place = |key: &str| found.columns.iter().position(|column| column.key == key).expect("a column");
            let other = frequency::Question { by, ..frequency::Question::default() };
            let all = figures(&answer(archive.clone(), &other, "0ms..101ms"), &[key, "mean_mhz"]);
            let mut rows = 0;
            for row in found.rows() {
                let (Value::Int(lane), Value::Integers(values)) = (&row[place(key)], &row[place("values")]) else {
                    panic!("{row:?}")
                };
                let mean = |figures: &[Vec<Option<f64>>]| {
                    let row = figures.iter().find(|row| row[0] == Some(*lane as f64));
                    (row.and_then(|row| row[1]).unwrap_or(0.0) * 1000.0).round() as i64
                };
                for (bucket, value) in values.iter().enumerate() {
                    let time = format!("{}ms..{}ms", 7 * bucket, (7 * bucket + 7).min(100));
                    let expected = mean(&figures(&answer(archive.clone(), &other, &time), &[key, "mean_mhz"]));
                    assert_eq!(*value, expected, "{key} {lane}, {time}");
                }
                assert_eq!(row[place("mean_mhz")], Value::Float(mean(&all) as f64 / 1000.0));
                rows += 1;
            }
            assert_eq!(rows, all.iter().filter(|row| row[1].is_some()).count());
            assert!(rows > 0);
        }
    }
}
