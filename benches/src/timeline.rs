//! The timeline tables: what they cost an extract and an archive, and what a picture of a long recording takes with them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tracesift_archive::Archive;
use tracesift_ask::Ask as _;
use tracesift_ask::question::timeline::{Buckets, LaneKind, Measure, Question, Way};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_extract::{Budget, Options, Outcome, add_timelines, extract, input, unwatched};
use tracesift_grammar::TimeRange;
use tracesift_testing::archive::Random;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, LongSpanRow, TIMELINE_TABLES};
use tracesift_trace::schema::Row as _;

use crate::measure::{against, spread, timed};
use crate::{SCALE_BYTES, long_spans, scale};

/// Counted runs of each.
const RUNS: usize = 5;

/// Ranges of time of each kind of lane.
const SELECTIONS: usize = 200;

/// Rows of a row group of switches.
const GROUP_ROWS: f64 = 524_288.0;

/// Runs the benchmark.
pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    extracts(directory)?;
    let archive = with_tables(directory)?;
    pictures(&archive)?;
    selections(&archive)
}

/// Processor time of an extract, and of the tables, which the extract makes last, by the same code; bytes.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
fn extracts(directory: &Path) -> anyhow::Result<()> {
    let mebibytes = std::env::var("TRACESIFT_BENCH_MEBIBYTES").ok().and_then(|text| text.parse().ok());
    let path = scale::recording(directory, mebibytes.map_or(SCALE_BYTES, |mebibytes: u64| mebibytes << 20))?;
    let with = Budget { long_from: 1, ..Budget::default() };
    // Buckets that hardly have any rows are none.
    let without = Budget { rows_of_bucket: 1 << 40, ..with.clone() };
    let (mut ratios, mut archive) = (Vec::new(), PathBuf::new());
    for _ in 0..RUNS {
        let (place, extract) = extracted(&path, &without)?;
        let before = processor_seconds();
        anyhow::ensure!(add_timelines(&place, &with)?, "no tables");
        let tables = processor_seconds() - before;
        println!("processor time: {extract:.2} s of the extract, {tables:.2} s of the tables");
        ratios.push(tables / extract);
        archive = place;
    }
    sizes(&Archive::open(&archive)?);
    println!("  ratio {}, budget 0.1", spread(ratios));
    std::fs::remove_dir_all(archive)?;
    Ok(())
}

/// The archive of a recording, and the processor time of its extract, s.
fn extracted(path: &Path, budget: &Budget) -> anyhow::Result<(PathBuf, f64)> {
    let selection = input::select(&[path.display().to_string()], &input::SelectOptions::default());
    let Some(input::Target::Recording(recording)) = selection.targets.first() else { anyhow::bail!("no recording") };
    let options = Options { overwrite: true, budget: budget.clone(), ..Options::default() };
    let before = processor_seconds();
    let extraction = extract(recording, &options, &mut unwatched)?;
    let took = processor_seconds() - before;
    let Some(Outcome::Extracted(report)) = extraction.outcomes.into_iter().next() else { anyhow::bail!("no extract") };
    Ok((report.archive, took))
}

/// Processor time of this process, s, as Linux counts it in hundredths.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in front may have spaces.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let field = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok()).unwrap_or_default();
    (field(11) + field(12)) / 100.0
}

/// Prints the bytes of each table.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
fn sizes(archive: &Archive) {
    let bytes =
        |name: &str| archive.info().tables.iter().find(|table| table.name == name).map_or(0, |table| table.bytes);
    let all: u64 = archive.info().tables.iter().map(|table| table.bytes).sum();
    let share = |bytes: u64| bytes as f64 / all as f64 * 100.0;
    let (switches, samples) = (archive.row_count::<ContextSwitchRow>(), archive.row_count::<CpuSampleRow>());
    println!("{switches} switches, {samples} samples, archive of {all} bytes");
    for table in TIMELINE_TABLES {
        println!("  {}: {} bytes, {:.2} %", table.name, bytes(table.name), share(bytes(table.name)));
    }
    let index = bytes(LongSpanRow::TABLE.name);
    println!("  {}: {index} bytes, {:.2} %", LongSpanRow::TABLE.name, share(index));
    let tables: u64 = TIMELINE_TABLES.iter().map(|table| bytes(table.name)).sum();
    println!("  timeline tables: {:.2} % of the archive, budget 8", share(tables));
}

/// A long recording with timeline tables.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
fn with_tables(directory: &Path) -> anyhow::Result<PathBuf> {
    let archive = long_spans::recording(directory)?;
    let before = processor_seconds();
    let (added, took) = timed(|| Ok(add_timelines(&archive, &Budget::default())?))?;
    println!(
        "tables made: {added}, {:.2} s of processor time, {:.2} s",
        processor_seconds() - before,
        took.as_secs_f64()
    );
    sizes(&Archive::open(&archive)?);
    Ok(archive)
}

/// What has a row in a picture or a selection.
const LANES: [(&str, LaneKind); 3] =
    [("processes", LaneKind::Process), ("threads", LaneKind::Thread), ("CPUs", LaneKind::Cpu)];

/// Figures of a whole long recording, by tables and by rows.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
fn pictures(archive: &Path) -> anyhow::Result<()> {
    let recording = OpenRecording::open(&Source::archive(archive.to_owned()))?;
    for (what, lane) in LANES {
        let ask = |way: Way| -> anyhow::Result<(u64, Duration)> {
            // Some hundred buckets of a level.
            let shift = (recording.file.end.max(1) / 300).ilog2();
            let buckets = Buckets::Length(1 << (shift + shift % 2));
            let question = Question { lane, measure: Some(Measure::Run), buckets, way, ..Question::default() };
            asked(&recording, &question)
        };
        println!("{what}: {} rows read with the tables, {} without them", ask(Way::Usual)?.0, ask(Way::Rows)?.0);
        let name = format!("dump timeline, {what}");
        against(&name, None, RUNS, || Ok(ask(Way::Usual)?.1), "from rows", || Ok(ask(Way::Rows)?.1))?;
    }
    Ok(())
}

/// Rows that an answer reads, and its time.
fn asked(recording: &OpenRecording, question: &Question) -> anyhow::Result<(u64, Duration)> {
    let before = recording.archive().rows_read();
    let (section, time) = timed(|| Ok(question.section(recording)?))?;
    anyhow::ensure!(!section.rows.is_empty(), "no lanes");
    Ok((recording.archive().rows_read() - before, time))
}

/// Sums of processes, threads and CPUs over any range of time: rows read, and time.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
fn selections(archive: &Path) -> anyhow::Result<()> {
    let recording = OpenRecording::open(&Source::archive(archive.to_owned()))?;
    let (mut random, end) = (Random(6), recording.file.end.cast_unsigned() as usize);
    for (what, lane) in LANES {
        let (mut rows, mut times) = (Vec::new(), Vec::new());
        for round in 0..=SELECTIONS {
            let (one, other) = (random.below(end) as i64, random.below(end) as i64);
            let time = TimeRange { start: Some(one.min(other)), end: Some(one.max(other) + 1) };
            let buckets = Buckets::Number(1);
            let question = Question { time, lane, measure: Some(Measure::Run), buckets, ..Question::default() };
            let (read, took) = asked(&recording, &question)?;
            // The first one warms the cache up.
            if round > 0 {
                rows.push(read);
                times.push(took.as_secs_f64() * 1e3);
            }
        }
        rows.sort_unstable();
        times.sort_by(f64::total_cmp);
        let groups = rows[SELECTIONS - 1] as f64 / GROUP_ROWS;
        let (half, most) = (times[SELECTIONS / 2], times[SELECTIONS * 95 / 100]);
        println!(
            "sums of {what} over a range: {half:.0} ms (median), {most:.0} ms (95 %), budget 150; at most {} rows, {groups:.1} row \
             groups, budget 6 and tiles",
            rows[SELECTIONS - 1]
        );
    }
    Ok(())
}
