//! Numbers of call chains. Most samples repeat a chain, and chains are most bytes of a recording. A
//! walk that numbers chains hands over each chain once; afterwards it hands over the number. Both
//! threads read the same copy of the words.

use std::hash::BuildHasher as _;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use tracesift_prefetch::prefetch;

/// Limit of the bytes of kept chains. At the limit, chains are handed over in full until no number
/// is in use. Then both sides start again with an empty table.
const MAX_BYTES: usize = 16 << 20;
/// Limit of the number of kept chains. It is reached first by short chains, whose entries are
/// larger than their words.
const MAX_CHAINS: usize = 256 << 10;

/// A number that stands for the words of a call chain. Equal numbers mean equal words. Equal words
/// may have different numbers if the table started again between them.
pub type ChainNumber = u32;

/// Gives numbers to chains, on the thread of the walk.
#[derive(Default)]
pub(super) struct ChainNumbers {
    /// Places of chains, by the hash of the words.
    table: HashTable<u32>,
    /// Random keys, so that no forged recording has chains that collide.
    hasher: RandomState,
    /// By place, so that the words are not hashed again when the table grows.
    hashes: Vec<u64>,
    chains: ChainStore,
    /// The words of the newest chains, which the other side does not have yet.
    open: Vec<u8>,
    new: NewChains,
}

/// The words of chains by their numbers.
#[derive(Default)]
pub(super) struct ChainStore {
    /// The number of the first one.
    first: ChainNumber,
    places: Vec<Place>,
    blocks: Vec<Block>,
    /// Bytes of all chains.
    bytes: usize,
}

/// Words of chains that were handed over together.
type Block = Arc<Vec<u8>>;

/// The place of the words of a chain.
#[derive(Clone, Copy)]
struct Place {
    block: u32,
    start: u32,
    length: u32,
}

/// The chains since the last hand-over.
#[derive(Default)]
pub struct NewChains {
    /// The number of the first kept chain, if the table started again: older chains may be
    /// forgotten.
    restart: Option<ChainNumber>,
    lengths: Vec<u32>,
    block: Block,
}

impl ChainNumbers {
    /// The number of a chain. `None` while the table is full, and after the last number.
    #[inline]
    pub(super) fn number(&mut self, words: &[u8]) -> Option<ChainNumber> {
        if self.is_full() {
            return None;
        }
        let Self { table, hasher, hashes, chains, open, new } = self;
        let hash = hasher.hash_one(words);
        if let Some(&place) = table.find(hash, |&place| chains.at(place as usize, open) == Some(words)) {
            return chains.first.checked_add(place);
        }
        let place = u32::try_from(chains.places.len()).ok()?;
        let number = chains.first.checked_add(place).filter(|number| *number < ChainNumber::MAX)?;
        let length = u32::try_from(words.len()).ok()?;
        chains.push(u32::try_from(open.len()).ok()?, length);
        open.extend_from_slice(words);
        new.lengths.push(length);
        hashes.push(hash);
        table.insert_unique(hash, place, |&place| hashes.get(place as usize).copied().unwrap_or_default());
        Some(number)
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.chains.bytes >= MAX_BYTES || self.chains.places.len() >= MAX_CHAINS
    }

    /// Empties a full table. No older number may be in use, except numbers that [`Self::take_new`]
    /// has returned before.
    pub(super) fn make_room(&mut self) {
        if !self.is_full() {
            return;
        }
        self.table.clear();
        self.hashes.clear();
        let first = self.chains.first.saturating_add(u32::try_from(self.chains.places.len()).unwrap_or(u32::MAX));
        self.chains.restart(first);
        self.new.restart = Some(first);
    }

    /// The words of a chain that has a number.
    pub(super) fn get(&self, number: ChainNumber) -> Option<&[u8]> {
        self.chains.at(self.chains.place(number)?, &self.open)
    }

    /// Bytes of the chains that are new since [`Self::take_new`].
    pub(super) fn new_bytes(&self) -> usize {
        self.open.len()
    }

    /// Gives the chains that are new, in place of `empty`, whose memory is used again.
    pub(super) fn take_new(&mut self, empty: &mut NewChains) {
        if !self.new.lengths.is_empty() {
            // The next block will be about as long, so the place for it is taken at once and not in steps.
            let next = Vec::with_capacity(self.open.len());
            self.new.block = Arc::new(std::mem::replace(&mut self.open, next));
            self.chains.blocks.push(Arc::clone(&self.new.block));
        }
        std::mem::swap(&mut self.new, empty);
        self.new.clear();
    }
}

impl ChainStore {
    /// Takes over what is new in a batch.
    pub(super) fn take(&mut self, new: &NewChains) {
        if let Some(first) = new.restart {
            self.restart(first);
        }
        let mut start = 0;
        for &length in &new.lengths {
            self.push(start, length);
            start += length;
        }
        if !new.lengths.is_empty() {
            self.blocks.push(Arc::clone(&new.block));
        }
    }

    /// The words of a chain.
    #[inline]
    pub(super) fn get(&self, number: ChainNumber) -> Option<&[u8]> {
        self.at(self.place(number)?, &[])
    }

    /// Asks for what tells where the words of a chain stand.
    #[inline]
    pub(super) fn ask_for(&self, number: ChainNumber) {
        prefetch(self.place(number).and_then(|place| self.places.get(place..)).unwrap_or_default());
    }

    fn place(&self, number: ChainNumber) -> Option<usize> {
        number.checked_sub(self.first).map(|place| place as usize)
    }

    /// The words at a place; those of the block that is not there yet are in `open`.
    fn at<'a>(&'a self, place: usize, open: &'a [u8]) -> Option<&'a [u8]> {
        let Place { block, start, length } = *self.places.get(place)?;
        let words = self.blocks.get(block as usize).map_or(open, |block| block.as_slice());
        words.get(start as usize..)?.get(..length as usize)
    }

    /// Adds a chain of the block that comes next.
    fn push(&mut self, start: u32, length: u32) {
        let block = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        self.places.push(Place { block, start, length });
        self.bytes += length as usize;
    }

    fn restart(&mut self, first: ChainNumber) {
        *self = Self { first, places: std::mem::take(&mut self.places), ..Self::default() };
        self.places.clear();
    }
}

impl NewChains {
    fn clear(&mut self) {
        self.restart = None;
        self.lengths.clear();
        self.block = Block::default();
    }
}
