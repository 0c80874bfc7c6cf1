//! The same work recorded by two machines without a common clock lines up by what happened in it.

use std::path::{Path, PathBuf};

use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::order::Between;
use tracesift_ask::question::{methods, process};
use tracesift_ask::recording::Source;
use tracesift_ask::zero_time::ZeroTime;
use tracesift_ask::{MethodPatterns, When, ask};
use tracesift_testing::archive::{create_as, finish_as};
use tracesift_testing::rows;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, EventRow, MarkRow, Origin, ProcessRow, SymbolRow, ThreadRow,
};
use tracesift_trace::{FrameId, ProcessId, RowSink as _, StackId, ThreadId};

const MS: i64 = 1_000_000;

/// What happened, ms behind the start of the work: the process starts at 0, loads from 10 to 14, waits in it from 15 to 40, saves at 50, ends at 60.
fn archive(directory: &Path, name: &str, offset: i64, start_filetime: i64) -> PathBuf {
    let at = |ms: i64| offset + ms * MS;
    let target = directory.join(format!("{name}.sift"));
    let mut writer = create_as(&target, offset.unsigned_abs().into());
    writer.write_table(&[ProcessRow {
        command_line: Some("work.exe -load".to_owned()),
        start: Some(at(0)),
        end: Some(at(60)),
        origin: Origin::Event,
        ..rows::process(0, 7, "work.exe")
    }]);
    writer.write_table(&[ThreadRow {
        start: Some(at(0)),
        end: Some(at(60)),
        origin: Origin::Event,
        ..rows::thread(0, 0, 8)
    }]);
    let functions = ["Load", "Save"];
    let frame = |frame| rows::frame(frame, 1);
    let symbol = |(frame, function): (i32, &&str)| SymbolRow {
        frame: FrameId(frame),
        module: Some("work.exe".to_owned()),
        function: (*function).to_owned(),
        ..SymbolRow::default()
    };
    writer.write_table(&[frame(0), frame(1)]);
    writer.write_table(&(0..).zip(&functions).map(symbol).collect::<Vec<_>>());
    let stack = |id| rows::stack(id, &[id]);
    writer.write_table(&[stack(0), stack(1)]);
    for (ms, stack) in [(10, 0), (12, 0), (14, 0), (50, 1)] {
        writer.cpu_sample(&CpuSampleRow {
            time: at(ms),
            cpu: 0,
            process: ProcessId(0),
            thread: ThreadId(0),
            weight: MS,
            stack: Some(StackId(stack)),
            frame: None,
            priority: None,
            flags: 0,
        });
    }
    writer.context_switch(&ContextSwitchRow {
        time: at(40),
        cpu: Some(0),
        off_time: at(15),
        off_state: Some(5),
        ready_time: Some(at(40)),
        wait_stack: Some(StackId(0)),
        ..ContextSwitchRow::default()
    });
    for (ms, text) in [(5, "Begin"), (45, "Begin saving"), (46, "Begin saving again")] {
        writer.mark(&MarkRow { time: at(ms), cpu: 0, process: None, thread: None, text: text.to_owned() });
    }
    writer.event(&EventRow {
        time: at(47),
        process: Some(ProcessId(0)),
        provider: "Work".to_owned(),
        event: "Saving".to_owned(),
        id: Some(3),
        fields: "{}".to_owned(),
        ..EventRow::default()
    });
    let info = TraceInfo {
        name: name.to_owned(),
        kind: "etl".to_owned(),
        start_filetime,
        end_ns: at(100),
        has_switches: true,
        has_ready: true,
        ..TraceInfo::default()
    };
    finish_as(writer, info)
}

/// Two machines; the second one's session began 1.7 s earlier, and nobody knows when that was.
fn answer(question: &dyn tracesift_ask::Ask, when: &When) -> Answer {
    let directory = tempfile::tempdir().expect("temporary directory");
    let sources = [
        archive(directory.path(), "one", 300 * MS, 132_935_049_000_000_000),
        archive(directory.path(), "two", 2_000 * MS, 0),
    ]
    .map(Source::archive);
    let outcome = ask(&sources, question, when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

fn zero(landmarks: &[&str]) -> When {
    let landmarks = landmarks.iter().map(|text| text.parse().expect("a landmark")).collect();
    When { zero: ZeroTime { landmarks, ..ZeroTime::default() }, ..When::default() }
}

/// First and last time of a method in each file, ms.
fn sightings(when: &When, method: &str) -> Vec<(i64, i64)> {
    let methods = Some(MethodPatterns::parse(method, false));
    let everything = "-1000s..1000s".parse().expect("a range");
    // The archives have no summaries.
    let when = if when.time.is_everything() { When { time: everything, ..when.clone() } } else { when.clone() };
    let answer = answer(&methods::Question { methods, ..methods::Question::default() }, &when);
    let int = |row: &[Value], key: &str| {
        let at = answer.columns.iter().position(|column| column.key == key).expect("a column");
        if let Value::Int(ns) = row[at] { ns / MS } else { panic!("no {key}") }
    };
    answer.rows().map(|row| (int(row, "first_ns"), int(row, "last_ns"))).collect()
}

#[test]
fn without_a_landmark_the_files_do_not_line_up() {
    let mut found = sightings(&When::default(), "Load");
    found.sort_unstable();
    assert_eq!(found, [(310, 340), (2010, 2040)]);
}

#[test]
fn every_landmark_lines_them_up() {
    for (landmarks, origin) in [
        (&["mark:Begin"][..], 5),
        (&["mark:begin*"], 5),
        (&["mark:*again"], 46),
        (&["process-start:work"], 0),
        (&["process-end:work.exe"], 60),
        (&["first:Load"], 10),
        (&["last:Load"], 40),
        (&["last:work.exe!Save"], 50),
        (&["event:Work/Saving"], 47),
        (&["event:*/3"], 47),
        // The first landmark that is there counts.
        (&["mark:nothing", "first:Save", "mark:Begin"], 50),
    ] {
        let expected = vec![(10 - origin, 40 - origin); 2];
        assert_eq!(sightings(&zero(landmarks), "Load"), expected, "{landmarks:?}");
    }
}

#[test]
fn ranges_are_counted_from_it() {
    let when = When { time: "2ms..10ms".parse().expect("a range"), ..zero(&["first:Load"]) };
    // Two samples behind the first one, and the first 5 ms of the wait.
    assert_eq!(sightings(&when, "Load"), [(12 - 10, 20 - 10); 2]);
    let start = Between { min: Some(-6 * MS), max: Some(0) };
    let found = answer(&process::Question { start, ..process::Question::default() }, &zero(&["mark:Begin"]));
    assert_eq!(found.rows().count(), 2);
}

#[test]
fn what_is_not_there_is_said() {
    let found = answer(&process::Question::default(), &zero(&["mark:nothing"]));
    assert!(
        found.sections.iter().all(|section| section.warnings.iter().any(|limit| limit.text.contains("--zero-time")))
    );
    let found = answer(&process::Question::default(), &zero(&["mark:Begin*"]));
    assert!(found.sections.iter().all(|section| section.notes.iter().any(|text| text.starts_with("2 instants fit"))));
    let process = ProcessFilter { process: ProcessPatterns::parse("other"), ..ProcessFilter::default() };
    let mut when = zero(&["first:Load"]);
    when.zero.process = process;
    let found = answer(&process::Question::default(), &when);
    assert!(found.sections.iter().all(|section| !section.warnings.is_empty()));
}

#[test]
fn a_time_of_day_needs_a_calendar() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let sources = [Source::archive(archive(directory.path(), "two", 0, 0))];
    let when = When { time: "14:02..14:03".parse().expect("a range"), ..When::default() };
    let outcome = ask(&sources, &process::Question::default(), &when);
    assert!(outcome.failures[0].reason.contains("does not say when"), "{:?}", outcome.failures);
}
