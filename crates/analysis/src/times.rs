//! Times that something else than a clock chooses: while a region lasts, while a process has the focus.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_trace::{ProcessId, ThreadId};

use crate::spans::Span;

/// Times of one recording: the spans of each list are in order, and none touches another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// Those of processes that have none of their own.
    everybody: Vec<Span>,
    /// Those of single processes.
    of_processes: FxHashMap<ProcessId, Vec<Span>>,
}

impl Times {
    /// The time that is in one of these spans at least, which stand in any order.
    #[must_use]
    pub fn of_spans(spans: Vec<Span>) -> Self {
        Self { everybody: united(spans), of_processes: FxHashMap::default() }
    }

    /// Of each of these processes the time that is in one of its spans; other processes have no time.
    #[must_use]
    pub fn of_processes(spans: FxHashMap<ProcessId, Vec<Span>>) -> Self {
        let of_processes = spans.into_iter().map(|(process, spans)| (process, united(spans))).collect();
        Self { everybody: Vec::new(), of_processes }
    }

    /// The spans of a process; `None`: of what belongs to no process.
    #[must_use]
    pub fn of(&self, process: Option<ProcessId>) -> &[Span] {
        process.and_then(|process| self.of_processes.get(&process)).unwrap_or(&self.everybody)
    }

    /// Whether an instant of a process is in one of its spans.
    #[must_use]
    pub fn contain(&self, process: Option<ProcessId>, time: i64) -> bool {
        let spans = self.of(process);
        let place = spans.partition_point(|span| span.end <= time);
        spans.get(place).is_some_and(|span| span.contains(time))
    }

    /// The spans of a process that a span touches, its ends included.
    #[must_use]
    pub fn touching(&self, process: Option<ProcessId>, start: i64, end: i64) -> &[Span] {
        touching(self.of(process), start, end)
    }

    /// From the begin of the first span to the end of the last one; empty where there are none.
    #[must_use]
    pub fn bounds(&self) -> Range<i64> {
        let lists = || self.of_processes.values().chain([&self.everybody]);
        let start = lists().filter_map(|spans| spans.first()).map(|span| span.start).min();
        let end = lists().filter_map(|spans| spans.last()).map(|span| span.end).max();
        start.unwrap_or(0)..end.unwrap_or(0)
    }

    /// How long all spans in a range are together, ns, where they are the same for all processes.
    #[must_use]
    pub fn length(&self, range: Span) -> Option<i64> {
        let length = self.everybody.iter().map(|span| span.intersect(range).length()).sum();
        self.of_processes.is_empty().then_some(length)
    }

    /// The time that is in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let processes = self.of_processes.keys().chain(other.of_processes.keys());
        let of_process = |process: &ProcessId| {
            let process = *process;
            (process, common(self.of(Some(process)), other.of(Some(process))))
        };
        Self { everybody: common(&self.everybody, &other.everybody), of_processes: processes.map(of_process).collect() }
    }

    /// The spans of threads inside of a range. `threads` tells the process of each.
    #[must_use]
    pub fn of_threads(&self, range: Span, threads: impl IntoIterator<Item = (ThreadId, ProcessId)>) -> TimesOfThreads {
        let in_range = |spans: &[Span]| -> Arc<[Span]> { common(spans, &[range]).into() };
        let lists: FxHashMap<ProcessId, Arc<[Span]>> =
            self.of_processes.iter().map(|(process, spans)| (*process, in_range(spans))).collect();
        let own = threads.into_iter().filter_map(|(thread, process)| Some((thread, Arc::clone(lists.get(&process)?))));
        TimesOfThreads { everybody: in_range(&self.everybody), own: own.collect() }
    }
}

/// Times by thread: those of its process.
#[derive(Clone, Debug)]
pub struct TimesOfThreads {
    everybody: Arc<[Span]>,
    /// Those of threads whose process has times of its own.
    own: FxHashMap<ThreadId, Arc<[Span]>>,
}

impl TimesOfThreads {
    /// The spans of a thread, in order; none touches another one.
    #[must_use]
    pub fn of(&self, thread: ThreadId) -> &[Span] {
        self.own.get(&thread).unwrap_or(&self.everybody)
    }

    /// The spans of a thread that a span touches, its ends included.
    #[must_use]
    pub fn touching(&self, thread: ThreadId, start: i64, end: i64) -> &[Span] {
        touching(self.of(thread), start, end)
    }
}

/// Those of spans in order that a span touches, its ends included.
pub(crate) fn touching(spans: &[Span], start: i64, end: i64) -> &[Span] {
    let from = spans.partition_point(|span| span.end < start);
    let to = spans.partition_point(|span| span.start <= end);
    spans.get(from..to).unwrap_or_default()
}

/// Spans in order, of which none touches another one.
fn united(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    let mut all: Vec<Span> = Vec::new();
    for span in spans {
        match all.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => all.push(span),
        }
    }
    all
}

/// What two spans have in common; `None`: nothing. A span that holds no instant lies in another one that holds its begin.
#[must_use]
pub fn overlap(one: Span, other: Span) -> Option<Span> {
    let is_inside = |one: Span, other: Span| one.is_empty() && other.contains(one.start);
    let both = one.intersect(other);
    (!both.is_empty() || is_inside(one, other) || is_inside(other, one)).then_some(both)
}

/// What two lists of spans have in common.
fn common(some: &[Span], others: &[Span]) -> Vec<Span> {
    let (mut at, mut of_others) = (0, 0);
    let mut all = Vec::new();
    while let (Some(one), Some(other)) = (some.get(at), others.get(of_others)) {
        all.extend(overlap(*one, *other));
        if one.end <= other.end { at += 1 } else { of_others += 1 }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracesift_trace::{ProcessId, ThreadId};

    use super::{Times, common, united};
    use crate::spans::Span;

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        proptest::collection::vec((0..100_i64, 1..20_i64), 0..12)
            .prop_map(|spans| spans.into_iter().map(|(start, length)| Span::new(start, start + length)).collect())
    }

    fn has(spans: &[Span], time: i64) -> bool {
        spans.iter().any(|span| span.contains(time))
    }

    proptest! {
        #[test]
        fn each_instant_is_in_both(some in spans(), others in spans()) {
            let both = common(&united(some.clone()), &united(others.clone()));
            for time in 0..130 {
                prop_assert_eq!(has(&both, time), has(&some, time) && has(&others, time), "{}", time);
                prop_assert_eq!(Times::of_spans(some.clone()).contain(None, time), has(&some, time), "{}", time);
            }
            prop_assert!(united(some).windows(2).all(|pair| pair[0].end < pair[1].start));
        }

        #[test]
        fn what_touches_is_what_a_look_at_all_finds(some in spans(), start in 0..120_i64, length in 0..30_i64) {
            let end = start + length;
            let times = Times::of_spans(some);
            let expected: Vec<Span> =
                times.everybody.iter().filter(|span| span.start <= end && span.end >= start).copied().collect();
            prop_assert_eq!(times.touching(Some(ProcessId(1)), start, end), expected);
        }
    }

    #[test]
    fn a_process_without_the_focus_has_no_time() {
        let focus = Times::of_processes([(ProcessId(1), vec![Span::new(10, 20)])].into_iter().collect());
        let regions = Times::of_spans(vec![Span::new(15, 40)]);
        let both = regions.and(&focus);
        assert_eq!(both.touching(Some(ProcessId(1)), 0, 100), [Span::new(15, 20)]);
        assert_eq!(both.touching(Some(ProcessId(2)), 0, 100), []);
        assert_eq!((both.bounds(), both.length(Span::ALL), regions.length(Span::new(0, 20))), (15..20, None, Some(5)));
        let threads = both.of_threads(Span::new(0, 18), [(ThreadId(7), ProcessId(1)), (ThreadId(8), ProcessId(2))]);
        assert_eq!([7, 8].map(|thread| threads.of(ThreadId(thread)).to_vec()), [vec![Span::new(15, 18)], vec![]]);
    }
}
