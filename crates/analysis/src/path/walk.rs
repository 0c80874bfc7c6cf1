//! The walk: rows newest first in, leaves newest first out.

use std::ops::ControlFlow;

use tracesift_trace::rows::switch_flags;
use tracesift_trace::{StackId, ThreadId};

use super::cpus::Cpus;
use super::guide::{Guide, PathSwitch, PathTotals};
use super::leaf::{Cause, Gap, Leaf, Link, Obstacle, Occupant, State, Waker};
use super::threads::{ThreadLife, Threads};
use super::{MAX_DEPTH, MAX_TURNS};
use crate::RecordingFacts;
use crate::interrupts::Interrupt;
use crate::spans::{Pieces, Span, is_switch_in, pieces};

/// The ready time on top of the chain: it is divided when rows of its CPU pass.
#[derive(Clone, Copy, Debug)]
struct ReadyFor {
    cpu: i16,
    start: i64,
    stack: Option<StackId>,
}

/// A bounded critical path on its way back in time; the [module](super) says what that is.
///
/// Everything from `now` to the end of the window is given away already. The chain tells who gets what lies before: its last
/// thread down to the start of its link, then the one before it, and so on. Neither needs the past: when a thread gets its
/// turn, its row that passed last is the one that covers `now`, since nothing is put off once the rows are beyond it.
#[derive(Clone, Debug)]
pub struct Walk {
    window: Span,
    recorded: Span,
    has_switches: bool,
    has_ready: bool,
    now: i64,
    chain: Vec<Link>,
    ready: Option<ReadyFor>,
    threads: Threads,
    cpus: Cpus,
    /// Threads that took the place of another since the last leaf.
    turns: usize,
    totals: PathTotals,
}

impl Walk {
    /// A walk through `window` that starts at its end with the thread `anchor`. `threads` are those of the recording.
    #[must_use]
    pub fn new(
        recording: &RecordingFacts,
        window: Span,
        anchor: ThreadId,
        threads: impl IntoIterator<Item = impl Into<ThreadLife>>,
    ) -> Self {
        let window = Span::new(window.start, window.end);
        let recorded = Span::new(recording.span.start, recording.span.end);
        let mut chain = Vec::with_capacity(MAX_DEPTH);
        chain.push(Link { thread: anchor, start: window.start, wait_stack: None, unborn: None });
        Self {
            window,
            recorded,
            has_switches: recording.has_switches,
            has_ready: recording.has_ready,
            now: window.end,
            chain,
            ready: None,
            threads: Threads::new(recorded, threads),
            cpus: Cpus::default(),
            turns: 0,
            totals: PathTotals::default(),
        }
    }

    /// Says that the recording has no row of a thread at all, so that nothing is known of it. Without that, a thread without
    /// rows in the window counts as running.
    pub fn never_switched(&mut self, thread: ThreadId) {
        self.threads.never_switched(thread);
    }

    /// Takes the next older row, in descending order of the table. It needs those rows that touch the window, and ignores
    /// others. It breaks off when the whole window is given away: it needs no more rows then.
    #[inline]
    pub fn row(&mut self, row: impl Into<PathSwitch>, guide: &mut impl Guide) -> ControlFlow<()> {
        let row = row.into();
        self.take(PathSwitch { time: row.time.clamp(Span::ALL.start, Span::ALL.end), ..row }, guide)
    }

    /// Gives away what is left, and tells what was done. Now the leaves cover the window.
    pub fn finish(mut self, guide: &mut impl Guide) -> PathTotals {
        self.settle(i64::MIN, guide);
        self.totals
    }

    fn take(&mut self, mut row: PathSwitch, guide: &mut impl Guide) -> ControlFlow<()> {
        row.off_time = row.off_time.clamp(Span::ALL.start, row.time);
        if self.next_start() >= row.time {
            self.settle(row.time, guide);
        }
        if self.is_done() {
            return ControlFlow::Break(());
        }
        if row.off_time >= self.window.end {
            return ControlFlow::Continue(());
        }
        let mut concerns = self.chain.last().is_some_and(|top| top.thread == row.thread);
        if let Some(cpu) = row.cpu.filter(|_| is_switch_in(row.flags)) {
            if let Some(ready) = self.ready.filter(|ready| ready.cpu == cpu && row.time < self.now) {
                self.divide(ready, row.time.max(ready.start), guide);
                concerns = true;
            }
            // Between the end of the window and a later row others may have come, whose rows do not touch the window.
            if row.time <= self.window.end {
                self.cpus.leaves(cpu, row.prev_thread);
            }
        }
        self.threads.pass(&row);
        if concerns {
            self.settle(row.time, guide);
        }
        if self.is_done() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_done(&self) -> bool {
        self.now <= self.window.start
    }

    /// How far down the time reaches that is now asked for.
    fn next_start(&self) -> i64 {
        self.ready
            .map(|ready| ready.start)
            .or_else(|| self.chain.last().map(|top| top.start))
            .unwrap_or(self.window.start)
    }

    /// Gives away what can be, now that all rows after `seen` have passed.
    fn settle(&mut self, seen: i64, guide: &mut impl Guide) {
        while !self.is_done() {
            self.totals.steps += 1;
            if let Some(ready) = self.ready {
                if self.now <= ready.start {
                    self.ready = None;
                } else if ready.start >= seen {
                    self.divide(ready, ready.start, guide);
                } else {
                    return;
                }
                continue;
            }
            // The anchor's link starts with the window, so it stays to the end.
            let Some(top) = self.chain.last().copied() else { return };
            if self.now <= top.start {
                self.chain.pop();
                continue;
            }
            let thread = self.threads.get(top.thread);
            match thread.row {
                // Nothing comes before the first row of a thread that was not seen to leave.
                Some(row) if row.off_time < self.now || is_open_left(row.flags) => {
                    self.apply(top, &row, thread.later_stack, guide);
                }
                // Nothing happened to it since: it ran.
                row if top.start >= seen => {
                    let is_known = self.has_switches && thread.is_switched;
                    let run = State::Run { ends_with: row.and_then(|row| row.wait_stack) };
                    let state = if is_known { run } else { State::Unknown(Gap::NoSwitches) };
                    self.stretch(top.start, thread.life, state, guide);
                }
                _ => return,
            }
        }
    }

    /// Goes on with the span of the top thread's row, or with the time after it.
    fn apply(&mut self, top: Link, row: &PathSwitch, later_stack: Option<StackId>, guide: &mut impl Guide) {
        let now = self.now;
        if row.time < now {
            let state = if is_switch_in(row.flags) {
                State::Run { ends_with: later_stack }
            } else if row.flags & (switch_flags::OPEN_RIGHT | switch_flags::TERMINATED) != 0 {
                State::Unknown(Gap::AfterEnd)
            } else {
                State::Unknown(Gap::BrokenChain)
            };
            self.stretch(row.time.max(top.start), self.threads.get(top.thread).life, state, guide);
            return;
        }
        let Pieces { wait, ready, open, .. } = pieces(row, self.has_ready);
        let begun = |piece: Option<Span>| piece.filter(|piece| piece.start < now);
        let stack = row.wait_stack;
        if let Some(Span { start, .. }) = begun(ready) {
            let start = start.max(top.start);
            match row.cpu.filter(|_| is_switch_in(row.flags)) {
                Some(cpu) => self.ready = Some(ReadyFor { cpu, start, stack }),
                None => {
                    let occupant = Occupant::Unknown;
                    self.emit(start, State::Ready { cpu: None, occupant, stack }, guide);
                }
            }
        } else if open.is_some() {
            self.before_birth(top, row, guide);
        } else if begun(wait).is_some() {
            self.wait(top, row, guide);
        } else {
            self.emit(row.off_time.max(top.start), State::Unknown(Gap::BrokenChain), guide);
        }
    }

    /// A wait that reaches to `now`: whoever ended it did what the thread waited for.
    fn wait(&mut self, top: Link, row: &PathSwitch, guide: &mut impl Guide) {
        let start = row.off_time.max(top.start);
        let cause = match self.waker(row, guide) {
            Waker::Interrupt(interrupt) => Cause::Interrupt(interrupt),
            Waker::Nobody => Cause::Nobody,
            Waker::Thread(waker) => match self.follow(waker, start, row, guide) {
                Ok(()) => return,
                Err(obstacle) => {
                    self.totals.unfollowed += 1;
                    Cause::Unfollowed { waker, obstacle }
                }
            },
        };
        self.emit(start, State::Wait { cause, stack: row.wait_stack }, guide);
    }

    fn waker(&self, row: &PathSwitch, guide: &mut impl Guide) -> Waker {
        if !self.has_ready || row.ready_time.is_none() {
            return Waker::Nobody;
        }
        match guide.waker(row) {
            Waker::Thread(thread)
                if row.flags & switch_flags::READIED_FROM_DPC != 0 || self.threads.is_idle(thread) =>
            {
                Waker::Interrupt(Interrupt::Other)
            }
            waker => waker,
        }
    }

    /// Goes on with the thread that ended the wait of a row, down to `start`.
    fn follow(
        &mut self,
        waker: ThreadId,
        start: i64,
        row: &PathSwitch,
        guide: &mut impl Guide,
    ) -> Result<(), Obstacle> {
        if self.chain.last().is_some_and(|top| top.thread == waker) {
            return Err(Obstacle::Itself);
        }
        let wait_stack = row.wait_stack;
        if let [anchor] = self.chain.as_mut_slice()
            && guide.hands_over(row)
        {
            if self.turns >= MAX_TURNS {
                return Err(Obstacle::HandOvers);
            }
            *anchor = Link { thread: waker, unborn: None, ..*anchor };
            self.turns += 1;
            self.totals.hand_overs += 1;
            return Ok(());
        }
        if self.is_on_chain(waker) {
            return Err(Obstacle::Circle);
        }
        if self.chain.len() >= MAX_DEPTH {
            return Err(Obstacle::Depth);
        }
        self.chain.push(Link { thread: waker, start, wait_stack, unborn: None });
        Ok(())
    }

    /// The time before a thread was made runnable for the first time: its creator acts for it.
    fn before_birth(&mut self, top: Link, row: &PathSwitch, guide: &mut impl Guide) {
        let is_born = self.threads.get(top.thread).is_born_inside;
        if is_born
            && self.turns < MAX_TURNS
            && let Waker::Thread(creator) = self.waker(row, guide)
            && !self.is_on_chain(creator)
            && let Some(link) = self.chain.last_mut()
        {
            *link = Link { thread: creator, unborn: top.unborn.or(Some(top.thread)), ..top };
            self.turns += 1;
            self.totals.births += 1;
            return;
        }
        let gap = if is_born { Gap::BeforeStart } else { Gap::NotSeenYet };
        self.stretch(top.start, self.recorded, State::Unknown(gap), guide);
    }

    fn is_on_chain(&self, thread: ThreadId) -> bool {
        self.chain.iter().any(|link| link.thread == thread)
    }

    /// Gives ready time down to `start` to whoever had the CPU.
    fn divide(&mut self, ReadyFor { cpu, stack, .. }: ReadyFor, start: i64, guide: &mut impl Guide) {
        let occupant = self.cpus.occupant(cpu, |thread| self.threads.is_idle(thread));
        self.emit(start, State::Ready { cpu: Some(cpu), occupant, stack }, guide);
    }

    /// Gives time down to `start` to the top thread: in its life with this state, outside of it as unknown.
    fn stretch(&mut self, start: i64, life: Span, state: State, guide: &mut impl Guide) {
        let outside = State::Unknown(Gap::OutsideRecording);
        self.emit(start.max(self.recorded.end), outside, guide);
        self.emit(start.max(life.end), State::Unknown(Gap::AfterEnd), guide);
        self.emit(start.max(life.start), state, guide);
        self.emit(start.max(self.recorded.start), State::Unknown(Gap::BeforeStart), guide);
        self.emit(start, outside, guide);
    }

    /// The only place that gives time away: that from `start` to `now`.
    fn emit(&mut self, start: i64, state: State, guide: &mut impl Guide) {
        let start = start.max(self.window.start);
        let Some(top) = self.chain.last().filter(|_| start < self.now) else { return };
        let leaf = Leaf { span: Span { start, end: self.now }, thread: top.thread, state };
        self.now = start;
        self.turns = 0;
        self.totals.leaves += 1;
        self.totals.deepest = self.totals.deepest.max(self.chain.len());
        guide.leaf(&leaf, &self.chain);
    }
}

/// Whether the row is about a thread that was not seen to leave: nothing of it lies before.
fn is_open_left(flags: i16) -> bool {
    let decides = switch_flags::BROKEN | switch_flags::GAP | switch_flags::TERMINATED | switch_flags::OPEN_LEFT;
    flags & decides == switch_flags::OPEN_LEFT
}
