//! Lists by slice of time: the first entry of each slice, for a time that only grows.

use std::collections::BTreeMap;

/// Stands for no entry.
pub(crate) const NONE: u32 = u32::MAX;

/// Slices that are near, at least and at most.
const NEAR: (usize, usize) = (1 << 8, 1 << 19);

/// The first entry of each slice from the current one on. Those of near slices stand in a ring, so that no search finds them.
#[derive(Debug)]
pub(crate) struct SliceHeads {
    /// The current slice.
    current: i64,
    /// By the low bits of the slice, as many slices as there are places.
    near: Vec<u32>,
    /// Those of later slices.
    far: BTreeMap<i64, u32>,
}

impl SliceHeads {
    /// No entries; `near` slices hold most of them.
    pub(crate) fn new(near: i64) -> Self {
        let near = usize::try_from(near).unwrap_or(0).clamp(NEAR.0, NEAR.1).next_power_of_two();
        Self { current: i64::MIN, near: vec![NONE; near], far: BTreeMap::new() }
    }

    fn place(&self, slice: i64) -> Option<usize> {
        let distance = slice.wrapping_sub(self.current).cast_unsigned();
        (slice >= self.current && distance < self.near.len() as u64).then(|| self.place_of(slice))
    }

    fn place_of(&self, slice: i64) -> usize {
        slice.cast_unsigned() as usize & (self.near.len() - 1)
    }

    /// Whether the slice is over.
    pub(crate) const fn is_over(&self, slice: i64) -> bool {
        slice < self.current
    }

    /// The first entry of a slice; [`NONE`] where it has none, or is over.
    #[inline]
    pub(crate) fn get(&self, slice: i64) -> u32 {
        match self.place(slice) {
            Some(place) => self.near[place],
            None => self.far.get(&slice).copied().unwrap_or(NONE),
        }
    }

    /// Makes an entry the first of a slice that is not over.
    #[inline]
    pub(crate) fn set(&mut self, slice: i64, head: u32) {
        match self.place(slice) {
            Some(place) => self.near[place] = head,
            None if head == NONE => _ = self.far.remove(&slice),
            None => _ = self.far.insert(slice, head),
        }
    }

    /// Makes a slice the current one. Hands over the first entries of those that are over by that.
    #[inline]
    pub(crate) fn advance(&mut self, slice: i64, over: impl FnMut(u32)) {
        if slice > self.current {
            self.advance_to(slice, over);
        }
    }

    fn advance_to(&mut self, slice: i64, mut over: impl FnMut(u32)) {
        let count = slice.wrapping_sub(self.current).cast_unsigned().min(self.near.len() as u64);
        for passed in 0..count.cast_signed() {
            let place = self.place_of(self.current.wrapping_add(passed));
            let head = std::mem::replace(&mut self.near[place], NONE);
            if head != NONE {
                over(head);
            }
        }
        self.current = slice;
        while let Some(entry) = self.far.first_entry() {
            let (slice, head) = (*entry.key(), *entry.get());
            if slice < self.current {
                over(head);
            } else if let Some(place) = self.place(slice) {
                self.near[place] = head;
            } else {
                break;
            }
            self.far.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{NONE, SliceHeads};

    fn slice() -> impl Strategy<Value = i64> {
        prop_oneof![0..40i64, 0..2000i64, any::<i64>(), Just(i64::MIN), Just(i64::MAX)]
    }

    proptest! {
        #[test]
        fn heads_are_those_of_a_map(steps in prop::collection::vec((slice(), 0..3u8), 0..200)) {
            let (mut heads, mut expected) = (SliceHeads::new(0), BTreeMap::new());
            let mut current = i64::MIN;
            for (number, (slice, step)) in (0u32..).zip(steps) {
                match step {
                    0 => {
                        let mut over = Vec::new();
                        heads.advance(slice, |head| over.push(head));
                        current = current.max(slice);
                        let later = expected.split_off(&current);
                        let mut gone: Vec<u32> = std::mem::replace(&mut expected, later).into_values().collect();
                        over.sort_unstable();
                        gone.sort_unstable();
                        prop_assert_eq!(over, gone);
                    }
                    1 if slice >= current => {
                        heads.set(slice, number);
                        expected.insert(slice, number);
                    }
                    2 if slice >= current => {
                        heads.set(slice, NONE);
                        expected.remove(&slice);
                    }
                    _ => prop_assert!(heads.is_over(slice)),
                }
                for (slice, head) in &expected {
                    prop_assert_eq!(heads.get(*slice), *head);
                }
                prop_assert_eq!(heads.get(slice), expected.get(&slice).copied().unwrap_or(NONE));
            }
        }
    }
}
