//! Writes the timeline tables of an archive, from its finished tables.
//!
//! A recording is taken window by window, each as long as the memory has room for. With the index of long spans a window reads its own row
//! groups and one on each side.

mod spool;
mod target;

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use tracesift_analysis::processes::is_idle;
use tracesift_analysis::timeline::EventNumbers;
use tracesift_analysis::timeline::tiles::{
    BLOCK, Levels, Limits, SwitchOnCpu, TiledLanes, TiledOperation, TiledSample, Timelines, Window,
};
use tracesift_analysis::{Accounting, RecordingFacts, SwitchWithoutPriorities, ThreadLifetime};
use tracesift_archive::{Archive, ArchiveUpdate, TargetLock, WhenBusy};
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, EventRow, LongSpanRow, ProcessRow, ProcessSummaryRow, TIMELINE_TABLES,
};
use tracesift_trace::view;

use self::target::Tables;
use crate::error::Error;
use crate::options::Budget;

pub(crate) use self::target::RowTarget;

/// Blocks of buckets of the first window: some millions of rows.
const FIRST_BLOCKS: i64 = 8;

/// Blocks of a window, at most.
const MOST_BLOCKS: i64 = 64;

/// Threads that make windows, at most: each reads rows, and takes memory.
const MOST_THREADS: usize = 4;

/// Rows after which the memory of a window is looked at.
const ROWS_BETWEEN_LOOKS: u64 = 1 << 14;

/// Rows that all windows together may read without the index: then each one reads all switches.
const MOST_ROWS_WITHOUT_INDEX: u64 = 32_000_000;

view! {
    /// A process, and whether it is the idle loop.
    #[derive(Clone, Copy, Debug)]
    struct Process of ProcessRow { process, pid, origin }
}

view! {
    /// The kind of an event.
    #[derive(Clone, Debug)]
    struct Event of EventRow { time, provider, event }
}

view! {
    /// How much there is of a process.
    #[derive(Clone, Copy, Debug)]
    struct RowsOfProcess of ProcessSummaryRow { samples, switches }
}

/// Whether an archive should have timeline tables.
pub(crate) fn are_wanted(archive: &Archive, budget: &Budget) -> bool {
    rows(archive) >= budget.long_from
}

fn rows(archive: &Archive) -> u64 {
    archive.row_count::<ContextSwitchRow>() + archive.row_count::<CpuSampleRow>()
}

/// Adds the timeline tables to an archive that does not have them though it is long enough. Tells whether it has got any.
///
/// # Errors
/// The archive cannot be read or replaced. It is then unchanged.
pub fn add_timelines(archive: &Path, budget: &Budget) -> Result<bool, Error> {
    let mut update = ArchiveUpdate::begin(TargetLock::acquire(archive, WhenBusy::Wait)?)?;
    let old = update.old().clone();
    let is_timeline = |name: &str| TIMELINE_TABLES.iter().any(|timeline| timeline.name == name);
    let has_them = old.info().tables.iter().any(|table| is_timeline(&table.name));
    let are_added = !has_them && are_wanted(&old, budget) && write_timelines(&old, budget, &mut update)?;
    if are_added {
        update.finish()?;
    }
    Ok(are_added)
}

/// Writes the timeline tables. A recording that would have hardly any rows in a bucket gets none, nor does one whose switches have no
/// index though they are many. Tells whether there are any.
///
/// # Errors
/// A table cannot be read, or a temporary file cannot be written.
pub(crate) fn write_timelines(archive: &Archive, budget: &Budget, target: &mut impl RowTarget) -> Result<bool, Error> {
    let recording = RecordingFacts::from(archive.info());
    let summaries: Vec<RowsOfProcess> = archive.rows()?;
    let rows = |row: &RowsOfProcess| row.samples.saturating_add(row.switches.unwrap_or(0)).max(0).cast_unsigned();
    let rows: Vec<u64> = summaries.iter().map(rows).collect();
    let limits = Limits { rows_of_bucket: budget.rows_of_bucket, rows_of_tile: budget.rows_of_tile };
    let Some(levels) = Levels::of(recording.span, &rows, limits) else { return Ok(false) };
    let threads: Vec<ThreadLifetime> = archive.rows()?;
    let processes: Vec<Process> = archive.rows()?;
    let idle = processes.iter().filter(|row| is_idle(row.pid, row.origin)).map(|row| row.process).collect();
    let lanes = TiledLanes::new(recording, &threads, &idle, archive.info().cpu_count);
    let windows = Windows { archive, recording, levels, threads: &threads, lanes: &lanes, memory: budget.timelines() };
    if !windows.are_quick() {
        return Ok(false);
    }
    let directory = budget.temporary.clone().unwrap_or_else(std::env::temp_dir);
    let mut tables = Tables::new(levels, target, &directory);
    windows.write(&mut tables)?;
    tables.finish()?;
    Ok(true)
}

/// A window, and the kinds of events by the numbers that they have in it.
struct Made<'a> {
    window: Window<'a>,
    kinds: EventNumbers,
}

/// The windows so far.
struct Sums {
    timelines: Timelines,
    /// Kinds of events, in the order in which they come.
    kinds: EventNumbers,
}

impl Sums {
    fn take(&mut self, made: Made<'_>, tables: &mut Tables<'_, impl RowTarget>) {
        let Made { mut window, kinds } = made;
        window.renumber_events(&self.kinds.numbers_of(&kinds));
        tables.kinds = self.kinds.names().to_vec();
        self.timelines.take(window.finish(), tables);
    }
}

/// What windows are made of.
struct Windows<'a> {
    archive: &'a Archive,
    recording: RecordingFacts,
    levels: Levels,
    threads: &'a [ThreadLifetime],
    lanes: &'a TiledLanes,
    /// Bytes that a window may take.
    memory: usize,
}

impl Windows<'_> {
    /// Whether the windows read most rows only once.
    fn are_quick(&self) -> bool {
        let all = self.levels.buckets(0);
        let windows = u64::try_from((all.end - all.start) / (FIRST_BLOCKS * BLOCK) + 1).unwrap_or(u64::MAX);
        let rows = self.archive.row_count::<ContextSwitchRow>().saturating_mul(windows);
        self.archive.row_count::<LongSpanRow>() > 0 || rows <= MOST_ROWS_WITHOUT_INDEX
    }

    /// Hands over all tiles but those that wait for the end. Threads make the windows; they are taken one after the other.
    fn write(&self, tables: &mut Tables<'_, impl RowTarget>) -> Result<(), Error> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        // One more is taken meanwhile.
        let memory = self.memory / (threads + 1);
        let mut sums = Sums { timelines: Timelines::new(&self.levels), kinds: EventNumbers::default() };
        let all = self.levels.buckets(0);
        let mut at = all.start.div_euclid(BLOCK) * BLOCK;
        let of_thread = (all.end - at) / BLOCK / threads as i64 + 1;
        let mut blocks = FIRST_BLOCKS.min(of_thread);
        thread::scope(|scope| {
            // In the order of time; those that are made come first but for halves of one that was too long.
            let mut turns = VecDeque::new();
            loop {
                while turns.len() < threads && at < all.end {
                    turns.push_back((at..at + blocks * BLOCK, None));
                    at += blocks * BLOCK;
                }
                for (buckets, made) in turns.iter_mut().take(threads) {
                    let of = buckets.clone();
                    made.get_or_insert_with(|| scope.spawn(move || self.window(&of, memory)));
                }
                let Some((buckets, made)) = turns.pop_front() else { break };
                let made = made.map(|window| window.join().unwrap_or_else(|panic| resume_unwind(panic)));
                let Some(made) = made.transpose()?.flatten() else {
                    blocks = ((buckets.end - buckets.start) / BLOCK / 2).max(1);
                    let middle = buckets.start + blocks * BLOCK;
                    turns.push_front((middle..buckets.end, None));
                    turns.push_front((buckets.start..middle, None));
                    continue;
                };
                let bytes = made.window.bytes();
                sums.take(made, tables);
                if bytes < memory / 4 {
                    blocks = (blocks * 2).min(MOST_BLOCKS);
                } else if bytes > memory / 4 * 3 {
                    blocks = (blocks / 2).max(1);
                }
            }
            Ok::<(), Error>(())
        })?;
        sums.timelines.finish(tables);
        Ok(())
    }

    /// The figures of some buckets; `None`: they take more memory.
    fn window(&self, buckets: &Range<i64>, memory: usize) -> Result<Option<Made<'_>>, Error> {
        // A block cannot be divided.
        let memory = if buckets.end - buckets.start > BLOCK { memory } else { usize::MAX };
        let mut kinds = EventNumbers::default();
        let mut window = Window::new(self.lanes, self.levels, buckets);
        let time = window.time();
        // All rows are read without looking at their times.
        let only = |range: Range<i64>| (time != self.levels.time()).then_some(range);
        self.archive.scan(only(time.start..time.end), |row: &TiledSample| window.sample(*row))?;
        self.archive.scan(only(time.start..time.end), |row: &Event| {
            window.event(kinds.number(&row.provider, &row.event), row.time);
        })?;
        // An operation that completes at the first instant ends a span that lies before it.
        let touching = only(time.start.saturating_sub(1)..time.end.saturating_add(1));
        self.archive.scan_backwards(touching, |row: &TiledOperation| window.operation(*row))?;
        if self.recording.has_switches && self.archive.row_count::<ContextSwitchRow>() > 0 {
            let mut accounting = Accounting::new(&self.recording, time, self.threads.iter().copied());
            let (mut is_full, mut rows) = (false, 0_u64);
            // Decoding takes a small part of the time, so rows do not go from one processor to another.
            self.archive.scan_around(only(time.start..time.end), |row: &SwitchWithoutPriorities| {
                rows += 1;
                if rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
                    is_full = is_full || window.bytes() > memory;
                }
                if !is_full {
                    window.switch(SwitchOnCpu { time: row.time, cpu: row.cpu, flags: row.flags });
                    accounting.switch_watched(*row, &mut window);
                }
            })?;
            if is_full {
                return Ok(None);
            }
            let accounts = accounting.finish_watched(&mut window);
            window.lives(&accounts);
        }
        Ok((window.bytes() <= memory).then_some(Made { window, kinds }))
    }
}
