//! Programs with one known problem each, really recorded: the question that `docs/workloads.md` has for each of them names the
//! figure that the program tells of itself.
//!
//! A figure may differ by 5 %, a sampled one by three standard deviations if that is more. Where the clock of the program's CPU time
//! runs at other moments than the thread, the figure is held against perf's own text of the same recording instead.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::Value;
use tempfile::TempDir;
#[cfg(target_os = "linux")]
use tracesift_archive::Archive;
use tracesift_fixtures::skipped;
#[cfg(target_os = "linux")]
use tracesift_trace::rows::MarkRow;

/// How perf records what is asked for times.
const TIMES: &[&str] = &[
    "-a",
    "--call-graph",
    "dwarf",
    // What some kernels leave out of the tracepoint.
    "--switch-events",
    // Also of programs that no sample hits, without which their stacks are not unwound.
    "--buildid-all",
    // Buffers that hold what comes while somebody else has the CPUs.
    "-m",
    "16M",
    "-e",
    "cpu-clock/freq=999/",
    "-e",
    "sched:sched_switch",
    "-e",
    "sched:sched_waking",
    "-e",
    "sched:sched_wakeup_new",
];

/// How it records all system calls of one program.
const CALLS: &[&str] =
    &["-m", "16M", "-e", "cpu-clock/freq=999/", "-e", "raw_syscalls:sys_enter", "-e", "raw_syscalls:sys_exit"];

/// The same with stacks, of programs without frame pointers, too.
const CALLS_WITH_STACKS: &[&str] = &[
    "-m",
    "16M",
    "--call-graph",
    "dwarf,4096",
    "-e",
    "cpu-clock/freq=999/",
    "-e",
    "raw_syscalls:sys_enter",
    "-e",
    "raw_syscalls:sys_exit",
];

/// How it records all page faults of one program.
const FAULTS: &[&str] = &["-m", "16M", "-e", "cpu-clock/freq=999/", "-e", "page-faults/period=1/"];

/// Recordings until one has what a test needs.
const ATTEMPTS: usize = 5;

/// Interval of the samples, ns.
const INTERVAL: f64 = 1e9 / 999.0;

/// A program, and what is found of it.
struct Known<'a> {
    program: &'static str,
    arguments: &'static [&'static str],
    recording: &'static [&'static str],
    figures: &'a [Figure],
}

/// A figure of an answer beside what the program tells.
struct Figure {
    found: Found,
    told: Told,
    error: Error,
}

/// Where an answer has the figure.
enum Found {
    /// `dump cpu --methods`: these keys of the row of the method, added up.
    Method(&'static str, &'static [&'static str]),
    /// `dump threads`: this key of each thread that the program tells of.
    Threads(&'static str),
    /// `events`: how many events of that name there are of the program.
    Events(&'static str),
    /// `dump syscalls`: how often these calls succeeded, less those that undo them.
    Undone(&'static str, &'static str),
    /// `dump syscalls`: how many calls failed with an error.
    Failed(&'static str),
}

/// Where the report has it.
enum Told {
    /// Keys below `truth`, added up.
    Truth(&'static [&'static str]),
    /// A key of each thread.
    Threads(&'static str),
    /// perf's own text of the recording: how long the thread of this name was off the CPU in functions of this name.
    OffCpuByPerf(&'static str, &'static str),
}

enum Error {
    FivePercent,
    /// That of a number of samples.
    Sampled,
}

const fn method(name: &'static str, keys: &'static [&'static str], told: &'static [&'static str]) -> Figure {
    Figure { found: Found::Method(name, keys), told: Told::Truth(told), error: Error::FivePercent }
}

const fn cpu(name: &'static str, told: &'static [&'static str]) -> Figure {
    Figure { found: Found::Method(name, &["cpu_ns"]), told: Told::Truth(told), error: Error::Sampled }
}

const fn threads(key: &'static str, told: &'static str, error: Error) -> Figure {
    Figure { found: Found::Threads(key), told: Told::Threads(told), error }
}

const fn events(name: &'static str, told: &'static [&'static str]) -> Figure {
    Figure { found: Found::Events(name), told: Told::Truth(told), error: Error::FivePercent }
}

const fn undone(call: &'static str, by: &'static str, told: &'static [&'static str]) -> Figure {
    Figure { found: Found::Undone(call, by), told: Told::Truth(told), error: Error::FivePercent }
}

const fn failed(error: &'static str, told: &'static [&'static str]) -> Figure {
    Figure { found: Found::Failed(error), told: Told::Truth(told), error: Error::FivePercent }
}

/// Off the CPU: waits for something, and for a CPU behind them.
const OFF_CPU: &[&str] = &["wait_sum_ns", "ready_sum_ns"];

#[test]
fn files_are_written_one_after_the_other() {
    diagnose(&Known {
        program: "file-writer",
        arguments: &["--files", "4000"],
        recording: TIMES,
        figures: &[
            method("write_files", &["duration_ns"], &["write_elapsed_ns"]),
            cpu("write_file", &["write_cpu_ns"]),
        ],
    });
}

#[test]
fn files_are_written_by_several_threads() {
    diagnose(&Known {
        program: "file-writer",
        arguments: &["--mode", "parallel", "--threads", "3", "--files", "4000"],
        recording: TIMES,
        figures: &[
            method("write_files", &["duration_ns"], &["write_elapsed_ns"]),
            cpu("write_file", &["write_cpu_ns"]),
        ],
    });
}

#[test]
fn threads_spin_for_a_lock() {
    diagnose(&Known {
        program: "lock-spinner",
        arguments: &[],
        recording: TIMES,
        figures: &[
            cpu("spin_for_lock", &["spin_cpu_ns"]),
            cpu("work_with_lock", &["hold_cpu_ns"]),
            method("wait_for_lock", OFF_CPU, &["waited_ns"]),
        ],
    });
}

#[test]
fn threads_sleep_in_a_loop() {
    diagnose(&Known {
        program: "sleepy-spinner",
        arguments: &[],
        recording: TIMES,
        figures: &[
            method("sleep_until_done", &["wait_count"], &["sleeps"]),
            method("sleep_until_done", OFF_CPU, &["slept_ns"]),
        ],
    });
}

#[test]
fn a_regular_expression_is_busy() {
    diagnose(&Known {
        program: "busy-regex",
        arguments: &[],
        recording: TIMES,
        figures: &[cpu("match_busy_expression", &["match_cpu_ns"])],
    });
}

#[test]
fn memory_is_allocated_all_the_time() {
    diagnose(&Known {
        program: "allocator",
        arguments: &[],
        recording: TIMES,
        figures: &[cpu("allocate_many_small", &["small_cpu_ns"]), cpu("allocate_many_large", &["large_cpu_ns"])],
    });
}

#[test]
fn memory_is_trimmed_and_touched_again() {
    diagnose(&Known {
        program: "memory-trimmer",
        arguments: &[],
        recording: TIMES,
        figures: &[
            cpu("touch_first_time", &["first_cpu_ns"]),
            cpu("trim_memory", &["trim_cpu_ns"]),
            cpu("touch_after_trim", &["again_cpu_ns"]),
        ],
    });
}

#[test]
fn each_page_faults_twice() {
    diagnose(&Known {
        program: "memory-trimmer",
        arguments: &["--size", "32M", "--rounds", "3"],
        recording: FAULTS,
        figures: &[events("page-faults*", &["first_page_faults", "again_page_faults"])],
    });
}

#[test]
fn threads_are_ready_and_get_no_cpu() {
    diagnose(&Known {
        program: "crowded-cpus",
        arguments: &[],
        recording: TIMES,
        figures: &[
            threads("run_ns", "cpu_ns", Error::FivePercent),
            threads("ready_ns", "ready_ns", Error::FivePercent),
            threads("cpu_ns", "cpu_ns", Error::Sampled),
        ],
    });
}

#[test]
fn a_reader_keeps_the_lock() {
    let known = Known {
        program: "slow-reader",
        arguments: &[],
        recording: TIMES,
        figures: &[
            method("wait_for_lock", OFF_CPU, &["waited_ns"]),
            method("read_with_lock_held", OFF_CPU, &["read_ns"]),
        ],
    };
    let Some(recorded) = diagnose(&known) else { return };
    // Who waits for the lock waits for the reader, and that for the device.
    let rows = recorded.ask(&["waits", "-p", known.program, "--methods", "*wait_for_lock", "--top", "5"]);
    let links = rows.iter().flat_map(|row| row["chain"].as_array().unwrap());
    let stack = |link: &Value| link["longest_wait_stack"].to_string();
    assert!(links.clone().any(|link| stack(link).contains("::read_with_lock_held")), "{rows:?}");
    assert!(links.clone().any(|link| stack(link).contains("::answer_slowly")), "{rows:?}");

    // Added up: whoever is asked, it is the same time, and most of it was for the device.
    let added_up = |by| {
        recorded.ask(&["waits", "-p", known.program, "--methods", "*wait_for_lock", "--include-module", "--by", by])
    };
    let sum = |rows: &[Value], key: &str| rows.iter().map(|row| row[key].as_i64().unwrap()).sum::<i64>();
    let methods = recorded.ask(&["cpu", "-p", known.program, "--methods", "*wait_for_lock"]);
    let waited = methods[0]["wait_sum_ns"].as_i64().unwrap();
    for by in ["method", "waker", "thread", "process"] {
        assert_eq!(sum(&added_up(by), "wait_sum_ns"), waited, "{by}");
    }
    let [row] = &added_up("method")[..] else { panic!("one method") };
    assert!(row["wait_method"].as_str().unwrap().ends_with("::wait_for_lock"), "{row}");
    assert_eq!(row["wait_ns"], methods[0]["wait_ns"]);
    assert_eq!(row["longest_ns"], methods[0]["wait_longest_ns"]);
    let rows = added_up("waker");
    let of_device =
        |row: &&Value| row["waker_method"].as_str().is_some_and(|method| method.ends_with("::answer_slowly"));
    let device: Vec<Value> = rows.iter().filter(of_device).cloned().collect();
    assert!(device.iter().all(|row| row["waker_thread_name"] == "device"), "{rows:#?}");
    // Whoever is without a CPU for longer than the device takes is no wait for it, and happens on a busy machine. All else is for the device.
    let busy = |row: &&Value| row["waker_did"].is_string() && row["waker_did"] != "waited";
    let without_cpu: Vec<Value> = rows.iter().filter(busy).cloned().collect();
    let (device, rest) = (sum(&device, "wait_sum_ns"), waited - sum(&without_cpu, "wait_sum_ns"));
    assert!(device > 0 && device * 20 >= rest * 19, "{device} of {rest}: {rows:#?}");
}

/// One function is slower in one of two versions: what its mean over the recordings of each tells.
#[test]
fn a_function_is_slower_in_one_of_two_versions() {
    let version = |seconds: &'static [&'static str]| {
        let known = Known {
            program: "busy-regex",
            arguments: seconds,
            recording: &["-m", "16M", "-e", "cpu-clock/freq=999/", "--call-graph", "dwarf"],
            figures: &[cpu("match_busy_expression", &["match_cpu_ns"])],
        };
        (0..2).map(|_| diagnose(&known)).collect::<Option<Vec<Recorded>>>()
    };
    let (Some(old), Some(new)) = (version(&["--seconds", "200ms"]), version(&["--seconds", "600ms"])) else { return };
    let merged = |versions: &[&Recorded]| -> Value {
        let archives: Vec<String> =
            versions.iter().map(|one| one.directory.path().join("perf.sift").display().to_string()).collect();
        let mut question = vec!["dump", "cpu", "-p", "busy-regex", "--methods", "*match_busy_expression", "--merge"];
        question.extend(["--format", "json"]);
        question.extend(archives.iter().map(String::as_str));
        let rows: Vec<Value> = serde_json::from_slice(&old[0].run(&question)).unwrap();
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        row.clone()
    };
    let figure = |row: &Value, key: &str| row[key].as_i64().unwrap();
    let mut means = Vec::new();
    for version in [&old, &new] {
        let row = merged(&version.iter().collect::<Vec<_>>());
        let told = version.iter().map(|one| one.told(&["match_cpu_ns"])).sum::<i64>();
        assert_eq!(differs("CPU of both", figure(&row, "cpu_ns"), told, &Error::Sampled), None);
        assert_eq!(row["files"], 2);
        means.push((figure(&row, "cpu_mean_ns"), told / 2));
    }
    let [(old_mean, old_told), (new_mean, new_told)] = means[..] else { panic!("two versions") };
    assert!(old_told < new_told);
    // The difference has the errors of both.
    let allowed = [old_told, new_told].map(|told| 3.0 * (told as f64 / INTERVAL).sqrt() * INTERVAL).iter().sum::<f64>()
        + (old_told + new_told) as f64 * 0.05;
    let error = ((new_mean - old_mean) - (new_told - old_told)).abs() as f64;
    assert!(error <= allowed, "{new_mean} - {old_mean} instead of {new_told} - {old_told}");
    // Over all four files the sums are those of the single ones, to the nanosecond.
    let all = merged(&old.iter().chain(&new).collect::<Vec<_>>());
    let one = |recorded: &Recorded| {
        figure(&recorded.ask(&["cpu", "-p", "busy-regex", "--methods", "*match_busy_expression"])[0], "cpu_ns")
    };
    let single: Vec<i64> = old.iter().chain(&new).map(one).collect();
    let expected = [
        single.iter().sum(),
        single.iter().sum::<i64>() / 4,
        single.iter().copied().min().unwrap(),
        single.iter().copied().max().unwrap(),
    ];
    assert_eq!(["cpu_ns", "cpu_mean_ns", "cpu_min_ns", "cpu_max_ns"].map(|key| figure(&all, key)), expected);
}

/// Many runs of a program that writes a file and waits for the disk: the sum of its `fsync` over all of them is the one that perf's own
/// text of the recording has.
#[test]
fn calls_of_many_processes_are_added_up() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = TempDir::new().unwrap();
    let shell =
        "i=0; while [ $i -lt 20 ]; do dd if=/dev/zero of=file bs=4k count=1 conv=fsync 2>/dev/null; i=$((i+1)); done";
    let perf = |arguments: &[&str]| Command::new("perf").current_dir(directory.path()).args(arguments).output();
    let mut record = vec!["record", "-o", "perf.data"];
    record.extend(CALLS);
    record.extend(["--", "sh", "-c", shell]);
    match perf(&record) {
        Ok(output) if output.status.success() => {}
        Ok(output) => return skipped(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => return skipped(&format!("perf cannot be run: {error}")),
    }
    let script = perf(&["script", "--ns", "-F", "comm,tid,time,event,trace", "-i", "perf.data"]).unwrap();
    let script = String::from_utf8(script.stdout).unwrap();
    // `dd  1234  567.890123456: raw_syscalls:sys_enter: NR 74 (1, …)`
    let number = if cfg!(target_arch = "aarch64") { "82" } else { "74" };
    let (mut entered, mut durations) = (HashMap::new(), Vec::new());
    for line in script.lines().filter(|line| line.trim_start().starts_with("dd ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, tid, time, event, "NR", call, ..] = words[..] else { continue };
        if call != number {
            continue;
        }
        let time = perf_time(time);
        if event.contains("sys_enter") {
            entered.insert(tid.to_owned(), time);
        } else if let Some(start) = entered.remove(tid) {
            durations.push(time - start);
        }
    }
    let output = Command::new(env!("CARGO_BIN_EXE_tracesift"))
        .current_dir(directory.path())
        .args(["dump", "syscalls", "perf.data", "-p", "dd", "--by", "call", "--calls", "fsync", "--format", "json"])
        .env("XDG_CACHE_HOME", directory.path().join("cache"))
        .output()
        .unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let [row] = rows.as_slice() else { panic!("{rows:?}: {}", String::from_utf8_lossy(&output.stderr)) };
    let lost = perf(&["report", "--stats", "-i", "perf.data"]).unwrap();
    if String::from_utf8_lossy(&lost.stdout).contains("LOST") {
        return skipped("perf lost records");
    }
    assert_eq!(durations.len(), 20, "{script}");
    assert_eq!(row["calls"], 20);
    assert_eq!(row["processes"], 20);
    assert_eq!(row["duration_sum_ns"].as_i64().unwrap(), durations.iter().sum::<i64>());
    assert_eq!(row["longest_ns"].as_i64().unwrap(), durations.iter().copied().max().unwrap());
}

#[test]
fn a_server_never_answers() {
    diagnose(&Known {
        program: "silent-dns",
        arguments: &[],
        recording: TIMES,
        figures: &[
            method("wait_for_answer", &["wait_count"], &["timeouts"]),
            method("wait_for_answer", OFF_CPU, &["waited_ns"]),
        ],
    });
}

#[test]
fn files_are_not_in_memory() {
    diagnose(&Known {
        program: "cold-start",
        arguments: &[],
        recording: TIMES,
        figures: &[
            method("read_cold_files", &["duration_ns"], &["cold_elapsed_ns"]),
            // For perf any function that reads: some of its recordings it unwinds no further than to `read_files`.
            // The program tells its elapsed time less its CPU time. On a busy machine that differs from the time between the switches by
            // up to 28 ms, in either direction. The CPU clock of the kernel leaves out what a hypervisor takes, and may begin at the wake-up.
            Figure {
                found: Found::Method("read_cold_files", OFF_CPU),
                told: Told::OffCpuByPerf("cold", " cold_start::read_"),
                error: Error::FivePercent,
            },
        ],
    });
}

#[test]
fn descriptors_and_mappings_are_leaked() {
    diagnose(&Known {
        program: "leaker",
        arguments: &[],
        recording: CALLS,
        figures: &[undone("openat", "close", &["leaked_descriptors"]), undone("mmap", "munmap", &["leaked_mappings"])],
    });
}

/// The stack that maps what the program never unmaps has most bytes, so it comes last. The end of the program frees them.
#[test]
fn most_memory_is_left_by_the_function_that_leaks() {
    let recorded = diagnose(&Known {
        program: "leaker",
        arguments: &[],
        recording: CALLS_WITH_STACKS,
        figures: &[undone("mmap", "munmap", &["leaked_mappings"])],
    });
    let Some(recorded) = recorded else { return };
    let of_program = ["virtualalloc", "-p", "leaker", "--kind", "mapped", "--sort", "by-exit"];
    let rows = recorded.ask(&[&of_program[..], &["--by", "process,stack"]].concat());
    let [.., largest] = &rows[..] else { panic!("no rows") };
    let leaked = recorded.report["truth"]["leaked_bytes"].as_i64().unwrap();
    let found = largest["by_exit_bytes"].as_i64().unwrap();
    assert_eq!(differs("leaked bytes", found, leaked, &Error::FivePercent), None, "{largest:#}");
    assert!(largest["stack"].to_string().contains("leak_mapping"), "{largest:#}");
    let rows = recorded.ask(&[&of_program[..], &["--by", "process", "--stack", "*leak_mapping*"]].concat());
    assert_eq!(rows[0]["by_exit_bytes"].as_i64(), Some(found));
}

#[test]
fn calls_fail() {
    diagnose(&Known {
        program: "failing-calls",
        arguments: &[],
        recording: CALLS,
        figures: &[
            failed("ENOENT", &["failed_by_error/2"]),
            failed("EEXIST", &["failed_by_error/17"]),
            failed("ENOTEMPTY", &["failed_by_error/39"]),
        ],
    });
}

/// Whether or not perf sees the trace marker, which it mostly does not.
#[test]
#[cfg(target_os = "linux")]
fn phases_are_marks_of_own_recordings() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = TempDir::new().unwrap();
    let tracesift = |arguments: &[&str], program: &[&Path]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracesift"));
        command.current_dir(directory.path()).env("XDG_CACHE_HOME", directory.path().join("cache"));
        command.args(arguments).args(program).output().unwrap()
    };
    let output = tracesift(
        &["record", "--profile", "cswitch", "-o", "a.data", "--"],
        &[&workload("busy-regex"), Path::new("--seconds"), Path::new("50ms")],
    );
    if !output.status.success() {
        return skipped(&String::from_utf8_lossy(&output.stderr));
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(tracesift(&["extract", "a.data"], &[]).status.success());
    let archive = Archive::open(&directory.path().join("a.sift")).unwrap();
    let marks: Vec<MarkRow> = archive.rows().unwrap();
    let zero = archive.info().clock_zero;
    for phase in report["phases"].as_array().unwrap() {
        let time = |end: &str| {
            let text = format!("phase {} {end}", phase["name"].as_str().unwrap());
            marks.iter().find(|mark| mark.text == text).unwrap_or_else(|| panic!("{text}: {marks:?}")).time + zero
        };
        let told = |key: &str| phase[key].as_i64().unwrap();
        assert!(time("begin") <= told("begin_ns") && told("end_ns") <= time("end"), "{phase}: {marks:?}");
    }
}

/// Records a program, extracts that and holds the figures against each other; prints why and gives `None` where that is not possible.
fn diagnose(known: &Known<'_>) -> Option<Recorded> {
    let recorded = record(known).map_err(|why| skipped(&why)).ok()?;
    let differ: Vec<String> = known.figures.iter().flat_map(|figure| recorded.differences(figure)).collect();
    assert!(differ.is_empty(), "{}: {differ:#?}\n{:#}", known.program, recorded.report);
    // Each phase is a thread that waits as long.
    if known.recording == TIMES {
        let waits = recorded.ask(&["waits", "-p", known.program, "--methods", "*wait_for_phase_end", "--top", "1"]);
        let phases = recorded.report["phases"].as_array().unwrap();
        let longest = phases.iter().map(|phase| phase["duration_ns"].as_i64().unwrap()).max().unwrap();
        let found = waits[0]["wait_ns"].as_i64().unwrap();
        assert_eq!(differs("longest phase", found, longest, &Error::FivePercent), None);
    }
    Some(recorded)
}

/// A recording that lasts as long as the test.
struct Recorded {
    program: &'static str,
    directory: TempDir,
    report: Value,
}

/// One recording at a time: each sees all that the machine does.
static RECORDING: Mutex<()> = Mutex::new(());

/// Records until nothing is lost, and nearly all of the time of the threads is known.
fn record(known: &Known<'_>) -> Result<Recorded, String> {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut why = "";
    for _ in 0..ATTEMPTS {
        why = match record_once(known)? {
            None => "perf breaks off each time, or records events out of order",
            Some(recorded) if !recorded.nothing_lost() => "perf lost records, as this machine has too much to do",
            Some(recorded) if !recorded.nothing_stolen() => "the hypervisor takes too much of the CPUs",
            Some(recorded) if !recorded.is_known(known.recording) => "perf leaves out too many switches here",
            Some(recorded) => return Ok(recorded),
        };
    }
    Err(why.to_owned())
}

/// `None` where another attempt may have more luck.
fn record_once(known: &Known<'_>) -> Result<Option<Recorded>, String> {
    let directory = TempDir::new().unwrap();
    let output = Command::new("perf")
        .arg("record")
        .args(known.recording)
        .arg("-o")
        .arg(directory.path().join("perf.data"))
        .arg("--")
        .arg(workload(known.program))
        .args(known.arguments)
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err("there is no perf here".to_owned()),
        Err(error) => return Err(format!("perf cannot be run: {error}")),
        Ok(output) => output,
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if output.stdout.is_empty() {
        return Err(format!("perf cannot record: {said}"));
    }
    // perf 6.1 breaks off at the end when somebody else records with `--buildid-mmap` at the same time. On a loaded machine
    // it writes records too late to be sorted, and says so.
    if !output.status.success() || said.contains("out of order events") {
        return Ok(None);
    }
    let report = serde_json::from_slice(&output.stdout).unwrap();
    let recorded = Recorded { program: known.program, directory, report };
    recorded.run(&["extract", "perf.data", "--symbols", "local", "--sysroot", "/"]);
    Ok(Some(recorded))
}

/// The program: it lies where that of the tests does, and is built there if it does not.
fn workload(name: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    let directory = Path::new(env!("CARGO_BIN_EXE_tracesift")).parent().unwrap();
    let path = directory.join(name);
    if !path.exists() {
        BUILT.get_or_init(|| build(directory));
    }
    assert!(path.exists(), "{}", path.display());
    path
}

fn build(directory: &Path) {
    // Debug builds are those of the profile `dev`, and lie in `debug`.
    let profile = match directory.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        other => other,
    };
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "-p", "tracesift-workloads", "--profile", profile])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"), "--target-dir"])
        .arg(directory.parent().unwrap())
        .status()
        .unwrap();
    assert!(status.success());
}

impl Recorded {
    /// What tracesift writes.
    fn run(&self, arguments: &[&str]) -> Vec<u8> {
        let output = Command::new(env!("CARGO_BIN_EXE_tracesift"))
            .current_dir(self.directory.path())
            .args(arguments)
            // What is kept for a user is not the tests' to read or write.
            .env("XDG_CACHE_HOME", self.directory.path().join("cache"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// The rows of an answer.
    fn ask(&self, question: &[&str]) -> Vec<Value> {
        let answer = self.run(&[&["dump"], question, &["perf.sift", "--format", "json"]].concat());
        serde_json::from_slice(&answer).unwrap()
    }

    fn nothing_lost(&self) -> bool {
        let information = fs::read(self.directory.path().join("perf.sift/trace.json")).unwrap();
        let information: Value = serde_json::from_slice(&information).unwrap();
        information["events_lost"].as_i64().unwrap() == 0
    }

    /// Whether the CPUs were those of this machine: what a hypervisor takes is no CPU time for a program, and is for a recorder.
    fn nothing_stolen(&self) -> bool {
        self.report["stolen_ns"].as_i64().unwrap_or(0) * 50 <= self.report["duration_ns"].as_i64().unwrap()
    }

    fn threads(&self) -> Vec<(&Value, Value)> {
        let rows = self.ask(&["threads", "-p", self.program]);
        let told = self.report["threads"].as_array().unwrap();
        let row = |told: &Value| rows.iter().find(|row| row["tid"] == told["tid"]).unwrap().clone();
        told.iter().map(|told| (told, row(told))).collect()
    }

    /// Whether it is known of nearly all of the time what the threads did. Some kernels leave out switches without a word, and where the
    /// records of those who come do not make up for it, who ran then is not known.
    fn is_known(&self, recording: &[&str]) -> bool {
        // Where no switches were recorded nothing asks for them.
        recording != TIMES
            || self.threads().iter().all(|(told, row)| {
                let lived = told["end_ns"].as_i64().unwrap() - told["begin_ns"].as_i64().unwrap();
                row["unknown_ns"].as_i64().unwrap() * 50 <= lived
            })
    }

    fn count(&self, name: &str) -> i64 {
        let answer = self.run(&["events", "perf.data", "-p", self.program, "--name", name, "--format", "jsonl"]);
        i64::try_from(answer.iter().filter(|byte| **byte == b'\n').count()).unwrap()
    }

    /// A figure of the program's system calls, added up.
    fn calls(&self, which: &[&str], figure: impl Fn(&Value) -> i64) -> i64 {
        self.ask(&[&["syscalls", "-p", self.program], which].concat()).iter().map(figure).sum()
    }

    fn told(&self, keys: &[&str]) -> i64 {
        let value = |key: &&str| self.report.pointer(&format!("/truth/{key}")).and_then(Value::as_i64).unwrap();
        keys.iter().map(value).sum()
    }

    /// What differs by too much, in words.
    fn differences(&self, figure: &Figure) -> Vec<String> {
        let (what, found) = match &figure.found {
            Found::Threads(key) => {
                let Told::Threads(told_key) = figure.told else { unreachable!("threads are compared with threads") };
                let differ = |(told, row): (&Value, Value)| {
                    let what = format!("{key} of {}", told["name"]);
                    differs(&what, row[*key].as_i64().unwrap(), told[told_key].as_i64().unwrap(), &figure.error)
                };
                return self.threads().into_iter().filter_map(differ).collect();
            }
            Found::Method(name, keys) => {
                let pattern = format!("*{name}");
                let question = ["cpu", "-p", self.program, "--methods", &pattern, "--first-last", "s"];
                let rows = self.ask(&question);
                let [row] = rows.as_slice() else { return vec![format!("{name}: {} rows", rows.len())] };
                let value = |key: &&str| row[*key].as_i64().unwrap();
                (format!("{keys:?} of {name}"), keys.iter().map(value).sum())
            }
            Found::Undone(call, by) => {
                let succeeded = |call| self.calls(&["--calls", call], |row| count(row, "calls") - count(row, "failed"));
                (format!("{call} without {by}"), succeeded(call) - succeeded(by))
            }
            Found::Failed(error) => (
                format!("calls that failed with {error}"),
                self.calls(&["--errors", error], |row| count(row, "failed")),
            ),
            Found::Events(name) => (format!("events {name}"), self.count(name)),
        };
        let told = match figure.told {
            Told::Truth(keys) => self.told(keys),
            Told::OffCpuByPerf(thread, function) => self.off_cpu_by_perf(thread, function),
            Told::Threads(_) => unreachable!("only threads are compared with threads"),
        };
        differs(&what, found, told, &figure.error).into_iter().collect()
    }

    /// How long a thread was off the CPU in a function, by the text of perf: from a switch away from it, with the function in its stack,
    /// to the next event that says that it comes. The tracepoints and the records of switches stand in for each other, as kernels leave
    /// out some of either.
    fn off_cpu_by_perf(&self, name: &str, function: &str) -> i64 {
        let told = self.report["threads"].as_array().unwrap();
        let tid = told.iter().find(|thread| thread["name"] == name).unwrap()["tid"].to_string();
        let stacks = self.perf_script(&["--no-inline", "--tid", &tid, "-F", "tid,time,event,ip,sym"]);
        let in_function: HashSet<i64> = stacks
            .split("\n\n")
            .filter(|sample| {
                sample.contains(" sched:sched_switch:") && sample.lines().any(|line| line.contains(function))
            })
            .map(|sample| perf_time(sample.split_whitespace().nth(1).unwrap()))
            .collect();
        let (mut left, mut off) = (None, 0);
        for line in self.perf_script(&["-F", "tid,time,event,trace", "--show-switch-events"]).lines() {
            let Some((goes, comes)) = switch_of(line, &tid) else { continue };
            let time = perf_time(line.split_whitespace().nth(1).unwrap());
            if goes {
                left = left.or(Some(time));
            } else if comes {
                // Where perf names no frame of the recording, the thread stands for the function: it does hardly anything else.
                let counts = |left: &i64| in_function.is_empty() || in_function.contains(left);
                off += left.take().filter(counts).map_or(0, |left| time - left);
            }
        }
        off
    }

    fn perf_script(&self, arguments: &[&str]) -> String {
        let mut perf = Command::new("perf");
        perf.current_dir(self.directory.path()).args(["script", "-i", "perf.data", "--ns"]).args(arguments);
        // Debug files are not looked for on the network.
        let output = perf.env("DEBUGINFOD_URLS", "").stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Whether the thread goes from its CPU at this line of perf's text, and whether it comes to one; `None` where it is no switch of it.
/// `4310 21084.568286932: sched:sched_switch: prev_comm=cold prev_pid=4310 … ==> next_comm=… next_pid=0 next_prio=120`, and
/// `4310 21084.568286932: PERF_RECORD_SWITCH_CPU_WIDE OUT preempt next pid/tid: 3867/5651`.
fn switch_of(line: &str, tid: &str) -> Option<(bool, bool)> {
    let (goes, comes) = if line.contains(" sched:sched_switch: ") {
        let field = |name: &str| line.rsplit(name).next().and_then(|rest| rest.split_whitespace().next()) == Some(tid);
        (field(" prev_pid="), field(" next_pid="))
    } else {
        let (_, record) = line.split_once(" PERF_RECORD_SWITCH")?;
        let is_own = line.split_whitespace().next() == Some(tid);
        (is_own && record.contains(" OUT"), is_own && record.contains(" IN"))
    };
    (goes || comes).then_some((goes, comes))
}

/// `567.890123456:`, in ns.
fn perf_time(text: &str) -> i64 {
    let (seconds, nanoseconds) = text.trim_end_matches(':').split_once('.').unwrap();
    seconds.parse::<i64>().unwrap() * 1_000_000_000 + nanoseconds.parse::<i64>().unwrap()
}

fn count(row: &Value, key: &str) -> i64 {
    row[key].as_i64().unwrap()
}

fn differs(what: &str, found: i64, told: i64, error: &Error) -> Option<String> {
    let five = told as f64 * 0.05;
    let allowed = match error {
        Error::FivePercent => five,
        // n samples have a standard deviation of at most √n.
        Error::Sampled => five.max(3.0 * (told as f64 / INTERVAL).sqrt() * INTERVAL),
    };
    let far = (found - told).abs() as f64 > allowed;
    far.then(|| format!("{what}: {found} instead of {told}, {allowed:.0} allowed"))
}
