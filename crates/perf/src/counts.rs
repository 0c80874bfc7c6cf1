//! How much of what is in a recording: what a second reader can be held against.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::damage::DamageLog;
use crate::kind::Kind;
use crate::metadata::Metadata;
use crate::read::{Records, Stop};

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
            let kinds = if record.was_compressed() { &mut counts.nested } else { &mut counts.outer };
            *kinds.entry(record.kind()).or_default() += 1;
            if let Some(time) = record.time() {
                widen(&mut counts.record_times, time);
            }
            if record.kind() != Kind::Sample {
                continue;
            }
            if let Some(time) = record.time() {
                widen(&mut counts.sample_times, time);
            }
            match record.event() {
                Some(event) => {
                    if counts.samples.len() <= event {
                        counts.samples.resize(event + 1, 0);
                    }
                    if let Some(samples) = counts.samples.get_mut(event) {
                        *samples += 1;
                    }
                }
                None => counts.unattributed += 1,
            }
        }
        counts.samples.resize(counts.samples.len().max(records.metadata().events.len()), 0);
        counts.stop = records.stop().cloned();
        counts.damage = records.damage().clone();
        counts.metadata = Some(Arc::clone(records.metadata()));
        counts
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
