//! Edge cases by hand. Thread 1 is the anchor, thread 9 is the idle thread of CPU 0.

use tracesift_analysis::path::{Cause, Gap, Leaf, Obstacle, Occupant, State};
use tracesift_analysis::{Interrupt, RecordingFacts, Span};
use tracesift_trace::rows::{ContextSwitchRow, ThreadRow, switch_flags};
use tracesift_trace::{StackId, ThreadId};

use super::walked::{Recorded, Walked, assert_sound};

const WINDOW: Span = Span { start: 0, end: 100 };

/// A switch-in on CPU 0 of a thread that left at `off_time`, before which `prev` had the CPU.
fn row(thread: i32, off_time: i64, time: i64, prev: i32) -> ContextSwitchRow {
    let (thread, prev_thread, cpu) = (ThreadId(thread), Some(ThreadId(prev)), Some(0));
    ContextSwitchRow { thread, off_time, time, prev_thread, cpu, ..ContextSwitchRow::default() }
}

/// A row with a wake-up.
fn woken(row: ContextSwitchRow, ready_time: i64, readier: i32) -> ContextSwitchRow {
    ContextSwitchRow { ready_time: Some(ready_time), readier: Some(ThreadId(readier)), ..row }
}

fn flagged(row: ContextSwitchRow, flags: i16) -> ContextSwitchRow {
    ContextSwitchRow { flags, ..row }
}

fn with_stack(row: ContextSwitchRow, stack: i32) -> ContextSwitchRow {
    ContextSwitchRow { wait_stack: Some(StackId(stack)), ..row }
}

/// The walk through a window over rows in the order of the table.
fn walk_through(window: Span, rows: &[ContextSwitchRow], threads: &[ThreadRow], follow_requests: bool) -> Walked {
    let idle = ThreadRow { thread: ThreadId(9), idle_cpu: Some(0), ..ThreadRow::default() };
    let threads: Vec<ThreadRow> = threads.iter().cloned().chain([idle]).collect();
    let recorded = Recorded {
        facts: RecordingFacts { span: WINDOW, has_switches: true, has_ready: true },
        threads: &threads,
        rows,
        never_switched: &[ThreadId(8)],
        follow_requests,
        every_row: false,
    };
    let walked = recorded.walk(window, ThreadId(1));
    assert_sound(&walked, window);
    walked
}

fn of(walked: &Walked) -> Vec<(i64, i32, State)> {
    walked.leaves.iter().map(|(Leaf { span, thread, state }, _)| (span.start, thread.0, *state)).collect()
}

/// Start, thread and state of the leaves over the whole recording.
fn leaves(rows: &[ContextSwitchRow]) -> Vec<(i64, i32, State)> {
    of(&walk_through(WINDOW, rows, &[], false))
}

const RUN: State = State::Run { ends_with: None };

fn wait(cause: Cause) -> State {
    State::Wait { cause, stack: None }
}

fn ready(occupant: Occupant) -> State {
    State::Ready { cpu: Some(0), occupant, stack: None }
}

fn unknown(gap: Gap) -> State {
    State::Unknown(gap)
}

#[test]
fn a_wait_goes_to_the_thread_that_ended_it_and_ready_time_to_who_had_the_cpu() {
    // 1 waits from 20 to 70 for 2, which runs, waits for 3 from 30 to 50, and runs again; then 3 has the CPU of 1.
    let rows = [
        with_stack(woken(row(2, 30, 55, 9), 50, 3), 7),
        row(3, 60, 75, 2),
        with_stack(woken(row(1, 20, 80, 3), 70, 2), 5),
    ];
    let walked = walk_through(WINDOW, &rows, &[], false);
    let stack = Some(StackId(5));
    let expected = [
        (80, 1, RUN),
        (75, 1, State::Ready { cpu: Some(0), occupant: Occupant::Thread(ThreadId(3)), stack }),
        (70, 1, State::Ready { cpu: Some(0), occupant: Occupant::Thread(ThreadId(2)), stack }),
        (55, 2, RUN),
        (50, 2, State::Ready { cpu: Some(0), occupant: Occupant::Idle, stack: Some(StackId(7)) }),
        (30, 3, State::Run { ends_with: None }),
        (20, 2, State::Run { ends_with: Some(StackId(7)) }),
        (0, 1, State::Run { ends_with: stack }),
    ];
    assert_eq!(of(&walked), expected);
    let chain: Vec<_> = walked.leaves[5].1.iter().map(|link| (link.thread.0, link.start, link.wait_stack)).collect();
    assert_eq!(chain, [(1, 0, None), (2, 20, stack), (3, 30, Some(StackId(7)))]);
    assert_eq!((walked.totals.deepest, walked.totals.unfollowed), (3, 0));
}

#[test]
fn the_one_that_was_followed_may_have_switched_in_long_before_the_waits_that_it_ended() {
    // 2 runs from 10 to the end on another CPU and ends three waits of 1 meanwhile.
    let rows = [
        ContextSwitchRow { cpu: Some(1), ..row(2, 5, 10, 9) },
        woken(row(1, 15, 20, 9), 20, 2),
        woken(row(1, 30, 40, 9), 40, 2),
        woken(row(1, 60, 70, 9), 70, 2),
    ];
    let expected = [(70, 1, RUN), (60, 2, RUN), (40, 1, RUN), (30, 2, RUN), (20, 1, RUN), (15, 2, RUN), (0, 1, RUN)];
    assert_eq!(leaves(&rows), expected);
}

#[test]
fn a_wait_that_nobody_ended_stays_a_wait() {
    let expected = [(50, 1, RUN), (20, 1, wait(Cause::Nobody)), (0, 1, RUN)];
    assert_eq!(leaves(&[row(1, 20, 50, 9)]), expected);
}

#[test]
fn a_wake_up_out_of_an_interrupt_or_by_an_idle_thread_is_never_that_thread() {
    let cause = |row: ContextSwitchRow| leaves(&[row])[1].2;
    let by_timer = ContextSwitchRow { ready_stack: Some(StackId(100)), ..woken(row(1, 20, 50, 2), 50, 2) };
    assert_eq!(cause(by_timer), wait(Cause::Interrupt(Interrupt::Timer)));
    let other = wait(Cause::Interrupt(Interrupt::Other));
    assert_eq!(cause(flagged(woken(row(1, 20, 50, 2), 50, 2), switch_flags::READIED_FROM_DPC)), other);
    assert_eq!(cause(woken(row(1, 20, 50, 9), 50, 9)), other);
}

#[test]
fn a_waker_that_was_off_the_cpu_is_taken_apart_as_any_thread() {
    // 2 is said to have woken 1 at 50, but waited for a disk from 30 to 60.
    let disk = ContextSwitchRow { ready_stack: Some(StackId(101)), ..woken(row(2, 30, 60, 9), 60, 9) };
    let rows = [woken(row(1, 20, 50, 9), 50, 2), disk];
    let expected = [(50, 1, RUN), (30, 2, wait(Cause::Interrupt(Interrupt::Disk))), (20, 2, RUN), (0, 1, RUN)];
    assert_eq!(leaves(&rows), expected);
}

#[test]
fn who_waits_in_a_circle_or_for_itself_is_not_followed() {
    let obstacle = |waker, obstacle| wait(Cause::Unfollowed { waker: ThreadId(waker), obstacle });
    let itself = leaves(&[woken(row(1, 20, 50, 9), 50, 1)]);
    assert_eq!(itself, [(50, 1, RUN), (20, 1, obstacle(1, Obstacle::Itself)), (0, 1, RUN)]);
    let circle = [woken(row(1, 20, 50, 9), 50, 2), woken(row(2, 10, 60, 9), 60, 1)];
    assert_eq!(leaves(&circle), [(50, 1, RUN), (20, 2, obstacle(1, Obstacle::Circle)), (0, 1, RUN)]);
}

#[test]
fn the_sixty_fifth_thread_of_a_chain_is_not_followed() {
    let rows: Vec<ContextSwitchRow> =
        (1..80).map(|thread| woken(row(100 + thread, 20, 50, 9), 50, 101 + thread)).collect();
    let all: Vec<ContextSwitchRow> = [woken(row(1, 20, 50, 9), 50, 101)].into_iter().chain(rows).collect();
    let walked = walk_through(WINDOW, &all, &[], false);
    let cause = Cause::Unfollowed { waker: ThreadId(164), obstacle: Obstacle::Depth };
    assert_eq!(of(&walked), [(50, 1, RUN), (20, 163, wait(cause)), (0, 1, RUN)]);
    assert_eq!((walked.totals.deepest, walked.totals.unfollowed), (64, 1));
}

#[test]
fn a_wake_up_before_the_wait_leaves_ready_time_only() {
    let expected = [(50, 1, RUN), (20, 1, ready(Occupant::Thread(ThreadId(2)))), (0, 1, RUN)];
    assert_eq!(leaves(&[woken(row(1, 20, 50, 2), 4, 3)]), expected);
}

#[test]
fn a_preempted_thread_is_ready_throughout_and_the_occupants_of_its_next_cpu_count() {
    let on_other_cpu = ContextSwitchRow { cpu: Some(1), ..row(4, 25, 30, 3) };
    let rows = [on_other_cpu, row(5, 10, 35, 6), flagged(row(1, 20, 50, 5), switch_flags::PREEMPTED)];
    let expected = [
        (50, 1, RUN),
        (35, 1, ready(Occupant::Thread(ThreadId(5)))),
        (20, 1, ready(Occupant::Thread(ThreadId(6)))),
        (0, 1, RUN),
    ];
    assert_eq!(leaves(&rows), expected);
}

#[test]
fn without_a_cpu_or_a_thread_that_leaves_the_occupant_is_unknown() {
    let closing = ContextSwitchRow { cpu: None, prev_thread: None, ..woken(row(1, 60, 100, 9), 80, 2) };
    let rows = [
        ContextSwitchRow { prev_thread: None, ..flagged(row(1, 20, 50, 2), switch_flags::PREEMPTED) },
        flagged(closing, switch_flags::OPEN_RIGHT),
    ];
    let nowhere = State::Ready { cpu: None, occupant: Occupant::Unknown, stack: None };
    let expected = [(80, 1, nowhere), (60, 2, RUN), (50, 1, RUN), (20, 1, ready(Occupant::Unknown)), (0, 1, RUN)];
    assert_eq!(leaves(&rows), expected);
}

#[test]
fn a_window_that_ends_in_ready_time_knows_the_occupant_if_a_switch_at_its_end_tells() {
    let preempted = flagged(row(1, 20, 80, 3), switch_flags::PREEMPTED);
    let rows = [row(2, 10, 30, 9), row(3, 55, 60, 2), preempted];
    let until = |end| of(&walk_through(Span { start: 0, end }, &rows, &[], false));
    let two = ready(Occupant::Thread(ThreadId(2)));
    assert_eq!(until(80)[0], (60, 1, ready(Occupant::Thread(ThreadId(3)))));
    assert_eq!(until(60)[0], (30, 1, two));
    // The switch to 3 at 60 does not touch the window, and in other windows there is more of that kind.
    assert_eq!(until(50)[0], (30, 1, ready(Occupant::Unknown)));
    assert_eq!(until(50)[1], (20, 1, ready(Occupant::Idle)));
}

#[test]
fn broken_chains_are_unknown_and_never_run() {
    for flags in [switch_flags::BROKEN, switch_flags::GAP, switch_flags::BROKEN | switch_flags::PREEMPTED] {
        let rows = [flagged(woken(row(1, 20, 50, 9), 30, 2), flags), row(1, 50, 60, 9)];
        let expected = [(60, 1, RUN), (50, 1, wait(Cause::Nobody)), (20, 1, unknown(Gap::BrokenChain)), (0, 1, RUN)];
        assert_eq!(leaves(&rows), expected, "{flags}");
    }
    // After the end of a gap the thread does not run.
    let expected = [(50, 1, unknown(Gap::BrokenChain)), (0, 1, unknown(Gap::BrokenChain))];
    assert_eq!(leaves(&[flagged(row(1, 0, 50, 9), switch_flags::GAP)]), expected);
}

#[test]
fn what_comes_before_a_birth_belongs_to_the_creator() {
    // 2 makes 1 runnable at 30 on CPU 0, and 3 made 2 at 10.
    let born = |thread, start| ThreadRow { thread: ThreadId(thread), start: Some(start), ..ThreadRow::default() };
    let rows = [
        flagged(woken(row(2, 8, 15, 3), 10, 3), switch_flags::OPEN_LEFT),
        flagged(woken(row(1, 25, 40, 2), 30, 2), switch_flags::OPEN_LEFT),
    ];
    let walked = walk_through(WINDOW, &rows, &[born(1, 25), born(2, 8)], false);
    let expected = [
        (40, 1, RUN),
        (30, 1, ready(Occupant::Thread(ThreadId(2)))),
        (15, 2, RUN),
        (10, 2, ready(Occupant::Thread(ThreadId(3)))),
        (0, 3, RUN),
    ];
    assert_eq!(of(&walked), expected);
    let chain = &walked.leaves[4].1;
    assert_eq!((chain.len(), chain[0].unborn, walked.totals.births), (1, Some(ThreadId(1)), 2));
    // Nobody knows the creator: it made itself, or an interrupt did.
    for row in [woken(row(1, 25, 40, 2), 30, 1), woken(row(1, 25, 40, 2), 30, 9)] {
        let walked = walk_through(WINDOW, &[flagged(row, switch_flags::OPEN_LEFT)], &[born(1, 25)], false);
        assert_eq!(of(&walked)[2..], [(0, 1, unknown(Gap::BeforeStart))]);
    }
}

#[test]
fn threads_that_made_each_other_end_unknown() {
    let born = |thread| ThreadRow { thread: ThreadId(thread), start: Some(10), ..ThreadRow::default() };
    let rows = [1, 2].map(|thread| flagged(woken(row(thread, 10, 40, 9), 30, 3 - thread), switch_flags::OPEN_LEFT));
    let walked = walk_through(Span { start: 0, end: 30 }, &rows, &[born(1), born(2)], false);
    assert_eq!(of(&walked), [(0, 1, unknown(Gap::BeforeStart))]);
    assert_eq!(walked.totals.births, 16);
}

#[test]
fn a_thread_older_than_the_recording_ran_or_was_not_seen_yet() {
    assert_eq!(leaves(&[]), [(0, 1, RUN)]);
    let open = flagged(row(1, 0, 50, 9), switch_flags::OPEN_LEFT);
    assert_eq!(leaves(&[open]), [(50, 1, RUN), (0, 1, unknown(Gap::NotSeenYet))]);
}

#[test]
fn beyond_the_recording_and_the_lives_of_threads_nothing_is_known() {
    let life = ThreadRow { thread: ThreadId(1), start: Some(20), end: Some(70), ..ThreadRow::default() };
    let wide = Span { start: -10, end: 120 };
    let outside = unknown(Gap::OutsideRecording);
    let expected = [
        (100, 1, outside),
        (70, 1, unknown(Gap::AfterEnd)),
        (20, 1, RUN),
        (0, 1, unknown(Gap::BeforeStart)),
        (-10, 1, outside),
    ];
    assert_eq!(of(&walk_through(wide, &[], std::slice::from_ref(&life), false)), expected);
    let terminated = flagged(row(1, 70, 70, 9), switch_flags::TERMINATED);
    assert_eq!(of(&walk_through(wide, &[terminated], &[life], false)), expected);
    // A thread that the recording never switched, as anchor's waker.
    let rows = [woken(row(1, 20, 50, 9), 50, 8)];
    assert_eq!(leaves(&rows)[1], (20, 8, unknown(Gap::NoSwitches)));
}

#[test]
fn without_ready_events_only_preemption_is_ready_time() {
    let rows = [flagged(row(1, 10, 20, 9), switch_flags::PREEMPTED), woken(row(1, 30, 50, 9), 40, 2)];
    let facts = RecordingFacts { span: WINDOW, has_switches: true, has_ready: false };
    let recorded =
        Recorded { facts, threads: &[], rows: &rows, never_switched: &[], follow_requests: false, every_row: false };
    let nine = ready(Occupant::Thread(ThreadId(9)));
    let expected = [(50, 1, RUN), (30, 1, wait(Cause::Nobody)), (20, 1, RUN), (10, 1, nine), (0, 1, RUN)];
    assert_eq!(of(&recorded.walk(WINDOW, ThreadId(1))), expected);
    let no_switches = Recorded { facts: RecordingFacts { has_switches: false, ..facts }, rows: &[], ..recorded };
    assert_eq!(of(&no_switches.walk(WINDOW, ThreadId(1))), [(0, 1, unknown(Gap::NoSwitches))]);
}

#[test]
fn rows_of_one_instant_count_in_the_order_of_the_table() {
    // At 50, 2 comes, wakes 1 and leaves for 1: the wait of 1 was for what 2 waited for.
    let rows = [woken(row(2, 20, 50, 9), 45, 3), woken(row(1, 30, 50, 2), 50, 2), woken(row(2, 50, 60, 1), 55, 1)];
    let expected = [(50, 1, RUN), (45, 2, ready(Occupant::Idle)), (30, 3, RUN), (0, 1, RUN)];
    assert_eq!(leaves(&rows), expected);
}

#[test]
fn requests_that_hop_go_on_with_the_thread_that_handed_the_work_over() {
    // Stack 1 is a wait for work, stack 2 is none.
    let rows = [with_stack(woken(row(2, 10, 30, 9), 30, 3), 2), with_stack(woken(row(1, 20, 60, 9), 60, 2), 1)];
    let bounded = walk_through(WINDOW, &rows, &[], false);
    let stack = |stack| State::Run { ends_with: Some(StackId(stack)) };
    assert_eq!(of(&bounded), [(60, 1, RUN), (30, 2, RUN), (20, 3, RUN), (0, 1, stack(1))]);
    let followed = walk_through(WINDOW, &rows, &[], true);
    assert_eq!(of(&followed), [(60, 1, RUN), (30, 2, RUN), (10, 3, RUN), (0, 2, stack(2))]);
    assert_eq!(followed.totals.hand_overs, 1);
    // Threads that hand the same work to each other for ever.
    let round = [1, 2].map(|thread| with_stack(woken(row(thread, 20, 60, 9), 60, 3 - thread), 1));
    let walked = walk_through(WINDOW, &round, &[], true);
    let cause = Cause::Unfollowed { waker: ThreadId(2), obstacle: Obstacle::HandOvers };
    assert_eq!(of(&walked)[1], (20, 1, State::Wait { cause, stack: Some(StackId(1)) }));
    assert_eq!(walked.totals.hand_overs, 16);
}
