//! Schedules that a machine has really run: the walk is the recursive definition, leaf by leaf.

use tracesift_analysis::Span;
use tracesift_analysis::path::{Leaf, Occupant, State};
use tracesift_trace::ThreadId;

use super::machine::Machine;
use super::naive::{Found, path};
use super::walked::{Recorded, assert_sound};
use crate::properties::simulation::Dice;

const MACHINES: u64 = 3_000;
const WINDOWS: u64 = 4;

fn recorded<'a>(machine: &'a Machine, never_switched: &'a [ThreadId], follow_requests: bool) -> Recorded<'a> {
    Recorded {
        facts: machine.recording,
        threads: &machine.threads,
        rows: &machine.rows,
        never_switched,
        follow_requests,
        every_row: false,
    }
}

fn never_switched(machine: &Machine) -> Vec<ThreadId> {
    (0..machine.threads.len()).filter(|thread| machine.truth[*thread].is_empty()).map(ThreadId::from_index).collect()
}

/// A window and an anchor; borders often lie at switches, and sometimes outside of the recording.
fn question(machine: &Machine, dice: &mut Dice) -> (Span, ThreadId) {
    let below =
        |dice: &mut Dice, limit: usize| usize::try_from(dice.below(u64::try_from(limit).expect("fits"))).expect("fits");
    let recorded = machine.recording.span;
    let mut border = || {
        if dice.chance(50) && !machine.rows.is_empty() {
            let row = &machine.rows[below(dice, machine.rows.len())];
            return if dice.chance(50) { row.time } else { row.ready_time.unwrap_or(row.off_time) };
        }
        recorded.start - 10
            + i64::try_from(below(dice, 20 + usize::try_from(recorded.length()).expect("fits"))).expect("fits")
    };
    let (a, b) = (border(), border());
    let window = if dice.chance(60) { recorded } else { Span::new(a.min(b), a.max(b)) };
    (window, ThreadId::from_index(below(dice, machine.threads.len())))
}

fn without_occupant(leaf: &Leaf) -> Leaf {
    match leaf.state {
        State::Ready { cpu, stack, .. } => {
            Leaf { state: State::Ready { cpu, occupant: Occupant::Unknown, stack }, ..*leaf }
        }
        _ => *leaf,
    }
}

/// Equal, but for the occupant at the end of the window: the next switch there may not touch the window, so that nothing
/// is known of it.
fn is_expected(machine: &Machine, window: Span, found: &Found, expected: &Found) -> bool {
    let State::Ready { cpu: Some(cpu), occupant, .. } = found.0.state else { return found == expected };
    if found.0.span.end != window.end {
        return found == expected;
    }
    let switches = machine.rows.iter().filter(|row| row.cpu == Some(cpu) && row.time == window.end).count();
    let is_open = occupant == Occupant::Unknown || switches > 1;
    found == expected || is_open && without_occupant(&found.0) == without_occupant(&expected.0) && found.1 == expected.1
}

#[test]
fn the_walk_is_the_recursive_definition() {
    let (mut leaves, mut followed, mut deepest, mut hand_overs, mut births) = (0, 0, 0, 0, 0);
    for seed in 0..MACHINES {
        let machine = Machine::run(seed);
        let never_switched = never_switched(&machine);
        let mut dice = Dice::new(seed);
        for round in 0..WINDOWS {
            let (window, anchor) = question(&machine, &mut dice);
            let follow_requests = round % 2 == 1;
            let walked = recorded(&machine, &never_switched, follow_requests).walk(window, anchor);
            assert_sound(&walked, window);
            let expected = path(&machine, window, anchor, follow_requests);
            let asked = format!("machine {seed}, {window:?}, {anchor:?}, follow {follow_requests}");
            for (place, (found, expected)) in walked.leaves.iter().zip(&expected).enumerate() {
                assert!(
                    is_expected(&machine, window, found, expected),
                    "{asked}, leaf {place}:\n{found:?}\n{expected:?}"
                );
            }
            assert_eq!(walked.leaves.len(), expected.len(), "{asked}");
            assert_eq!(walked.totals.unfollowed, 0, "{asked}");
            leaves += walked.leaves.len();
            followed += walked.leaves.iter().filter(|(_, chain)| chain.len() > 1).count();
            deepest = deepest.max(walked.totals.deepest);
            hand_overs += walked.totals.hand_overs;
            births += walked.totals.births;
        }
    }
    // The machines do what the walk is about.
    assert!(leaves > 100_000 && followed > 15_000, "{leaves} leaves, {followed} of others");
    assert!(deepest >= 5 && hand_overs > 500 && births > 500, "{deepest} {hand_overs} {births}");
}

#[test]
fn rows_outside_of_the_window_and_beyond_the_end_of_the_walk_change_nothing() {
    let (mut shown, mut all) = (0, 0);
    for seed in MACHINES..MACHINES + 300 {
        let machine = Machine::run(seed);
        let never_switched = never_switched(&machine);
        let (window, anchor) = question(&machine, &mut Dice::new(seed));
        let some = recorded(&machine, &never_switched, seed % 2 == 0);
        let every = Recorded { every_row: true, ..recorded(&machine, &never_switched, seed % 2 == 0) };
        let (some, every) = (some.walk(window, anchor), every.walk(window, anchor));
        assert_eq!(some.leaves, every.leaves, "machine {seed}");
        shown += some.rows;
        all += every.rows;
    }
    assert!(shown < all);
}
