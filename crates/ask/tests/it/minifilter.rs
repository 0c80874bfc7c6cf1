//! `dump minifilter` over calls that are known, from the recording to the answer.

use std::collections::BTreeMap;

use tracesift_ask::answer::Value;
use tracesift_ask::question::minifilter;
use tracesift_ask::recording::Source;
use tracesift_ask::{When, ask};
use tracesift_scenario::PointerSize;
use tracesift_scenario::filters::{self, Call, DRIVERS, Operation, Outcome};
use tracesift_testing::recording::Recording;

/// Calls, failed and ended ones, their time, the time of any of them, and the longest one.
type Sums = BTreeMap<Vec<String>, [Option<i64>; 6]>;

const COLUMNS: [&str; 6] = ["calls", "failed", "ended", "total_ns", "union_ns", "longest_ns"];

/// Time that spans cover, from their edges.
fn union(mut spans: Vec<(i64, i64)>) -> i64 {
    spans.sort_unstable();
    let mut reached = i64::MIN;
    let mut sum = 0;
    for (start, end) in spans {
        sum += (end - start.max(reached)).max(0);
        reached = reached.max(end);
    }
    sum
}

fn expected(calls: &[Call], key: impl Fn(&Call) -> Vec<String>) -> Sums {
    let mut groups: BTreeMap<Vec<String>, Vec<&Call>> = BTreeMap::new();
    calls.iter().for_each(|call| groups.entry(key(call)).or_default().push(call));
    let sums = |calls: Vec<&Call>| {
        let count = |outcome: Outcome| calls.iter().filter(|call| call.outcome == outcome).count() as i64;
        let ended = calls.iter().filter(|call| call.outcome != Outcome::Unended);
        let spans: Vec<(i64, i64)> = ended.map(|call| (call.start, call.end)).collect();
        let lengths = || spans.iter().map(|(start, end)| end - start);
        // Of calls without an end nothing is known.
        let known = |figure: i64| Some(figure).filter(|_| !spans.is_empty());
        [
            Some(calls.len() as i64),
            known(count(Outcome::Failed)),
            Some(spans.len() as i64),
            known(lengths().sum()),
            known(union(spans.clone())),
            lengths().max(),
        ]
    };
    groups.into_iter().map(|(key, calls)| (key, sums(calls))).collect()
}

fn found(source: &Source, by: &[&str], keys: &[&str]) -> Sums {
    let question = minifilter::Question::default().by(by).expect("dimensions");
    let outcome = ask(std::slice::from_ref(source), &question, &When::default());
    let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
    let text = |value: &Value| match value {
        Value::Text(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    let int = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        Value::None => None,
        other => panic!("{other:?}"),
    };
    let rows = outcome.answer.rows();
    rows.map(|row| (keys.iter().map(|key| text(&row[at(key)])).collect(), COLUMNS.map(|column| int(&row[at(column)]))))
        .collect()
}

#[test]
fn sums_are_those_of_the_calls() {
    let (_, calls) = filters::calls(5);
    let bytes = filters::write(&calls, PointerSize::Eight, true).expect("a recording");
    let extracted = Recording::of("filters.etl", &bytes).extract();
    let source = Source::archive(extracted.report.archive.clone());
    let driver = |call: &Call| DRIVERS[call.driver].to_owned();

    let by_driver = expected(&calls, |call| vec![driver(call)]);
    assert_eq!(found(&source, &["driver"], &["driver"]), by_driver);
    assert_eq!(by_driver.len(), 3);

    let phase = |call: &Call| if call.is_after { "after" } else { "before" }.to_owned();
    let operation = |call: &Call| match call.major {
        0 => "create".to_owned(),
        3 => "read".to_owned(),
        4 => "write".to_owned(),
        18 => "cleanup".to_owned(),
        _ => "fast I/O check".to_owned(),
    };
    let by_kind = expected(&calls, |call| vec![driver(call), operation(call), phase(call)]);
    let keys = ["driver", "operation", "phase"];
    assert_eq!(found(&source, &keys, &keys), by_kind);
    assert_eq!(by_kind.len(), 30);

    let path = |call: &Call| filters::path(call.file).unwrap_or_else(|| "(no file)".to_owned());
    let by_path = expected(&calls, |call| vec![call.by.0.to_string(), path(call)]);
    assert_eq!(found(&source, &["process", "file"], &["pid", "path"]), by_path);

    let category = |call: &Call| match call.driver {
        0 => ["Microsoft", "antivirus"],
        1 => ["Microsoft", "virtualization"],
        _ => ["(not listed)", "(not listed)"],
    };
    let by_category = expected(&calls, |call| category(call).map(str::to_owned).to_vec());
    let keys = ["vendor", "category"];
    assert_eq!(found(&source, &keys, &keys), by_category);
}

/// The share of a driver: the time of its calls that lie in a completed operation, of the time of these operations.
#[test]
fn shares_are_those_of_the_operations() {
    for (seed, size) in [(5, PointerSize::Eight), (6, PointerSize::Four)] {
        let (operations, calls) = filters::calls(seed);
        let bytes = filters::write_with_operations(&operations, &calls, size, true).expect("a recording");
        let extracted = Recording::of("filters.etl", &bytes).extract();
        let source = Source::archive(extracted.report.archive.clone());
        for by in [&["driver"][..], &["driver", "phase"], &["process"], &[]] {
            shares_of(&source, &operations, &calls, by);
        }
        // Without the operations nothing is known of them.
        let bytes = filters::write(&calls, size, true).expect("a recording");
        let extracted = Recording::of("alone.etl", &bytes).extract();
        let source = Source::archive(extracted.report.archive.clone());
        shares_of(&source, &[], &calls, &["driver"]);
    }
}

fn shares_of(source: &Source, operations: &[Operation], calls: &[Call], by: &[&str]) {
    let names: BTreeMap<u32, &str> = filters::PROCESSES.iter().map(|(pid, name, _)| (*pid, *name)).collect();
    let key = |call: &Call| -> Vec<String> {
        let text = |dimension: &&str| match *dimension {
            "driver" => DRIVERS[call.driver].to_owned(),
            "phase" => if call.is_after { "after" } else { "before" }.to_owned(),
            _ => names[&call.by.0].to_owned(),
        };
        by.iter().map(text).collect()
    };
    let mut expected: BTreeMap<Vec<String>, (i64, BTreeMap<usize, i64>)> = BTreeMap::new();
    for call in calls {
        let (known, of) = expected.entry(key(call)).or_default();
        let is_known = call.request.0 != 0 && filters::has_end(call.operation) && call.outcome != Outcome::Unended;
        if let Some(operation) = operations.get(call.operation).filter(|_| is_known) {
            *known += call.end - call.start;
            of.insert(call.operation, operation.end - operation.start);
        }
    }
    let question = minifilter::Question::default().by(by).expect("dimensions");
    let outcome = ask(std::slice::from_ref(source), &question, &When::default());
    let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
    let mut rows = 0;
    for row in outcome.answer.rows() {
        let text =
            |dimension: &&str| if let Value::Text(text) = &row[at(dimension)] { text.to_string() } else { panic!() };
        let (known, of) = &expected[&by.iter().map(text).collect::<Vec<_>>()];
        let sum: i64 = of.values().sum();
        let found = ["known_ns", "operations_ns", "share"].map(|key| row[at(key)].clone());
        let share = if of.is_empty() {
            [Value::None, Value::None, Value::None]
        } else {
            [(*known).into(), sum.into(), Value::Float(*known as f64 / sum as f64 * 100.0)]
        };
        assert_eq!(found, share, "{by:?}");
        assert_eq!(of.is_empty(), operations.is_empty());
        assert!(*known <= sum);
        rows += 1;
    }
    assert_eq!(rows, expected.len());
}
