//! The table `counter_summary`, and the same rows about a part of a recording.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{CounterSummaryRow, CpuRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId, view};

use super::{Count, CountSource, are_there, scan};

view! {
    /// The number of a thread; that of the threads that run where no other one runs is 0.
    #[derive(Clone, Copy, Debug)]
    struct ThreadNumber of ThreadRow { thread, tid }
}

/// What tells rows apart, in their order: process, thread, kind of core, source, counter.
type Key = (Option<ProcessId>, Option<ThreadId>, Option<u16>, CountSource, usize);

/// The rows of `counter_summary` about each of some ranges of time, which follow each other. A difference between switches counts in
/// the range of the second switch.
///
/// # Errors
/// When a table cannot be read.
pub fn counter_sums(archive: &Archive, ranges: &[Span]) -> Result<Vec<Vec<CounterSummaryRow>>, Error> {
    if !are_there(archive) {
        return Ok(vec![Vec::new(); ranges.len()]);
    }
    let cores = CoreTypes::of(archive)?;
    let mut sums: Vec<BTreeMap<Key, CounterSummaryRow>> = vec![BTreeMap::new(); ranges.len()];
    // The best source of each role, and of each counter without a role, in the whole recording.
    let mut best: FxHashMap<Result<i8, usize>, CountSource> = FxHashMap::default();
    let names = scan(archive, |count| {
        let (counter, role) = count.counter;
        let known = best.entry(role.ok_or(counter)).or_insert(count.source);
        *known = (*known).min(count.source);
        let range = ranges.partition_point(|range| range.end <= count.time);
        if !ranges.get(range).is_some_and(|range| range.contains(count.time)) {
            return;
        }
        let key = (count.process, count.thread, cores.place(count.cpu), count.source, counter);
        let first = || CounterSummaryRow { role, start: count.start, ..CounterSummaryRow::default() };
        let sum = sums[range].entry(key).or_insert_with(first);
        add(sum, count);
    })?;
    let mut idle: Vec<ThreadId> = Vec::new();
    archive.scan(None, |row: &ThreadNumber| idle.extend((row.tid == 0).then_some(row.thread)))?;
    idle.sort_unstable();
    let named = |(key, sum): (Key, CounterSummaryRow)| {
        let (process, thread, core, source, counter) = key;
        let is_idle = thread.is_some_and(|thread| idle.binary_search(&thread).is_ok());
        CounterSummaryRow {
            process,
            thread,
            core_type: core.map(|core| cores.names[usize::from(core)].clone()),
            counter: names.get(counter).cloned().unwrap_or_default(),
            source: source as i8,
            best: (best.get(&sum.role.ok_or(counter)) == Some(&source)).then_some(true),
            idle: is_idle.then_some(true),
            ..sum
        }
    };
    Ok(sums.into_iter().map(|sums| sums.into_iter().map(named).collect()).collect())
}

fn add(sum: &mut CounterSummaryRow, count: &Count) {
    sum.parts += 1;
    sum.start = sum.start.min(count.start);
    sum.end = sum.end.max(count.time);
    if let Some(value) = count.value {
        sum.value = Some(sum.value.unwrap_or(0).saturating_add(value));
    }
    if count.source == CountSource::Switches {
        sum.unknown += i64::from(count.value.is_none());
        sum.run = Some(sum.run.unwrap_or(0).saturating_add(count.time.saturating_sub(count.start)));
        sum.counts_run = count.is_first.then_some(true);
    }
}

/// The kinds of cores.
struct CoreTypes {
    names: Vec<String>,
    of_cpus: FxHashMap<i16, u16>,
}

impl CoreTypes {
    fn of(archive: &Archive) -> Result<Self, Error> {
        let mut types = Self { names: Vec::new(), of_cpus: FxHashMap::default() };
        archive.scan(None, |row: &CpuRow| {
            let Some(name) = &row.core_type else { return };
            let place = types.names.iter().position(|known| known == name).unwrap_or_else(|| {
                types.names.push(name.clone());
                types.names.len() - 1
            });
            if let Ok(place) = u16::try_from(place) {
                types.of_cpus.insert(row.cpu, place);
            }
        })?;
        Ok(types)
    }

    fn place(&self, cpu: Option<i16>) -> Option<u16> {
        self.of_cpus.get(&cpu?).copied()
    }
}
