//! The code at an address of a process at a time: images and JIT-compiled methods come, go and
//! reuse addresses.

use rustc_hash::FxHashMap;

/// Overlapping mappings looked at per search. Real spaces need a handful; a forged recording must not make it quadratic.
const MAX_STEPS: usize = 4096;

/// An address range that was mapped for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping<T> {
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// Raw time from which it was there; `i64::MIN`: before the recording.
    pub from: i64,
    /// Raw time up to which it was there; `i64::MAX`: to the end.
    pub until: i64,
    /// What it is.
    pub what: T,
}

/// A time in which a space does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// How many changes there were before.
    pub number: u32,
    /// Raw time from which on it lasts; `i64::MIN`: from the beginning.
    pub from: i64,
    /// Raw time of the next change; `i64::MAX`: there is none.
    pub until: i64,
}

impl Epoch {
    /// The only one of a space that never changes.
    pub(crate) const WHOLE: Self = Self { number: 0, from: i64::MIN, until: i64::MAX };
}

/// The mappings of one space.
#[derive(Clone, Debug)]
pub(crate) struct Space<T> {
    /// By start address.
    mappings: Vec<Mapping<T>>,
    /// Largest end among the mappings up to each one: where a backward search may stop.
    reach: Vec<u64>,
    /// Times at which the space changed inside the recording, sorted.
    changes: Vec<i64>,
}

/// Mappings by space (a process, or the kernel).
#[derive(Clone, Debug)]
pub struct AddressMap<Key, T> {
    spaces: FxHashMap<Key, Space<T>>,
}

impl<Key: std::hash::Hash + Eq + Copy, T: Copy> AddressMap<Key, T> {
    /// Orders the mappings of each space.
    pub fn new(mappings: impl IntoIterator<Item = (Key, Mapping<T>)>) -> Self {
        let mut by_key: FxHashMap<Key, Vec<Mapping<T>>> = FxHashMap::default();
        for (key, mapping) in mappings {
            if mapping.start < mapping.end {
                by_key.entry(key).or_default().push(mapping);
            }
        }
        let spaces = by_key.into_iter().map(|(key, mappings)| (key, Space::new(mappings))).collect();
        Self { spaces }
    }

    /// What lay at `address` at `ticks`; of several the one that came last.
    #[must_use]
    pub fn find(&self, key: Key, address: u64, ticks: i64) -> Option<Mapping<T>> {
        self.spaces.get(&key)?.find(address, ticks)
    }

    /// The time between two changes of the space that `ticks` lies in: part of the key of caches.
    #[must_use]
    pub fn epoch(&self, key: Key, ticks: i64) -> Epoch {
        self.spaces.get(&key).map_or(Epoch::WHOLE, |space| space.epoch(ticks))
    }
}

impl<T: Copy> Space<T> {
    /// Orders the mappings.
    pub(crate) fn new(mut mappings: Vec<Mapping<T>>) -> Self {
        mappings.sort_by_key(|mapping| mapping.start);
        let mut reach = Vec::with_capacity(mappings.len());
        let mut furthest = 0;
        for mapping in &mappings {
            furthest = mapping.end.max(furthest);
            reach.push(furthest);
        }
        let mut changes: Vec<i64> = mappings
            .iter()
            .flat_map(|mapping| [mapping.from, mapping.until.saturating_add(1)])
            .filter(|ticks| *ticks != i64::MIN && *ticks != i64::MAX)
            .collect();
        changes.sort_unstable();
        Self { mappings, reach, changes }
    }

    /// Number of mappings.
    pub(crate) fn len(&self) -> usize {
        self.mappings.len()
    }

    /// As [`AddressMap::find`].
    pub(crate) fn find(&self, address: u64, ticks: i64) -> Option<Mapping<T>> {
        let mut best: Option<Mapping<T>> = None;
        let below = self.mappings.partition_point(|mapping| mapping.start <= address);
        for index in (0..below).rev().take(MAX_STEPS) {
            if self.reach[index] <= address {
                break;
            }
            let mapping = self.mappings[index];
            let alive = mapping.from <= ticks && ticks <= mapping.until;
            if address < mapping.end && alive && best.is_none_or(|best| mapping.from > best.from) {
                best = Some(mapping);
            }
        }
        best
    }

    /// As [`AddressMap::epoch`].
    pub(crate) fn epoch(&self, ticks: i64) -> Epoch {
        let before = self.changes.partition_point(|change| *change <= ticks);
        Epoch {
            number: u32::try_from(before).unwrap_or(u32::MAX),
            from: before.checked_sub(1).map_or(i64::MIN, |last| self.changes[last]),
            until: self.changes.get(before).copied().unwrap_or(i64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AddressMap, Mapping};

    #[test]
    fn finds_what_was_there_at_the_time() {
        let map = AddressMap::new([
            (1, Mapping { start: 100, end: 200, from: i64::MIN, until: 50, what: 'a' }),
            (1, Mapping { start: 150, end: 250, from: 60, until: i64::MAX, what: 'b' }),
            (2, Mapping { start: 0, end: 1000, from: i64::MIN, until: i64::MAX, what: 'c' }),
        ]);
        let at = |key, address, ticks| map.find(key, address, ticks).map(|mapping| mapping.what);
        assert_eq!(at(1, 160, 50), Some('a'));
        assert_eq!(at(1, 160, 55), None);
        assert_eq!(at(1, 160, 60), Some('b'));
        assert_eq!(at(1, 99, 10), None);
        assert_eq!(at(1, 250, 70), None);
        assert_eq!(at(2, 160, 50), Some('c'));
        assert_eq!(at(3, 160, 50), None);
        assert_ne!(map.epoch(1, 50).number, map.epoch(1, 51).number);
        assert_ne!(map.epoch(1, 59).number, map.epoch(1, 60).number);
        assert_eq!(map.epoch(2, 0).number, map.epoch(2, 99).number);
    }
}
