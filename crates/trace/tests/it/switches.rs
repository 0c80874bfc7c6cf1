//! What the switch tracker makes of short stories, one behaviour of the definition of waits each.

use tracesift_trace::population::{Edge, ThreadFacts};
use tracesift_trace::rows::{ContextSwitchRow, switch_flags};
use tracesift_trace::switches::{Leave, Ready, Switch, SwitchTracker};
use tracesift_trace::{Clock, Health, Lifetimes, Population, RowSink, ThreadId};

#[derive(Default)]
struct Rows(Vec<ContextSwitchRow>);

impl RowSink for Rows {
    fn context_switch(&mut self, row: &ContextSwitchRow) {
        self.0.push(row.clone());
    }
}

/// One tick is one nanosecond; threads 10, 11, 12 live throughout, 20 is born at 100 and ends at 900.
struct Story {
    population: Population,
    tracker: SwitchTracker,
    health: Health,
    rows: Rows,
}

impl Story {
    fn new() -> Self {
        let clock = Clock::new(0, 1_000_000_000);
        let mut lifetimes = Lifetimes::new();
        for tid in [10, 11, 12] {
            lifetimes.thread(0, tid, Edge::AliveAtStart, ThreadFacts { pid: 1, ..ThreadFacts::default() });
        }
        lifetimes.thread(100, 20, Edge::Start, ThreadFacts { pid: 1, ..ThreadFacts::default() });
        lifetimes.thread(900, 20, Edge::End, ThreadFacts { pid: 1, ..ThreadFacts::default() });
        let population = lifetimes.freeze(clock, 0);
        let tracker = SwitchTracker::new(clock, 0, population.deaths().into());
        Self { population, tracker, health: Health::new(), rows: Rows::default() }
    }

    fn switch(&mut self, ticks: i64, cpu: u16, old: u32, leave: Leave, new: u32) -> &mut Self {
        let mut thread = |tid| Some(self.population.thread_at(tid, cpu, ticks));
        let (new, old) = (thread(new), thread(old));
        let event = Switch::between(ticks, Some(cpu), old, leave, new);
        self.tracker.switch(&event, &mut self.population, &mut self.health, &mut self.rows);
        self
    }

    fn ready(&mut self, ticks: i64, cpu: u16, tid: u32) -> &mut Self {
        let thread = self.population.thread_at(tid, cpu, ticks);
        let (readier, adjust_reason, adjust_increment, stack) = (None, None, None, None);
        self.tracker.ready(Ready { ticks, cpu, thread, readier, adjust_reason, adjust_increment, flags: 0, stack });
        self
    }

    /// (time, off_time, ready_time, flags) of the thread's rows.
    fn finish(&mut self, end: i64, tid: u32) -> Vec<(i64, i64, Option<i64>, i16)> {
        self.tracker.finish(end, &mut self.population, &mut self.rows);
        let thread = self.thread(tid);
        let of_thread = self.rows.0.iter().filter(|row| row.thread == thread);
        of_thread.map(|row| (row.time, row.off_time, row.ready_time, row.flags)).collect()
    }

    fn thread(&mut self, tid: u32) -> ThreadId {
        self.population.thread_at(tid, 0, 0)
    }
}

#[test]
fn a_wait_ends_with_the_first_ready_event() {
    let mut story = Story::new();
    story.switch(200, 0, 10, Leave::Blocked, 0).ready(300, 1, 10).ready(310, 1, 10).switch(
        350,
        0,
        0,
        Leave::Blocked,
        10,
    );
    assert_eq!(story.finish(1000, 10), [(350, 200, Some(300), 0)]);
    assert!(story.health.is_empty());
}

#[test]
fn a_ready_event_while_running_counts_at_the_switch_out() {
    let mut story = Story::new();
    story.ready(100, 1, 10).switch(200, 0, 10, Leave::Blocked, 11).switch(350, 0, 11, Leave::Blocked, 10);
    assert_eq!(story.finish(1000, 10), [(350, 200, Some(200), 0)]);
}

#[test]
fn a_preempted_thread_is_ready_all_the_time() {
    let mut story = Story::new();
    story.switch(200, 0, 10, Leave::Runnable, 11).ready(300, 1, 10).switch(350, 0, 11, Leave::Blocked, 10);
    assert_eq!(story.finish(1000, 10), [(350, 200, None, switch_flags::PREEMPTED)]);
}

#[test]
fn a_hang_is_closed_at_the_end_of_the_recording() {
    let mut story = Story::new();
    story.switch(200, 0, 10, Leave::Blocked, 11);
    assert_eq!(story.finish(1000, 10), [(1000, 200, None, switch_flags::OPEN_RIGHT)]);
}

#[test]
fn a_thread_born_inside_is_ready_from_its_first_ready_event() {
    let mut story = Story::new();
    story.switch(50, 0, 10, Leave::Blocked, 11).ready(120, 0, 20).ready(130, 0, 12);
    story.switch(150, 0, 11, Leave::Blocked, 20).switch(160, 0, 20, Leave::Blocked, 12);
    story.switch(180, 0, 12, Leave::Blocked, 20).switch(905, 0, 20, Leave::Ended, 12);
    // Its end record came before it left the CPU for the last time: it lived until then.
    assert_eq!(
        story.finish(1000, 20),
        [
            (150, 100, Some(120), switch_flags::OPEN_LEFT),
            (180, 160, None, 0),
            (905, 905, None, switch_flags::TERMINATED)
        ]
    );
    let ended = story.thread(20);
    assert_eq!(story.population.died(ended), Some(905));
    // Whoever lived before the recording is open at the left, ready or not.
    let mut story = Story::new();
    story.switch(50, 0, 10, Leave::Blocked, 11).ready(130, 0, 12).switch(160, 0, 11, Leave::Blocked, 12);
    assert_eq!(story.finish(1000, 12), [(160, 0, None, switch_flags::OPEN_LEFT)]);
}

#[test]
fn a_broken_chain_is_unknown_for_both_threads() {
    let mut story = Story::new();
    // 11 runs from 100; its switch-out and the switch-in of 12 are lost; 12 leaves at 300.
    story.switch(100, 0, 10, Leave::Blocked, 11).switch(300, 0, 12, Leave::Blocked, 10);
    story.switch(400, 0, 10, Leave::Blocked, 11).switch(450, 0, 11, Leave::Blocked, 12);
    let gap = switch_flags::GAP | switch_flags::BROKEN;
    assert_eq!(story.finish(1000, 12), [(300, 0, None, gap), (450, 300, None, 0)]);
    let rows = story.finish(1000, 11);
    assert_eq!(rows[..2], [(100, 0, None, switch_flags::OPEN_LEFT), (400, 100, None, switch_flags::BROKEN)]);
    assert_eq!(story.health.get("broken_switch_chain"), 1);
}

#[test]
fn a_thread_cannot_run_twice() {
    let mut story = Story::new();
    // 11 is switched in on CPU 0, then on CPU 1 without having left.
    story.switch(100, 0, 10, Leave::Blocked, 11).switch(300, 1, 12, Leave::Blocked, 11);
    let rows = story.finish(1000, 11);
    assert_eq!(rows, [(100, 0, None, switch_flags::OPEN_LEFT), (300, 100, None, switch_flags::BROKEN)]);
    // Who comes and goes on either CPU fits together.
    assert_eq!((story.health.get("thread_moved_unseen"), story.health.get("broken_switch_chain")), (1, 0));
}

#[test]
fn a_thread_that_ends_while_waiting_is_closed_at_its_end() {
    let mut story = Story::new();
    story.switch(50, 0, 10, Leave::Blocked, 11).switch(150, 0, 11, Leave::Blocked, 20);
    story.switch(200, 0, 20, Leave::Blocked, 11).switch(950, 0, 11, Leave::Blocked, 10);
    let rows = story.finish(1000, 20);
    assert_eq!(rows, [(150, 100, None, switch_flags::OPEN_LEFT), (900, 200, None, switch_flags::OPEN_RIGHT)]);
    // Rows stay in the order of time.
    assert!(story.rows.0.is_sorted_by_key(|row| row.time));
}
