//! `dump interrupts` over runs that are known, from the recording to the answer.

use std::collections::BTreeMap;

use tracesift_ask::answer::Value;
use tracesift_ask::question::interrupts;
use tracesift_ask::recording::Source;
use tracesift_ask::{When, ask};
use tracesift_scenario::PointerSize;
use tracesift_scenario::interrupts::{self as scenario, DRIVERS, Run, opcodes};
use tracesift_testing::recording::Recording;

const COLUMNS: [&str; 11] = [
    "count",
    "time_ns",
    "exclusive_ns",
    "max_ns",
    "over_100us",
    "over_1ms",
    "queued_max_ns",
    "queued_ns",
    "unclaimed",
    "p50_ns",
    "first_ns",
];

type Sums = BTreeMap<Vec<String>, [Option<i64>; COLUMNS.len()]>;

fn expected(runs: &[Run], key: impl Fn(&Run) -> Vec<String>) -> Sums {
    let mut groups: BTreeMap<Vec<String>, Vec<&Run>> = BTreeMap::new();
    runs.iter().for_each(|run| groups.entry(key(run)).or_default().push(run));
    let length = |run: &&&Run| run.end - run.start;
    let sums = |runs: Vec<&Run>| {
        let known = |figures: Vec<i64>| (!figures.is_empty()).then(|| figures.iter().sum());
        let not_threaded = runs.iter().filter(|run| !run.is_in_a_thread());
        let queued: Vec<i64> = runs.iter().filter_map(|run| Some(run.start - run.queued?)).collect();
        let interrupts = runs.iter().filter(|run| run.is_interrupt());
        let over = |limit: i64| runs.iter().filter(|run| length(run) > limit).count() as i64;
        let mut lengths: Vec<i64> = runs.iter().map(|run| length(&run)).collect();
        lengths.sort_unstable();
        [
            Some(runs.len() as i64),
            Some(lengths.iter().sum()),
            known(not_threaded.map(|run| length(&run) - run.inside).collect()),
            lengths.last().copied(),
            Some(over(100_000)),
            Some(over(1_000_000)),
            queued.iter().max().copied(),
            known(queued.clone()),
            known(interrupts.map(|run| i64::from(!run.claimed)).collect()),
            // Between two in the middle.
            Some((lengths[(lengths.len() - 1) / 2] + lengths[lengths.len() / 2]) / 2),
            runs.iter().map(|run| run.start).min(),
        ]
    };
    groups.into_iter().map(|(key, runs)| (key, sums(runs))).collect()
}

fn found(source: &Source, by: &[&str]) -> Sums {
    let question = interrupts::Question::default().by(by).expect("dimensions");
    let outcome = ask(std::slice::from_ref(source), &question, &When::default());
    let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
    let text = |value: &Value| match value {
        Value::Text(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::None => "none".to_owned(),
        other => panic!("{other:?}"),
    };
    let int = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        Value::None => None,
        other => panic!("{other:?}"),
    };
    let keys = by.iter().map(|dimension| if *dimension == "process" { "pid" } else { dimension });
    let keys: Vec<&str> = keys.collect();
    let rows = outcome.answer.rows();
    rows.map(|row| (keys.iter().map(|key| text(&row[at(key)])).collect(), COLUMNS.map(|column| int(&row[at(column)]))))
        .collect()
}

fn kind(run: &Run) -> String {
    match run.opcode {
        opcodes::THREADED_DPC => "threaded dpc",
        opcodes::DPC => "dpc",
        opcodes::TIMER_DPC => "timer dpc",
        _ => "isr",
    }
    .to_owned()
}

#[test]
fn sums_are_those_of_the_runs() {
    let story = scenario::story(5);
    let bytes = scenario::write(&story, PointerSize::Eight, 2).expect("a recording");
    let extracted = Recording::of("interrupts.etl", &bytes).extract();
    let source = Source::archive(extracted.report.archive.clone());
    let runs = &story.runs;
    let driver = |run: &Run| DRIVERS[run.driver].to_owned();
    assert_eq!(found(&source, &["driver"]), expected(runs, |run| vec![driver(run)]));
    assert_eq!(found(&source, &["kind"]), expected(runs, |run| vec![kind(run)]));
    assert_eq!(found(&source, &["cpu"]), expected(runs, |run| vec![run.cpu.to_string()]));
    let by_vector = expected(runs, |run| {
        vec![kind(run), if run.is_interrupt() { run.vector.to_string() } else { "(none)".to_owned() }]
    });
    assert_eq!(found(&source, &["kind", "vector"]), by_vector);
    let power = |run: &Run| {
        let us = (run.end - run.start) / 1_000;
        let above = (0..40).find(|power| us < 1 << power).expect("a power");
        if above == 0 { "below 1 µs".to_owned() } else { format!("{} to {} µs", 1 << (above - 1), 1 << above) }
    };
    assert_eq!(found(&source, &["kind", "length"]), expected(runs, |run| vec![kind(run), power(run)]));
    let by_process = expected(runs, |run| vec![run.by.map_or("none".to_owned(), |(pid, _)| pid.to_string())]);
    assert_eq!(found(&source, &["process"]), by_process);
    assert_eq!(by_process.len(), 5);
}

/// The share of a CPU: never more than all of its time, as what runs inside of others counts once.
#[test]
fn shares_are_of_one_cpu() {
    let story = scenario::story(6);
    let bytes = scenario::write(&story, PointerSize::Four, 1).expect("a recording");
    let extracted = Recording::of("interrupts.etl", &bytes).extract();
    let source = Source::archive(extracted.report.archive.clone());
    let question = interrupts::Question::default().by(&["cpu"]).expect("dimensions");
    let outcome = ask(std::slice::from_ref(&source), &question, &When::default());
    let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
    for row in outcome.answer.rows() {
        let (Value::Float(share), Value::Int(exclusive)) = (&row[at("share")], &row[at("exclusive_ns")]) else {
            panic!("{row:?}")
        };
        let expected = *exclusive as f64 / (scenario::SECONDS * 1_000_000_000) as f64 * 100.0;
        assert!((share - expected).abs() < 1e-9 && *share > 0.0 && *share < 100.0, "{share} {expected}");
    }
}
