//! Equal sets of real recordings: 40 runs of a workload, on a quiet machine and on one whose CPUs are all wanted by others.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, anyhow};
use tracesift_ask::compare::run::Run;
use tracesift_ask::compare::{Measure, Verdict};
use tracesift_ask::path::AccountQuery;
use tracesift_ask::recording::Source;
use tracesift_scenario::SplitMix64;

use super::runs::{compared, draw};
use crate::measure::program;

const RUNS: usize = 40;
/// So many that a test which calls 5 % of equal sets different stays below the bar of 6 %.
const SPLITS: usize = 4_000;

/// A workload of the repository that does the same each time.
const WORKLOAD: &str = "busy-regex";
const ARGUMENTS: [&str; 4] = ["--texts", "6", "--length", "22"];

/// Prints how often equal sets are called different, or why nothing was recorded.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
pub(super) fn equal_sets(directory: &Path) -> anyhow::Result<()> {
    if !cfg!(target_os = "linux") {
        println!("real recordings: perf is a program of Linux: skipped");
        return Ok(());
    }
    for (name, busy) in [("quiet", 0), ("busy", 2 * std::thread::available_parallelism().map_or(1, usize::from))] {
        let _others = Others::start(busy)?;
        let mut runs = Vec::new();
        for number in 0..RUNS {
            match recorded(directory, &format!("{name}-{number}"))? {
                Ok(run) => runs.push(run),
                Err(why) => {
                    println!("real recordings: {why}: skipped");
                    return Ok(());
                }
            }
        }
        let (mut changed, mut flagged) = (0, 0);
        for split in 0..SPLITS {
            let mut dice = SplitMix64::new(0x40 + split as u64);
            let mixed = draw(&runs, 20, &mut dice);
            let case = compared(&mixed[..10], &mixed[10..])?;
            let result = case.result.as_ref().context("no result")?;
            changed += usize::from(matches!(result.duration.verdict, Verdict::Slower | Verdict::Faster));
            let has_flag = result.metrics.compared.iter().any(|metric| metric.is_flagged)
                || result.difference.rows.iter().any(|row| row.is_flagged);
            flagged += usize::from(has_flag);
        }
        let percent = |count: usize| 100.0 * count as f64 / SPLITS as f64;
        println!(
            "{RUNS} real runs, {name}: of {SPLITS} splits {:.1} % are called different, {:.1} % have a row that is flagged; \
             at most 6 % each",
            percent(changed),
            percent(flagged)
        );
    }
    Ok(())
}

/// A run, or why it cannot be recorded.
fn recorded(directory: &Path, name: &str) -> anyhow::Result<Result<Run, String>> {
    let recording = directory.join(format!("{name}.data"));
    let recorded = Command::new(program()?)
        .args(["record", "--profile", "Default,CSwitch", "-o"])
        .arg(&recording)
        .arg("--")
        .arg(beside(WORKLOAD)?)
        .args(ARGUMENTS)
        .stdin(Stdio::null())
        .output()
        .context("cargo build --profile dist builds the program")?;
    if !recorded.status.success() || !recording.exists() {
        return Ok(Err(String::from_utf8_lossy(&recorded.stderr).into_owned()));
    }
    let extracted = Command::new(program()?).arg("extract").arg(&recording).stdin(Stdio::null()).output()?;
    anyhow::ensure!(extracted.status.success(), "{}", String::from_utf8_lossy(&extracted.stderr));
    let archive: PathBuf = recording.with_extension("sift");
    let run = Run::measure(&Source::archive(archive.clone()), &AccountQuery::default(), Measure::Window, None)
        .map_err(|failure| anyhow!("{}: {}", failure.path.display(), failure.reason))?;
    std::fs::remove_file(&recording)?;
    std::fs::remove_dir_all(&archive)?;
    Ok(Ok(run))
}

/// A program that is built together with this one.
fn beside(name: &str) -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    anyhow::ensure!(path.exists(), "{} is absent: build the workloads with the same profile", path.display());
    Ok(path)
}

/// Programs that want the CPU, as long as this lives.
struct Others(Vec<Child>);

impl Others {
    fn start(count: usize) -> anyhow::Result<Self> {
        let mut others = Self(Vec::new());
        for _ in 0..count {
            let mut command = Command::new("sh");
            others.0.push(command.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn()?);
        }
        Ok(others)
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended needs no end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
