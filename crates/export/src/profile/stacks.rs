//! Stacks as a prefix tree: a stack is a frame and the stack of its caller. Stacks share most of their outer frames, so the tree
//! is many times smaller than lists, and a parent always stands before its children, so that sums over it are one pass.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{FrameId, StackId};

/// The parent of stacks that have none.
const ROOT: u32 = u32::MAX;

/// Stacks, each stored once.
#[derive(Clone, Debug, Default)]
pub(super) struct Stacks {
    parents: Vec<u32>,
    frames: Vec<FrameId>,
    table: HashTable<u32>,
    state: RandomState,
    /// The stack that was interned last, outermost frame first. The next one shares most of it, and what is shared needs no table.
    last: Vec<(FrameId, StackId)>,
}

impl Stacks {
    /// The stack of `frame` called from `parent`.
    pub(super) fn push(&mut self, parent: Option<StackId>, frame: FrameId) -> StackId {
        let Self { parents, frames, table, state, .. } = self;
        let key = (parent.map_or(ROOT, |stack| stack.0), frame);
        let hash = state.hash_one(key);
        let key_of = |row: u32| (parents[row as usize], frames[row as usize]);
        if let Some(&row) = table.find(hash, |&row| key_of(row) == key) {
            return StackId(row);
        }
        let id = StackId::next(parents.len());
        table.insert_unique(hash, id.0, |&row| state.hash_one(key_of(row)));
        parents.push(key.0);
        frames.push(frame);
        id
    }

    /// The stack of these frames, outermost first; none when there are no frames.
    pub(super) fn intern(&mut self, outermost_first: impl IntoIterator<Item = FrameId>) -> Option<StackId> {
        let mut last = std::mem::take(&mut self.last);
        let mut depth = 0;
        for frame in outermost_first {
            if last.get(depth).is_none_or(|known| known.0 != frame) {
                last.truncate(depth);
                let parent = last.last().map(|known| known.1);
                last.push((frame, self.push(parent, frame)));
            }
            depth += 1;
        }
        last.truncate(depth);
        let stack = last.last().map(|known| known.1);
        self.last = last;
        stack
    }

    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn parent(&self, stack: StackId) -> Option<StackId> {
        let parent = self.parents[stack.row()];
        (parent != ROOT).then_some(StackId(parent))
    }

    pub(super) fn frame(&self, stack: StackId) -> FrameId {
        self.frames[stack.row()]
    }
}
