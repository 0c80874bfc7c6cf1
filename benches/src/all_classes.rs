//! Extract of recordings with all classes of data on: a scenario of Windows, and what perf records here and now with all profiles of
//! `tracesift record`. Time and size per event, memory, and the size of the archive.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context as _;
use tracesift_archive::Archive;
use tracesift_extract::{Options, Outcome, extract, input};
use tracesift_scenario::{PointerSize, classes};

use crate::measure::{self, RUNS, against, spread};
use crate::memory;

/// Minutes of the scenario, unless `TRACESIFT_MINUTES` says otherwise.
const MINUTES: u32 = 300;
/// Seconds that perf records, unless `TRACESIFT_SECONDS` says otherwise.
const SECONDS: u32 = 20;
/// Profiles with different data. One that the machine cannot record is left out by `record`, which says so.
const PROFILES: &str = "CSwitch,File,Disk,Network,Sockets,Memory,VirtualAlloc,Handle,Power";
/// Anonymous memory of an extract, MiB.
const MEMORY: u64 = 512;

pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let minutes = number("TRACESIFT_MINUTES", MINUTES)?;
    let scenario = directory.join(format!("classes-{minutes}.etl"));
    if !scenario.exists() {
        let recorded = classes::write(minutes, PointerSize::Eight)?;
        say(&format!("scenario of {minutes} minutes: {} events", recorded.events));
        std::fs::write(&scenario, recorded.bytes)?;
    }
    measure(&scenario, "all classes of Windows")?;
    match recording(directory)? {
        Ok(recording) => measure(&recording, "all profiles of Linux"),
        Err(reason) => {
            say(&format!("skipped: {reason}"));
            Ok(())
        }
    }
}

fn number(variable: &str, usual: u32) -> anyhow::Result<u32> {
    let text = std::env::var(variable);
    text.map_or(Ok(usual), |text| text.parse().with_context(|| format!("{variable} is no number")))
}

fn measure(path: &Path, name: &str) -> anyhow::Result<()> {
    let bytes = std::fs::metadata(path)?.len();
    let (mut archive, mut records, mut lost, mut per_event) = (None, 0, 0, Vec::new());
    let ours = || {
        let selection = input::select(&[path.display().to_string()], &input::SelectOptions::default());
        let Some(input::Target::Recording(recording)) = selection.targets.first() else {
            anyhow::bail!("no recording")
        };
        let options = Options { overwrite: true, ..Options::default() };
        let start = Instant::now();
        let extraction = extract(recording, &options, &mut |_| std::ops::ControlFlow::Continue(()))?;
        let time = start.elapsed();
        let Some(Outcome::Extracted(report)) = extraction.outcomes.into_iter().next() else {
            anyhow::bail!("no extract")
        };
        (records, lost) = (report.records, report.info.events_lost);
        per_event.push(time.as_secs_f64() * 1e9 / records.max(1) as f64);
        archive = Some(report.archive);
        Ok(time)
    };
    let theirs = || {
        let mut input = std::fs::File::open(path)?;
        let start = Instant::now();
        let mut encoder = zstd::Encoder::new(std::io::sink(), 3)?;
        encoder.multithread(2)?;
        std::io::copy(&mut input, &mut encoder)?;
        encoder.finish()?;
        Ok(start.elapsed())
    };
    against(&format!("extract of {name}"), Some(5.0), RUNS, ours, "zstd -3 -T2", theirs)?;
    say(&format!("  {} MiB, {records} records, {lost} lost, {} ns per record", bytes >> 20, spread(per_event)));
    let memory::Peaks { anonymous, resident } = memory::of_extract(path)?;
    say(&format!("  peak {} MiB anonymous (budget {MEMORY}), {} MiB resident", anonymous >> 10, resident >> 10));
    let Some(archive) = archive else { return Ok(()) };
    let archive = Archive::open(&archive)?;
    let total: u64 = archive.info().tables.iter().map(|table| table.bytes).sum();
    say(&format!("  archive {} KiB: 1/{:.1} of the recording (1/10)", total >> 10, bytes as f64 / total.max(1) as f64));
    for table in archive.info().tables.iter().filter(|table| table.rows > 0) {
        say(&format!(
            "    {}: {} rows, {:.1} B per row",
            table.name,
            table.rows,
            table.bytes as f64 / table.rows as f64
        ));
    }
    Ok(())
}

/// The recording, made once and kept in the benchmarks' directory, or why there is none.
fn recording(directory: &Path) -> anyhow::Result<Result<PathBuf, String>> {
    let seconds = number("TRACESIFT_SECONDS", SECONDS)?;
    let path = directory.join(format!("all-profiles-{seconds}.data"));
    if path.exists() {
        return Ok(Ok(path));
    }
    if !cfg!(target_os = "linux") {
        return Ok(Err("perf is a program of Linux".to_owned()));
    }
    let workload = directory.join("perf-workload.sh");
    std::fs::write(&workload, include_str!("../perf-workload.sh"))?;
    let recorded = Command::new(measure::program()?)
        .args(["record", "--profile", PROFILES, "-o"])
        .arg(&path)
        .args(["--", "sh"])
        .arg(&workload)
        .arg(seconds.to_string())
        .stdin(Stdio::null())
        .output()
        .context("cargo build --release builds the program")?;
    let said = String::from_utf8_lossy(&recorded.stderr);
    if !recorded.status.success() || !path.exists() {
        return Ok(Err(format!("nothing was recorded: {said}")));
    }
    Ok(Ok(path))
}

#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
fn say(text: &str) {
    println!("{text}");
}
