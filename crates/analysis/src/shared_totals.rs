//! The figures that all methods of a stack share.

use crate::method_total::SpanTotal;
use crate::spans::Span;
use crate::thread_set::ThreadSet;

/// Figures that may be added up per stack first and per method later.
#[derive(Clone, Debug)]
pub(crate) struct SharedTotals {
    pub(crate) samples: i64,
    pub(crate) cpu: i64,
    pub(crate) switches: i64,
    pub(crate) wait: PlainSpans,
    pub(crate) ready: PlainSpans,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) threads: ThreadSet,
}

/// Spans without their union.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlainSpans {
    sum: i64,
    count: i64,
    longest: i64,
}

impl Default for SharedTotals {
    fn default() -> Self {
        Self {
            samples: 0,
            cpu: 0,
            switches: 0,
            wait: PlainSpans::default(),
            ready: PlainSpans::default(),
            first: i64::MAX,
            last: i64::MIN,
            threads: ThreadSet::default(),
        }
    }
}

impl SharedTotals {
    pub(crate) fn seen(&mut self, first: i64, last: i64) {
        self.first = self.first.min(first);
        self.last = self.last.max(last);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.samples += other.samples;
        self.cpu = self.cpu.saturating_add(other.cpu);
        self.switches += other.switches;
        self.wait.merge(other.wait);
        self.ready.merge(other.ready);
        self.seen(other.first, other.last);
        self.threads.union_with(&other.threads);
    }
}

impl PlainSpans {
    pub(crate) fn add(&mut self, span: Span) {
        self.merge(Self { sum: span.length(), count: 1, longest: span.length() });
    }

    pub(crate) fn with_union(self, union: i64) -> SpanTotal {
        SpanTotal { union, sum: self.sum, count: self.count, longest: self.longest }
    }

    fn merge(&mut self, other: Self) {
        self.sum = self.sum.saturating_add(other.sum);
        self.count += other.count;
        self.longest = self.longest.max(other.longest);
    }
}
