//! Sums over the runs that a labelling marks: one addition per eight runs instead of one per run.

/// For each byte of a labelling, the sums of the values that each of its 256 patterns marks.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByteSums {
    tables: Vec<[f64; 256]>,
}

impl ByteSums {
    /// The sums of these values, by position.
    pub(crate) fn of(values: &[f64]) -> Self {
        let mut sums = Self::default();
        sums.fill(values);
        sums
    }

    /// Takes other values, in the memory of those before.
    pub(crate) fn fill(&mut self, values: &[f64]) {
        self.tables.resize(values.len().div_ceil(8), [0.0; 256]);
        for (table, values) in self.tables.iter_mut().zip(values.chunks(8)) {
            for pattern in 1..256usize {
                let lowest = pattern.trailing_zeros() as usize;
                table[pattern] = table[pattern & (pattern - 1)] + values.get(lowest).unwrap_or(&0.0);
            }
        }
    }

    /// The sum of the values at the positions that `bits` marks.
    #[inline]
    pub(crate) fn sum(&self, bits: &[u64]) -> f64 {
        let mut sum = 0.0;
        for (tables, &word) in self.tables.chunks(8).zip(bits) {
            let mut word = word;
            for table in tables {
                sum += table[(word & 0xFF) as usize];
                word >>= 8;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSums;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_one_by_one(values in prop::collection::vec(-1000i32..1000, 1..200), seed in any::<u64>()) {
            let mut random = crate::random::SplitMix64::new(seed);
            let mut bits: Vec<u64> = (0..values.len().div_ceil(64)).map(|_| random.next_u64()).collect();
            let marked = |bits: &[u64], index: usize| bits[index / 64] >> (index % 64) & 1 == 1;
            for index in values.len()..bits.len() * 64 {
                bits[index / 64] &= !(1 << (index % 64));
            }
            let plain: i32 = values.iter().enumerate().filter(|(index, _)| marked(&bits, *index)).map(|(_, v)| v).sum();
            let floats: Vec<f64> = values.iter().copied().map(f64::from).collect();
            prop_assert_eq!(ByteSums::of(&floats).sum(&bits), f64::from(plain));
        }
    }
}
