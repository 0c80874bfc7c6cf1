//! The time that threads were off the CPUs, for questions about many parts of it, such as every system call.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{ContextSwitchRow, switch_flags};
use tracesift_trace::{ThreadId, view};

use crate::spans::{OffCpuSpan, Span, is_switch_in, pieces};

view! {
    /// The off-CPU span of a row, with its thread.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct OffCpuOfThread of ContextSwitchRow { time, thread, off_time, ready_time, flags }
}

/// Where the time of a thread went. What is left of a time is not known: switches are missing there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnAndOff {
    /// On a CPU, ns.
    pub on: i64,
    /// Off the CPUs, ns: it waited, or was ready to run.
    pub off: i64,
}

/// When a thread was off the CPUs. Between its rows it runs; before it was first seen, and behind a row that no switch-in ends, nobody
/// knows.
#[derive(Clone, Debug, Default)]
pub struct OffCpu {
    off: Spans,
    unknown: Spans,
    /// The end of what the rows so far tell.
    now: Option<i64>,
    /// Nobody knows what comes before.
    seen_from: Option<i64>,
    /// Nobody knows what comes behind.
    seen_to: Option<i64>,
}

/// Spans in their order, none over another one: of each the end, and the length of all up to it. So one search tells the length of all
/// before a time. This takes 16 bytes a switch. Less would not do: a call stands where it ends, and asks for the time since its begin,
/// however long ago that is.
#[derive(Clone, Debug, Default)]
struct Spans(Vec<(i64, i64)>);

impl Spans {
    fn add(&mut self, span: Span) {
        if !span.is_empty() {
            let sum = self.0.last().map_or(0, |(_, sum)| *sum);
            self.0.push((span.end, sum.saturating_add(span.length())));
        }
    }

    /// The length of all before a time.
    fn before(&self, time: i64) -> i64 {
        let at = self.0.partition_point(|(end, _)| *end <= time);
        let before = at.checked_sub(1).and_then(|last| self.0.get(last)).map_or(0, |(_, sum)| *sum);
        let Some((end, sum)) = self.0.get(at) else { return before };
        let start = end.saturating_sub(sum.saturating_sub(before));
        before.saturating_add(time.saturating_sub(start).max(0))
    }

    fn inside(&self, span: Span) -> i64 {
        self.before(span.end).saturating_sub(self.before(span.start))
    }
}

impl OffCpu {
    /// Takes the next row of the thread, in the order of time. Only spans that touch `range` are kept.
    fn row(&mut self, row: OffCpuSpan, range: Span) {
        let add = |spans: &mut Spans, now: Option<i64>, span: Option<Span>| {
            let Some(span) = span else { return };
            let start = now.map_or(span.start, |now| span.start.max(now));
            if start < span.end && span.end > range.start && start < range.end {
                spans.add(Span::new(start, span.end));
            }
        };
        let pieces = pieces(row, true);
        if row.flags & switch_flags::OPEN_LEFT != 0 && self.now.is_none() {
            self.seen_from = Some(row.off_time);
        }
        let gap = self.seen_to.take().map(|since| Span::new(since, row.off_time));
        add(&mut self.unknown, self.now, gap);
        add(&mut self.unknown, self.now, pieces.open.or(pieces.unknown));
        let off = match (pieces.wait, pieces.ready) {
            (Some(wait), Some(ready)) => Some(Span::new(wait.start, ready.end)),
            (wait, ready) => wait.or(ready),
        };
        add(&mut self.off, self.now, off);
        let now = self.now.map_or(row.time, |now| now.max(row.time));
        self.now = Some(now);
        self.seen_to = (!is_switch_in(row.flags)).then_some(now);
    }

    /// Where the time of the thread went in a part of the range.
    #[must_use]
    pub fn inside(&self, span: Span) -> OnAndOff {
        let off = self.off.inside(span);
        let before = self.seen_from.map_or(0, |from| Span::new(span.start, span.end.min(from)).length());
        let behind = self.seen_to.map_or(0, |to| Span::new(span.start.max(to), span.end).length());
        let unknown = [self.unknown.inside(span), before, behind].into_iter().fold(off, i64::saturating_add);
        OnAndOff { on: span.length().saturating_sub(unknown).max(0), off }
    }
}

/// When threads were off the CPUs.
#[derive(Clone, Debug)]
pub struct OffCpuTimes {
    range: Span,
    threads: FxHashMap<ThreadId, OffCpu>,
}

impl OffCpuTimes {
    /// For questions about parts of this range.
    #[must_use]
    pub fn within(range: Span) -> Self {
        Self { range, threads: FxHashMap::default() }
    }

    /// Takes the next row. Those around the range have to come, too: a thread without any row did not run all the time, nobody knows
    /// what it did.
    pub fn row(&mut self, row: &OffCpuOfThread) {
        let OffCpuOfThread { time, thread, off_time, ready_time, flags } = *row;
        self.threads.entry(thread).or_default().row(OffCpuSpan { time, off_time, ready_time, flags }, self.range);
    }

    /// The threads that have rows.
    #[must_use]
    pub fn into_threads(self) -> FxHashMap<ThreadId, OffCpu> {
        self.threads
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracesift_trace::rows::ContextSwitchRow;

    use super::*;
    use crate::activity::ActivityWalk;

    prop_compose! {
        /// Rows of a thread: how long it ran before each, how long it was off, when it was readied, and what is special.
        fn rows()(
            parts in prop::collection::vec((0..20_i64, 0..20_i64, prop::option::of(-5..25_i64), 0..8_u8), 1..12),
        ) -> Vec<ContextSwitchRow> {
            let mut now = 0;
            let row = |(place, (ran, off, ready, special)): (usize, (i64, i64, Option<i64>, u8))| {
                let off_time = now + ran;
                now = off_time + off;
                let flags = match special {
                    0 => switch_flags::BROKEN,
                    1 => switch_flags::GAP,
                    2 => switch_flags::PREEMPTED,
                    3 if place == 0 => switch_flags::OPEN_LEFT,
                    4 => switch_flags::OPEN_RIGHT,
                    _ => 0,
                };
                ContextSwitchRow {
                    time: now, off_time, ready_time: ready.map(|after| off_time + after), flags, ..ContextSwitchRow::default()
                }
            };
            parts.into_iter().enumerate().map(row).collect()
        }
    }

    fn times(rows: &[ContextSwitchRow], range: Span) -> OffCpu {
        let mut times = OffCpuTimes::within(range);
        for row in rows {
            let ContextSwitchRow { time, thread, off_time, ready_time, flags, .. } = *row;
            times.row(&OffCpuOfThread { time, thread, off_time, ready_time, flags });
        }
        times.into_threads().remove(&ThreadId::default()).unwrap_or_default()
    }

    proptest! {
        /// The activity of a thread in one window, row by row, is what wait chains are made of.
        #[test]
        fn on_and_off_are_those_of_the_activity(
            rows in rows(),
            (start, length) in (0..300_i64, 0..300_i64),
            (before, behind) in (0..50_i64, 0..50_i64),
        ) {
            let span = Span::new(start, start + length);
            let mut walk = ActivityWalk::new(span, true);
            let touching = rows.iter().filter(|row| row.off_time < span.end && row.time > span.start);
            // What rows before the window tell of its begin.
            let last = rows.iter().rposition(|row| row.time <= span.start);
            let unseen = last.filter(|last| !is_switch_in(rows[*last].flags));
            touching.for_each(|row| walk.row(row));
            let mut expected = walk.finish();
            if let Some(last) = unseen {
                let until = rows.get(last + 1).map_or(span.end, |next| next.off_time.clamp(span.start, span.end));
                expected.run -= until - span.start;
            }
            let first = &rows[0];
            if first.flags & switch_flags::OPEN_LEFT != 0 && first.off_time >= span.end {
                expected.run = 0;
            }
            let range = Span::new(span.start - before, span.end + behind);
            let found = times(&rows, range).inside(span);
            prop_assert_eq!(found, OnAndOff { on: expected.run, off: expected.wait + expected.ready });
        }
    }

    #[test]
    fn rows_that_contradict_each_other_count_once() {
        let row = |off_time, time| ContextSwitchRow { off_time, time, ..ContextSwitchRow::default() };
        let off = times(&[row(10, 30), row(20, 25), row(5, 40)], Span::ALL);
        assert_eq!(off.inside(Span::new(0, 50)), OnAndOff { on: 20, off: 30 });
        assert_eq!(off.inside(Span::new(15, 35)), OnAndOff { on: 0, off: 20 });
        let extreme = times(&[row(i64::MIN, -1), row(i64::MIN, i64::MAX)], Span::ALL);
        assert_eq!(extreme.inside(Span::new(0, 7)).on, 0);
    }
}
