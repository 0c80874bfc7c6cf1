//! Stacks of pairs of halves that were asked for just before: a look-up in the table of all pairs waits for memory.

use crate::halves::HalfId;
use crate::ids::StackId;

/// Places, as a power of two: 20 bytes each.
const BITS: u32 = 15;

/// A kernel half and a user half.
pub(crate) type Pair = (Option<HalfId>, Option<HalfId>);

/// The stacks, each at the place that its pair tells.
#[derive(Debug, Default)]
pub(crate) struct KnownPairs {
    /// None until the first is noted.
    places: Vec<(Pair, StackId)>,
}

impl KnownPairs {
    /// The stack of a pair, if it is known.
    #[inline]
    pub(crate) fn get(&self, pair: Pair) -> Option<StackId> {
        self.places.get(place(pair)).filter(|(known, _)| *known == pair).map(|(_, stack)| *stack)
    }

    /// Notes the stack of a pair.
    pub(crate) fn insert(&mut self, pair: Pair, stack: StackId) {
        if self.places.is_empty() {
            // No stack is asked for that has neither half.
            self.places.resize(1 << BITS, ((None, None), stack));
        }
        if let Some(known) = self.places.get_mut(place(pair)) {
            *known = (pair, stack);
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
    }
}

#[inline]
fn place((kernel, user): Pair) -> usize {
    let number = |half: Option<HalfId>| half.map_or(0, |half| u64::from(half.number()) + 1);
    let mixed = (number(kernel) << 32 ^ number(user)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - BITS)) as usize
}
