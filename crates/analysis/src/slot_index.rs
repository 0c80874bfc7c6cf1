//! Finds the slot of a method in a process, without a hash per frame of a stack.
//!
//! Stacks come process by process. The slots of one process at a time stand in a list by method; what it held for the
//! process before need not be removed, since a slot knows whose it is.

use crate::method_slots::ProcessNumber;
use crate::names::MethodId;

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
    pub(crate) fn turn_to(&mut self, process: ProcessNumber, keys: &[(ProcessNumber, MethodId)]) {
        if self.process == Some(process) {
            return;
        }
        self.process = Some(process);
        let mut slot = self.latest.get(process.0 as usize).copied().unwrap_or(NONE);
        while let Some((_, method)) = keys.get(slot as usize) {
            self.by_method[method.0 as usize] = slot;
            slot = self.before[slot as usize];
        }
    }

    /// The slot of a method in the process at hand.
    #[inline]
    pub(crate) fn find(
        &self,
        process: ProcessNumber,
        method: MethodId,
        keys: &[(ProcessNumber, MethodId)],
    ) -> Option<u32> {
        let slot = *self.by_method.get(method.0 as usize)?;
        (keys.get(slot as usize) == Some(&(process, method))).then_some(slot)
    }

    /// Adds the next slot, for a method of the process at hand.
    pub(crate) fn insert(&mut self, process: ProcessNumber, method: MethodId, slot: u32) {
        reach(&mut self.by_method, method.0);
        self.by_method[method.0 as usize] = slot;
        reach(&mut self.latest, process.0);
        let latest = &mut self.latest[process.0 as usize];
        self.before.push(std::mem::replace(latest, slot));
    }
}

/// Makes the list long enough for `index`.
fn reach(list: &mut Vec<u32>, index: u32) {
    let length = index as usize + 1;
    if list.len() < length {
        list.resize(length, NONE);
    }
}
