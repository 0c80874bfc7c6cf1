//! The largest number of rows that are alive at once, for answers that have no measure of it.

use tracesift_analysis::Span;
use tracesift_grammar::TimeRange;

use super::reading::part;
use super::sums::{Alive, peak};

/// Rows with begin and end, in a time range.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peak {
    lives: Vec<Alive>,
}

impl Peak {
    /// Adds a row; `is_open` tells that it outlives the recording.
    pub(crate) fn add(&mut self, times: (i64, i64), is_open: bool, time: TimeRange) {
        let (start, end) = time.bounds();
        if let Some(part) = part(times, Span::new(start, end), false) {
            let ends = part.ends && !is_open;
            self.lives.push((part.start, ends.then(|| part.start.saturating_add(part.length)), 1));
        }
    }

    /// The largest number of rows at once, as the measure `peak` counts them.
    pub(crate) fn figure(&self) -> i64 {
        peak(&self.lives)
    }
}
