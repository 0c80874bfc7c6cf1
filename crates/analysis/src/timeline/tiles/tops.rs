//! Which process ran on a CPU for the longest time, in each bucket of each level.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::spans::Span;

/// No entry follows.
const NONE: u32 = u32::MAX;

/// How long processes ran on CPUs, in the buckets of level 0 of a window.
#[derive(Debug)]
pub(super) struct RunsOfCpus {
    shift: u32,
    buckets: Range<i64>,
    /// By CPU the first entry of each bucket.
    heads: Vec<Vec<u32>>,
    /// By CPU and process the latest bucket in which it ran, and the entry of that: runs mostly come in the order of time.
    latest: Vec<Vec<Latest>>,
    entries: Entries,
}

/// Processes with numbers below this are found without going through the entries of a bucket.
const LISTED: usize = 1 << 12;

#[derive(Clone, Copy, Debug)]
struct Latest {
    /// Counted from the first one of the window.
    bucket: u32,
    /// [`NONE`]: it has not run yet.
    entry: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    process: i32,
    next: u32,
    run: i64,
}

impl RunsOfCpus {
    pub(super) fn new(shift: u32, buckets: Range<i64>) -> Self {
        Self { shift, buckets, heads: Vec::new(), latest: Vec::new(), entries: Entries::default() }
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let heads: usize = self.heads.iter().map(Vec::len).sum();
        let latest: usize = self.latest.iter().map(Vec::len).sum();
        heads * size_of::<u32>() + latest * size_of::<Latest>() + self.entries.bytes()
    }

    /// Adds a run, which lies in the window.
    #[inline]
    pub(super) fn add(&mut self, cpu: usize, process: i32, run: Span) {
        let (mut start, last) = (run.start, (run.end - 1) >> self.shift);
        loop {
            let bucket = start >> self.shift;
            let end = if bucket >= last { run.end } else { (bucket + 1) << self.shift };
            self.add_to(cpu, process, bucket, end - start);
            if bucket >= last {
                return;
            }
            start = end;
        }
    }

    #[inline]
    fn add_to(&mut self, cpu: usize, process: i32, bucket: i64, run: i64) {
        let Some(at) = u32::try_from(bucket - self.buckets.start).ok().filter(|_| bucket < self.buckets.end) else {
            return;
        };
        let listed = usize::try_from(process).ok().filter(|process| *process < LISTED);
        let latest = listed.and_then(|process| self.latest.get(cpu)?.get(process)).copied();
        if let Some(latest) = latest
            && latest.bucket == at
            && let Some(entry) = self.entries.get_mut(latest.entry)
        {
            entry.run = entry.run.saturating_add(run);
            return;
        }
        // Behind its latest bucket a process has no entry yet.
        let is_first = listed.is_some() && latest.is_none_or(|latest| latest.entry == NONE || latest.bucket < at);
        let Some(entry) = self.entry(cpu, process, at, run, is_first) else { return };
        if let Some(process) = listed.filter(|_| is_first) {
            self.note(cpu, process, Latest { bucket: at, entry });
        }
    }

    /// Adds to the entry of a process, or makes one; gives its place.
    fn entry(&mut self, cpu: usize, process: i32, bucket: u32, run: i64, is_first: bool) -> Option<u32> {
        if cpu >= self.heads.len() {
            self.heads.resize_with(cpu + 1, Vec::new);
        }
        let heads = &mut self.heads[cpu];
        if heads.is_empty() {
            heads.resize(usize::try_from(self.buckets.end - self.buckets.start).unwrap_or_default(), NONE);
        }
        let head = heads.get_mut(bucket as usize)?;
        let mut at = if is_first { NONE } else { *head };
        while let Some(entry) = self.entries.get_mut(at) {
            if entry.process == process {
                entry.run = entry.run.saturating_add(run);
                return Some(at);
            }
            at = entry.next;
        }
        let new = self.entries.push(Entry { process, next: *head, run });
        *head = new;
        Some(new)
    }

    fn note(&mut self, cpu: usize, process: usize, latest: Latest) {
        if cpu >= self.latest.len() {
            self.latest.resize_with(cpu + 1, Vec::new);
        }
        let of_cpu = &mut self.latest[cpu];
        if process >= of_cpu.len() {
            of_cpu.resize(process + 1, Latest { bucket: 0, entry: NONE });
        }
        of_cpu[process] = latest;
    }

    /// Shows each bucket in the order of time, of each the CPUs in ascending order: which processes ran on it, and how long.
    pub(super) fn each(&self, mut visit: impl FnMut(i64, usize, &[ProcessRun])) {
        let mut runs = Vec::new();
        for (place, bucket) in self.buckets.clone().enumerate() {
            for (cpu, heads) in self.heads.iter().enumerate() {
                let mut at = heads.get(place).copied().unwrap_or(NONE);
                runs.clear();
                while let Some(entry) = self.entries.get(at) {
                    runs.push((entry.process, entry.run));
                    at = entry.next;
                }
                if !runs.is_empty() {
                    visit(bucket, cpu, &runs);
                }
            }
        }
    }
}

/// Entries of a piece of the list.
const PIECE: usize = 1 << 12;

/// A list in pieces: it grows without being moved.
#[derive(Debug, Default)]
struct Entries {
    pieces: Vec<Vec<Entry>>,
}

impl Entries {
    fn bytes(&self) -> usize {
        self.pieces.len() * PIECE * size_of::<Entry>()
    }

    #[inline]
    fn get(&self, at: u32) -> Option<&Entry> {
        self.pieces.get(at as usize / PIECE)?.get(at as usize % PIECE)
    }

    #[inline]
    fn get_mut(&mut self, at: u32) -> Option<&mut Entry> {
        self.pieces.get_mut(at as usize / PIECE)?.get_mut(at as usize % PIECE)
    }

    /// Adds an entry; gives its place.
    fn push(&mut self, entry: Entry) -> u32 {
        if self.pieces.last().is_none_or(|piece| piece.len() == PIECE) {
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        let before = (self.pieces.len() - 1) * PIECE;
        let Some(piece) = self.pieces.last_mut() else { return NONE };
        piece.push(entry);
        u32::try_from(before + piece.len() - 1).unwrap_or(NONE)
    }
}

/// A process, and how long it ran.
pub(super) type ProcessRun = (i32, i64);

/// The process that ran on a CPU for the longest time in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Top {
    pub(super) bucket: i64,
    pub(super) process: i32,
    pub(super) run: i64,
}

/// The tops of the buckets of all levels.
#[derive(Debug)]
pub(super) struct Tops {
    levels: Vec<OfLevel>,
    sums: Sums,
}

#[derive(Debug, Default)]
struct OfLevel {
    /// The bucket that is not complete yet.
    bucket: i64,
    cpus: Vec<OfCpu>,
}

#[derive(Debug, Default)]
struct OfCpu {
    /// Who ran in the bucket that is not complete: a process has a run for each shorter bucket in it.
    runs: Vec<ProcessRun>,
    /// The tops of complete buckets, in the order of time, which nobody has taken yet.
    found: VecDeque<Top>,
}

impl Tops {
    pub(super) fn new(levels: usize) -> Self {
        Self { levels: (0..levels).map(|_| OfLevel::default()).collect(), sums: Sums::default() }
    }

    /// Takes the runs on a CPU in a bucket of level 0, one of each process. Buckets come in the order of time.
    pub(super) fn take(&mut self, bucket: i64, cpu: usize, runs: &[ProcessRun]) {
        if let Some((first, others)) = self.levels.split_first_mut() {
            first.cpu(cpu).find(bucket, runs);
            add(others, bucket >> 2, cpu, runs, &mut self.sums);
        }
    }

    /// No more buckets of level 0 come before this one.
    pub(super) fn close_before(&mut self, mut bucket: i64) {
        for place in 1..self.levels.len() {
            bucket >>= 2;
            if let Some((level, others)) =
                self.levels[place..].split_first_mut().filter(|(level, _)| level.bucket < bucket)
            {
                level.close(others, &mut self.sums);
            }
        }
    }

    /// Takes those of the buckets of a level before one out, of one CPU, in the order of time.
    pub(super) fn before(&mut self, level: u8, cpu: i32, bucket: i64) -> impl Iterator<Item = Top> {
        let of_level = self.levels.get_mut(usize::from(level));
        let of_cpu = of_level.zip(usize::try_from(cpu).ok()).and_then(|(level, cpu)| level.cpus.get_mut(cpu));
        of_cpu.into_iter().flat_map(move |OfCpu { found, .. }| {
            let count = found.partition_point(|top| top.bucket < bucket);
            found.drain(..count)
        })
    }
}

/// Adds runs on a CPU in a bucket to the first one of some levels.
fn add(levels: &mut [OfLevel], bucket: i64, cpu: usize, runs: &[ProcessRun], sums: &mut Sums) {
    let Some((level, others)) = levels.split_first_mut() else { return };
    if level.bucket != bucket {
        level.close(others, sums);
        level.bucket = bucket;
    }
    level.cpu(cpu).runs.extend_from_slice(runs);
}

impl OfLevel {
    fn cpu(&mut self, cpu: usize) -> &mut OfCpu {
        if cpu >= self.cpus.len() {
            self.cpus.resize_with(cpu + 1, OfCpu::default);
        }
        &mut self.cpus[cpu]
    }

    /// The open bucket is complete.
    fn close(&mut self, others: &mut [Self], sums: &mut Sums) {
        for (cpu, of_cpu) in self.cpus.iter_mut().enumerate().filter(|(_, of_cpu)| !of_cpu.runs.is_empty()) {
            let mut runs = std::mem::take(&mut of_cpu.runs);
            sums.add_up(&mut runs);
            of_cpu.find(self.bucket, &runs);
            add(others, self.bucket >> 2, cpu, &runs, sums);
            runs.clear();
            of_cpu.runs = runs;
        }
    }
}

impl OfCpu {
    fn find(&mut self, bucket: i64, runs: &[ProcessRun]) {
        let longest = runs.iter().max_by_key(|(process, run)| (*run, std::cmp::Reverse(*process)));
        self.found.extend(longest.map(|&(process, run)| Top { bucket, process, run }));
    }
}

/// Adds up the runs of each process.
#[derive(Debug, Default)]
struct Sums {
    /// By process the place of its sum; of no process between two calls.
    places: Vec<u32>,
    others: FxHashMap<i32, u32>,
}

impl Sums {
    /// Leaves one run of each process, in the order in which they are met.
    fn add_up(&mut self, runs: &mut Vec<ProcessRun>) {
        let mut count = 0_usize;
        for at in 0..runs.len() {
            let (process, run) = runs[at];
            let place = self.place(process);
            if *place == NONE {
                *place = u32::try_from(count).unwrap_or(NONE);
                runs[count] = (process, run);
                count += 1;
            } else if let Some((_, sum)) = runs.get_mut(*place as usize) {
                *sum = sum.saturating_add(run);
            }
        }
        runs.truncate(count);
        for (process, _) in runs.iter() {
            *self.place(*process) = NONE;
        }
        self.others.clear();
    }

    fn place(&mut self, process: i32) -> &mut u32 {
        let Some(listed) = usize::try_from(process).ok().filter(|process| *process < LISTED) else {
            return self.others.entry(process).or_insert(NONE);
        };
        if listed >= self.places.len() {
            self.places.resize(listed + 1, NONE);
        }
        &mut self.places[listed]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{LISTED, Sums};

    proptest! {
        #[test]
        fn each_process_has_one_sum(rounds in prop::collection::vec(prop::collection::vec((0_i32..6, 1_i64..9), 0..20), 1..4)) {
            let mut sums = Sums::default();
            for runs in rounds {
                // Some have numbers that are not listed.
                let far = |process: i32| if process % 2 == 0 { process } else { process + LISTED as i32 };
                let mut runs: Vec<(i32, i64)> = runs.into_iter().map(|(process, run)| (far(process), run)).collect();
                let mut expected: BTreeMap<i32, i64> = BTreeMap::new();
                runs.iter().for_each(|(process, run)| *expected.entry(*process).or_default() += run);
                sums.add_up(&mut runs);
                runs.sort_unstable();
                prop_assert_eq!(runs, expected.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
