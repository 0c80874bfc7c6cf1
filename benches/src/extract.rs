//! Extract against `zstd -3 -T2` on the same file, and the summaries per million switches.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use tracesift_archive::Archive;
use tracesift_extract::{Options, Outcome, Step, extract, input};
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, StackRow};

use crate::measure::{RUNS, against, spread};
use crate::{SCALE_BYTES, scale};

pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let path = scale::recording(directory, SCALE_BYTES)?;
    let mut summary_times = Vec::new();
    let mut archive = None;
    let ours = || {
        let (tables, summaries, place) = timed_extract(&path)?;
        summary_times.push(summaries.as_secs_f64());
        archive = Some(place);
        Ok(tables)
    };
    let theirs = || {
        let mut input = std::fs::File::open(&path)?;
        let start = Instant::now();
        let mut encoder = zstd::Encoder::new(std::io::sink(), 3)?;
        encoder.multithread(2)?;
        std::io::copy(&mut input, &mut encoder)?;
        encoder.finish()?;
        Ok(start.elapsed())
    };
    against("extract 1 GiB without summaries", Some(5.0), RUNS, ours, "zstd -3 -T2", theirs)?;
    if let Some(place) = archive {
        report(&Archive::open(&place)?, &path, summary_times)?;
    }
    Ok(())
}

/// Extracts and tells the time up to the summaries and the time of the summaries.
pub(crate) fn timed_extract(path: &Path) -> anyhow::Result<(Duration, Duration, std::path::PathBuf)> {
    let selection = input::select(&[path.display().to_string()], &input::SelectOptions::default());
    let Some(input::Target::Recording(recording)) = selection.targets.first() else { anyhow::bail!("no recording") };
    let options = Options { overwrite: true, ..Options::default() };
    let start = Instant::now();
    let mut summaries_began = None;
    let mut watch = |step: Step| {
        if step.phase == "summarising" {
            summaries_began.get_or_insert_with(Instant::now);
        }
        ControlFlow::Continue(())
    };
    let extraction = extract(recording, &options, &mut watch)?;
    let end = Instant::now();
    let Some(Outcome::Extracted(report)) = extraction.outcomes.into_iter().next() else { anyhow::bail!("no extract") };
    let began = summaries_began.unwrap_or(end);
    Ok((began - start, end - began, report.archive))
}

#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
fn report(archive: &Archive, path: &Path, summary_times: Vec<f64>) -> anyhow::Result<()> {
    let bytes_of =
        |name: &str| archive.info().tables.iter().find(|table| table.name == name).map_or(0, |table| table.bytes);
    let switches = archive.row_count::<ContextSwitchRow>();
    let per_million = summary_times.iter().map(|seconds| seconds * 1e6 / switches as f64).collect();
    println!("summaries and unions: {} s per million switches, budget 1.5", spread(per_million));
    let per = |bytes: u64, rows: u64| bytes as f64 / rows.max(1) as f64;
    let total: u64 = archive.info().tables.iter().map(|table| table.bytes).sum();
    println!(
        "size: {:.2} B per switch (budget 18), {:.2} B per sample (8), {:.1} B per stack (60), archive 1/{:.1} of the recording (1/10)",
        per(bytes_of("context_switches"), switches),
        per(bytes_of("cpu_samples"), archive.row_count::<CpuSampleRow>()),
        per(bytes_of("stacks"), archive.row_count::<StackRow>()),
        std::fs::metadata(path)?.len() as f64 / total as f64,
    );
    Ok(())
}
