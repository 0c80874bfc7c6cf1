//! Records that wait for their turn. They are copied into blocks that are used again, so a record
//! costs no allocation.

use super::chains::ChainNumber;
use crate::record::Head;

/// Bytes of records per block.
const BLOCK: usize = 256 << 10;
/// Bytes of a record besides its body: its entries in the lists of its block and of the order.
const PER_RECORD: usize = size_of::<Slot>() + size_of::<Entry>();

/// Records between the walk and their turn.
#[derive(Debug)]
pub(crate) struct Queue {
    blocks: Vec<Block>,
    free: Vec<u32>,
    filling: Option<u32>,
    /// The first `ready` are in order and may be handed out; the first `next` of them were.
    entries: Vec<Entry>,
    ready: usize,
    next: usize,
    capacity: usize,
    used: usize,
    /// Records whose chains have numbers.
    numbered: usize,
}

#[derive(Debug, Default)]
struct Block {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    waiting: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    head: Head,
    start: u32,
    length: u16,
    chain: Option<ChainNumber>,
}

/// A record that waits: its header, and its body without the words of a call chain that has a number.
#[derive(Clone, Copy)]
pub(super) struct Waiting<'a> {
    pub(super) head: &'a Head,
    pub(super) body: &'a [u8],
    pub(super) chain: Option<ChainNumber>,
}

/// A record in the order. Sorting moves these and nothing else.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    block: u32,
    slot: u32,
}

impl Queue {
    /// A queue with a limit of `capacity` bytes.
    pub(crate) fn new(capacity: usize) -> Self {
        let (blocks, free, entries) = Default::default();
        Self { blocks, free, filling: None, entries, ready: 0, next: 0, capacity, used: 0, numbered: 0 }
    }

    /// Copies a record; its header is in `head`. Between the parts of its body stood the words of the chain that has the number.
    #[inline]
    pub(super) fn push(&mut self, head: &Head, [front, back]: [&[u8]; 2], chain: Option<ChainNumber>) {
        let length = front.len() + back.len();
        let number = self.block_for(length);
        let Some(block) = self.blocks.get_mut(number as usize) else { return };
        let (start, slot) = (block.bytes.len() as u32, block.slots.len() as u32);
        block.bytes.extend_from_slice(front);
        block.bytes.extend_from_slice(back);
        // A body is shorter than its record, whose size has 16 bits.
        let length = u16::try_from(length).unwrap_or(u16::MAX);
        block.slots.push(Slot { head: *head, start, length, chain });
        block.waiting += 1;
        self.numbered += usize::from(chain.is_some());
        self.used += PER_RECORD;
        self.entries.push(Entry { time: head.time, block: number, slot });
    }

    /// The number of a block with room.
    fn block_for(&mut self, bytes: usize) -> u32 {
        let room = |block: &Block| block.bytes.len() + bytes <= BLOCK;
        if let Some(number) = self.filling
            && self.blocks.get(number as usize).is_some_and(room)
        {
            return number;
        }
        self.used += BLOCK;
        let full = self.filling.take();
        let number = self.free.pop().unwrap_or_else(|| {
            self.blocks.push(Block { bytes: Vec::with_capacity(BLOCK), ..Block::default() });
            self.blocks.len() as u32 - 1
        });
        self.filling = Some(number);
        // A block whose records were all handed out while it was being filled.
        if let Some(full) = full {
            self.recycle(full);
        }
        number
    }

    /// Makes a block free when nothing in it waits.
    fn recycle(&mut self, number: u32) {
        let Some(block) = self.blocks.get_mut(number as usize) else { return };
        if block.waiting == 0 && self.filling != Some(number) {
            self.used -= BLOCK + block.slots.len() * PER_RECORD;
            block.bytes.clear();
            block.slots.clear();
            self.free.push(number);
        }
    }

    /// Whether the queue is at its limit: records have to be returned before more are pushed.
    pub(crate) fn is_full(&self) -> bool {
        self.used > self.capacity
    }

    /// Releases records up to `time`. Records that were released before must have been taken.
    pub(crate) fn release_until(&mut self, time: u64) {
        self.order();
        self.ready = self.entries.partition_point(|entry| entry.time <= time);
    }

    /// Releases the older half, at least one record.
    pub(crate) fn release_half(&mut self) {
        self.order();
        self.ready = self.entries.len().div_ceil(2);
    }

    /// Sorts the waiting records. The buffer of each CPU is in order, so this is mostly a merge of
    /// runs. Records of the same time stay in the order of the file.
    fn order(&mut self) {
        self.entries.drain(..self.next);
        self.next = 0;
        self.ready = 0;
        self.entries.sort_by_key(|entry| entry.time);
    }

    /// The time of the next record that may be handed out.
    #[inline]
    pub(crate) fn first_time(&self) -> Option<u64> {
        self.first().map(|entry| entry.time)
    }

    #[inline]
    fn first(&self) -> Option<&Entry> {
        self.entries.get(self.next).filter(|_| self.next < self.ready)
    }

    /// The next record that may be handed out.
    #[inline]
    pub(super) fn peek(&self) -> Option<Waiting<'_>> {
        let entry = self.first()?;
        let block = self.blocks.get(entry.block as usize)?;
        let slot = block.slots.get(entry.slot as usize)?;
        let start = slot.start as usize;
        let body = block.bytes.get(start..start + usize::from(slot.length))?;
        Some(Waiting { head: &slot.head, body, chain: slot.chain })
    }

    /// Whether the chain of a record that waits has a number.
    pub(super) fn has_numbered(&self) -> bool {
        self.numbered > 0
    }

    /// Forgets the record of [`Self::peek`].
    #[inline]
    pub(crate) fn pop(&mut self) {
        let Some(entry) = self.first() else { return };
        let (number, slot) = (entry.block, entry.slot);
        self.next += 1;
        if let Some(block) = self.blocks.get_mut(number as usize) {
            let is_numbered = block.slots.get(slot as usize).is_some_and(|slot| slot.chain.is_some());
            self.numbered -= usize::from(is_numbered);
            block.waiting -= 1;
            if block.waiting == 0 {
                self.recycle(number);
            }
        }
    }
}
