//! The memory of each process: its first and its last reading in the time range.

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::Error;
use tracesift_trace::rows::{MemoryProcessRow, Origin, ProcessCounterRow, ProcessRow};
use tracesift_trace::{ProcessId, view};

use super::{Question, Sort};
use crate::answer::{ColumnOf, Fact, Kind, View};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};
use crate::recording::OpenRecording;

view! {
    /// What the kernel counted for a process, as far as it is memory.
    #[derive(Clone, Copy, Debug)]
    struct Counters of ProcessCounterRow {
        time, process, virtual_size, peak_virtual_size, working_set, peak_working_set, commit, peak_commit,
    }
}

/// One process of the answer.
#[derive(Clone, Debug)]
pub(super) struct Row {
    process: ProcessRow,
    /// The reading at the start of the range, else the first one in it; `None`: the process started in the range, from nothing.
    first: Option<MemoryProcessRow>,
    last: MemoryProcessRow,
    /// Whether the only reading is what the kernel counted until the end: it says nothing about a change.
    is_count: bool,
    peaks: Peaks,
}

/// The largest values since the start of a process.
#[derive(Clone, Copy, Debug, Default)]
struct Peaks {
    virtual_size: Option<i64>,
    working_set: Option<i64>,
    commit: Option<i64>,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        Some(&self.process)
    }
}

/// How much smaller the pages of a process are in the store.
fn ratio(row: &MemoryProcessRow) -> Option<f64> {
    let (store, stored) = (row.store.filter(|store| *store > 0)?, row.stored?);
    Some(stored as f64 / store as f64)
}

/// What is committed and neither in the working set nor in the store.
fn paged_out(row: &MemoryProcessRow) -> Option<i64> {
    let left = row.commit?.saturating_sub(row.working_set?).saturating_sub(row.store.unwrap_or(0));
    Some(left.max(0))
}

/// The working set; on Linux the resident memory.
pub(super) fn working_set(reading: &MemoryProcessRow) -> Option<i64> {
    let parts = [reading.rss_file, reading.rss_anon, reading.rss_shmem];
    let resident = parts.into_iter().flatten().reduce(i64::saturating_add);
    reading.working_set.or(resident)
}

impl Row {
    /// The change of a figure from the first to the last reading.
    fn diff(&self, figure: fn(&MemoryProcessRow) -> Option<i64>) -> Option<i64> {
        let last = figure(&self.last)?;
        match &self.first {
            _ if self.is_count => None,
            Some(first) => Some(last.saturating_sub(figure(first)?)),
            None => Some(last),
        }
    }

    fn first(&self, figure: fn(&MemoryProcessRow) -> Option<i64>) -> Option<i64> {
        figure(self.first.as_ref()?)
    }

    /// The change by which rows are sorted and limited.
    fn change(&self) -> Option<i64> {
        self.diff(|reading| reading.commit).or_else(|| self.diff(working_set)).map(i64::saturating_abs)
    }
}

/// The columns.
pub(super) const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::always(
        "diff_commit",
        "Change of commit",
        Kind::Bytes,
        |r| r.diff(|reading| reading.commit).into(),
        "Change of the committed memory from the first to the last reading of the time range. A process that started in the range began with 0.",
    ),
    ColumnOf::always(
        "commit",
        "Commit",
        Kind::Bytes,
        |r| r.last.commit.into(),
        "Committed memory at the last reading.",
    ),
    ColumnOf::always(
        "diff_working_set",
        "Change of working set",
        Kind::Bytes,
        |r| r.diff(working_set).into(),
        "Change of the working set, as for the commit.",
    ),
    ColumnOf::always(
        "working_set",
        "Working set",
        Kind::Bytes,
        |r| working_set(&r.last).into(),
        "Working set at the last reading. On Linux the resident memory: the sum of `rss_file`, `rss_anon` and `rss_shmem`, as far as they are known.",
    ),
    ColumnOf::details(
        "private_working_set",
        "Private",
        Kind::Bytes,
        |r| r.last.private_working_set.into(),
        "The part of the working set that no other process can share.",
    ),
    ColumnOf::details(
        "shared_commit",
        "Shared commit",
        Kind::Bytes,
        |r| r.last.shared_commit.into(),
        "Committed memory that several processes share.",
    ),
    ColumnOf::details("virtual_size", "Virtual", Kind::Bytes, |r| r.last.virtual_size.into(), "Virtual size."),
    ColumnOf::details(
        "store",
        "Store",
        Kind::Bytes,
        |r| r.last.store.into(),
        "Memory that the compressed pages of the process take.",
    ),
    ColumnOf::details(
        "stored",
        "Stored",
        Kind::Bytes,
        |r| r.last.stored.into(),
        "Compressed pages of the process, before compression.",
    ),
    ColumnOf::details(
        "compression_ratio",
        "Ratio",
        Kind::Number(2),
        |r| ratio(&r.last).into(),
        "Compressed pages before compression, divided by the memory that they take.",
    ),
    ColumnOf::details(
        "paged_out",
        "Paged out",
        Kind::Bytes,
        |r| paged_out(&r.last).into(),
        "Committed memory that is neither in the working set nor in the store: in the page file, or never touched. At least this much: the working set has pages that are not committed, too.",
    ),
    ColumnOf::details(
        "commit_debt",
        "Commit debt",
        Kind::Bytes,
        |r| r.last.commit_debt.into(),
        "Memory that was promised and is not committed.",
    ),
    ColumnOf::details(
        "peak_commit",
        "Peak commit",
        Kind::Bytes,
        |r| r.peaks.commit.into(),
        "Largest committed memory since the start of the process, as the kernel counted it.",
    ),
    ColumnOf::details(
        "peak_working_set",
        "Peak working set",
        Kind::Bytes,
        |r| r.peaks.working_set.into(),
        "Largest working set since the start of the process, as the kernel counted it.",
    ),
    ColumnOf::details(
        "peak_virtual_size",
        "Peak virtual",
        Kind::Bytes,
        |r| r.peaks.virtual_size.into(),
        "Largest virtual size since the start of the process, as the kernel counted it.",
    ),
    ColumnOf::details("rss_file", "Files", Kind::Bytes, |r| r.last.rss_file.into(), "Resident pages of files (Linux)."),
    ColumnOf::details(
        "rss_anon",
        "Anonymous",
        Kind::Bytes,
        |r| r.last.rss_anon.into(),
        "Resident anonymous pages (Linux).",
    ),
    ColumnOf::details(
        "rss_shmem",
        "Shared memory",
        Kind::Bytes,
        |r| r.last.rss_shmem.into(),
        "Resident pages of shared memory (Linux).",
    ),
    ColumnOf::details("swap", "Swap", Kind::Bytes, |r| r.last.swap.into(), "Pages in swap (Linux)."),
    ColumnOf::machine(
        "first_commit",
        "First commit",
        Kind::Bytes,
        |r| r.first(|reading| reading.commit).into(),
        "Committed memory at the first reading.",
    ),
    ColumnOf::machine(
        "first_working_set",
        "First working set",
        Kind::Bytes,
        |r| r.first(working_set).into(),
        "Working set at the first reading.",
    ),
    ColumnOf::machine(
        "first_ns",
        "First",
        Kind::Time,
        |r| r.first.map(|reading| reading.time).into(),
        "Time of the first reading; empty for a process that started in the time range.",
    ),
    ColumnOf::machine("last_ns", "Last", Kind::Time, |r| r.last.time.into(), "Time of the last reading."),
    of_process::session(),
    of_process::container(),
    of_process::label(),
    of_process::command_line().shown(View::Always),
]);

/// Whether the kernel counted the memory of processes.
pub(super) fn has_counters(recording: &OpenRecording) -> bool {
    recording.archive().row_count::<ProcessCounterRow>() > 0
}

/// The rows of these processes, ascending.
pub(super) fn rows(recording: &OpenRecording, question: &Question, asked: &[&ProcessRow]) -> Result<Vec<Row>, Error> {
    let archive = recording.archive();
    let (start, end) = question.time.bounds();
    let mut readings: FxHashMap<ProcessId, (MemoryProcessRow, MemoryProcessRow)> = FxHashMap::default();
    let mut take = |row: &MemoryProcessRow| {
        if row.time < end {
            let known = readings.entry(row.process).or_insert((*row, *row));
            // A reading holds until the next one: the latest before the range is the first in it.
            if row.time <= start {
                known.0 = *row;
            }
            known.1 = *row;
        }
    };
    archive.scan(None, &mut take)?;
    let mut peaks: FxHashMap<ProcessId, Peaks> = FxHashMap::default();
    let mut counts: FxHashSet<ProcessId> = FxHashSet::default();
    if has_counters(recording) {
        archive.scan(None, |row: &Counters| {
            let of_process = peaks.entry(row.process).or_default();
            of_process.virtual_size = of_process.virtual_size.max(row.peak_virtual_size);
            of_process.working_set = of_process.working_set.max(row.peak_working_set);
            of_process.commit = of_process.commit.max(row.peak_commit);
            // The rundown at the end is a reading, too. So are the events at the end of a process, of which the first tells the peaks alone.
            let is_reading = row.working_set.is_some() || row.commit.is_some() || row.peak_commit.is_some();
            if is_reading && row.time < end && row.time >= start {
                let reading = readings.entry(row.process).or_insert_with(|| {
                    let empty =
                        MemoryProcessRow { time: row.time, process: row.process, ..MemoryProcessRow::default() };
                    let whole = with_counters(empty, row);
                    counts.insert(row.process);
                    (whole, whole)
                });
                let has_more = row.working_set.is_some() || row.commit.is_some() || row.virtual_size.is_some();
                if row.time >= reading.1.time && has_more {
                    reading.1 = with_counters(reading.1, row);
                }
            }
        })?;
    }
    let is_new = |process: &ProcessRow| process.start.is_some_and(|born| born >= start && born < end);
    let row = |process: &&ProcessRow| {
        // Before the range it was there, and has ended since: it has no reading in the range.
        let is_over = process.end.is_some_and(|ended| ended < start);
        let (first, last) = readings.get(&process.process).filter(|_| !is_over)?;
        let first = Some(*first).filter(|_| !is_new(process));
        let peaks = peaks.get(&process.process).copied().unwrap_or_default();
        let is_count = counts.contains(&process.process);
        Some(Row { process: (*process).clone(), first, last: *last, is_count, peaks })
    };
    let mut rows: Vec<Row> = asked.iter().filter_map(row).filter(|row| passes(question, row)).collect();
    // Parts of the system stand in front, apart from the processes.
    rows.sort_by(|a, b| is_part(b).cmp(&is_part(a)).then_with(|| compare(question.sort, a, b)));
    Ok(rows)
}

/// A reading with what a row of counters says newer. At the end of a process several events tell a part each: what one leaves out stays.
fn with_counters(reading: MemoryProcessRow, row: &Counters) -> MemoryProcessRow {
    MemoryProcessRow {
        time: row.time,
        working_set: row.working_set.or(reading.working_set),
        commit: row.commit.or(reading.commit),
        virtual_size: row.virtual_size.or(reading.virtual_size),
        ..reading
    }
}

fn passes(question: &Question, row: &Row) -> bool {
    let figures =
        [row.change(), working_set(&row.last), row.last.private_working_set, row.last.commit, row.last.shared_commit];
    question.given_limits().into_iter().zip(figures).all(|((between, _), figure)| between.contains(figure))
}

fn compare(sort: Sort, a: &Row, b: &Row) -> Ordering {
    let figure = |row: &Row| match sort {
        Sort::Commit => row.last.commit.or_else(|| working_set(&row.last)),
        Sort::WorkingSet => working_set(&row.last),
        Sort::SharedCommit => row.last.shared_commit,
        Sort::Diff => row.change(),
    };
    let name = |row: &Row| (row.process.name.to_lowercase(), row.process.pid, row.process.process);
    figure(a).cmp(&figure(b)).then_with(|| name(a).cmp(&name(b)))
}

/// Whether it is a part of the system, whose memory belongs to `System`, too.
fn is_part(row: &Row) -> bool {
    row.process.origin == Origin::Pseudo
}

/// Sums over the rows. Parts of the system count in none of them.
pub(super) fn totals(rows: &[Row]) -> Vec<Fact> {
    let rows: Vec<&Row> = rows.iter().filter(|row| !is_part(row)).collect();
    let sum = |figure: fn(&MemoryProcessRow) -> Option<i64>| {
        rows.iter().filter_map(|row| figure(&row.last)).reduce(i64::saturating_add)
    };
    let fact = |label, sum: Option<i64>| Some(Fact::new(label, Kind::Bytes, sum?));
    let sums = [fact("commit", sum(|reading| reading.commit)), fact("working sets", sum(working_set))];
    let processes = Fact::new("processes", Kind::Count, rows.len());
    sums.into_iter().flatten().chain([processes]).collect()
}
