//! Begins and ends that share a key, of which one is open at a time: a request, a call, a stay.
//!
//! A recording can be cut into slices of time, each of which is followed by itself. A slice that is not the first one does not know what
//! was open before it. It keeps the first event of each key as a head, and [`Pairs::join`] gives the heads to the slice before. The join
//! is associative, and the outcomes of slices and joins together are those of the whole, as long as no slice has more open than it
//! follows.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::open_lives::OpenLives;

/// What became of a begin or an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome<B, E> {
    /// Both were there.
    Whole(B, E),
    /// At this time the key was used again, or the begin had to make room: its end is not known.
    Unended(B, i64),
    /// The begin is not in the recording.
    Orphan(E),
}

/// The first event of a key in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head<E> {
    /// A begin at this time.
    Begin(i64),
    End(E),
}

/// Begins without an end, by key.
#[derive(Debug)]
pub(crate) struct Pairs<K, B, E> {
    open: OpenLives<K, B>,
    /// The heads; `None` in the first slice, before which nothing was open.
    heads: Option<FxHashMap<K, Head<E>>>,
}

impl<K: Copy + Eq + Hash, B, E> Pairs<K, B, E> {
    /// Of a recording, or of its first slice. Of more than `most` open begins the oldest ones make room.
    pub(crate) fn new(most: usize) -> Self {
        Self { open: OpenLives::new(most), heads: None }
    }

    /// Of a slice behind another one.
    #[cfg(test)]
    fn slice(most: usize) -> Self {
        Self { heads: Some(FxHashMap::default()), ..Self::new(most) }
    }

    /// The begin that has the key.
    pub(crate) fn pending(&mut self, key: &K) -> Option<&mut B> {
        self.open.get_mut(key)
    }

    /// Something begins. Gives what it ends: what had the key, and what has to make room.
    pub(crate) fn begin(&mut self, key: K, time: i64, begin: B) -> impl Iterator<Item = Outcome<B, E>> + use<K, B, E> {
        let before = self.open.remove(&key);
        if before.is_none() {
            self.keep_head(key, Head::Begin(time));
        }
        let oldest = self.open.insert(key, None, begin);
        [before, oldest].into_iter().flatten().map(move |begin| Outcome::Unended(begin, time))
    }

    /// Something ends. `None`: the slice before this one may have its begin.
    pub(crate) fn end(&mut self, key: K, end: E) -> Option<Outcome<B, E>> {
        match self.open.remove(&key) {
            Some(begin) => Some(Outcome::Whole(begin, end)),
            None => match self.keep_head(key, Head::End(end))? {
                Head::End(end) => Some(Outcome::Orphan(end)),
                Head::Begin(_) => None,
            },
        }
    }

    /// Takes all that is open, the oldest first.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = B> + use<K, B, E> {
        let open: Vec<B> = std::iter::from_fn(|| self.open.oldest()).collect();
        open.into_iter()
    }

    /// Keeps an event if it is the first one of its key; else gives it back.
    fn keep_head(&mut self, key: K, head: Head<E>) -> Option<Head<E>> {
        match &mut self.heads {
            Some(heads) if !heads.contains_key(&key) => {
                heads.insert(key, head);
                None
            }
            _ => Some(head),
        }
    }

    /// Joins the slice that follows. Gives what became of its heads.
    #[cfg(test)]
    fn join(&mut self, mut later: Self) -> Vec<Outcome<B, E>> {
        let mut outcomes = Vec::new();
        for (key, head) in later.heads.take().into_iter().flatten() {
            match (self.open.remove(&key), head) {
                (Some(begin), Head::End(end)) => outcomes.push(Outcome::Whole(begin, end)),
                (Some(begin), Head::Begin(time)) => outcomes.push(Outcome::Unended(begin, time)),
                (None, head) => {
                    if let Some(Head::End(end)) = self.keep_head(key, head) {
                        outcomes.push(Outcome::Orphan(end));
                    }
                }
            }
        }
        while let Some((key, begin)) = later.open.oldest_with_key() {
            // Below the limit nothing makes room.
            self.open.insert(key, None, begin);
        }
        outcomes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Key, and whether it is an end; begins and ends have the number of their event.
    type Event = (u8, bool);
    type Of = Pairs<u8, usize, usize>;
    type Found = Outcome<usize, usize>;

    const MOST: usize = 1 << 10;

    fn follow(mut pairs: Of, events: &[Event], first: usize) -> (Of, Vec<Found>) {
        let mut outcomes = Vec::new();
        for (place, (key, is_end)) in events.iter().enumerate() {
            let number = first + place;
            match is_end {
                true => outcomes.extend(pairs.end(*key, number)),
                false => outcomes.extend(pairs.begin(*key, number as i64, number)),
            }
        }
        (pairs, outcomes)
    }

    /// Looks for the partner of each event among all that came before, one by one.
    fn naive(events: &[Event]) -> (Vec<Found>, Vec<usize>) {
        let mut outcomes = Vec::new();
        for (place, (key, is_end)) in events.iter().enumerate() {
            let before = events[..place].iter().rposition(|(other, _)| other == key);
            match (before.filter(|at| !events[*at].1), is_end) {
                (Some(begin), true) => outcomes.push(Outcome::Whole(begin, place)),
                (Some(begin), false) => outcomes.push(Outcome::Unended(begin, place as i64)),
                (None, true) => outcomes.push(Outcome::Orphan(place)),
                (None, false) => {}
            }
        }
        let is_last = |place: usize| events[place + 1..].iter().all(|(other, _)| *other != events[place].0);
        let open = (0..events.len()).filter(|place| !events[*place].1 && is_last(*place)).collect();
        (outcomes, open)
    }

    fn sorted(mut outcomes: Vec<Found>) -> Vec<Found> {
        outcomes.sort_unstable();
        outcomes
    }

    fn heads(pairs: &Of) -> Vec<(u8, Head<usize>)> {
        let mut heads: Vec<_> = pairs.heads.iter().flatten().map(|(key, head)| (*key, *head)).collect();
        heads.sort_unstable_by_key(|(key, _)| *key);
        heads
    }

    fn joined(mut left: (Of, Vec<Found>), right: (Of, Vec<Found>)) -> (Of, Vec<Found>) {
        left.1.extend(right.1);
        left.1.extend(left.0.join(right.0));
        left
    }

    proptest! {
        #[test]
        fn slices_and_joins_give_what_the_whole_gives(
            events in prop::collection::vec((0..6_u8, any::<bool>()), 0..60),
            cuts in prop::collection::vec(0..61_usize, 3),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(events.len())).collect();
            cuts.sort_unstable();
            let edges = [0, cuts[0], cuts[1], cuts[2], events.len()];
            let slice = |number: usize| {
                let pairs = if number == 0 { Of::new(MOST) } else { Of::slice(MOST) };
                follow(pairs, &events[edges[number]..edges[number + 1]], edges[number])
            };
            let from_the_left = joined(joined(joined(slice(0), slice(1)), slice(2)), slice(3));
            let from_the_right = joined(slice(0), joined(slice(1), joined(slice(2), slice(3))));
            let by_halves = joined(joined(slice(0), slice(1)), joined(slice(2), slice(3)));
            let (outcomes, open) = naive(&events);
            for (mut pairs, found) in [from_the_left, from_the_right, by_halves] {
                prop_assert_eq!(sorted(found), sorted(outcomes.clone()));
                prop_assert_eq!(heads(&pairs), []);
                prop_assert_eq!(pairs.drain().collect::<Vec<_>>(), open.clone());
            }
        }

        #[test]
        fn joins_of_slices_are_associative(
            slices in prop::collection::vec(prop::collection::vec((0..4_u8, any::<bool>()), 0..12), 3),
        ) {
            let slice = |number: usize| {
                let first = slices[..number].iter().map(Vec::len).sum();
                follow(Of::slice(MOST), &slices[number], first)
            };
            let (mut left, of_left) = joined(joined(slice(0), slice(1)), slice(2));
            let (mut right, of_right) = joined(slice(0), joined(slice(1), slice(2)));
            prop_assert_eq!(sorted(of_left), sorted(of_right));
            prop_assert_eq!(heads(&left), heads(&right));
            prop_assert_eq!(left.drain().collect::<Vec<_>>(), right.drain().collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_oldest_begin_makes_room() {
        let mut pairs: Pairs<u8, usize, usize> = Pairs::new(2);
        assert_eq!(pairs.begin(1, 10, 1).count(), 0);
        assert_eq!(pairs.begin(2, 20, 2).count(), 0);
        assert_eq!(pairs.begin(3, 30, 3).collect::<Vec<_>>(), [Outcome::Unended(1, 30)]);
        assert_eq!(pairs.end(1, 4), Some(Outcome::Orphan(4)));
        assert_eq!(pairs.end(2, 5), Some(Outcome::Whole(2, 5)));
    }
}
