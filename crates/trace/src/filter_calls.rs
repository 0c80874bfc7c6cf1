//! Pairs the begin of a filter's call with its end, by the routine, the operation, and whether it is before or after it.

use crate::pairs::{Outcome, Pairs};
use crate::rows::FilterCallRow;

/// Calls without an end that are followed at most. Of more the oldest ones are given up.
const MOST: usize = 4 << 20;

/// What only one call has at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallKey {
    /// Address of the routine.
    pub routine: u64,
    /// Address of the filter manager's description of the operation.
    pub operation: u64,
    /// Whether the filter is called after the operation.
    pub is_after: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// The filter is done; when it was called, ns.
    Completed(i64),
    /// The filter failed the operation with this NTSTATUS.
    Failed(u32),
}

/// Calls on their way.
#[derive(Debug)]
pub struct FilterCalls {
    open: Pairs<CallKey, Life, ()>,
}

#[derive(Clone, Copy, Debug)]
enum Life {
    Begun(FilterCallRow),
    /// The call failed at this time and has a row. Its completion may follow.
    Failed(i64),
}

impl Default for FilterCalls {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

impl FilterCalls {
    fn with_most(most: usize) -> Self {
        Self { open: Pairs::new(most) }
    }

    /// A call begins; `row` has `time` = `start`. Gives the rows that are now known to have no end in the recording: what had
    /// the key before, and the oldest call where too many are open. They are open until now.
    pub fn begin(&mut self, key: CallKey, row: FilterCallRow) -> impl Iterator<Item = FilterCallRow> + use<> {
        self.open.begin(key, row.start, Life::Begun(row)).filter_map(|outcome| match outcome {
            Outcome::Unended(Life::Begun(begun), now) => Some(open_until(begun, now)),
            Outcome::Unended(Life::Failed(_), _) | Outcome::Whole(..) | Outcome::Orphan(()) => None,
        })
    }

    /// A call ends; `row` says so with `start` = `time`. What the begin says of thread, stack and file counts more than what the
    /// end says: a call that pends ends in another thread. `None`: the call has a row already, that of its failure.
    pub fn end(&mut self, key: CallKey, row: FilterCallRow, end: CallEnd) -> Option<FilterCallRow> {
        let life = match self.open.end(key, ()) {
            Some(Outcome::Whole(life, ())) => Some(life),
            _ => None,
        };
        let begun = match (life, end) {
            (Some(Life::Failed(failed)), CallEnd::Completed(start)) if start <= failed => return None,
            (Some(Life::Begun(begun)), _) => Some(begun),
            _ => None,
        };
        let (start, status) = match end {
            CallEnd::Completed(start) => (start, None),
            CallEnd::Failed(status) => (begun.map_or(row.time, |begun| begun.start), Some(i64::from(status))),
        };
        if matches!(end, CallEnd::Failed(_)) {
            // A begin that has to make room loses its row only if its end is not in the recording either.
            self.open.begin(key, row.time, Life::Failed(row.time)).for_each(drop);
        }
        let row = FilterCallRow { start: start.min(row.time), status, ..row };
        let Some(begun) = begun else { return Some(row) };
        Some(FilterCallRow {
            process: begun.process.or(row.process),
            thread: begun.thread.or(row.thread),
            stack: begun.stack.or(row.stack),
            file: begun.file.or(row.file),
            ..row
        })
    }

    /// The end of the recording: calls that have not ended, in the order in which they began.
    pub fn finish(&mut self, end: i64) -> impl Iterator<Item = FilterCallRow> + use<> {
        self.open.drain().filter_map(move |life| match life {
            Life::Begun(row) => Some(open_until(row, end)),
            Life::Failed(_) => None,
        })
    }
}

fn open_until(row: FilterCallRow, until: i64) -> FilterCallRow {
    FilterCallRow { time: until.max(row.start), open: Some(true), ..row }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::ThreadId;

    #[derive(Clone, Copy, Debug)]
    enum Logged {
        Begin,
        Completed { took: i64 },
        Failed,
    }

    /// Start, end, thread, status, and whether it is open.
    type Plain = (i64, i64, usize, Option<i64>, bool);

    fn key(number: u64) -> CallKey {
        CallKey { routine: number % 2, operation: number / 4, is_after: number / 2 % 2 == 1 }
    }

    /// The row of an event: the thread is the number of the event.
    fn row(place: usize) -> FilterCallRow {
        let time = place as i64 * 10;
        FilterCallRow { time, start: time, thread: Some(ThreadId::from_index(place)), ..FilterCallRow::default() }
    }

    fn plain(row: &FilterCallRow) -> Plain {
        (row.start, row.time, row.thread.expect("a thread").index(), row.status, row.open == Some(true))
    }

    /// Looks for what each event belongs to among all that came before, one by one.
    fn naive(events: &[(u64, Logged)]) -> Vec<Plain> {
        let mut rows = Vec::new();
        let at = |place: usize| place as i64 * 10;
        for (place, (key, event)) in events.iter().enumerate() {
            let before = events[..place].iter().rposition(|(other, _)| other == key);
            let begin = before.filter(|before| matches!(events[*before].1, Logged::Begin));
            let by = begin.unwrap_or(place);
            match *event {
                Logged::Begin => rows.extend(begin.map(|begin| (at(begin), at(place), begin, None, true))),
                Logged::Failed => rows.push((at(by), at(place), by, Some(0xC000_0022), false)),
                Logged::Completed { took } => {
                    let failed = before.filter(|before| matches!(events[*before].1, Logged::Failed));
                    if failed.is_none_or(|failed| at(failed) < at(place) - took) {
                        rows.push((at(place) - took.max(0), at(place), by, None, false));
                    }
                }
            }
        }
        for (place, (key, event)) in events.iter().enumerate() {
            let is_last = events[place + 1..].iter().all(|(other, _)| other != key);
            if matches!(event, Logged::Begin) && is_last {
                rows.push((at(place), at(events.len()), place, None, true));
            }
        }
        rows
    }

    fn found(events: &[(u64, Logged)]) -> Vec<Plain> {
        let mut calls = FilterCalls::default();
        let mut rows = Vec::new();
        for (place, (number, event)) in events.iter().enumerate() {
            let row = row(place);
            match *event {
                Logged::Begin => rows.extend(calls.begin(key(*number), row)),
                Logged::Completed { took } => {
                    rows.extend(calls.end(key(*number), row, CallEnd::Completed(row.time - took)));
                }
                Logged::Failed => rows.extend(calls.end(key(*number), row, CallEnd::Failed(0xC000_0022))),
            }
        }
        rows.extend(calls.finish(events.len() as i64 * 10));
        rows.iter().map(plain).collect()
    }

    fn logged() -> impl Strategy<Value = Logged> {
        prop_oneof![Just(Logged::Begin), (-5..40_i64).prop_map(|took| Logged::Completed { took }), Just(Logged::Failed)]
    }

    proptest! {
        #[test]
        fn each_end_has_the_begin_before_it(events in prop::collection::vec((0..6_u64, logged()), 0..60)) {
            prop_assert_eq!(found(&events), naive(&events));
        }
    }

    #[test]
    fn a_call_that_fails_and_completes_is_one() {
        let failed = [(0, Logged::Begin), (0, Logged::Failed), (0, Logged::Completed { took: 20 })];
        assert_eq!(found(&failed), [(0, 10, 0, Some(0xC000_0022), false)]);
        // The second completion is of a call that began after the failure.
        let next = [(0, Logged::Failed), (0, Logged::Completed { took: 5 })];
        assert_eq!(found(&next), [(0, 0, 0, Some(0xC000_0022), false), (5, 10, 1, None, false)]);
    }

    #[test]
    fn the_oldest_are_given_up_where_ends_are_missing() {
        let mut calls = FilterCalls::with_most(10);
        let mut given_up = 0;
        for number in 0..1_000 {
            given_up += calls.begin(key(number * 4), row(number as usize)).count();
        }
        assert_eq!((given_up, calls.finish(100_000).count()), (990, 10));
    }
}
