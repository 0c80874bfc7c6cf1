//! Collects the facts that the events of a Linux recording need before the first one is shown.

use std::sync::Arc;

use tracesift_perf::{MergeOptions, Metadata, PerfFile};
use tracesift_trace::{Clock, Population};

use super::describe::start_filetime;
use super::inventory::Inventory;
use super::time::TICKS_PER_SECOND;

/// What explains the events of a Linux recording.
#[derive(Debug)]
pub struct LinuxSurvey {
    /// The recording's clock.
    pub clock: Clock,
    /// Its events and their formats, as they are known at its end.
    pub metadata: Arc<Metadata>,
    /// Its processes and threads.
    pub population: Population,
}

/// Time zero of a Linux recording as FILETIME, 0 where it does not say; and its end, ns since time zero.
pub(crate) fn start_and_end(file: &PerfFile) -> (i64, i64) {
    let mut inventory = Inventory::new();
    let mut merged = file.merged(MergeOptions::default());
    while let Some(record) = merged.next() {
        inventory.record(&record);
    }
    (start_filetime(merged.metadata(), inventory.zero()).unwrap_or(0), inventory.end_ns())
}

/// Walks a Linux recording once.
#[must_use]
pub fn survey_linux(file: &PerfFile) -> LinuxSurvey {
    let mut inventory = Inventory::new();
    let mut merged = file.merged(MergeOptions::default());
    while let Some(record) = merged.next() {
        inventory.record(&record);
    }
    let metadata = merged.metadata().clone();
    let clock = Clock::new(inventory.zero(), TICKS_PER_SECOND);
    let population = inventory.lifetimes.freeze(clock, 0);
    LinuxSurvey { clock, metadata, population }
}
