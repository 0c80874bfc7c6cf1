//! Peak memory of an extract: bounded, and not growing with the recording.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::{extract, scale};

/// Extracts two recordings of half a GiB and two GiB.
pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let sizes = [512_u64 << 20, 2 << 30];
    compare(sizes, |bytes| scale::recording(directory, bytes))
}

/// Extracts two recordings in processes of their own and prints the peaks.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
pub(crate) fn compare(sizes: [u64; 2], recording: impl Fn(u64) -> anyhow::Result<PathBuf>) -> anyhow::Result<()> {
    let mut peaks = Vec::new();
    for bytes in sizes {
        let Peaks { anonymous, resident } = of_extract(&recording(bytes)?)?;
        println!(
            "extract of {} MiB: peak {} MiB anonymous (budget 512), {} MiB resident",
            bytes >> 20,
            anonymous >> 10,
            resident >> 10
        );
        peaks.push((anonymous as f64, resident as f64));
    }
    let [small, large] = sizes.map(|bytes| bytes as f64 / f64::from(1 << 30));
    println!(
        "peak({large} GiB) / peak({small} GiB): {:.2} anonymous, {:.2} resident, budget 1.2",
        peaks[1].0 / peaks[0].0,
        peaks[1].1 / peaks[0].1
    );
    Ok(())
}

/// Most memory of a process, KiB.
pub(crate) struct Peaks {
    pub(crate) anonymous: u64,
    pub(crate) resident: u64,
}

/// Extracts a recording in a process of its own.
pub(crate) fn of_extract(recording: &Path) -> anyhow::Result<Peaks> {
    let output = Command::new(std::env::current_exe()?).args(["memory", "--file"]).arg(recording).output()?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let mut figures = text.split_whitespace().map(str::parse::<u64>);
    match (figures.next(), figures.next()) {
        (Some(Ok(anonymous)), Some(Ok(resident))) => Ok(Peaks { anonymous, resident }),
        _ => anyhow::bail!("unexpected output: {text}"),
    }
}

/// Extracts one file and prints the peaks of its own anonymous and resident memory, KiB.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the parent reads it, and whoever profiles it")]
pub(crate) fn child(path: &Path) -> anyhow::Result<()> {
    let ((tables, summaries, _), peak) = peak(|| extract::timed_extract(path))?;
    eprintln!("tables {tables:.2?}, summaries {summaries:.2?}");
    println!("{peak} {}", status("VmHWM:"));
    Ok(())
}

/// Does some work and gives the peak of this process's anonymous memory meanwhile, KiB.
pub(crate) fn peak<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, u64)> {
    static STOP: AtomicBool = AtomicBool::new(false);
    static PEAK: AtomicU64 = AtomicU64::new(0);
    let watcher = std::thread::spawn(|| {
        while !STOP.load(Ordering::Relaxed) {
            PEAK.fetch_max(status("RssAnon:"), Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let done = work();
    STOP.store(true, Ordering::Relaxed);
    let _ = watcher.join();
    Ok((done?, PEAK.load(Ordering::Relaxed)))
}

/// A figure of this process from the kernel, KiB; 0 where the system does not tell.
fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}
