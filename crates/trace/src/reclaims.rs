//! Pairs begin and end of reclaim, compaction and swaps of memory, by kind, and by the thread or process that has it.

use std::hash::Hash;

use crate::pairs::{Outcome, Pairs};
use crate::rows::{ReclaimRow, reclaim_kinds};

/// Reclaims without an end that are followed at most. Of more the oldest ones are given up.
const MOST: usize = 4 << 20;

/// Reclaims on their way, of threads or of processes. Fed in the order of time.
#[derive(Debug)]
pub struct Reclaims<K> {
    /// Each has a thing of each kind once at a time; things of several kinds may be inside of each other.
    open: Pairs<(K, i8), ReclaimRow, ()>,
}

impl<K: Copy + Eq + Hash> Default for Reclaims<K> {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

impl<K: Copy + Eq + Hash> Reclaims<K> {
    /// None yet. Of more than `most` the oldest ones are given up.
    #[must_use]
    pub fn with_most(most: usize) -> Self {
        Self { open: Pairs::new(most) }
    }

    /// One begins; `row` has the time of the begin as `start`. Gives the begins whose ends are now known to be missing: what
    /// `of` had begun before, and the oldest one where too many are open. `kswapd` tells again that it is awake after a nap, and
    /// goes on.
    pub fn begin(&mut self, of: K, row: ReclaimRow) -> impl Iterator<Item = ReclaimRow> + use<K> {
        let key = (of, row.kind);
        let awake = self.open.pending(&key).filter(|_| row.kind == reclaim_kinds::KSWAPD);
        let is_awake = awake.map(|awake| awake.order = awake.order.max(row.order)).is_some();
        let ended = (!is_awake).then(|| self.open.begin(key, row.start, row));
        ended.into_iter().flatten().filter_map(|outcome| match outcome {
            Outcome::Unended(row, _) => Some(row),
            Outcome::Whole(..) | Outcome::Orphan(()) => None,
        })
    }

    /// One ends, on a CPU, and has freed so many bytes. `None`: its begin is not known.
    pub fn end(&mut self, of: K, kind: i8, (time, cpu): (i64, i16), reclaimed: Option<i64>) -> Option<ReclaimRow> {
        let Some(Outcome::Whole(begun, ())) = self.open.end((of, kind), ()) else { return None };
        Some(ReclaimRow { time: time.max(begun.start), cpu, reclaimed, ..begun })
    }

    /// The end of the recording: what lasts, in the order in which it began.
    pub fn finish(mut self, end: i64) -> impl Iterator<Item = ReclaimRow> + use<K> {
        self.open.drain().map(move |row| ReclaimRow { time: end.max(row.start), open: Some(true), ..row })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::ThreadId;

    const KINDS: [i8; 4] =
        [reclaim_kinds::DIRECT, reclaim_kinds::CGROUP, reclaim_kinds::KSWAPD, reclaim_kinds::COMPACTION];

    /// Thread, kind, and whether it begins; else it ends. The number of the event is its time, and its order or its bytes.
    type Event = (usize, i8, bool);

    /// Start, time, thread, kind, order, bytes.
    type Plain = (i64, i64, usize, i8, Option<i16>, Option<i64>);

    fn event() -> impl Strategy<Value = Event> {
        (0..3_usize, prop::sample::select(&KINDS[..]), any::<bool>())
    }

    /// Orders that do not only grow.
    fn order(place: usize) -> i16 {
        (place * 7 % 11) as i16
    }

    fn row(place: usize, (thread, kind, _): Event) -> ReclaimRow {
        let time = place as i64;
        let thread = Some(ThreadId::from_index(thread));
        ReclaimRow { time, start: time, thread, kind, order: Some(order(place)), ..ReclaimRow::default() }
    }

    fn plain(row: ReclaimRow) -> Plain {
        (row.start, row.time, row.thread.expect("a thread").index(), row.kind, row.order, row.reclaimed)
    }

    /// Rows, begins without an end, ends without a begin.
    type Found = (Vec<Plain>, usize, usize);

    fn found(events: &[Event]) -> Found {
        let mut reclaims = Reclaims::default();
        let (mut rows, mut unended, mut unbegun) = (Vec::new(), 0, 0);
        for (place, event) in events.iter().enumerate() {
            let (number, kind, begins) = *event;
            let thread = ThreadId::from_index(number);
            if begins {
                unended += reclaims.begin(thread, row(place, *event)).count();
            } else {
                match reclaims.end(thread, kind, (place as i64, 1), Some(place as i64)) {
                    Some(row) => rows.push(plain(row)),
                    None => unbegun += 1,
                }
            }
        }
        rows.extend(reclaims.finish(events.len() as i64).map(|row| {
            assert_eq!(row.open, Some(true));
            plain(row)
        }));
        (rows, unended, unbegun)
    }

    /// Looks at all events of the same thread and kind once more for each event.
    fn naive(events: &[Event]) -> Found {
        let (mut rows, mut unended, mut unbegun) = (Vec::new(), 0, 0);
        let like = |at: usize, place: usize| (events[at].0, events[at].1) == (events[place].0, events[place].1);
        // Where the reclaim of this thread and kind began that is open before an event, and its order.
        let open_before = |place: usize, like: &dyn Fn(usize) -> bool, kind: i8| {
            let last_end = (0..place).rev().find(|at| like(*at) && !events[*at].2);
            let begins: Vec<usize> =
                (last_end.map_or(0, |at| at + 1)..place).filter(|at| like(*at) && events[*at].2).collect();
            if kind == reclaim_kinds::KSWAPD {
                begins.iter().map(|at| order(*at)).max().map(|order| (begins[0], order))
            } else {
                begins.last().map(|at| (*at, order(*at)))
            }
        };
        for (place, (thread, kind, begins)) in events.iter().copied().enumerate() {
            let open = open_before(place, &|at| like(at, place), kind);
            match (begins, open) {
                (true, open) => unended += usize::from(open.is_some() && kind != reclaim_kinds::KSWAPD),
                (false, None) => unbegun += 1,
                (false, Some((start, order))) => {
                    rows.push((start as i64, place as i64, thread, kind, Some(order), Some(place as i64)));
                }
            }
        }
        let end = events.len();
        let mut lasting = Vec::new();
        for thread in 0..3 {
            for kind in KINDS {
                let is_like = |at: usize| (events[at].0, events[at].1) == (thread, kind);
                if let Some((start, order)) = open_before(end, &is_like, kind) {
                    lasting.push((start as i64, end as i64, thread, kind, Some(order), None));
                }
            }
        }
        lasting.sort_unstable();
        rows.extend(lasting);
        (rows, unended, unbegun)
    }

    proptest! {
        #[test]
        fn each_end_has_the_begin_of_its_thread(events in prop::collection::vec(event(), 0..60)) {
            prop_assert_eq!(found(&events), naive(&events));
        }
    }

    #[test]
    fn the_oldest_are_given_up_where_ends_are_missing() {
        let mut reclaims = Reclaims::with_most(10);
        let mut given_up = 0;
        for number in 0..1_000 {
            given_up += reclaims
                .begin(ThreadId::from_index(number), row(number, (number, reclaim_kinds::DIRECT, true)))
                .count();
        }
        assert_eq!((given_up, reclaims.finish(100_000).count()), (990, 10));
    }
}
