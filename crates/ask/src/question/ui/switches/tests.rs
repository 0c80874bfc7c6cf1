use proptest::prelude::*;

use super::*;

/// What a thread does, one after the other, each for so long.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Runs,
    WaitsForMessages,
    WaitsElse,
    IsReady,
    /// Nobody knows.
    Lost,
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        4 => Just(Does::Runs),
        4 => Just(Does::WaitsForMessages),
        2 => Just(Does::WaitsElse),
        2 => Just(Does::IsReady),
        1 => Just(Does::Lost),
    ]
}

const LEAST: i64 = 5;

/// Each instant of a thread with what it does.
fn instants(life: &[(Does, i64)]) -> Vec<Does> {
    life.iter().flat_map(|(does, length)| std::iter::repeat_n(*does, *length as usize)).collect()
}

/// Looks at each time between two waits for messages, instant by instant.
fn naive(life: &[(Does, i64)], thread: ThreadId, has_ended: bool) -> Vec<Stall> {
    let all = instants(life);
    let is_wait = |at: usize| all[at] == Does::WaitsForMessages;
    let waits = life.iter().filter(|(does, _)| *does == Does::WaitsForMessages).count();
    let mut stalls = Vec::new();
    for start in (1..all.len()).filter(|at| is_wait(at - 1) && !is_wait(*at)) {
        let next = (start..all.len()).find(|at| is_wait(*at));
        let end = next.unwrap_or(all.len());
        let is_known = all[start..end].iter().all(|does| *does != Does::Lost);
        let counts = next.is_some() || (waits >= 2 && !has_ended);
        if is_known && counts && (end - start) as i64 >= LEAST {
            let span = Span::new(start as i64, end as i64);
            stalls.push(Stall { thread, span, open: next.is_none() });
        }
    }
    stalls
}

proptest! {
    #[test]
    fn a_delay_lies_between_two_waits_for_messages(
        lives in prop::collection::vec((prop::collection::vec((does(), 1..9_i64), 0..30), any::<bool>()), 1..3),
    ) {
        let mut pumps = Pumps::new(LEAST);
        let mut expected = Vec::new();
        // They share the end of the recording.
        let end = lives.iter().map(|(life, _)| life.iter().map(|(_, length)| length).sum()).max().unwrap_or(0_i64);
        let mut ended = Vec::new();
        for (number, (life, has_ended)) in lives.into_iter().enumerate() {
            let thread = ThreadId(number as i32);
            let length: i64 = life.iter().map(|(_, length)| length).sum();
            let mut life = life;
            life.push((Does::Runs, end - length));
            // Two waits in a row are one: the thread runs between two of them, if only for no time that is seen.
            life.dedup_by(|next, before| {
                let is_one = next.0 == Does::WaitsForMessages && before.0 == next.0;
                if is_one {
                    before.1 += next.1;
                }
                is_one
            });
            expected.extend(naive(&life, thread, has_ended));
            if has_ended {
                ended.push(thread);
            }
            let mut at = 0;
            for (does, length) in &life {
                let span = Span::new(at, at + length);
                at += length;
                let pieces = match does {
                    Does::Runs => continue,
                    Does::WaitsForMessages | Does::WaitsElse => Pieces { wait: Some(span), ..Pieces::default() },
                    Does::IsReady => Pieces { ready: Some(span), ..Pieces::default() },
                    Does::Lost => Pieces { unknown: Some(span), ..Pieces::default() },
                };
                // The stack of a thread that was pushed off its CPU may be anything.
                let waits = matches!(does, Does::WaitsForMessages | Does::IsReady);
                pumps.see(thread, &pieces, waits);
            }
        }
        expected.sort_unstable_by_key(Stall::order);
        prop_assert_eq!(pumps.finish(end, |thread| ended.contains(&thread)), expected);
    }
}

#[test]
fn a_thread_that_ends_is_not_delayed() {
    let mut pumps = Pumps::new(LEAST);
    let thread = ThreadId(1);
    let wait = |start: i64, end: i64| Pieces { wait: Some(Span::new(start, end)), ..Pieces::default() };
    pumps.see(thread, &wait(0, 10), true);
    pumps.see(thread, &wait(12, 20), true);
    // Its last row: it ends where it leaves its CPU.
    pumps.see(thread, &Pieces { still_open: true, ..Pieces::default() }, false);
    assert_eq!(pumps.finish(100, |_| true), []);
}
