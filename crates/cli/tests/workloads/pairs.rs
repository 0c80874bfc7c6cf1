//! Two cases of a plan with one known difference: `run` records them in turn, and `compare` names the cause.
//!
//! What a program added is in its report, which `run` keeps. `TRACESIFT_PAIR_RUNS` is the number of runs of each case.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::PoisonError;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_fixtures::skipped;

use crate::known::INTERVAL;
use crate::programs::{RECORDING, workload};
use crate::support::{said, tracesift};

/// Runs of each case where nobody asks for others: the fewest that permutations can tell apart.
const RUNS: u32 = 4;

/// How often runs are repeated of which a recording lacks too much, and pairs that are undecided.
const ATTEMPTS: usize = 3;

/// The folders of the archives of both cases.
const SETS: [&str; 2] = ["few", "many"];

/// Two cases of a program.
struct Pair {
    program: &'static str,
    /// The arguments, in which `{n}` is the value of the case.
    arguments: &'static [&'static str],
    /// Options of `compare`.
    options: &'static [&'static str],
    values: [u32; 2],
    /// What has to be the first undisturbed row: one of these.
    causes: &'static [Cause],
    /// How long that is, where somebody knows.
    told: Told,
}

/// A row of a comparison.
struct Cause {
    /// How it begins: who does what.
    does: &'static str,
    /// The state in that.
    state: &'static str,
    /// The end of the method that it has behind that, or nothing.
    method: &'static str,
    /// Whether the second case has more of it.
    grows: bool,
}

/// Who knows how much longer the cause takes in the second case.
enum Told {
    Nobody,
    /// The report, below `truth`; the recording has it by samples.
    Report(&'static str),
    /// It follows from the arguments, ns; the recording has it by switches.
    Arguments(f64),
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
    options: &[],
    values: [0, 60],
    causes: &[Cause { does: "busy-regex main runs", state: "run", method: "::match_busy_expression", grows: true }],
    told: Told::Report("extra_cpu_ns"),
};

/// The threads hardly spin, so that the CPUs are for those that hold the lock.
const LOCK: Pair = Pair {
    program: "lock-spinner",
    arguments: &["--locks", "80", "--spin", "1ms", "--pause", "1ms", "--extra-lock", "{n}"],
    options: &[],
    values: [0, 160],
    causes: &[Cause { does: "lock-spinner contender-# runs", state: "run", method: "::work_with_lock", grows: true }],
    told: Told::Report("extra_cpu_ns"),
};

const DEVICE: Pair = Pair {
    program: "slow-reader",
    arguments: &["--reads", "10", "--delay", "{n}ms"],
    options: &[],
    values: [40, 50],
    causes: &[Cause { does: "slow-reader device waits", state: "wait", method: "::answer_slowly", grows: true }],
    told: Told::Arguments(10.0 * 10e6),
};

/// One thread writes all files, or each of three threads a part of them, for which they are in each other's way.
const WRITERS: Pair = Pair {
    program: "file-writer",
    arguments: &["--mode", "parallel", "--threads", "{n}", "--files", "1500"],
    options: &[],
    values: [1, 3],
    causes: &[
        Cause { does: "file-writer writer-# runs", state: "run", method: "", grows: false },
        Cause {
            does: "file-writer writer-# ready while file-writer had the CPU",
            state: "ready",
            method: "",
            grows: true,
        },
    ],
    told: Told::Nobody,
};

/// Each file is a tenth larger. Of smaller ones most time is for the file, whatever its size.
const SIZES: Pair = Pair {
    program: "file-writer",
    arguments: &["--mode", "serial", "--files", "200", "--size", "{n}K"],
    options: &[],
    values: [2000, 2200],
    causes: &[Cause { does: "file-writer writer-# runs", state: "run", method: "", grows: true }],
    told: Told::Nobody,
};

/// More files come from the disk.
const COLD: Pair = Pair {
    program: "cold-start",
    arguments: &["--files", "{n}"],
    options: &["--window", "method:*read_cold_files"],
    values: [60, 120],
    causes: &[Cause { does: "cold-start cold waits", state: "wait", method: "::read_files", grows: true }],
    told: Told::Nobody,
};

/// A quarter more large pieces of memory, of which the system clears each page.
const PAGES: Pair = Pair {
    program: "allocator",
    arguments: &["--small", "1000000", "--large", "{n}"],
    options: &[],
    values: [32, 40],
    causes: &[Cause { does: "allocator main runs", state: "run", method: "::allocate_many_large", grows: true }],
    told: Told::Report("large_cpu_ns"),
};

#[test]
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
fn a_device_is_slower() {
    DEVICE.is_explained(Beside::Nothing);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn more_threads_write_files() {
    WRITERS.is_explained(Beside::Nothing);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn a_lock_is_held_longer_beside_a_busy_program() {
    LOCK.is_explained(Beside::BusyProgram);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn a_device_is_slower_beside_a_busy_program() {
    DEVICE.is_explained(Beside::BusyProgram);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn more_threads_write_files_beside_a_busy_program() {
    WRITERS.is_explained(Beside::BusyProgram);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn files_are_larger() {
    SIZES.is_explained(Beside::Nothing);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn files_are_larger_beside_a_busy_program() {
    SIZES.is_explained(Beside::BusyProgram);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn more_files_come_from_the_disk() {
    COLD.is_explained(Beside::Nothing);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn more_files_come_from_the_disk_beside_a_busy_program() {
    COLD.is_explained(Beside::BusyProgram);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn more_pages_are_cleared() {
    PAGES.is_explained(Beside::Nothing);
}

#[test]
#[ignore = "takes long: cargo test --workspace --test workloads -- --ignored"]
fn more_pages_are_cleared_beside_a_busy_program() {
    PAGES.is_explained(Beside::BusyProgram);
}

/// What became of the comparison of two sets.
enum Explained {
    /// The cause is the first row.
    Right,
    /// It is not, and whether the durations tell the sets apart at all.
    Wrong { why: String, is_undecided: bool },
    /// Nothing can be recorded here.
    Skipped(String),
}

impl Pair {
    fn is_explained(&self, beside: Beside) {
        let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
        for attempt in 1..=ATTEMPTS {
            match self.explained(beside) {
                Explained::Right => return,
                Explained::Skipped(why) => return skipped(&why),
                // Other programs on the machine can make equal runs differ more than the sets.
                Explained::Wrong { is_undecided: true, .. } if attempt < ATTEMPTS => {}
                Explained::Wrong { why, .. } => panic!("{why}"),
            }
        }
    }

    /// Records both sets and compares them.
    fn explained(&self, beside: Beside) -> Explained {
        let directory = TempDir::new().unwrap();
        let recorded = {
            let _busy = (beside == Beside::BusyProgram).then(Busy::start);
            self.record(directory.path())
        };
        let reports = match recorded {
            Ok(reports) => reports,
            Err(why) => return Explained::Skipped(why),
        };
        let compare = [&["compare", SETS[0], SETS[1]], self.options].concat();
        let answer = tracesift(directory.path(), &[&compare[..], &["--format", "json"]].concat());
        assert!(answer.status.success(), "{}", said(&answer));
        let compared: Value = serde_json::from_slice(&answer.stdout).unwrap();
        let case = &compared["cases"][0];
        let table = tracesift(directory.path(), &compare);
        let table = String::from_utf8_lossy(&table.stdout);
        assert_eq!(case["case"], "Pair", "{table}");
        assert_ne!(case["order"], "one-after-other", "{table}");
        if beside == Beside::BusyProgram {
            assert_eq!(who_took_cpus(case).as_deref(), Some(Busy::NAME), "{table}");
        }
        let is_undecided = case["verdict"]["duration"] == "undecided";
        match self.check(case, &reports) {
            Ok(()) => Explained::Right,
            Err(why) => Explained::Wrong { why: format!("{why}\n{table}"), is_undecided },
        }
    }

    /// Records the plan, until the recordings have what counts, and puts the archives of each case into a folder. The
    /// reports of each case.
    fn record(&self, directory: &Path) -> Result<[Vec<Value>; 2], String> {
        let runs = std::env::var("TRACESIFT_PAIR_RUNS").ok().map_or(RUNS, |runs| runs.parse().unwrap());
        fs::write(directory.join("plan.toml"), self.plan(runs)).unwrap();
        let recordings = directory.join("recordings");
        for _ in 0..ATTEMPTS {
            let output = tracesift(directory, &["run", "plan.toml", "--format", "json"]);
            match output.status.code() {
                Some(0) => {}
                // There is no recorder, or it may not record.
                Some(1) => return Err(said(&output)),
                code => panic!("{code:?}: {}", said(&output)),
            }
            let archives = files(&recordings, "Pair-", ".sift");
            assert_eq!(archives.len(), 2 * runs as usize, "{}", said(&output));
            let lacking: Vec<&PathBuf> =
                archives.iter().filter(|archive| self.lacks_much(directory, archive)).collect();
            if lacking.is_empty() {
                return Ok([0, 1].map(|place| self.gather(directory, place)));
            }
            // What is not there any more is run again.
            for archive in lacking {
                fs::remove_dir_all(archive).unwrap();
                fs::remove_file(archive.with_extension("data")).unwrap();
            }
        }
        Err("perf leaves out too many switches and wake-ups here, as this machine has too much to do".to_owned())
    }

    fn plan(&self, runs: u32) -> String {
        let program = workload(self.program);
        let words = std::iter::once(program.to_str().unwrap()).chain(self.arguments.iter().copied());
        // Each run finds the files of the program in memory: `warm`.
        format!(
            "profiles = [\"Default\", \"CSwitch\"]\n\
             call-graph = \"dwarf\"\n\
             [[test]]\n\
             name = \"Pair\"\n\
             command = {}\n\
             matrix = {{ n = {:?} }}\n\
             repetitions = {runs}\n\
             cache = \"warm\"\n\
             timeout = \"5min\"\n\
             duration = {{ json = \"duration_ns\", unit = \"ns\" }}\n",
            Value::from(words.collect::<Vec<_>>()),
            self.values,
        )
    }

    /// Whether a recording does not tell for a part of the run that counts what it was doing: on a machine that has too
    /// much to do, perf loses switches and wake-ups. Of a wait that is the cause, nobody has to know what ended it: some
    /// kernels tell of no interrupt on a CPU that is idle.
    fn lacks_much(&self, directory: &Path, archive: &Path) -> bool {
        let archive = archive.to_str().unwrap();
        let path = [&["dump", "path", archive, "--top", "100000", "--format", "json"], self.options].concat();
        let answer = tracesift(directory, &path);
        let rows: Vec<Value> = serde_json::from_slice(&answer.stdout).unwrap();
        let is_cause = |row: &Value| self.causes.iter().any(|cause| cause.is_in(row));
        let lacks = |row: &&Value| row["state"] == "unknown" || (row["ended_by"] == "(nobody)" && !is_cause(row));
        let time = |row: &Value| row["path_ns"].as_i64().unwrap();
        let lacking: i64 = rows.iter().filter(lacks).map(time).sum();
        rows.is_empty() || lacking * 50 > rows.iter().map(time).sum::<i64>()
    }

    /// Puts the archives of a case into its folder. Their reports.
    fn gather(&self, directory: &Path, place: usize) -> Vec<Value> {
        let set = directory.join(SETS[place]);
        fs::create_dir(&set).unwrap();
        let case = format!("Pair-n{}_", self.values[place]);
        let move_one = |archive: &PathBuf| {
            let name = archive.file_name().unwrap().to_str().unwrap();
            // The values of parameters are part of the name of a case, and sets are compared case by case.
            fs::rename(archive, set.join(name.replacen(&case, "Pair_", 1))).unwrap();
            serde_json::from_slice(&fs::read(archive.with_extension("out.txt")).unwrap()).unwrap()
        };
        files(&directory.join("recordings"), &case, ".sift").iter().map(move_one).collect()
    }

    /// A cause is the first undisturbed row, and as long as is known.
    fn check(&self, case: &Value, reports: &[Vec<Value>; 2]) -> Result<(), String> {
        let shown = case["shown"].as_array().unwrap();
        let text = |row: &Value| row["text"].as_str().unwrap_or_default().to_owned();
        let first = shown.iter().find(|row| !text(row).starts_with("disturbed: ")).ok_or("no row")?;
        let delta = first["delta_ns"].as_i64().unwrap();
        let is_it = |cause: &&Cause| {
            text(first).starts_with(cause.does) && text(first).contains(cause.method) && (delta > 0) == cause.grows
        };
        let cause = self.causes.iter().find(is_it).ok_or_else(|| format!("the first row is {first}"))?;
        let rows = || case["rows"].as_array().unwrap().iter().filter(|row| cause.is_in(row));
        let (told, allowed) = match self.told {
            Told::Nobody => return Ok(()),
            Told::Arguments(told) => (told, 0.05 * told),
            Told::Report(key) => {
                let mean = |reports: &Vec<Value>| {
                    let told = reports.iter().map(|report| report["truth"][key].as_f64().unwrap());
                    told.sum::<f64>() / reports.len() as f64
                };
                let told = mean(&reports[1]) - mean(&reports[0]);
                // The difference of two means has the errors of both, each of the samples of all its runs.
                let samples = rows().map(both).sum::<f64>() / INTERVAL / reports[0].len() as f64;
                (told, (0.05 * told).max(3.0 * samples.sqrt() * INTERVAL))
            }
        };
        // Other rows of the method have other stack tags, or other ends of a wait.
        let found = rows().map(|row| row["delta_ns"].as_i64().unwrap()).sum::<i64>() as f64;
        if (found - told).abs() > allowed {
            return Err(format!("{}: {found} instead of {told:.0}, {allowed:.0} allowed", cause.method));
        }
        Ok(())
    }
}

impl Cause {
    /// Whether a row of the finest level belongs to it.
    fn is_in(&self, row: &Value) -> bool {
        let site = row["site"].as_str().unwrap_or_default();
        row["state"] == self.state && !self.method.is_empty() && site.ends_with(self.method)
    }
}

/// The mean times of both sets in a row, added up, ns.
fn both(row: &Value) -> f64 {
    row["a_ns"].as_f64().unwrap() + row["b_ns"].as_f64().unwrap()
}

/// The process that had the CPUs for the longest time while the test was ready.
fn who_took_cpus(case: &Value) -> Option<String> {
    let mut times = std::collections::BTreeMap::<&str, f64>::new();
    for row in case["rows"].as_array().unwrap().iter().filter(|row| row["disturbance"] == "cpu-taken") {
        *times.entry(row["site"].as_str().unwrap_or_default()).or_default() += both(row);
    }
    times.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(name, _)| name.to_owned())
}

/// A program with a busy thread for each CPU, until it is dropped: the others wait for their turn.
struct Busy(Child);

impl Busy {
    const NAME: &'static str = "crowded-cpus";

    fn start() -> Self {
        let threads = std::thread::available_parallelism().unwrap().to_string();
        let mut command = Command::new(workload(Self::NAME));
        command.args(["--threads", &threads, "--seconds", "3600"]).stdin(Stdio::null()).stdout(Stdio::null());
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

/// What lies in a folder and has a name that begins and ends so, in the order of the names.
fn files(folder: &Path, start: &str, end: &str) -> Vec<PathBuf> {
    let fits = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(start) && name.ends_with(end)
    };
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(fits).collect();
    paths.sort();
    paths
}
