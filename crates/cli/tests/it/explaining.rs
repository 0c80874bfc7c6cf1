//! `explain` over the demo's recordings, whose story the posts tell: each names its cause, and each command shows the figure.

use serde_json::Value;
use tempfile::TempDir;

use crate::overview::words;
use crate::support::{run, tracesift};

const MS: i64 = 1_000_000;

fn demo() -> TempDir {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    directory
}

fn explain(directory: &TempDir, options: &[&str]) -> Value {
    let text = tracesift(directory.path(), &[&["explain"], options, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value}"))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn each_story_names_its_cause_first() {
    let directory = demo();
    for (pattern, rule, least) in
        [("demo/*Serial_12695ms*", "antivirus", 1_300), ("demo/*_14527ms*", "checkpoint", 7_440)]
    {
        let explained = explain(&directory, &[pattern, "-p", "FileWriter"]);
        let one = &explained["explanations"][0];
        let account = &one["account"];
        let shares: i64 = array(&account["shares"]).iter().map(|share| number(&share["path_ns"])).sum();
        assert_eq!(shares, number(&account["window_ns"]), "{pattern}");
        let first = &one["findings"][0];
        assert_eq!(first["rule"], rule, "{one}");
        assert!(first["on_path"] == true && number(&first["time_ns"]) >= least * MS, "{first}");
        let figure = &first["figures"][0];
        assert_eq!((figure["unit"].as_str(), number(&figure["value"])), (Some("ns"), number(&first["time_ns"])));
        assert_eq!(figure["threshold"], "at least 2 % of the window");
        // The one without scanner and checkpoint has neither finding.
        let usual = explain(&directory, &["demo/*Serial_7066ms*", "-p", "FileWriter"]);
        let findings = array(&usual["explanations"][0]["findings"]);
        assert!(findings.iter().all(|finding| finding["rule"] != rule), "{findings:?}");
    }
}

#[test]
fn a_finding_says_where_in_time_it_lies() {
    let directory = demo();
    for (pattern, rule) in [("demo/*Serial_12695ms*", "antivirus"), ("demo/*_14527ms*", "checkpoint")] {
        let explained = explain(&directory, &[pattern, "-p", "FileWriter"]);
        let one = &explained["explanations"][0];
        let (start, length) = (number(&one["account"]["window_from_ns"]), number(&one["account"]["window_ns"]));
        let finding = array(&one["findings"]).iter().find(|finding| finding["rule"] == rule).unwrap();
        let span = |value: &Value| (number(&value["from_ns"]), number(&value["to_ns"]));
        let (from, to) = span(finding);
        assert!(start <= from && from < to && to <= start + length, "{finding}");
        // Its segments are the longest ones of the path that have this disturbance. Of runs only samples tell it.
        let path = tracesift(
            directory.path(),
            &["dump", "path", pattern, "-p", "FileWriter", "--segments", "--format", "json"],
        );
        let path: Value = serde_json::from_str(&path).unwrap();
        let mut segments: Vec<(i64, i64)> =
            array(&path).iter().filter(|row| row["disturbance"] == rule).map(span).collect();
        segments.sort_by_key(|(from, to)| (std::cmp::Reverse(to - from), *from));
        segments.truncate(10);
        segments.sort_unstable();
        let longest: Vec<(i64, i64)> = array(&finding["longest"]).iter().map(span).collect();
        assert!(!longest.is_empty(), "{finding}");
        for one in &segments {
            assert!(longest.iter().any(|known| known.1 - known.0 >= one.1 - one.0), "{one:?} {longest:?}");
            assert!(from <= one.0 && one.1 <= to, "{finding}");
        }
        assert!(longest.is_sorted() && longest.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{longest:?}");
        assert!(longest.iter().all(|one| from <= one.0 && one.1 <= to), "{finding}");
        // Its sentence ends with its largest row, which is no smaller than any of its segments.
        let sentence = finding["sentence"].as_str().unwrap();
        let (_, row) = sentence.split_once(" Largest part: ").expect(sentence);
        assert!(!row.contains("disturbed:"), "{sentence}");
        let time = row.trim_end_matches(" ms.").rsplit(' ').next().unwrap().replace(',', "");
        let longest_segment = segments.iter().map(|(from, to)| to - from).max().unwrap();
        assert!(time.parse::<f64>().unwrap() * 1e6 + 1e5 >= longest_segment as f64, "{sentence}");
        // What is no path time has no place, and no row.
        for other in array(&one["findings"]).iter().filter(|finding| finding["on_path"] == false) {
            let sentence = other["sentence"].as_str().unwrap();
            assert!(!sentence.contains("Largest part") && !sentence.contains("All of it"), "{sentence}");
            assert!(other["from_ns"].is_null() && other["to_ns"].is_null() && array(&other["longest"]).is_empty());
        }
    }
}

#[test]
fn commands_can_be_copied() {
    let directory = demo();
    let pattern = "demo/*Serial_12695ms*";
    let explained = explain(&directory, &[pattern, "-p", "FileWriter", "--window", "method:*CreateFiles*"]);
    assert_eq!(number(&explained["explanations"][0]["account"]["window_ns"]), 12_695 * MS);
    let findings = array(&explained["explanations"][0]["findings"]);
    assert!(!findings.is_empty());
    for finding in findings {
        let words = words(finding["command"].as_str().unwrap());
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let said = run(directory.path(), &words);
        assert!(said.starts_with("exit: 0"), "{finding}: {said}");
    }
    // The table has them, too.
    let table = tracesift(directory.path(), &["explain", pattern, "-p", "FileWriter"]);
    let commands: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("     tracesift ")).collect();
    assert!(!commands.is_empty(), "{table}");
    for command in commands {
        let words = words(command);
        let said = run(directory.path(), &words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(said.starts_with("exit: 0"), "{command}: {said}");
    }
}

#[test]
fn the_table_begins_with_the_answer_and_fits() {
    let directory = demo();
    let table = tracesift(directory.path(), &["explain", "demo/*_14527ms*", "-p", "FileWriter"]);
    assert!(table.starts_with("FileWriter took 14,612.8 ms, of which 51."), "{table}");
    for part in ["disturbed: checkpoint\n", "window\n", "1. checkpoint: 7,4", "The 5 largest of "] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let is_long = |line: &&str| line.chars().count() > 100 && !line.starts_with("     tracesift ");
    assert_eq!(table.lines().find(is_long), None);
}

/// Who marks start and end is tested.
#[test]
fn a_recording_with_marks_of_one_process_needs_no_name() {
    let directory = demo();
    let account = |options: &[&str]| {
        let explained = explain(&directory, &[&["demo/*Serial_12695ms*"], options].concat());
        explained["explanations"][0]["account"].clone()
    };
    let named = account(&["-p", "FileWriter"]);
    assert_eq!(account(&[]), named);
    assert!(number(&named["window_ns"]) > 12_000 * MS, "{named}");
}

#[test]
fn what_cannot_be_explained_is_said_with_its_exit_code() {
    let directory = demo();
    let said = |arguments: &[&str]| run(directory.path(), arguments);
    let nobody = said(&["explain", "demo/*Serial_7066ms*", "-p", "nobody"]);
    assert!(nobody.starts_with("exit: 1") && nobody.contains("nothing fits process:nobody"), "{nobody}");
    // Without a window the machine is looked at.
    let untold = said(&["explain", "demo/win10/Balanced.sift"]);
    assert!(untold.starts_with("exit: 0") && untold.contains("No account: ") && untold.contains("-p"), "{untold}");
    let range = said(&["explain", "demo/*Serial_7066ms*", "--window", "1s..2s"]);
    assert!(range.starts_with("exit: 64") && range.contains("does not say which program is tested"), "{range}");
    let some = said(&["explain", "demo", "-p", "FileWriter", "--window", "method:*CreateFiles*", "--format", "json"]);
    assert!(some.starts_with("exit: 0") || some.starts_with("exit: 2"), "{some}");
}
