//! Rows that no machine writes: the sum is exact, and the walk ends.

use tracesift_analysis::{RecordingFacts, Span};
use tracesift_trace::rows::{ContextSwitchRow, ThreadRow};
use tracesift_trace::{StackId, ThreadId};

use super::walked::{Recorded, assert_sound};
use crate::properties::simulation::Dice;

const SETS: u64 = 12_000;

struct Chaos {
    dice: Dice,
    /// Extreme times and ids come only in some sets: in the others rows meet more often.
    wild: bool,
    /// Threads; of many, most wait for the next one.
    threads: u64,
}

impl Chaos {
    fn time(&mut self) -> i64 {
        if self.wild && self.dice.chance(5) {
            let extremes = [i64::MIN, i64::MAX, i64::MIN + 1, 1 << 61, -(1 << 61), (1 << 62) + 3];
            return extremes[usize::try_from(self.dice.below(6)).expect("few")];
        }
        i64::try_from(self.dice.below(60)).expect("small")
    }

    fn id(&mut self) -> i32 {
        if self.wild && self.dice.chance(5) {
            return [-1, i32::MAX, i32::MIN, 1_000_000][usize::try_from(self.dice.below(4)).expect("few")];
        }
        i32::try_from(self.dice.below(self.threads)).expect("small")
    }

    fn cpu(&mut self) -> Option<i16> {
        match self.dice.below(40) {
            0..6 => None,
            6 => Some(i16::MIN),
            7 => Some(i16::MAX),
            cpu => i16::try_from(cpu % 3).ok(),
        }
    }

    fn flags(&mut self) -> i16 {
        match self.dice.below(10) {
            0..7 => 0,
            7..9 => 1 << self.dice.below(11),
            _ => i16::from_ne_bytes([0, 1].map(|_| u8::try_from(self.dice.below(256)).expect("a byte"))),
        }
    }

    fn maybe<T>(&mut self, percent: u64, value: T) -> Option<T> {
        self.dice.chance(percent).then_some(value)
    }

    fn row(&mut self) -> ContextSwitchRow {
        let (time, other) = (self.time(), self.time());
        let within = time.midpoint(other);
        let ready = if self.dice.chance(60) { within } else { self.time() };
        let (thread, prev, readier, stack) = (self.id(), self.id(), self.id(), self.id());
        if self.threads > 8 && self.dice.chance(97) {
            let (off_time, next) = (i64::from(stack.clamp(0, 9)), thread.wrapping_add(1));
            let (ready_time, readier) = (Some(55), Some(ThreadId(next)));
            let thread = ThreadId(thread);
            return ContextSwitchRow { time: 55, off_time, thread, ready_time, readier, ..ContextSwitchRow::default() };
        }
        ContextSwitchRow {
            time: if self.dice.chance(90) { time.max(other) } else { time },
            off_time: if self.dice.chance(90) { time.min(other) } else { other },
            thread: ThreadId(thread),
            prev_thread: self.maybe(90, ThreadId(prev)),
            ready_time: self.maybe(80, ready),
            readier: self.maybe(90, ThreadId(readier)),
            wait_stack: self.maybe(50, StackId(stack)),
            ready_stack: self.maybe(20, StackId(100 + stack.wrapping_rem(8))),
            cpu: self.cpu(),
            flags: self.flags(),
            ..ContextSwitchRow::default()
        }
    }

    fn thread(&mut self, id: i32) -> ThreadRow {
        let (start, end) = (self.time(), self.time());
        let thread = ThreadId(if self.wild && self.dice.chance(5) { self.id() } else { id });
        let (start, end) = (self.maybe(30, start), self.maybe(30, end));
        ThreadRow { thread, start, end, idle_cpu: self.maybe(10, 0), ..ThreadRow::default() }
    }
}

#[test]
fn whatever_the_rows_say_the_leaves_cover_the_window_and_the_walk_ends() {
    let (mut deepest, mut unfollowed, mut busiest) = (0, 0, 0);
    for seed in 0..SETS {
        let many = seed % 50 == 0;
        let threads = if many { 100 } else { 8 };
        let mut chaos = Chaos { dice: Dice::new(seed), wild: seed % 3 == 0, threads };
        let count = if many { 500 } else { chaos.dice.below(60) };
        let mut rows: Vec<ContextSwitchRow> = (0..count).map(|_| chaos.row()).collect();
        if chaos.dice.chance(80) {
            rows.sort_by_key(|row| row.time);
        }
        let threads: Vec<ThreadRow> = (0..7).map(|id| chaos.thread(id)).collect();
        let part = Span::new(chaos.time(), chaos.time());
        let window = if chaos.dice.chance(70) { Span::new(0, 60) } else { part };
        let span = if chaos.dice.chance(70) { window } else { Span { start: chaos.time(), end: chaos.time() } };
        let facts = RecordingFacts { span, has_switches: chaos.dice.chance(95), has_ready: chaos.dice.chance(90) };
        let never_switched = if chaos.dice.chance(20) { vec![ThreadId(chaos.id())] } else { Vec::new() };
        let recorded = Recorded {
            facts,
            threads: &threads,
            rows: &rows,
            never_switched: &never_switched,
            follow_requests: seed % 2 == 0,
            every_row: seed % 5 == 0,
        };
        let walked = recorded.walk(window, ThreadId(chaos.id()));
        assert_sound(&walked, window);
        // Each leaf ends at a border of a row or thread; between two leaves the chain grows at most to its limit, or threads
        // take each other's places.
        let borders = 6 * count + 4 * 8 + 4;
        assert!(walked.totals.leaves <= borders, "set {seed}");
        assert!(walked.totals.steps <= (walked.totals.leaves + 2 * count + 2) * 200, "set {seed}");
        deepest = deepest.max(walked.totals.deepest);
        unfollowed += walked.totals.unfollowed;
        busiest = busiest.max(walked.totals.steps / (count + 1));
    }
    assert!(deepest == 64 && unfollowed > 500, "{deepest} {unfollowed}");
    assert!(busiest < 20, "{busiest} steps per row");
}
