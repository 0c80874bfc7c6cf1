//! Pairs begin and end of waits for locks, by thread and lock.

use crate::ids::ThreadId;
use crate::pairs::{Outcome, Pairs};
use crate::rows::LockWaitRow;

/// Waits without an end that are followed at most. Of more the oldest ones are given up.
const MOST: usize = 4 << 20;

/// What a wait is known by: the thread, and the lock, or 0 where its events do not tell the lock.
pub type WaitKey = (ThreadId, i8, i64);

/// Waits on their way. Fed in the order of time.
#[derive(Debug)]
pub struct LockWaits {
    open: Pairs<WaitKey, LockWaitRow, ()>,
}

impl Default for LockWaits {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

impl LockWaits {
    /// None yet. Of more than `most` the oldest ones are given up.
    #[must_use]
    pub fn with_most(most: usize) -> Self {
        Self { open: Pairs::new(most) }
    }

    /// A thread begins to wait; `row` has the time of the begin as `start`. Where it waits already, it goes on: a lock of Linux tells
    /// of the wait once when the thread spins and once when it sleeps. Gives the number of waits that are given up.
    pub fn begin(&mut self, key: WaitKey, row: LockWaitRow) -> i64 {
        match self.open.pending(&key) {
            Some(_) => 0,
            None => self.open.begin(key, row.start, row).count() as i64,
        }
    }

    /// A thread waits no longer, at a time on a CPU. `None`: its begin is not known.
    pub fn end(&mut self, key: WaitKey, (time, cpu): (i64, i16)) -> Option<LockWaitRow> {
        match self.open.end(key, ()) {
            Some(Outcome::Whole(row, ())) => Some(LockWaitRow { time: time.max(row.start), cpu, ..row }),
            _ => None,
        }
    }

    /// Events were lost: what is open may have ended. Gives its number.
    pub fn lost(&mut self) -> i64 {
        self.open.drain().count() as i64
    }

    /// The end of the recording: waits that last, in the order in which they began.
    pub fn finish(mut self, end: i64) -> impl Iterator<Item = LockWaitRow> + use<> {
        self.open.drain().map(move |row| LockWaitRow { time: end.max(row.start), open: Some(true), ..row })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Thread, lock, and whether it begins. The number of the event is its time.
    type Event = (i32, i64, bool);

    /// Begin, end, thread, lock.
    type Plain = (i64, i64, i32, i64);

    /// Looks for the begin of each end among all events before it: the first one of the key since its last end.
    fn naive(events: &[Event]) -> (Vec<Plain>, Vec<i64>) {
        let begin_before = |place: usize, key: (i32, i64)| {
            let of_key = |at: &usize| (events[*at].0, events[*at].1) == key;
            let last_end = (0..place).rev().find(|at| of_key(at) && !events[*at].2);
            (last_end.map_or(0, |at| at + 1)..place).find(|at| of_key(at) && events[*at].2)
        };
        let mut rows = Vec::new();
        for (place, (thread, lock, begins)) in events.iter().enumerate() {
            if let Some(start) = begin_before(place, (*thread, *lock)).filter(|_| !begins) {
                rows.push((start as i64, place as i64, *thread, *lock));
            }
        }
        let mut open = Vec::new();
        for thread in 0..3 {
            open.extend((0..3).filter_map(|lock| begin_before(events.len(), (thread, lock))).map(|at| at as i64));
        }
        open.sort_unstable();
        (rows, open)
    }

    proptest! {
        #[test]
        fn each_end_has_the_begin_of_its_thread_and_lock(
            events in prop::collection::vec((0..3_i32, 0..3_i64, any::<bool>()), 0..80),
        ) {
            let mut waits = LockWaits::default();
            let mut rows = Vec::new();
            for (place, (thread, lock, begins)) in events.iter().enumerate() {
                let (time, key) = (place as i64, (ThreadId(*thread), 2, *lock));
                if *begins {
                    let row = LockWaitRow { start: time, lock: Some(*lock), ..LockWaitRow::default() };
                    prop_assert_eq!(waits.begin(key, row), 0);
                } else if let Some(row) = waits.end(key, (time, 1)) {
                    rows.push((row.start, row.time, *thread, row.lock.expect("a lock")));
                }
            }
            let open: Vec<i64> = waits.finish(1_000).map(|row| row.start).collect();
            prop_assert_eq!((rows, open), naive(&events));
        }
    }

    #[test]
    fn the_oldest_are_given_up() {
        let mut waits = LockWaits::with_most(10);
        let given_up: i64 = (0..100).map(|at| waits.begin((ThreadId(at), 0, 0), LockWaitRow::default())).sum();
        assert_eq!((given_up, waits.lost(), waits.lost()), (90, 10, 0));
    }
}
