//! `record`: real recordings where perf is here and may record, and what is said where it is not or may not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::{NamedTempFile, TempDir};
use tracesift_fixtures::skipped;

use crate::support::{program, run};

/// One recording at a time: each sees all that the machine does.
pub(crate) static RECORDING: Mutex<()> = Mutex::new(());

pub(crate) fn tracesift(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = program(directory, arguments);
    command.env_remove("XDG_RUNTIME_DIR").env_remove("TRACESIFT_MARKS").stdin(Stdio::null());
    command
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether this machine can record all that the tests look for; says why not.
pub(crate) fn can_record() -> bool {
    let why = match Command::new("perf")
        .args(["record", "-a", "-e", "sched:sched_switch", "-o", "/dev/null", "true"])
        .output()
    {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "perf is absent".to_owned(),
        Err(error) => format!("perf cannot be run: {error}"),
        Ok(output) if !output.status.success() => format!("perf cannot record: {}", said(&output)),
        Ok(_) => return true,
    };
    skipped(&why);
    false
}

/// perf processes that write below this directory.
pub(crate) fn recorders(directory: &Path) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    let directory = directory.to_string_lossy().into_owned();
    lines
        .map(|line| String::from_utf8_lossy(&line).into_owned())
        .filter(|line| line.contains("perf\0record") && line.contains(&directory))
        .count()
}

/// Nothing of a recording is left but these files.
fn assert_left(directory: &Path, expected: &[&str]) {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "cache")
        .collect();
    names.sort();
    assert_eq!(names, expected);
    assert_eq!(recorders(directory), 0, "perf still records");
}

fn facts(directory: &Path, name: &str) -> Value {
    serde_json::from_slice(&fs::read(directory.join(name)).unwrap()).unwrap()
}

/// The only answer of a question.
pub(crate) fn ask(directory: &Path, arguments: &[&str]) -> Vec<Value> {
    let output = tracesift(directory, arguments).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn wait_until(mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(60), "it does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// `record` at work; what it says goes to a file that can be looked into meanwhile.
struct Recording {
    process: Child,
    said: NamedTempFile,
}

impl Recording {
    fn start(directory: &Path, arguments: &[&str]) -> Self {
        let said = NamedTempFile::new().unwrap();
        let process = tracesift(directory, arguments).stderr(said.reopen().unwrap()).spawn().unwrap();
        Self { process, said }
    }

    fn said(&self) -> String {
        fs::read_to_string(self.said.path()).unwrap()
    }

    fn wait_until_it_says(&mut self, what: &str) {
        wait_until(|| {
            let ended = self.process.try_wait().unwrap();
            assert!(ended.is_none(), "{}", self.said());
            self.said().contains(what)
        });
    }
}

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_is_recorded_with_its_cpu_its_waits_and_its_marks() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let script = format!(
        "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 0.2; {} record --mark 'all done'; echo out; exit 3",
        env!("CARGO_BIN_EXE_tracesift")
    );
    let arguments = ["record", "--profile", "cswitch", "-o", "a.data", "--", "sh", "-c", &script];
    let output = tracesift(directory.path(), &arguments).output().unwrap();
    // The output is the command's own, and its failure is told.
    assert_eq!(String::from_utf8_lossy(&output.stdout), "out\n");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("the command failed: exit status: 3"), "{}", said(&output));
    assert_left(directory.path(), &["a.data", "a.machine.json"]);

    let facts = facts(directory.path(), "a.machine.json");
    assert_eq!(facts["recording"]["exit_code"], 3);
    assert_eq!(facts["recording"]["profiles"], serde_json::json!(["Default", "CSwitch"]));
    assert!(facts["recording"]["command_ns"].as_i64().unwrap() > 200_000_000);
    assert_eq!(facts["recording"]["marks"][0]["text"], "all done");
    let clock = |key: &str| facts["recording"][key]["clock_ns"].as_i64().unwrap();
    assert!(clock("start") < clock("end"));
    assert!(facts["cpu"]["threads"].as_i64().unwrap() > 0);

    let extracted = tracesift(directory.path(), &["extract", "a.data"]).output().unwrap();
    assert!(extracted.status.success(), "{}", said(&extracted));
    let threads = ask(directory.path(), &["dump", "threads", "a.sift", "-p", "sleep", "--format", "json"]);
    let waits = |thread: &Value| thread["wait_ns"].as_i64().unwrap_or(0);
    let longest = threads.iter().map(waits).max().unwrap_or(0);
    // It may be ready rather than waiting for a part of it on a busy machine, never longer than it lived.
    assert!((100_000_000..2_000_000_000).contains(&longest), "{threads:?}");
    let processes = ask(directory.path(), &["dump", "cpu", "a.sift", "-p", "sh", "--format", "json"]);
    assert!(processes.iter().any(|process| process["cpu_ns"].as_i64().unwrap_or(0) > 0), "{processes:?}");

    // The memory of the machine, which perf does not see: two figures of it are always the same.
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap();
    let bytes = |key: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<i64>().unwrap() * 1024
    };
    let machine = ask(directory.path(), &["dump", "memory", "a.sift", "--total-memory", "--format", "json"]);
    let [machine] = machine.as_slice() else { panic!("{machine:?}") };
    let figure = |key: &str| machine[key].as_i64().unwrap();
    assert_eq!(figure("commit_limit"), bytes("CommitLimit:"));
    assert_eq!(figure("active") + figure("free") + figure("standby"), bytes("MemTotal:"));
    // Of the beginning and of the end at least.
    assert!(figure("last_ns") - figure("first_ns") > 200_000_000, "{machine}");
    assert!(figure("first_ns") >= 0, "{machine}");
}

/// Touches each page of a file that is not in memory, and each page of new memory; tells where they are, and by how much the kernel's
/// own counters of this process have grown meanwhile.
#[cfg(target_os = "linux")]
const TOUCHING: &str = r#"
import ctypes, mmap, os, resource, sys
PAGE, PAGES, NEW = mmap.PAGESIZE, 40, 500
with open(sys.argv[1], "w+b") as file:
    file.write(os.urandom(PAGE * PAGES))
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    read = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
read.madvise(mmap.MADV_RANDOM)
new = mmap.mmap(-1, PAGE * NEW, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
new.madvise(mmap.MADV_NOHUGEPAGE)
before = resource.getrusage(resource.RUSAGE_SELF)
for page in range(PAGES):
    read[page * PAGE]
for page in range(NEW):
    new[page * PAGE] = 1
after = resource.getrusage(resource.RUSAGE_SELF)
start = lambda memory: ctypes.addressof(ctypes.c_char.from_buffer(memory))
print(start(read), len(read), start(new), len(new), after.ru_majflt - before.ru_majflt, after.ru_minflt - before.ru_minflt, NEW)
"#;

#[test]
#[cfg(target_os = "linux")]
fn major_and_minor_page_faults_are_those_that_the_kernel_counts() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() || !tracesift_fixtures::have(&["python3"]) {
        return;
    }
    let directory = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (profile, has_minor) in [("VirtualAlloc", true), ("Memory", false)] {
        let name = format!("{profile}.data");
        let command = ["record", "--profile", profile, "-o", &name, "--", "python3", "-c", TOUCHING, "touched"];
        let output = tracesift(directory.path(), &command).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let told: Vec<i64> =
            String::from_utf8_lossy(&output.stdout).split_whitespace().map(|word| word.parse().unwrap()).collect();
        let [file, file_size, new, new_size, major, minor, touched] = told[..] else { panic!("{told:?}") };
        if major == 0 {
            return skipped("files of tests stay in memory here: reading them makes no major page faults");
        }
        let extracted = tracesift(directory.path(), &["extract", &name]).output().unwrap();
        assert!(extracted.status.success(), "{}", said(&extracted));
        let archive = format!("{profile}.sift");
        let list = [
            "dump",
            "faults",
            &archive,
            "--list",
            "--details",
            "--top",
            "1000000",
            "-p",
            "python3",
            "--format",
            "json",
        ];
        let faults = ask(directory.path(), &list);
        // Memory that lay at the same addresses before may have had faults, too: pages count once.
        let count = |kinds: &[&str], start: i64, size: i64| {
            let of_kind = faults.iter().filter(|fault| kinds.iter().any(|kind| fault["kind"] == *kind));
            let addresses = of_kind.filter_map(|fault| fault["address"].as_str()?.strip_prefix("0x"));
            let addresses = addresses.filter_map(|digits| i64::from_str_radix(digits, 16).ok());
            let pages: BTreeSet<i64> =
                addresses.filter(|at| (start..start + size).contains(at)).map(|at| at / 4096).collect();
            i64::try_from(pages.len()).unwrap()
        };
        // Hard faults are major ones whose file and time are known.
        assert_eq!(count(&["major", "hard"], file, file_size), major, "{profile}: {told:?}");
        assert!(faults.iter().all(|fault| fault["kind"] != "unknown"));
        assert_eq!(count(&["minor"], new, new_size), if has_minor { touched } else { 0 }, "{profile}: {told:?}");
        assert!(minor >= touched, "{told:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn around_what_runs_already() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let record = |arguments: &[&str]| tracesift(directory.path(), &[&["record"], arguments].concat()).output().unwrap();
    assert_eq!(record(&["--stop"]).status.code(), Some(1));
    assert_eq!(record(&["--mark", "too early"]).status.code(), Some(1));
    let idle = record(&["--status"]);
    assert_eq!((idle.status.code(), said(&idle).as_str()), (Some(1), "note: no recording is running\n"));
    let started = record(&["--start", "-o", "a.data", "--profile", "CSwitch", "--buffer", "8MiB"]);
    assert!(started.status.success(), "{}", said(&started));
    assert!(said(&started).contains("note: recording Default, CSwitch into a.data\n"), "{}", said(&started));
    assert!(said(&started).contains("next: tracesift record --stop"), "{}", said(&started));
    let second = record(&["--start", "-o", "b.data"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(said(&second).contains("a recording runs already"), "{}", said(&second));
    let marked = record(&["--mark", "slow now"]);
    assert_eq!((marked.status.code(), said(&marked).as_str()), (Some(0), "note: mark 1 is written: slow now\n"));
    // perf writes now and then; the head of the file is there from the beginning.
    let mut status = String::new();
    wait_until(|| {
        let told = record(&["--status"]);
        assert!(told.status.success(), "{}", said(&told));
        status = String::from_utf8_lossy(&told.stdout).into_owned();
        !status.contains(": 0 B so far")
    });
    assert!(status.starts_with("recording since 2") && status.contains(" into a.data: "), "{status}");
    assert!(status.contains("B so far, 1 mark; ") && status.contains("B are free"), "{status}");
    let stopped = record(&["--stop"]);
    assert!(stopped.status.success() && said(&stopped).contains("a.data: "), "{}", said(&stopped));
    assert!(said(&stopped).contains("next: tracesift extract a.data --symbols local\n"), "{}", said(&stopped));
    assert_left(directory.path(), &["a.data", "a.machine.json"]);
    let told = facts(directory.path(), "a.machine.json");
    assert_eq!(told["recording"]["marks"][0]["text"], "slow now");
    assert_eq!(told["recording"]["ended_by"], "user");
    // What was started can be thrown away.
    assert!(record(&["--start", "-o", "c.data"]).status.success());
    let cancelled = record(&["--cancel"]);
    assert!(cancelled.status.success());
    assert!(said(&cancelled).contains("is thrown away: c.data"), "{}", said(&cancelled));
    assert_left(directory.path(), &["a.data", "a.machine.json"]);
    assert_eq!(record(&["--stop"]).status.code(), Some(1));
}

/// No machine of the tests shows counters of energy, so that they are files of the test: the command changes them.
#[test]
#[cfg(target_os = "linux")]
fn counters_of_energy_are_read_beside_the_recording() {
    use tracesift_record::{Options, Recorder, profiles};
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let zone = directory.path().join("sys/class/powercap/intel-rapl:0");
    let options = || Options {
        profiles: ["Power", "CSwitch"].iter().filter_map(|name| profiles::find(name)).collect(),
        sysfs: directory.path().join("sys"),
        ..Options::default()
    };
    let without = Recorder::new(options()).unwrap();
    let said = without.shortfalls().iter().filter(|shortfall| shortfall.what.starts_with("energy is not recorded"));
    assert_eq!(said.count(), 1, "{:?}", without.shortfalls());
    fs::create_dir_all(&zone).unwrap();
    for (name, content) in [("name", "package-0"), ("max_energy_range_uj", "999999"), ("energy_uj", "900000")] {
        fs::write(zone.join(name), format!("{content}\n")).unwrap();
    }
    let recorder = Recorder::new(options()).unwrap();
    assert!(!recorder.shortfalls().iter().any(|shortfall| shortfall.what.contains("energy")));
    // The counter starts again at 0.
    let mut command = Command::new("sh");
    let script = format!(
        "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo 100000 > '{}'",
        zone.join("energy_uj").display()
    );
    command.args(["-c", &script]);
    let recorded = recorder.record(&mut command, &directory.path().join("a.data")).unwrap();
    let facts = recorded.facts.energy.unwrap();
    assert_eq!(facts.counters[0].name, "package-0");
    assert!(facts.readings.len() >= 2, "{facts:?}");

    let extracted = tracesift(directory.path(), &["extract", "a.data"]).output().unwrap();
    assert!(extracted.status.success(), "{}", String::from_utf8_lossy(&extracted.stderr));
    let counters = ask(directory.path(), &["dump", "energy", "a.sift", "--format", "json"]);
    let [counter] = counters.as_slice() else { panic!("{counters:?}") };
    assert_eq!((&counter["counter"], &counter["package"]), (&Value::from("package"), &Value::from(0)));
    assert_eq!(counter["energy_uj"], 200_000);
    let processes = ask(directory.path(), &["dump", "energy", "a.sift", "--by", "process", "--format", "json"]);
    let energy = |row: &Value| row["energy_uj"].as_i64().unwrap();
    assert_eq!(processes.iter().map(energy).sum::<i64>(), 200_000, "{processes:?}");
    assert!(processes.iter().any(|row| row["process"] == "sh" && energy(row) > 0), "{processes:?}");
    assert!(processes.iter().any(|row| row["process"] == "(idle)"), "{processes:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_leaves_a_whole_recording_and_no_recorder() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    for command in [&[][..], &["--", "sh", "-c", "echo runs >&2; exec sleep 60"]] {
        let directory = TempDir::new().unwrap();
        let arguments = [&["record", "-o", "a.data"][..], command].concat();
        let mut child = Recording::start(directory.path(), &arguments);
        // Whoever interrupts before perf records has no recording. A command starts when it does.
        child.wait_until_it_says(if command.is_empty() { "recording; Ctrl-C ends it" } else { "runs" });
        std::thread::sleep(Duration::from_millis(700));
        interrupt(&child.process);
        assert!(child.process.wait().unwrap().success(), "{}", child.said());
        assert_left(directory.path(), &["a.data", "a.machine.json"]);
        let output = tracesift(directory.path(), &["extract", "a.data"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
}

/// However the program ends, perf does not stay.
#[test]
#[cfg(target_os = "linux")]
fn perf_ends_with_a_killed_program() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let mut child = Recording::start(directory.path(), &["record", "-o", "a.data"]);
    child.wait_until_it_says("recording; Ctrl-C ends it");
    assert!(recorders(directory.path()) > 0);
    std::thread::sleep(Duration::from_millis(300));
    child.process.kill().unwrap();
    child.process.wait().unwrap();
    wait_until(|| recorders(directory.path()) == 0);
    assert!(!directory.path().join("a.data").exists());

    // What it left is told of, with what can be done, and what was recorded until then can be read.
    let record = |arguments: &[&str]| tracesift(directory.path(), &[&["record"], arguments].concat()).output().unwrap();
    for arguments in [&["--status"][..], &["-o", "b.data", "--", "true"]] {
        let told = said(&record(arguments));
        assert!(
            told.contains("warning: .a.data.") && told.contains("was left by a recording that was killed"),
            "{told}"
        );
        assert!(told.contains("note: `tracesift extract .a.data."), "{told}");
        assert!(told.contains("`rm -r .a.data."), "{told}");
    }
    let told = said(&record(&["--status"]));
    let file = told.split("`tracesift extract ").nth(1).unwrap().split(' ').next().unwrap();
    let extracted = tracesift(directory.path(), &["extract", file, "--out", "."]).output().unwrap();
    assert!(extracted.status.success(), "{}", said(&extracted));
    assert!(said(&extracted).contains("next: tracesift overview ./recording.sift\n"), "{}", said(&extracted));
    // A recording of the same name removes it, and says so.
    let again = said(&record(&["-o", "a.data", "--", "true"]));
    assert!(again.contains("left by a recording that was killed, is removed"), "{again}");
    assert!(!said(&record(&["--status"])).contains("left by"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_appears_ends_the_recording_and_not_the_command() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let script = "sleep 0.3; touch now; sleep 0.7; touch later";
    let arguments = ["record", "--stop-when", "file=now", "-o", "a.data", "--", "sh", "-c", script];
    let output = tracesift(directory.path(), &arguments).output().unwrap();
    assert!(output.status.success() && said(&output).contains("ended by file=now"), "{}", said(&output));
    assert_left(directory.path(), &["a.data", "a.machine.json", "later", "now"]);
    let facts = facts(directory.path(), "a.machine.json");
    assert!(facts["recording"]["command_ns"].as_i64().unwrap() > 900_000_000);
}

#[test]
#[cfg(target_os = "linux")]
fn old_files_of_a_rotation_go() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let arguments = ["record", "--rotate", "1s", "--keep", "1B", "-o", "a.data", "--", "sleep", "2.5"];
    let output = tracesift(directory.path(), &arguments).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let files: Vec<PathBuf> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let recordings: Vec<&PathBuf> =
        files.iter().filter(|path| path.extension().is_some_and(|it| it == "data")).collect();
    assert_eq!(recordings.len(), 1, "the last one is kept however large it is: {files:?}");
    let extracted = tracesift(directory.path(), &["extract", recordings[0].to_str().unwrap()]).output().unwrap();
    assert!(extracted.status.success(), "{}", said(&extracted));
}

#[test]
#[cfg(target_os = "linux")]
fn without_perf() {
    let directory = TempDir::new().unwrap();
    let output = tracesift(directory.path(), &["record", "--", "true"]).env("PATH", "").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    assert!(said.starts_with("error: perf is not installed\nhint: install it: "), "{said}");
    assert!(said.contains("made elsewhere can be extracted"), "{said}");
    assert_left(directory.path(), &[]);
}

/// What a user without rights gets, tried as one where the tests run as root.
#[test]
#[cfg(target_os = "linux")]
fn without_rights() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let paranoid = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    if !can_record() || paranoid.trim() != "2" {
        skipped(&format!("kernel.perf_event_paranoid is {}", paranoid.trim()));
        return;
    }
    let directory = TempDir::new().unwrap();
    // The program must be somewhere that the user may look into.
    let program = directory.path().join("tracesift");
    fs::copy(env!("CARGO_BIN_EXE_tracesift"), &program).unwrap();
    Command::new("chmod").arg("777").arg(directory.path()).status().unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"])
        .arg(&program)
        .args(["record", "--profile", "CSwitch", "-o", "a.data", "--", "sleep", "0.1"])
        .current_dir(directory.path())
        .output();
    let Ok(output) = output else {
        skipped("setpriv is absent");
        return;
    };
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    for what in [
        "only the command and what it starts are recorded",
        "sysctl kernel.perf_event_paranoid=-1",
        "tracepoints are not recorded, nothing will be known of ready times, stacks of waits, disk",
        "What is recorded: CPU samples, and switches for run and wait times",
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
    assert!(directory.path().join("a.data").exists());
}

#[test]
fn what_is_there_is_not_replaced_and_what_cannot_start_leaves_nothing() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("a.data"), "mine").unwrap();
    let output = tracesift(directory.path(), &["record", "-o", "a.data", "--", "true"]).output().unwrap();
    assert_eq!((output.status.code(), said(&output).contains("a.data exists already")), (Some(1), true));
    assert_eq!(fs::read_to_string(directory.path().join("a.data")).unwrap(), "mine");
    let output = tracesift(directory.path(), &["record", "-o", "b.data", "--", "/no/such/program"]).output().unwrap();
    assert!(output.status.code() == Some(1) && said(&output).contains("/no/such/program cannot be started"));
    assert_left(directory.path(), &["a.data"]);
}

#[test]
fn what_would_run_and_wrong_usage() {
    let directory = TempDir::new().unwrap();
    for (name, arguments) in [
        ("profiles", &["--list-profiles"][..]),
        ("unknown_profile", &["--profile", "Nothing", "--", "true"]),
        ("unknown_condition", &["--stop-when", "disk>3%", "--", "true"]),
        ("unknown_stacks", &["--stacks", "all,everything", "--", "true"]),
        ("only_a_process_without_one", &["--only-process"]),
        ("keep_without_rotate", &["--keep", "1GB"]),
        ("two_actions", &["--start", "--stop"]),
        ("wrong_rate", &["--rate", "1MHz", "--", "true"]),
        ("wrong_buffer", &["--buffer", "8KiB", "--", "true"]),
        ("buffer_of_a_ring", &["--buffer", "8MiB", "--ring", "1GiB"]),
    ] {
        let arguments = [&["record"], arguments].concat();
        insta::assert_snapshot!(name, run(directory.path(), &arguments));
    }
    let windows =
        ["record", "--dry-run", "--platform", "windows", "--profile", "CSwitch", "-o", "a.etl", "--", "x.exe"];
    let text = run(directory.path(), &windows);
    insta::assert_snapshot!("dry_run_for_windows", text.lines().take(8).collect::<Vec<_>>().join("\n"));
}
