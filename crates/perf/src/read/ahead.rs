//! A walk on a thread of its own, so that reading and sorting take none of the time of who uses the records.
//!
//! What one thread writes the other has to fetch from the first one's cache, which takes as long as reading it from the file.
//! So little is handed over: call chains once each.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::chains::{ChainNumber, ChainStore, NewChains};
use super::walk::Walk;
use crate::metadata::Metadata;
use crate::payload::Words;
use crate::record::{Chain, Head, Record};

/// Bytes of records that are handed over at a time.
const BATCH: usize = 256 << 10;

/// How far a walk may run ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead {
    /// Batches that are full and wait.
    pub(super) waiting: usize,
    /// Bytes of the recording after which a batch is handed over though it is not full, so that who follows hears how far the walk is.
    pub(super) far: u64,
}

/// The records of a [`Walk`], which runs ahead. Batches are used again: no record costs an allocation.
pub struct Ahead<W: Walk> {
    batch: Batch,
    chains: ChainStore,
    /// The number of the record behind the current one.
    next: usize,
    full: Receiver<Batch>,
    empty: SyncSender<Batch>,
    walk: JoinHandle<W>,
}

/// Records on their way.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    new_chains: NewChains,
    /// As it was when the batch was full: events only come, and none goes.
    metadata: Option<Arc<Metadata>>,
    position: u64,
}

#[derive(Clone, Copy)]
struct Slot {
    head: Head,
    start: u32,
    /// The call chain that was taken out of the body.
    chain: Option<ChainNumber>,
}

impl Batch {
    fn take(&mut self, record: &Record<'_>, chain: Option<ChainNumber>) {
        let start = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        self.slots.push(Slot { head: *record.head, start, chain });
        self.bytes.extend_from_slice(record.body);
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.slots.clear();
        self.metadata = None;
    }
}

/// Hands batch after batch over until the records or the interest in them ends.
fn run<W: Walk>(mut walk: W, far: u64, filled: &SyncSender<Batch>, emptied: &Receiver<Batch>) -> W {
    walk.number_chains();
    loop {
        let mut batch = emptied.try_recv().unwrap_or_default();
        batch.clear();
        let mut more = true;
        let far = walk.position().saturating_add(far);
        while more && batch.bytes.len() + walk.new_chain_bytes() < BATCH && walk.position() < far {
            more = walk.advance();
            if let Some((record, chain)) = walk.current_without_chain() {
                batch.take(&record, chain);
            }
        }
        walk.take_new_chains(&mut batch.new_chains);
        batch.metadata = Some(Arc::clone(walk.metadata()));
        batch.position = walk.position();
        if filled.send(batch).is_err() || !more {
            return walk;
        }
    }
}

impl<W: Walk> Ahead<W> {
    /// Goes on with a walk on a thread of its own.
    pub(super) fn new(walk: W, Lead { waiting, far }: Lead) -> Self {
        let (filled, full) = sync_channel(waiting);
        // One more is being read, and one filled.
        let (empty, emptied) = sync_channel(waiting + 2);
        let walk = std::thread::spawn(move || run(walk, far, &filled, &emptied));
        Self { batch: Batch::default(), chains: ChainStore::default(), next: 0, full, empty, walk }
    }

    /// The next record.
    #[expect(clippy::should_implement_trait, reason = "the record borrows from the batch that it came in")]
    #[inline]
    pub fn next(&mut self) -> Option<Record<'_>> {
        if self.advance() { self.current() } else { None }
    }

    /// Moves to the next record; see [`Ahead::current`].
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.next += 1;
        while self.next > self.batch.slots.len() {
            let Ok(batch) = self.full.recv() else { return false };
            let used = std::mem::replace(&mut self.batch, batch);
            self.next = 1;
            self.chains.take(&self.batch.new_chains);
            // Where nobody waits for it any more the walk has come to its end.
            drop(self.empty.try_send(used));
        }
        true
    }

    /// The record that [`Ahead::advance`] moved to.
    #[must_use]
    #[inline]
    pub fn current(&self) -> Option<Record<'_>> {
        let slot = self.batch.slots.get(self.next.checked_sub(1)?)?;
        let end = self.batch.slots.get(self.next).map_or(self.batch.bytes.len(), |slot| slot.start as usize);
        let body = self.batch.bytes.get(slot.start as usize..end)?;
        let record = Record::new(&slot.head, body, &self.batch.metadata.as_ref()?.events);
        let Some(number) = slot.chain else { return Some(record) };
        let words = Words::new(self.chains.get(number).unwrap_or_default(), record.layout.endian);
        Some(record.with_chain(Chain { number, words }))
    }

    /// What was known of the recording a little behind the current record; `None` before the first.
    #[must_use]
    #[inline]
    pub fn metadata(&self) -> Option<&Arc<Metadata>> {
        self.batch.metadata.as_ref()
    }

    /// Bytes of the file or stream that were walked over, for progress.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.batch.position
    }

    /// Ends the walk, wherever it is.
    #[must_use]
    pub fn finish(self) -> W {
        let Self { full, empty, walk, .. } = self;
        // Without anybody who receives, the walk ends with its batch.
        drop((full, empty));
        walk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
