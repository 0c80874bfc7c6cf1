//! What hardware counters counted for each thread, from their values at context switches.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{ContextSwitchRow, switch_flags};
use tracesift_trace::{ThreadId, view};

use crate::spans::Span;

/// Number of values that a counter of a processor has: it has 48 bits.
const MODULUS: i64 = 1 << 48;

view! {
    /// The columns of a switch row that tell what counters counted.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct CounterSwitch of ContextSwitchRow { time, cpu, thread, prev_thread, flags, counters }
}

/// What the counters of a CPU counted between two switches on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted<'a> {
    /// The thread that ran between the switches; `None`: the switches contradict each other.
    pub thread: Option<ThreadId>,
    /// The CPU.
    pub cpu: i16,
    /// From one switch to the next.
    pub span: Span,
    /// What each counter counted, in the order of the list in `trace.json`; `None`: it went back, so that its count is not known.
    pub counts: &'a [Option<i64>],
}

/// Takes the differences of counters at switches while the rows of `context_switches` stream by, oldest first.
///
/// A counter counts on a CPU, whoever runs there. The difference between two switches on a CPU belongs to the thread that leaves at the
/// second one. Where another thread came at the first one, switches between them are missing, and nobody knows whose the
/// difference is.
#[derive(Clone, Debug, Default)]
pub struct CounterSpans {
    /// The last switch on each CPU.
    last: FxHashMap<i16, Last>,
    /// The differences at hand.
    counts: Vec<Option<i64>>,
}

#[derive(Clone, Debug, Default)]
struct Last {
    time: i64,
    /// The thread that came; `None`: a gap lies behind the switch.
    thread: Option<ThreadId>,
    /// Empty: the switch has no counters.
    counters: Vec<i64>,
}

impl CounterSpans {
    /// Takes a row, and hands over what was counted since the switch before it on the CPU, if both have counters.
    pub fn switch(&mut self, row: &CounterSwitch, visit: impl FnOnce(Counted<'_>)) {
        // Rows that close a thread have no CPU.
        let Some(cpu) = row.cpu else { return };
        if row.flags & switch_flags::GAP != 0 {
            // A thread leaves that nobody saw coming: the thread that ran since the last switch is not known.
            self.last.entry(cpu).or_default().thread = None;
            return;
        }
        let last = self.last.entry(cpu).or_default();
        let counters = row.counters.as_deref().unwrap_or_default();
        if !counters.is_empty() && counters.len() == last.counters.len() {
            self.counts.clear();
            self.counts.extend(last.counters.iter().zip(counters).map(|(before, now)| difference(*before, *now)));
            let thread = last.thread.filter(|thread| row.prev_thread == Some(*thread));
            visit(Counted { thread, cpu, span: Span::new(last.time, row.time), counts: &self.counts });
        }
        (last.time, last.thread) = (row.time, Some(row.thread));
        last.counters.clear();
        last.counters.extend_from_slice(counters);
    }
}

/// What a counter counted between two values. `None`: it went back, and did not begin anew at the end of its bits.
fn difference(before: i64, now: i64) -> Option<i64> {
    let counted = now.checked_sub(before)?;
    if counted >= 0 {
        return Some(counted);
    }
    // A counter that somebody sets back counts on from any value: less than half of its values lie between the ones that are read.
    let around = counted.checked_add(MODULUS)?;
    (before < MODULUS && now >= 0 && around < MODULUS / 2).then_some(around)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn row(time: i64, cpu: i16, prev: i32, thread: i32, counters: &[i64]) -> CounterSwitch {
        CounterSwitch {
            time,
            cpu: Some(cpu),
            thread: ThreadId(thread),
            prev_thread: Some(ThreadId(prev)),
            flags: 0,
            counters: (!counters.is_empty()).then(|| counters.to_vec()),
        }
    }

    type Found = Vec<(Option<i32>, i16, i64, i64, Vec<Option<i64>>)>;

    fn counted(rows: &[CounterSwitch]) -> Found {
        let mut spans = CounterSpans::default();
        let mut found = Vec::new();
        for row in rows {
            spans.switch(row, |counted| {
                let thread = counted.thread.map(|thread| thread.0);
                found.push((thread, counted.cpu, counted.span.start, counted.span.end, counted.counts.to_vec()));
            });
        }
        found
    }

    #[test]
    fn a_difference_belongs_to_the_thread_that_leaves() {
        let rows = [row(10, 0, 1, 2, &[100, 7]), row(12, 1, 8, 9, &[5, 5]), row(20, 0, 2, 1, &[150, 7])];
        assert_eq!(counted(&rows), [(Some(2), 0, 10, 20, vec![Some(50), Some(0)])]);
    }

    #[test]
    fn what_a_missing_switch_leaves_is_of_nobody() {
        let gap = CounterSwitch { flags: switch_flags::GAP | switch_flags::BROKEN, ..row(40, 0, 0, 5, &[]) };
        let rows = [
            row(10, 0, 1, 2, &[100]),
            row(20, 0, 3, 4, &[150]),
            row(30, 0, 4, 5, &[]),
            gap,
            row(40, 0, 5, 6, &[170]),
            row(50, 0, 6, 1, &[175]),
        ];
        assert_eq!(counted(&rows), [(None, 0, 10, 20, vec![Some(50)]), (Some(6), 0, 40, 50, vec![Some(5)])]);
    }

    #[test]
    fn a_counter_begins_anew_at_the_end_of_its_bits() {
        let top = MODULUS - 1;
        assert_eq!(difference(top, 4), Some(5));
        assert_eq!(difference(1000, 4), None);
        assert_eq!(difference(i64::MAX, 4), None);
        assert_eq!(difference(i64::MIN, i64::MAX), None);
        assert_eq!(difference(3, 3), Some(0));
    }

    proptest! {
        /// Threads that run in turn on some CPUs have what a function of their own says; all together have what the CPUs counted.
        #[test]
        fn counts_are_those_of_a_naive_sum(runs in prop::collection::vec((0..3_i16, 0..5_i32, 1..50_i64), 1..200)) {
            let mut truth: BTreeMap<i32, i64> = BTreeMap::new();
            let mut cpus: BTreeMap<i16, (i32, i64)> = BTreeMap::new();
            let mut rows = Vec::new();
            for (time, (cpu, thread, work)) in (0..).zip(runs) {
                // The counter is near its end at first.
                let known = cpus.get(&cpu).copied();
                let (running, value) = known.unwrap_or((-1, MODULUS - 20));
                let value = (value + work * i64::from(running + 2)) % MODULUS;
                if known.is_some() {
                    *truth.entry(running).or_default() += work * i64::from(running + 2);
                }
                rows.push(row(time, cpu, running, thread, &[value]));
                cpus.insert(cpu, (thread, value));
            }
            let mut sums: BTreeMap<i32, i64> = BTreeMap::new();
            for (thread, _, _, _, counts) in counted(&rows) {
                *sums.entry(thread.unwrap()).or_default() += counts[0].unwrap();
            }
            prop_assert_eq!(sums, truth);
        }
    }
}
