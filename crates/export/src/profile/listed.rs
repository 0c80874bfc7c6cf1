//! A profile without times whose stacks are lists. A prefix tree of stacks is what most formats want, but it takes a look-up per frame
//! to make; who has lists and wants a picture of the heavy parts need not make it.

use super::{About, Catalog, FrameId, StackId, Weights};

/// Stacks as lists of frames, one after the other. Row 0 is [`StackId::NONE`], as in a catalog.
#[derive(Clone, Debug)]
pub struct StackLists {
    /// Frames of all stacks, each stack outermost first.
    frames: Vec<FrameId>,
    /// By stack, where it ends.
    ends: Vec<usize>,
}

impl Default for StackLists {
    fn default() -> Self {
        // The first frame of every catalog is the one of what has no stack.
        Self { frames: vec![FrameId(0)], ends: vec![1] }
    }
}

impl StackLists {
    /// Adds a stack, **outermost frame first**; [`StackId::NONE`] when there are no frames. Equal stacks may be added more than once.
    pub fn push(&mut self, outermost_first: impl IntoIterator<Item = FrameId>) -> StackId {
        let before = self.frames.len();
        self.frames.extend(outermost_first);
        if self.frames.len() == before {
            return StackId::NONE;
        }
        let id = StackId::next(self.ends.len());
        self.ends.push(self.frames.len());
        id
    }

    /// Where the frames of a stack are among those of all.
    pub(crate) fn range(&self, stack: StackId) -> (usize, usize) {
        let row = stack.row();
        (if row == 0 { 0 } else { self.ends[row - 1] }, self.ends[row])
    }

    /// Frames of all stacks, each stack outermost first.
    pub(crate) fn frames(&self) -> &[FrameId] {
        &self.frames
    }

    /// The same to keep.
    pub(crate) fn into_frames(self) -> Vec<FrameId> {
        self.frames
    }
}

/// A profile without times, as [`Folded`](super::Folded), whose stacks are lists; those of the catalog are not used.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What the profile says of itself.
    pub about: About,
    /// Names, frames, processes and threads.
    pub catalog: Catalog,
    /// Stacks.
    pub stacks: StackLists,
    /// Sums per thread and stack; ids of stacks are those of [`Self::stacks`].
    pub weights: Weights,
}

impl Listed {
    /// A profile without any weights.
    pub fn new(about: About) -> Self {
        Self { about, catalog: Catalog::new(), stacks: StackLists::default(), weights: Weights::default() }
    }
}
