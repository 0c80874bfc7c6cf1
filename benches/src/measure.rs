//! Times two pieces of work in turn and prints the ratio pair by pair.

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Counted runs of each, usually.
pub(crate) const RUNS: usize = 5;

/// The program itself: the one that `TRACESIFT_PROGRAM` names, else the one that `cargo build --profile dist` puts beside this one.
pub(crate) fn program() -> std::io::Result<PathBuf> {
    match std::env::var_os("TRACESIFT_PROGRAM") {
        Some(program) => Ok(program.into()),
        None => Ok(std::env::current_exe()?.with_file_name("tracesift")),
    }
}

/// The Python that has the yardsticks' packages.
pub(crate) fn python() -> String {
    std::env::var("TRACESIFT_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// Runs `ours` and `yardstick` in turn, after one uncounted run of each if there are several; prints medians and the median of the
/// ratios.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
pub(crate) fn against(
    name: &str,
    budget: Option<f64>,
    runs: usize,
    mut ours: impl FnMut() -> anyhow::Result<Duration>,
    yardstick_name: &str,
    mut yardstick: impl FnMut() -> anyhow::Result<Duration>,
) -> anyhow::Result<()> {
    if runs > 1 {
        ours()?;
        yardstick()?;
    }
    let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        let (our, their) = (ours()?, yardstick()?);
        our_times.push(our.as_secs_f64());
        their_times.push(their.as_secs_f64());
        ratios.push(our.as_secs_f64() / their.as_secs_f64());
    }
    let (our, their, ratio) = (spread(our_times), spread(their_times), spread(ratios));
    println!("{name}: {our} s; {yardstick_name}: {their} s");
    match budget {
        Some(budget) => println!("  ratio {ratio}, budget {budget}"),
        None => println!("  ratio {ratio}"),
    }
    Ok(())
}

/// Minimum, median and maximum of figures.
pub(crate) struct Spread(f64, f64, f64);

impl std::fmt::Display for Spread {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:.3} ({:.3}..{:.3})", self.1, self.0, self.2)
    }
}

/// Minimum, median and maximum of at least one figure.
pub(crate) fn spread(mut figures: Vec<f64>) -> Spread {
    figures.sort_by(f64::total_cmp);
    Spread(figures[0], figures[figures.len() / 2], figures[figures.len() - 1])
}

/// Times one call.
pub(crate) fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Duration)> {
    let start = Instant::now();
    let value = work()?;
    Ok((value, start.elapsed()))
}

/// What this machine is, in a few words.
pub(crate) fn machine() -> String {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let model = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let model = model.trim_start_matches(['\t', ' ', ':']);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default().to_owned();
    format!("{cpus} CPUs {model}, load {load}, {}", std::env::consts::OS)
}
