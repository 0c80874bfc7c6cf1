//! The scale of a window: all pictures of a section have it, so that they can be read one below the other.

use crate::html::Html;
use crate::model::explanation::Account;
use crate::picture::{line, text};
use crate::scale::Scale;

pub(super) const WIDTH: f64 = 960.0;
pub(super) const LEFT: f64 = 20.0;
pub(super) const RIGHT: f64 = 930.0;

/// From instants since the start of the window to places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    from: i64,
    length: i64,
    scale: Scale,
}

impl Window {
    pub(super) fn of(account: &Account) -> Self {
        let scale = Scale::from_zero([account.length as f64].into_iter(), LEFT, RIGHT);
        Self { from: account.from, length: account.length, scale }
    }

    /// The place of a time since the start of the window. It is a place that is written without loss, so that neighbours meet.
    pub(super) fn at(&self, time: i64) -> f64 {
        (10.0 * self.scale.at(time as f64)).round() / 10.0
    }

    /// Instants of the recording as times since the start of the window. What lies outside is cut.
    pub(super) fn inside(&self, span: [i64; 2]) -> [i64; 2] {
        span.map(|instant| instant.saturating_sub(self.from).clamp(0, self.length.max(0)))
    }

    /// Marks of round times, with their texts below.
    pub(super) fn add_axis(&self, html: &mut Html, [top, bottom]: [f64; 2]) {
        for (value, label) in self.scale.ticks(8) {
            let x = self.scale.at(value);
            line(html, "tick-mark", [x, top, x, bottom]);
            text(html, "tick", [x, bottom + 13.0], &label);
        }
    }
}
