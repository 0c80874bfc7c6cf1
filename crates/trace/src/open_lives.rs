//! Things that are open until their partner comes: handles, objects, views.

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::ProcessId;

/// Open things of one sort, by a key that only one of them has at a time. Each can have an owner, with whose end it ends.
#[derive(Debug)]
pub struct OpenLives<K, L> {
    open: FxHashMap<K, Open<L>>,
    /// Keys with their numbers, the oldest first; ended ones are among them.
    ages: VecDeque<(u64, K)>,
    of_owner: FxHashMap<ProcessId, FxHashSet<K>>,
    next: u64,
    most: usize,
    dropped: u64,
}

#[derive(Debug)]
struct Open<L> {
    number: u64,
    owner: Option<ProcessId>,
    life: L,
}

impl<K: Copy + Eq + Hash, L> OpenLives<K, L> {
    /// None yet, and never more than `most`.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            open: FxHashMap::default(),
            ages: VecDeque::new(),
            of_owner: FxHashMap::default(),
            next: 0,
            most,
            dropped: 0,
        }
    }

    /// The life with that key, to be changed.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut L> {
        self.open.get_mut(key).map(|open| &mut open.life)
    }

    /// The life with that key.
    pub fn get(&self, key: &K) -> Option<&L> {
        self.open.get(key).map(|open| &open.life)
    }

    #[cfg(test)]
    pub(crate) fn values(&self) -> impl Iterator<Item = &L> {
        self.open.values().map(|open| &open.life)
    }

    /// Number of lives.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Adds a life whose key is not in use. Gives the oldest one where it has to make room.
    pub fn insert(&mut self, key: K, owner: Option<ProcessId>, life: L) -> Option<L> {
        let number = self.next;
        self.next += 1;
        self.open.insert(key, Open { number, owner, life });
        self.ages.push_back((number, key));
        if let Some(owner) = owner {
            self.of_owner.entry(owner).or_default().insert(key);
        }
        if self.open.len() <= self.most {
            return None;
        }
        self.dropped += 1;
        self.oldest()
    }

    /// Takes a life away.
    pub fn remove(&mut self, key: &K) -> Option<L> {
        let open = self.open.remove(key)?;
        if let Some(owner) = open.owner
            && let Some(keys) = self.of_owner.get_mut(&owner)
        {
            keys.remove(key);
            if keys.is_empty() {
                self.of_owner.remove(&owner);
            }
        }
        // Ended lives leave when they have grown to half of the list.
        if self.ages.len() > 2 * self.open.len() + 64 {
            let open = &self.open;
            self.ages.retain(|(number, key)| open.get(key).is_some_and(|open| open.number == *number));
        }
        Some(open.life)
    }

    /// Takes all lives of an owner away, the oldest first.
    pub(crate) fn remove_owner(&mut self, owner: ProcessId) -> Vec<L> {
        let keys = self.of_owner.get(&owner).into_iter().flatten();
        let mut keys: Vec<(u64, K)> =
            keys.filter_map(|key| self.open.get(key).map(|open| (open.number, *key))).collect();
        keys.sort_unstable_by_key(|(number, _)| *number);
        keys.iter().filter_map(|(_, key)| self.remove(key)).collect()
    }

    /// Takes the oldest life away.
    pub fn oldest(&mut self) -> Option<L> {
        self.oldest_with_key().map(|(_, life)| life)
    }

    /// Takes the oldest life away; with its key.
    pub(crate) fn oldest_with_key(&mut self) -> Option<(K, L)> {
        loop {
            let (number, key) = self.ages.pop_front()?;
            if self.open.get(&key).is_some_and(|open| open.number == number) {
                return Some((key, self.remove(&key)?));
            }
        }
    }

    /// Lives that had to make room.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever comes and goes, the list of ages holds little more than what is open.
        #[test]
        fn ages_of_ended_lives_leave(steps in prop::collection::vec((0..40_u32, any::<bool>()), 0..2_000)) {
            let mut lives = OpenLives::new(30);
            for (key, ends) in steps {
                if ends || lives.get(&key).is_some() {
                    lives.remove(&key);
                } else {
                    lives.insert(key, None, key);
                }
                prop_assert!(lives.len() <= 30 && lives.ages.len() <= 2 * lives.len() + 64);
            }
        }
    }
}
