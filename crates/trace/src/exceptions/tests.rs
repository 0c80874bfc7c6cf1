//! Exceptions against a plain search, and signals.

use proptest::prelude::*;

use super::*;
use crate::rows::exception_kinds;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Throw,
    Begin(Block),
    End(Block),
    Done,
}

const BLOCKS: [Block; 3] = [Block::Catch, Block::Finally, Block::Filter];

fn act() -> impl Strategy<Value = Act> {
    let block = (0..3_usize).prop_map(|place| BLOCKS[place]);
    prop_oneof![
        3 => Just(Act::Throw),
        3 => block.clone().prop_map(Act::Begin),
        2 => block.prop_map(Act::End),
        1 => Just(Act::Done),
    ]
}

fn thrown_at(time: usize, thread: i32) -> ExceptionRow {
    ExceptionRow {
        time: time as i64,
        process: Some(ProcessId(0)),
        thread: Some(ThreadId(thread)),
        ..ExceptionRow::default()
    }
}

/// Time of the throw, time of the catch, handling.
type Plain = (i64, Option<i64>, i8);

fn plain(row: &ExceptionRow) -> Plain {
    (row.time, row.caught, row.handling)
}

fn followed(acts: &[(i32, Act)]) -> Vec<Plain> {
    let (mut exceptions, mut rows) = (Exceptions::default(), Vec::new());
    let mut out = |row: &ExceptionRow| rows.push(plain(row));
    for (time, (thread, act)) in acts.iter().enumerate() {
        let by = (Some(ProcessId(0)), ThreadId(*thread));
        match act {
            Act::Throw => exceptions.thrown(by.1, thrown_at(time, *thread), &mut out),
            Act::Begin(Block::Catch) => {
                let catcher = Catcher { time: time as i64, ..Catcher::default() };
                let _ = exceptions.caught(by, catcher, &mut out);
            }
            Act::Begin(block) => exceptions.begin(by, *block),
            Act::End(block) => exceptions.end(by, *block, &mut out),
            Act::Done => exceptions.done(by, &mut out),
        }
    }
    exceptions.finish(&mut out);
    rows
}

/// Looks through all that came before, each time anew; `gone` has what is over.
fn searched(acts: &[(i32, Act)]) -> Vec<Plain> {
    let mut gone = vec![false; acts.len()];
    let mut found: Vec<Plain> = (0..acts.len()).map(|time| (time as i64, None, handling::UNKNOWN)).collect();
    let mut last_of_thread = [None; 3];
    for (time, (thread, act)) in acts.iter().enumerate() {
        let is_there = |at: &usize, gone: &[bool]| {
            !gone[*at] && acts[*at].0 == *thread && matches!(acts[*at].1, Act::Throw | Act::Begin(_))
        };
        let before: Vec<usize> = (0..time).rev().filter(|at| is_there(at, &gone)).collect();
        let over =
            |from: usize, gone: &mut [bool]| before.iter().filter(|at| **at >= from).for_each(|at| gone[*at] = true);
        match act {
            Act::Begin(Block::Catch) => {
                let stop = |at: &&usize| matches!(acts[**at].1, Act::Throw | Act::Begin(Block::Catch));
                if let Some(at) = before.iter().find(stop).filter(|at| acts[**at].1 == Act::Throw) {
                    (found[*at].1, found[*at].2) = (Some(time as i64), handling::CAUGHT);
                    over(*at, &mut gone);
                }
            }
            Act::Begin(Block::Filter) => {
                if let Some(at) = before.first().filter(|at| acts[**at].1 == Act::Throw) {
                    found[*at].2 = handling::FILTERED;
                }
            }
            Act::End(block) => {
                if let Some(at) = before.iter().find(|at| acts[**at].1 == Act::Begin(*block)) {
                    over(*at, &mut gone);
                    // Where a thread has nothing under way, it does not matter what has just ended.
                    last_of_thread[*thread as usize] = (*block == Block::Catch).then_some(());
                    continue;
                }
                // An end without a begin tells nothing.
                continue;
            }
            Act::Done => {
                let told = last_of_thread[*thread as usize].is_some();
                if let Some(at) = before.first().filter(|at| !told && acts[**at].1 == Act::Throw) {
                    found[*at].2 = handling::CAUGHT;
                    gone[*at] = true;
                }
            }
            _ => {}
        }
        last_of_thread[*thread as usize] = None;
    }
    let is_told = acts.iter().any(|(_, act)| *act != Act::Throw);
    let verdict = |(time, caught, of): Plain| {
        (time, caught, if of == handling::UNKNOWN && is_told { handling::NOT_CAUGHT } else { of })
    };
    found.into_iter().filter(|(time, ..)| acts[*time as usize].1 == Act::Throw).map(verdict).collect()
}

proptest! {
    #[test]
    fn catch_blocks_have_the_exceptions_of_a_plain_search(
        acts in prop::collection::vec((0..3_i32, act()), 0..60),
    ) {
        prop_assert_eq!(followed(&acts), searched(&acts));
    }
}

const THROW: Act = Act::Throw;
const CATCH: Act = Act::Begin(Block::Catch);
const CAUGHT: Act = Act::End(Block::Catch);

fn of_one(acts: &[Act]) -> Vec<Plain> {
    followed(&acts.iter().map(|act| (0, *act)).collect::<Vec<_>>())
}

#[test]
fn nested_ones_are_paired_inside_out() {
    let (finally, left) = (Act::Begin(Block::Finally), Act::End(Block::Finally));
    let nested = [THROW, finally, THROW, CATCH, CAUGHT, Act::Done, left, CATCH, CAUGHT, Act::Done];
    assert_eq!(of_one(&nested), [(0, Some(7), handling::CAUGHT), (2, Some(3), handling::CAUGHT)]);
    // An exception of a catch block replaces none: the one before it was caught.
    let rethrown = [THROW, CATCH, THROW, CATCH, CAUGHT, Act::Done];
    assert_eq!(of_one(&rethrown), [(0, Some(1), handling::CAUGHT), (2, Some(3), handling::CAUGHT)]);
    // The exception of a finally block takes the place of the one for which the block ran.
    let replaced = [THROW, finally, THROW, CATCH, CAUGHT, Act::Done];
    assert_eq!(of_one(&replaced), [(0, None, handling::NOT_CAUGHT), (2, Some(3), handling::CAUGHT)]);
}

#[test]
fn filters_pass_exceptions_on_and_swallow_their_own() {
    let (filter, decided) = (Act::Begin(Block::Filter), Act::End(Block::Filter));
    let passed = [THROW, filter, THROW, decided];
    assert_eq!(of_one(&passed), [(0, None, handling::FILTERED), (2, None, handling::NOT_CAUGHT)]);
    let taken = [THROW, filter, decided, CATCH, CAUGHT];
    assert_eq!(of_one(&taken), [(0, Some(3), handling::CAUGHT)]);
}

#[test]
fn without_events_of_blocks_nothing_is_known() {
    assert_eq!(of_one(&[THROW, THROW]), [(0, None, handling::UNKNOWN), (1, None, handling::UNKNOWN)]);
    assert_eq!(of_one(&[THROW, Act::Done]), [(0, None, handling::CAUGHT)]);
}

#[test]
fn the_end_of_a_process_tells_which_exception_ended_it() {
    for (by_exception, last) in [(true, handling::UNHANDLED), (false, handling::UNKNOWN)] {
        let (mut exceptions, mut rows) = (Exceptions::default(), Vec::new());
        let mut out = |row: &ExceptionRow| rows.push(plain(row));
        exceptions.thrown(ThreadId(1), thrown_at(1, 1), &mut out);
        exceptions.thrown(ThreadId(2), thrown_at(2, 2), &mut out);
        exceptions.process_ended(ProcessId(0), by_exception, &mut out);
        assert_eq!(rows, [(1, None, handling::UNKNOWN), (2, None, last)]);
    }
}

#[test]
fn the_oldest_are_given_up_and_losses_end_all() {
    let (mut exceptions, mut rows) = (Exceptions::with_most(4, 3), Vec::new());
    let mut out = |row: &ExceptionRow| rows.push(plain(row));
    exceptions.end((Some(ProcessId(0)), ThreadId(9)), Block::Finally, &mut out);
    (0..10).for_each(|at| exceptions.thrown(ThreadId(0), thrown_at(at, 0), &mut out));
    assert_eq!(exceptions.dropped(), 7);
    exceptions.begin((Some(ProcessId(0)), ThreadId(0)), Block::Filter);
    exceptions.lost(&mut out);
    exceptions.finish(&mut out);
    assert_eq!(rows, (0..10).map(|at| (at, None, handling::UNKNOWN)).collect::<Vec<_>>());
    // Where nobody tells of blocks, nothing is missed.
    let mut many = Exceptions::default();
    let mut count = 0;
    (0..100).for_each(|at| many.thrown(ThreadId(0), thrown_at(at, 0), &mut |_| count += 1));
    assert_eq!((many.dropped(), count), (0, 100 - MOST_OF_THREAD));
}

/// Follows signals that are sent and taken: time, thread, signal; the process is 0.
fn sent(steps: &[(i64, i32, Result<Generated, Delivered>)]) -> Vec<(i64, Option<i64>, i8, Option<ThreadId>)> {
    let (mut signals, mut rows) = (Exceptions::default(), Vec::new());
    let mut out = |row: &ExceptionRow| rows.push((row.time, row.caught, row.handling, row.thread));
    for (time, thread, step) in steps {
        let of = (ProcessId(0), ThreadId(*thread));
        let row = ExceptionRow { kind: exception_kinds::SIGNAL, ..thrown_at(*time as usize, *thread) };
        match step {
            Ok(signal) => signals.signal_generated(of, *signal, row, &mut out),
            Err(signal) => signals.signal_delivered(of, *signal, row, &mut out),
        }
    }
    signals.finish(&mut out);
    rows
}

fn to(signal: i32, is_of_process: bool, result: i64) -> Result<Generated, Delivered> {
    Ok(Generated { signal, is_of_process, result })
}

fn taken(signal: i32, handler: u64) -> Result<Generated, Delivered> {
    Err(Delivered { signal, handler, frame: None })
}

#[test]
fn signals_are_taken_by_their_thread_or_by_any() {
    let found =
        sent(&[(1, 1, to(10, true, 0)), (2, 2, to(10, false, 0)), (5, 2, taken(10, 64)), (6, 3, taken(10, 64))]);
    let caught = handling::CAUGHT;
    assert_eq!(found, [(1, Some(6), caught, Some(ThreadId(3))), (2, Some(5), caught, Some(ThreadId(2)))]);
    // Of real-time signals the first is the first.
    let found = sent(&[(1, 1, to(40, false, 0)), (2, 1, to(40, false, 0)), (5, 1, taken(40, 64))]);
    assert_eq!(found.iter().map(|row| row.1).collect::<Vec<_>>(), [Some(5), None]);
}

#[test]
fn signals_that_end_a_process_are_told() {
    let handlings = |steps: &[(i64, i32, Result<Generated, Delivered>)]| -> Vec<i8> {
        sent(steps).iter().map(|row| row.2).collect()
    };
    // A fault is delivered to its default; SIGTERM becomes SIGKILL, which all threads get.
    assert_eq!(handlings(&[(1, 1, to(11, false, 0)), (2, 1, taken(11, 0))]), [handling::UNHANDLED]);
    let ended = [(1, 1, to(15, true, 0)), (2, 1, taken(9, 0)), (3, 2, taken(9, 0))];
    assert_eq!(handlings(&ended), [handling::UNHANDLED]);
    let killed = [(1, 1, to(9, true, 0)), (2, 1, taken(9, 0)), (3, 2, taken(9, 0))];
    assert_eq!(handlings(&killed), [handling::UNHANDLED]);
    // A process that ends of its own accord kills its other threads.
    assert_eq!(handlings(&[(2, 1, taken(9, 0))]), []);
    let others = [(1, 1, to(17, true, 1)), (2, 1, to(19, true, 0)), (3, 1, taken(19, 0)), (4, 1, taken(2, 1))];
    assert_eq!(handlings(&others), [handling::NO_EFFECT, handling::NOT_CAUGHT, handling::NO_EFFECT]);
}

#[test]
fn signals_and_their_reasons_have_names() {
    let names: Vec<String> = [11, 31, 34, 35, 0, 32].map(signal_name).into();
    assert_eq!(names, ["SIGSEGV", "SIGSYS", "SIGRTMIN", "SIGRTMIN+1", "signal 0", "signal 32"]);
    let codes = [(11, 1), (8, 1), (11, 0x80), (15, 0), (6, -6), (17, 2), (12, 77)];
    let expected = ["SEGV_MAPERR", "FPE_INTDIV", "SI_KERNEL", "SI_USER", "SI_TKILL", "CLD_KILLED"].map(Some);
    let found: Vec<Option<&str>> = codes.iter().map(|(signal, code)| signal_codes::name(*signal, *code)).collect();
    assert_eq!(found, [&expected[..], &[None]].concat());
}
