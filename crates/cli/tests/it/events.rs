//! What `events` shows.

use std::fs;
use std::io::Cursor;

use tempfile::TempDir;
use tracesift_scenario::scale;

use crate::support::run;

#[test]
fn events() {
    let directory = TempDir::new().unwrap();
    let mut recording = Cursor::new(Vec::new());
    scale(&mut recording, 4 << 20, 1).unwrap();
    fs::write(directory.path().join("Small.etl"), recording.into_inner()).unwrap();
    for (name, arguments) in [
        ("table", &["events", "Small.etl", "--class", "Process;Thread", "--time", "0..", "--limit", "4"][..]),
        ("jsonl", &["events", "Small.etl", "--name", "PerfInfo/Sample", "--limit", "2", "--format", "jsonl"]),
        ("csv", &["events", "Small.etl", "--name", "Thread/CSwitch", "--limit", "2", "--format", "csv"]),
        (
            "where",
            &[
                "events",
                "Small.etl",
                "--where",
                "OldThreadState=Wait",
                "--where",
                "NewThreadPriority>=8",
                "--limit",
                "1",
            ],
        ),
        ("no_schema", &["events", "Small.etl", "--provider", "5ca1e000-*", "--limit", "1"]),
        ("nothing", &["events", "Small.etl", "--provider", "Nobody"]),
        ("no_condition", &["events", "Small.etl", "--where", "Status"]),
        ("no_such_file", &["events", "Missing.etl"]),
        ("without_paths", &["events"]),
    ] {
        insta::assert_snapshot!(name, run(directory.path(), arguments));
    }
}

/// A time of day means the same instant in a recording and in its archive, and as seconds.
#[test]
fn times_of_day() {
    let directory = TempDir::new().unwrap();
    let mut recording = Cursor::new(Vec::new());
    scale(&mut recording, 4 << 20, 1).unwrap();
    fs::write(directory.path().join("Small.etl"), recording.into_inner()).unwrap();
    assert!(run(directory.path(), &["extract", "Small.etl", "--events", "all"]).starts_with("exit: 0"));
    let events = |path: &str, time: &str| {
        let said = run(directory.path(), &["events", path, "--format", "csv", "--time", time]);
        assert!(said.starts_with("exit: 0"), "{said}");
        said.lines().count()
    };
    let all = run(directory.path(), &["events", "Small.etl", "--format", "csv"]);
    let middle = all.lines().nth(all.lines().count() / 2).and_then(|line| line.split(',').nth(1)).unwrap();
    // The calendar is shown down to the microsecond.
    let instant = format!("{}us", middle.parse::<i64>().unwrap() / 1000);
    let told = run(directory.path(), &["time", "Small.sift", "--at", &instant, "--format", "json"]);
    let utc = told.split_once("\"utc\":\"").unwrap().1.split('"').next().unwrap();
    let (day, seconds) = (format!("..{utc}Z"), format!("..{instant}"));
    let expected = events("Small.etl", &seconds);
    assert!(expected > 100 && expected < events("Small.etl", ".."), "{expected}");
    for path in ["Small.etl", "Small.sift"] {
        assert_eq!(events(path, &day), expected, "{path} {day}");
    }
}

#[test]
fn events_of_archives() {
    let directory = TempDir::new().unwrap();
    let mut recording = Cursor::new(Vec::new());
    scale(&mut recording, 4 << 20, 1).unwrap();
    fs::write(directory.path().join("Small.etl"), recording.into_inner()).unwrap();
    for selection in ["none", "default", "all"] {
        let said = run(directory.path(), &["extract", "Small.etl", "--out", selection, "--events", selection]);
        assert!(said.starts_with("exit: 0"), "{said}");
    }
    let stacks = ["--name", "PerfInfo/Sample", "--stacks", "--limit", "1"];
    for (name, arguments) in [
        ("archived", &["events", "all/Small.sift", "--class", "DiskIO", "--limit", "2", "--format", "csv"][..]),
        ("archived_of_providers", &["events", "default/Small.sift", "--limit", "1", "--format", "jsonl"]),
        ("archived_provider", &["events", "default/Small.sift", "--provider", "5ca1e000-*", "--limit", "1"]),
        ("archived_kernel", &["events", "default/Small.sift", "--provider", "windows*", "--limit", "1"]),
        ("archived_without_events", &["events", "none/Small.sift"]),
        ("archived_stacks", &[&["events", "all/Small.sift", "--format", "jsonl"], &stacks[..]].concat()),
        ("stacks", &[&["events", "Small.etl"], &stacks[..]].concat()),
        ("no_selection", &["extract", "Small.etl", "--events", "some"]),
        ("selection_is_there", &["extract", "Small.etl", "--out", "all", "--events", "default"]),
    ] {
        insta::assert_snapshot!(name, run(directory.path(), arguments));
    }
}

#[test]
fn events_go_to_a_file_as_a_whole() {
    let directory = TempDir::new().unwrap();
    let mut recording = Cursor::new(Vec::new());
    scale(&mut recording, 4 << 20, 1).unwrap();
    fs::write(directory.path().join("Small.etl"), recording.into_inner()).unwrap();
    let said = run(directory.path(), &["events", "Small.etl", "--format", "jsonl", "--out", "all.jsonl"]);
    assert!(said.starts_with("exit: 0\n--- stdout\n--- stderr\n"), "{said}");
    let text = fs::read_to_string(directory.path().join("all.jsonl")).unwrap();
    let mut last = i64::MIN;
    for line in text.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let time = event["time_ns"].as_i64().unwrap();
        assert!(time >= last && event["fields"].is_object(), "{line}");
        last = time;
    }
    assert!(text.lines().count() > 1_000);
}

#[test]
fn keywords() {
    let directory = TempDir::new().unwrap();
    let manifest = r#"<events><provider name="Mine" guid="{00000000-0000-0000-0000-000000000001}"><keywords>
        <keyword name="Slow" mask="0x10"/><keyword name="Fast" mask="1"/></keywords></provider></events>"#;
    let wide: Vec<u8> = manifest.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(directory.path().join("Mine.man"), [&[0xff, 0xfe], wide.as_slice()].concat()).unwrap();
    for (name, arguments) in [
        ("keywords_of_a_mask", &["keywords", "Microsoft-Windows-DotNETRuntime", "0x8000000000008001"][..]),
        ("keywords_as_a_mask", &["keywords", "Microsoft-Windows-DotNETRuntime", "gc+Exception"]),
        ("keywords_unknown", &["keywords", "Microsoft-Windows-DotNETRuntime", "gc+nothing"]),
        ("keywords_of_nobody", &["keywords", "Nobody"]),
        ("keywords_of_a_manifest", &["keywords", "Mine", "--manifest", "Mine.man"]),
    ] {
        insta::assert_snapshot!(name, run(directory.path(), arguments));
    }
}

/// As of all other questions, the name of the file tells the format.
#[test]
fn the_name_of_the_file_tells_the_format() {
    let directory = TempDir::new().unwrap();
    let mut recording = Cursor::new(Vec::new());
    scale(&mut recording, 4 << 20, 1).unwrap();
    fs::write(directory.path().join("Small.etl"), recording.into_inner()).unwrap();
    for (name, format) in [("x.csv", "csv"), ("x.jsonl", "jsonl"), ("x.txt", "table")] {
        for arguments in [
            &["events", "Small.etl", "--limit", "2", "-o", name][..],
            &["events", "Small.etl", "--limit", "2", "-o", "expected", "--format", format],
        ] {
            let said = run(directory.path(), arguments);
            assert!(said.starts_with("exit: 0\n"), "{said}");
        }
        let text = |name| fs::read_to_string(directory.path().join(name)).unwrap();
        assert_eq!(text(name), text("expected"), "{name}");
    }
    let said = run(directory.path(), &["events", "Small.etl", "-o", "x.parquet"]);
    assert!(said.starts_with("exit: 64\n") && said.contains(".csv or .jsonl"), "{said}");
    assert!(!directory.path().join("x.parquet").exists());
}
