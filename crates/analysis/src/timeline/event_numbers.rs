//! Numbers of the kinds of events.

use rustc_hash::FxHashMap;

/// Numbers of the kinds of events, in the order in which they are met.
#[derive(Clone, Debug, Default)]
pub struct EventNumbers {
    numbers: FxHashMap<String, FxHashMap<String, usize>>,
    names: Vec<(String, String)>,
    /// The kind of the event before: many events of a kind stand next to each other.
    latest: usize,
}

impl EventNumbers {
    /// The number of a kind.
    #[inline]
    pub fn number(&mut self, provider: &str, event: &str) -> i32 {
        let is_latest = self.names.get(self.latest).is_some_and(|(of, name)| of == provider && name == event);
        if !is_latest {
            self.latest = self.place(provider, event);
        }
        i32::try_from(self.latest).unwrap_or(i32::MAX)
    }

    fn place(&mut self, provider: &str, event: &str) -> usize {
        if let Some(known) = self.numbers.get(provider).and_then(|events| events.get(event)) {
            return *known;
        }
        let place = self.names.len();
        self.names.push((provider.to_owned(), event.to_owned()));
        self.numbers.entry(provider.to_owned()).or_default().insert(event.to_owned(), place);
        place
    }

    /// The numbers here of the kinds of another list, by their numbers there.
    pub fn numbers_of(&mut self, others: &Self) -> Vec<i32> {
        others.names.iter().map(|(provider, event)| self.number(provider, event)).collect()
    }

    /// Provider and name of a kind.
    #[must_use]
    pub fn name(&self, number: i32) -> Option<&(String, String)> {
        self.names.get(usize::try_from(number).ok()?)
    }

    /// Provider and name of each kind, by number.
    #[must_use]
    pub fn names(&self) -> &[(String, String)] {
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::EventNumbers;

    #[test]
    fn each_kind_has_one_number() {
        let mut kinds = EventNumbers::default();
        let met = [("A", "start"), ("A", "stop"), ("A", "start"), ("B", "start"), ("B", "start"), ("A", "stop")];
        let numbers = met.map(|(provider, event)| kinds.number(provider, event));
        assert_eq!(numbers, [0, 1, 0, 2, 2, 1]);
        assert_eq!(kinds.name(2), Some(&("B".to_owned(), "start".to_owned())));
        assert_eq!((kinds.name(3), kinds.name(-1), kinds.names().len()), (None, None, 3));
        let mut others = EventNumbers::default();
        for (provider, event) in [("C", "start"), ("B", "start")] {
            others.number(provider, event);
        }
        assert_eq!(kinds.numbers_of(&others), [3, 2]);
    }
}
