//! The input of the tree: weights, each with the path from the outermost frame to the leaf.

use std::borrow::Cow;

use super::Sum;
use crate::profile::{About, Catalog, Folded, FrameId, Listed, StackId, StackLists, ThreadId};

/// A profile without times, however its stacks are stored: made from a [`Folded`] or a [`Listed`].
#[derive(Clone, Debug)]
pub struct Stacked<'a> {
    pub(crate) about: &'a About,
    pub(super) catalog: &'a Catalog,
    /// Frames of all stacks, each stack outermost first.
    pub(super) frames: Cow<'a, [FrameId]>,
    pub(super) rows: Vec<Row>,
}

/// A weight with what is left of its stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) thread: ThreadId,
    /// Where the next frame is among those of all stacks.
    pub(super) next: usize,
    /// Where the stack ends.
    pub(super) end: usize,
    pub(super) sum: Sum,
}

impl<'a> From<&'a Folded> for Stacked<'a> {
    fn from(profile: &'a Folded) -> Self {
        let Folded { about, catalog, weights } = profile;
        let mut lists = StackLists::default();
        // By stack of the catalog: its list. Threads share stacks.
        let mut known = vec![StackId::NONE; catalog.stack_count()];
        let mut path = Vec::new();
        let row = |row: crate::profile::Weight| {
            let list = &mut known[row.stack.row()];
            if *list == StackId::NONE && row.stack != StackId::NONE {
                path.clear();
                path.extend(catalog.frames_of(row.stack));
                *list = lists.push(path.iter().rev().copied());
            }
            let (next, end) = lists.range(*list);
            Row { thread: row.thread, next, end, sum: Sum { weight: row.weight, count: row.count } }
        };
        let rows = weights.iter().map(row).collect();
        Self { about, catalog, frames: Cow::Owned(lists.into_frames()), rows }
    }
}

impl<'a> From<&'a Listed> for Stacked<'a> {
    fn from(profile: &'a Listed) -> Self {
        let Listed { about, catalog, stacks, weights } = profile;
        let rows = weights.iter().map(|row| {
            let (next, end) = stacks.range(row.stack);
            Row { thread: row.thread, next, end, sum: Sum { weight: row.weight, count: row.count } }
        });
        Self { about, catalog, frames: Cow::Borrowed(stacks.frames()), rows: rows.collect() }
    }
}
