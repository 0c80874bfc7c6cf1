//! Who runs on which CPU, as context switches tell it.
//!
//! This is what a [tracker of switches](crate::switches) knows of it, without spans and rows: for those who must know who runs before the
//! rows can be made.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The threads that run, by CPU. Feed it with switches in time order.
#[derive(Clone, Debug)]
pub struct Running<T> {
    cpus: Vec<Option<T>>,
    /// Where a thread is believed to run.
    places: FxHashMap<T, u16>,
}

impl<T> Default for Running<T> {
    fn default() -> Self {
        Self { cpus: Vec::new(), places: FxHashMap::default() }
    }
}

impl<T: Copy + Eq + Hash> Running<T> {
    /// These threads run, by CPU.
    pub fn begin(cpus: impl Iterator<Item = Option<T>>) -> Self {
        let cpus: Vec<Option<T>> = cpus.collect();
        let places = cpus.iter().zip(0..=u16::MAX).filter_map(|(thread, cpu)| Some(((*thread)?, cpu))).collect();
        Self { cpus, places }
    }

    /// The thread that runs on a CPU, as far as known.
    #[must_use]
    #[inline]
    pub fn on(&self, cpu: u16) -> Option<T> {
        self.cpus.get(usize::from(cpu)).copied().flatten()
    }

    /// The threads by CPU, as far as known.
    #[must_use]
    pub fn cpus(&self) -> &[Option<T>] {
        &self.cpus
    }

    /// A CPU goes from one thread to another. Where one of them was believed to run on another CPU nobody knows who runs there now.
    #[inline]
    pub fn switch(&mut self, cpu: u16, old: T, new: T) {
        for thread in [old, new] {
            if let Some(place) = self.places.get(&thread).copied().filter(|place| *place != cpu) {
                self.places.remove(&thread);
                self.cpus[usize::from(place)] = None;
            }
        }
        if self.cpus.len() <= usize::from(cpu) {
            self.cpus.resize(usize::from(cpu) + 1, None);
        }
        if let Some(before) = self.cpus[usize::from(cpu)].replace(new) {
            self.places.remove(&before);
        }
        self.places.insert(new, cpu);
    }
}

#[cfg(test)]
mod tests {
    use super::Running;

    #[test]
    fn whoever_is_seen_elsewhere_has_left() {
        let mut running = Running::default();
        running.switch(0, 'a', 'b');
        running.switch(1, 'x', 'y');
        assert_eq!(running.cpus(), [Some('b'), Some('y')]);
        running.switch(1, 'b', 'z');
        assert_eq!(running.cpus(), [None, Some('z')]);
        let mut running = Running::begin(running.cpus().iter().copied());
        running.switch(0, 'z', 'c');
        assert_eq!(running.cpus(), [Some('c'), None]);
    }
}
