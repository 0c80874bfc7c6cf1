//! `dump registry` over operations that are known, from the recording to the answer.

use std::collections::BTreeMap;

use tracesift_ask::answer::Value;
use tracesift_ask::question::registry::Question;
use tracesift_ask::recording::Source;
use tracesift_ask::table_question::Listing;
use tracesift_ask::{When, ask};
use tracesift_scenario::PointerSize;
use tracesift_scenario::registry::{self as scenario, Operation, PROCESSES};
use tracesift_testing::recording::{Extracted, Recording};

const COLUMNS: [&str; 5] = ["calls", "failed", "sum_ns", "longest_ns", "first_ns"];

type Sums = BTreeMap<Vec<String>, [i64; COLUMNS.len()]>;

fn extracted(operations: &scenario::Story) -> Extracted {
    let bytes = scenario::write(operations, PointerSize::Eight).expect("a recording");
    Recording::of("registry.etl", &bytes).extract()
}

fn expected(operations: &[Operation], key: impl Fn(&Operation) -> Vec<String>) -> Sums {
    let mut groups: BTreeMap<Vec<String>, Vec<&Operation>> = BTreeMap::new();
    operations.iter().for_each(|operation| groups.entry(key(operation)).or_default().push(operation));
    let sums = |operations: Vec<&Operation>| {
        let lengths = operations.iter().filter(|one| !one.begin_unknown).map(|one| one.end - one.start);
        [
            operations.len() as i64,
            operations.iter().filter(|one| one.status >= 0x8000_0000).count() as i64,
            lengths.clone().reduce(|sum, length| sum + length).unwrap_or(-1),
            lengths.max().unwrap_or(-1),
            operations.iter().map(|one| one.start).min().expect("an operation"),
        ]
    };
    groups.into_iter().map(|(key, operations)| (key, sums(operations))).collect()
}

/// Rows of the answer as texts of these columns.
fn texts(extracted: &Extracted, question: &Question, columns: &[&str]) -> Vec<Vec<String>> {
    let source = Source::archive(extracted.report.archive.clone());
    let outcome = ask(&[source], question, &When::default());
    let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
    let text = |value: &Value| match value {
        Value::Text(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::None => "-1".to_owned(),
        other => panic!("{other:?}"),
    };
    outcome.answer.rows().map(|row| columns.iter().map(|column| text(&row[at(column)])).collect()).collect()
}

fn found(extracted: &Extracted, by: &[&str], level: Option<usize>) -> Sums {
    let mut question = Question::default().by(by).expect("dimensions");
    question.dir_level = level;
    let keys = by.iter().map(|dimension| if *dimension == "process" { "pid" } else { dimension });
    let columns: Vec<&str> = keys.chain(COLUMNS).collect();
    let sums = |row: Vec<String>| {
        let figures: Vec<i64> = row[by.len()..].iter().map(|text| text.parse().expect("a number")).collect();
        (row[..by.len()].to_vec(), figures.try_into().expect("all figures"))
    };
    texts(extracted, &question, &columns).into_iter().map(sums).collect()
}

/// The first parts of a key: `\REGISTRY` and so many more.
fn branch(key: &str, level: usize) -> String {
    let root = usize::from(key.starts_with('\\'));
    key.split('\\').take(level + root + 1).collect::<Vec<_>>().join("\\")
}

#[test]
fn sums_are_those_of_the_operations() {
    for version in 0..=2 {
        let story = scenario::story(7, version);
        let extracted = extracted(&story);
        let operations = &story.operations;
        let key = |one: &Operation| one.key(version, PointerSize::Eight);
        let by_key = found(&extracted, &["key"], None);
        assert_eq!(by_key, expected(operations, |one| vec![key(one)]), "{version}");
        let by_process = found(&extracted, &["process", "value"], None);
        let value = |one: &Operation| match one.value().as_deref() {
            None => "-1".to_owned(),
            Some("") => "(default)".to_owned(),
            Some(value) => value.to_owned(),
        };
        assert_eq!(by_process, expected(operations, |one| vec![one.by.0.to_string(), value(one)]), "{version}");
        for level in [None, Some(0), Some(1), Some(3)] {
            let by_branch = found(&extracted, &["branch"], level);
            let level = level.unwrap_or(2);
            assert_eq!(by_branch, expected(operations, |one| vec![branch(&key(one), level)]), "{version} {level}");
        }
    }
}

#[test]
fn operations_are_found_by_key_operation_and_status() {
    let story = scenario::story(8, 2);
    let extracted = extracted(&story);
    let key = |one: &Operation| one.key(2, PointerSize::Eight);
    let question = Question::default().matching("--key", r"*\Run").expect("an option");
    let question = question.matching("--operation", "*value;!enumerate*").expect("an option");
    let question = question.matching("--status", "0xC0000034").expect("an option");
    let question = question.listed(Listing::Flat).sorted_by_word("start").expect("a word");
    let (pid, name, _) = PROCESSES[0];
    let rows = texts(&extracted, &question, &["process", "pid", "key", "value", "operation", "status"]);
    let named = |opcode: u8| match opcode {
        14 => Some("set value"),
        15 => Some("delete value"),
        16 => Some("query value"),
        _ => None,
    };
    let mut own: Vec<Vec<String>> = rows.into_iter().filter(|row| row[1] == pid.to_string()).collect();
    let line = |one: &Operation| {
        let value = one.value().filter(|value| !value.is_empty()).unwrap_or_else(|| "(default)".to_owned());
        let status = "STATUS_OBJECT_NAME_NOT_FOUND".to_owned();
        let operation = named(one.opcode)?.to_owned();
        let is_wanted = key(one).ends_with(r"\Run") && one.status == 0xC000_0034 && one.by.0 == pid;
        is_wanted.then(|| vec![name.to_owned(), pid.to_string(), key(one), value, operation, status])
    };
    let mut expected: Vec<Vec<String>> = story.operations.iter().filter_map(line).collect();
    assert!(!expected.is_empty());
    own.sort();
    expected.sort();
    assert_eq!(own, expected);
}
