//! `dump path` and `compare` over the demo's recordings, whose story the posts tell, from the command line to the answer.

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{rows, run, tracesift};

const MS: i64 = 1_000_000;

fn demo() -> TempDir {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    directory
}

fn compare(directory: &TempDir, sets: [&str; 2]) -> Value {
    let text = tracesift(directory.path(), &["compare", sets[0], sets[1], "-p", "FileWriter", "--format", "json"]);
    serde_json::from_str(&text).unwrap()
}

fn sum<'a>(rows: impl IntoIterator<Item = &'a Value>, key: &str) -> i64 {
    rows.into_iter().map(|row| row[key].as_i64().unwrap()).sum()
}

#[test]
fn each_story_is_a_difference_that_adds_up_and_names_its_cause() {
    let directory = demo();
    // The slower runs beside the one without scanner and checkpoint: Defender, and the checkpoint of 7.46 s.
    for (slow, kind, least) in [("demo/*Serial_12695ms*", "antivirus", 2_800), ("demo/*_14527ms*", "checkpoint", 7_440)]
    {
        let compared = compare(&directory, ["demo/*Serial_7066ms*", slow]);
        let case = &compared["cases"][0];
        assert_eq!(case["case"], "CreateSerial");
        let durations = [0, 1].map(|set| case["sets"][set]["runs"][0]["duration_ns"].as_i64().unwrap());
        let difference = case["difference_ns"].as_i64().unwrap();
        assert_eq!(difference, durations[1] - durations[0]);
        assert_eq!(sum(case["rows"].as_array().unwrap(), "delta_ns"), difference, "{slow}");
        assert_eq!(sum(case["shown"].as_array().unwrap(), "delta_ns"), difference, "{slow}");
        let first = &case["shown"][0];
        assert_eq!(first["text"], format!("disturbed: {kind}"), "{slow}");
        assert!(first["delta_ns"].as_i64().unwrap() >= least * MS, "{first}");
        assert_eq!(case["verdict"]["duration"], "undecided", "one run each");
    }
}

#[test]
fn a_window_of_a_method_is_what_the_test_measured() {
    let directory = demo();
    let window = ["dump", "path", "demo/*Serial_12695ms*", "--window", "method:*CreateFiles*", "--top", "1000"];
    let rows = rows(directory.path(), &window);
    assert_eq!(rows[0]["window_ns"], 12_695 * MS);
    assert_eq!(sum(&rows, "path_ns"), 12_695 * MS);
    // The last worker that ended woke the main thread: the path of the parallel run leads to the checkpoint, too.
    let parallel = ["dump", "path", "demo/*Parallel_9156ms*", "-p", "FileWriter", "--level", "who"];
    let rows = crate::support::rows(directory.path(), &parallel);
    let checkpoint: Vec<&Value> = rows.iter().filter(|row| row["disturbance"] == "checkpoint").collect();
    assert!(sum(checkpoint.iter().copied(), "path_ns") > 5_000 * MS, "{rows:?}");
}

#[test]
fn what_cannot_be_compared_is_said_with_its_exit_code() {
    let directory = demo();
    let said = |arguments: &[&str]| run(directory.path(), arguments);
    let list = said(&["compare", "demo/a.sift", "demo/b.sift", "demo/c.sift"]);
    assert!(list.starts_with("exit: 64") && list.contains("which runs belong together?"), "{list}");
    let one = said(&["compare", "demo"]);
    assert!(one.starts_with("exit: 64") && one.contains("two sets of runs are compared"), "{one}");
    let no_window = said(&["compare", "demo/*Serial_7066ms*", "demo/*Serial_12695ms*", "-p", "nobody"]);
    assert!(no_window.starts_with("exit: 1") && no_window.contains("nothing fits process:nobody"), "{no_window}");
    let untold = said(&["compare", "demo/*Serial_7066ms*", "demo/*Serial_12695ms*"]);
    assert!(untold.starts_with("exit: 1") && untold.contains("does not tell which program was tested"), "{untold}");
    let same = said(&["compare", "demo/*Serial_7066ms*", "demo/*Serial_7066ms*", "-p", "FileWriter"]);
    assert!(same.starts_with("exit: 1") && same.contains("not comparable, because the recording"), "{same}");
    let other = said(&["compare", "demo/*Serial_7066ms*", "demo/*Parallel_3135ms*", "-p", "FileWriter"]);
    assert!(other.starts_with("exit: 1") && other.contains("CreateSerial is in A only"), "{other}");
    let range = said(&["dump", "path", "demo/*Serial_7066ms*", "--window", "1s..2s"]);
    assert!(range.starts_with("exit: 64") && range.contains("does not say which program is tested"), "{range}");
}
