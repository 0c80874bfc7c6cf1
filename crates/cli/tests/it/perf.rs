//! What is said of Linux recordings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};
use tempfile::TempDir;
use tracesift_fixtures::cases;

use crate::support::run;

/// What another perf says of the file, and notes for people.
const NOT_OURS: [&str; 2] = ["perf_report_stats_6_1", "note"];

fn stats(path: &Path) -> (Option<i32>, Vec<u8>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tracesift"))
        .args(["dump", "stats", "--format", "json"])
        .arg(path)
        .output()
        .unwrap();
    (output.status.code(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_recording_has_the_counts_of_another_reader() {
    let Some(cases) = cases("") else { return };
    let text = fs::read_to_string(cases.join("expected/perf-counts.json")).unwrap();
    let entries: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(cases.join("perf")).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.is_file());
    assert_eq!(entries.len(), files.len(), "every recording has its expectation");
    for entry in &entries {
        let file = entry["file"].as_str().unwrap();
        let (code, out, err) = stats(&cases.join(file));
        assert_eq!((code, err.as_str()), (Some(0), ""), "{file}");
        let found: Vec<Value> = serde_json::from_slice(&out).unwrap();
        assert_eq!(found.len(), 1, "{file}");
        compare(file, entry, &found[0]);
    }
}

fn compare(file: &str, expected: &Value, found: &Value) {
    let keys = found.as_object().unwrap();
    for (key, value) in expected.as_object().unwrap() {
        match key.as_str() {
            key if NOT_OURS.contains(&key) => {}
            "file" => assert!(found["file"].as_str().unwrap().ends_with(file)),
            "events" => assert_eq!(*value, Value::Array(counted(&found["events"])), "{file}"),
            _ => assert_eq!(keys.get(key), Some(value), "{file}: {key}"),
        }
    }
    assert_eq!(expected.get("walk_stopped").unwrap_or(&Value::Null), &found["walk_stopped"], "{file}");
    assert_eq!(found["os_name"], "Linux", "{file}");
    let empty = Value::Object(Map::new());
    let inside = expected.get("records_inside_compressed").unwrap_or(&empty);
    assert_eq!(*inside, found["records_inside_compressed"], "{file}");
    // The classes are the same records once more.
    let classes = found["counts"].as_array().unwrap();
    let sum = |kind: &str| -> u64 {
        classes.iter().filter(|class| class["kind"] == kind).map(|class| class["count"].as_u64().unwrap()).sum()
    };
    let nested: u64 = inside.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(Value::from(sum("sample")), expected["total_samples"], "{file}");
    assert_eq!(Value::from(sum("sample") + sum("record") - nested), expected["total_records"], "{file}");
}

/// The events with the keys that are expected of them.
fn counted(events: &Value) -> Vec<Value> {
    let mut events = events.as_array().unwrap().clone();
    for event in &mut events {
        let event = event.as_object_mut().unwrap();
        event.retain(|key, _| !matches!(key.as_str(), "frequency" | "period"));
    }
    events
}

/// A recording of two samples, made byte by byte in the tests of the reader.
fn recording(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/perf_file").join(name)).unwrap()
}

#[test]
fn a_linux_recording() {
    let directory = TempDir::new().unwrap();
    let place = |name: &str, bytes: &[u8]| fs::write(directory.path().join(name), bytes).unwrap();
    place("perf.data", &recording("file"));
    place("Small.data", &recording("stream"));
    place("big.perf", &recording("big_endian"));
    place("names.data", b"not a recording");
    place("broken.perf.data", b"PERFILE2 and nothing else");
    place("old.perf.data", b"PERFFILE");
    for (name, arguments) in [
        ("stats", &["dump", "stats", "perf.data", "--details"][..]),
        ("stats_of_a_stream_as_csv", &["dump", "stats", "Small", "--format", "csv"]),
        (
            "stats_of_both_byte_orders",
            &["dump", "stats", "perf.data", "big", "--properties", "file;machine;total_*;clock"],
        ),
        ("found_in_a_directory", &["dump", "stats", "--properties", "file;total_samples"]),
        ("cpu", &["dump", "cpu", "perf.data"]),
        ("extract", &["extract", "perf.data", "big.perf", "--jobs", "1"]),
        ("extract_all_events", &["extract", "perf.data", "--events", "all"]),
        ("process", &["dump", "process", "perf.sift", "--format", "jsonl"]),
        ("events", &["events", "perf.data", "--limit", "5", "--wide"]),
        ("events_of_the_archive", &["events", "perf.sift", "--limit", "2", "--format", "jsonl"]),
        ("not_a_recording", &["dump", "stats", "names.data"]),
    ] {
        // How many bytes an archive takes is not the business of these tests.
        insta::with_settings!({ filters => vec![(r"\d+\.\d KB", "[SIZE]")] }, {
            insta::assert_snapshot!(name, run(directory.path(), arguments));
        });
    }
}
