//! The set of threads of a process that were seen at a method: exact, and a few bytes for few
//! threads.

/// A set of thread numbers as pairs of (word, 32 bits). Those of a process are dense and given at first sight, so a new one lies in the last
/// word or behind it; others come in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadSet {
    /// The only word of most sets, without an allocation of its own.
    first: (u32, u32),
    /// Further words, ascending, behind the first one.
    rest: Vec<(u32, u32)>,
}

impl ThreadSet {
    pub(crate) fn insert(&mut self, number: u32) {
        self.insert_word(number / 32, 1 << (number % 32));
    }

    pub(crate) fn union_with(&mut self, other: &Self) {
        if other.first.1 != 0 {
            self.insert_word(other.first.0, other.first.1);
        }
        for &(word, bits) in &other.rest {
            self.insert_word(word, bits);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        std::iter::once(&self.first).chain(&self.rest).map(|(_, bits)| u64::from(bits.count_ones())).sum()
    }

    /// The numbers, ascending.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let words = std::iter::once(&self.first).chain(&self.rest);
        words.flat_map(|&(word, bits)| (0..32).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 32 + bit))
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.rest.capacity() * size_of::<(u32, u32)>()
    }

    fn insert_word(&mut self, word: u32, bits: u32) {
        if self.first.1 == 0 || self.first.0 == word {
            self.first = (word, self.first.1 | bits);
        } else if word < self.first.0 {
            self.rest.insert(0, self.first);
            self.first = (word, bits);
        } else {
            match self.rest.last_mut() {
                Some(last) if last.0 == word => last.1 |= bits,
                Some(last) if last.0 > word => match self.rest.binary_search_by_key(&word, |pair| pair.0) {
                    Ok(index) => self.rest[index].1 |= bits,
                    Err(index) => self.rest.insert(index, (word, bits)),
                },
                _ => self.rest.push((word, bits)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ThreadSet;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn of(numbers: &[u32]) -> ThreadSet {
        let mut set = ThreadSet::default();
        for &number in numbers {
            set.insert(number);
        }
        set
    }

    proptest! {
        #[test]
        fn counts_like_a_set(
            left in prop::collection::vec(0u32..300, 0..40),
            right in prop::collection::vec(0u32..300, 0..40),
        ) {
            let both = left.iter().chain(&right).copied().collect::<BTreeSet<_>>();
            let mut set = of(&left);
            set.union_with(&of(&right));
            prop_assert_eq!(set.count(), both.len() as u64);
            prop_assert_eq!(set, of(&both.into_iter().collect::<Vec<_>>()));
        }
    }
}
