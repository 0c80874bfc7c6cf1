//! Sets of CPUs.

/// A set of CPU numbers. Most machines have no more than 64, which takes one word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuSet {
    low: u64,
    /// CPUs from 64 on, 64 per word. CPU numbers have 15 bits, so this stays below 4 KiB.
    high: Vec<u64>,
}

impl CpuSet {
    /// Adds a CPU; a negative number is none and is ignored.
    pub fn insert(&mut self, cpu: i16) {
        let Ok(cpu) = usize::try_from(cpu) else { return };
        let bit = 1 << (cpu % 64);
        match (cpu / 64).checked_sub(1) {
            None => self.low |= bit,
            Some(word) => {
                if word >= self.high.len() {
                    self.high.resize(word + 1, 0);
                }
                self.high[word] |= bit;
            }
        }
    }

    /// Adds all CPUs of another set.
    pub fn union_with(&mut self, other: &Self) {
        self.low |= other.low;
        if self.high.len() < other.high.len() {
            self.high.resize(other.high.len(), 0);
        }
        for (mine, theirs) in self.high.iter_mut().zip(&other.high) {
            *mine |= theirs;
        }
    }

    /// How many CPUs are in it.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.low.count_ones() + self.high.iter().map(|word| word.count_ones()).sum::<u32>()
    }

    /// The CPUs in it, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let words = std::iter::once(&self.low).chain(&self.high);
        (0..)
            .zip(words)
            .flat_map(|(index, word)| (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| index * 64 + bit))
    }

    /// Whether no CPU is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::CpuSet;

    #[test]
    fn holds_every_number_that_a_row_can_carry() {
        let mut set = CpuSet::default();
        assert!(set.is_empty());
        for cpu in [-1, 0, 63, 64, 64, i16::MAX] {
            set.insert(cpu);
        }
        let mut other = CpuSet::default();
        other.insert(5);
        other.union_with(&set);
        assert_eq!(other.iter().collect::<Vec<_>>(), [0, 5, 63, 64, 32767]);
        assert_eq!(other.count(), 5);
    }
}
