//! `run`: plans with small commands, really recorded where perf is here and may record.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tracesift_extract::input::test_name;
use tracesift_grammar::Status;

use crate::recording::{RECORDING, can_record, recorders, said};
use crate::support::{program, run};

const PLAN: &str = r#"
profiles = ["Default", "CSwitch"]
[defaults]
cache = "as-is"
[[test]]
name = "Told"
command = ["sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo it took {n} ms"]
matrix = { n = "5..6" }
repetitions = 2
overhead = 1
duration = { line = "took {ms} ms" }
[[test]]
name = "Bad"
command = ["sh", "-c", "echo half; echo 'Test FAILED: x'"]
failed-when = { output = "*FAILED*" }
[[test]]
name = "Endless"
command = ["sleep", "60"]
timeout = "300ms"
"#;

fn tracesift(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = program(directory, arguments);
    command.stdin(Stdio::null());
    command
}

fn names(directory: &Path, extension: &str) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(extension) && !name.starts_with('.')).collect();
    names.sort();
    names
}

#[test]
fn plans_that_make_no_sense() {
    let directory = TempDir::new().unwrap();
    let said = |text: &str| {
        fs::write(directory.path().join("plan.toml"), text).unwrap();
        run(directory.path(), &["run", "plan.toml"])
    };
    let wrong = said("[[test]]\nname = \"A\"\ncommand = [\"a\"]\nsettel = \"1s\"\n");
    assert!(wrong.starts_with("exit: 64") && wrong.contains("plan.toml: line 4, column 1: unknown field"), "{wrong}");
    let wrong = said("[[test]]\nname = \"A\"\ncommand = [\"a\", \"{n}\"]\n");
    assert!(
        wrong.starts_with("exit: 64") && wrong.contains("test `A`: `{n}` has {n}, which is no parameter"),
        "{wrong}"
    );
    let missing = run(directory.path(), &["run", "none.toml"]);
    assert!(missing.starts_with("exit: 1") && missing.contains("none.toml"), "{missing}");
    fs::write(directory.path().join("plan.toml"), PLAN).unwrap();
    let columns = run(directory.path(), &["run", "plan.toml", "--columns", "nothing"]);
    assert!(columns.starts_with("exit: 64") && columns.contains("no column `nothing`"), "{columns}");
    assert!(!directory.path().join("recordings").exists(), "nothing was begun");
    let dry = run(directory.path(), &["run", "plan.toml", "--dry-run", "--only", "Told*"]);
    let expected = "note: Told-n6: 2 runs, 1 more without a recorder, 0 done: sh -c";
    assert!(dry.starts_with("exit: 0") && dry.contains(expected) && !dry.contains("Bad"), "{dry}");
    assert!(!directory.path().join("recordings").exists(), "nothing was begun");
}

#[test]
#[cfg(target_os = "linux")]
fn without_perf_the_runner_says_what_helps() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("plan.toml"), PLAN).unwrap();
    let output = tracesift(directory.path(), &["run", "plan.toml"]).env("PATH", "").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("perf is not installed") && said(&output).contains("hint: "), "{}", said(&output));
}

#[test]
#[cfg(target_os = "linux")]
fn runs_are_named_judged_extracted_and_go_on_after_an_interrupt() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("plan.toml"), PLAN).unwrap();
    let recordings = directory.path().join("recordings");

    // Interrupted when the first recordings are there.
    let arguments = ["run", "plan.toml", "--symbols", "none", "--format", "json"];
    let child = tracesift(directory.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while names(&recordings, ".data").is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing is recorded");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(recorders(directory.path()), 0, "perf still records");
    let before = names(&recordings, ".data");
    assert!(!before.is_empty() && before.len() < 6, "{before:?}");

    let output = tracesift(directory.path(), &arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "failed tests: {}", said(&output));
    assert!(said(&output).contains("runs are there already"), "{}", said(&output));
    assert!(said(&output).contains("Bad failed after") && said(&output).contains("its output says: Test FAILED: x"));
    assert!(said(&output).contains("it did not end within 300ms"), "{}", said(&output));
    assert_eq!(recorders(directory.path()), 0, "perf still records");

    let data = names(&recordings, ".data");
    assert_eq!(data.len(), 6);
    assert!(before.iter().all(|name| data.contains(name)), "what was recorded stays");
    for name in &data {
        let read = test_name(name).unwrap();
        let (status, ms) = match read.test.as_str() {
            "Told-n5" => (Status::Passed, Some(5)),
            "Told-n6" => (Status::Passed, Some(6)),
            "Bad" | "Endless" => (Status::Failed, None),
            other => panic!("{other}"),
        };
        assert_eq!(read.status, Some(status), "{name}");
        assert!(ms.is_none_or(|ms| read.duration_ms == ms) && read.performed_at.is_some(), "{name}");
        for beside in ["sift", "machine.json"] {
            assert!(recordings.join(name).with_extension(beside).exists(), "{name}: no {beside}");
        }
    }
    assert_eq!(names(&recordings, ".out.txt").len(), 5, "what tests print is kept");

    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let cases: Vec<&str> = rows.iter().filter_map(|row| row["case"].as_str()).collect();
    assert_eq!(cases, ["Told-n5", "Told-n6", "Bad", "Endless"]);
    for row in &rows[..2] {
        assert_eq!((&row["runs"], &row["failed"]), (&Value::from(2), &Value::Null), "{row}");
        assert!(row["overhead_percent"].as_f64().is_some_and(|share| share.abs() < 0.01), "both say the same: {row}");
        assert!(row["cpu_ns"].as_i64().is_some_and(|cpu| cpu > 10_000_000), "{row}");
        assert!(row["tag_shares"].as_object().is_some_and(|tags| !tags.is_empty()), "{row}");
    }
    assert_eq!((&rows[2]["failed"], &rows[2]["duration_ns"]), (&Value::from(1), &Value::Null));

    // Nothing is left to do, and the table stays the same.
    let again = tracesift(directory.path(), &arguments).output().unwrap();
    // Six recorded ones, and two without a recorder.
    assert!(said(&again).contains("8 runs are there already, 0 are left"), "{}", said(&again));
    assert_eq!(again.stdout, output.stdout);
    let table = tracesift(directory.path(), &["run", "plan.toml", "--table", "--format", "json"]).output().unwrap();
    assert_eq!(table.stdout, output.stdout);
    assert_eq!(names(&recordings, ".data"), data);

    // A case that has changed is another one.
    fs::write(directory.path().join("plan.toml"), PLAN.replace("30000", "30001")).unwrap();
    let dry = tracesift(directory.path(), &["run", "plan.toml", "--dry-run"]).output().unwrap();
    assert!(said(&dry).contains("Told-n5: 2 runs, 1 more without a recorder, 0 done"), "{}", said(&dry));
    assert!(said(&dry).contains("Bad: 1 run, 1 done"), "{}", said(&dry));
}
