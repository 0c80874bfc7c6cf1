//! The samples of one owner in one place.

use tracesift_trace::ThreadId;

use crate::thread_set::ThreadSet;

/// What samples of one owner and place add up to. [`MethodAggregator`](crate::MethodAggregator) takes it in place of the samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleTotal {
    /// Number of samples.
    pub(crate) samples: i64,
    /// Their weights, ns.
    pub(crate) cpu: i64,
    /// Time of the first one, ns.
    pub(crate) first: i64,
    /// Time of the last one, ns.
    pub(crate) last: i64,
    /// The threads that were sampled.
    threads: ThreadSet,
    /// The thread of the sample before: many follow each other.
    latest: Option<ThreadId>,
}

impl Default for SampleTotal {
    fn default() -> Self {
        let threads = ThreadSet::default();
        Self { samples: 0, cpu: 0, first: i64::MAX, last: i64::MIN, threads, latest: None }
    }
}

impl SampleTotal {
    /// Adds a sample: its thread, its time in ns, and its weight in ns. Returns how many bytes more the total has on the heap.
    #[inline]
    pub fn add(&mut self, thread: ThreadId, time: i64, weight: i64) -> usize {
        self.samples += 1;
        self.cpu = self.cpu.saturating_add(weight);
        (self.first, self.last) = (self.first.min(time), self.last.max(time));
        if self.latest.replace(thread) == Some(thread) {
            return 0;
        }
        let before = self.threads.heap_bytes();
        self.threads.insert(thread.0.cast_unsigned());
        self.threads.heap_bytes() - before
    }

    /// The threads, in no certain order.
    pub(crate) fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.threads.numbers().map(|number| ThreadId(number.cast_signed()))
    }
}
