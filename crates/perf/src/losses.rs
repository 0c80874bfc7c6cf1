//! Events that the recorder lost.

use crate::metadata::Metadata;
use crate::payload::{FORMAT_LOST, Payload};

/// Records and samples that were lost, as `LOST` and `LOST_SAMPLES` tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    records: u64,
    samples: u64,
}

impl Losses {
    /// Takes what a record says; others than the two are ignored.
    pub fn add(&mut self, payload: &Payload<'_>) {
        match payload {
            Payload::Lost(lost) => self.records = self.records.saturating_add(lost.count),
            Payload::LostSamples(lost) if !lost.filtered => self.samples = self.samples.saturating_add(lost.count),
            _ => {}
        }
    }

    /// How many in all. Since Linux 6.1 the kernel counts the losses of each event, too, and perf writes these counts at its end:
    /// then both kinds tell of the same.
    #[must_use]
    pub fn total(&self, metadata: &Metadata) -> u64 {
        let mut events = metadata.events.all().iter();
        match events.any(|event| event.attr.read_format.bits() & FORMAT_LOST != 0) {
            true => self.records.max(self.samples),
            false => self.records.saturating_add(self.samples),
        }
    }
}
