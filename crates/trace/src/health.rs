//! Data that could not be used, with reason and count: partial failure is counted, never fatal.

use std::collections::BTreeMap;

use crate::health_kinds::HealthKind;

/// Counters by kind, each with its first example. Printed in the summary of an extract and stored as the `health` table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    counters: BTreeMap<&'static str, (HealthKind, Counter)>,
}

/// One kind of trouble.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// How often it happened, or how much was lost where the kind says so (`events_lost`).
    pub count: i64,
    /// Raw tick of the first occurrence, where it has a time.
    pub first_ticks: Option<i64>,
    /// The first occurrence in words.
    pub example: Option<String>,
}

impl Health {
    /// Nothing wrong yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one occurrence of `kind`. `example` is only called if it may be the first one.
    pub fn count(&mut self, kind: HealthKind, ticks: Option<i64>, example: impl FnOnce() -> String) {
        self.add(kind, 1, ticks, example);
    }

    /// Adds `count` occurrences of `kind`; nothing when `count` is 0. The first one is the earliest, and of one time that with the smallest
    /// text: so it does not depend on who counts before whom.
    pub fn add(&mut self, kind: HealthKind, count: i64, ticks: Option<i64>, example: impl FnOnce() -> String) {
        if count == 0 {
            return;
        }
        let (_, counter) = self.counters.entry(kind.word()).or_insert_with(|| (kind, Counter::default()));
        if counter.count == 0 {
            counter.first_ticks = ticks;
            counter.example = Some(example());
        } else if let Some(ticks) = ticks
            && counter.first_ticks.is_none_or(|first| ticks <= first)
        {
            let (example, is_earlier) = (example(), counter.first_ticks != Some(ticks));
            if is_earlier || counter.example.as_ref().is_some_and(|first| example < *first) {
                counter.example = Some(example);
            }
            counter.first_ticks = Some(ticks);
        }
        counter.count = counter.count.saturating_add(count);
    }

    /// How often the kind with that [word](HealthKind::word) was counted.
    #[must_use]
    pub fn get(&self, word: &str) -> i64 {
        self.counters.get(word).map_or(0, |(_, counter)| counter.count)
    }

    /// All kinds with their counters, by their words.
    pub fn iter(&self) -> impl Iterator<Item = (HealthKind, &Counter)> {
        self.counters.values().map(|(kind, counter)| (*kind, counter))
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    /// Adds the counters of `other`; of examples without a time those of `self` win.
    pub fn merge(&mut self, other: &Self) {
        for (kind, theirs) in other.counters.values() {
            self.add(*kind, theirs.count, theirs.first_ticks, || theirs.example.clone().unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_the_earliest_whoever_counts_first() {
        let kind = HealthKind::BROKEN_SWITCH_CHAIN;
        let counted = [(Some(7), "late"), (Some(3), "b"), (None, "at no time"), (Some(3), "a"), (Some(5), "c")];
        for first in 0..counted.len() {
            let mut of_slices = [Health::new(), Health::new()];
            for (number, (ticks, example)) in counted.iter().cycle().skip(first).take(counted.len()).enumerate() {
                of_slices[number % 2].count(kind, *ticks, || (*example).to_owned());
            }
            let [mut all, other] = of_slices;
            all.merge(&other);
            let counter = &all.counters[kind.word()].1;
            assert_eq!((counter.count, counter.first_ticks, counter.example.as_deref()), (5, Some(3), Some("a")));
        }
    }
}
