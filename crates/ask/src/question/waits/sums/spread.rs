//! Percentiles of any number of lengths in bounded memory.
//!
//! Up to [`EXACT`] values are kept as they are. More are counted in classes, each a thousandth of its values wide: a percentile is then off by at
//! most 0.1 %, and there are never more classes than some ten thousand.

use std::collections::BTreeMap;

use tracesift_analysis::Distribution;

/// Values that are kept one by one.
const EXACT: usize = 1024;

/// Bits of a value that tell its class: 1024 classes for each power of two.
const BITS: u32 = 10;

/// Lengths of spans, of which percentiles are asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread {
    values: Vec<i64>,
    /// Number of values by class, once they are too many.
    classes: BTreeMap<(u32, u64), u64>,
    count: u64,
}

impl Spread {
    /// Adds a length, which is not negative.
    pub(super) fn add(&mut self, length: i64) {
        self.count += 1;
        if self.classes.is_empty() {
            self.values.push(length);
            if self.values.len() > EXACT {
                for value in std::mem::take(&mut self.values) {
                    *self.classes.entry(class(value)).or_default() += 1;
                }
            }
        } else {
            *self.classes.entry(class(length)).or_default() += 1;
        }
    }

    /// These percentiles, from 0 to 1, of rank (N - 1) p + 1 with linear interpolation.
    pub(super) fn percentiles<const N: usize>(self, wanted: [f64; N]) -> [Option<i64>; N] {
        if self.classes.is_empty() {
            let values = Distribution::new(self.values);
            return wanted.map(|p| values.whole_percentile(p));
        }
        wanted.map(|p| {
            let index = (self.count - 1) as f64 * p;
            let (lower, upper) = (self.at(index.floor() as u64), self.at(index.ceil() as u64));
            Some((lower + (upper - lower) * (index - index.floor())).round() as i64)
        })
    }

    /// The middle of the class of the value with this index, ascending.
    fn at(&self, index: u64) -> f64 {
        let mut before = 0;
        for (class, count) in &self.classes {
            before += count;
            if before > index {
                return middle(*class);
            }
        }
        self.classes.last_key_value().map_or(0.0, |(class, _)| middle(*class))
    }
}

/// The class of a length: how many bits are cut off, and what is left.
fn class(length: i64) -> (u32, u64) {
    let length = u64::try_from(length).unwrap_or(0);
    let shift = (u64::BITS - length.leading_zeros()).saturating_sub(BITS + 1);
    (shift, length >> shift)
}

fn middle((shift, top): (u32, u64)) -> f64 {
    let width = 1_u64.checked_shl(shift).unwrap_or(0);
    (top.checked_shl(shift).unwrap_or(0)) as f64 + (width.saturating_sub(1)) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracesift_analysis::Distribution;

    use super::Spread;

    const WANTED: [f64; 5] = [0.0, 0.5, 0.9, 0.99, 1.0];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn percentiles_are_those_of_the_values_within_a_thousandth(
            values in prop::collection::vec(prop_oneof![0..5_000_i64, 0..100_000_000_000_i64, Just(i64::MAX)], 1..3_000)
        ) {
            let mut spread = Spread::default();
            values.iter().for_each(|value| spread.add(*value));
            let is_exact = values.len() <= super::EXACT;
            let expected = Distribution::new(values);
            for (p, found) in WANTED.into_iter().zip(spread.percentiles(WANTED)) {
                let expected = expected.percentile(p).expect("values");
                let error = (found.expect("values") as f64 - expected).abs();
                prop_assert!(error <= if is_exact { 0.5 } else { 0.5 + expected / 1000.0 }, "{error} of {expected}");
            }
        }
    }

    #[test]
    fn nothing_has_no_percentiles() {
        assert_eq!(Spread::default().percentiles(WANTED), [None; 5]);
    }
}
