//! What could not be used, why, how often: partial failure is counted, never fatal.

use std::collections::BTreeMap;

/// Counters by kind, each with its first example. Printed in the summary of an extract and stored as the `health` table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    counters: BTreeMap<&'static str, Counter>,
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

    /// Counts one occurrence of `kind`. `example` is only called for the first one.
    pub fn count(&mut self, kind: &'static str, ticks: Option<i64>, example: impl FnOnce() -> String) {
        self.add(kind, 1, ticks, example);
    }

    /// Adds `count` occurrences of `kind`; nothing when `count` is 0.
    pub fn add(&mut self, kind: &'static str, count: i64, ticks: Option<i64>, example: impl FnOnce() -> String) {
        if count == 0 {
            return;
        }
        let counter = self.counters.entry(kind).or_default();
        if counter.count == 0 {
            counter.first_ticks = ticks;
            counter.example = Some(example());
        }
        counter.count = counter.count.saturating_add(count);
    }

    /// How often `kind` was counted.
    #[must_use]
    pub fn get(&self, kind: &str) -> i64 {
        self.counters.get(kind).map_or(0, |c| c.count)
    }

    /// All kinds with their counters, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Counter)> {
        self.counters.iter().map(|(kind, counter)| (*kind, counter))
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    /// Adds the counters of `other`; examples of `self` win.
    pub fn merge(&mut self, other: &Self) {
        for (kind, theirs) in &other.counters {
            self.add(kind, theirs.count, theirs.first_ticks, || theirs.example.clone().unwrap_or_default());
        }
    }
}
