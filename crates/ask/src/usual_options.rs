//! The options that questions share which can be a series.

use clap::Args;

use crate::ask::{SeriesOptions, When, WhenOptions};
use crate::filter::ProcessFilter;
use crate::order::Top;

/// Which processes, which part of each recording, in which time windows, and how many rows.
#[derive(Args, Clone, Debug)]
pub struct UsualOptions {
    /// Which processes.
    #[command(flatten)]
    pub filter: ProcessFilter,
    /// The part of each recording.
    #[command(flatten)]
    pub when: WhenOptions,
    /// The time windows of a series.
    #[command(flatten)]
    pub series: SeriesOptions,
    /// How many rows.
    #[command(flatten)]
    pub top: Top,
}

impl UsualOptions {
    /// The part, the instant that is zero, and the time windows.
    #[must_use]
    pub fn when(&self) -> When {
        When { bucket: self.series.bucket, ..self.when.when() }
    }
}
