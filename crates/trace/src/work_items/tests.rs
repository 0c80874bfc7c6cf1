use proptest::prelude::*;

use super::*;

/// What happens, of which task or work, on which thread. The number of the event is its time.
#[derive(Clone, Copy, Debug)]
struct Event {
    what: What,
    source: i8,
    runtime: i32,
    id: i64,
    process: i32,
    thread: i32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Queued,
    Taken,
    Completed,
    Lost,
}

fn event() -> impl Strategy<Value = Event> {
    let what = prop_oneof![
        8 => Just(What::Queued),
        8 => Just(What::Taken),
        5 => Just(What::Completed),
        1 => Just(What::Lost),
    ];
    (what, 0..3_i8, 0..2_i32, 0..3_i64, 0..2_i32, 0..2_i32)
        .prop_map(|(what, source, runtime, id, process, thread)| Event { what, source, runtime, id, process, thread })
}

/// Begin, begin of the run, end of the run, source, id, thread, worker.
type Plain = (i64, Option<i64>, Option<i64>, i8, i64, i32, Option<i32>);

fn plain(row: &WorkItemRow) -> Plain {
    let number = |thread: ThreadId| thread.0;
    (row.start, row.started, row.ended, row.source, row.id, row.thread.map_or(-1, number), row.worker.map(number))
}

fn is_same(event: &Event, other: &Event) -> bool {
    let of = |event: &Event| (event.source, event.runtime, event.id, event.process);
    of(event) == of(other)
}

/// The events between the last loss before a place, and the place.
fn since_loss(events: &[Event], place: usize) -> std::ops::Range<usize> {
    let loss = (0..place).rev().find(|at| events[*at].what == What::Lost);
    loss.map_or(0, |at| at + 1)..place
}

/// Of each event that takes work the event that queued it: the n-th that takes has the n-th that was queued, as long as there are so many.
/// Looked for anew for each event.
fn queued_of(events: &[Event], place: usize) -> Option<usize> {
    let mut waiting = Vec::new();
    for at in since_loss(events, place).chain([place]) {
        let event = &events[at];
        if !is_same(event, &events[place]) {
            continue;
        }
        let first = match event.what {
            What::Queued => {
                waiting.push(at);
                continue;
            }
            What::Taken if !waiting.is_empty() => Some(waiting.remove(0)),
            _ => None,
        };
        if at == place {
            return first;
        }
    }
    None
}

/// When the task that an event begins is completed by its thread: by the next completion, unless the thread begins the same task before.
fn completion_of(events: &[Event], place: usize) -> Option<usize> {
    let begun = &events[place];
    let later = (place + 1..events.len()).take_while(|at| events[*at].what != What::Lost);
    let mut of_thread = later.filter(|at| is_same(&events[*at], begun) && events[*at].thread == begun.thread);
    let next = of_thread.find(|at| {
        let what = events[*at].what;
        what == What::Completed || (what == What::Taken && queued_of(events, *at).is_some())
    })?;
    (events[next].what == What::Completed).then_some(next)
}

/// The rows, those of open work last, the number of events that take unknown work, and of work that waited when events were lost.
fn naive(events: &[Event]) -> (Vec<Plain>, i64, i64) {
    let mut rows = Vec::new();
    let mut taken = Vec::new();
    let mut unknown = 0;
    for place in (0..events.len()).filter(|at| events[*at].what == What::Taken) {
        let event = &events[place];
        let Some(queued) = queued_of(events, place) else {
            unknown += 1;
            continue;
        };
        taken.push(queued);
        let ended = completion_of(events, place).filter(|_| event.source == work_item_sources::TASK);
        let ended = ended.map(|at| at as i64);
        let (begin, thread) = (queued as i64, events[queued].thread);
        rows.push((begin, Some(place as i64), ended, event.source, event.id, thread, Some(event.thread)));
    }
    let last_loss = since_loss(events, events.len()).start;
    let mut given_up = 0;
    for place in (0..events.len()).filter(|at| events[*at].what == What::Queued && !taken.contains(at)) {
        if place < last_loss {
            given_up += 1;
        } else {
            rows.push((place as i64, None, None, events[place].source, events[place].id, events[place].thread, None));
        }
    }
    rows.sort_unstable();
    (rows, unknown, given_up)
}

proptest! {
    #[test]
    fn work_is_taken_in_the_order_in_which_it_was_queued(events in prop::collection::vec(event(), 0..80)) {
        let mut items = WorkItems::default();
        let (mut rows, mut unknown, mut given_up) = (Vec::new(), 0, 0);
        for (place, event) in events.iter().enumerate() {
            let (process, thread) = (Some(ProcessId(event.process)), Some(ThreadId(event.thread)));
            let at = At { time: place as i64, cpu: 1, process, thread };
            let work = Work { source: event.source, runtime: Some(event.runtime), id: event.id };
            match event.what {
                What::Queued => prop_assert!(!items.queued(work, at, WorkItemRow::default())),
                What::Taken => unknown += i64::from(!items.taken(work, at, |row| rows.push(row))),
                What::Completed => rows.extend(items.completed(work, at)),
                What::Lost => given_up += items.lost(at.time, |row| rows.push(row)),
            }
        }
        items.finish(1_000, |row| rows.push(row));
        for row in &rows {
            prop_assert_eq!(row.open == Some(true), row.started.is_none());
            prop_assert!(row.started.is_none_or(|started| row.start <= started && started <= row.time));
            prop_assert!(row.ended.is_none_or(|ended| ended == row.time));
        }
        prop_assert!(rows.is_sorted_by_key(|row| row.time));
        let mut rows: Vec<Plain> = rows.iter().map(plain).collect();
        rows.sort_unstable();
        prop_assert_eq!((rows, unknown, given_up), naive(&events));
    }
}

#[test]
fn the_oldest_work_makes_room() {
    let mut items = WorkItems::with_most(10, 4);
    let at = |time: i64| At { time, cpu: 0, process: None, thread: None };
    let work = |source: i8, id: i64| Work { source, runtime: None, id };
    let mut dropped = 0;
    for time in 0..100 {
        dropped += i64::from(items.queued(work(0, time % 2), at(time), WorkItemRow::default()));
    }
    assert_eq!(dropped, 92);
    let mut rows = Vec::new();
    assert!(items.taken(work(0, 1), at(100), |row| rows.push(row)));
    assert_eq!((rows[0].start, rows[0].started), (93, Some(100)), "the fourth from the end with an odd id");
    for time in 101..200 {
        items.queued(work(1, time), at(time), WorkItemRow::default());
        items.taken(work(1, time), at(time), |row| rows.push(row));
    }
    assert_eq!(rows.len(), 90, "all but the ten tasks that run");
}
