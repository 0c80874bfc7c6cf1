//! Programs with one known problem each, really recorded: the question that `docs/workloads.md` has for each of them names the
//! figure that the program tells of itself.
//!
//! A figure may differ by 5 %, a sampled one by three standard deviations if that is more. Where the clock of the program's CPU time
//! runs at other moments than the thread, the figure is held against perf's own text of the same recording instead.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

mod history;
mod known;
mod pairs;
mod pipeline;
mod programs;
mod recorded;
mod support;

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_fixtures::skipped;
use tracesift_trace::rows::MarkRow;

use known::{
    CALLS, CALLS_WITH_STACKS, Error, FAULTS, Figure, Found, INTERVAL, Known, OFF_CPU, Problem, TIMES, Told, cpu,
    differs, events, failed, method, threads, undone,
};
use programs::{RECORDING, workload};
use recorded::{Recorded, perf_time, record};

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
        problem: Some(Problem {
            options: &["--level", "who"],
            among: &[],
            row: &[("state", "run"), ("thread", "writer-#")],
            summed: &[("state", "run"), ("thread", "writer-#")],
            told: Told::Truth(&["write_cpu_ns"]),
            error: Error::FivePercent,
        }),
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
        problem: None,
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
        problem: Some(Problem {
            options: &["--anchor", "contender-0"],
            among: &[],
            row: &[("state", "run"), ("site", "work_with_lock")],
            summed: &[("state", "run"), ("site", "spin_for_lock"), ("for_site", "")],
            told: Told::Thread("contender-0", "spin_cpu_ns", None),
            error: Error::Sampled,
        }),
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
        problem: Some(Problem {
            options: &["--anchor", "poller-0"],
            among: &[],
            row: &[("state", "wait"), ("site", "sleep_until_done")],
            summed: &[("state", "wait"), ("site", "sleep_until_done")],
            told: Told::Thread("poller-0", "slept_ns", Some("ready_ns")),
            error: Error::FivePercent,
        }),
    });
}

#[test]
fn a_regular_expression_is_busy() {
    diagnose(&Known {
        program: "busy-regex",
        arguments: &[],
        recording: TIMES,
        figures: &[cpu("match_busy_expression", &["match_cpu_ns"])],
        problem: Some(Problem {
            options: &[],
            among: &[],
            row: &[("state", "run"), ("site", "busy_regex::Matcher")],
            summed: &[("state", "run")],
            told: Told::Truth(&["match_cpu_ns"]),
            error: Error::FivePercent,
        }),
    });
}

#[test]
fn memory_is_allocated_all_the_time() {
    diagnose(&Known {
        program: "allocator",
        arguments: &[],
        recording: TIMES,
        figures: &[cpu("allocate_many_small", &["small_cpu_ns"]), cpu("allocate_many_large", &["large_cpu_ns"])],
        problem: Some(Problem {
            options: &[],
            among: &[],
            row: &[("state", "run"), ("site", "allocate_many_")],
            summed: &[("state", "run"), ("site", "allocate_many_")],
            told: Told::Truth(&["small_cpu_ns", "large_cpu_ns"]),
            error: Error::Sampled,
        }),
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
        problem: Some(Problem {
            options: &[],
            among: &[],
            row: &[("state", "run"), ("site", "::touch_")],
            summed: &[("state", "run"), ("site", "::touch_after_trim")],
            told: Told::Truth(&["again_cpu_ns"]),
            error: Error::Sampled,
        }),
    });
}

#[test]
fn each_page_faults_twice() {
    diagnose(&Known {
        program: "memory-trimmer",
        arguments: &["--size", "32M", "--rounds", "3"],
        recording: FAULTS,
        figures: &[events("page-faults*", &["first_page_faults", "again_page_faults"])],
        problem: None,
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
        problem: Some(Problem {
            // Those of low priority wait most of all. A thread of normal priority has a CPU for half of the time.
            options: &["--anchor", "lower-0"],
            among: &[],
            row: &[("state", "ready"), ("tag", "the test itself")],
            summed: &[("state", "ready"), ("thread", "lower-#")],
            told: Told::Thread("lower-0", "ready_ns", None),
            error: Error::FivePercent,
        }),
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
        problem: Some(Problem {
            options: &[],
            among: &[],
            row: &[("state", "wait"), ("site", "answer_slowly")],
            summed: &[("state", "wait"), ("site", "answer_slowly")],
            told: Told::Truth(&["read_ns"]),
            error: Error::FivePercent,
        }),
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
            problem: None,
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
        problem: Some(Problem {
            options: &[],
            among: &[],
            row: &[("state", "wait"), ("site", "wait_for_answer")],
            summed: &[("site", "wait_for_answer")],
            told: Told::Truth(&["waited_ns"]),
            error: Error::FivePercent,
        }),
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
        problem: Some(Problem {
            options: &["--window", "method:*read_cold_files"],
            // How fast the disk is decides whether copying takes longer than waiting.
            among: &[("state", "wait")],
            row: &[("state", "wait"), ("site", "read")],
            summed: &[],
            told: Told::Truth(&["cold_elapsed_ns"]),
            error: Error::FivePercent,
        }),
    });
}

#[test]
fn descriptors_and_mappings_are_leaked() {
    diagnose(&Known {
        program: "leaker",
        arguments: &[],
        recording: CALLS,
        figures: &[undone("openat", "close", &["leaked_descriptors"]), undone("mmap", "munmap", &["leaked_mappings"])],
        problem: None,
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
        problem: None,
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
        problem: None,
    });
}

/// Whether or not perf sees the trace marker, which it mostly does not.
#[test]
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
    if let Some(problem) = &known.problem {
        recorded.names(problem);
    }
    Some(recorded)
}
