//! Places: rows with the same numbers share one.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHashMap;

/// The number of rows without a value.
pub(super) const UNKNOWN: i64 = i64::MIN;

/// The number of a value that nobody knows, in a dimension in which rows without a value mean something: an operation whose end was not
/// recorded has neither failed nor not failed. It passes no filter, and no measure counts it as a value.
pub(crate) const UNTOLD: i64 = i64::MIN + 1;

/// What a value that nobody knows is called.
pub(super) const UNTOLD_TEXT: &str = "(unknown)";

/// The place of each combination of numbers; `None`: the filters do not let it pass.
///
/// Almost all questions tell places apart by two to four numbers: these need no memory of their own.
pub(super) enum Places {
    Two(FxHashMap<Key<2>, Option<u32>>),
    Three(FxHashMap<Key<3>, Option<u32>>),
    Four(FxHashMap<Key<4>, Option<u32>>),
    Many(FxHashMap<Box<[i64]>, Option<u32>>),
}

/// Numbers that are compared together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key<const N: usize>([i64; N]);

// By hand, since the one that is derived hashes bytes.
impl<const N: usize> Hash for Key<N> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|number| state.write_i64(*number));
    }
}

impl<const N: usize> Key<N> {
    /// The first numbers. There are as many at least.
    #[inline]
    fn of(numbers: &[i64]) -> Self {
        let mut key = [0; N];
        key.copy_from_slice(&numbers[..N]);
        Self(key)
    }
}

impl Places {
    /// Places for so many numbers, and how many numbers it wants: the last ones are always 0.
    pub(super) fn new(numbers: usize) -> (Self, usize) {
        match numbers {
            0..=2 => (Self::Two(FxHashMap::default()), 2),
            3 => (Self::Three(FxHashMap::default()), 3),
            4 => (Self::Four(FxHashMap::default()), 4),
            _ => (Self::Many(FxHashMap::default()), numbers),
        }
    }

    /// The place of these numbers. `Err`: they were never seen.
    #[inline]
    pub(super) fn get(&self, numbers: &[i64]) -> Result<Option<u32>, Unseen> {
        match self {
            Self::Two(places) => places.get(&Key::of(numbers)),
            Self::Three(places) => places.get(&Key::of(numbers)),
            Self::Four(places) => places.get(&Key::of(numbers)),
            Self::Many(places) => places.get(numbers),
        }
        .copied()
        .ok_or(Unseen)
    }

    /// Says what the place of numbers is.
    pub(super) fn insert(&mut self, numbers: &[i64], place: Option<u32>) {
        match self {
            Self::Two(places) => places.insert(Key::of(numbers), place),
            Self::Three(places) => places.insert(Key::of(numbers), place),
            Self::Four(places) => places.insert(Key::of(numbers), place),
            Self::Many(places) => places.insert(numbers.into(), place),
        };
    }
}

/// Numbers that were never seen.
pub(super) struct Unseen;
