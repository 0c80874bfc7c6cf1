//! The records of a recording, cut into slices of time that threads can work on side by side.
//!
//! A merge hands the records out in one order, whatever the number of threads. A slice is a run of its batches. Stacks come later than
//! their events, so a slice also has the batches behind it as far as the look-ahead reaches.

use std::collections::VecDeque;
use std::sync::Arc;

use tracesift_etl::{DamageLog, EtlFile, Merge, MergeOptions, RecordBatch};

/// A run of records.
#[derive(Debug)]
pub(super) struct Slice {
    /// Its batches; none is empty, and each record is earlier than all of the next slice.
    pub(super) own: Vec<Arc<RecordBatch>>,
    /// Those behind it, as far as the look-ahead reaches.
    pub(super) behind: Vec<Arc<RecordBatch>>,
    /// Bytes of the recording that were read for it and all before it.
    pub(super) bytes_read: u64,
}

impl Slice {
    /// Time of its first record.
    pub(super) fn start(&self) -> i64 {
        self.own.first().and_then(|batch| batch.time(0)).unwrap_or(i64::MAX)
    }

    /// Time of its last record.
    pub(super) fn end(&self) -> i64 {
        self.own.last().map_or(i64::MIN, last_time)
    }
}

fn last_time(batch: &Arc<RecordBatch>) -> i64 {
    batch.len().checked_sub(1).and_then(|last| batch.time(last)).unwrap_or(i64::MIN)
}

/// Cuts the records of a recording into slices.
pub(super) struct Slices {
    merge: Merge,
    /// Batches that no slice has as its own yet.
    next: VecDeque<Arc<RecordBatch>>,
    records: usize,
    /// How far a slice looks ahead, ticks.
    lead: i64,
}

impl Slices {
    /// Slices of at least `records` records.
    pub(super) fn new(files: &[EtlFile], options: MergeOptions, records: usize, lead: i64) -> Self {
        Self { merge: Merge::new(files, options), next: VecDeque::new(), records: records.max(1), lead }
    }

    /// Damage that was met, by file.
    pub(super) fn damage(&self, part: usize) -> Option<&DamageLog> {
        self.merge.damage(part)
    }

    /// Loads the batch at this place behind the own ones; `None` behind the last one.
    fn behind(&mut self, place: usize) -> Option<&Arc<RecordBatch>> {
        while self.next.len() <= place {
            let mut batch = self.merge.next_batch()?;
            while batch.len() > self.records {
                let rest = batch.split_off(self.records);
                self.next.push_back(Arc::new(std::mem::replace(&mut batch, rest)));
            }
            self.next.push_back(Arc::new(batch));
        }
        self.next.get(place)
    }
}

impl Iterator for Slices {
    type Item = Slice;

    fn next(&mut self) -> Option<Slice> {
        let mut own = Vec::new();
        let enough = self.records;
        let (mut count, mut end) = (0, i64::MIN);
        while let Some(batch) = self.behind(0) {
            // What has one time stays together.
            if count >= enough && batch.time(0) != Some(end) {
                break;
            }
            (count, end) = (count + batch.len(), last_time(batch));
            own.extend(self.next.pop_front());
        }
        if own.is_empty() {
            return None;
        }
        let reach = end.saturating_add(self.lead);
        let mut behind = Vec::new();
        while let Some(batch) = self.behind(behind.len())
            && batch.time(0).is_some_and(|time| time <= reach)
        {
            behind.push(Arc::clone(batch));
        }
        Some(Slice { own, behind, bytes_read: self.merge.bytes_read() })
    }
}
