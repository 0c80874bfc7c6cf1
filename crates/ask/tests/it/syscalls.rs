//! `dump syscalls` over random calls of two processes, against sums over the calls one by one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tracesift_ask::answer::Value;
use tracesift_ask::order::Between;
use tracesift_ask::question::syscalls::Question;
use tracesift_ask::recording::Source;
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::{When, ask};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{self, process};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{SyscallNameRow, SyscallRow, ThreadRow};
use tracesift_trace::{ProcessId, RowSink as _, ThreadId};

const MS: i64 = 1_000_000;
const NAMES: [(i32, &str); 2] = [(257, "openat"), (3, "close")];
const ERRORS: [(i64, &str); 3] = [(2, "ENOENT"), (13, "EACCES"), (4000, "4000")];

/// Threads 0 and 1 belong to process 1, 2 and 3 to process 2.
fn thread(id: i32) -> ThreadRow {
    rows::thread(id, process_of(id).0, i64::from(id) + 1000)
}

fn process_of(thread: i32) -> ProcessId {
    ProcessId(1 + thread / 2)
}

prop_compose! {
    /// A call: its times in ms, 0..=100, who calls what, and how it ends.
    fn call()(
        start in 0..90_i64,
        duration in 0..10_i64,
        thread in 0..4_i32,
        number in prop::sample::select(vec![257, 3, 463]),
        ending in prop::option::of(prop::option::of(prop::sample::select(vec![2_i64, 13, 4000]))),
    ) -> SyscallRow {
        SyscallRow {
            time: (start + duration) * MS,
            start: start * MS,
            cpu: 0,
            process: process_of(thread),
            thread: ThreadId(thread),
            number,
            result: ending.map(|error| error.map_or(7, |error| -error)),
            error: ending.flatten(),
            stack: None,
            frame: None,
        }
    }
}

fn archive(directory: &Path, calls: &[SyscallRow]) -> PathBuf {
    let mut writer = create(&directory.join("calls.sift"));
    writer.write_table(&[process(1, 100, "a"), process(2, 200, "b")]);
    writer.write_table(&[thread(0), thread(1), thread(2), thread(3)]);
    writer.write_table(&NAMES.map(|(number, name)| SyscallNameRow { number, name: name.to_owned() }));
    for call in calls {
        writer.syscall(call);
    }
    let info =
        TraceInfo { name: "calls".to_owned(), kind: "perf".to_owned(), end_ns: 100 * MS, ..TraceInfo::default() };
    finish_as(writer, info)
}

/// The question about some calls, in rows of these dimensions.
fn of_calls(only: Option<&str>, by: &[&str]) -> Question {
    let question = Question::default().by(by).expect("dimensions of calls");
    question.matching("--calls", only.unwrap_or_default()).expect("an option of the question")
}

/// Calls, failed, not returned, sum and longest in ns, errors by name.
type Figures = (i64, i64, i64, i64, i64, BTreeMap<String, i64>);

/// By pid, tid and call.
type Rows = BTreeMap<(i64, Option<i64>, String), Figures>;

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        other => panic!("{other:?} is no text"),
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(figure) => Some(*figure),
        Value::None => None,
        other => panic!("{other:?} is no whole number"),
    }
}

fn answered(archive: &Path, question: &Question, time: &str) -> Rows {
    let when = When { time: time.parse::<TimeSpec>().expect("a time range"), ..When::default() };
    let outcome = ask(&[Source::archive(archive.to_owned())], question, &when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    let answer = outcome.answer;
    let at = |key: &str| answer.columns.iter().position(|column| column.key == key).expect("a column");
    let rows = answer.sections.iter().flat_map(|section| section.rows.iter()).map(|row| {
        let value = |key: &str| &row[at(key)];
        let number = |key: &str| integer(value(key)).expect("a figure");
        let Value::Map(errors) = value("errors") else { panic!("no errors") };
        let errors = errors.iter().map(|(name, count)| (name.clone(), integer(count).expect("a count"))).collect();
        let figures = (
            number("calls"),
            number("failed"),
            number("open"),
            number("duration_sum_ns"),
            number("longest_ns"),
            errors,
        );
        ((number("pid"), integer(value("tid")), text(value("call"))), figures)
    });
    rows.collect()
}

/// The words and ids of each row by key, with calls, not returned, sum and longest.
fn added_up(archive: &Path, question: &Question, time: &str) -> Vec<(BTreeMap<&'static str, String>, [i64; 4])> {
    let when = When { time: time.parse::<TimeSpec>().expect("a time range"), ..When::default() };
    let outcome = ask(&[Source::archive(archive.to_owned())], question, &when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    let answer = outcome.answer;
    let row = |row: &Vec<Value>| {
        let text = |value: &Value| match value {
            Value::Text(text) => Some(text.clone()),
            Value::Int(figure) => Some(figure.to_string()),
            _ => None,
        };
        let cells: BTreeMap<&'static str, String> =
            answer.columns.iter().zip(row).filter_map(|(column, value)| Some((column.key, text(value)?))).collect();
        let figure = |key: &str| cells.get(key).expect("a figure").parse().expect("a number");
        let sums = ["calls", "open", "duration_sum_ns", "longest_ns"].map(figure);
        (cells, sums)
    };
    answer.rows().map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn sums_are_those_of_the_calls(
        mut calls in prop::collection::vec(call(), 1..60),
        (begin, end) in (0..100_i64, 1..101_i64).prop_map(|(a, b)| if a < b { (a, b) } else { (b - 1, a + 1) }),
        per_thread: bool,
        only_call in prop::option::of(prop::sample::select(vec!["open*", "463", "!close"])),
        only_error in prop::option::of(prop::sample::select(vec!["ENO*", "13", "*", "!EACCES"])),
        min in prop::option::of(0..8_i64),
    ) {
        calls.sort_by_key(|call| call.time);
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(directory.path(), &calls);
        let duration = Between { min: min.map(|min| min * MS), max: None };
        let question = of_calls(only_call, if per_thread { &["thread", "call"] } else { &["process", "call"] })
            .matching("--errors", only_error.unwrap_or_default())
            .and_then(|question| question.between("--min-duration", duration))
            .expect("options of the question");
        let mut expected = Rows::new();
        for call in &calls {
            let name = NAMES.iter().find(|(number, _)| *number == call.number).map_or("463", |(_, name)| name);
            let error = call.error.map(|error| ERRORS.iter().find(|(number, _)| *number == error).expect("known").1);
            let is_asked = match only_call {
                Some("open*") => name == "openat",
                Some("463") => name == "463",
                Some("!close") => name != "close",
                _ => true,
            } && match only_error {
                Some("ENO*") => error == Some("ENOENT"),
                Some("13") => error == Some("EACCES"),
                Some("*") => error.is_some(),
                Some("!EACCES") => error.is_some() && error != Some("EACCES"),
                _ => true,
            } && min.is_none_or(|min| call.time - call.start >= min * MS)
                && (call.time > begin * MS || call.start >= begin * MS) && call.start < end * MS;
            if !is_asked {
                continue;
            }
            let duration = (call.time.min(end * MS) - call.start.max(begin * MS)).max(0);
            let tid = per_thread.then(|| i64::from(call.thread.0) + 1000);
            let figures = expected.entry((i64::from(call.process.0) * 100, tid, name.to_owned())).or_default();
            figures.0 += 1;
            figures.1 += i64::from(error.is_some());
            figures.2 += i64::from(call.result.is_none());
            figures.3 += duration;
            figures.4 = figures.4.max(duration);
            if let Some(error) = error {
                *figures.5.entry(error.to_owned()).or_default() += 1;
            }
        }
        prop_assert_eq!(answered(&archive, &question, &format!("{begin}ms..{end}ms")), expected);
    }

    #[test]
    fn rows_of_fewer_kinds_add_up_to_those_of_processes_and_calls(
        mut calls in prop::collection::vec(call(), 1..60),
        (begin, end) in (0..50_i64, 51..101_i64),
        only_call in prop::option::of(prop::sample::select(vec!["open*", "463"])),
    ) {
        calls.sort_by_key(|call| call.time);
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(directory.path(), &calls);
        let of = |by| added_up(&archive, &of_calls(only_call, &[by]), &format!("{begin}ms..{end}ms"));
        for (by, keys) in [
            ("call", &["call", "number"][..]),
            ("process", &["process", "pid"]),
            ("thread", &["process", "pid", "tid"]),
            ("error", &["error"]),
        ] {
            // By hand: the calls one by one, in groups.
            let mut expected: BTreeMap<Vec<String>, [i64; 4]> = BTreeMap::new();
            for call in &calls {
                let name = NAMES.iter().find(|(number, _)| *number == call.number).map_or("463", |(_, name)| name);
                let is_asked = match only_call {
                    Some("open*") => name == "openat",
                    Some("463") => name == "463",
                    _ => true,
                };
                if !is_asked || call.time <= begin * MS && call.start < begin * MS || call.start >= end * MS {
                    continue;
                }
                let process = if call.process == ProcessId(1) { "a" } else { "b" };
                let error = call.error.map(|error| ERRORS.iter().find(|(number, _)| *number == error).expect("known").1);
                let key = keys.iter().map(|key| match *key {
                    "call" => name.to_owned(),
                    "number" => call.number.to_string(),
                    "process" => process.to_owned(),
                    "pid" => (call.process.0 * 100).to_string(),
                    "tid" => (call.thread.0 + 1000).to_string(),
                    _ => error.unwrap_or("(none)").to_owned(),
                });
                let duration = (call.time.min(end * MS) - call.start.max(begin * MS)).max(0);
                let sums = expected.entry(key.collect()).or_default();
                sums[0] += 1;
                sums[1] += i64::from(call.result.is_none());
                sums[2] += duration;
                sums[3] = sums[3].max(duration);
            }
            let found = of(by).into_iter().map(|(row, sums)| {
                let key = keys.iter().map(|key| row.get(*key).cloned().expect("a column")).collect::<Vec<_>>();
                (key, sums)
            });
            prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
        }
    }
}
