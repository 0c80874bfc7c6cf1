//! Summaries of recordings whose sums do not fit into memory: a build server starts hundreds of thousands of processes, each with
//! methods of its own. Processes are summed up some at a time, in the order of the tables, each round from the rows of their lifetimes.

use std::ops::Range;

use rustc_hash::FxHashMap;
use tracesift_analysis::{Bounds, LargestMethods, RecordingFacts, RowSummaries, RowTotals, Span};
use tracesift_archive::{ArchiveUpdate, Error, SealedArchive};
use tracesift_trace::rows::{ProcessSummaryRow, TagSummaryRow};
use tracesift_trace::{ProcessId, ThreadId};

use crate::stack_methods::NamedStacks;
use crate::summaries::{Full, Share, Summarised, SummaryInput, summarise};
use crate::summary_source::SummarySource;

/// Where the tables go: rows of a table in their order.
pub(crate) trait SummaryTarget {
    /// Table `process_summary`, at once.
    fn processes(&mut self, rows: &[ProcessSummaryRow]);
    /// Further rows of table `method_summary`.
    fn methods(&mut self, rows: &LargestMethods);
    /// Further rows of table `tag_summary`.
    fn tags(&mut self, rows: &[TagSummaryRow]);
}

impl SummaryTarget for SealedArchive {
    fn processes(&mut self, rows: &[ProcessSummaryRow]) {
        self.write_table(rows);
    }

    fn methods(&mut self, rows: &LargestMethods) {
        self.write_each(|write| rows.for_each(write));
    }

    fn tags(&mut self, rows: &[TagSummaryRow]) {
        self.write_table(rows);
    }
}

/// Of an archive that is there only what depends on names is written.
impl SummaryTarget for ArchiveUpdate {
    fn processes(&mut self, _: &[ProcessSummaryRow]) {}

    fn methods(&mut self, rows: &LargestMethods) {
        self.write_each(|write| rows.for_each(write));
    }

    fn tags(&mut self, rows: &[TagSummaryRow]) {
        self.write_table(rows);
    }
}

/// Writes the summary tables. `early` is what came of an attempt to sum all up at once, where there was one already; the sums take at
/// most so many bytes. Tells how many switch rows contradict each other or the thread table.
///
/// # Errors
/// When a table cannot be read.
pub(crate) fn write_summaries(
    recording: RecordingFacts,
    early: Option<Result<Summarised, Full>>,
    source: &(impl SummarySource + Sync),
    memory: usize,
    target: &mut impl SummaryTarget,
) -> Result<u64, Error> {
    match early.map_or_else(|| summarise(recording, source, memory), Ok)? {
        Ok(Summarised { processes, methods, tags, contradictions, .. }) => {
            target.processes(&processes);
            target.methods(&methods);
            target.tags(&tags);
            Ok(contradictions)
        }
        Err(Full) => in_rounds(recording, source, memory, target),
    }
}

/// Writes the summary tables, some processes at a time.
fn in_rounds(
    recording: RecordingFacts,
    source: &(impl SummarySource + Sync),
    memory: usize,
    target: &mut impl SummaryTarget,
) -> Result<u64, Error> {
    let WithoutMethods { mut processes, contradictions, loads } = without_methods(recording, source)?;
    let named = NamedStacks::by_function(source)?;
    let sums = SummaryInput { recording, source, named: &named };
    // Rows of a round; how much they take is known behind each.
    let mut rows = FIRST_ROUND;
    let mut rest = &mut processes[..];
    while !rest.is_empty() {
        let (count, load) = first_of(rest, &loads, rows);
        let ids = rest[0].process..=rest[count - 1].process;
        // One process cannot be divided. Stacks of one that lives for a short time are not seen again.
        let bounds = Bounds { sums: if count > 1 { memory } else { usize::MAX }, cache: memory / 4 };
        let share = Share { listed: Vec::new(), processes: Some(ids), times: Some(load.times()), bounds };
        match sums.of_share(&share)? {
            Ok(round) => {
                target.methods(&round.methods);
                target.tags(&round.tags);
                let (done, others) = rest.split_at_mut(count);
                take_counts(done, &round.processes);
                rest = others;
                rows = next_rows(rows, load.rows, round.bytes, memory);
            }
            Err(_) => rows = load.rows / 2,
        }
    }
    target.processes(&processes);
    Ok(contradictions)
}

/// Rows of the first round.
const FIRST_ROUND: u64 = 1 << 18;

/// Rows of the next round, when so many took so many bytes: what two thirds of the memory have room for, but not many times more than
/// the last round might have had.
fn next_rows(allowed: u64, rows: u64, bytes: usize, memory: usize) -> u64 {
    let most = allowed.saturating_mul(4);
    if rows == 0 {
        return most;
    }
    let fitting = u128::from(rows) * (memory as u128 / 3 * 2) / (bytes as u128).max(1);
    u64::try_from(fitting).unwrap_or(u64::MAX).clamp(1, most)
}

/// The rows of a process.
#[derive(Clone, Copy, Debug)]
struct Load {
    rows: u64,
    first: i64,
    last: i64,
}

impl Load {
    const NONE: Self = Self { rows: 0, first: i64::MAX, last: i64::MIN };

    fn row(&mut self, time: i64) {
        *self = self.and(Self { rows: 1, first: time, last: time });
    }

    fn and(self, other: Self) -> Self {
        let (first, last) = (self.first.min(other.first), self.last.max(other.last));
        Self { rows: self.rows + other.rows, first, last }
    }

    fn times(self) -> Range<i64> {
        // A span that ends where a range starts does not touch it.
        self.first.saturating_sub(1)..self.last.saturating_add(1)
    }
}

/// The part of the summaries that does not grow with the methods of a process.
struct WithoutMethods {
    /// The rows of all processes, without their counts of methods.
    processes: Vec<ProcessSummaryRow>,
    /// How many switch rows contradict others.
    contradictions: u64,
    /// How many rows each process has, and when.
    loads: FxHashMap<ProcessId, Load>,
}

fn without_methods(recording: RecordingFacts, source: &impl SummarySource) -> Result<WithoutMethods, Error> {
    let mut threads = Vec::new();
    source.threads(|row| threads.push(*row))?;
    let owners: FxHashMap<ThreadId, ProcessId> = threads.iter().map(|row| (row.thread, row.process)).collect();
    let mut loads: FxHashMap<ProcessId, Load> = FxHashMap::default();
    let mut rows = RowSummaries::new(&recording, Span::ALL, &threads);
    drop(threads);
    source.samples(None, |row| {
        let _ = rows.sample(row);
        loads.entry(row.process).or_insert(Load::NONE).row(row.time);
    })?;
    source.switches_newest_first(None, |row| {
        let _ = rows.switch(row);
        if let Some(process) = owners.get(&row.thread) {
            loads.entry(*process).or_insert(Load::NONE).row(row.time);
        }
    })?;
    let listed = source.processes()?;
    let RowTotals { processes, contradictions, .. } = rows.finish(&recording, listed);
    Ok(WithoutMethods { processes, contradictions, loads })
}

/// How many of the processes have about so many rows together, at least one; and what they have.
fn first_of(processes: &[ProcessSummaryRow], loads: &FxHashMap<ProcessId, Load>, rows: u64) -> (usize, Load) {
    let mut together = Load::NONE;
    for (count, row) in processes.iter().enumerate() {
        let with_it = together.and(loads.get(&row.process).copied().unwrap_or(Load::NONE));
        if count > 0 && with_it.rows > rows {
            return (count, together);
        }
        together = with_it;
    }
    (processes.len(), together)
}

/// Enters how many methods the processes have, and how many of them are kept.
fn take_counts(rows: &mut [ProcessSummaryRow], counted: &[ProcessSummaryRow]) {
    let counted: FxHashMap<ProcessId, &ProcessSummaryRow> = counted.iter().map(|row| (row.process, row)).collect();
    for row in rows {
        if let Some(counted) = counted.get(&row.process) {
            (row.methods, row.methods_kept) = (counted.methods, counted.methods_kept);
        }
    }
}
