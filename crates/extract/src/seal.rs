//! The end of every extract: event tables are closed, names and summaries added, and the archive is put in its place.

use std::path::PathBuf;

use tracesift_analysis::Span;
use tracesift_analysis::syscall_sums::{SummedCall, SyscallSums};
use tracesift_archive::Archive;
use tracesift_trace::info::{SourceFile, TraceInfo};
use tracesift_trace::rows::{ContextSwitchRow, SyscallRow, SyscallSummaryRow};
use tracesift_trace::{Clock, Health, HealthKind};

use crate::caveats::caveats;
use crate::counters::counter_sums;
use crate::error::Error;
use crate::kept_rows::KeptRows;
use crate::options::Options;
use crate::progress::Progress;
use crate::row_writer::RowWriter;
use crate::summaries::summarise;
use crate::summaries_in_rounds::write_summaries;
use crate::symbols::{Earlier, NAMELESS, Named, Names, WithNames, nameless};
use crate::timelines::{self, write_timelines};

/// What an extract found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The archive.
    pub archive: PathBuf,
    /// What was recorded.
    pub info: TraceInfo,
    /// What could not be used.
    pub health: Health,
    /// Records read.
    pub records: u64,
    /// What symbol files said, where they were asked.
    pub named: Option<Named>,
}

/// What both passes gave, beside the rows.
pub(crate) struct PassResults {
    pub(crate) info: TraceInfo,
    pub(crate) health: Health,
    /// Records read.
    pub(crate) records: u64,
}

/// Closes the event tables, adds names and summaries and puts the archive in its place.
pub(crate) fn seal(
    target: PathBuf,
    writer: RowWriter,
    mut results: PassResults,
    clock: Clock,
    options: &Options,
    progress: &mut Progress<'_, '_>,
) -> Result<Report, Error> {
    let symbols = options.symbols.as_deref();
    results.info.caveats = caveats(&results.health);
    results.info.symbols_loaded = symbols.is_some();
    results.info.left_out = writer.tables.left_out().iter().map(|table| (*table).to_owned()).collect();
    // What was left out is not there for the summaries either.
    let has_switches = writer.tables.wants("context_switches");
    results.info.has_switches &= has_switches;
    results.info.has_ready &= has_switches;
    let recording = tracesift_analysis::RecordingFacts::from(&results.info);
    let file = results.info.sources.first().map(|source| PathBuf::from(&source.path)).unwrap_or_default();
    let RowWriter { archive, identities, held, .. } = writer;
    let mut sealing = archive.seal(results.info, &clock);
    let kept = KeptRows::new(sealing.take_kept(), identities);
    let memory = options.budget.summaries();
    let (mut sealed, contradictions, named) = match symbols.zip(held) {
        None => {
            progress.at("summarising", 0)?;
            let early = kept.as_ref().map(|rows| summarise(recording, rows, memory)).transpose()?;
            let mut sealed = sealing.wait()?;
            let archive = sealed.archive().clone();
            let contradictions = write_summaries(recording, early, &archive, memory, &mut sealed)?;
            (sealed, contradictions, None)
        }
        Some((symbols, held)) => {
            let mut sealed = sealing.wait()?;
            progress.at("naming", 0)?;
            let archive = sealed.archive().clone();
            let names = Names::find(&archive, Earlier::Rows(&held), &file, symbols)?;
            let mut written = Ok(());
            sealed.write_each(|write| written = names.for_each(write));
            written?;
            let entries = names.entries()?;
            if !entries.is_empty() {
                sealed.write_table(&entries);
            }
            progress.at("summarising", 0)?;
            let early = kept.as_ref().map(|rows| summarise(recording, &WithNames { rows, names: &names }, memory));
            let source = WithNames { rows: &archive, names: &names };
            let contradictions = write_summaries(recording, early.transpose()?, &source, memory, &mut sealed)?;
            let named = names.named().clone();
            (sealed, contradictions, Some(named))
        }
    };
    let counters = counter_sums(sealed.archive(), &[Span::ALL])?.pop().unwrap_or_default();
    if !counters.is_empty() {
        sealed.write_table(&counters);
    }
    if sealed.archive().row_count::<ContextSwitchRow>() >= options.budget.long_from {
        let archive = sealed.archive().clone();
        let mut written = Ok(());
        sealed.write_each(|write| written = archive.find_long_spans(write));
        written?;
    }
    let calls = syscall_summary(sealed.archive())?;
    if !calls.is_empty() {
        sealed.write_table(&calls);
    }
    // Giving the memory back takes time, which passes while the last rows are encoded.
    drop(kept);
    if timelines::are_wanted(sealed.archive(), &options.budget) {
        // They are read by the index.
        sealed.settle(&clock)?;
        let archive = sealed.archive().clone();
        write_timelines(&archive, &options.budget, &mut sealed)?;
    }
    let contradictions = i64::try_from(contradictions).unwrap_or(i64::MAX);
    let health = &mut results.health;
    health.add(HealthKind::CONTRADICTING_ROWS, contradictions, None, || {
        "switch rows that contradict each other or the thread table".to_owned()
    });
    let unknown = counters.iter().map(|row| row.unknown).sum();
    health.add(HealthKind::COUNTERS_WENT_BACK, unknown, None, || "differences of counters between switches".to_owned());
    if let Some((count, example)) = named.as_ref().and_then(nameless) {
        health.add(NAMELESS, count, None, || example);
    }
    let info = sealed.archive().info().clone();
    sealed.finish(&results.health, &clock)?;
    Ok(Report { archive: target, info, health: results.health, records: results.records, named })
}

/// The table `syscall_summary`; of a recording without system calls nothing is read.
fn syscall_summary(archive: &Archive) -> Result<Vec<SyscallSummaryRow>, tracesift_archive::Error> {
    let mut sums = SyscallSums::default();
    if archive.row_count::<SyscallRow>() > 0 {
        archive.scan(None, |row: &SummedCall| sums.add(*row))?;
    }
    Ok(sums.finish())
}

/// Id of a recording: the same for the same files, whatever their place and name. `more` tells files apart that begin alike.
pub(crate) fn trace_id(sources: &[SourceFile], more: impl Iterator<Item = [u8; 8]>) -> String {
    let mut hashes = [0xcbf2_9ce4_8422_2325_u64, 0x9e37_79b9_7f4a_7c15];
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            for hash in &mut hashes {
                *hash = (*hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(7);
            }
        }
    };
    for source in sources {
        add(source.head_hash.as_bytes());
        add(&source.size.to_le_bytes());
        add(source.member.as_deref().unwrap_or("").as_bytes());
    }
    more.for_each(|bytes| add(&bytes));
    format!("{:016x}{:016x}", hashes[0], hashes[1])
}
