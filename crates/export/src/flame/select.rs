//! Which frames are drawn. The tree has those that are wide enough to see; a file that a bug tracker takes and a browser opens at once
//! has room for some thousands of them.

use std::cmp::Reverse;

use crate::tree::Tree;

/// No place in the selection.
pub(super) const LEFT_OUT: u32 = u32::MAX;

/// The frames to be drawn. With a frame its callers are there, too.
pub(super) struct Selection {
    /// Their nodes, callers before what they call.
    pub(super) nodes: Vec<u32>,
    /// Their place in `nodes` by node, or [`LEFT_OUT`].
    pub(super) place: Vec<u32>,
    /// How many frames are folded into their callers, not counting those that they call.
    pub(super) folded: usize,
    /// Nanoseconds of the folded frames.
    pub(super) folded_weight: u64,
}

/// Selects as many of the heaviest frames as `bytes` have room for, where `cost` is what a frame takes in the file at most.
pub(super) fn select(tree: &Tree, bytes: usize, mut cost: impl FnMut(usize) -> usize) -> Selection {
    // A frame is not heavier than its caller and stands behind it, so wherever this order is cut, callers are there.
    let mut nodes: Vec<u32> = (0..tree.nodes.len() as u32).collect();
    nodes.sort_by_key(|&node| Reverse(tree.nodes[node as usize].sum.weight));
    let mut spent = 0_usize;
    let fitting = nodes.iter().take_while(|&&node| {
        spent = spent.saturating_add(cost(node as usize));
        spent <= bytes
    });
    let fitting = fitting.count().max(1);
    nodes.truncate(fitting);
    nodes.sort_unstable();

    let mut place = vec![LEFT_OUT; tree.nodes.len()];
    for (at, &node) in nodes.iter().enumerate() {
        place[node as usize] = at as u32;
    }
    let (mut folded, mut folded_weight) = (0, 0_u64);
    for (node, row) in tree.nodes.iter().enumerate() {
        if place[node] != LEFT_OUT {
            folded += row.folded as usize;
            folded_weight = folded_weight.saturating_add(row.folded_weight);
        } else if place[row.parent as usize] != LEFT_OUT {
            folded += 1;
            folded_weight = folded_weight.saturating_add(row.sum.weight);
        }
    }
    Selection { nodes, place, folded, folded_weight }
}
