//! Counts the records of a recording, for a comparison with other readers.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::damage::DamageLog;
use crate::kind::Kind;
use crate::metadata::Metadata;
use crate::read::{Records, Stop};
use crate::record::Record;

/// Records of a recording by kind and event.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Records as they stand in the file; compressed ones count as one.
    pub outer: BTreeMap<Kind, u64>,
    /// Records inside compressed ones.
    pub nested: BTreeMap<Kind, u64>,
    /// Samples of each event.
    pub samples: Vec<u64>,
    /// Samples of no event that is known.
    pub unattributed: u64,
    /// First and last time of a sample, in ns of the recording's clock.
    pub sample_times: Option<(u64, u64)>,
    /// First and last time of any record.
    pub record_times: Option<(u64, u64)>,
    /// Why the walk ended before its data, if it did.
    pub stop: Option<Stop>,
    /// What could not be read.
    pub damage: DamageLog,
    /// Events and features, as they were known at the end.
    pub metadata: Option<Arc<Metadata>>,
}

impl Counts {
    /// Walks over all records.
    #[must_use]
    pub fn of(mut records: Records) -> Self {
        let mut counts = Self::default();
        while let Some(record) = records.next() {
            counts.add(&record);
        }
        counts.finish(&records);
        counts
    }

    /// Counts a record, for a walk that does something else with it, too.
    pub fn add(&mut self, record: &Record<'_>) {
        let kinds = if record.was_compressed() { &mut self.nested } else { &mut self.outer };
        *kinds.entry(record.kind()).or_default() += 1;
        if let Some(time) = record.time() {
            widen(&mut self.record_times, time);
        }
        if record.kind() != Kind::Sample {
            return;
        }
        if let Some(time) = record.time() {
            widen(&mut self.sample_times, time);
        }
        match record.event() {
            Some(event) => {
                if self.samples.len() <= event {
                    self.samples.resize(event + 1, 0);
                }
                if let Some(samples) = self.samples.get_mut(event) {
                    *samples += 1;
                }
            }
            None => self.unattributed += 1,
        }
    }

    /// Takes what is known once the walk is through.
    pub fn finish(&mut self, records: &Records) {
        self.samples.resize(self.samples.len().max(records.metadata().events.len()), 0);
        self.stop = records.stop().cloned();
        self.damage = records.damage().clone();
        self.metadata = Some(Arc::clone(records.metadata()));
    }

    /// Records as they stand in the file.
    #[must_use]
    pub fn total_records(&self) -> u64 {
        self.outer.values().sum()
    }

    /// Samples, compressed ones included.
    #[must_use]
    pub fn total_samples(&self) -> u64 {
        self.samples.iter().sum::<u64>() + self.unattributed
    }
}

fn widen(range: &mut Option<(u64, u64)>, time: u64) {
    let (first, last) = range.get_or_insert((time, time));
    *first = time.min(*first);
    *last = time.max(*last);
}
