//! Halves of stacks: their addresses, and their frames once a stack is made of them.
//!
//! Halves are met before the events that they belong to, and how long before depends on how far a reader looks ahead. Frames get their
//! ids when an event has the first stack with them, so that ids do not depend on that.

use std::ops::Range;

use crate::ids::{FrameId, ProcessId};

/// Half of a stack, or a whole one that was recorded in one piece; valid until two more generations of halves have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalfId(u32);

impl HalfId {
    /// Its number: halves are numbered in the order in which they were met.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// Stands for the frames of a half that nobody has asked for.
const NO_FRAMES: u32 = u32::MAX;

/// A half, without its addresses and frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfFacts {
    /// The process that it is of.
    pub(crate) process: ProcessId,
    /// Raw time of the event with which it was met first.
    pub(crate) ticks: i64,
    /// End of its addresses.
    end: u32,
    /// Start of its frames, as many as there are addresses.
    frames: u32,
}

/// The halves since the caches of stacks were dropped.
#[derive(Debug, Default)]
pub(crate) struct Halves {
    /// Number of the first one.
    base: u32,
    halves: Vec<HalfFacts>,
    addresses: Vec<u64>,
    frames: Vec<FrameId>,
}

impl Halves {
    /// None yet; those before them were numbered below `base`.
    pub(crate) fn from(base: u32) -> Self {
        Self { base, ..Self::default() }
    }

    /// The number of the next half.
    pub(crate) fn next(&self) -> u32 {
        self.base + u32::try_from(self.halves.len()).unwrap_or(u32::MAX)
    }

    /// A half with these addresses, leaf first.
    pub(crate) fn add(&mut self, process: ProcessId, ticks: i64, addresses: &[u64]) -> HalfId {
        let id = HalfId(self.next());
        self.addresses.extend_from_slice(addresses);
        let end = u32::try_from(self.addresses.len()).unwrap_or(u32::MAX);
        self.halves.push(HalfFacts { process, ticks, end, frames: NO_FRAMES });
        id
    }

    fn index(&self, id: HalfId) -> Option<usize> {
        let index = id.0.checked_sub(self.base)? as usize;
        (index < self.halves.len()).then_some(index)
    }

    fn range(&self, index: usize) -> Range<usize> {
        let start = index.checked_sub(1).map_or(0, |before| self.halves[before].end);
        start as usize..self.halves[index].end as usize
    }

    /// The half; `None` where it is none of these.
    pub(crate) fn facts(&self, id: HalfId) -> Option<HalfFacts> {
        self.index(id).map(|index| self.halves[index])
    }

    /// Its addresses.
    pub(crate) fn addresses(&self, id: HalfId) -> &[u64] {
        self.index(id).map(|index| &self.addresses[self.range(index)]).unwrap_or_default()
    }

    /// Its frames; `None` as long as it has none.
    pub(crate) fn frames(&self, id: HalfId) -> Option<&[FrameId]> {
        let index = self.index(id)?;
        let start = self.halves[index].frames;
        let length = self.range(index).len();
        (start != NO_FRAMES).then(|| self.frames.get(start as usize..start as usize + length))?
    }

    /// Gives it its frames, one per address.
    pub(crate) fn set_frames(&mut self, id: HalfId, frames: &[FrameId]) {
        let Some(index) = self.index(id) else { return };
        // Who owns this bounds its bytes, which are far below these numbers.
        self.halves[index].frames = u32::try_from(self.frames.len()).unwrap_or(NO_FRAMES);
        self.frames.extend_from_slice(frames);
    }

    /// Bytes that it takes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.halves) + size_of_val(&*self.addresses) + size_of_val(&*self.frames)
    }
}
