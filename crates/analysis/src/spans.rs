//! Takes a switch row apart: the wait, ready, open and unknown parts of its off-CPU span.

use tracesift_trace::rows::{ContextSwitchRow, switch_flags};
use tracesift_trace::view;

/// A half-open piece of time, `[start, end)`, in nanoseconds since time zero. Never ends before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// First instant inside.
    pub start: i64,
    /// First instant outside.
    pub end: i64,
}

/// Times beyond 73 years from time zero come from damaged rows only; lengths below cannot overflow.
const FARTHEST: i64 = 1 << 61;

impl Span {
    /// All of time: the range of a question without `--time`.
    pub const ALL: Self = Self { start: -FARTHEST, end: FARTHEST };

    /// The bounds that a reader has to keep to; `None` for [`Span::ALL`], which has none.
    #[must_use]
    pub fn if_bounded(self) -> Option<std::ops::Range<i64>> {
        (self != Self::ALL).then_some(self.start..self.end)
    }

    /// The span from `start` to `end`, both moved into [`Span::ALL`]; empty at `start` when `end` lies before it.
    #[must_use]
    pub fn new(start: i64, end: i64) -> Self {
        let start = start.clamp(-FARTHEST, FARTHEST);
        Self { start, end: end.clamp(start, FARTHEST) }
    }

    /// Its length, ns.
    #[must_use]
    pub fn length(self) -> i64 {
        self.end - self.start
    }

    /// Whether it holds no instant.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// Whether the instant lies inside.
    #[must_use]
    pub fn contains(self, time: i64) -> bool {
        self.start <= time && time < self.end
    }

    /// What both have in common; empty where they do not overlap.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        let start = self.start.max(other.start);
        Self { start, end: self.end.min(other.end).max(start) }
    }

    /// What lies inside of the time range, `None` when nothing does. An empty span is kept when its instant lies inside:
    /// a thread that was readied at once has waited, for no time.
    #[must_use]
    pub fn clip(self, range: Self) -> Option<Self> {
        if self.is_empty() {
            return range.contains(self.start).then_some(self);
        }
        let inside = self.intersect(range);
        (!inside.is_empty()).then_some(inside)
    }
}

/// The pieces of one off-CPU span. They are disjoint and together cover it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// Blocked, from the switch-out to the first ready event.
    pub wait: Option<Span>,
    /// Runnable without a CPU, from the ready event (or the preemption) to the switch-in.
    pub ready: Option<Span>,
    /// Off the CPU since before the thread was first seen: shown, counted neither as wait nor as ready.
    pub open: Option<Span>,
    /// The span touches a broken switch chain.
    pub unknown: Option<Span>,
    /// No switch-in ended the span: it goes on to the end of the thread or of the recording. It counts like the others.
    pub still_open: bool,
}

impl Pieces {
    /// The parts inside of a time range.
    #[must_use]
    pub fn clip(self, range: Span) -> Self {
        let clip = |piece: Option<Span>| piece.and_then(|span| span.clip(range));
        Self {
            wait: clip(self.wait),
            ready: clip(self.ready),
            open: clip(self.open),
            unknown: clip(self.unknown),
            still_open: self.still_open,
        }
    }
}

view! {
    /// The off-CPU span of a row.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct OffCpuSpan of ContextSwitchRow { time, off_time, ready_time, flags }
}

/// Takes the off-CPU span of a row apart. `has_ready` says whether the recording has ready events; without them a blocked
/// thread waits until its switch-in, and only preemption is known to be ready time.
#[must_use]
#[inline]
pub fn pieces(row: impl Into<OffCpuSpan>, has_ready: bool) -> Pieces {
    pieces_of(row.into(), has_ready)
}

fn pieces_of(row: OffCpuSpan, has_ready: bool) -> Pieces {
    let span = Span::new(row.off_time, row.time);
    let has = |flag: i16| row.flags & flag != 0;
    let mut pieces = Pieces { still_open: has(switch_flags::OPEN_RIGHT), ..Pieces::default() };
    // A ready event may come while the thread still ran: it counts at the switch-out.
    let ready_time = row.ready_time.filter(|_| has_ready).map(|time| time.clamp(span.start, span.end));
    let before_ready = Span { start: span.start, end: ready_time.unwrap_or(span.end) };
    let from_ready = ready_time.map(|start| Span { start, end: span.end });

    if has(switch_flags::BROKEN | switch_flags::GAP) {
        pieces.unknown = Some(span);
    } else if has(switch_flags::TERMINATED) {
        // The thread ends where it leaves. Time after that would be a damaged row's.
        pieces.unknown = (!span.is_empty()).then_some(span);
    } else if has(switch_flags::OPEN_LEFT) {
        pieces.open = Some(before_ready);
        pieces.ready = from_ready;
    } else if has(switch_flags::PREEMPTED) {
        pieces.ready = Some(span);
    } else {
        pieces.wait = Some(before_ready);
        pieces.ready = from_ready;
    }
    pieces
}

/// Whether a row with these flags is a switch-in and not the end of a span that none ended.
#[must_use]
#[inline]
pub fn is_switch_in(flags: i16) -> bool {
    flags & switch_flags::NO_SWITCH_IN == 0
}

#[cfg(test)]
mod tests {
    use super::{Pieces, Span, pieces};
    use tracesift_trace::rows::{ContextSwitchRow, switch_flags};

    fn row(off_time: i64, ready_time: Option<i64>, time: i64, flags: i16) -> ContextSwitchRow {
        ContextSwitchRow { off_time, ready_time, time, flags, ..ContextSwitchRow::default() }
    }

    fn span(start: i64, end: i64) -> Option<Span> {
        Some(Span { start, end })
    }

    #[test]
    fn a_blocked_thread_waits_until_the_ready_event() {
        let blocked = pieces(&row(10, Some(30), 35, 0), true);
        assert_eq!(blocked, Pieces { wait: span(10, 30), ready: span(30, 35), ..Pieces::default() });
    }

    #[test]
    fn without_ready_event_it_waits_until_the_switch_in() {
        let never_readied = Pieces { wait: span(10, 35), ..Pieces::default() };
        assert_eq!(pieces(&row(10, None, 35, 0), true), never_readied);
        assert_eq!(pieces(&row(10, Some(30), 35, 0), false), never_readied);
    }

    #[test]
    fn a_ready_event_before_the_switch_out_counts_at_the_switch_out() {
        let early = pieces(&row(10, Some(4), 35, 0), true);
        assert_eq!(early, Pieces { wait: span(10, 10), ready: span(10, 35), ..Pieces::default() });
    }

    #[test]
    fn a_preempted_thread_is_ready_throughout_even_without_ready_events() {
        for has_ready in [false, true] {
            let preempted = pieces(&row(10, None, 35, switch_flags::PREEMPTED), has_ready);
            assert_eq!(preempted, Pieces { ready: span(10, 35), ..Pieces::default() });
        }
    }

    #[test]
    fn the_left_edge_is_open_up_to_the_first_ready_event() {
        let edge = pieces(&row(0, None, 35, switch_flags::OPEN_LEFT), true);
        assert_eq!(edge, Pieces { open: span(0, 35), ..Pieces::default() });
        let born = pieces(&row(20, Some(21), 35, switch_flags::OPEN_LEFT), true);
        assert_eq!(born, Pieces { open: span(20, 21), ready: span(21, 35), ..Pieces::default() });
    }

    #[test]
    fn a_broken_chain_makes_everything_unknown() {
        for flag in [switch_flags::BROKEN, switch_flags::GAP, switch_flags::BROKEN | switch_flags::PREEMPTED] {
            let broken = pieces(&row(10, Some(30), 35, flag), true);
            assert_eq!(broken, Pieces { unknown: span(10, 35), ..Pieces::default() });
        }
    }

    #[test]
    fn a_hang_at_the_end_is_wait_and_says_so() {
        let hang = pieces(&row(10, None, 35, switch_flags::OPEN_RIGHT), true);
        assert_eq!(hang, Pieces { wait: span(10, 35), still_open: true, ..Pieces::default() });
    }

    #[test]
    fn a_terminated_thread_waits_for_nothing() {
        assert_eq!(pieces(&row(35, None, 35, switch_flags::TERMINATED), true), Pieces::default());
    }

    #[test]
    fn damaged_times_neither_panic_nor_run_backwards() {
        let backwards = pieces(&row(35, Some(i64::MAX), 10, 0), true);
        assert_eq!(backwards, Pieces { wait: span(35, 35), ready: span(35, 35), ..Pieces::default() });
        let extremes = pieces(&row(i64::MIN, None, i64::MAX, 0), true);
        assert_eq!(extremes.wait.map(Span::length), Some(1 << 62));
    }

    #[test]
    fn clipping_keeps_what_is_inside_and_instants_on_the_left_edge() {
        let range = Span::new(10, 20);
        assert_eq!(Span::new(5, 12).clip(range), span(10, 12));
        assert_eq!(Span::new(12, 30).clip(range), span(12, 20));
        assert_eq!(Span::new(5, 10).clip(range), None);
        assert_eq!(Span::new(20, 25).clip(range), None);
        assert_eq!(Span::new(10, 10).clip(range), span(10, 10));
        assert_eq!(Span::new(20, 20).clip(range), None);
    }
}
