//! Call chains by number. Most samples repeat a chain word by word, and chains are most bytes of a recording: where a walk numbers
//! them, neither its queue nor who follows it gets the words more than once.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Bytes of chains that are kept on either side. When they are reached, chains are handed over as they are until no number waits any
/// more; then both sides start anew.
const MAX_BYTES: usize = 16 << 20;
/// Chains that are kept, at most: short ones take more beside their words.
const MAX_CHAINS: usize = 256 << 10;

/// A number that stands for the words of a call chain: equal numbers are equal words. Equal words have different numbers where
/// the table was started anew between them.
pub type ChainNumber = u32;

/// Gives chains their numbers, on the side of the walk.
#[derive(Default)]
pub(super) struct ChainNumbers {
    /// Places in `ends`, by the hash of the words.
    table: HashTable<u32>,
    /// With keys of its own: no recording can be made so that its chains collide.
    hasher: RandomState,
    /// By place: the words are not read again when the table grows.
    hashes: Vec<u64>,
    chains: ChainStore,
    /// What the other side has not got yet.
    new: NewChains,
}

/// Chains by their numbers.
#[derive(Default)]
pub(super) struct ChainStore {
    /// The number of the first one.
    first: ChainNumber,
    /// Where each ends in `bytes`.
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

/// Chains that are new since others were handed over.
#[derive(Default)]
pub struct NewChains {
    /// The number of the first of all chains that are kept now, where that has changed: those before may be forgotten.
    restart: Option<ChainNumber>,
    lengths: Vec<u32>,
    bytes: Vec<u8>,
}

impl ChainNumbers {
    /// The number of a chain. `None` while there is no room for more of them, and once there are no numbers left.
    #[inline]
    pub(super) fn number(&mut self, words: &[u8]) -> Option<ChainNumber> {
        if self.is_full() {
            return None;
        }
        let Self { table, hasher, hashes, chains, new } = self;
        let hash = hasher.hash_one(words);
        if let Some(&place) = table.find(hash, |&place| chains.at(place as usize) == Some(words)) {
            return chains.first.checked_add(place);
        }
        let place = u32::try_from(chains.ends.len()).ok()?;
        let number = chains.first.checked_add(place).filter(|number| *number < ChainNumber::MAX)?;
        chains.push(words);
        new.push(words);
        hashes.push(hash);
        table.insert_unique(hash, place, |&place| hashes.get(place as usize).copied().unwrap_or_default());
        Some(number)
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.chains.bytes.len() >= MAX_BYTES || self.chains.ends.len() >= MAX_CHAINS
    }

    /// Makes room when there is none. Nobody may need a number from before any more, except who gets it with [`Self::take_new`] before.
    pub(super) fn make_room(&mut self) {
        if !self.is_full() {
            return;
        }
        self.table.clear();
        self.hashes.clear();
        let first = self.chains.first.saturating_add(u32::try_from(self.chains.ends.len()).unwrap_or(u32::MAX));
        self.chains.restart(first);
        self.new.restart = Some(first);
    }

    /// The words of a chain that has a number.
    pub(super) fn get(&self, number: ChainNumber) -> Option<&[u8]> {
        self.chains.get(number)
    }

    /// Bytes of the chains that are new since [`Self::take_new`].
    pub(super) fn new_bytes(&self) -> usize {
        self.new.bytes.len()
    }

    /// Gives the chains that are new, in place of `empty`, whose memory is used again.
    pub(super) fn take_new(&mut self, empty: &mut NewChains) {
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
        let mut bytes = new.bytes.as_slice();
        for &length in &new.lengths {
            let (chain, rest) = bytes.split_at_checked(length as usize).unwrap_or_default();
            self.push(chain);
            bytes = rest;
        }
    }

    /// The words of a chain.
    #[inline]
    pub(super) fn get(&self, number: ChainNumber) -> Option<&[u8]> {
        self.at(number.checked_sub(self.first)? as usize)
    }

    fn at(&self, place: usize) -> Option<&[u8]> {
        let end = *self.ends.get(place)? as usize;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.bytes.get(start..end)
    }

    fn push(&mut self, words: &[u8]) {
        self.bytes.extend_from_slice(words);
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    fn restart(&mut self, first: ChainNumber) {
        self.first = first;
        self.ends.clear();
        self.bytes.clear();
    }
}

impl NewChains {
    fn push(&mut self, words: &[u8]) {
        self.lengths.push(u32::try_from(words.len()).unwrap_or(u32::MAX));
        self.bytes.extend_from_slice(words);
    }

    fn clear(&mut self) {
        self.restart = None;
        self.lengths.clear();
        self.bytes.clear();
    }
}
