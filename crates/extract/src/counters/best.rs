//! What counters counted, one by one, from the best source of each.

use rustc_hash::FxHashMap;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::CounterValueRow;
use tracesift_trace::{ProcessId, ThreadId, view};

use super::{CountSource, Names, are_there, scan};

/// What a counter counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestCount {
    /// The place of its name among those of the counters.
    pub counter: usize,
    /// The process; `None`: the recording does not tell.
    pub process: Option<ProcessId>,
    /// The thread; `None`: the recording does not tell.
    pub thread: Option<ThreadId>,
    /// The CPU, where it is known.
    pub cpu: Option<i16>,
    /// When it was read, ns. A difference between switches counts at the second one.
    pub time: i64,
    /// Events.
    pub value: i64,
}

view! {
    /// Tells whether a reading is the count over the life of a thread.
    #[derive(Clone, Copy, Debug)]
    struct OfLife of CounterValueRow { source, total }
}

/// Hands over the known counts from the best source that the recording has for what a counter counts: those that `counter_summary`
/// calls best. Gives the names of the counters.
///
/// # Errors
/// When a table cannot be read.
pub fn best_counts(archive: &Archive, mut visit: impl FnMut(&BestCount)) -> Result<Vec<String>, Error> {
    if !are_there(archive) {
        return Ok(Vec::new());
    }
    // The best source of each role, and of each counter without a role. Sources come in their order but for counts of whole lives, which
    // are among the readings.
    let mut best: FxHashMap<Result<i8, usize>, CountSource> = FxHashMap::default();
    let mut names = Names::of(archive.info());
    archive.scan(None, |row: &OfLife| {
        // Of every row: a counter without a name gets its place where it is first met.
        let (counter, role) = names.of_source(row.source);
        if row.total == Some(true) {
            best.insert(role.ok_or(counter), CountSource::Total);
        }
    })?;
    scan(archive, |count| {
        let (counter, role) = count.counter;
        let known = best.entry(role.ok_or(counter)).or_insert(count.source);
        *known = (*known).min(count.source);
        if let Some(value) = count.value.filter(|_| *known == count.source) {
            let (process, thread) = (count.process, count.thread);
            visit(&BestCount { counter, process, thread, cpu: count.cpu, time: count.time, value });
        }
    })
}
