//! Runs a walk on a thread of its own, so that the user of the records has a processor alone.
//!
//! Each byte that the walk writes has to move to the cache of the other processor, which takes as
//! long as reading it from the file. The walk therefore hands over little: each call chain once.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use tracesift_prefetch::prefetch;

use super::chains::{ChainNumber, ChainStore, NewChains};
use super::walk::Walk;
use crate::metadata::Metadata;
use crate::payload::Words;
use crate::record::{Chain, Head, Record};

/// How many records before its turn the memory of a record is asked for, and what it points to half as early.
const SOON: usize = 8;
/// Bytes of records per batch.
const BATCH: usize = 256 << 10;

/// The limits of the distance between a walk and the user of its records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead {
    /// Full batches that wait, at most.
    pub(super) waiting: usize,
    /// Bytes of the recording after which a batch is handed over although it is not full, so that
    /// the user learns the position of the walk.
    pub(super) far: u64,
}

/// The records of a [`Walk`] that runs on another thread. Batches are used again, so a record costs
/// no allocation.
pub struct Ahead<W: Walk> {
    batch: Batch,
    chains: ChainStore,
    /// The index of the record after the current one.
    next: usize,
    full: Receiver<Batch>,
    empty: SyncSender<Batch>,
    walk: JoinHandle<W>,
}

/// A batch of records.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    new_chains: NewChains,
    /// The metadata at the time when the batch was full. Events are only added, never removed.
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

/// Hands over batches until the records end or the receiver is gone.
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
    /// Starts a thread that continues the walk.
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

    /// A record that comes soon, for those who ask for memory before they read it. What it says has not been read either: only its head
    /// and its common fields are at hand. `None` at the end of a batch.
    #[must_use]
    #[inline]
    pub fn soon(&self) -> Option<Record<'_>> {
        let place = self.next.checked_sub(1)? + SOON;
        let later = self.batch.slots.get(place + SOON)?;
        prefetch(self.batch.bytes.get(later.start as usize..).unwrap_or_default());
        if let Some(number) = later.chain {
            self.chains.ask_for(number);
        }
        self.at(place)
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
        self.at(self.next.checked_sub(1)?)
    }

    /// A record of the batch.
    #[inline]
    fn at(&self, place: usize) -> Option<Record<'_>> {
        let slot = self.batch.slots.get(place)?;
        let end = self.batch.slots.get(place + 1).map_or(self.batch.bytes.len(), |slot| slot.start as usize);
        let body = self.batch.bytes.get(slot.start as usize..end)?;
        let record = Record::new(&slot.head, body, &self.batch.metadata.as_ref()?.events);
        let Some(number) = slot.chain else { return Some(record) };
        let words = Words::new(self.chains.get(number).unwrap_or_default(), record.layout.endian);
        Some(record.with_chain(Chain { number, words }))
    }

    /// The metadata of the recording a little after the current record; `None` before the first
    /// record.
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

    /// Ends the walk at any position and returns it. A panic of the thread continues here.
    #[must_use]
    pub fn finish(self) -> W {
        let Self { full, empty, walk, .. } = self;
        // Without anybody who receives, the walk ends with its batch.
        drop((full, empty));
        walk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
