//! Records in the order of time, with the buffers that they lie in.

use std::sync::Arc;

use tracesift_prefetch::prefetch;

use crate::frame::Entry;
use crate::record::Record;
use crate::supply::Returning;
use crate::used_buffers::UsedBuffers;

/// How many places ahead of the record that is handed out memory is asked for: neighbours in time lie in the buffers of different
/// CPUs, which no CPU foresees. Between 8 and 24 makes no difference.
const PREFETCH: usize = 12;

/// A loaded buffer, for as long as somebody has records of it.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) content: Returning,
    pub(crate) cpu: u16,
    pub(crate) part: u16,
    pub(crate) index: u32,
    /// Those of its file.
    pub(crate) used: Arc<UsedBuffers>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.used.add(self.index);
    }
}

/// The next records of a [`crate::Merge`], in its order. They can be read on any thread, also when the merge has gone on.
#[derive(Debug, Default)]
pub struct RecordBatch {
    /// Each names one of `buffers` as its slot.
    pub(crate) entries: Vec<Entry>,
    pub(crate) buffers: Vec<Arc<Buffer>>,
    /// Bytes of the buffers of which it has the first records.
    pub(crate) new_bytes: usize,
}

impl RecordBatch {
    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of memory of the buffers of which it has the first records: who keeps batches keeps their buffers.
    #[must_use]
    pub fn new_bytes(&self) -> usize {
        self.new_bytes
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Raw time of a record.
    #[inline]
    #[must_use]
    pub fn time(&self, index: usize) -> Option<i64> {
        self.entries.get(index).map(|entry| entry.time)
    }

    /// A record. Asks for the memory of one that stands further on, so that records are best read one after the other.
    #[inline]
    #[must_use]
    pub fn record(&self, index: usize) -> Option<Record<'_>> {
        let entry = *self.entries.get(index)?;
        self.ask_for(index + PREFETCH);
        let buffer = self.buffers.get(entry.slot())?;
        buffer.content.record(entry, buffer.cpu, buffer.part)
    }

    /// Asks for the memory of a record that is read soon.
    #[inline]
    pub fn ask_for(&self, index: usize) {
        if let Some(later) = self.entries.get(index)
            && let Some(buffer) = self.buffers.get(later.slot())
        {
            prefetch(buffer.content.area.bytes().get(later.offset()..).unwrap_or_default());
        }
    }

    /// All records.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        (0..self.len()).filter_map(|index| self.record(index))
    }

    /// Takes the records from that one on into a batch of their own.
    #[must_use]
    pub fn split_off(&mut self, index: usize) -> Self {
        let entries = self.entries.split_off(index.min(self.entries.len()));
        Self { entries, buffers: self.buffers.clone(), new_bytes: 0 }
    }

    /// Leaves the first records out.
    pub(crate) fn skip(&mut self, count: usize) {
        self.entries.drain(..count.min(self.entries.len()));
    }
}
