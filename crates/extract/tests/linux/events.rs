//! Every event of every tracepoint, held against what perf prints of it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_extract::{EventSelection, Options};
use tracesift_fixtures::cases;
use tracesift_testing::recording::extract_file;
use tracesift_trace::rows::{EventRow, MarkRow, ProcessRow, ThreadRow};

use crate::perf::{self, ScriptEvent};

/// Systems of tracepoints of which most formats print `name=value`.
const SYSTEMS: [&str; 16] = [
    "sched:*",
    "raw_syscalls:*",
    "block:*",
    "power:*",
    "net:*",
    "task:*",
    "signal:*",
    "timer:*",
    "irq:*",
    "kmem:*",
    "tcp:*",
    "sock:*",
    "workqueue:*",
    "filemap:*",
    "exceptions:*",
    "writeback:*",
];

const ODD_NAME: &str = "a:b c]";

const PROGRAMS: &str =
    "i=0; while [ $i -lt 10 ]; do /bin/true; i=$((i+1)); done; \"$0\" --exact events::oddly_named --ignored; wait";

/// What is recorded, not a test.
#[test]
#[ignore = "the program that another test records"]
fn oddly_named() {
    let talk = || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        drop((client, listener));
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    std::thread::Builder::new().name(ODD_NAME.to_owned()).spawn(talk).unwrap().join().unwrap();
}

fn archive(file: &Path, events: EventSelection) -> (TempDir, Archive) {
    let directory = TempDir::new().unwrap();
    let options = Options { out: Some(directory.path().to_owned()), events: Some(events), ..Options::default() };
    let report = extract_file(file, &options);
    let archive = Archive::open(&report.archive).unwrap();
    archive.verify().unwrap();
    (directory, archive)
}

/// A number of ours is that of perf's text.
fn agrees(ours: &Value, text: &str) -> Option<bool> {
    let (digits, negative) = text.strip_prefix('-').map_or((text, false), |digits| (digits, true));
    let decimal = digits.parse::<i128>().ok().map(|number| if negative { -number } else { number });
    let hex = |digits: &str| i128::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok();
    Some(match ours {
        Value::Number(number) => {
            let number = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from))?;
            Some(number) == if digits.starts_with("0x") { hex(digits) } else { Some(decimal?) }
        }
        Value::Bool(yes) => decimal? == i128::from(*yes),
        Value::String(ours) if ours.starts_with("0x") => {
            let number = hex(ours)?;
            hex(digits).is_some_and(|hex| hex == number) || decimal == Some(number)
        }
        _ => return None,
    })
}

/// The pairs `name=value` of a line.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices('=').filter_map(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + 1..]);
        let name = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        let value = behind.split(|c: char| c.is_whitespace() || matches!(c, ',' | ')' | ']')).next()?;
        let is_number = value.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
        (!name.is_empty() && is_number).then_some((name, value))
    })
}

#[test]
fn every_event_says_what_perf_script_prints() {
    let program = std::env::current_exe().unwrap();
    let selected: Vec<&str> = SYSTEMS.iter().flat_map(|system| ["-e", system]).collect();
    let arguments = [&["-a", "-m", "4096"], selected.as_slice()].concat();
    let Some(recorded) = perf::record(&arguments, &["sh", "-c", PROGRAMS, program.to_str().unwrap()]) else { return };
    let (_directory, archive) = archive(&recorded.file, EventSelection::All);
    let processes: Vec<ProcessRow> = archive.rows().unwrap();
    let threads: Vec<ThreadRow> = archive.rows().unwrap();
    let rows: Vec<EventRow> = archive.rows().unwrap();
    let zero = archive.info().clock_zero;

    let mut ours: BTreeMap<String, Vec<&EventRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.provider != "perf") {
        assert_eq!(row.schema.as_deref(), Some("metadata"));
        ours.entry(format!("{}:{}", row.provider, row.event)).or_default().push(row);
    }
    let mut theirs: BTreeMap<String, Vec<ScriptEvent>> = BTreeMap::new();
    for event in recorded.events() {
        theirs.entry(event.event.clone()).or_default().push(event);
    }
    let count = |(name, events): (&String, usize)| (name.clone(), events);
    let counted: Vec<_> = ours.iter().map(|(name, rows)| count((name, rows.len()))).collect();
    let expected: Vec<_> = theirs.iter().map(|(name, events)| count((name, events.len()))).collect();
    assert_eq!(counted, expected);

    let (mut compared, mut odd) = (BTreeMap::<&str, u64>::new(), 0);
    for (row, event) in ours.values().flatten().zip(theirs.values().flatten()) {
        let pid = row.process.map_or(-1, |process| processes[process.index()].pid);
        let tid = row.thread.map_or(-1, |thread| threads[thread.index()].tid);
        let found = (row.time + zero, i64::from(row.cpu), pid, tid);
        assert_eq!(found, (event.time, event.cpu, event.pid, event.tid), "{event:?}");
        odd += u64::from(event.comm == ODD_NAME);
        let fields: Value = serde_json::from_str(&row.fields).unwrap();
        // The format of the kernel prints 0 for the page that it did not find.
        let is_nowhere = fields.get("pfn").and_then(Value::as_u64) == Some(u64::MAX);
        for (name, text) in pairs(&event.text).filter(|(name, _)| !(is_nowhere && *name == "pfn")) {
            if let Some(agrees) = fields.get(name).and_then(|value| agrees(value, text)) {
                assert!(agrees, "{name}: {} and {event:?}", row.fields);
                *compared.entry(row.provider.as_str()).or_default() += 1;
            }
        }
    }
    println!("{} events of {} kinds; values by system: {compared:?}", rows.len(), ours.len());
    assert!(compared.len() > 8 && compared.values().sum::<u64>() > 10_000, "{compared:?}");
    assert!(odd > 0, "nothing of the thread `{ODD_NAME}`");
}

/// What is in the tables of a recording, by selection.
#[test]
fn the_default_keeps_what_has_no_table_and_marks_are_always_there() {
    let Some(cases) = cases("") else { return };
    let file = cases.join("perf/linuxtracepoints.perf.data");
    let events = |selection| archive(&file, selection).1.rows::<EventRow>().unwrap();
    let all = events(EventSelection::All);
    let is = |row: &EventRow, provider: &str| row.provider == provider;
    assert!(all.iter().any(|row| is(row, "perf")) && all.iter().any(|row| row.event == "sched_switch"));
    assert!(events(EventSelection::None).is_empty());
    let kept = events(EventSelection::Default);
    let expected = all.iter().filter(|row| !is(row, "perf") && row.event != "sched_switch").count();
    assert!(expected > 0 && kept.len() == expected, "{expected}");
    for selection in [EventSelection::None, EventSelection::Default, EventSelection::All] {
        let marks: Vec<MarkRow> = archive(&file, selection).1.rows().unwrap();
        assert_eq!(marks.len(), all.iter().filter(|row| is(row, "user_events")).count());
    }
}
