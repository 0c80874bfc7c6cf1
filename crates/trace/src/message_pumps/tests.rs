use proptest::prelude::*;

use super::*;

const MS: i64 = 1_000_000;
const THREAD: ThreadId = ThreadId(3);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    FetchBegins,
    FetchEnds,
    Begins(u32),
    Ends,
}

fn fed(events: &[(i64, Event)]) -> (Vec<Stall>, MessagePumps) {
    let mut pumps = MessagePumps::default();
    let mut stalls = Vec::new();
    for (time, event) in events {
        match event {
            Event::FetchBegins => stalls.extend(pumps.fetch_begins(THREAD, *time).into_iter().flatten()),
            Event::FetchEnds => pumps.fetch_ends(THREAD, *time),
            Event::Begins(message) => stalls.extend(pumps.dispatch_begins(THREAD, *time, *message)),
            Event::Ends => stalls.extend(pumps.dispatch_ends(THREAD, *time)),
        }
    }
    (stalls, pumps)
}

/// Times without a fetch: each begin of a fetch whose event of a fetch before is an end.
fn fetches(events: &[(i64, Event)]) -> Vec<Stall> {
    let mut stalls = Vec::new();
    for (place, (time, _)) in events.iter().enumerate().filter(|(_, (_, event))| *event == Event::FetchBegins) {
        let is_fetch = |(_, event): &(i64, Event)| matches!(event, Event::FetchBegins | Event::FetchEnds);
        let Some(before) = events[..place].iter().rposition(is_fetch) else { continue };
        let (start, event) = events[before];
        if event == Event::FetchEnds && time - start >= LEAST {
            let first = events[before..place].iter().find_map(|(_, event)| match event {
                Event::Begins(message) => Some(*message),
                _ => None,
            });
            stalls.push(Stall { start, end: *time, kind: kinds::NO_FETCH, message: first });
        }
    }
    stalls
}

/// The message, by the place of its begin, to which the time behind the first `count` events belongs: of the messages that began since the
/// thread last went on with an outer one, the outermost one; else the innermost that is open.
fn charged(events: &[(i64, Event)], count: usize) -> Option<usize> {
    let mut open: Vec<usize> = Vec::new();
    let (mut floor, mut is_fetching) = (0, false);
    for (place, (_, event)) in events[..count].iter().enumerate() {
        match event {
            Event::FetchBegins => is_fetching = true,
            Event::FetchEnds => (is_fetching, floor) = (false, open.len()),
            Event::Begins(_) => {
                if is_fetching {
                    (is_fetching, floor) = (false, open.len());
                }
                open.push(place);
            }
            Event::Ends => {
                open.pop();
                floor = floor.min(open.len());
            }
        }
    }
    if is_fetching {
        return None;
    }
    open.get(floor).or(open.last()).copied()
}

fn dispatches(events: &[(i64, Event)]) -> Vec<Stall> {
    let mut stalls: Vec<(usize, i64, i64)> = Vec::new();
    for (count, pair) in events.windows(2).enumerate() {
        let [(start, event), (end, _)] = pair else { continue };
        let Some(message) = charged(events, count + 1) else { continue };
        match stalls.last_mut() {
            Some((before, _, until)) if *before == message && *until == *start && *event != Event::FetchEnds => {
                *until = *end;
            }
            _ => stalls.push((message, *start, *end)),
        }
    }
    let message = |place: usize| if let Event::Begins(message) = events[place].1 { Some(message) } else { None };
    let stall = |(place, start, end)| Stall { start, end, kind: kinds::DISPATCH, message: message(place) };
    stalls.into_iter().map(stall).filter(|stall| stall.end - stall.start >= LEAST).collect()
}

/// A thread as threads are: it fetches, dispatches what it fetched, and may do both again inside of that.
fn events(steps: &[(u8, i64)]) -> Vec<(i64, Event)> {
    let (mut now, mut depth, mut is_fetching) = (0, 0_usize, false);
    let mut events = Vec::new();
    for (number, (choice, length)) in steps.iter().enumerate() {
        now += length * 50 * MS + 1;
        let event = match (choice, is_fetching) {
            (_, true) => Event::FetchEnds,
            (0..4, _) => Event::FetchBegins,
            (4..7, _) if depth < 5 => Event::Begins(number as u32),
            _ if depth > 0 => Event::Ends,
            _ => Event::FetchBegins,
        };
        match event {
            Event::FetchBegins => is_fetching = true,
            Event::FetchEnds => is_fetching = false,
            Event::Begins(_) => depth += 1,
            Event::Ends => depth -= 1,
        }
        events.push((now, event));
    }
    // All is done at the end.
    let rest = is_fetching.then_some(Event::FetchEnds).into_iter();
    for event in rest.chain(vec![Event::Ends; depth]).chain([Event::FetchBegins]) {
        now += 250 * MS;
        events.push((now, event));
    }
    events
}

proptest! {
    #[test]
    fn stalls_are_those_of_a_plain_reading(steps in prop::collection::vec((0..10_u8, 0..9_i64), 0..60)) {
        let events = events(&steps);
        let (found, _) = fed(&events);
        let of_kind = |kind: i8| found.iter().filter(|stall| stall.kind == kind).copied().collect::<Vec<_>>();
        prop_assert_eq!(of_kind(kinds::NO_FETCH), fetches(&events));
        prop_assert_eq!(of_kind(kinds::DISPATCH), dispatches(&events));
    }
}

#[test]
fn a_dialog_that_fetches_itself_is_no_delay() {
    let at = |ms: i64, event| (ms * MS, event);
    let (stalls, pumps) = fed(&[
        at(0, Event::FetchBegins),
        at(10, Event::FetchEnds),
        at(10, Event::Begins(1)),
        at(20, Event::FetchBegins),
        at(5_000, Event::FetchEnds),
        at(5_001, Event::Begins(2)),
        at(5_301, Event::Ends),
        at(5_302, Event::FetchBegins),
        at(9_000, Event::FetchEnds),
        at(9_300, Event::Ends),
        at(9_301, Event::FetchBegins),
        at(9_400, Event::FetchEnds),
    ]);
    let plain: Vec<_> =
        stalls.iter().map(|stall| (stall.kind, stall.message, stall.start / MS, stall.end / MS)).collect();
    assert_eq!(
        plain,
        [
            (kinds::DISPATCH, Some(2), 5_001, 5_301),
            (kinds::NO_FETCH, Some(2), 5_000, 5_302),
            (kinds::DISPATCH, Some(1), 9_000, 9_300),
            (kinds::NO_FETCH, None, 9_000, 9_301),
        ]
    );
    let open: Vec<_> = pumps.finish(9_700 * MS).collect();
    let stall = Stall { start: 9_400 * MS, end: 9_700 * MS, kind: kinds::NO_FETCH, message: None };
    assert_eq!(open, [(THREAD, stall)]);
}

#[test]
fn threads_and_messages_are_bounded() {
    let mut pumps = MessagePumps::with_most(4);
    for number in 0..100 {
        pumps.fetch_ends(ThreadId(number), 0);
    }
    assert_eq!(pumps.finish(1_000 * MS).count(), 4);
    let mut pumps = MessagePumps::default();
    for number in 0..1_000 {
        pumps.dispatch_begins(THREAD, i64::from(number), number);
    }
    assert!(pumps.pump(THREAD).open.len() <= DEEPEST);
    pumps.lost();
    assert_eq!(pumps.dispatch_ends(THREAD, 1_000 * MS), None);
}
