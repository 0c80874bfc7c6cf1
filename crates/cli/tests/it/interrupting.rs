//! Ctrl-C ends a question: nothing is left of it, and the exit code says so.
//!
//! The description of an archive is a named pipe here: a question waits for it while the test interrupts the question.

use std::fs::{self, File};
use std::io::{Cursor, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tracesift_fixtures::skipped;
use tracesift_scenario::scale;

use crate::support::{archives, program};

/// A moment: between two looks at another process.
const MOMENT: Duration = Duration::from_millis(10);

/// The archive with the pipe.
const ARCHIVE: &str = "Slow.sift";
/// The other one, which has switches.
const OTHER: &str = "Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift";

/// A file of an archive that became a pipe.
struct Pipe {
    path: PathBuf,
    content: Vec<u8>,
}

impl Pipe {
    fn new(path: PathBuf) -> Self {
        let content = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        Self { path, content }
    }

    /// The end to write to, as soon as the process reads.
    fn wait_for_reader(&self, process: &mut Child) -> File {
        /// Without it the test would wait for a process that has failed.
        const O_NONBLOCK: i32 = 0o4000;
        wait_for("a reader", || {
            assert_eq!(process.try_wait().unwrap(), None, "it ends before it reads");
            File::options().write(true).custom_flags(O_NONBLOCK).open(&self.path).ok()
        })
    }
}

/// Waits, up to a minute, for something to happen.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{what} does not happen");
        sleep(MOMENT);
    }
}

/// The thread of a process that waits for signals, and how often it has gone to sleep; `None`: it is not there or does not sleep.
fn sleeps_of_signals(process: u32) -> Option<u64> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let read = |path: PathBuf| fs::read_to_string(path).ok();
    let is_named = |task: &PathBuf| read(task.join("comm")).is_some_and(|name| name.trim() == "signals");
    let status = read(tasks.filter_map(|task| Some(task.ok()?.path())).find(is_named)?.join("status"))?;
    let field = |name: &str| status.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()));
    field("State:").filter(|state| state.starts_with('S'))?;
    field("voluntary_ctxt_switches:")?.parse().ok()
}

fn interrupt(process: &Child) {
    assert!(Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap().success());
}

/// Interrupts a process, and comes back when its thread for signals was told.
fn tell_of_interrupt(process: &Child) {
    let before = wait_for("a thread for signals", || sleeps_of_signals(process.id()));
    interrupt(process);
    wait_for("the signal", || sleeps_of_signals(process.id()).filter(|sleeps| *sleeps > before));
}

fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Interrupts a question that has begun to read.
fn interrupted(directory: &Path, pipe: &Pipe, arguments: &[&str]) -> Output {
    let mut process = spawn(&mut program(directory, arguments));
    let mut writer = pipe.wait_for_reader(&mut process);
    tell_of_interrupt(&process);
    // The archive is as sound as it was.
    writer.write_all(&pipe.content).unwrap();
    drop(writer);
    process.wait_with_output().unwrap()
}

fn assert_interrupted(output: &Output, what: &dyn std::fmt::Debug) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = (output.status.code(), text(&output.stdout), text(&output.stderr));
    assert_eq!(said, (Some(130), String::new(), "error: interrupted\n".to_owned()), "{what:?}");
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_interrupted_question_writes_nothing() {
    let directory = archives();
    let directory = directory.path();
    let pipe = Pipe::new(directory.join(ARCHIVE).join("trace.json"));
    fs::write(directory.join("old"), "as it was").unwrap();
    let before = names(directory);
    let questions: &[&[&str]] = &[
        &["dump", "cpu", ARCHIVE],
        &["dump", "threads", ".", "--format", "json"],
        &["dump", "process", ARCHIVE, "--csv", "old"],
        &["dump", "cpu", ARCHIVE, "--format", "parquet", "--out", "new"],
        &["overview", ARCHIVE],
        &["overview", "."],
        &["explain", ARCHIVE],
        &["explain", ARCHIVE, "--format", "json", "--out", "old"],
        &["compare", ARCHIVE, OTHER],
        &["flame", ARCHIVE, "-o", "new"],
        &["export", ARCHIVE, "-o", "old"],
        &["events", ARCHIVE, "-o", "old"],
        &["time", ARCHIVE],
    ];
    for arguments in questions {
        assert_interrupted(&interrupted(directory, &pipe, arguments), arguments);
        assert_eq!(fs::read_to_string(directory.join("old")).unwrap(), "as it was", "{arguments:?}");
        let after: Vec<String> = names(directory).into_iter().filter(|name| name != "cache").collect();
        assert_eq!(after, before, "{arguments:?}");
    }
}

#[test]
fn a_question_that_cannot_end_is_ended_by_another_interrupt() {
    let directory = archives();
    let pipe = Pipe::new(directory.path().join(ARCHIVE).join("trace.json"));
    let mut process = spawn(&mut program(directory.path(), &["dump", "cpu", ARCHIVE]));
    let _writer = pipe.wait_for_reader(&mut process);
    tell_of_interrupt(&process);
    assert_eq!(process.try_wait().unwrap(), None, "it waits for the description");
    let status = wait_for("the end", || {
        interrupt(&process);
        sleep(20 * MOMENT);
        process.try_wait().unwrap()
    });
    assert_eq!(status.code(), Some(130));
    let output = process.wait_with_output().unwrap();
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn an_interrupted_extract_for_a_question_leaves_no_temporary_files() {
    let root = TempDir::new().unwrap();
    let mut recording = Cursor::new(Vec::new());
    scale(&mut recording, 12 << 20, 1).unwrap();
    fs::write(root.path().join("Big.etl"), recording.into_inner()).unwrap();
    let temporary = root.path().join("temporary");
    fs::create_dir(&temporary).unwrap();
    for _ in 0..5 {
        let mut process = spawn(program(root.path(), &["dump", "cpu", "Big.etl"]).env("TMPDIR", &temporary));
        let id = process.id();
        let reads = wait_for("the question", || match process.try_wait().unwrap() {
            Some(_) => Some(false),
            None => sleeps_of_signals(id).map(|_| true),
        });
        if reads {
            interrupt(&process);
        }
        let output = process.wait_with_output().unwrap();
        assert_eq!(names(&temporary), [""; 0]);
        let said = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(130) => {
                assert!(said.ends_with("error: interrupted\n") && output.stdout.is_empty(), "{said}");
                return;
            }
            // It was faster.
            code => assert_eq!(code, Some(0), "{said}"),
        }
    }
    skipped("the question is answered before it can be interrupted");
}

#[test]
fn a_question_that_takes_long_shows_how_far_it_is() {
    let directory = archives();
    let pipe = Pipe::new(directory.path().join(OTHER).join("context_switches.parquet"));
    let line = format!("stty cols 100; '{}' dump threads {OTHER}", env!("CARGO_BIN_EXE_tracesift"));
    let seen = directory.path().join("seen");
    let process = Command::new("script")
        .args(["-qefc", &line])
        .arg(&seen)
        .current_dir(directory.path())
        .env("TERM", "xterm")
        .env("XDG_CACHE_HOME", directory.path().join("cache"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let Ok(mut process) = process else { return skipped("there is no `script` that makes a terminal") };
    let shown = || String::from_utf8_lossy(&fs::read(&seen).unwrap_or_default()).into_owned();
    wait_for("a bar", || Some(shown()).filter(|text| text.contains(" % of ") && text.contains(" rows")));
    drop(File::options().write(true).open(&pipe.path).unwrap());
    process.wait().unwrap();
    // The bar is wiped out before anything is said. A pipe is no table.
    let text = shown();
    let (_, behind) = text.rsplit_once(" rows").unwrap();
    let error = behind.find("is damaged").unwrap_or_else(|| panic!("{text:?}"));
    assert!(behind[..error].contains("\u{1b}[2K") && !behind.contains(" % of "), "{text:?}");
}
