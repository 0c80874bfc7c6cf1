//! Finds the slot of a method in a process, without a hash per frame of a stack.
//!
//! Stacks come process by process. The slots of one process at a time stand in a list by method; what it held for the
//! process before need not be removed, since a slot knows whose it is.

use crate::item::Item;
use crate::process_number::ProcessNumber;

/// No slot.
const NONE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct SlotIndex {
    /// The process whose slots can be found.
    process: Option<ProcessNumber>,
    /// By method, a slot; that of the process at hand if it has one, else any.
    by_method: Vec<u32>,
    /// Per process its latest slot.
    latest: Vec<u32>,
    /// Per slot the one before it in its process.
    before: Vec<u32>,
}

impl SlotIndex {
    /// Makes the slots of `process` those that are found. `keys` tells the process and method of each slot.
    pub(crate) fn turn_to<I: Item>(&mut self, process: ProcessNumber, keys: &[(ProcessNumber, I)]) {
        if self.process == Some(process) {
            return;
        }
        self.process = Some(process);
        let mut next = self.latest_of(process);
        while let Some(slot) = next {
            if let Some((_, method)) = keys.get(slot as usize) {
                self.by_method[method.number() as usize] = slot;
            }
            next = self.before_of(slot);
        }
    }

    /// The slots of any process, the latest first.
    pub(crate) fn slots_of(&self, process: ProcessNumber) -> impl Iterator<Item = u32> {
        std::iter::successors(self.latest_of(process), |&slot| self.before_of(slot))
    }

    fn latest_of(&self, process: ProcessNumber) -> Option<u32> {
        number(&self.latest, process.0)
    }

    fn before_of(&self, slot: u32) -> Option<u32> {
        number(&self.before, slot)
    }

    /// The slot of a method in the process at hand.
    #[inline]
    pub(crate) fn find<I: Item>(&self, process: ProcessNumber, method: I, keys: &[(ProcessNumber, I)]) -> Option<u32> {
        let slot = *self.by_method.get(method.number() as usize)?;
        (keys.get(slot as usize) == Some(&(process, method))).then_some(slot)
    }

    /// Adds the next slot, for a method of the process at hand.
    pub(crate) fn insert(&mut self, process: ProcessNumber, method: impl Item, slot: u32) {
        reach(&mut self.by_method, method.number());
        self.by_method[method.number() as usize] = slot;
        reach(&mut self.latest, process.0);
        let latest = &mut self.latest[process.0 as usize];
        self.before.push(std::mem::replace(latest, slot));
    }
}

/// The number at `index`, unless there is none.
fn number(list: &[u32], index: u32) -> Option<u32> {
    list.get(index as usize).copied().filter(|&slot| slot != NONE)
}

/// Makes the list long enough for `index`.
fn reach(list: &mut Vec<u32>, index: u32) {
    let length = index as usize + 1;
    if list.len() < length {
        list.resize(length, NONE);
    }
}
