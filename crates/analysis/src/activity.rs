//! The activity of one thread in a time window: a link of a wait chain.
//!
//! A thread that waited was woken by another thread. The activity of that thread meanwhile explains
//! the wait: it ran, it was ready without a CPU, or it waited for a third thread. The same question
//! for its longest wait leads to the thread that did the work.

use tracesift_trace::rows::switch_flags;

use crate::spans::{OffCpuSpan, Span, is_switch_in, pieces};

/// The activity of a thread in a time window. The parts add up to the length of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity<R> {
    /// On a CPU, ns.
    pub run: i64,
    /// Blocked, ns.
    pub wait: i64,
    /// Runnable without a CPU, ns.
    pub ready: i64,
    /// Broken switch chains, and before it was first seen, ns.
    pub unknown: i64,
    /// The longest of its waits, cut to the window, with its row; of equal waits the last one.
    pub longest: Option<(Span, R)>,
}

impl<R> Activity<R> {
    /// Whether one wait took the largest part.
    #[must_use]
    pub fn mostly_waits(&self) -> bool {
        let longest = self.longest.as_ref().map_or(0, |(span, _)| span.length());
        longest > self.run.max(self.ready).max(self.unknown)
    }
}

/// Finds the activity of a thread while its rows stream by.
#[derive(Clone, Debug)]
pub struct ActivityWalk<R> {
    within: Span,
    has_ready: bool,
    now: i64,
    runs: bool,
    activity: Activity<R>,
}

impl<R> Default for Activity<R> {
    fn default() -> Self {
        Self { run: 0, wait: 0, ready: 0, unknown: 0, longest: None }
    }
}

impl<R: Clone> ActivityWalk<R>
where
    OffCpuSpan: for<'a> From<&'a R>,
{
    /// A stretch of time of a thread. Without any row it ran all the time, as long as it was switched at all.
    #[must_use]
    pub fn new(within: Span, has_ready: bool) -> Self {
        Self { within, has_ready, now: within.start, runs: true, activity: Activity::default() }
    }

    /// Takes the thread's next row that touches the stretch, in the order of time. Between its rows it runs.
    pub fn row(&mut self, row: &R) {
        let span = OffCpuSpan::from(row);
        let activity = &mut self.activity;
        let length = |span: Option<Span>| span.map_or(0, Span::length);
        let before = Span::new(self.now, span.off_time.clamp(self.now, self.within.end)).length();
        // Before it was first seen nobody knows.
        if self.runs && span.flags & switch_flags::OPEN_LEFT == 0 {
            activity.run += before;
        } else {
            activity.unknown += before;
        }
        let parts = pieces(span, self.has_ready).clip(Span { start: self.now, ..self.within });
        activity.wait += length(parts.wait);
        activity.ready += length(parts.ready);
        activity.unknown += length(parts.open) + length(parts.unknown);
        let longest = activity.longest.as_ref().map_or(0, |(span, _)| span.length());
        if let Some(wait) = parts.wait.filter(|wait| !wait.is_empty() && wait.length() >= longest) {
            activity.longest = Some((wait, row.clone()));
        }
        self.now = self.now.max(span.time.min(self.within.end));
        self.runs = is_switch_in(span.flags);
    }

    /// The activity, up to the end of the stretch.
    #[must_use]
    pub fn finish(self) -> Activity<R> {
        let mut activity = self.activity;
        let rest = Span::new(self.now, self.within.end).length();
        if self.runs {
            activity.run += rest
        } else {
            activity.unknown += rest
        }
        activity
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracesift_trace::rows::{ContextSwitchRow, switch_flags};

    use super::{Activity, ActivityWalk};
    use crate::spans::Span;

    fn activity(rows: &[ContextSwitchRow], within: Span) -> Activity<ContextSwitchRow> {
        let mut walk = ActivityWalk::new(within, true);
        rows.iter().for_each(|row| walk.row(row));
        walk.finish()
    }

    fn row(off_time: i64, ready_time: i64, time: i64) -> ContextSwitchRow {
        ContextSwitchRow { off_time, ready_time: Some(ready_time), time, ..ContextSwitchRow::default() }
    }

    #[test]
    fn runs_between_its_waits() {
        // Runs 100..110, waits 110..150, ready 150..155, runs 155..160, waits 160..190, ready 190..200.
        let rows = [row(110, 150, 155), row(160, 190, 200)];
        let all = activity(&rows, Span::new(100, 195));
        let longest = Some((Span::new(110, 150), rows[0].clone()));
        assert_eq!(all, Activity { run: 15, wait: 70, ready: 10, unknown: 0, longest });
        assert!(all.mostly_waits());
        let part = activity(&rows[..1], Span::new(140, 160));
        assert_eq!((part.run, part.wait, part.ready), (5, 10, 5));
    }

    #[test]
    fn without_a_switch_it_ran_and_after_its_end_it_did_not() {
        assert_eq!(activity(&[], Span::new(5, 9)).run, 4);
        let closing = ContextSwitchRow { flags: switch_flags::TERMINATED, off_time: 7, time: 7, ..row(7, 7, 7) };
        let ended = activity(&[closing], Span::new(5, 9));
        assert_eq!((ended.run, ended.unknown), (2, 2));
    }

    #[test]
    fn before_its_birth_it_did_not_run() {
        let born = ContextSwitchRow { flags: switch_flags::OPEN_LEFT, off_time: 90, time: 95, ..row(90, 95, 95) };
        let young = activity(&[born], Span::new(0, 100));
        assert_eq!((young.run, young.wait, young.unknown), (5, 0, 95));
    }

    proptest! {
        #[test]
        fn the_parts_add_up(steps in prop::collection::vec((0..9_i64, 0..9_i64, 0..9_i64), 0..6), a in 0..60_i64, length in 0..60_i64) {
            let mut now = 0;
            let rows: Vec<ContextSwitchRow> = steps.iter().map(|(run, wait, ready)| {
                let off = now + run;
                now = off + wait + ready;
                row(off, off + wait, now)
            }).collect();
            let within = Span::new(a, a + length);
            let touching: Vec<_> =
                rows.into_iter().filter(|row| row.off_time < within.end && row.time > within.start).collect();
            let all = activity(&touching, within);
            prop_assert_eq!(all.run + all.wait + all.ready + all.unknown, within.length());
        }
    }
}
