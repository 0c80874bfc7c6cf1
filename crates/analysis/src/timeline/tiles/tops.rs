//! Which process ran on a CPU for the longest time, in each bucket of each level.

use std::collections::VecDeque;
use std::ops::Range;

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
    entries: Vec<Entry>,
}

/// Processes with numbers below this are found without going through the entries of a bucket.
const LISTED: usize = 1 << 12;

#[derive(Clone, Copy, Debug)]
struct Latest {
    bucket: i64,
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
        Self { shift, buckets, heads: Vec::new(), latest: Vec::new(), entries: Vec::new() }
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let heads: usize = self.heads.iter().map(Vec::len).sum();
        let latest: usize = self.latest.iter().map(Vec::len).sum();
        heads * size_of::<u32>() + latest * size_of::<Latest>() + self.entries.len() * size_of::<Entry>()
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
        let listed = usize::try_from(process).ok().filter(|process| *process < LISTED);
        let latest = listed.and_then(|process| self.latest.get(cpu)?.get(process)).copied();
        if let Some(latest) = latest
            && latest.bucket == bucket
            && let Some(entry) = self.entries.get_mut(latest.entry as usize)
        {
            entry.run = entry.run.saturating_add(run);
            return;
        }
        // Behind its latest bucket a process has no entry yet.
        let is_first = listed.is_some() && latest.is_none_or(|latest| latest.bucket < bucket);
        let Some(entry) = self.entry(cpu, process, bucket, run, is_first) else { return };
        if let Some(process) = listed.filter(|_| is_first) {
            self.note(cpu, process, Latest { bucket, entry });
        }
    }

    /// Adds to the entry of a process, or makes one; gives its place.
    fn entry(&mut self, cpu: usize, process: i32, bucket: i64, run: i64, is_first: bool) -> Option<u32> {
        if cpu >= self.heads.len() {
            self.heads.resize_with(cpu + 1, Vec::new);
        }
        let heads = &mut self.heads[cpu];
        if heads.is_empty() {
            heads.resize(usize::try_from(self.buckets.end - self.buckets.start).unwrap_or_default(), NONE);
        }
        let place = usize::try_from(bucket - self.buckets.start).ok();
        let head = place.and_then(|place| heads.get_mut(place))?;
        let mut at = if is_first { NONE } else { *head };
        while let Some(entry) = self.entries.get_mut(at as usize) {
            if entry.process == process {
                entry.run = entry.run.saturating_add(run);
                return Some(at);
            }
            at = entry.next;
        }
        let new = u32::try_from(self.entries.len()).unwrap_or(NONE);
        let next = std::mem::replace(head, new);
        self.entries.push(Entry { process, next, run });
        Some(new)
    }

    fn note(&mut self, cpu: usize, process: usize, latest: Latest) {
        if cpu >= self.latest.len() {
            self.latest.resize_with(cpu + 1, Vec::new);
        }
        let of_cpu = &mut self.latest[cpu];
        if process >= of_cpu.len() {
            of_cpu.resize(process + 1, Latest { bucket: i64::MIN, entry: NONE });
        }
        of_cpu[process] = latest;
    }

    /// Shows each bucket in the order of time: who ran on which CPU for how long, by ascending CPU.
    pub(super) fn each(&self, mut visit: impl FnMut(i64, &[(i16, i32, i64)])) {
        let mut runs = Vec::new();
        for (place, bucket) in self.buckets.clone().enumerate() {
            runs.clear();
            for (cpu, heads) in self.heads.iter().enumerate() {
                let cpu = i16::try_from(cpu).unwrap_or(i16::MAX);
                let mut at = heads.get(place).copied().unwrap_or(NONE);
                while let Some(entry) = self.entries.get(at as usize) {
                    runs.push((cpu, entry.process, entry.run));
                    at = entry.next;
                }
            }
            visit(bucket, &runs);
        }
    }
}

/// The process that ran on a CPU for the longest time in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Top {
    pub(super) bucket: i64,
    pub(super) cpu: i16,
    pub(super) process: i32,
    pub(super) run: i64,
}

/// The tops of the buckets of all levels.
#[derive(Debug)]
pub(super) struct Tops {
    levels: Vec<OfLevel>,
}

#[derive(Debug, Default)]
struct OfLevel {
    /// The bucket that is not complete yet: who ran in it on which CPU for how long, some of them in several pieces.
    bucket: i64,
    runs: Vec<(i16, i32, i64)>,
    /// Those of complete buckets, in the order of bucket and CPU, which nobody has taken yet.
    found: VecDeque<Top>,
}

impl Tops {
    pub(super) fn new(levels: usize) -> Self {
        Self { levels: (0..levels).map(|_| OfLevel::default()).collect() }
    }

    /// Takes a bucket of level 0, in the order of time.
    pub(super) fn take(&mut self, bucket: i64, runs: &[(i16, i32, i64)]) {
        if let Some((first, others)) = self.levels.split_first_mut() {
            first.find(bucket, runs);
            add(others, bucket >> 2, runs);
        }
    }

    /// No more buckets of level 0 come before this one.
    pub(super) fn close_before(&mut self, mut bucket: i64) {
        for place in 1..self.levels.len() {
            bucket >>= 2;
            if let Some((level, others)) =
                self.levels[place..].split_first_mut().filter(|(level, _)| level.bucket < bucket)
            {
                level.close(others);
            }
        }
    }

    /// Takes those of the buckets of a level before one out.
    pub(super) fn before(&mut self, level: u8, bucket: i64) -> impl Iterator<Item = Top> {
        let found = self.levels.get_mut(usize::from(level)).map(|level| &mut level.found);
        found.into_iter().flat_map(move |found| {
            let count = found.partition_point(|top| top.bucket < bucket);
            found.drain(..count)
        })
    }
}

/// Adds runs in a bucket to the first one of some levels.
fn add(levels: &mut [OfLevel], bucket: i64, runs: &[(i16, i32, i64)]) {
    let Some((level, others)) = levels.split_first_mut() else { return };
    if level.bucket != bucket {
        level.close(others);
        level.bucket = bucket;
    }
    level.runs.extend_from_slice(runs);
}

impl OfLevel {
    /// The open bucket is complete.
    fn close(&mut self, others: &mut [Self]) {
        let mut runs = std::mem::take(&mut self.runs);
        if runs.is_empty() {
            return;
        }
        runs.sort_unstable_by_key(|(cpu, process, _)| (*cpu, *process));
        runs.dedup_by(|next, sum| {
            let is_same = (next.0, next.1) == (sum.0, sum.1);
            if is_same {
                sum.2 = sum.2.saturating_add(next.2);
            }
            is_same
        });
        self.find(self.bucket, &runs);
        add(others, self.bucket >> 2, &runs);
        runs.clear();
        self.runs = runs;
    }

    fn find(&mut self, bucket: i64, runs: &[(i16, i32, i64)]) {
        for of_cpu in runs.chunk_by(|a, b| a.0 == b.0) {
            let longest = of_cpu.iter().max_by_key(|(_, process, run)| (*run, std::cmp::Reverse(*process)));
            if let Some(&(cpu, process, run)) = longest {
                self.found.push_back(Top { bucket, cpu, process, run });
            }
        }
    }
}
