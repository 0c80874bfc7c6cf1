//! `dump cpu --cores`: kinds of cores and clock rates, per process and per method, in an archive of two processes on four CPUs whose every figure is
//! known.

use std::path::{Path, PathBuf};

use tracesift_ask::MethodPatterns;
use tracesift_ask::answer::Value;
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::question::cpu::Question;
use tracesift_ask::question::methods;
use tracesift_ask::recording::Source;
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::{Ask, When, ask};
use tracesift_extract::stack_methods::{By, Granularity};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{self, process};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{CpuFrequencyRow, CpuRow, CpuSampleRow};
use tracesift_trace::{FrameId, ProcessId, RowSink as _, ThreadId};

const MS: i64 = 1_000_000;

/// CPUs 0 and 1 are fast, 2 is efficient, of 3 nothing is known.
fn kinds() -> Vec<CpuRow> {
    let row = |cpu, class, mhz: i64| CpuRow {
        cpu,
        core_type: None,
        efficiency_class: Some(class),
        nominal_khz: Some(mhz * 1000),
        package: None,
        max_khz: None,
    };
    vec![row(0, 1, 4000), row(1, 1, 4000), row(2, 0, 2000)]
}

/// Samples: process, time in ms, CPU, weight in ms.
const SAMPLES: [(i32, i64, i16, i64); 7] = [
    // Before the first change of its CPU, so at no known rate.
    (1, 5, 0, 1),
    (1, 10, 0, 2),
    (1, 19, 0, 1),
    (1, 20, 0, 3),
    (1, 30, 2, 4),
    (1, 31, 3, 5),
    (2, 40, 1, 1),
];

/// CPU 0 runs at 3 GHz from 10 ms on and at 1 GHz from 20 ms on, CPU 2 at 1 GHz from the start.
const RATES: [(i64, i16, i64); 4] = [(0, 2, 1_000), (10, 0, 5_000), (10, 0, 3_000), (20, 0, 1_000)];

/// A sample's only frame: what runs on CPU 0 is another method than what runs elsewhere.
fn leaf(cpu: i16) -> FrameId {
    FrameId(i32::from(cpu > 0))
}

fn archive(directory: &Path, kinds: &[CpuRow], rates: &[(i64, i16, i64)]) -> PathBuf {
    let target = directory.join("cores.sift");
    let mut writer = create(&target);
    writer.write_table(&[process(1, 10, "a"), process(2, 20, "b")]);
    writer.write_table(kinds);
    let frame = |frame: i32| rows::frame(frame, frame.into());
    writer.write_table(&[frame(0), frame(1)]);
    for (process, time, cpu, weight) in SAMPLES {
        writer.cpu_sample(&CpuSampleRow {
            time: time * MS,
            cpu,
            process: ProcessId(process),
            thread: ThreadId(process),
            weight: weight * MS,
            stack: None,
            frame: Some(leaf(cpu)),
            priority: None,
            flags: 0,
        });
    }
    for (time, cpu, mhz) in rates {
        let rate = CpuFrequencyRow { time: time * MS, cpu: *cpu, khz: mhz * 1000, ..CpuFrequencyRow::default() };
        writer.cpu_frequency(&rate);
    }
    let info =
        TraceInfo { name: "cores".to_owned(), kind: "perf".to_owned(), end_ns: 100 * MS, ..TraceInfo::default() };
    finish_as(writer, info)
}

/// CPU in ms on fast and efficient cores, MHz, share of the nominal rate and CPU at nominal rates in ms.
type Figures = [Option<f64>; 5];

/// Those of each process in a time range.
fn figures(kinds: &[CpuRow], rates: &[(i64, i16, i64)], time: &str) -> Vec<Figures> {
    answer(kinds, rates, time, &Question { cores: true, ..Question::default() })
}

/// Those of each row.
fn answer(kinds: &[CpuRow], rates: &[(i64, i16, i64)], time: &str, question: &dyn Ask) -> Vec<Figures> {
    let directory = tempfile::tempdir().expect("temporary directory");
    let source = Source::archive(archive(directory.path(), kinds, rates));
    let when = When { time: time.parse::<TimeSpec>().expect("a time range"), ..When::default() };
    let outcome = ask(&[source], question, &when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    let answer = outcome.answer;
    assert_eq!(
        answer.sections[0].notes.is_empty(),
        kinds.iter().any(|row| row.efficiency_class == Some(1)) || !rates.is_empty()
    );
    let figure = |row: &[Value], key: &str| {
        let place = answer.columns.iter().position(|column| column.key == key).expect("a column");
        match &row[place] {
            Value::Int(ns) => Some(*ns as f64 / MS as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        }
    };
    let keys =
        ["cpu_fast_cores_ns", "cpu_efficient_cores_ns", "frequency_mhz", "frequency_of_nominal", "cpu_normalized_ns"];
    let mut rows: Vec<_> = answer.sections[0].rows.iter().collect();
    rows.sort_by_key(|row| figure(row, "cpu_ns").map(|ms| -ms as i64));
    rows.iter().map(|row| keys.map(|key| figure(row, key))).collect()
}

#[test]
fn figures_are_those_of_the_samples() {
    let found = figures(&kinds(), &RATES, "0s..1s");
    // 3 ms at 3 GHz, 3 ms at 1 GHz on fast cores, 4 ms at 1 GHz on an efficient one; 5 ms on a core of which nothing is known.
    let mhz = (3.0 * 3000.0 + 3.0 * 1000.0 + 4.0 * 1000.0) / 10.0;
    let of_nominal = (3.0 * 0.75 + 3.0 * 0.25 + 4.0 * 0.5) / 10.0;
    let normalized = 16.0 - 10.0 + 10.0 * of_nominal;
    assert_eq!(found[0], [Some(7.0), Some(4.0), Some(mhz), Some(of_nominal), Some(normalized)]);
    // Its CPU's rate is never told.
    assert_eq!(found[1], [Some(1.0), Some(0.0), None, None, None]);
    assert_eq!(found.len(), 2);
}

#[test]
fn methods_have_figures_of_their_own() {
    let question = methods::Question {
        methods: Some(MethodPatterns::parse("*", false)),
        // Code outside any module is one method, so its addresses make the difference.
        granularity: Granularity { by: By::Address, ..Granularity::default() },
        filter: ProcessFilter { process: ProcessPatterns::parse("a"), ..ProcessFilter::default() },
        cores: true,
        ..methods::Question::default()
    };
    let found = answer(&kinds(), &RATES, "0s..1s", &question);
    let on_first = [Some(7.0), Some(0.0), Some(2000.0), Some(0.5), Some(1.0 + 3.0)];
    let elsewhere = [Some(0.0), Some(4.0), Some(1000.0), Some(0.5), Some(5.0 + 2.0)];
    assert_eq!(found, [elsewhere, on_first]);
    assert_eq!(answer(&[], &[], "0s..1s", &question), [[None; 5]; 2]);
}

#[test]
fn a_range_has_the_rate_of_a_change_before_it() {
    let found = figures(&kinds(), &RATES, "15ms..20ms");
    assert_eq!(found, [[Some(1.0), Some(0.0), Some(3000.0), Some(0.75), Some(0.75)]]);
}

#[test]
fn what_is_not_recorded_is_empty() {
    assert_eq!(figures(&[], &[], "0s..1s"), [[None; 5]; 2]);
    let alike: Vec<CpuRow> = kinds().into_iter().map(|row| CpuRow { efficiency_class: Some(0), ..row }).collect();
    assert_eq!(figures(&alike, &[], "0s..1s"), [[None; 5]; 2], "one kind is no split");
    let found = figures(&[], &RATES, "0s..1s");
    assert_eq!(found[0], [None, None, Some(1600.0), None, None]);
}
