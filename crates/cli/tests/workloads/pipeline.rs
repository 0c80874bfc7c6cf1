//! The script of `docs/ci.md`: two builds of a program, recorded in turn, and its exit code for each end of a gate.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::PoisonError;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_fixtures::skipped;

use crate::programs::{RECORDING, workload};

/// The page with the script.
const PAGE: &str = include_str!("../../../../docs/ci.md");

/// The gate in it.
const GATE: &str = "undisturbed > +3%";

/// Each build is a program that runs the workload; the new one has so much more to do in a method that is a third of its time.
const PLAN: &str = r#"
out = "out"
profiles = ["Default", "CSwitch"]
call-graph = "dwarf"
[defaults]
repetitions = 5
[[test]]
name = "match"
command = ["builds/{build}/app"]
matrix = { build = ["old", "new"] }
timeout = "5min"
"#;

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn a_pipeline_ends_as_its_gate_says() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    build(path, "old", "0");
    build(path, "new", "60");

    // There is no plan.
    let (code, said) = pipeline(path, GATE);
    assert!(code == 1 && said.contains("tests.toml") && said.contains("speed: no answer (1)"), "{code}: {said}");

    fs::write(path.join("tests.toml"), PLAN).unwrap();
    let (code, said) = pipeline(path, GATE);
    if code == 1 {
        // There is no recorder, or it may not record.
        return skipped(&said);
    }
    assert!(code == 3 && said.contains("speed: slower, see gates.md"), "{code}: {said}");
    assert!(said.contains("match  5 runs in old, 5 in new"), "{said}");
    assert!(said.contains("match_busy_expression"), "{said}");
    let (junit, markdown) = (read(path, "gates.xml"), read(path, "gates.md"));
    assert!(junit.contains("failures=\"1\"") && junit.contains("match_busy_expression"), "{junit}");
    assert!(markdown.contains("| failed |") && markdown.contains("match_busy_expression"), "{markdown}");
    // Somebody may want to look into a change.
    assert_eq!(count(path, ".data"), 10);

    // Two equal builds, and a limit that nothing on a busy machine breaks.
    build(path, "new", "0");
    let (code, said) = pipeline(path, "undisturbed > +30%");
    assert!(code == 0 && said.contains("speed: passed"), "{code}: {said}");
    assert!(read(path, "gates.xml").contains("failures=\"0\""));
    assert!(count(path, ".data") < 20, "recordings of good runs go: {said}");

    let (code, said) = pipeline(path, "wait:*nobody* > +3%");
    assert!(code == 4 && said.contains("speed: undecided, see gates.md"), "{code}: {said}");
    assert!(
        read(path, "gates.xml").contains("<skipped message=\"no run has such a row"),
        "{}",
        read(path, "gates.xml")
    );

    // The same in two steps.
    let compare = ["compare", "out", "--by", "session:1..1", "--fail-if", GATE];
    let output = tracesift(path, &compare);
    assert_eq!(output.0, 1, "a session is one set: {}", output.1);
    let runs = state_runs(path, 1);
    fs::create_dir(path.join("first")).unwrap();
    for run in &runs {
        let archive = Path::new(run).with_extension("sift");
        fs::rename(path.join("out").join(&archive), path.join("first").join(&archive)).unwrap();
    }
    fs::copy(path.join("out/tracesift-run.json"), path.join("first/tracesift-run.json")).unwrap();
    let output = tracesift(path, &["compare", "first", "--by", "build=old..new", "--fail-if", GATE, "--strict"]);
    assert_eq!(output.0, 3, "{}", output.1);
}

/// A build: a program that adds so many ms to a method.
fn build(directory: &Path, name: &str, extra: &str) {
    let app = directory.join("builds").join(name).join("app");
    fs::create_dir_all(app.parent().unwrap()).unwrap();
    let program = workload("busy-regex");
    let script = format!(
        "#!/bin/sh\nexec '{}' --texts 6 --extra-cpu match_busy_expression={extra}\n",
        program.to_str().unwrap()
    );
    fs::write(&app, script).unwrap();
    fs::set_permissions(&app, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the script of the page with this gate. Its exit code, and all that it says.
fn pipeline(directory: &Path, gate: &str) -> (i32, String) {
    let (_, script) = PAGE.split_once("```sh\n").unwrap();
    let (script, _) = script.split_once("```").unwrap();
    assert!(script.contains(GATE));
    let program = Path::new(env!("CARGO_BIN_EXE_tracesift"));
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command
        .args(["-c", &script.replace(GATE, gate)])
        .current_dir(directory)
        .env("PATH", format!("{}:{path}", program.parent().unwrap().display()))
        .env("XDG_CACHE_HOME", directory.join("cache"))
        .stdin(Stdio::null());
    told(&mut command)
}

fn tracesift(directory: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracesift"));
    command.current_dir(directory).env("XDG_CACHE_HOME", directory.join("cache")).args(arguments).stdin(Stdio::null());
    told(&mut command)
}

fn told(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout) + &text(&output.stderr))
}

fn read(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap()
}

fn count(directory: &Path, end: &str) -> usize {
    let entries = fs::read_dir(directory.join("out")).unwrap().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(end)).count()
}

/// The recordings of a session.
fn state_runs(directory: &Path, session: u64) -> Vec<String> {
    let state: Value = serde_json::from_str(&read(&directory.join("out"), "tracesift-run.json")).unwrap();
    let runs = state["runs"].as_array().unwrap().iter().filter(|run| run["session"] == session);
    runs.filter_map(|run| run["recording"].as_str().map(str::to_owned)).collect()
}
