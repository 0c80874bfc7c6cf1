//! `overview`: one screen, whose figures are those of the commands that it names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_fixtures::cases;
use tracesift_trace::rows::DiskIoRow;

use crate::support::{archives, rows, run, tracesift};

const WIDEST: usize = 100;
const LONGEST: usize = 45;

fn archives_in(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut archives: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|it| it == "sift")).collect();
    archives.sort();
    archives
}

fn demo(directory: &Path) -> Vec<PathBuf> {
    tracesift(directory, &["demo", "demo"]);
    archives_in(&directory.join("demo"))
}

fn int(row: &Value, key: &str) -> Option<i64> {
    row[key].as_i64()
}

/// The words of a command that was printed; the quotes are those that ours have.
pub(crate) fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// Runs the command that an overview names, and as JSON.
fn named(directory: &Path, overview: &Value, of: &str) -> Option<Vec<Value>> {
    let next = overview["next"].as_array().unwrap().iter().find(|next| next["of"] == of)?;
    let words = words(next["command"].as_str().unwrap());
    assert_eq!(words[0], "tracesift");
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    Some(rows(directory, &words))
}

fn is_idle(row: &Value) -> bool {
    row["idle"] == true
}

/// Compares every figure of an overview with the answers of the commands that it names. Returns how many blocks there were.
fn compare(directory: &Path, archive: &Path) -> usize {
    let path = archive.to_str().unwrap();
    let mut overviews = rows(directory, &["overview", path]);
    let overview = overviews.pop().unwrap();
    assert!(overviews.is_empty());
    let what = |part: &str| format!("{part} of {path}");
    let mut blocks = 0;

    let all = rows(directory, &["dump", "cpu", path]);
    let sum = |key: &str| all.iter().filter(|row| !is_idle(row)).filter_map(|row| int(row, key)).sum::<i64>();
    assert_eq!(int(&overview, "cpu_ns").unwrap_or(0), sum("cpu_ns"), "{}", what("CPU"));
    assert_eq!(int(&overview, "run_ns").unwrap_or(0), sum("run_ns"), "{}", what("run"));
    assert_eq!(int(&overview, "samples").unwrap_or(0), sum("samples"), "{}", what("samples"));
    if overview["samples_without_stack"].is_i64() {
        assert_eq!(int(&overview, "samples_without_stack").unwrap(), sum("samples_without_stack"));
    }
    let nameless: i64 =
        rows(directory, &["symbols", "missing", path]).iter().map(|row| int(row, "frames").unwrap()).sum();
    assert_eq!(int(&overview, "frames_without_name").unwrap_or(0), nameless, "{}", what("frames without a name"));
    let stats = rows(directory, &["dump", "stats", path]).remove(0);
    assert_eq!(overview["events_lost"], stats["events_lost"]);
    assert_eq!(overview["buffers_lost"], stats["buffers_lost"]);

    let processes = overview["processes"].as_array().unwrap();
    if let Some(mut found) = named(directory, &overview, "processes") {
        found.retain(|row| !is_idle(row));
        assert_eq!(found.len(), processes.len(), "{}", what("processes"));
        for (ours, theirs) in processes.iter().zip(&found) {
            for key in ["process", "pid", "start_ns", "cpu_ns", "run_ns", "wait_ns", "ready_ns"] {
                assert_eq!(ours[key], theirs[key], "{key}, {}", what("processes"));
            }
        }
        blocks += 1;
    }
    if let Some(found) = named(directory, &overview, "tags") {
        let process = processes.iter().rfind(|process| process["pid"] != 0).unwrap();
        let tags = process["tags"].as_array().unwrap();
        let of_process = |row: &&Value| row["process"] == process["process"] && row["start_ns"] == process["start_ns"];
        let found: Vec<&Value> = found.iter().filter(of_process).collect();
        assert!(!tags.is_empty());
        for (ours, theirs) in tags.iter().rev().zip(found.iter().rev()) {
            assert_eq!(ours["stack_tag"], theirs["stack_tag"], "{}", what("tags"));
            let theirs = int(theirs, "cpu_ns").or(int(theirs, "run_ns"));
            assert_eq!(int(ours, "cpu_ns"), theirs, "{}", what("tags"));
        }
        blocks += 1;
    }
    if let Some(found) = named(directory, &overview, "waits") {
        let waits = overview["waits"].as_array().unwrap();
        assert!(!waits.is_empty() && waits.len() <= 3);
        for ours in waits {
            let same = |row: &&Value| {
                ["pid", "tid", "wait_ns", "from_ns", "reason", "wait_method", "woken_by"]
                    .iter()
                    .all(|key| row[*key] == ours[*key])
            };
            let theirs = found.iter().find(same).unwrap_or_else(|| panic!("{}: {ours}", what("waits")));
            let chain = theirs["chain"].as_array().unwrap();
            assert_eq!(int(ours, "links"), Some(chain.len() as i64));
            if let Some(last) = chain.last() {
                for (key, of_chain) in
                    [("end_run_ns", "run_ns"), ("end_ready_ns", "ready_ns"), ("end_wait_ns", "wait_ns")]
                {
                    assert_eq!(ours[key], last[of_chain], "{}", what("chains"));
                }
                assert!(ours["end_thread"].as_str().unwrap().starts_with(last["process"].as_str().unwrap_or_default()));
            }
        }
        blocks += 1;
    }
    if let Some(found) = named(directory, &overview, "failing_calls") {
        let calls = overview["failing_calls"].as_array().unwrap();
        for (ours, theirs) in calls.iter().rev().zip(found.iter().rev()) {
            for key in ["process", "pid", "call", "failed", "errors"] {
                assert_eq!(ours[key], theirs[key], "{}", what("system calls"));
            }
        }
        blocks += 1;
    }
    blocks += disks(archive, &overview);
    blocks
}

/// The disks against the single operations, with every instant of a span marked by sorting.
fn disks(archive: &Path, overview: &Value) -> usize {
    let operations: Vec<DiskIoRow> = Archive::open(archive).unwrap().rows().unwrap();
    let mut spans: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
    for row in &operations {
        spans.entry(row.disk.into()).or_default().push((row.start.min(row.time), row.time));
    }
    let disks = overview["disks"].as_array().unwrap();
    assert_eq!(disks.len(), spans.len());
    for disk in disks {
        let mut of_disk = spans.remove(&int(disk, "disk").unwrap()).unwrap();
        of_disk.sort_unstable();
        let (mut busy, mut until) = (0, i64::MIN);
        for &(start, end) in &of_disk {
            busy += (end - start.max(until)).max(0);
            until = until.max(end);
        }
        assert_eq!(int(disk, "busy_ns"), Some(busy));
        assert_eq!(int(disk, "time_ns"), Some(of_disk.iter().map(|(start, end)| end - start).sum()));
        let count = |key: &str| int(disk, key).unwrap();
        assert_eq!(count("reads") + count("writes") + count("flushes"), of_disk.len() as i64);
        let bytes: i64 =
            operations.iter().filter(|row| Some(i64::from(row.disk)) == int(disk, "disk")).map(|row| row.size).sum();
        assert!(count("read_bytes") + count("written_bytes") <= bytes);
    }
    usize::from(!disks.is_empty())
}

fn assert_fits(directory: &Path, path: &str) {
    let screen = tracesift(directory, &["overview", path]);
    assert!(screen.lines().count() <= LONGEST, "{} lines:\n{screen}", screen.lines().count());
    for line in screen.lines() {
        assert!(line.chars().count() <= WIDEST, "{path}: {line}");
    }
}

#[test]
fn figures_are_those_of_the_commands_that_it_names() {
    let directory = TempDir::new().unwrap();
    let mut blocks = 0;
    for archive in demo(directory.path()) {
        blocks += compare(directory.path(), &archive);
        let relative = archive.strip_prefix(directory.path()).unwrap().to_str().unwrap().to_owned();
        assert_fits(directory.path(), &relative);
    }
    assert!(blocks >= 6 * 4, "{blocks} blocks are too few to say anything");
}

#[test]
fn figures_of_shared_recordings_are_those_of_the_commands_that_it_names() {
    let Some(cases) = cases("") else { return };
    let directory = TempDir::new().unwrap();
    let mut blocks = 0;
    for (number, (name, least)) in [
        ("etl/net.4.5.2.x64.etl.zip", 3),
        ("etl/sawbuck-process_data_64_v3.etl", 0),
        ("perf/linuxtracepoints.perf.data", 2),
        ("perf/perf.data.systemwide.1-3.8", 1),
        ("perf/sleep.data", 1),
        ("perf/single-event-multi-process.perf.data", 1),
    ]
    .into_iter()
    .enumerate()
    {
        let out = directory.path().join(number.to_string());
        let file = cases.join(name);
        tracesift(directory.path(), &["extract", file.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        for archive in archives_in(&out) {
            let found = compare(directory.path(), &archive);
            assert!(found >= least, "{found} blocks of {name}");
            blocks += found;
            let relative = archive.strip_prefix(directory.path()).unwrap().to_str().unwrap().to_owned();
            assert_fits(directory.path(), &relative);
        }
    }
    assert!(blocks >= 9, "{blocks}");
}

/// What is missing in a file is not what the recorder lost.
#[test]
fn a_file_that_is_cut_off_is_not_complete() {
    let Some(folder) = cases("etl") else { return };
    let directory = TempDir::new().unwrap();
    let file = folder.join("damaged-truncated-mid-buffer.etl.gz");
    let file = file.to_str().unwrap();
    let missing = "159 buffers of the file are missing: what is missing is in no figure";
    let screen = tracesift(directory.path(), &["overview", file]).split_whitespace().collect::<Vec<_>>().join(" ");
    let damage = "159 buffers of the file are missing; 1 part of it could not be read; ";
    assert!(screen.contains(&format!("How complete the recorder lost no event; {damage}")), "{screen}");
    assert!(!screen.contains("no event was lost"), "{screen}");
    let rows = rows(directory.path(), &["dump", "cpu", file, "--top", "1"]);
    assert_eq!(rows[0]["warnings"][0], missing);
    let absent = run(directory.path(), &["dump", "exceptions", file]);
    assert!(absent.contains("exceptions not in the part of the recording that could be read"), "{absent}");
}

/// A copied command names the same recording, however long its name is.
#[test]
fn commands_on_the_screen_can_be_copied() {
    let directory = TempDir::new().unwrap();
    let demo = demo(directory.path());
    let path = demo[1].strip_prefix(directory.path()).unwrap().to_str().unwrap().to_owned();
    let screen = tracesift(directory.path(), &["overview", &path]);
    let commands: Vec<&str> = screen.lines().filter_map(|line| line.strip_prefix("  > tracesift ")).collect();
    assert!(commands.len() >= 4, "{screen}");
    for command in commands {
        let words = words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for row in rows(directory.path(), &words) {
            assert_eq!(row["file"], path.as_str(), "{command}");
        }
    }
}

#[test]
fn one_recording_is_a_screen_and_several_are_a_line_each() {
    let directory = archives();
    for (name, arguments) in [
        ("overview_of_one", &["overview", "Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift"][..]),
        ("overview_of_one_that_lost_events", &["overview", "Slow.sift"]),
        ("overview_of_several", &["overview"]),
        ("overview_as_json", &["overview", "Slow.sift", "--format", "json"]),
    ] {
        insta::assert_snapshot!(name, run(directory.path(), arguments));
    }
}

/// What the screen says would record something can record it.
#[test]
fn profiles_that_are_named_exist() {
    for profile in tracesift_ask::question::overview::profiles() {
        assert!(tracesift_record::profiles::find(profile).is_some(), "{profile}");
    }
}
