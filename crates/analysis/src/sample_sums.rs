//! Adds up samples per stack before their methods are looked up: threads have a few stacks, or a
//! few tags, in millions of samples.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::CpuSampleRow;
use tracesift_trace::{ProcessId, ThreadId, view};

use crate::attribution::Attribution;

/// Samples of one thread with one attribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSum {
    /// The process that they are charged to.
    pub process: ProcessId,
    /// The thread.
    pub thread: ThreadId,
    /// Where they were taken.
    pub attribution: Attribution,
    /// Their number.
    pub samples: i64,
    /// Their weights, ns.
    pub cpu: i64,
    /// Time of the first one, ns.
    pub first: i64,
    /// Time of the last one, ns.
    pub last: i64,
}

view! {
    /// The columns of a sample that are added up by thread.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SampleOfThread of CpuSampleRow { time, process, thread, weight }
}

/// Samples per process, thread and attribution. Parts of a recording can be added up apart from each other.
#[derive(Clone, Debug, Default)]
pub struct SampleSums {
    index: FxHashMap<(ProcessId, ThreadId, Attribution), u32>,
    sums: Vec<SampleSum>,
}

impl SampleSums {
    /// Adds a sample, as one with this attribution.
    #[inline]
    pub fn sample(&mut self, row: impl Into<SampleOfThread>, attribution: Attribution) {
        let row = row.into();
        self.add(&SampleSum {
            process: row.process,
            thread: row.thread,
            attribution,
            samples: 1,
            cpu: row.weight,
            first: row.time,
            last: row.time,
        });
    }

    /// Adds all of others.
    pub fn append(&mut self, others: &Self) {
        others.sums.iter().for_each(|sum| self.add(sum));
    }

    /// The sums, in the order in which their first samples came.
    #[must_use]
    pub fn finish(self) -> Vec<SampleSum> {
        self.sums
    }

    #[inline]
    fn add(&mut self, more: &SampleSum) {
        let Self { index, sums } = self;
        // 2^32 sums take more than two hundred gigabytes.
        let row = *index.entry((more.process, more.thread, more.attribution)).or_insert_with(|| {
            sums.push(SampleSum { samples: 0, cpu: 0, ..*more });
            u32::try_from(sums.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(sum) = sums.get_mut(row as usize) {
            sum.samples += more.samples;
            sum.cpu = sum.cpu.saturating_add(more.cpu);
            sum.first = sum.first.min(more.first);
            sum.last = sum.last.max(more.last);
        }
    }
}
