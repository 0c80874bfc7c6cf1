//! The time that overlapping spans cover.
//!
//! Waits of several threads overlap; held against the wall clock, each instant counts once. Keeping every span and
//! sorting at the end would take gigabytes (30 frames per switch, millions of switches), so unions are formed as spans
//! arrive. Which spans a union must remember depends on the order of arrival:
//!
//! * **By descending end**, two numbers are enough: what is covered, and how far down. [`DescendingUnion`].
//! * **In any order**, the disjoint intervals themselves are needed. [`IntervalUnion`].
//!
//! Ascending order of the ends helps less than it seems: a thread that slept through the whole recording and wakes at
//! its end brings a span that starts before everything, so no gap may be forgotten while anybody sleeps.

use crate::spans::Span;

/// The union of spans that arrive by descending end. 16 bytes, constant time per span, no branches that depend on data.
///
/// Everything from `from` up to any end still to come is covered: the span that reached down to `from` ends no earlier.
/// Of a new span only the part below `from` is new, all of it when it ends below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescendingUnion {
    from: i64,
    covered: i64,
}

impl Default for DescendingUnion {
    fn default() -> Self {
        Self { from: i64::MAX, covered: 0 }
    }
}

impl DescendingUnion {
    /// Adds a span that ends no later than every span before it. One that does end later counts with the part below
    /// them only, so that damaged input can make the figure too small, never larger than the time it spans.
    #[inline]
    pub fn add(&mut self, span: Span) {
        let end = span.end.min(self.from);
        self.covered += (end - span.start.min(end)).max(0);
        self.from = self.from.min(span.start);
    }

    /// The covered time, ns.
    #[must_use]
    pub fn covered(self) -> i64 {
        self.covered
    }
}

/// The union of spans that arrive in any order: exact, fast when they arrive roughly by ascending end.
///
/// Disjoint intervals are kept as a stack by ascending time. A span that ends behind all of them can only swallow
/// intervals at the top, each of which was pushed once: constant time on average. Spans that end earlier are set aside
/// and merged in when they are as many as half the stack: logarithmic time on average.
///
/// It needs 16 bytes per disjoint interval, in the worst case as many as there are spans. [`IntervalUnion::compact`]
/// gives memory back where the caller knows that the past is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalUnion {
    /// Disjoint, not touching, ascending.
    intervals: Vec<Span>,
    /// Arrived too late for the stack; in no order.
    late: Vec<Span>,
    /// Everything before it is folded into `closed`.
    horizon: i64,
    closed: i64,
}

/// Late spans are merged in batches of at least this many.
const LATE_BATCH: usize = 64;

impl Default for IntervalUnion {
    fn default() -> Self {
        Self { intervals: Vec::new(), late: Vec::new(), horizon: i64::MIN, closed: 0 }
    }
}

impl IntervalUnion {
    /// Adds a span. What lies before the horizon of an earlier [`IntervalUnion::compact`] is ignored.
    pub fn add(&mut self, span: Span) {
        let span = Span { start: span.start.max(self.horizon), end: span.end };
        if span.is_empty() {
            return;
        }
        if self.intervals.last().is_none_or(|top| top.end <= span.end) {
            push(&mut self.intervals, span);
        } else {
            self.late.push(span);
            self.merge_many();
        }
    }

    /// Adds the spans of another union.
    pub fn append(&mut self, mut other: Self) {
        self.closed += other.closed;
        self.horizon = self.horizon.max(other.horizon);
        self.late.append(&mut other.intervals);
        self.late.append(&mut other.late);
        // A union of thousands of small ones would else be merged as often.
        self.merge_many();
    }

    /// Says that no span to come starts before `horizon`. Intervals that end before it cannot grow any more and become
    /// a sum.
    pub fn compact(&mut self, horizon: i64) {
        self.merge_late();
        self.horizon = self.horizon.max(horizon);
        let done = self.intervals.partition_point(|interval| interval.end < self.horizon);
        self.closed += self.intervals.drain(..done).map(Span::length).sum::<i64>();
    }

    /// The covered time, ns.
    #[must_use]
    pub fn covered(&mut self) -> i64 {
        self.merge_late();
        self.closed + self.intervals.iter().map(|interval| interval.length()).sum::<i64>()
    }

    /// The intervals, disjoint and in the order of time, without those that [`IntervalUnion::compact`] has made a sum.
    #[must_use]
    pub fn spans(&mut self) -> &[Span] {
        self.merge_late();
        &self.intervals
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        (self.intervals.capacity() + self.late.capacity()) * size_of::<Span>()
    }

    /// Merges what is set aside once it is much.
    fn merge_many(&mut self) {
        if self.late.len() >= LATE_BATCH.max(self.intervals.len() / 2) {
            self.merge_late();
        }
    }

    fn merge_late(&mut self) {
        if self.late.is_empty() {
            return;
        }
        self.intervals.append(&mut self.late);
        // The stack is one long ascending run, which the stable sort finds and merges instead of sorting anew.
        self.intervals.sort_by_key(|span| span.start);
        let mut kept = 0;
        for index in 1..self.intervals.len() {
            let span = self.intervals[index];
            let top = &mut self.intervals[kept];
            if span.start <= top.end {
                top.end = top.end.max(span.end);
            } else {
                kept += 1;
                self.intervals[kept] = span;
            }
        }
        self.intervals.truncate(kept + 1);
    }
}

/// Puts a span that ends last on top of the stack; intervals that it touches become part of it.
fn push(intervals: &mut Vec<Span>, mut span: Span) {
    while let Some(top) = intervals.pop_if(|top| top.end >= span.start) {
        span.start = span.start.min(top.start);
    }
    intervals.push(span);
}

#[cfg(test)]
mod tests {
    use super::{DescendingUnion, IntervalUnion};
    use crate::spans::Span;
    use proptest::prelude::*;

    fn covered_instants(spans: &[Span]) -> i64 {
        let mut covered = [false; 256];
        for span in spans {
            for time in span.start..span.end {
                covered[usize::try_from(time).expect("small times")] = true;
            }
        }
        covered.iter().map(|&is| i64::from(is)).sum()
    }

    fn descending(spans: &[Span]) -> i64 {
        let mut spans = spans.to_vec();
        spans.sort_by_key(|span| std::cmp::Reverse(span.end));
        let mut union = DescendingUnion::default();
        spans.into_iter().for_each(|span| union.add(span));
        union.covered()
    }

    fn in_any_order(spans: &[Span]) -> i64 {
        let mut union = IntervalUnion::default();
        spans.iter().for_each(|&span| union.add(span));
        union.covered()
    }

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        let span = (0i64..200, 0i64..40).prop_map(|(start, length)| Span::new(start, start + length));
        // Short ones as well, so that unions with many gaps occur.
        let short = (0i64..250, 0i64..3).prop_map(|(start, length)| Span::new(start, start + length));
        prop_oneof![prop::collection::vec(span, 0..30), prop::collection::vec(short, 0..300)]
    }

    proptest! {
        #[test]
        fn counts_each_instant_once(spans in spans()) {
            let truth = covered_instants(&spans);
            prop_assert_eq!(descending(&spans), truth);
            prop_assert_eq!(in_any_order(&spans), truth);
        }

        #[test]
        fn the_order_of_arrival_does_not_matter(spans in spans(), seed in any::<u64>()) {
            let mut shuffled = spans.clone();
            let mut state = seed | 1;
            for index in (1..shuffled.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                shuffled.swap(index, (state >> 33) as usize % (index + 1));
            }
            prop_assert_eq!(in_any_order(&shuffled), in_any_order(&spans));
            prop_assert_eq!(descending(&shuffled), descending(&spans));
        }

        #[test]
        fn no_longer_than_the_sum_nor_than_the_time_it_spans(spans in spans()) {
            let sum = spans.iter().map(|span| span.length()).sum::<i64>();
            let first = spans.iter().filter(|span| !span.is_empty()).map(|span| span.start).min().unwrap_or(0);
            let last = spans.iter().filter(|span| !span.is_empty()).map(|span| span.end).max().unwrap_or(0);
            prop_assert!(descending(&spans) <= sum.min(last - first));
        }

        #[test]
        fn disjoint_spans_add_up(lengths in prop::collection::vec((0i64..5, 0i64..5), 0..40)) {
            let mut time = 0;
            let mut spans = Vec::new();
            for (gap, length) in lengths {
                spans.push(Span::new(time + gap, time + gap + length));
                time += gap + length;
            }
            let sum = spans.iter().map(|span| span.length()).sum::<i64>();
            prop_assert_eq!(descending(&spans), sum);
            prop_assert_eq!(in_any_order(&spans), sum);
        }

        #[test]
        fn clipping_before_the_union_is_clipping_the_union(spans in spans(), a in 0i64..200, length in 0i64..100) {
            let range = Span::new(a, a + length);
            let clipped = spans.iter().filter_map(|span| span.clip(range)).collect::<Vec<_>>();
            let below = |limit: i64| spans.iter().map(|s| s.intersect(Span::new(0, limit))).collect::<Vec<_>>();
            let truth = covered_instants(&below(range.end)) - covered_instants(&below(range.start));
            prop_assert_eq!(descending(&clipped), truth);
            prop_assert_eq!(in_any_order(&clipped), truth);
        }

        #[test]
        fn compacting_loses_nothing(spans in spans(), every in 1usize..20) {
            let mut spans = spans;
            spans.sort_by_key(|span| span.end);
            let mut union = IntervalUnion::default();
            for (index, &span) in spans.iter().enumerate() {
                union.add(span);
                if index % every == 0 {
                    let horizon = spans[index + 1..].iter().map(|later| later.start).min().unwrap_or(i64::MAX);
                    union.compact(horizon);
                }
            }
            prop_assert_eq!(union.covered(), covered_instants(&spans));
        }

        #[test]
        fn damaged_order_never_counts_too_much(spans in spans()) {
            let mut union = DescendingUnion::default();
            spans.iter().for_each(|&span| union.add(span));
            prop_assert!(union.covered() <= covered_instants(&spans));
        }
    }

    #[test]
    fn compacting_gives_memory_back() {
        let mut union = IntervalUnion::default();
        for time in 0..1000 {
            union.add(Span::new(time * 10, time * 10 + 5));
            union.compact(time * 10);
        }
        assert!(union.intervals.len() <= 2);
        assert_eq!(union.covered(), 5000);
    }
}
