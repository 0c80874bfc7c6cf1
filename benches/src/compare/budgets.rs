//! What a comparison of 100 archives and a history of 500 cost, with and without kept accounts, beside `dump threads` of the same.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use rayon::prelude::*;
use tracesift_extract::input::InputRecording;
use tracesift_extract::{Options, extract, unwatched};
use tracesift_scenario::causal::pairs::file_stem;
use tracesift_scenario::causal::workload::Workload;
use tracesift_scenario::causal::{Noise, perf, run};

use super::runs::INTERVAL;
use crate::measure::{RUNS, against, program, timed};

const US: i64 = 1_000;
/// Archives of each set.
const ARCHIVES: usize = 50;
/// Archives of a history.
const YEAR: usize = 500;

/// The program's questions about archives, with accounts kept in a directory of its own.
struct Asked<'a> {
    archives: &'a [PathBuf],
    cache: PathBuf,
}

impl Asked<'_> {
    fn time(&self, question: &[&str]) -> anyhow::Result<Duration> {
        let mut command = Command::new(program()?);
        command.args(question).args(self.archives).args(["-p", "app"]).env("XDG_CACHE_HOME", &self.cache);
        // A comparison that cannot be decided is a result, too.
        let (output, time) = timed(|| command.stdin(Stdio::null()).output().context("cargo build builds the program"))?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(time)
    }

    fn time_without_kept(&self, question: &[&str]) -> anyhow::Result<Duration> {
        if self.cache.exists() {
            std::fs::remove_dir_all(&self.cache)?;
        }
        self.time(question)
    }
}

/// The whole program over two directories of archives with about 200,000 switches each.
pub(super) fn compare(directory: &Path) -> anyhow::Result<()> {
    let workload = Workload {
        items: 96_000,
        parse: 400 * US,
        read: 300 * US,
        hold: 100 * US,
        compute: 1_200 * US,
        ..Workload::default()
    };
    let sets = ["a", "b"].map(|set| directory.join(format!("switches-{set}")));
    for (number, set) in (0..).zip(&sets) {
        archives(set, &workload, ARCHIVES, number)?;
    }
    let asked = Asked { archives: &sets, cache: directory.join("cache") };
    let threads = || asked.time(&["dump", "threads", "--top", "10"]);
    let path = || asked.time(&["dump", "path", "--top", "10"]);
    against("accounts of 2 x 50 archives", Some(2.0), RUNS, path, "dump threads", threads)?;
    let cold = || asked.time_without_kept(&["compare"]);
    against("compare 2 x 50 archives, cold, budget 5 s", None, RUNS, cold, "dump threads", threads)?;
    let warm = || asked.time(&["compare"]);
    against("compare 2 x 50 archives, warm, budget 0.5 s", None, RUNS, warm, "dump threads", threads)
}

/// The whole program over a year of runs.
pub(super) fn history(directory: &Path) -> anyhow::Result<()> {
    let year = [directory.join("year")];
    archives(&year[0], &Workload::default(), YEAR, 9)?;
    let asked = Asked { archives: &year, cache: directory.join("cache-of-year") };
    let threads = || asked.time(&["dump", "threads", "--top", "10"]);
    let cold = || asked.time_without_kept(&["history"]);
    against("history of 500 runs, cold", None, RUNS, cold, "dump threads", threads)?;
    let warm = || asked.time(&["history"]);
    against("history of 500 runs, warm, budget 2 s", None, RUNS, warm, "dump threads", threads)
}

/// A directory of archives of a workload, made where it is not there yet.
fn archives(set: &Path, workload: &Workload, count: usize, seed: u64) -> anyhow::Result<()> {
    if set.exists() {
        return Ok(());
    }
    let unfinished = set.with_extension("unfinished");
    std::fs::create_dir_all(&unfinished)?;
    let one = |run_number: usize| -> anyhow::Result<()> {
        let noise = Noise { step_cv_ppm: 20_000, ..Noise::default() };
        let history = run(workload.world(), &noise, 1_000 * seed + run_number as u64);
        // The name tells the time.
        let name = file_stem(&history, "App", run_number);
        let path = unfinished.join(format!("{name}.data"));
        perf::write(&history, INTERVAL, std::io::BufWriter::new(std::fs::File::create(&path)?))?;
        let files = vec![path.clone()];
        let recording = InputRecording { name, files, stands_for: Vec::new(), forced: false, named: true };
        extract(&recording, &Options::default(), &mut unwatched)?;
        Ok(std::fs::remove_file(&path)?)
    };
    (0..count).into_par_iter().try_for_each(one)?;
    Ok(std::fs::rename(&unfinished, set)?)
}
