//! What a comparison costs: accounts of 100 archives, with and without those that are kept, beside `dump threads` of the same.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use rayon::prelude::*;
use tracesift_extract::input::InputRecording;
use tracesift_extract::{Options, extract, unwatched};
use tracesift_scenario::causal::workload::Workload;
use tracesift_scenario::causal::{Noise, perf, run};

use super::runs::INTERVAL;
use crate::measure::{RUNS, against, program, timed};

const US: i64 = 1_000;
/// Archives of each set.
const ARCHIVES: usize = 50;

/// The whole program over two directories of archives with about 200,000 switches each.
pub(super) fn compare(directory: &Path) -> anyhow::Result<()> {
    let sets = archives(directory)?;
    let cache = directory.join("cache");
    let asked = |question: &[&str]| {
        let mut command = Command::new(program()?);
        command.args(question).args(&sets).args(["-p", "app"]).env("XDG_CACHE_HOME", &cache);
        // A comparison that cannot be decided is a result, too.
        let (output, time) = timed(|| command.stdin(Stdio::null()).output().context("cargo build builds the program"))?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok::<Duration, anyhow::Error>(time)
    };
    let threads = || asked(&["dump", "threads", "--top", "10"]);
    let cold = || {
        if cache.exists() {
            std::fs::remove_dir_all(&cache)?;
        }
        asked(&["compare"])
    };
    let path = || asked(&["dump", "path", "--top", "10"]);
    against("accounts of 2 x 50 archives", Some(2.0), RUNS, path, "dump threads", threads)?;
    against("compare 2 x 50 archives, cold, budget 5 s", None, RUNS, cold, "dump threads", threads)?;
    let warm = || asked(&["compare"]);
    against("compare 2 x 50 archives, warm, budget 0.5 s", None, RUNS, warm, "dump threads", threads)
}

/// Two directories of archives, made where they are not there yet.
fn archives(directory: &Path) -> anyhow::Result<[PathBuf; 2]> {
    let sets = ["a", "b"].map(|set| directory.join(format!("switches-{set}")));
    let workload = Workload {
        items: 96_000,
        parse: 400 * US,
        read: 300 * US,
        hold: 100 * US,
        compute: 1_200 * US,
        ..Workload::default()
    };
    for (number, set) in (0_u64..).zip(&sets) {
        if set.exists() {
            continue;
        }
        let unfinished = set.with_extension("unfinished");
        std::fs::create_dir_all(&unfinished)?;
        let one = |run_number: usize| -> anyhow::Result<()> {
            let noise = Noise { step_cv_ppm: 20_000, ..Noise::default() };
            let history = run(workload.world(), &noise, 1_000 * number + run_number as u64);
            let name = format!("app-{number}-{run_number}");
            let path = unfinished.join(format!("{name}.data"));
            perf::write(&history, INTERVAL, std::io::BufWriter::new(std::fs::File::create(&path)?))?;
            let files = vec![path.clone()];
            let recording = InputRecording { name, files, stands_for: Vec::new(), forced: false, named: true };
            extract(&recording, &Options::default(), &mut unwatched)?;
            Ok(std::fs::remove_file(&path)?)
        };
        (0..ARCHIVES).into_par_iter().try_for_each(one)?;
        std::fs::rename(&unfinished, set)?;
    }
    Ok(sets)
}
