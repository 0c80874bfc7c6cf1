//! Collects the facts that events need before the first one is shown: names of fields, lifetimes of
//! processes.
//!
//! The merge of a recording puts descriptions anywhere and rundown at its end, so all records are walked once; of nearly all of
//! them only the header is looked at.

use tracesift_etl::payload::{Process, Thread, ThreadName};
use tracesift_etl::schema::Schemas;
use tracesift_etl::{EtlFile, EventClass, Group, Merge, MergeOptions, Record};
use tracesift_trace::{Clock, Population};

use super::clock::{clock, start_filetime};
use super::inventory::{Inventory, KERNEL_PROCESS};

/// What explains the events of a recording.
#[derive(Debug)]
pub struct Survey {
    /// The recording's clock.
    pub clock: Clock,
    /// Names and layouts of its events.
    pub schemas: Schemas,
    /// Its processes and threads.
    pub population: Population,
}

/// Walks the files of one recording.
#[must_use]
pub fn survey(files: &[EtlFile]) -> Survey {
    let clock = clock(files);
    let mut inventory = Inventory::new(clock, start_filetime(files, clock));
    let mut merge = Merge::of(files, MergeOptions::default(), explains);
    while let Some(record) = merge.next() {
        inventory.record(&record);
    }
    let mut schemas = std::mem::take(&mut inventory.schemas);
    schemas.settle();
    let population = inventory.take_lifetimes().freeze(clock, 0);
    Survey { clock, schemas, population }
}

/// Whether a record explains others.
fn explains(record: &Record<'_>) -> bool {
    if let Some(provider) = record.provider() {
        return provider == KERNEL_PROCESS && record.event_id().is_some_and(|id| matches!(id, 1..=4 | 15))
            || Schemas::has_schema(record);
    }
    match record.class() {
        EventClass::Kernel { group: Group::PROCESS, opcode, .. } => {
            matches!(opcode, Process::START | Process::END | Process::DC_START | Process::DC_END | Process::DEFUNCT)
        }
        EventClass::Kernel { group: Group::THREAD, opcode, .. } => {
            matches!(opcode, Thread::START | Thread::END | Thread::DC_START | Thread::DC_END | ThreadName::OPCODE)
        }
        EventClass::Kernel { .. } => false,
        _ => Schemas::has_schema(record),
    }
}
