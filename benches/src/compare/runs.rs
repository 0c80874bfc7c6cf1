//! Runs of a machine whose every nanosecond is known, recorded, extracted and taken apart as any other recording.

use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use rayon::prelude::*;
use tracesift_ask::compare::run::Run;
use tracesift_ask::compare::{Case, Measure, Settings};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::path::{AccountQuery, WindowQuery};
use tracesift_ask::recording::Source;
use tracesift_extract::input::InputRecording;
use tracesift_extract::{Options, Outcome, extract, unwatched};
use tracesift_scenario::SplitMix64;
use tracesift_scenario::causal::{History, etl, perf};
use tracesift_testing::recording::with_symbol_files;

/// Interval of the samples, ns: 1 kHz.
pub(super) const INTERVAL: i64 = 1_000_000;

/// From the start of one run to that of the next, 100 ns: a minute.
const MINUTE: i64 = 600_000_000;

/// The format in which a history is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// ETW, with names of managed methods.
    Etl,
    /// ETW, with names of the kernel's functions, too.
    EtlWithKernel,
    /// perf.data, with names of the kernel's functions.
    Perf,
}

/// Records, extracts and measures a history.
pub(super) fn measure(directory: &Path, history: &History, format: Format, name: &str) -> anyhow::Result<Run> {
    let place = directory.join(name);
    std::fs::create_dir_all(&place)?;
    let files = match format {
        Format::Etl | Format::EtlWithKernel => {
            let parts = etl::scenario(history, INTERVAL).parts().map_err(|error| anyhow!("{error}"))?;
            let write = |part: tracesift_scenario::Part| {
                let path = place.join(format!("{name}{}", part.suffix));
                std::fs::write(&path, &part.bytes).map(|()| path)
            };
            let mut files = parts.into_iter().map(write).collect::<Result<Vec<_>, _>>()?;
            files.sort_by_key(|path| path.extension() != Some("etl".as_ref()));
            files
        }
        Format::Perf => {
            let path = place.join(format!("{name}.data"));
            perf::write(history, INTERVAL, std::io::BufWriter::new(std::fs::File::create(&path)?))?;
            vec![path]
        }
    };
    let recording = InputRecording { name: name.to_owned(), files, stands_for: Vec::new(), forced: false, named: true };
    let options = match format {
        Format::EtlWithKernel => with_symbol_files(&place.join("symbols"), &etl::symbol_files(history)),
        Format::Etl | Format::Perf => Options::default(),
    };
    let outcomes = extract(&recording, &options, &mut unwatched)?.outcomes;
    let Some(Outcome::Extracted(report)) = outcomes.into_iter().next() else { bail!("{name} is not extracted") };
    let mut run = Run::measure(&Source::archive(report.archive), &accounts(), Measure::Window, None)
        .map_err(|failure| anyhow!("{}: {}", failure.path.display(), failure.reason))?;
    std::fs::remove_dir_all(&place)?;
    let (start, end) = history.window();
    // The first thread and its process begin microseconds apart.
    if (run.duration() - (end - start)).abs() > 50_000 {
        bail!("{name} took {} ns, measured {} ns", end - start, run.duration());
    }
    name.clone_into(&mut run.id);
    Ok(run)
}

fn accounts() -> AccountQuery {
    let filter = ProcessFilter { process: ProcessPatterns::parse("app"), ..ProcessFilter::default() };
    AccountQuery { windows: WindowQuery { filter, ..WindowQuery::default() }, ..AccountQuery::default() }
}

/// Measures histories, on all CPUs.
pub(super) fn measure_all(
    directory: &Path,
    histories: &[History],
    format: Format,
    name: &str,
) -> anyhow::Result<Vec<Run>> {
    let numbered: Vec<(usize, &History)> = histories.iter().enumerate().collect();
    let measured = numbered.into_par_iter().map(|(number, history)| {
        measure(directory, history, format, &format!("{name}-{number}")).with_context(|| name.to_owned())
    });
    measured.collect()
}

/// Runs in the order in which they would have been recorded: of both sets in turn, or one after the other.
pub(super) fn in_order(a: &[Run], b: &[Run], is_interleaved: bool) -> [Vec<Run>; 2] {
    let place = |set: usize, number: usize, count: usize| match (is_interleaved, set) {
        // A B B A A B B A: no set is always the first of a pair.
        (true, set) => 2 * number + usize::from((number % 2 == 1) != (set == 1)),
        (false, 0) => number,
        (false, _) => count + number,
    };
    let timed = |set: usize, runs: &[Run]| {
        let at = |(number, run): (usize, &Run)| {
            let mut run = run.clone();
            run.time = MINUTE * i64::try_from(place(set, number, a.len())).unwrap_or(i64::MAX / MINUTE);
            run
        };
        runs.iter().enumerate().map(at).collect()
    };
    [timed(0, a), timed(1, b)]
}

/// Compares two sets that were recorded in turn.
pub(super) fn compared(a: &[Run], b: &[Run]) -> anyhow::Result<Case> {
    case(in_order(a, b, true))
}

/// Compares two sets with their times.
pub(super) fn case(sets: [Vec<Run>; 2]) -> anyhow::Result<Case> {
    let labels = ["A", "B"].map(str::to_owned);
    let case = Case::of("app".to_owned(), sets, labels, &Settings::default())?;
    check_sums(&case)?;
    Ok(case)
}

/// All rows add up to the difference, and so do those that are shown. Nothing was lost, so hardly any time is unknown.
fn check_sums(case: &Case) -> anyhow::Result<()> {
    let result = case.result.as_ref().context("no result")?;
    let difference = &result.difference;
    let unknown = difference.rows.iter().filter(|row| row.state() == "unknown");
    let unknown = unknown.fold([0.0, 0.0], |[a, b], row| [a + row.means[0], b + row.means[1]]);
    for (unknown, duration) in unknown.into_iter().zip(result.duration.means) {
        if unknown > 0.02 * duration {
            bail!("{unknown} ns of {duration} ns are unknown");
        }
    }
    let rows: i128 = difference.rows.iter().map(|row| row.delta).sum();
    let shown: i128 = difference.shown.iter().map(|shown| shown.delta).sum();
    if (rows, shown) == (difference.total, difference.total) {
        return Ok(());
    }
    bail!("rows add up to {rows}, those shown to {shown}, the difference is {}", difference.total)
}

/// Some of these, each at most once.
pub(super) fn draw(from: &[Run], count: usize, dice: &mut SplitMix64) -> Vec<Run> {
    let mut places: Vec<usize> = (0..from.len()).collect();
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count && !places.is_empty() {
        drawn.push(from[places.swap_remove(dice.index(places.len()))].clone());
    }
    drawn
}
