//! The records of a recording, cut into slices of time that threads can work on side by side.
//!
//! A merge hands the records out in one order, whatever the number of threads. A slice is a run of its batches. Stacks come later than
//! their events, so a slice also has the batches behind it as far as the look-ahead reaches.

use std::collections::VecDeque;
use std::sync::Arc;

use tracesift_etl::{DamageLog, EtlFile, Merge, MergeOptions, RecordBatch};

/// Records of a slice, or behind it, at most. Only a forged recording has more at one time or within a millisecond.
const MANY_RECORDS: usize = 1 << 21;

/// A run of records.
#[derive(Debug)]
pub(super) struct Slice {
    /// Cuts before it. With a longer look-ahead a slice has several cuts in it.
    pub(super) cuts_before: usize,
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
    cut: Cut,
    cuts: usize,
}

/// How a recording is cut.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cut {
    /// Records between two cuts, at least.
    pub(super) records: usize,
    /// How long a slice is at least, ticks: it ends at the next cut.
    pub(super) length: i64,
    /// How far a slice looks ahead, ticks.
    pub(super) lead: i64,
}

impl Slices {
    pub(super) fn new(files: &[EtlFile], options: MergeOptions, cut: Cut) -> Self {
        let cut = Cut { records: cut.records.max(1), ..cut };
        Self { merge: Merge::new(files, options), next: VecDeque::new(), cut, cuts: 0 }
    }

    /// Damage that was met, by file.
    pub(super) fn damage(&self, part: usize) -> Option<&DamageLog> {
        self.merge.damage(part)
    }

    /// Loads the batch at this place behind the own ones; `None` behind the last one.
    fn behind(&mut self, place: usize) -> Option<&Arc<RecordBatch>> {
        while self.next.len() <= place {
            let mut batch = self.merge.next_batch()?;
            while batch.len() > self.cut.records {
                let rest = batch.split_off(self.cut.records);
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
        let Cut { records, length, lead } = self.cut;
        let start = self.behind(0)?.time(0).unwrap_or(i64::MIN);
        let cuts_before = self.cuts;
        let (mut count, mut since_cut, mut end) = (0, 0, i64::MIN);
        while let Some(batch) = self.behind(0) {
            // What has one time stays together.
            if since_cut >= records && (batch.time(0) != Some(end) || count >= MANY_RECORDS) {
                if end.saturating_sub(start) >= length || count >= MANY_RECORDS {
                    break;
                }
                (self.cuts, since_cut) = (self.cuts + 1, 0);
                continue;
            }
            (count, since_cut, end) = (count + batch.len(), since_cut + batch.len(), last_time(batch));
            own.extend(self.next.pop_front());
        }
        self.cuts += 1;
        let reach = end.saturating_add(lead);
        let (mut behind, mut count) = (Vec::new(), 0);
        while let Some(batch) = self.behind(behind.len())
            && batch.time(0).is_some_and(|time| time <= reach)
            && count < MANY_RECORDS
        {
            count += batch.len();
            behind.push(Arc::clone(batch));
        }
        Some(Slice { cuts_before, own, behind, bytes_read: self.merge.bytes_read() })
    }
}
