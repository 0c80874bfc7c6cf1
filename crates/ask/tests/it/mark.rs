//! `dump mark`: marks by hand, pairs against a plain search, and the marks of a real recording.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tracesift_ask::answer::{Outcome, Value};
use tracesift_ask::events::EventFilter;
use tracesift_ask::order::Between;
use tracesift_ask::question::mark::{Question, Sort};
use tracesift_ask::recording::Source;
use tracesift_ask::zero_time::ZeroTime;
use tracesift_ask::{When, ask};
use tracesift_extract::{EventSelection, Options};
use tracesift_fixtures::cases;
use tracesift_grammar::Patterns;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::try_extract;
use tracesift_testing::rows::process;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::MarkRow;
use tracesift_trace::{ProcessId, RowSink as _};

use crate::recorded;

const SECOND: i64 = 1_000_000_000;

fn archive(directory: &Path, marks: &[(i64, Option<i32>, &str)]) -> PathBuf {
    let mut writer = create(&directory.join("marks.sift"));
    writer.write_table(&[process(1, 100, "a.exe"), process(2, 200, "b.exe")]);
    for (time, process, text) in marks {
        let process = process.map(ProcessId);
        writer.mark(&MarkRow { time: *time, process, text: (*text).to_owned(), ..MarkRow::default() });
    }
    let info =
        TraceInfo { name: "marks".to_owned(), kind: "etl".to_owned(), end_ns: 100 * SECOND, ..TraceInfo::default() };
    finish_as(writer, info)
}

fn asked(archive: &Path, question: &Question, when: &When) -> Outcome {
    let outcome = ask(&[Source::archive(archive.to_owned())], question, when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome
}

/// The values of some columns in each row.
fn values<const N: usize>(outcome: &Outcome, keys: [&str; N]) -> Vec<[Value; N]> {
    let at = keys.map(|key| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column"));
    outcome.answer.rows().map(|row| at.map(|at| row[at].clone())).collect()
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn times_count_from_the_mark_before_and_from_the_zero_point() {
    let directory = tempfile::tempdir().expect("a directory");
    let marks = [
        (2 * SECOND, Some(1), "Begin"),
        (5 * SECOND, Some(2), "loaded"),
        (6 * SECOND, None, "by nobody"),
        (9 * SECOND, Some(1), "end"),
    ];
    let archive = archive(directory.path(), &marks);
    let keys = ["time_ns", "since_previous_ns", "since_zero_ns", "text", "pid"];
    let s = |seconds: i64| Value::Int(seconds * SECOND);
    let all = asked(&archive, &Question::default(), &When::default());
    assert_eq!(
        values(&all, keys),
        [
            [s(2), Value::None, s(2), text("Begin"), Value::Int(100)],
            [s(5), s(3), s(5), text("loaded"), Value::Int(200)],
            [s(6), s(1), s(6), text("by nobody"), Value::None],
            [s(9), s(3), s(9), text("end"), Value::Int(100)],
        ]
    );
    // From a landmark, of one process, between limits; the mark before is that of the same process.
    let zero = ZeroTime { landmarks: vec!["mark:beg*".parse().expect("a landmark")], ..ZeroTime::default() };
    let when = When { zero, ..When::default() };
    let mut question = Question { diff: Between { min: Some(SECOND), max: Some(8 * SECOND) }, ..Question::default() };
    question.filter.process = "a".into();
    let limited = asked(&archive, &question, &when);
    assert_eq!(values(&limited, keys), [[s(7), s(7), s(7), text("end"), Value::Int(100)]]);
    let question = Question { marker: Patterns::parse("*d*"), ..Question::default() };
    let when = When { time: "5.5..".parse().expect("a range"), ..When::default() };
    assert_eq!(
        values(&asked(&archive, &question, &when), keys),
        [[s(6), s(1), s(6), text("by nobody"), Value::None], [s(9), s(3), s(9), text("end"), Value::Int(100)],]
    );
    let sorted = asked(&archive, &Question { sort: Sort::Diff, ..Question::default() }, &When::default());
    let texts: Vec<[Value; 1]> = values(&sorted, ["text"]);
    assert_eq!(texts, ["Begin", "by nobody", "loaded", "end"].map(|mark| [text(mark)]));
}

#[test]
fn spans_are_nested_and_may_lack_an_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let marks = [
        (1, Some(1), "Start load"),
        (2, Some(1), "start LOAD"),
        (3, Some(1), "start idle"),
        (4, Some(2), "stop load"),
        (5, Some(2), "other"),
        (6, Some(2), "stop load"),
        (7, Some(2), "stop load"),
    ]
    .map(|(time, process, text)| (time * SECOND, process, text));
    let archive = archive(directory.path(), &marks);
    let question =
        |sort| Question { pairs: Some("start*;stop*".parse().expect("a pair")), sort, ..Question::default() };
    let keys = ["start_ns", "end_ns", "duration_ns", "text", "pid"];
    let s = |seconds: i64| Value::Int(seconds * SECOND);
    let by_time = [
        [s(1), s(6), s(5), text("Start load"), Value::Int(100)],
        [s(2), s(4), s(2), text("start LOAD"), Value::Int(100)],
        [s(3), Value::None, Value::None, text("start idle"), Value::Int(100)],
        [Value::None, s(7), Value::None, text("stop load"), Value::Int(200)],
    ];
    assert_eq!(values(&asked(&archive, &question(Sort::Time), &When::default()), keys), by_time);
    let order = [2, 3, 1, 0].map(|place: usize| by_time[place].clone());
    assert_eq!(values(&asked(&archive, &question(Sort::Diff), &When::default()), keys), order);
    let when = When { time: "4.5..5".parse().expect("a range"), ..When::default() };
    let in_range = [0, 2, 3].map(|place: usize| by_time[place].clone());
    assert_eq!(values(&asked(&archive, &question(Sort::Time), &when), keys), in_range, "spans that touch the range");
    for wrong in ["", "start*", "start*;", ";stop", "a*;A*", "a*b*;c", "a;b;c", "?;b"] {
        assert!(wrong.parse::<tracesift_ask::question::mark::PairPatterns>().is_err(), "{wrong}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn spans_are_those_that_a_plain_search_finds(steps in prop::collection::vec((any::<bool>(), 0..3_usize), 0..25)) {
        const RESTS: [&str; 3] = ["", " a", " b"];
        let directory = tempfile::tempdir().expect("a directory");
        let texts: Vec<String> =
            steps.iter().map(|(starts, rest)| format!("{}{}", if *starts { "go" } else { "end" }, RESTS[*rest])).collect();
        let marks: Vec<(i64, Option<i32>, &str)> =
            texts.iter().enumerate().map(|(time, text)| (time as i64 + 1, None, text.as_str())).collect();
        if marks.is_empty() {
            return Ok(());
        }
        let archive = archive(directory.path(), &marks);
        let question = Question { pairs: Some("go*;end*".parse().expect("a pair")), ..Question::default() };
        let found = values(&asked(&archive, &question, &When::default()), ["start_ns", "end_ns"]);
        // The start of a stop is the one behind which starts and stops of its rest are balanced.
        let start_of = |stop: usize| {
            let mut open = 0;
            (0..stop).rev().filter(|at| steps[*at].1 == steps[stop].1).find(|at| {
                open += if steps[*at].0 { 1 } else { -1 };
                open == 1
            })
        };
        let mut expected: Vec<[Value; 2]> = Vec::new();
        let time = |at: usize| Value::Int(at as i64 + 1);
        for at in 0..steps.len() {
            if steps[at].0 {
                let stop = (at + 1..steps.len()).find(|stop| !steps[*stop].0 && start_of(*stop) == Some(at));
                expected.push([time(at), stop.map_or(Value::None, time)]);
            } else if start_of(at).is_none() {
                expected.push([Value::None, time(at)]);
            }
        }
        prop_assert_eq!(found, expected);
    }
}

/// Its four marks, as the reader of single events has them.
#[test]
fn the_marks_of_a_real_recording() {
    let Some(cases) = cases("etl") else { return };
    let recording = cases.join("TraceLoggingTester.7z");
    let mut recorded_marks: Vec<(i64, String)> = Vec::new();
    let filter = EventFilter { name: Patterns::parse("PerfInfo/Mark"), ..EventFilter::default() };
    recorded::events(&recording, &filter, |event| {
        let mut fields = String::new();
        event.fields.write_json(&mut fields);
        recorded_marks.push((event.time, fields));
    });
    assert_eq!(recorded_marks.len(), 4);
    let out = tempfile::tempdir().expect("a directory");
    let options =
        Options { out: Some(out.path().to_owned()), events: Some(EventSelection::None), ..Options::default() };
    let report = try_extract(&recording, &options).expect("extracted").remove(0);
    let outcome = asked(&report.archive, &Question::default(), &When::default());
    let rows = values(&outcome, ["time_ns", "since_previous_ns", "text"]);
    assert_eq!(rows.len(), 4);
    let mut before: Option<i64> = None;
    for ([time, since, mark], (recorded, fields)) in rows.iter().zip(&recorded_marks) {
        assert_eq!(*time, Value::Int(*recorded));
        assert_eq!(*since, before.map_or(Value::None, |before| Value::Int(recorded - before)));
        let Value::Text(mark) = mark else { panic!("{mark:?}") };
        assert!(!mark.is_empty() && fields.contains(&**mark), "{mark}: {fields}");
        before = Some(*recorded);
    }
}
