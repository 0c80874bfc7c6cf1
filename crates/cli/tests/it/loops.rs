//! `run --against`: plans whose new runs are compared with earlier ones and decided in one command, and recordings that go; really
//! recorded where perf is here and may record.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::junit;
use crate::recording::{RECORDING, can_record, recorders, said, tracesift};
use crate::support::run;

/// A test that does as much as the file `turns` says, so that a change of it is one of the build.
const SPIN: &str = "i=0; n=$(cat turns); while [ $i -lt $n ]; do i=$((i+1)); done\n";

/// Equal builds keep this limit on a busy machine, and three times the work does not.
const GATE: &str = "undisturbed > +50%";

/// No run has a row for this one.
const NOBODY: &str = "wait:*nobody* > +5%";

fn plan(repetitions: u32, more: &str) -> TempDir {
    let directory = TempDir::new().unwrap();
    let text = format!(
        "out = \"out\"\nprofiles = [\"Default\", \"CSwitch\"]\n\
         [defaults]\ncache = \"as-is\"\nrepetitions = {repetitions}\n\
         [[test]]\nname = \"Spin\"\ncommand = [\"sh\", \"spin.sh\"]\n{more}"
    );
    fs::write(directory.path().join("plan.toml"), text).unwrap();
    fs::write(directory.path().join("spin.sh"), SPIN).unwrap();
    turns(directory.path(), 100_000);
    directory
}

fn turns(directory: &Path, turns: u32) {
    fs::write(directory.join("turns"), turns.to_string()).unwrap();
}

/// Runs the plan with these options.
fn run_plan(directory: &Path, options: &[&str]) -> Output {
    tracesift(directory, &[&["run", "plan.toml", "--symbols", "none"], options].concat()).output().unwrap()
}

/// The exit code, standard output and standard error.
fn told(output: &Output) -> (i32, String, String) {
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).into_owned(), said(output))
}

/// What lies in the directory of the recordings and ends so, by name.
fn files(directory: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory.join("out")).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_meant = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with(end) && !name.starts_with('.')
    };
    let mut files: Vec<PathBuf> = entries.filter(is_meant).collect();
    files.sort();
    files
}

fn state(directory: &Path) -> Value {
    serde_json::from_slice(&fs::read(directory.join("out/tracesift-run.json")).unwrap()).unwrap()
}

#[test]
fn what_cannot_be_meant_is_refused_before_the_first_run() {
    let directory = plan(2, "matrix = { build = [\"old\", \"new\"] }\n");
    let refused = |options: &[&str]| run(directory.path(), &[&["run", "plan.toml"], options].concat());
    for (options, why) in [
        (&["--fail-if", "duration > 5%"][..], "--against"),
        (&["--window", "process:x"], "--against"),
        (&["--strict"], "--against"),
        (&["--against", "last", "--by", "build=old..new"], "--by"),
        (&["--against", "last", "--table"], "--table"),
        (&["--against", "last", "--no-extract"], "--no-extract"),
        (&["--against", "last", "--format", "csv"], "a comparison is a table, JSON or a report"),
        (&["--against", "last", "--fail-if", "speed > 5%"], "`speed` is no figure of a run"),
        (&["--against", "new=out"], "the set of the new runs is called new"),
        (&["--by", "mode=old..new"], "no case of the plan has a parameter `mode`"),
        (&["--by", "build=old..newer"], "no case of the plan has `build` = newer; they have new, old"),
        (&["--keep", "some"], "--keep"),
        (&["--keep", "none", "--no-extract"], "--no-extract makes no archives"),
        (&["--keep", "failed", "--table"], "--table runs nothing"),
    ] {
        let text = refused(options);
        assert!(text.starts_with("exit: 64") && text.contains(why), "{options:?}: {text}");
    }
    for other in ["before", "before/*.sift", "old=before.sift"] {
        let text = refused(&["--against", other]);
        assert!(text.starts_with("exit: 1\n") && text.contains("before"), "{other}: {text}");
    }
    fs::write(directory.path().join("base.json"), "{}").unwrap();
    let text = refused(&["--against", "base.json"]);
    assert!(text.starts_with("exit: 1\n") && text.contains("base.json: this is no baseline"), "{text}");
    assert!(!directory.path().join("out").exists(), "nothing was begun");
}

#[test]
fn each_build_is_compared_with_the_one_before() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    // Other programs on the machine can make runs of one build differ so much that nothing can be said of them.
    let is_decided = (0..4).any(|_| is_compared_with_the_one_before(plan(5, "").path()));
    assert!(is_decided, "runs of the same build are undecided each time");
}

/// Whether the runs of the same build could be told to be no slower.
fn is_compared_with_the_one_before(path: &Path) -> bool {
    let reports = ["--junit", "gates.xml", "--markdown", "gates.md"];
    let options = [&["--against", "last", "--fail-if", GATE, "--strict", "--keep", "failed"], &reports[..]].concat();
    let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();

    // There is nothing to compare with.
    let (code, table, said) = told(&run_plan(path, &options));
    assert_eq!(code, 0, "{table}{said}");
    assert!(said.contains("session 1: all cases run anew") && said.contains("have no earlier runs"), "{said}");
    assert!(table.contains("Median"), "{table}");
    let tests = junit::check(&read("gates.xml"));
    assert_eq!(tests.len(), 1);
    assert_eq!((tests[0].class.as_str(), tests[0].said.as_deref()), ("Spin", Some("skipped ")));
    assert_eq!(tests[0].name, "undisturbed > +50 %", "a case keeps its name from build to build");
    assert!(read("gates.md").contains("Spin is in new only"), "{}", read("gates.md"));
    // Recordings went, but for those of runs that stand apart.
    assert_eq!(files(path, ".sift").len(), 5);
    let kept = files(path, ".data").len();
    let removed = if kept == 4 { "1 recording of".to_owned() } else { format!("{} recordings of", 5 - kept) };
    assert!(kept < 5 && said.contains(&removed), "{kept}: {said}");

    // The same build.
    let (code, answer, said) = told(&run_plan(path, &options));
    if answer.contains("Gate undisturbed > +50 % undecided") {
        return false;
    }
    assert_eq!(code, 0, "{answer}{said}");
    assert!(said.contains("session 2") && said.contains("compared with 5 runs of session 1"), "{said}");
    assert!(answer.contains("Spin  5 runs in last, 5 in new"), "{answer}");
    assert!(answer.contains("Gate undisturbed > +50 % passed"), "{answer}");
    assert!(said.contains("next: tracesift compare out --by session:1..2"), "{said}");
    let tests = junit::check(&read("gates.xml"));
    assert_eq!((tests[0].name.as_str(), tests[0].said.as_deref()), ("undisturbed > +50 %", None));

    // One that has more to do. Somebody may want to look into it.
    turns(path, 300_000);
    let before = files(path, ".data").len();
    let (code, answer, said) = told(&run_plan(path, &options));
    assert_eq!(code, 3, "{answer}{said}");
    assert!(answer.contains("Gate undisturbed > +50 % failed"), "{answer}");
    let tests = junit::check(&read("gates.xml"));
    assert!(tests[0].said.as_deref().is_some_and(|said| said.starts_with("failure new is slower by")), "{answer}");
    junit::check_by_schema(&path.join("gates.xml"));
    assert!(read("gates.md").contains("| Spin | undisturbed &gt; +50 % | failed |"), "{}", read("gates.md"));
    assert!(said.contains("5 recordings stay: a gate failed"), "{said}");
    assert_eq!(files(path, ".data").len(), before + 5);

    // The same runs once more.
    let again = ["compare", "out", "--by", "session:2..3", "--fail-if", GATE];
    let (code, answer, said) = told(&tracesift(path, &again).output().unwrap());
    assert_eq!(code, 3, "{answer}{said}");
    assert!(answer.contains("5 runs in session 2, 5 in session 3"), "{answer}");
    assert_eq!(recorders(path), 0, "perf still records");

    goes_on_unless_something_has_changed(path);
    true
}

/// An interrupted session goes on; one whose program has changed does not.
fn goes_on_unless_something_has_changed(path: &Path) {
    let options = ["run", "plan.toml", "--symbols", "none", "--against", "last"];
    let runs = || {
        let written = state(path);
        written["runs"].as_array().unwrap().iter().filter(|run| run["session"] == 4).count()
    };
    let mut child =
        tracesift(path, &options).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while runs() == 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing is recorded");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(2));
    let written = state(path);
    assert_eq!(written["sessions"].as_array().map(Vec::len), Some(4), "{written}");

    let dry = |expected: &str| {
        let (code, _, said) = told(&run_plan(path, &["--against", "last", "--dry-run"]));
        assert!(code == 0 && said.contains(expected), "{said}");
        assert!(said.contains("compared with 5 runs of session 3"), "{said}");
    };
    dry("session 4 goes on where it was interrupted");
    fs::write(path.join("spin.sh"), format!("{SPIN}# new\n")).unwrap();
    dry("session 5: all cases run anew, as a program or the plan has changed since session 4 was interrupted");
    assert_eq!(state(path), written, "nothing was written");
    // Outside of sessions nothing is left.
    let (code, _, said) = told(&run_plan(path, &[]));
    assert!(code == 0 && said.contains("0 are left"), "{said}");
}

#[test]
fn what_cannot_be_decided_ends_with_its_exit_code() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let directory = plan(1, "");
    let path = directory.path();
    assert_eq!(told(&run_plan(path, &["--keep", "none"])).0, 0);
    assert_eq!((files(path, ".data").len(), files(path, ".sift").len()), (0, 1));
    let against =
        |options: &[&str]| told(&run_plan(path, &[&["--keep", "none", "--fail-if", NOBODY], options].concat()));

    // Runs outside of sessions are those before the first one.
    let (code, answer, said) = against(&["--against", "last"]);
    assert!(code == 0 && answer.contains("Gate wait:*nobody* > +5 % undecided"), "{code}: {answer}{said}");
    assert!(said.contains("compared with 1 run of session 0"), "{said}");
    let (code, answer, said) = against(&["--against", "last", "--strict", "--format", "json"]);
    assert_eq!(code, 4, "{answer}{said}");
    let json: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        (&json["cases"][0]["case"], &json["cases"][0]["gates"][0]["state"]),
        (&"Spin".into(), &"undecided".into())
    );

    // A baseline, and the directory itself: its runs are those before this call.
    let base = ["compare", "out", "--save-baseline", "base.json"];
    assert_eq!(told(&tracesift(path, &base).output().unwrap()).0, 0);
    let (code, answer, said) = against(&["--against", "base.json", "--strict"]);
    assert!(code == 4 && answer.contains("Spin  3 runs in before, 1 in new"), "{code}: {answer}{said}");
    let (code, answer, said) = against(&["--against", "all=out/"]);
    assert!(code == 0 && answer.contains("Spin  4 runs in all, 1 in new"), "{code}: {answer}{said}");
    assert_eq!((files(path, ".data").len(), files(path, ".sift").len()), (0, 5));

    // Recordings without switches are not comparable with those that have them.
    let text = fs::read_to_string(path.join("plan.toml")).unwrap();
    fs::write(path.join("other.toml"), text.replace("\"out\"", "\"other\"").replace(", \"CSwitch\"", "")).unwrap();
    assert_eq!(told(&tracesift(path, &["run", "other.toml", "--symbols", "none"]).output().unwrap()).0, 0);
    for (more, expected) in [(&[][..], 1), (&["--strict"][..], 4)] {
        let (code, answer, said) = against(&[&["--against", "other"], more].concat());
        assert!(code == expected && answer.contains("not comparable"), "{code}: {answer}{said}");
    }

    // A window that is nowhere: the same runs are compared once more, with another one.
    let (code, _, said) = against(&["--against", "last", "--window", "process:nobody"]);
    assert!(code == 1 && said.contains("nobody"), "{said}");
    let before = files(path, ".sift").len();
    let (code, answer, said) = against(&["--against", "last"]);
    assert!(code == 0 && answer.contains("Spin  1 run in last, 1 in new"), "{answer}{said}");
    assert!(said.contains("goes on where it was interrupted") && said.contains("0 are left"), "{said}");
    assert_eq!(files(path, ".sift").len(), before);
}

#[test]
fn only_recordings_that_are_not_needed_go() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let directory = plan(5, "[[test]]\nname = \"Bad\"\ncommand = [\"false\"]\nrepetitions = 1\n");
    let path = directory.path();
    let (code, _, said) = told(&run_plan(path, &[]));
    assert_eq!(code, 2, "{said}");
    let all = files(path, ".data");
    assert_eq!((all.len(), files(path, ".sift").len()), (6, 6), "all of them stay if nobody says otherwise");
    let spins: Vec<&PathBuf> = all.iter().filter(|file| file.to_string_lossy().contains("Spin_")).collect();

    // One has changed since, the archive of one is damaged, one is a link, and one has a name that leads elsewhere.
    fs::OpenOptions::new()
        .append(true)
        .open(spins[0])
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"x"))
        .unwrap();
    let table = spins[1].with_extension("sift").join("threads.parquet");
    let mut bytes = fs::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&table, bytes).unwrap();
    let elsewhere = path.join("elsewhere.data");
    fs::rename(spins[2], &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, spins[2]).unwrap();
    fs::copy(spins[3], path.join("precious.data")).unwrap();
    let name = spins[3].file_name().unwrap().to_str().unwrap();
    let document = path.join("out/tracesift-run.json");
    let text = fs::read_to_string(&document).unwrap();
    assert!(text.contains(name));
    fs::write(&document, text.replace(name, "../precious.data")).unwrap();
    fs::rename(spins[3].with_extension("sift"), path.join("precious.sift")).unwrap();
    fs::write(path.join("out/Spin_1ms_notes.data"), "not ours").unwrap();

    let (code, _, said) = told(&run_plan(path, &["--keep", "failed"]));
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("1 recording stays: the test failed"), "{said}");
    let (_, _, said) = told(&run_plan(path, &["--keep", "none"]));
    let left = files(path, ".data");
    let is_left = |file: &Path| left.iter().any(|other| other == file);
    assert!(is_left(spins[0]), "it has changed: {said}");
    assert!(is_left(spins[1]), "its archive is damaged: {said}");
    assert!(is_left(spins[2]) && elsewhere.exists(), "a link: {said}");
    assert!(is_left(spins[3]) && path.join("precious.data").exists(), "a name that is a path: {said}");
    assert!(is_left(&path.join("out/Spin_1ms_notes.data")), "not ours: {said}");
    assert!(!is_left(spins[4]), "a good one: {said}");
    assert!(!left.iter().any(|file| file.to_string_lossy().contains("Bad_")), "none stays: {said}");
    for end in [".machine.json", ".sift"] {
        assert_eq!(files(path, end).len(), if end == ".sift" { 5 } else { 6 }, "{end} stays");
    }
}
