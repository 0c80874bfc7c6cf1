//! Runs the walk over rows in memory.

use std::ops::ControlFlow;

use tracesift_analysis::path::{Guide, Leaf, Link, PathSwitch, PathTotals, Waker, Walk};
use tracesift_analysis::{RecordingFacts, Span};
use tracesift_trace::ThreadId;
use tracesift_trace::rows::{ContextSwitchRow, ThreadRow};

use super::machine::{is_wait_for_work, waker_of};
use super::naive::Found;

/// A recording in memory, and how its rows are shown.
pub(super) struct Recorded<'a> {
    pub(super) facts: RecordingFacts,
    pub(super) threads: &'a [ThreadRow],
    /// In the order of the table.
    pub(super) rows: &'a [ContextSwitchRow],
    /// Threads of which the recording has no row.
    pub(super) never_switched: &'a [ThreadId],
    pub(super) follow_requests: bool,
    /// Shows every row, also those that do not touch the window and those after the walk has broken off.
    pub(super) every_row: bool,
}

/// What came out.
pub(super) struct Walked {
    pub(super) leaves: Vec<Found>,
    pub(super) totals: PathTotals,
    /// How many rows the walk wanted.
    pub(super) rows: usize,
}

struct Collector {
    follow_requests: bool,
    leaves: Vec<Found>,
}

impl Guide for Collector {
    fn waker(&mut self, row: &PathSwitch) -> Waker {
        waker_of(row.readier, row.ready_stack)
    }

    fn hands_over(&mut self, row: &PathSwitch) -> bool {
        self.follow_requests && is_wait_for_work(row.wait_stack)
    }

    fn leaf(&mut self, leaf: &Leaf, chain: &[Link]) {
        self.leaves.push((*leaf, chain.to_vec()));
    }
}

impl Recorded<'_> {
    pub(super) fn walk(&self, window: Span, anchor: ThreadId) -> Walked {
        let mut walk = Walk::new(&self.facts, window, anchor, self.threads);
        self.never_switched.iter().for_each(|thread| walk.never_switched(*thread));
        let mut collector = Collector { follow_requests: self.follow_requests, leaves: Vec::new() };
        let mut rows = 0;
        for row in self.rows.iter().rev() {
            let touches = row.off_time < window.end && row.time > window.start;
            if !touches && !self.every_row {
                continue;
            }
            rows += 1;
            if walk.row(row, &mut collector) == ControlFlow::Break(()) && !self.every_row {
                break;
            }
        }
        let totals = walk.finish(&mut collector);
        Walked { leaves: collector.leaves, totals, rows }
    }
}

/// What holds of every path, whatever the rows say.
pub(super) fn assert_sound(walked: &Walked, window: Span) {
    let mut end = window.end;
    for (leaf, chain) in &walked.leaves {
        assert_eq!(leaf.span.end, end, "leaves follow one another");
        assert!(leaf.span.start < leaf.span.end, "no leaf is empty");
        end = leaf.span.start;
        assert!((1..=64).contains(&chain.len()));
        assert_eq!(chain.last().map(|link| link.thread), Some(leaf.thread));
        assert!(chain.iter().all(|link| link.start <= leaf.span.start && link.start >= window.start));
        assert!(chain.iter().enumerate().all(|(place, link)| chain[..place].iter().all(|l| l.thread != link.thread)));
    }
    assert_eq!(end, window.start.min(window.end), "leaves cover the window");
    let sum: i64 = walked.leaves.iter().map(|(leaf, _)| leaf.span.length()).sum();
    assert_eq!(sum, window.length());
    assert_eq!(walked.totals.leaves, u64::try_from(walked.leaves.len()).expect("fits"));
    assert_eq!(walked.totals.deepest, walked.leaves.iter().map(|(_, chain)| chain.len()).max().unwrap_or(0));
}
