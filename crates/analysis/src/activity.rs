//! What one thread did in a stretch of time: the link of a wait chain.
//!
//! A thread that waited was woken by another one. What that one did meanwhile explains the wait: it worked, or it stood in line for a CPU,
//! or it waited itself, for a third one. Asked again for its longest wait, the same question leads to whoever did the work.

use tracesift_trace::rows::{ContextSwitchRow, switch_flags};

use crate::spans::{Span, pieces};

/// How a thread spent a stretch of time. The parts add up to its length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// On a CPU, ns.
    pub run: i64,
    /// Blocked, ns.
    pub wait: i64,
    /// Runnable without a CPU, ns.
    pub ready: i64,
    /// Broken switch chains, and before it was first seen, ns.
    pub unknown: i64,
    /// The longest of its waits, cut to the stretch, with the number of its row; of equals the last one.
    pub longest: Option<(Span, usize)>,
}

impl Activity {
    /// What the thread of these rows did within a stretch. `rows` are those of its switch rows that touch the stretch, in the order of time;
    /// between them it runs, as long as one of its rows says that it was switched at all.
    #[must_use]
    pub fn of(rows: &[ContextSwitchRow], within: Span, has_ready: bool) -> Self {
        let mut activity = Self::default();
        let length = |span: Option<Span>| span.map_or(0, Span::length);
        let mut now = within.start;
        let mut runs = true;
        for (number, row) in rows.iter().enumerate() {
            let before = Span::new(now, row.off_time.clamp(now, within.end)).length();
            if runs { activity.run += before } else { activity.unknown += before }
            let parts = pieces(row, has_ready).clip(within);
            activity.wait += length(parts.wait);
            activity.ready += length(parts.ready);
            activity.unknown += length(parts.open) + length(parts.unknown);
            if let Some(wait) = parts.wait.filter(|wait| !wait.is_empty())
                && activity.longest.is_none_or(|(longest, _)| wait.length() >= longest.length())
            {
                activity.longest = Some((wait, number));
            }
            now = now.max(row.time.min(within.end));
            // After a closing row it does not run, and after a gap nobody knows.
            runs = row.flags & (switch_flags::OPEN_RIGHT | switch_flags::TERMINATED) == 0;
        }
        let rest = Span::new(now, within.end).length();
        if runs { activity.run += rest } else { activity.unknown += rest }
        activity
    }

    /// Whether most of the time went into waiting.
    #[must_use]
    pub fn mostly_waits(&self) -> bool {
        self.longest.is_some_and(|(longest, _)| longest.length() > self.run.max(self.ready).max(self.unknown))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracesift_trace::rows::{ContextSwitchRow, switch_flags};

    use super::Activity;
    use crate::spans::Span;

    fn row(off_time: i64, ready_time: i64, time: i64) -> ContextSwitchRow {
        ContextSwitchRow { off_time, ready_time: Some(ready_time), time, ..ContextSwitchRow::default() }
    }

    #[test]
    fn runs_between_its_waits() {
        // Runs 100..110, waits 110..150, ready 150..155, runs 155..160, waits 160..190, ready 190..200.
        let rows = [row(110, 150, 155), row(160, 190, 200)];
        let activity = Activity::of(&rows, Span::new(100, 195), true);
        let longest = Some((Span::new(110, 150), 0));
        assert_eq!(activity, Activity { run: 15, wait: 70, ready: 10, unknown: 0, longest });
        assert!(activity.mostly_waits());
        let part = Activity::of(&rows[..1], Span::new(140, 160), true);
        assert_eq!((part.run, part.wait, part.ready), (5, 10, 5));
    }

    #[test]
    fn without_a_switch_it_ran_and_after_its_end_it_did_not() {
        assert_eq!(Activity::of(&[], Span::new(5, 9), true).run, 4);
        let closing = ContextSwitchRow { flags: switch_flags::TERMINATED, off_time: 7, time: 7, ..row(7, 7, 7) };
        let ended = Activity::of(&[closing], Span::new(5, 9), true);
        assert_eq!((ended.run, ended.unknown), (2, 2));
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
            let activity = Activity::of(&rows, within, true);
            prop_assert_eq!(activity.run + activity.wait + activity.ready + activity.unknown, within.length());
        }
    }
}
