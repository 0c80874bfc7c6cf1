//! Figures of fields against a plain reading of the same events.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{EventRow, ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

use super::sums::{Budget, FieldSum, Figure};
use super::{By, Options, Question};
use crate::answer::{Answer, Outcome, Value};
use crate::ask::ask;
use crate::events::{FieldPath, Names};
use crate::options::{Plan, Registered};
use crate::recording::Source;

const MS: i64 = 1_000_000;

fn event(at: i64, name: &str, process: Option<i32>, fields: &Json) -> EventRow {
    EventRow {
        time: at * MS,
        process: process.map(ProcessId),
        thread: process.map(ThreadId),
        provider: "Maker".to_owned(),
        event: name.to_owned(),
        id: Some(7),
        fields: fields.to_string(),
        schema: Some("manifest".to_owned()),
        ..EventRow::default()
    }
}

fn archive(directory: &Path, events: &[EventRow]) -> Source {
    let mut writer = create(&directory.join("events.sift"));
    writer.write_table::<ProcessRow>(&[process(0, 100, "a.exe"), process(1, 200, "b.exe")]);
    writer.write_table::<ThreadRow>(&[thread(0, 0, 110), thread(1, 1, 210)]);
    writer.write_table(events);
    let info = TraceInfo {
        name: "events".to_owned(),
        kind: "etl".to_owned(),
        events: "all".to_owned(),
        end_ns: 1000 * MS,
        ..TraceInfo::default()
    };
    Source::archive(finish_as(writer, info))
}

/// The answer to a command line.
fn asked(source: &Source, arguments: &[&str]) -> Answer {
    let (when, plan) = Registered::of::<Options>("dump events").plan(arguments).expect("a question");
    let Plan::Archives(asking) = plan else { panic!("archives answer") };
    let Outcome { answer, failures } = ask(std::slice::from_ref(source), &*asking.question, &when);
    assert!(failures.is_empty(), "{failures:?}");
    answer
}

/// The values of some columns in each row.
fn values<const N: usize>(answer: &Answer, keys: [&str; N]) -> Vec<[Value; N]> {
    let at =
        keys.map(|key| answer.columns.iter().position(|column| column.key == key).unwrap_or_else(|| panic!("{key}")));
    answer.rows().map(|row| at.map(|at| row[at].clone())).collect()
}

fn text(text: &str) -> Value {
    text.into()
}

fn some_events() -> Vec<EventRow> {
    vec![
        event(1, "Read", Some(0), &json!({"Size": 10, "Name": "x.log", "Flags": "0x10"})),
        event(2, "Read", Some(0), &json!({"Size": 30, "Name": "y.txt", "Flags": "0x1"})),
        event(3, "Write", Some(1), &json!({"Size": 5000, "Name": "x.log", "count": 3})),
        event(4, "Write", None, &json!({"Size": -7, "Ratio": 0.5, "Ok": true})),
        event(
            5,
            "Types",
            Some(1),
            &json!({"Values": [{"Name": "A", "Size": 1}, {"Name": "B", "Size": 18_446_744_073_709_551_615_u64}]}),
        ),
        event(6, "Types", Some(0), &json!({"Values": []})),
    ]
}

#[test]
fn events_are_counted_by_facts_and_fields() {
    let directory = TempDir::new().expect("a directory");
    let source = archive(directory.path(), &some_events());
    let usual = values(&asked(&source, &[]), ["provider", "event", "id", "count", "first_ns", "last_ns"]);
    let row = |name: &str, first: i64, last: i64| {
        [text("Maker"), text(name), 7.into(), 2.into(), (first * MS).into(), (last * MS).into()]
    };
    assert_eq!(usual, [row("Read", 1, 2), row("Types", 5, 6), row("Write", 3, 4)]);
    let by_process = values(&asked(&source, &["--by=process,thread"]), ["process", "pid", "tid", "count"]);
    assert_eq!(
        by_process,
        [
            [Value::None, Value::None, Value::None, 1.into()],
            [text("b.exe"), 200.into(), 210.into(), 2.into()],
            [text("a.exe"), 100.into(), 110.into(), 3.into()],
        ]
    );
    // A field of the name of a column gets another one.
    let by_field = values(&asked(&source, &["--by=Name;count", "--sort=name"]), ["Name", "field_count", "count"]);
    assert_eq!(
        by_field,
        [
            [Value::None, Value::None, 3.into()],
            [text("x.log"), Value::None, 1.into()],
            [text("x.log"), text("3"), 1.into()],
            [text("y.txt"), Value::None, 1.into()],
        ]
    );
    let elements =
        values(&asked(&source, &["--by=Values[0].Name,Values.Name", "--name=Types"]), ["Values.Name", "count"]);
    assert_eq!(elements, [[Value::None, 1.into()], [text("[A, B]"), 1.into()]]);
}

#[test]
fn fields_are_summed() {
    let directory = TempDir::new().expect("a directory");
    let source = archive(directory.path(), &some_events());
    let keys = ["event", "count", "with_field", "numbers", "sum", "min", "max", "mean", "p50", "distinct"];
    let sums = values(&asked(&source, &["--sum=Size", "--by=event"]), keys);
    let row = |name: &str, sum: i64, [min, max]: [i64; 2], mean: f64| -> [Value; 10] {
        let figures = [sum.into(), min.into(), max.into(), mean.into(), mean.into(), Value::None];
        let front = [text(name), 2.into(), 2.into(), 2.into()];
        let mut all = front.into_iter().chain(figures);
        std::array::from_fn(|_| all.next().expect("ten values"))
    };
    assert_eq!(sums, [row("Read", 40, [10, 30], 20.0), row("Write", 4993, [-7, 5000], 2496.5)]);
    // Whole numbers stay exact up to what an answer has room for; elements are values each.
    let large = values(
        &asked(&source, &["--sum=Values.Size,Values[0].Size", "--by=event"]),
        ["field", "numbers", "sum", "min"],
    );
    assert_eq!(
        large,
        [
            [text("Values[0].Size"), 1.into(), 1.into(), 1.into()],
            [text("Values.Size"), 2.into(), Value::Float(18_446_744_073_709_551_616.0), 1.into()],
        ]
    );
    let texts = values(
        &asked(&source, &["--sum=Name;Flags;Ok;Ratio", "--by=field:none", "--sort=name"]),
        ["field", "numbers", "sum", "distinct", "texts"],
    );
    let map = |pairs: &[(&str, i64)]| {
        Value::Map(pairs.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect())
    };
    assert_eq!(
        texts,
        [
            [text("Name"), 0.into(), Value::None, 2.into(), map(&[("x.log", 2), ("y.txt", 1)])],
            [text("Flags"), 2.into(), 17.into(), Value::None, Value::None],
            [text("Ok"), 0.into(), Value::None, 1.into(), map(&[("true", 1)])],
            [text("Ratio"), 1.into(), 0.5.into(), Value::None, Value::None],
        ]
    );
}

#[test]
fn events_are_chosen_by_kind_field_time_and_process() {
    let directory = TempDir::new().expect("a directory");
    let source = archive(directory.path(), &some_events());
    let count = |arguments: &[&str]| {
        let rows = values(&asked(&source, &[&["--by=provider"][..], arguments].concat()), ["count"]);
        rows.first().map_or(0, |[count]| if let Value::Int(count) = count { *count } else { -1 })
    };
    for (arguments, expected) in [
        (&["--where=Size > 10 and Name ~ *.log"][..], 1),
        (&["--where=Size > 10 or Flags = 16"], 3),
        (&["--where=Size >= 10", "--where=not Name = x.log"], 1),
        (&["--where=Values[1].Name = B"], 1),
        (&["--name=R*;Types"], 4),
        (&["--id=7"], 6),
        (&["--id=8"], 0),
        (&["--tid=110"], 3),
        (&["--process=b"], 2),
        (&["--time=2ms..4ms"], 2),
        (&["--provider=!Maker"], 0),
    ] {
        assert_eq!(count(arguments), expected, "{arguments:?}");
    }
}

#[test]
fn a_pivot_has_a_cell_for_each_value() {
    let directory = TempDir::new().expect("a directory");
    let source = archive(directory.path(), &some_events());
    let cells = |pairs: &[(&str, Value)]| {
        Value::Map(pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    };
    let counts = asked(&source, &["--by=process", "--pivot=event"]);
    assert_eq!(
        values(&counts, ["pid", "count", "cells"]),
        [
            [Value::None, 1.into(), cells(&[("Write", 1.into())])],
            [200.into(), 2.into(), cells(&[("Types", 1.into()), ("Write", 1.into())])],
            [100.into(), 3.into(), cells(&[("Read", 2.into()), ("Types", 1.into())])],
        ]
    );
    let largest = asked(&source, &["--by=event", "--pivot=process", "--sum=Size", "--figure=max", "--sort=name"]);
    assert_eq!(
        values(&largest, ["event", "cells"]),
        [
            [text("Read"), cells(&[("a.exe(100)", 30.into())])],
            [text("Write"), cells(&[("", (-7).into()), ("b.exe(200)", 5000.into())])],
        ]
    );
    // What is in the cells is no part of the front, and numbers stand by their size.
    let by_size = asked(&source, &["--by=event,Size", "--pivot=Size", "--name=Read;Write"]);
    let [[read, _], [write, sizes]] = &values(&by_size, ["event", "cells"])[..] else { panic!("two rows") };
    assert_eq!((read, write), (&text("Read"), &text("Write")));
    assert_eq!(*sizes, cells(&[("-7", 1.into()), ("5000", 1.into())]));
}

#[test]
fn a_series_is_the_same_as_its_windows_one_by_one() {
    let directory = TempDir::new().expect("a directory");
    let source = archive(directory.path(), &some_events());
    let series = asked(&source, &["--sum=Size", "--by=event", "--bucket=2ms", "--time=1ms..5ms"]);
    let keys = ["event", "sum", "p99"];
    let mut one_by_one = Vec::new();
    for part in ["1ms..2ms", "2ms..4ms", "4ms..5ms"] {
        one_by_one.extend(values(&asked(&source, &["--sum=Size", "--by=event", "--time", part]), keys));
    }
    assert_eq!(values(&series, keys), one_by_one);
    assert_eq!(one_by_one.len(), 4);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let question = Registered::of::<Options>("dump events");
    for wrong in [
        &["--sort=max"][..],
        &["--figure=sum", "--pivot=event"],
        &["--figure=count"],
        &["--pivot=event", "--sum=Size", "--sort=sum"],
        &["--where=Size >"],
        &["--where=Size > big"],
        &["--by=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q"],
        &["--by=field:"],
    ] {
        assert!(question.plan(wrong).is_err(), "{wrong:?}");
    }
    let error = question.plan(&["--where=Size > 1 Name = 2"]).err().expect("no condition");
    assert!(error.message.contains("\n  Size > 1 Name = 2\n           ^"), "{}", error.message);
}

#[test]
fn what_is_too_much_to_keep_is_not_known() {
    use tracesift_etl::schema::Value as Field;
    let (mut names, mut budget) = (Names::default(), Budget::of(3, 2));
    let mut sum = FieldSum::default();
    let mut other = FieldSum::default();
    for number in 1..=3 {
        sum.add(&Field::Unsigned(number), &mut names, &mut budget);
        sum.add(&Field::Text(["a", "b", "a"][number as usize - 1].into()), &mut names, &mut budget);
    }
    assert!(!sum.lacks_something());
    sum.add(&Field::Unsigned(4), &mut names, &mut budget);
    sum.add(&Field::Text("c".into()), &mut names, &mut budget);
    other.add(&Field::Unsigned(9), &mut names, &mut budget);
    other.add(&Field::Text("z".into()), &mut names, &mut budget);
    sum.finish();
    other.finish();
    assert!(sum.lacks_something() && !other.lacks_something());
    assert_eq!((sum.figure(Figure::P50), sum.figure(Figure::Distinct)), (Value::None, Value::None));
    assert_eq!((sum.figure(Figure::Sum), sum.figure(Figure::Max)), (Value::Int(10), Value::Int(4)));
    assert_eq!((other.figure(Figure::P50), other.figure(Figure::Distinct)), (Value::Float(9.0), Value::Int(1)));
}

/// Values of a field.
fn field_values() -> impl Strategy<Value = Json> {
    let scalars = prop_oneof![
        (-50_i64..50).prop_map(|number| json!(number)),
        any::<u64>().prop_map(|number| json!(number)),
        (0_u64..400).prop_map(|number| json!(format!("{number:#x}"))),
        (-8_i32..8).prop_map(|eighths| json!(f64::from(eighths) / 8.0)),
        any::<bool>().prop_map(|value| json!(value)),
        Just(Json::Null),
        prop_oneof![Just("x"), Just("0X10"), Just("")].prop_map(|word| json!(word)),
    ];
    prop_oneof![4 => scalars.clone(), 1 => prop::collection::vec(scalars, 0..3).prop_map(Json::Array)]
}

/// The values of a field as a plain reading has them.
fn flat(value: &Json) -> Vec<&Json> {
    match value {
        Json::Array(values) => values.iter().flat_map(flat).collect(),
        value => vec![value],
    }
}

fn plain_number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => {
            let number = u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()?;
            Some(number as f64)
        }
        _ => None,
    }
}

fn close(value: &Value, expected: f64) -> bool {
    let found = match value {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        _ => return false,
    };
    (found - expected).abs() <= 1e-9 * expected.abs().max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn figures_are_those_of_a_plain_reading(
        rows in prop::collection::vec((0..3_usize, prop::option::of(0..2_i32), prop::option::of(field_values())), 1..40),
    ) {
        let directory = TempDir::new().expect("a directory");
        let names = ["One", "Two/Start", "Three"];
        let events: Vec<EventRow> = rows.iter().enumerate().map(|(at, (name, process, value))| {
            let fields = value.as_ref().map_or_else(|| json!({}), |value| json!({"F": value}));
            event(at as i64, names[*name], *process, &fields)
        }).collect();
        let source = archive(directory.path(), &events);
        let mut expected: BTreeMap<(usize, Option<i32>), Vec<&Json>> = BTreeMap::new();
        for (name, process, value) in &rows {
            if let Some(value) = value && !flat(value).is_empty() {
                expected.entry((*name, *process)).or_default().extend(flat(value));
            }
        }
        let answer = asked(&source, &["--sum=F", "--by=event,process"]);
        let found = values(&answer, ["event", "pid", "numbers", "sum", "min", "max", "p50", "p95", "distinct"]);
        prop_assert_eq!(found.len(), expected.len());
        let mut sums: Vec<f64> = Vec::new();
        for [name, pid, numbers, sum, min, max, p50, p95, distinct] in &found {
            let key = expected.keys().copied().find(|(known, process)| {
                let of_process = process.map(|process| (i64::from(process) + 1) * 100);
                *name == text(names[*known]) && *pid == Value::from(of_process)
            }).expect("a group");
            let all = &expected[&key];
            let mut plain: Vec<f64> = all.iter().filter_map(|value| plain_number(value)).collect();
            plain.sort_by(f64::total_cmp);
            prop_assert_eq!(numbers, &Value::from(plain.len()));
            let words: BTreeSet<String> = all.iter().filter(|value| plain_number(value).is_none() && !value.is_null())
                .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
            let words = if words.is_empty() { Value::None } else { words.len().into() };
            prop_assert_eq!(distinct, &words);
            if plain.is_empty() {
                prop_assert_eq!((sum, min, p50), (&Value::None, &Value::None, &Value::None));
                sums.push(f64::NEG_INFINITY);
                continue;
            }
            let total: f64 = plain.iter().sum();
            prop_assert!(close(sum, total), "{:?} {}", sum, total);
            prop_assert!(close(min, plain[0]) && close(max, plain[plain.len() - 1]));
            for (value, p) in [(p50, 0.5), (p95, 0.95)] {
                let rank = (plain.len() - 1) as f64 * p;
                let (low, high) = (plain[rank.floor() as usize], plain[rank.ceil() as usize]);
                prop_assert!(close(value, low + (high - low) * rank.fract()));
            }
            sums.push(total);
        }
        // The largest stands last.
        prop_assert!(sums.windows(2).all(|pair| pair[0] <= pair[1] || pair[0] - pair[1] <= 1e-6 * pair[1].abs()), "{:?}", sums);
        let plain_cells = values(&asked(&source, &["--by=process", "--pivot=class"]), ["count", "cells"]);
        let cells: i64 = plain_cells.iter().map(|[_, cells]| {
            let Value::Map(cells) = cells else { return -1 };
            cells.iter().map(|(_, count)| if let Value::Int(count) = count { *count } else { -1 }).sum::<i64>()
        }).sum();
        prop_assert_eq!(cells, rows.len() as i64);
    }
}

#[test]
fn names_of_by_are_facts_first() {
    assert_eq!(By::parse("PROCESS").ok(), By::parse("process").ok());
    assert!(matches!(By::parse("field:process"), Ok(By::Field(path, "field_process")) if path.text() == "process"));
    assert!(matches!(By::parse(" Size "), Ok(By::Field(path, "Size")) if path == FieldPath::new("Size")));
    assert!(Question::default().by.is_empty());
}

/// Events of a few kinds, processes and activities, some without.
fn varied_events() -> impl Strategy<Value = Vec<EventRow>> {
    let kind = (0..3_usize, 0..4_usize, prop::option::of(0..3_i32), 0..2_i16, prop::option::of(0..3_i16));
    let subject = (prop::option::of(0..2_i32), prop::option::of(0..2_usize), -1..2_i16, 0..50_i64);
    let row =
        (kind, subject).prop_map(|((provider, name, id, version, level), (process, activity, cpu, at))| EventRow {
            provider: ["Maker", "Other", ""][provider].to_owned(),
            event: ["Read/Start", "Read/Stop", "Read", ""][name].to_owned(),
            id,
            version,
            opcode: version * 7,
            level,
            cpu,
            activity: activity.map(|number| ["one", "two"][number].to_owned()),
            ..event(at, "", process, &json!({}))
        });
    prop::collection::vec(row, 0..60).prop_map(|mut rows| {
        rows.sort_by_key(|row| row.time);
        rows
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Events that are counted by their columns are those that are counted one by one, where a filter looks at each.
    #[test]
    fn counts_by_columns_are_those_of_single_events(
        events in varied_events(),
        by in prop::sample::subsequence(
            vec!["process", "thread", "provider", "event", "class", "id", "version", "opcode", "level", "cpu", "activity"],
            0..5,
        ),
        pivot in prop::option::of(prop::sample::select(vec!["event", "class", "cpu", "process"])),
    ) {
        let directory = TempDir::new().expect("a directory");
        let source = archive(directory.path(), &events);
        let mut arguments: Vec<String> = Vec::new();
        if !by.is_empty() {
            arguments.push(format!("--by={}", by.join(",")));
        }
        arguments.extend(pivot.filter(|pivot| !by.contains(pivot)).map(|pivot| format!("--pivot={pivot}")));
        let answer = |more: &[&str]| {
            let all: Vec<&str> = arguments.iter().map(String::as_str).chain(more.iter().copied()).collect();
            let answer = asked(&source, &all);
            (answer.columns.iter().map(|column| column.key).collect::<Vec<_>>(), answer.rows().cloned().collect::<Vec<_>>())
        };
        prop_assert_eq!(answer(&[]), answer(&["--id=0..1000"]));
    }
}
