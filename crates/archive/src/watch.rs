//! Lets others see how far a reading is, and end it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::Error;

/// What somebody who waits for an answer holds: how far it is, and the way to end it. Its clones are the same watch, and one watch
/// can be that of several archives ([`Archive::watched_by`](crate::Archive::watched_by)).
///
/// A reading looks at it before each batch of at most 16,384 rows; one that chooses rows by some of their columns before it
/// decodes the others looks before each row group.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_cancelled: AtomicBool,
    done: AtomicU64,
    all: AtomicU64,
    archives: AtomicU64,
}

/// How far the readings under a [`Watch`] are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows that were read, and those that turned out not to be needed.
    pub done: u64,
    /// Rows of the row groups of all readings that have begun: never fewer than are done. When the next reading begins they become more,
    /// so that both numbers only grow, and their ratio may fall.
    pub all: u64,
    /// Archives that are through, whatever was read of them: of a question to many, their rows are not known before.
    pub archives: u64,
}

impl Watch {
    /// Ends all that is read under this watch: the readings fail with [`Error::Cancelled`]. There is no way back.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Relaxed)
    }

    /// For work that takes long without reading rows.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if it was cancelled.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Says that one more archive is through. Only who asks many archives knows.
    pub fn archive_is_through(&self) {
        self.0.archives.fetch_add(1, Ordering::Relaxed);
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        // In this order: rows are announced before they are done.
        let done = self.0.done.load(Ordering::Acquire);
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Progress { done, all: load(&self.0.all), archives: load(&self.0.archives) }
    }
}

/// The rows of a reading that its watch was told of and that are not done yet. When the reading ends early, they are done, too: nobody
/// needs them any more.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    watch: Watch,
    left: u64,
}

impl Pass {
    /// A reading of so many rows.
    pub(crate) fn new(watch: &Watch, rows: u64) -> Self {
        watch.0.all.fetch_add(rows, Ordering::Relaxed);
        Self { watch: watch.clone(), left: rows }
    }

    /// Takes a part of the reading out of it; what it has too little for is announced.
    pub(crate) fn share(&mut self, rows: u64) -> Self {
        let known = rows.min(self.left);
        self.left -= known;
        let mut share = Self::new(&self.watch, rows - known);
        share.left = rows;
        share
    }

    /// So many more rows are done.
    pub(crate) fn done(&mut self, rows: u64) {
        let rows = rows.min(self.left);
        self.left -= rows;
        self.watch.0.done.fetch_add(rows, Ordering::Release);
    }

    /// Only so many rows are left.
    pub(crate) fn done_but(&mut self, left: u64) {
        self.done(self.left.saturating_sub(left));
    }

    /// Fails if nobody waits any more.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.watch.check()
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if !self.watch.is_cancelled() {
            self.done(self.left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pass, Watch};

    fn rows(watch: &Watch) -> (u64, u64) {
        let progress = watch.progress();
        (progress.done, progress.all)
    }

    #[test]
    fn parts_of_a_reading_are_announced_once() {
        let watch = Watch::default();
        let mut whole = Pass::new(&watch, 100);
        let mut part = whole.share(60);
        part.done(50);
        assert_eq!(rows(&watch), (50, 100));
        // More than there was.
        let mut larger = whole.share(70);
        assert_eq!(rows(&watch), (50, 130));
        larger.done_but(20);
        assert_eq!(rows(&watch), (100, 130));
        drop((part, larger, whole));
        assert_eq!(rows(&watch), (130, 130));
    }

    #[test]
    fn what_a_cancelled_reading_has_left_is_not_done() {
        let watch = Watch::default();
        let mut pass = Pass::new(&watch, 10);
        pass.done(3);
        watch.cancel();
        drop(pass);
        assert_eq!(rows(&watch), (3, 10));
    }
}
