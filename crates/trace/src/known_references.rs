//! Halves of stacks that references by key meant just before.
//!
//! A recording has millions of references and some ten thousand keys. The tables that lead from one to the other are larger than a
//! cache of the CPU, and each look-up in them waits for memory. These places stay in the cache.

use crate::halves::HalfId;
use crate::stack_keys::Positions;

/// Places, as a power of two: 24 bytes each.
const BITS: u32 = 15;

/// Places in which a key is looked for; they are neighbours.
const WAYS: usize = 2;

/// A key in a space as long as that does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReferenceKey {
    pub(crate) key: u64,
    /// Number of the space in a time in which nothing is mapped or compiled otherwise there. Kernel halves are in the kernel's space, so
    /// that it tells the half, too. [`NO_NUMBER`]: the numbers have run out.
    pub(crate) space: u32,
}

/// Stands for many spaces, so that nothing is found by it.
const NO_NUMBER: u32 = u32::MAX;

impl ReferenceKey {
    /// The first of its places.
    #[inline]
    fn place(&self) -> usize {
        let mixed = (self.key ^ u64::from(self.space) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (u64::BITS - BITS)) as usize & !(WAYS - 1)
    }
}

/// What a key means at some positions.
#[derive(Clone, Copy, Debug)]
struct Known {
    key: u64,
    space: u32,
    half: HalfId,
    first: u32,
    last: u32,
}

/// The halves, each at one of the places that its key tells.
#[derive(Debug, Default)]
pub(crate) struct KnownReferences {
    /// None until the first is noted: most recordings have no keys. A place without a half has no positions.
    places: Vec<Known>,
}

impl KnownReferences {
    /// The half that the stack record at `position` means, if it is known.
    #[inline]
    pub(crate) fn get(&self, key: ReferenceKey, position: u64) -> Option<HalfId> {
        let place = key.place();
        let ways = self.places.get(place..place + WAYS).filter(|_| key.space != NO_NUMBER)?;
        let known = ways.iter().find(|known| {
            known.key == key.key
                && known.space == key.space
                && u64::from(known.first) <= position
                && position < u64::from(known.last)
        });
        known.map(|known| known.half)
    }

    /// Notes the half of all references at these positions.
    pub(crate) fn insert(&mut self, key: ReferenceKey, positions: Positions, half: HalfId) {
        // What lies beyond these numbers is not found here.
        let Ok(first) = u32::try_from(positions.first) else { return };
        let last = u32::try_from(positions.last.saturating_add(1)).unwrap_or(u32::MAX);
        let known = Known { key: key.key, space: key.space, half, first, last };
        if self.places.is_empty() {
            self.places.resize(1 << BITS, Known { first: 0, last: 0, ..known });
        }
        let place = key.place();
        if let Some(ways) = self.places.get_mut(place..place + WAYS) {
            ways.rotate_right(1);
            ways[0] = known;
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
    }
}
