//! Two cases of a plan with one known difference: `run` records them in turn, and `compare` names the cause.
//!
//! Each pair is recorded twice, once alone and once beside a program that wants all CPUs. What the program added is in its
//! report, which `run` keeps. `TRACESIFT_PAIR_RUNS` is the number of runs of each case.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::PoisonError;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_fixtures::skipped;

use crate::known::INTERVAL;
use crate::programs::{RECORDING, workload};

/// Runs of each case where nobody asks for others: the fewest that permutations can tell apart.
const RUNS: u32 = 4;

/// Two cases of a program.
struct Pair {
    program: &'static str,
    /// The arguments, in which `{n}` is the value of the case.
    arguments: &'static [&'static str],
    /// The values of the two cases.
    values: [u32; 2],
    cause: Cause,
}

/// What has to be the first undisturbed row.
struct Cause {
    /// How the row begins: who does what.
    does: &'static str,
    /// The method in it, as it ends.
    method: &'static str,
    /// Whether the second case has more of it.
    grows: bool,
    /// The key of the report that has its time, and how it is measured; `None` where no report has it.
    told: Option<(&'static str, Measured)>,
}

/// How a recording has a time.
enum Measured {
    /// By the samples of a thread.
    Sampled,
    /// By its switches.
    Switched,
}

/// Whether another program wants the CPUs meanwhile.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    Nothing,
    BusyProgram,
}

const REGEX: Pair = Pair {
    program: "busy-regex",
    arguments: &["--texts", "6", "--extra-cpu", "match_busy_expression={n}"],
    values: [0, 60],
    cause: Cause {
        does: "busy-regex main runs",
        method: "match_busy_expression",
        grows: true,
        told: Some(("extra_cpu_ns", Measured::Sampled)),
    },
};

const LOCK: Pair = Pair {
    program: "lock-spinner",
    arguments: &["--locks", "80", "--extra-lock", "{n}"],
    values: [0, 160],
    cause: Cause {
        does: "lock-spinner contender-# runs",
        method: "work_with_lock",
        grows: true,
        told: Some(("extra_cpu_ns", Measured::Sampled)),
    },
};

const DEVICE: Pair = Pair {
    program: "slow-reader",
    arguments: &["--reads", "10", "--delay", "{n}ms"],
    values: [40, 50],
    cause: Cause {
        does: "slow-reader device waits for timer",
        method: "answer_slowly",
        grows: true,
        told: Some(("read_ns", Measured::Switched)),
    },
};

const WRITERS: Pair = Pair {
    program: "file-writer",
    arguments: &["--mode", "parallel", "--threads", "{n}", "--files", "1500"],
    values: [1, 3],
    cause: Cause { does: "file-writer writer-# runs", method: "write_file", grows: false, told: None },
};

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn a_method_needs_more_cpu_time() {
    REGEX.is_explained(Beside::Nothing);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn a_method_needs_more_cpu_time_beside_a_busy_program() {
    REGEX.is_explained(Beside::BusyProgram);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn a_lock_is_held_longer() {
    LOCK.is_explained(Beside::Nothing);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn a_lock_is_held_longer_beside_a_busy_program() {
    LOCK.is_explained(Beside::BusyProgram);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn a_device_is_slower() {
    DEVICE.is_explained(Beside::Nothing);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn a_device_is_slower_beside_a_busy_program() {
    DEVICE.is_explained(Beside::BusyProgram);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn more_threads_write_files() {
    WRITERS.is_explained(Beside::Nothing);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn more_threads_write_files_beside_a_busy_program() {
    WRITERS.is_explained(Beside::BusyProgram);
}

impl Pair {
    fn is_explained(&self, beside: Beside) {
        let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = TempDir::new().unwrap();
        let recorded = {
            let _busy = (beside == Beside::BusyProgram).then(Busy::start);
            self.record(directory.path())
        };
        let reports = match recorded {
            Ok(reports) => reports,
            Err(why) => return skipped(&why),
        };
        let answer = tracesift(directory.path(), &["compare", "few", "many", "--format", "json"]);
        assert!(answer.status.success(), "{}", said(&answer));
        let compared: Value = serde_json::from_slice(&answer.stdout).unwrap();
        let case = &compared["cases"][0];
        let table = tracesift(directory.path(), &["compare", "few", "many"]);
        let table = String::from_utf8_lossy(&table.stdout);
        self.check(case, &reports).unwrap_or_else(|why| panic!("{why}\n{table}"));
        if beside == Beside::BusyProgram {
            assert_eq!(who_took_cpus(case).as_deref(), Some(Busy::NAME), "{table}");
        }
    }

    /// Records the plan, and puts the archives of each case into a folder. The reports of each case, in these folders' order.
    fn record(&self, directory: &Path) -> Result<[Vec<Value>; 2], String> {
        let runs = std::env::var("TRACESIFT_PAIR_RUNS").ok().map_or(RUNS, |runs| runs.parse().unwrap());
        fs::write(directory.join("plan.toml"), self.plan(runs)).unwrap();
        let output = tracesift(directory, &["run", "plan.toml", "--format", "json"]);
        if !output.status.success() {
            return Err(said(&output));
        }
        let recordings = directory.join("recordings");
        let mut reports = [Vec::new(), Vec::new()];
        for (place, set) in ["few", "many"].into_iter().enumerate() {
            fs::create_dir(directory.join(set)).unwrap();
            let case = format!("Pair-n{}_", self.values[place]);
            for archive in files(&recordings, &case, ".sift") {
                let name = archive.file_name().unwrap().to_str().unwrap();
                let printed = archive.with_extension("out.txt");
                reports[place].push(serde_json::from_slice(&fs::read(printed).unwrap()).unwrap());
                // One test has two cases, and a comparison is one of the same case.
                fs::rename(&archive, directory.join(set).join(name.replacen(&case, "Pair_", 1))).unwrap();
            }
            assert_eq!(reports[place].len(), runs as usize, "{}", said(&output));
        }
        Ok(reports)
    }

    fn plan(&self, runs: u32) -> String {
        let program = workload(self.program);
        let words: Vec<Value> =
            std::iter::once(program.to_str().unwrap()).chain(self.arguments.iter().copied()).map(Value::from).collect();
        format!(
            "profiles = [\"Default\", \"CSwitch\"]\n\
             call-graph = \"dwarf\"\n\
             [[test]]\n\
             name = \"Pair\"\n\
             command = {}\n\
             matrix = {{ n = {:?} }}\n\
             repetitions = {runs}\n\
             cache = \"as-is\"\n\
             timeout = \"2min\"\n\
             duration = {{ json = \"duration_ns\", unit = \"ns\" }}\n",
            Value::from(words),
            self.values,
        )
    }

    /// The cause is the first undisturbed row, and as long as the program says.
    fn check(&self, case: &Value, reports: &[Vec<Value>; 2]) -> Result<(), String> {
        let shown = case["shown"].as_array().unwrap();
        let text = |row: &Value| row["text"].as_str().unwrap_or_default().to_owned();
        let first = shown.iter().find(|row| !text(row).starts_with("disturbed: ")).ok_or("no row")?;
        let cause = &self.cause;
        let delta = first["delta_ns"].as_i64().unwrap();
        let is_cause = text(first).starts_with(cause.does) && text(first).contains(cause.method);
        if !is_cause || (delta > 0) != cause.grows {
            return Err(format!("the first row is {first}"));
        }
        let Some((key, measured)) = &cause.told else { return Ok(()) };
        let mean = |reports: &[Value]| {
            let told = reports.iter().map(|report| report["truth"][key].as_i64().unwrap());
            told.sum::<i64>() as f64 / reports.len() as f64
        };
        let told = mean(&reports[1]) - mean(&reports[0]);
        let allowed = match measured {
            Measured::Switched => 0.05 * told,
            // The samples of all runs, of which the difference has the errors of both sets.
            Measured::Sampled => {
                let time = self.sampled(case);
                (0.05 * told).max(3.0 * (time / INTERVAL / reports[0].len() as f64).sqrt() * INTERVAL)
            }
        };
        if (delta as f64 - told).abs() > allowed {
            return Err(format!("{first}: {delta} instead of {told:.0}, {allowed:.0} allowed"));
        }
        Ok(())
    }

    /// The mean times of both sets in the rows of the cause, added up, ns.
    fn sampled(&self, case: &Value) -> f64 {
        let rows = case["rows"].as_array().unwrap();
        let of_cause = rows.iter().filter(|row| row["state"] == "run" && row["disturbance"].is_null());
        let of_cause =
            of_cause.filter(|row| row["site"].as_str().is_some_and(|site| site.ends_with(self.cause.method)));
        of_cause.map(|row| row["a_ns"].as_f64().unwrap() + row["b_ns"].as_f64().unwrap()).sum()
    }
}

/// The process that had the CPUs for the longest time while the test was ready.
fn who_took_cpus(case: &Value) -> Option<String> {
    let mut times = std::collections::BTreeMap::<&str, f64>::new();
    for row in case["rows"].as_array().unwrap().iter().filter(|row| row["disturbance"] == "cpu-taken") {
        let time = row["a_ns"].as_f64().unwrap() + row["b_ns"].as_f64().unwrap();
        *times.entry(row["site"].as_str().unwrap_or_default()).or_default() += time;
    }
    times.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(name, _)| name.to_owned())
}

/// A program that wants all CPUs, until it is dropped.
struct Busy(Child);

impl Busy {
    const NAME: &'static str = "crowded-cpus";

    fn start() -> Self {
        let mut command = Command::new(workload(Self::NAME));
        command.args(["--threads", "1", "--seconds", "3600"]).stdin(Stdio::null()).stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Files of a folder whose names begin and end so, in the order of their names.
fn files(folder: &Path, start: &str, end: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let fits = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(start) && name.ends_with(end)
    };
    let mut paths: Vec<PathBuf> = paths.filter(fits).collect();
    paths.sort();
    paths
}

fn tracesift(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracesift"));
    command.current_dir(directory).env("XDG_CACHE_HOME", directory.join("cache"));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
