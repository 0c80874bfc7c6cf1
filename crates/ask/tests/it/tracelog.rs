//! `dump tracelog` over real recordings: counts that a separate reader of the files made, and PerfView's own reading of fields.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::ask;
use tracesift_ask::options::{Plan, Registered};
use tracesift_ask::question::tracelog::Options;
use tracesift_ask::recording::Source;
use tracesift_extract::{EventSelection, Options as ExtractOptions};
use tracesift_fixtures::cases;
use tracesift_testing::recording::try_extract;
use tracesift_trace::rows::ThreadRow;

/// The archives of a recording, which keep events as chosen.
pub(crate) fn archives(recording: &Path, out: &TempDir, events: EventSelection) -> Vec<Source> {
    let options =
        ExtractOptions { out: Some(out.path().to_owned()), events: Some(events), ..ExtractOptions::default() };
    let reports = try_extract(recording, &options).expect("extracted");
    reports.into_iter().map(|report| Source::archive(report.archive)).collect()
}

fn asked(sources: &[Source], arguments: &[&str]) -> Answer {
    let (when, plan) = Registered::of::<Options>("dump tracelog").plan(arguments).expect("a question");
    let Plan::Archives(asking) = plan else { panic!("archives answer") };
    let outcome = ask(sources, &*asking.question, &when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

/// The values of some columns in each row.
pub(crate) fn values<const N: usize>(answer: &Answer, keys: [&str; N]) -> Vec<[Value; N]> {
    let at = keys.map(|key| answer.columns.iter().position(|column| column.key == key).expect("a column"));
    answer.rows().map(|row| at.map(|at| row[at].clone())).collect()
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

const PROVIDER: &str = "CSharpTraceLoggingEventSource";

#[test]
fn the_seven_shapes_of_the_tester() {
    let Some(cases) = cases("etl") else { return };
    let out = tempfile::tempdir().expect("a directory");
    let sources = archives(&cases.join("TraceLoggingTester.7z"), &out, EventSelection::Default);
    let providers = values(&asked(&sources, &[]), ["provider", "process", "pid", "count", "kinds"]);
    assert_eq!(providers, [[text(PROVIDER), text("TraceLoggingTester.exe"), 10288.into(), 70.into(), 7.into()]]);
    let names = [
        (9, "MarkString"),
        (10, "MarkStringInteger"),
        (11, "MarkBoolByteCharDoubleInt16Int32Int64SByteUInt16UInt32UInt64"),
        (12, "WriteIntList"),
        (13, "WriteDateTime"),
        (14, "WriteTimeSpan"),
        (15, "WriteGuid"),
    ];
    let kinds = values(&asked(&sources, &["--provider", PROVIDER, "--sort=id"]), ["id", "event", "count", "processes"]);
    let expected: Vec<[Value; 4]> =
        names.iter().map(|(id, name)| [Value::Int(*id), text(name), 10.into(), 1.into()]).collect();
    assert_eq!(kinds, expected);

    let all = format!("{PROVIDER}:*");
    let rows = values(&asked(&sources, &["--provider", &all]), ["pid", "tid", "event", "message", "stack"]);
    assert_eq!(rows.len(), 70);
    for [pid, tid, _, _, stack] in &rows {
        assert_eq!((pid, tid), (&Value::Int(10288), &Value::Int(28500)));
        assert!(matches!(stack, Value::List(frames) if frames.len() > 3), "{stack:?}");
    }
    // The first event of each name: later ones have other numbers.
    let messages: BTreeMap<String, String> = rows
        .iter()
        .rev()
        .filter_map(|[_, _, event, message, _]| match (event, message) {
            (Value::Text(event), Value::Text(message)) => Some((event.clone(), message.clone())),
            _ => None,
        })
        .collect();
    for (event, message) in [
        ("MarkString", "input=Hello, ETW!"),
        ("MarkStringInteger", "input=Hello, ETW with number number1=42"),
        (
            "MarkBoolByteCharDoubleInt16Int32Int64SByteUInt16UInt32UInt64",
            "boolean=true b=0 c=A d=3.14 i16=-32768 i32=2147483647 i64=9223372036854775807 sb=-128 u16=65535 \
             u32=4294967295 u64=18446744073709551615",
        ),
        ("WriteDateTime", "dateTime=2000-01-01T00:00:00.0000000Z"),
        ("WriteGuid", "guid=00000000-0000-0000-0000-000000000001"),
        ("WriteIntList", "numbers=[0, 2, 3, 4]"),
        ("WriteTimeSpan", "timeSpan=420000000"),
    ] {
        assert_eq!(messages.get(event).map(String::as_str), Some(message), "{event}");
    }
    // The filters of single events.
    let count = |arguments: &[&str]| asked(&sources, arguments).rows().count();
    assert_eq!(count(&["--provider", &format!("{PROVIDER}:Mark,!11")]), 20);
    assert_eq!(count(&["--provider", &format!("{PROVIDER}:12,WriteG*")]), 20);
    assert_eq!(count(&["--provider", "{a214eced-be64-5e23-fac1-1d7b9052efa4}:Write"]), 40);
    assert_eq!(count(&["--provider", &all, "--message", "hello;!number"]), 10);
    assert_eq!(count(&["--provider", &all, "--max-count", "12"]), 12);
    assert_eq!(count(&["--provider", &all, "--tid", "1"]), 0);
    assert_eq!(count(&["--provider", &all, "--max-time", "0.5396"]), 1);
}

/// The counts are those of a separate reader: `etl-counts.json`.
#[test]
fn every_event_that_describes_itself_is_counted() {
    let Some(cases) = cases("etl") else { return };
    let expected = cases.parent().expect("a directory").join("expected/etl-counts.json");
    let expected: Json = serde_json::from_slice(&std::fs::read(expected).expect("readable")).expect("JSON");
    let mut recordings = 0;
    let mut names = 0;
    for entry in expected.as_array().expect("a list") {
        let member = entry["member"].as_str();
        let events = entry["tracelogging_events"].as_array().filter(|events| !events.is_empty());
        let (Some(events), Some(file)) = (events, entry["file"].as_str()) else { continue };
        let out = tempfile::tempdir().expect("a directory");
        let sources = archives(&cases.join(file.trim_start_matches("etl/")), &out, EventSelection::Default);
        let answer = asked(&sources, &["--provider=*"]);
        let mut found: BTreeMap<(String, String), i64> = BTreeMap::new();
        for row in values(&answer, ["provider", "event", "count"]) {
            let [Value::Text(provider), Value::Text(event), Value::Int(count)] = row else { panic!("{row:?}") };
            *found.entry((provider, event)).or_default() += count;
        }
        for event in events {
            let name = |key: &str| event[key].as_str().expect("a text").to_owned();
            let key = (name("provider_name"), name("event"));
            assert_eq!(found.get(&key).copied(), event["count"].as_i64(), "{file} {member:?} {key:?}");
            names += 1;
        }
        recordings += 1;
    }
    assert!(recordings >= 6 && names >= 17, "{recordings} recordings, {names} names");
}

/// PerfView shows the same values, and cuts the longer ones.
#[test]
fn primitive_types_are_those_of_perfview() {
    let Some(cases) = cases("etl") else { return };
    let out = tempfile::tempdir().expect("a directory");
    let sources = archives(&cases.join("primitive-types.etl.zip"), &out, EventSelection::Default);
    let answer = asked(&sources, &["--provider=solar_system:*"]);
    let rows = values(&answer, ["time_ns", "pid", "tid", "event", "fields"]);
    let baseline = std::fs::read_to_string(cases.join("primitive-types.baseline.txt")).expect("readable");
    let lines: Vec<&str> = baseline.lines().filter(|line| line.contains("solar_system/")).collect();
    let lines: Vec<&str> = lines.into_iter().filter(|line| line.starts_with("EVENT ")).collect();
    assert_eq!((rows.len(), lines.len()), (5, 5));
    let mut fields = 0;
    for ([time, pid, tid, event, values], line) in rows.iter().zip(lines) {
        let (ms, rest) = line["EVENT ".len()..].split_once(": ").expect("a time");
        let ms: f64 = ms.replace(',', "").parse().expect("a number");
        assert!(matches!(time, Value::Int(ns) if (*ns as f64 / 1e6 - ms).abs() < 0.0011), "{time:?} {ms}");
        let theirs: BTreeMap<&str, &str> =
            rest.split("; ").filter_map(|pair| pair.rsplit(' ').next()?.split_once('=')).collect();
        assert_eq!(*event, text("PrimitiveTypesTest"));
        assert_eq!(Some(pid), theirs.get("PID").map(|pid| Value::Int(pid.parse().expect("a number"))).as_ref());
        assert_eq!(Some(tid), theirs.get("TID").map(|tid| Value::Int(tid.parse().expect("a number"))).as_ref());
        let Value::Map(values) = values else { panic!("{values:?}") };
        for (name, value) in values {
            let Some(shown) = theirs.get(name.as_str()) else { continue };
            let ours = match value {
                Value::Int(number) => number.to_string(),
                Value::Bool(true) => "True".to_owned(),
                Value::Bool(false) => "False".to_owned(),
                Value::Text(text) => text.clone(),
                other => panic!("{name}: {other:?}"),
            };
            let agrees = match name.as_str() {
                // PerfView prints the number of a character.
                "char_type" => ours.chars().next().map(|c| u32::from(c).to_string()).as_deref() == Some(*shown),
                // The file says unsigned; PerfView takes it for signed.
                "int64_type" => {
                    let unsigned = ours.parse::<u64>().ok().map(u64::cast_signed);
                    unsigned.map(|number| number.to_string()).as_deref() == Some(*shown)
                }
                "file_time_type" | "system_time_type" => continue,
                _ => ours.starts_with(shown.trim_end_matches("...")),
            };
            assert!(agrees, "{name}: {ours}, PerfView has {shown}");
            fields += 1;
        }
    }
    assert_eq!(fields, 50);
}

/// Programs of Linux log by `user_events`: as many rows as the reader of single events has.
#[test]
fn linux_programs_log_by_user_events() {
    let Some(cases) = cases("perf") else { return };
    let out = tempfile::tempdir().expect("a directory");
    let sources = archives(&cases.join("linuxtracepoints.perf.data"), &out, EventSelection::Default);
    let archive = Archive::open(&sources[0].archive).expect("an archive");
    let events: Vec<tracesift_trace::rows::EventRow> = archive.rows().expect("events");
    let expected = events.iter().filter(|event| event.provider == "user_events").count();
    let rows = asked(&sources, &["--provider=user_events:*"]);
    assert_eq!(rows.rows().count(), expected);
    assert!(!archive.rows::<ThreadRow>().expect("threads").is_empty());
}
