//! Collects the facts that the events of a Linux recording need before the first one is shown.

use std::sync::Arc;

use tracesift_perf::{MergeOptions, Metadata, PerfFile};
use tracesift_trace::{Clock, Population};

use super::describe::start_filetime;
use super::inventory::Inventory;
use super::time::TICKS_PER_SECOND;
use crate::calendar::Calendar;

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

/// The calendar of a Linux recording, without the recorder's time zone.
pub(crate) fn calendar_of_linux(file: &PerfFile) -> Calendar {
    let mut inventory = Inventory::new();
    let mut merged = file.merged(MergeOptions::default());
    while let Some(record) = merged.next() {
        inventory.record(&record);
    }
    Calendar {
        start_filetime: start_filetime(merged.metadata(), inventory.zero()).unwrap_or(0),
        utc_offset_minutes: 0,
        end_ns: inventory.end_ns(),
    }
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
