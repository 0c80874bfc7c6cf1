//! `dump file` over operations that are known, from the recording to the answer.

use std::collections::{BTreeMap, BTreeSet};

use tracesift_ask::answer::{Section, Value};
use tracesift_ask::order::Top;
use tracesift_ask::question::file;
use tracesift_ask::recording::Source;
use tracesift_ask::table_question::Listing;
use tracesift_ask::{When, ask};
use tracesift_extract::Options;
use tracesift_fixtures::cases;
use tracesift_scenario::PointerSize;
use tracesift_scenario::files::{self, Kind, Operation};
use tracesift_testing::recording::{Recording, extract_file};

type Sums = BTreeMap<(i64, String), [Option<i64>; 8]>;

/// Reads, bytes read, time of reads, writes, bytes written, failed, open, time by process and file, from the operations alone.
fn expected(all: &[Operation]) -> Sums {
    let mut by_file: BTreeMap<(i64, String), Vec<&Operation>> = BTreeMap::new();
    for of in all {
        let path = files::path(of.file).unwrap_or_else(|| "(no file)".to_owned());
        by_file.entry((of.by.0.into(), path)).or_default().push(of);
    }
    by_file.into_iter().map(|(key, operations)| (key, sums(&operations))).collect()
}

/// What has no end has no duration, no bytes, and neither failed nor succeeded.
fn sums(all: &[&Operation]) -> [Option<i64>; 8] {
    let of_kind = |kind: Kind| all.iter().filter(move |of| of.kind == kind);
    let number = |kind: Kind| Some(of_kind(kind).count() as i64);
    let known = |kind: Kind, figure: fn(&Operation) -> Option<i64>| {
        let figures: Vec<i64> = of_kind(kind).filter_map(|of| figure(of)).collect();
        (number(kind) == Some(0) || !figures.is_empty()).then(|| figures.iter().sum())
    };
    let time = |of: &Operation| of.end.map(|(time, ..)| time - of.start);
    let bytes = |of: &Operation| of.end.map(|(_, bytes, _)| bytes as i64);
    let ended: Vec<&&Operation> = all.iter().filter(|of| of.end.is_some()).collect();
    let failed = ended.iter().filter(|of| of.end.is_some_and(|(.., status)| status != 0)).count() as i64;
    let some_ended = |figure: i64| (!ended.is_empty()).then_some(figure);
    [
        number(Kind::Read),
        known(Kind::Read, bytes),
        known(Kind::Read, time),
        number(Kind::Write),
        known(Kind::Write, bytes),
        some_ended(failed),
        Some((all.len() - ended.len()) as i64),
        some_ended(ended.iter().filter_map(|of| time(of)).sum()),
    ]
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::None => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn sums_are_those_of_the_operations() {
    for (seed, source) in [(1, files::Source::Class(3)), (2, files::Source::Provider(1)), (3, files::Source::Class(2))]
    {
        let all = files::operations(seed);
        let bytes = files::write(&all, source, PointerSize::Eight, true).expect("a recording");
        let extracted = Recording::of("files.etl", &bytes).extract();
        let source = Source::archive(extracted.report.archive.clone());
        let outcome = ask(&[source], &file::Question::default(), &When::default());
        let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
        let places =
            ["reads", "read_bytes", "read_ns", "writes", "write_bytes", "failed", "open_ended", "total_ns"].map(at);
        let int = |value: &Value| number(value).expect("a number");
        let found: Sums = outcome
            .answer
            .rows()
            .map(|row| {
                let Value::Text(path) = &row[at("path")] else { panic!("{row:?}") };
                ((int(&row[at("pid")]), path.clone()), places.map(|place| number(&row[place])))
            })
            .collect();
        assert_eq!(found, expected(&all), "seed {seed}");
        assert!(found.len() > 10, "{found:?}");
    }
}

/// Rows by key of the column, and the section.
fn rows(source: &Source, question: &file::Question) -> (Vec<BTreeMap<&'static str, Value>>, Section) {
    let outcome = ask(std::slice::from_ref(source), question, &When::default());
    let keys: Vec<&'static str> = outcome.answer.columns.iter().map(|column| column.key).collect();
    let rows = outcome.answer.rows().map(|row| keys.iter().copied().zip(row.iter().cloned()).collect()).collect();
    (rows, outcome.answer.sections[0].clone())
}

/// What a recording of opens without ends cannot know.
const UNKNOWN: [&str; 7] = ["open_failed", "open_ns", "open_close_ns", "failed", "total_ns", "longest_ns", "union_ns"];

#[test]
fn what_has_no_end_is_unknown_and_not_0() {
    let ended = files::operations(4);
    let all: Vec<Operation> = ended.iter().map(|of| Operation { end: None, ..*of }).collect();
    let bytes = files::write(&all, files::Source::Class(3), PointerSize::Eight, true).expect("a recording");
    let extracted = Recording::of("unended.etl", &bytes).extract();
    let source = Source::archive(extracted.report.archive.clone());
    let by_error = file::Question::default().by(&["error"]).expect("a dimension");
    let (found, section) = rows(&source, &by_error);
    let [row] = &found[..] else { panic!("one row: {found:?}") };
    assert_eq!(row["error"], Value::Text("(unknown)".to_owned()));
    assert_eq!(row["operations"], Value::Int(all.len() as i64));
    for key in UNKNOWN.iter().chain(&["read_bytes", "read_ns", "write_bytes", "write_ns", "total_bytes"]) {
        assert_eq!(row[key], Value::None, "{key}");
    }
    let totals: Vec<&str> = section.facts.iter().map(|fact| fact.label).collect();
    assert_eq!(totals, ["operations", "reads", "writes"]);
    // Nothing is known to have failed.
    let failed = by_error.matching("--errors", "*").expect("an option");
    assert!(rows(&source, &failed).0.is_empty());
    let list = file::Question::default().listed(Listing::Flat);
    let (list, _) = rows(&source, &list);
    assert_eq!(list.len(), all.len());
    for row in &list {
        assert_eq!((&row["duration_ns"], &row["error"]), (&Value::None, &Value::Text("(unknown)".to_owned())));
        let is_address = matches!(&row["handle"], Value::Text(handle) if handle.starts_with("0x8888"));
        assert!(is_address, "{:?}", row["handle"]);
    }
}

#[test]
fn opens_without_ends_stand_in_the_order_of_their_number() {
    let Some(cases) = cases("etl") else { return };
    let out = tempfile::tempdir().expect("temporary directory");
    let options = Options { out: Some(out.path().to_owned()), ..Options::default() };
    let archive = extract_file(&cases.join("net.4.5.2.x64.etl.zip"), &options).archive;
    let source = Source::archive(archive);
    // Each open by itself, counted here.
    let (list, _) = rows(&source, &file::Question::default().listed(Listing::Flat));
    let mut opens: BTreeMap<(String, String), i64> = BTreeMap::new();
    for row in &list {
        let text = |key: &str| format!("{:?}", row[key]);
        *opens.entry((text("pid"), text("path"))).or_default() += 1;
    }
    let mut counts: Vec<i64> = opens.into_values().collect();
    counts.sort_unstable();
    let mut question = file::Question::default();
    question.top = Top { take: Some(3), skip: 0 };
    let (largest, _) = rows(&source, &question);
    let found: Vec<Option<i64>> = largest.iter().map(|row| number(&row["operations"])).collect();
    let expected: Vec<Option<i64>> = counts[counts.len() - 3..].iter().copied().map(Some).collect();
    assert_eq!(found, expected);
    assert_eq!((list.len(), found[2]), (562, Some(56)));
    let unknown: BTreeSet<&str> =
        UNKNOWN.into_iter().filter(|key| largest.iter().all(|row| row[key] == Value::None)).collect();
    assert_eq!(unknown, UNKNOWN.into());
    // Nothing was read.
    assert!(largest.iter().all(|row| row["read_bytes"] == Value::Int(0) && row["read_ns"] == Value::Int(0)));
}
