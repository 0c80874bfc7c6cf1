//! The frames of all stacks, one after the other: no stack has a list of its own.

use tracesift_trace::{FrameId, StackId};

use crate::by_id::ById;

/// The frames of stacks, leaf first: 4 bytes per frame and 16 per stack.
#[derive(Clone, Debug, Default)]
pub struct StackFrames {
    index: ById<Range>,
    frames: Vec<FrameId>,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    start: usize,
    end: usize,
}

impl StackFrames {
    /// Adds a stack.
    pub fn add(&mut self, stack: StackId, leaf_first: &[FrameId]) {
        let start = self.frames.len();
        self.frames.extend_from_slice(leaf_first);
        self.index.insert(stack.0, Range { start, end: self.frames.len() });
    }

    /// How many stacks are numbered without a gap, from 0 on: all of them but in a damaged archive.
    #[must_use]
    pub fn numbered(&self) -> usize {
        self.index.listed()
    }

    /// The frames of a stack, leaf first; none of one that is not known.
    #[must_use]
    #[inline]
    pub fn of(&self, stack: StackId) -> &[FrameId] {
        let range = self.index.get(stack.0);
        range.and_then(|range| self.frames.get(range.start..range.end)).unwrap_or_default()
    }
}
