//! The records of a recording, cut into slices of time that threads can work on side by side.
//!
//! A merge hands the records out in one order, whatever the number of threads. A slice is a run of its batches. Stacks come later than
//! their events, so a slice also has the batches behind it as far as the look-ahead reaches.

use std::collections::VecDeque;
use std::sync::Arc;

use tracesift_etl::{DamageLog, EtlFile, Merge, MergeOptions, RecordBatch};

/// Records of a slice, or behind it, at most, and bytes of their buffers. Only a forged recording has more at one time or within a
/// millisecond.
const MANY_RECORDS: usize = 1 << 21;
const MANY_BYTES: usize = 128 << 20;

/// What batches keep in memory.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    records: usize,
    bytes: usize,
}

impl Size {
    fn with(self, batch: &RecordBatch) -> Self {
        Self { records: self.records + batch.len(), bytes: self.bytes + batch.new_bytes() }
    }
}

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
    /// Records between two cuts, at least; or bytes of buffers, which records keep in memory.
    pub(super) records: usize,
    pub(super) bytes: usize,
    /// How long a slice is at least, ticks: it ends at the next cut.
    pub(super) length: i64,
    /// How far a slice looks ahead, ticks.
    pub(super) lead: i64,
}

impl Slices {
    pub(super) fn new(files: &[EtlFile], options: MergeOptions, cut: Cut) -> Self {
        let cut = Cut { records: cut.records.max(1), bytes: cut.bytes.max(1), ..cut };
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
        let Cut { records, bytes, length, lead } = self.cut;
        let start = self.behind(0)?.time(0).unwrap_or(i64::MIN);
        let cuts_before = self.cuts;
        let (mut all, mut since_cut, mut end) = (Size::default(), Size::default(), i64::MIN);
        let many = |size: Size| size.records >= MANY_RECORDS || size.bytes >= MANY_BYTES;
        while let Some(batch) = self.behind(0) {
            // What has one time stays together. Both passes cut here, so that this must not depend on where the slice began.
            let is_enough = since_cut.records >= records || since_cut.bytes >= bytes;
            if is_enough && (batch.time(0) != Some(end) || many(since_cut)) {
                if end.saturating_sub(start) >= length || many(all) {
                    break;
                }
                (self.cuts, since_cut) = (self.cuts + 1, Size::default());
                continue;
            }
            (all, since_cut, end) = (all.with(batch), since_cut.with(batch), last_time(batch));
            own.extend(self.next.pop_front());
        }
        self.cuts += 1;
        let reach = end.saturating_add(lead);
        let (mut behind, mut size) = (Vec::new(), Size::default());
        while let Some(batch) = self.behind(behind.len())
            && batch.time(0).is_some_and(|time| time <= reach)
            && !many(size)
        {
            size = size.with(batch);
            behind.push(Arc::clone(batch));
        }
        Some(Slice { cuts_before, own, behind, bytes_read: self.merge.bytes_read() })
    }
}
