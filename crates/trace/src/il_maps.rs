//! Maps native code to the intermediate language (IL) from which it was compiled.
//!
//! The runtime tells it per method as pairs of offsets, in the order of the IL. Here they are packed in the order of the code: a few bytes per
//! pair instead of eight, as a recording may have a million of them.

/// Packed maps kept at most, bytes. Beyond it methods have no lines, which the caller counts.
const BUDGET: usize = 48 << 20;

/// What the runtime says in place of an IL offset.
mod special {
    /// Code without any IL.
    pub(super) const NO_MAPPING: u32 = u32::MAX;
    /// Code that begins a method, or one of its handlers.
    pub(super) const PROLOG: u32 = u32::MAX - 1;
    /// Code that ends one.
    pub(super) const EPILOG: u32 = u32::MAX - 2;
}

/// The map of one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IlMapId(u32);

/// The maps of all methods.
#[derive(Debug, Default)]
pub struct IlMaps {
    packed: Vec<u8>,
    pairs: Vec<(u32, u32)>,
}

/// The budget for maps is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget;

impl IlMaps {
    /// Adds a map, as pairs of native offset and IL offset in any order; `None` when there are none.
    ///
    /// The prolog belongs to the IL whose code follows it and the epilog to that before it. Where several pairs have one native offset, only
    /// the last in the order of the IL has code.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn add(&mut self, pairs: impl Iterator<Item = (u32, u32)>) -> Result<Option<IlMapId>, OverBudget> {
        self.pairs.clear();
        self.pairs.extend(pairs);
        // Special values in front of real ones, which count.
        self.pairs.sort_unstable_by_key(|(native, il)| (*native, if is_special(*il) { (0, *il) } else { (1, *il) }));
        let mut next_il = special::NO_MAPPING;
        for (_, il) in self.pairs.iter_mut().rev() {
            match *il {
                special::PROLOG => *il = next_il,
                special::NO_MAPPING | special::EPILOG => {}
                real => next_il = real,
            }
        }
        let mut last_il = special::NO_MAPPING;
        for (_, il) in &mut self.pairs {
            match *il {
                special::EPILOG => *il = last_il,
                special::NO_MAPPING => {}
                real => last_il = real,
            }
        }
        self.pairs.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = next.1;
            }
            same
        });
        if self.pairs.is_empty() {
            return Ok(None);
        }
        // A pair takes ten bytes at most.
        if self.packed.len() + 10 * (self.pairs.len() + 1) > BUDGET {
            return Err(OverBudget);
        }
        let id = IlMapId(u32::try_from(self.packed.len()).map_err(|_| OverBudget)?);
        put(&mut self.packed, u32::try_from(self.pairs.len()).unwrap_or(u32::MAX));
        let mut before = (0_u32, 0_u32);
        for (native, il) in &self.pairs {
            put(&mut self.packed, native - before.0);
            // Without IL follows a difference of 0, so that real ones are shifted by one.
            put(&mut self.packed, if *il == special::NO_MAPPING { 0 } else { zigzag(*il, before.1).wrapping_add(1) });
            before = (*native, if *il == special::NO_MAPPING { before.1 } else { *il });
        }
        Ok(Some(id))
    }

    /// The IL offset at an offset in the native code.
    #[must_use]
    pub fn find(&self, id: IlMapId, native_offset: u32) -> Option<u32> {
        let mut packed = self.packed.get(id.0 as usize..)?;
        let count = take(&mut packed)?;
        let (mut native, mut il, mut found) = (0_u32, 0_u32, None);
        for _ in 0..count {
            native = native.wrapping_add(take(&mut packed)?);
            if native > native_offset {
                break;
            }
            found = match take(&mut packed)?.checked_sub(1) {
                Some(difference) => {
                    il = unzigzag(difference, il);
                    Some(il)
                }
                None => None,
            };
        }
        found
    }
}

fn is_special(il: u32) -> bool {
    il >= special::EPILOG
}

/// The difference of two offsets with its sign in the lowest bit. IL offsets are below 2^31; what is forged comes out as another number.
fn zigzag(value: u32, before: u32) -> u32 {
    let difference = value.wrapping_sub(before).cast_signed();
    (difference << 1 ^ difference >> 31).cast_unsigned()
}

fn unzigzag(coded: u32, before: u32) -> u32 {
    before.wrapping_add(coded >> 1 ^ (coded & 1).wrapping_neg())
}

/// Seven bits a byte, the lowest first.
fn put(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0;
    for shift in (0..32).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{IlMaps, OverBudget};

    const PROLOG: u32 = -2_i32 as u32;
    const EPILOG: u32 = -3_i32 as u32;
    const NONE: u32 = -1_i32 as u32;

    fn offsets<const N: usize>(pairs: &[(u32, u32)], at: [u32; N]) -> [Option<u32>; N] {
        let mut maps = IlMaps::default();
        maps.add([(0, 7)].into_iter()).expect("within the budget");
        let id = maps.add(pairs.iter().copied()).expect("within the budget").expect("a map");
        at.map(|native| maps.find(id, native))
    }

    #[test]
    fn code_belongs_to_the_pair_in_front_of_it() {
        // As recorded: in the order of the IL. A handler lies behind the method.
        let pairs = [(0, PROLOG), (90, PROLOG), (4, 0), (20, 6), (60, 6), (40, 10), (98, 300), (80, EPILOG)];
        let at = [0, 3, 4, 19, 20, 39, 40, 60, 80, 89, 90, 97, 98, 4000];
        let expected = [0, 0, 0, 0, 6, 6, 10, 6, 6, 6, 300, 300, 300, 300].map(Some);
        assert_eq!(offsets(&pairs, at), expected);
    }

    #[test]
    fn of_pairs_at_one_place_the_last_has_the_code() {
        assert_eq!(offsets(&[(0, PROLOG), (0, 0), (0, 3), (5, 9), (5, EPILOG)], [0, 4, 5]), [3, 3, 9].map(Some));
    }

    #[test]
    fn what_has_no_il_has_none() {
        assert_eq!(offsets(&[(3, 0), (8, NONE), (9, 1)], [2, 3, 8, 9]), [None, Some(0), None, Some(1)]);
        assert_eq!(offsets(&[(0, PROLOG), (1, EPILOG), (2, NONE)], [0, 1, 2]), [None; 3]);
        assert_eq!(
            offsets(&[(u32::MAX, 5), (0, 0x7fff_fff0), (9, 0)], [0, 9, u32::MAX]),
            [Some(0x7fff_fff0), Some(0), Some(5)]
        );
    }

    #[test]
    fn maps_are_bounded() {
        let mut maps = IlMaps::default();
        assert_eq!(maps.add(std::iter::empty()), Ok(None));
        let many = || (0..60_000).map(|number| (number * 50_000, number * 40_000));
        let fitted = (0..1000).take_while(|_| maps.add(many()).is_ok()).count();
        assert!((50..1000).contains(&fitted), "{fitted}");
        assert_eq!(maps.add(many()), Err(OverBudget));
        assert!(maps.add([(0, 0)].into_iter()).is_ok());
    }
}
