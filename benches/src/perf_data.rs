//! Extract of a perf.data that perf records here and now, against perf itself and samply on the same file. All are whole
//! processes, from start to end.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;

use crate::measure::{against, program, timed};

/// Seconds that are recorded.
const SECONDS: &str = "20";
/// perf script takes its time.
const RUNS: usize = 3;
/// samply is near enough for the noise of a machine to decide.
const SAMPLY_RUNS: usize = 9;

pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let path = match recording(directory)? {
        Ok(path) => path,
        Err(reason) => return say(&format!("skipped: {reason}")),
    };
    say(&format!("perf.data of {} MiB", std::fs::metadata(&path)?.len() >> 20))?;
    let program = program()?;
    let archives = directory.join("perf-data.sift");
    let ours = || {
        let mut extract = Command::new(&program);
        extract.args(["extract", "--overwrite", "--out"]).arg(&archives).arg(&path);
        whole(&mut extract).with_context(|| format!("{} (cargo build --profile dist builds it)", program.display()))
    };
    let perf = |arguments: &'static [&'static str]| {
        let path = &path;
        // Debug files are not looked for on the network.
        move || whole(Command::new("perf").args(arguments).arg("-i").arg(path).env("DEBUGINFOD_URLS", ""))
    };
    against("extract of perf.data", Some(0.1), RUNS, ours, "perf script", perf(&["script"]))?;
    against("extract of perf.data", None, RUNS, ours, "perf report", perf(&["report", "--stdio"]))?;

    let samply = std::env::var("TRACESIFT_SAMPLY").unwrap_or_else(|_| "samply".to_owned());
    if Command::new(&samply).arg("--version").output().is_err() {
        return say("samply is not installed (cargo install samply; TRACESIFT_SAMPLY names the program): skipped");
    }
    let profile = directory.join("samply.json");
    let theirs = || whole(Command::new(&samply).args(["import", "--save-only", "-o"]).arg(&profile).arg(&path));
    against("extract of perf.data", Some(0.2), SAMPLY_RUNS, ours, "samply import", theirs)
}

/// The recording, made once and kept in the benchmarks' directory, or why there is none.
fn recording(directory: &Path) -> anyhow::Result<Result<PathBuf, String>> {
    let path = directory.join("perf.data");
    if path.exists() {
        return Ok(Ok(path));
    }
    let (unfinished, workload) = (path.with_extension("tmp"), directory.join("perf-workload.sh"));
    std::fs::write(&workload, include_str!("../perf-workload.sh"))?;
    let events = ["-e", "cpu-clock/freq=999/", "-e", "sched:sched_switch", "-e", "sched:sched_waking"];
    let recorded = Command::new("perf")
        .args(["record", "-a", "-g"])
        .args(events)
        .arg("-o")
        .arg(&unfinished)
        .args(["--", "sh"])
        .arg(&workload)
        .arg(SECONDS)
        .stdin(Stdio::null())
        .output();
    match recorded {
        Err(error) => Ok(Err(format!("perf cannot be run: {error}"))),
        Ok(output) if !output.status.success() => {
            Ok(Err(format!("perf cannot record: {}", String::from_utf8_lossy(&output.stderr))))
        }
        Ok(_) => {
            std::fs::rename(&unfinished, &path)?;
            Ok(Ok(path))
        }
    }
}

/// The time of a process whose output nobody reads.
fn whole(command: &mut Command) -> anyhow::Result<Duration> {
    let (output, time) = timed(|| Ok(command.stdin(Stdio::null()).stdout(Stdio::null()).output()?))?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{command:?}: {}: {said}", output.status);
    Ok(time)
}

#[expect(clippy::print_stdout, clippy::unnecessary_wraps, reason = "a benchmark's output is its result")]
fn say(text: &str) -> anyhow::Result<()> {
    println!("{text}");
    Ok(())
}
