//! Counters of energy: from readings to what was counted between two of them.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Counters that are followed at most. More only a forged recording has.
const MOST: usize = 1 << 16;

/// What a counter counted between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The difference, in the unit of the counter.
    pub value: i64,
    /// Time since the reading before, ns.
    pub span: i64,
}

/// What a reading tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It is the first one of its counter.
    First,
    /// What the counter counted since the reading before.
    Counted(Counted),
    /// Nothing: the counter was set back, was read twice at one instant, or is one of too many.
    Nothing,
}

/// Follows counters, each known by a key. Fed in the order of time.
#[derive(Debug)]
pub struct EnergyCounters<K> {
    /// Time and value of the latest reading.
    latest: FxHashMap<K, (i64, u64)>,
}

impl<K> Default for EnergyCounters<K> {
    fn default() -> Self {
        Self { latest: FxHashMap::default() }
    }
}

impl<K: Eq + Hash> EnergyCounters<K> {
    /// A reading at `time`, ns. Behind the value `highest` a counter starts at 0 again.
    ///
    /// A counter that went back has started again only if it then counted at most half of what it can: a machine that slept, and a
    /// driver that was loaded anew, set counters back.
    pub fn reading(&mut self, key: K, time: i64, value: u64, highest: u64) -> Reading {
        if self.latest.len() >= MOST && !self.latest.contains_key(&key) {
            return Reading::Nothing;
        }
        let Some((before, from)) = self.latest.insert(key, (time, value)) else { return Reading::First };
        let counted = match value.checked_sub(from) {
            Some(counted) => Some(counted),
            // From the highest value to 0 is one step.
            None => highest
                .checked_sub(from)
                .and_then(|rest| rest.checked_add(value)?.checked_add(1))
                .filter(|counted| *counted <= highest / 2),
        };
        let span = time.saturating_sub(before);
        match counted.and_then(|counted| i64::try_from(counted).ok()) {
            Some(value) if span > 0 => Reading::Counted(Counted { value, span }),
            _ => Reading::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(highest: u64, readings: &[(i64, u64)]) -> Vec<Option<(i64, i64)>> {
        let mut counters = EnergyCounters::default();
        let mut read = |(time, value): &(i64, u64)| match counters.reading((), *time, *value, highest) {
            Reading::Counted(Counted { value, span }) => Some((value, span)),
            Reading::First | Reading::Nothing => None,
        };
        readings.iter().map(&mut read).collect()
    }

    #[test]
    fn a_counter_starts_again_behind_its_highest_value() {
        assert_eq!(all(999, &[(0, 900), (5, 950), (9, 10)]), [None, Some((50, 5)), Some((60, 4))]);
        // Set back: the next difference counts from there.
        assert_eq!(all(999, &[(0, 400), (5, 0), (9, 10)]), [None, None, Some((10, 4))]);
        assert_eq!(all(u64::MAX, &[(0, u64::MAX - 1), (5, 3)]), [None, Some((5, 5))]);
        assert_eq!(all(u64::MAX, &[(0, 7), (5, 3), (6, 4)]), [None, None, Some((1, 1))]);
        // Above what it can have, twice at one instant, more than fits.
        assert_eq!(all(999, &[(0, 2_000), (5, 0)]), [None, None]);
        assert_eq!(all(999, &[(5, 1), (5, 2), (4, 3)]), [None, None, None]);
        assert_eq!(all(u64::MAX, &[(0, 0), (5, u64::MAX)]), [None, None]);
    }

    #[test]
    fn more_counters_than_any_machine_has_are_not_followed() {
        let mut counters = EnergyCounters::default();
        assert!((0..MOST).all(|key| counters.reading(key, 0, 0, u64::MAX) == Reading::First));
        assert_eq!(counters.reading(MOST, 0, 0, u64::MAX), Reading::Nothing);
        assert_eq!(counters.reading(7, 4, 5, u64::MAX), Reading::Counted(Counted { value: 5, span: 4 }));
    }

    proptest! {
        /// A counter that nobody sets back and that is read often enough counts everything.
        #[test]
        fn differences_add_up(
            start in any::<u64>(),
            steps in prop::collection::vec((1_i64..1_000, 0_u64..500), 1..30),
            highest in prop_oneof![Just(u64::MAX), 999_u64..5_000],
        ) {
            let modulus = u128::from(highest) + 1;
            let mut counters = EnergyCounters::default();
            let (mut time, mut true_value) = (0, u128::from(start) % modulus);
            prop_assert_eq!(counters.reading(3, time, true_value as u64, highest), Reading::First);
            for (span, value) in steps {
                time += span;
                true_value += u128::from(value);
                let reading = counters.reading(3, time, (true_value % modulus) as u64, highest);
                prop_assert_eq!(reading, Reading::Counted(Counted { value: value as i64, span }));
            }
        }
    }
}
