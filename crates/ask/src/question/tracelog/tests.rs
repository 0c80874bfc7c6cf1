//! Answers over events that are made by hand.

use std::path::Path;

use tempfile::TempDir;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{frame, process, stack, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{EventRow, FrameRow, ProcessRow, StackRow, ThreadRow};
use tracesift_trace::{ProcessId, StackId, ThreadId};

use super::{Options, message_patterns};
use crate::answer::{Answer, Outcome, Value};
use crate::ask::ask;
use crate::options::{Plan, Registered};
use crate::recording::Source;

const SECOND: i64 = 1_000_000_000;
const GUID: &str = "a214eced-be64-5e23-fac1-1d7b9052efa4";

fn event(at: i64, (provider, name): (&str, &str), process: Option<i32>, schema: &str) -> EventRow {
    EventRow {
        time: at * SECOND,
        process: process.map(ProcessId),
        thread: process.map(ThreadId),
        provider: provider.to_owned(),
        event: name.to_owned(),
        id: Some(i32::try_from(at).unwrap_or(0)),
        fields: format!(r#"{{"Number":{at},"Text":"a b","List":[1,2]}}"#),
        schema: Some(schema.to_owned()).filter(|schema| !schema.is_empty()),
        guid: GUID.to_owned(),
        ..EventRow::default()
    }
}

fn archive(directory: &Path, events: &[EventRow]) -> Source {
    let mut writer = create(&directory.join("events.sift"));
    writer.write_table::<ProcessRow>(&[process(0, 100, "a.exe"), process(1, 200, "b.exe")]);
    writer.write_table::<ThreadRow>(&[thread(0, 0, 110), thread(1, 1, 210)]);
    writer.write_table::<FrameRow>(&[frame(0, 0x1000), frame(1, 0x2000)]);
    writer.write_table::<StackRow>(&[stack(0, &[0, 1])]);
    writer.write_table(events);
    let info = TraceInfo {
        name: "events".to_owned(),
        kind: "etl".to_owned(),
        events: "all".to_owned(),
        end_ns: 100 * SECOND,
        ..TraceInfo::default()
    };
    Source::archive(finish_as(writer, info))
}

/// Two providers that describe their events, one with a manifest outside of the recording, and one that nobody describes.
fn some_events() -> Vec<EventRow> {
    vec![
        EventRow { stack: Some(StackId(0)), ..event(1, ("My-App", "Start"), Some(0), "tracelogging") },
        event(2, ("My-App", "Stop"), Some(0), "tracelogging"),
        event(3, ("My-App", "Start"), Some(1), "tracelogging"),
        event(4, ("Kernel-Thing", "Start"), Some(0), "metadata"),
        event(5, ("Other", "Happened"), None, "manifest"),
        event(6, ("Nobody", "EventID(6)"), Some(0), ""),
        EventRow { raw: Some("00ff".to_owned()), ..event(7, ("My-App", "Start"), Some(0), "tracelogging") },
        event(8, ("Built-In", "Start"), Some(0), "built-in"),
    ]
}

fn asked(source: &Source, arguments: &[&str]) -> Answer {
    let (when, plan) = Registered::of::<Options>("dump tracelog").plan(arguments).expect("a question");
    let Plan::Archives(asking) = plan else { panic!("archives answer") };
    let Outcome { answer, failures } = ask(std::slice::from_ref(source), &*asking.question, &when);
    assert!(failures.is_empty(), "{failures:?}");
    answer
}

fn values<const N: usize>(answer: &Answer, keys: [&str; N]) -> Vec<[Value; N]> {
    let at =
        keys.map(|key| answer.columns.iter().position(|column| column.key == key).unwrap_or_else(|| panic!("{key}")));
    answer.rows().map(|row| at.map(|at| row[at].clone())).collect()
}

fn text(text: &str) -> Value {
    text.into()
}

#[test]
fn without_a_provider_there_is_a_row_for_each_in_a_process() {
    let directory = TempDir::new().expect("a directory");
    let source = archive(directory.path(), &some_events());
    let answer = asked(&source, &[]);
    let map = |pairs: &[(&str, i64)]| {
        Value::Map(pairs.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect())
    };
    assert_eq!(
        values(&answer, ["provider", "pid", "count", "kinds", "first_ns", "last_ns", "events"]),
        [
            [
                text("My-App"),
                200.into(),
                1.into(),
                1.into(),
                (3 * SECOND).into(),
                (3 * SECOND).into(),
                map(&[("Start", 1)])
            ],
            [
                text("Other"),
                Value::None,
                1.into(),
                1.into(),
                (5 * SECOND).into(),
                (5 * SECOND).into(),
                map(&[("Happened", 1)])
            ],
            [
                text("My-App"),
                100.into(),
                3.into(),
                2.into(),
                SECOND.into(),
                (7 * SECOND).into(),
                map(&[("Start", 2), ("Stop", 1)])
            ],
        ]
    );
    let names = values(&asked(&source, &["--sort=name", "--time=2..6"]), ["provider", "pid"]);
    assert_eq!(names, [[text("My-App"), 100.into()], [text("My-App"), 200.into()], [text("Other"), Value::None]]);
}

#[test]
fn a_provider_has_a_row_for_each_event() {
    let directory = TempDir::new().expect("a directory");
    let source = archive(directory.path(), &some_events());
    let keys = ["event", "id", "count", "processes"];
    let rows = |arguments: &[&str]| values(&asked(&source, arguments), keys);
    let row = |event: &str, id: i64| [text(event), id.into(), 1.into(), 1.into()];
    assert_eq!(rows(&["--provider=my-app"]), [row("Start", 1), row("Start", 3), row("Start", 7), row("Stop", 2)]);
    assert_eq!(rows(&["--provider=My*", "--sort=id", "--top=2"]), [row("Start", 3), row("Start", 7)]);
    assert_eq!(rows(&["--provider=!My*"]), [[text("Happened"), 5.into(), 1.into(), 0.into()]]);
    assert_eq!(rows(&[&format!("--provider={{{GUID}}}"), "--process=b"]), [row("Start", 3)]);
    assert!(rows(&["--provider=Kernel-Thing;Nobody;Built-In"]).is_empty());
}

#[test]
fn single_events_have_their_fields_as_a_message() {
    let directory = TempDir::new().expect("a directory");
    let source = archive(directory.path(), &some_events());
    let first = asked(&source, &["--provider=My-App:start,!3"]);
    let keys = ["time_ns", "process", "pid", "tid", "provider", "event", "id", "message"];
    let row = |at: i64, raw: &str| -> [Value; 8] {
        let message = format!("Number={at} Text=a b List=[1, 2]{raw}");
        let front = [(at * SECOND).into(), text("a.exe"), 100.into(), 110.into()];
        let mut all = front.into_iter().chain([text("My-App"), text("Start"), at.into(), message.into()]);
        std::array::from_fn(|_| all.next().expect("eight values"))
    };
    assert_eq!(values(&first, keys), [row(1, ""), row(7, " raw=00ff")]);
    let stacks = values(&first, ["stack"]);
    assert!(matches!(&stacks[0], [Value::List(frames)] if !frames.is_empty()), "{stacks:?}");
    assert_eq!(stacks[1], [Value::None]);
    let fields = values(&first, ["fields"]);
    let expected = [("Number", 1.into()), ("Text", text("a b")), ("List", text("[1, 2]"))];
    assert_eq!(fields[0], [Value::Map(expected.map(|(name, value)| (name.to_owned(), value)).to_vec())]);
    let ids = |arguments: &[&str]| -> Vec<i64> {
        let rows = values(&asked(&source, &[&["--provider=My-App:*;Other"][..], arguments].concat()), ["id"]);
        rows.iter().map(|[id]| if let Value::Int(id) = id { *id } else { -1 }).collect()
    };
    for (arguments, expected) in [
        (&[][..], &[1, 2, 3, 5, 7][..]),
        (&["--message=number=5"], &[5]),
        (&["--message=raw"], &[7]),
        (&["--message=*b list=[[]1, 2]"], &[]),
        (&["--message=*2]"], &[1, 2, 3, 5]),
        (&["--message=!raw;!number=1"], &[2, 3, 5]),
        (&["--tid=210,110"], &[1, 2, 3, 7]),
        (&["--tid=210"], &[3]),
        (&["--min-time=2", "--max-time=5"], &[2, 3, 5]),
        (&["--time=2..5"], &[2, 3]),
        (&["--max-count=2"], &[1, 2]),
        (&["--max-count=0"], &[]),
        (&["--max-count=4", "--top=2"], &[3, 5]),
        (&["--top=2"], &[5, 7]),
        (&["--top=2", "--skip=1"], &[3, 5]),
        (&["--top=0"], &[]),
        (&["--sort=name"], &[1, 3, 7, 2, 5]),
        (&["--sort=id", "--top=1"], &[7]),
    ] {
        assert_eq!(ids(arguments), expected, "{arguments:?}");
    }
}

#[test]
fn messages_are_looked_for_as_parts_unless_they_have_wildcards() {
    let patterns = message_patterns("error=5; *end ;!quiet;!x*");
    assert!(patterns.matches("first ERROR=51 last") && patterns.matches("the end"));
    assert!(!patterns.matches("the end.") && !patterns.matches("error=5 quietly") && !patterns.matches("x the end"));
    assert!(message_patterns("").is_empty());
}

#[test]
fn warnings_and_mistakes_are_told() {
    let question = Registered::of::<Options>("dump tracelog");
    for wrong in [&["--provider=!A:x"][..], &["--sort=size"], &["--tid=x"], &["--max-count=-1"]] {
        assert!(question.plan(wrong).is_err(), "{wrong:?}");
    }
    let directory = TempDir::new().expect("a directory");
    let source = archive(directory.path(), &[]);
    let answer = asked(&source, &[]);
    assert!(answer.sections.iter().all(|section| section.is_absent && section.rows.is_empty()));
}
