//! Begins of which several are open under one key: calls of one socket by several threads, queries for one name.
//!
//! No event tells which of them has ended, so who asks chooses among the open ones.

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::open_lives::OpenLives;

/// Begins without an end, each with a number that grows.
#[derive(Debug)]
pub(crate) struct Overlapping<K, B> {
    open: OpenLives<u64, (K, B)>,
    /// Numbers of the open begins of a key, the oldest first.
    of: FxHashMap<K, VecDeque<u64>>,
    next: u64,
    most_of_one: usize,
    /// Begins that made room for others of their key.
    dropped: u64,
}

impl<K: Clone + Eq + Hash, B> Overlapping<K, B> {
    /// None yet; never more than `most`, and never more than `most_of_one` under one key.
    pub(crate) fn new(most: usize, most_of_one: usize) -> Self {
        Self { open: OpenLives::new(most), of: FxHashMap::default(), next: 0, most_of_one, dropped: 0 }
    }

    /// Something begins. Gives the oldest begin of the key, or of all, where that has to make room.
    pub(crate) fn begin(&mut self, key: K, begin: B) -> Option<B> {
        let number = self.next;
        self.next += 1;
        let full = self.of.get(&key).filter(|numbers| numbers.len() >= self.most_of_one);
        let first = full.and_then(|numbers| numbers.front().copied());
        let before = first.and_then(|number| self.take(number));
        self.dropped += u64::from(before.is_some());
        self.of.entry(key.clone()).or_default().push_back(number);
        let oldest = self.open.insert(number, None, (key, begin));
        before.or_else(|| {
            let (key, begin) = oldest?;
            // The oldest of all is the oldest of its key.
            let numbers = self.of.get_mut(&key);
            if numbers.is_some_and(|numbers| numbers.pop_front().is_some() && numbers.is_empty()) {
                self.of.remove(&key);
            }
            Some(begin)
        })
    }

    /// The open begins of a key with their numbers, the oldest first.
    pub(crate) fn of<Q>(&self, key: &Q) -> impl DoubleEndedIterator<Item = (u64, &B)>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let numbers = self.of.get(key).into_iter().flatten();
        numbers.filter_map(|number| Some((*number, &self.open.get(number)?.1)))
    }

    /// The begin with a number.
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut B> {
        self.open.get_mut(&number).map(|(_, begin)| begin)
    }

    /// Takes the begin with a number away.
    pub(crate) fn take(&mut self, number: u64) -> Option<B> {
        let (key, begin) = self.open.remove(&number)?;
        if let Some(numbers) = self.of.get_mut(&key) {
            numbers.retain(|other| *other != number);
            if numbers.is_empty() {
                self.of.remove(&key);
            }
        }
        Some(begin)
    }

    /// Takes all that is open, the oldest first.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = B> + use<K, B> {
        self.of.clear();
        let open: Vec<B> = std::iter::from_fn(|| self.open.oldest()).map(|(_, begin)| begin).collect();
        open.into_iter()
    }

    /// Begins that had to make room.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped + self.open.dropped()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOST: usize = 5;
    const MOST_OF_ONE: usize = 3;

    proptest! {
        /// A plain list of all begins has the same ones, in the same order.
        #[test]
        fn begins_stay_until_they_are_taken_or_make_room(
            steps in prop::collection::vec((0..4_u8, prop::option::of(0..4_usize)), 0..80),
        ) {
            let mut open = Overlapping::new(MOST, MOST_OF_ONE);
            let mut plain: Vec<(u8, usize)> = Vec::new();
            let mut dropped = 0;
            for (place, (key, taken)) in steps.into_iter().enumerate() {
                let of_key = |plain: &[(u8, usize)]| -> Vec<usize> {
                    plain.iter().filter(|(other, _)| *other == key).map(|(_, begin)| *begin).collect()
                };
                match taken {
                    Some(at) => {
                        let number = open.of(&key).nth(at).map(|(number, _)| number);
                        let begin = number.and_then(|number| open.take(number));
                        prop_assert_eq!(begin, of_key(&plain).get(at).copied());
                        plain.retain(|(_, other)| Some(*other) != begin);
                    }
                    None => {
                        let of_one = of_key(&plain);
                        plain.push((key, place));
                        let leaves = if of_one.len() >= MOST_OF_ONE {
                            Some(of_one[0])
                        } else {
                            (plain.len() > MOST).then(|| plain[0].1)
                        };
                        plain.retain(|(_, other)| Some(*other) != leaves);
                        dropped += u64::from(leaves.is_some());
                        prop_assert_eq!(open.begin(key, place), leaves);
                    }
                }
                prop_assert_eq!(open.of(&key).map(|(_, begin)| *begin).collect::<Vec<_>>(), of_key(&plain));
                prop_assert_eq!(open.dropped(), dropped);
            }
            prop_assert_eq!(open.of.values().map(VecDeque::len).sum::<usize>(), plain.len());
            prop_assert_eq!(open.drain().collect::<Vec<_>>(), plain.iter().map(|(_, begin)| *begin).collect::<Vec<_>>());
        }
    }
}
