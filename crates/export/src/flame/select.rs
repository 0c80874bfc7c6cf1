//! Which frames are drawn. A recording has millions of distinct calls and a picture a thousand pixels; a file that a bug tracker takes
//! and a browser opens at once has a few thousand frames.

use crate::tree::Tree;

/// No place in the selection.
pub(super) const LEFT_OUT: u32 = u32::MAX;

/// What is drawn at most.
pub(super) struct Limits {
    pub(super) min_share: f64,
    pub(super) max_depth: u32,
    pub(super) bytes: usize,
}

/// The frames to be drawn. With a frame its callers are there, too.
pub(super) struct Selection {
    /// Their nodes, callers before what they call.
    pub(super) nodes: Vec<u32>,
    /// Their depths; the whole recording has 0.
    pub(super) depths: Vec<u32>,
    /// Their place in `nodes` by node, or [`LEFT_OUT`].
    pub(super) place: Vec<u32>,
    /// How many nodes with a weight are not drawn.
    pub(super) folded: usize,
    /// Nanoseconds of the outermost nodes that are not drawn.
    pub(super) folded_weight: u64,
    /// Nanoseconds of each drawn node without what it calls, drawn or not.
    pub(super) own: Vec<u64>,
}

/// Selects the heaviest frames that the limits allow, where `cost` is what a frame takes in the file at most, in bytes.
pub(super) fn select(tree: &Tree, limits: &Limits, cost: impl Fn(usize, u32) -> usize) -> Selection {
    let weights = &tree.sides[0].weights;
    let least = ((weights[0] as f64 * limits.min_share.clamp(0.0, 1.0)).ceil() as u64).max(1);
    let mut place = vec![LEFT_OUT; tree.len()];
    let (mut nodes, mut depths) = (vec![0_u32], vec![0_u32]);
    place[0] = 0;
    for node in 1..tree.len() {
        let above = place[tree.parent(node)];
        if weights[node] < least || above == LEFT_OUT || depths[above as usize] >= limits.max_depth {
            continue;
        }
        place[node] = nodes.len() as u32;
        depths.push(depths[above as usize] + 1);
        nodes.push(node as u32);
    }
    shrink_to(limits.bytes, weights, &mut nodes, &mut depths, &mut place, cost);

    let (mut folded, mut folded_weight) = (0, 0_u64);
    let mut own: Vec<u64> = nodes.iter().map(|&node| weights[node as usize]).collect();
    for node in 1..tree.len() {
        let above = place[tree.parent(node)];
        if above != LEFT_OUT {
            let own = &mut own[above as usize];
            *own = own.saturating_sub(weights[node]);
        }
        if place[node] == LEFT_OUT && weights[node] > 0 {
            folded += 1;
            if above != LEFT_OUT {
                folded_weight = folded_weight.saturating_add(weights[node]);
            }
        }
    }
    Selection { nodes, depths, place, folded, folded_weight, own }
}

/// Keeps as many of the heaviest nodes as the budget has room for.
fn shrink_to(
    bytes: usize,
    weights: &[u64],
    nodes: &mut Vec<u32>,
    depths: &mut Vec<u32>,
    place: &mut [u32],
    cost: impl Fn(usize, u32) -> usize,
) {
    // A frame is not heavier than its caller and deeper, so whatever this order is cut at, callers are there.
    let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
    order.sort_unstable_by_key(|&at| (std::cmp::Reverse(weights[nodes[at as usize] as usize]), depths[at as usize], at));
    let mut spent = 0_usize;
    let fitting = order.iter().take_while(|&&at| {
        spent = spent.saturating_add(cost(nodes[at as usize] as usize, depths[at as usize]));
        spent <= bytes
    });
    let fitting = fitting.count();
    if fitting == order.len() {
        return;
    }
    order.truncate(fitting.max(1));
    order.sort_unstable();
    for &node in nodes.iter() {
        place[node as usize] = LEFT_OUT;
    }
    *depths = order.iter().map(|&at| depths[at as usize]).collect();
    *nodes = order.iter().map(|&at| nodes[at as usize]).collect();
    for (at, &node) in nodes.iter().enumerate() {
        place[node as usize] = at as u32;
    }
}
