//! Which frames are drawn. The tree has those that are wide enough to see; a file that a bug tracker takes and a browser opens at once
//! has room for some thousands of them.

use std::cmp::Reverse;

use super::halves::in_halves;
use crate::tree::Tree;

/// Frames that are measured at a time: a part of those that a file has room for.
const AT_ONCE: usize = 1 << 12;

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

/// Selects as many of the heaviest frames as `bytes` have room for, where `costs` are what frames take in the file at most.
pub(super) fn select(tree: &Tree, bytes: usize, costs: impl Fn(&[u32]) -> Vec<usize> + Sync) -> Selection {
    // A frame is not heavier than its caller and stands behind it, so wherever this order is cut, callers are there.
    let mut nodes: Vec<u32> = (0..tree.nodes.len() as u32).collect();
    nodes.sort_by_key(|&node| Reverse(tree.nodes[node as usize].sum.weight));
    let (mut spent, mut fitting) = (0_usize, 0);
    for some in nodes.chunks(AT_ONCE) {
        let costs = in_halves(some.len(), |places| costs(&some[places]));
        let fit = costs.iter().flatten().take_while(|&&cost| {
            spent = spent.saturating_add(cost);
            spent <= bytes
        });
        fitting += fit.count();
        if spent > bytes {
            break;
        }
    }
    nodes.truncate(fitting.max(1));
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
