//! Each program does a little of its work and reports it.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

use std::process::{Command, Output};

use serde_json::Value;

fn run(path: &str, arguments: &[&str]) -> Output {
    Command::new(path).args(arguments).output().unwrap()
}

/// Runs a program; its report.
fn report(path: &str, arguments: &[&str]) -> Value {
    let output = run(path, arguments);
    assert!(output.status.success(), "{path}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("  \"duration_ms\": ")).count(), 1, "{text}");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert!(report["duration_ns"].as_i64().unwrap() > 0, "{text}");
    assert!(!report["phases"].as_array().unwrap().is_empty() && !report["threads"].as_array().unwrap().is_empty());
    report
}

/// The help names every figure, and what it names is there.
fn keys_are_documented(path: &str, report: &Value) {
    let output = run(path, &["--help"]);
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{help}");
    let truth = report["truth"].as_object().unwrap();
    for key in truth.keys() {
        assert!(help.contains(&format!("truth.{key} ")), "{path}: {key}");
    }
    let named: Vec<&str> =
        help.lines().filter_map(|line| line.trim().strip_prefix("truth.")?.split(' ').next()).collect();
    assert_eq!(named.len(), truth.len(), "{path}: {named:?}");
    assert_eq!(run(path, &["--no-such-option", "1"]).status.code(), Some(64), "{path}");
}

/// Each method that can have more to do has as much more as was asked for, and so has the lock.
fn more_is_added(path: &str, arguments: &[&str]) {
    let output = run(path, &["--help"]);
    let help = String::from_utf8(output.stdout).unwrap();
    let line = |start: &str| help.lines().find_map(|line| line.strip_prefix(start));
    let with = |more: &[&str]| report(path, &[arguments, more].concat());
    let added = |report: &Value, key: &str| report["truth"][key].as_i64().unwrap();
    for method in line("Methods of --extra-cpu: ").unwrap().split(", ") {
        let report = with(&["--extra-cpu", &format!("{method}=30")]);
        // Clocks have a grain, and the last parts may be those of a thread that another one outruns.
        assert!((28_000_000..=36_000_000).contains(&added(&report, "extra_cpu_ns")), "{method}: {report}");
        assert_eq!(added(&report, "extra_lock_ns"), 0, "{method}: {report}");
    }
    let unknown = run(path, &["--extra-cpu", "nothing=1"]);
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(unknown.status.code() == Some(64) && said.contains("there is no method nothing; there are "), "{said}");
    if line("Method that holds the lock: ").is_some() {
        let report = with(&["--extra-lock", "30"]);
        assert!(added(&report, "extra_lock_ns") >= 28_000_000, "{report}");
    } else {
        assert_eq!(run(path, &["--extra-lock", "1"]).status.code(), Some(64), "{path}");
    }
}

macro_rules! programs {
    ($($test:ident: $name:literal [$($argument:literal),*] $check:expr;)*) => { $(
        #[test]
        fn $test() {
            let path = env!(concat!("CARGO_BIN_EXE_", $name));
            let report = report(path, &[$($argument),*]);
            assert_eq!(report["workload"], $name);
            keys_are_documented(path, &report);
            more_is_added(path, &[$($argument),*]);
            let truth = |key: &str| report["truth"][key].as_i64().unwrap_or_else(|| panic!("{key}: {report}"));
            let check: fn(&dyn Fn(&str) -> i64, &Value) = $check;
            check(&truth, &report);
        }
    )* };
}

programs! {
    allocator: "allocator" ["--small", "1000", "--large", "2", "--large-size", "1M"] |truth, _| {
        assert_eq!((truth("small"), truth("large"), truth("large_bytes")), (1000, 2, 2 << 20));
        assert!((16_000..272_000).contains(&truth("small_bytes")));
    };
    busy_regex: "busy-regex" ["--texts", "50", "--length", "10"] |truth, _| {
        assert!(truth("texts") == 50 && truth("steps") > 512 * truth("texts"));
        assert!(truth("match_cpu_ns") > 0);
    };
    cold_start: "cold-start" ["--files", "5", "--size", "20K"] |truth, _| {
        assert_eq!((truth("files"), truth("bytes")), (5, 5 * 20 * 1024));
    };
    crowded_cpus: "crowded-cpus" ["--threads", "1", "--seconds", "100ms"] |truth, report| {
        assert_eq!(report["threads"].as_array().unwrap().len(), 3);
        assert!(truth("cpu_ns") > 0 && truth("cpus") > 0);
    };
    failing_calls: "failing-calls" ["--rounds", "7"] |truth, report| {
        assert_eq!((truth("calls"), truth("failed")), (42, 35));
        assert_eq!(report["truth"]["failed_by_call"]["open"], 21);
    };
    file_writer: "file-writer" ["--files", "7", "--size", "1234", "--mode", "parallel", "--threads", "2"] |truth, report| {
        assert_eq!((truth("files"), truth("bytes")), (7, 7 * 1234));
        let files = |thread: &Value| thread["files"].as_i64().unwrap();
        assert_eq!(report["threads"].as_array().unwrap().iter().map(files).sum::<i64>(), 7);
    };
    leaker: "leaker" ["--descriptors", "20", "--mappings", "10", "--closed", "5", "--seconds", "100ms"] |truth, report| {
        assert_eq!((truth("opened"), truth("closed"), truth("leaked_descriptors")), (25, 5, 20));
        assert_eq!((truth("leaked_mappings"), truth("leaked_bytes")), (10, 10 << 16));
        assert!(report["truth"]["descriptors_at_end"].as_i64().is_none_or(|open| open >= 20));
    };
    lock_spinner: "lock-spinner" ["--threads", "2", "--locks", "20"] |truth, _| {
        assert!(truth("locks") == 20 && truth("hold_cpu_ns") >= 100_000_000);
    };
    memory_trimmer: "memory-trimmer" ["--size", "4M", "--rounds", "2"] |truth, _| {
        assert_eq!((truth("bytes"), truth("rounds")), (4 << 20, 2));
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            assert!(truth("first_page_faults") >= 2048 && truth("again_page_faults") >= 2048);
            assert!(truth("resident_page_faults") < 1024);
        }
    };
    silent_dns: "silent-dns" ["--hosts", "2", "--tries", "2", "--timeout", "50ms"] |truth, _| {
        assert_eq!((truth("hosts"), truth("queries"), truth("timeouts")), (2, 4, 4));
        assert_eq!((truth("server_queries"), truth("server_hosts")), (4, 2));
        assert!(truth("waited_ns") >= 150_000_000 && truth("resolve_ns") >= truth("waited_ns"));
    };
    sleepy_spinner: "sleepy-spinner" ["--seconds", "100ms"] |truth, _| {
        assert!((2..=200).contains(&truth("sleeps")) && truth("slept_ns") > 20_000_000);
    };
    slow_reader: "slow-reader" ["--reads", "4", "--delay", "20ms", "--threads", "1"] |truth, _| {
        assert_eq!(truth("reads"), 4);
        assert!(truth("read_ns") >= 75_000_000 && truth("waited_ns") <= 2 * truth("read_ns"));
    };
}

/// Without a number of calls the work goes on for a time, and what would be added only takes the place of other work.
#[test]
fn a_time_ends_the_work_and_nothing_can_be_added_to_it() {
    let path = env!("CARGO_BIN_EXE_busy-regex");
    let timed = report(path, &["--seconds", "50ms", "--length", "10"]);
    assert!(timed["truth"]["match_cpu_ns"].as_i64().unwrap() >= 30_000_000, "{timed}");
    let timed = report(env!("CARGO_BIN_EXE_lock-spinner"), &["--threads", "2", "--seconds", "200ms"]);
    assert!(timed["truth"]["locks"].as_i64().unwrap() > 0, "{timed}");
    let output = run(path, &["--extra-cpu", "match_busy_expression=5"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(64) && said.contains("give --texts"), "{said}");
}
