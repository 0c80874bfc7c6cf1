//! A program, recorded until the recording is good enough, and the answers about it.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::sync::PoisonError;

use serde_json::Value;
use tempfile::TempDir;

use crate::known::{Figure, Found, Known, Problem, TIMES, Told, differs};
use crate::programs::{RECORDING, workload};

/// Recordings until one has what a test needs.
const ATTEMPTS: usize = 5;

/// A recording that lasts as long as the test.
pub(crate) struct Recorded {
    pub(crate) program: &'static str,
    pub(crate) directory: TempDir,
    pub(crate) report: Value,
}

/// Records until nothing is lost, and nearly all of the time of the threads is known.
pub(crate) fn record(known: &Known<'_>) -> Result<Recorded, String> {
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

impl Recorded {
    /// What tracesift writes.
    pub(crate) fn run(&self, arguments: &[&str]) -> Vec<u8> {
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
    pub(crate) fn ask(&self, question: &[&str]) -> Vec<Value> {
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

    pub(crate) fn told(&self, keys: &[&str]) -> i64 {
        let value = |key: &&str| self.report.pointer(&format!("/truth/{key}")).and_then(Value::as_i64).unwrap();
        keys.iter().map(value).sum()
    }

    /// What differs by too much, in words.
    pub(crate) fn differences(&self, figure: &Figure) -> Vec<String> {
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
        differs(&what, found, self.figure(&figure.told), &figure.error).into_iter().collect()
    }

    fn figure(&self, told: &Told) -> i64 {
        match told {
            Told::Truth(keys) => self.told(keys),
            Told::OffCpuByPerf(thread, function) => self.off_cpu_by_perf(thread, function),
            Told::Thread(name, key, less) => {
                let threads = self.report["threads"].as_array().unwrap();
                let thread = threads.iter().find(|thread| thread["name"] == *name).unwrap();
                let value = |key: &str| thread[key].as_i64().unwrap();
                value(key) - less.map_or(0, value)
            }
            Told::Threads(_) => unreachable!("only threads are compared with threads"),
        }
    }

    /// Whether `dump path` names the problem: its row is the largest of those that are no disturbance, or of their waits,
    /// and its time is that of the report.
    pub(crate) fn names(&self, problem: &Problem) {
        let rows = self.ask(&[&["path", "-p", self.program, "--top", "100000"], problem.options].concat());
        let has = |row: &Value, texts: &[(&str, &str)]| {
            texts.iter().all(|(key, part)| match row[*key].as_str() {
                Some(text) => !part.is_empty() && text.contains(part),
                None => part.is_empty(),
            })
        };
        let time = |row: &Value| row["path_ns"].as_i64().unwrap();
        let own = rows.iter().filter(|row| row["disturbance"].is_null() && has(row, problem.among));
        let largest = own.max_by_key(|row| time(row)).unwrap();
        assert!(has(largest, problem.row), "{}: the largest row is {largest:#}", self.program);
        let found = rows.iter().filter(|row| has(row, problem.summed)).map(time).sum();
        let difference = differs("time on the path", found, self.figure(&problem.told), &problem.error);
        assert_eq!(difference, None, "{}: {rows:#?}", self.program);
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
pub(crate) fn perf_time(text: &str) -> i64 {
    let (seconds, nanoseconds) = text.trim_end_matches(':').split_once('.').unwrap();
    seconds.parse::<i64>().unwrap() * 1_000_000_000 + nanoseconds.parse::<i64>().unwrap()
}

fn count(row: &Value, key: &str) -> i64 {
    row[key].as_i64().unwrap()
}
