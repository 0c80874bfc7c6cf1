//! A choice of some numbers: of threads, or of processes.

/// Larger numbers are always chosen, so that a damaged archive does not take any memory it likes.
const MOST: usize = 1 << 20;

/// Some numbers.
#[derive(Clone, Debug)]
pub(crate) struct Few {
    /// Whether each one is chosen.
    has: Vec<bool>,
}

impl Few {
    pub(crate) fn of(numbers: impl IntoIterator<Item = i32>) -> Self {
        let mut has = Vec::new();
        for place in numbers.into_iter().filter_map(|number| usize::try_from(number).ok()).filter(|place| *place < MOST)
        {
            has.resize(has.len().max(place + 1), false);
            has[place] = true;
        }
        Self { has }
    }

    /// Whether a number may be one of them: those that are too large, or below 0, all may.
    #[inline]
    pub(crate) fn has(&self, number: i32) -> bool {
        usize::try_from(number).map_or(true, |place| self.has.get(place).copied().unwrap_or(place >= MOST))
    }
}
