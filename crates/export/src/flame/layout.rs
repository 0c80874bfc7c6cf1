//! Lays out frames: callees side by side on top of their caller, the heaviest first.

use super::select::{LEFT_OUT, Selection};
use crate::tree::Tree;

/// A drawn frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// Its node in the tree.
    pub(super) node: u32,
    /// Its row, 0 for the whole recording.
    pub(super) depth: u32,
    /// Where it begins, in nanoseconds of the whole.
    pub(super) start: u64,
    /// Its width, in nanoseconds of the whole.
    pub(super) weight: u64,
}

/// The drawn frames.
pub(super) struct Layout {
    /// A frame is followed by all that it calls; the script depends on that order.
    pub(super) cells: Vec<Cell>,
    /// How many rows there are.
    pub(super) rows: u32,
}

impl Layout {
    pub(super) fn new(tree: &Tree, selection: &Selection) -> Self {
        let (starts, mut children) = children(tree, selection);
        let weight_of = |place: u32| tree.nodes[selection.nodes[place as usize] as usize].sum.weight;
        let name_of = |place: u32| {
            let name = tree.name(selection.nodes[place as usize] as usize);
            (tree.text(name.text), tree.text(name.module))
        };
        for pair in starts.windows(2) {
            children[pair[0]..pair[1]].sort_unstable_by(|&a, &b| {
                weight_of(b).cmp(&weight_of(a)).then_with(|| name_of(a).cmp(&name_of(b))).then(a.cmp(&b))
            });
        }

        let mut cells = Vec::with_capacity(selection.nodes.len());
        let mut waiting = vec![(0_u32, 0_u64)];
        while let Some((place, start)) = waiting.pop() {
            let at = place as usize;
            cells.push(Cell {
                node: selection.nodes[at],
                depth: tree.nodes[selection.nodes[at] as usize].depth,
                start,
                weight: weight_of(place),
            });
            let mut end = start;
            let first = waiting.len();
            for &child in &children[starts[at]..starts[at + 1]] {
                waiting.push((child, end));
                end = end.saturating_add(weight_of(child));
            }
            waiting[first..].reverse();
        }
        let rows = cells.iter().map(|cell| cell.depth + 1).max().unwrap_or(1);
        Self { cells, rows }
    }
}

/// The places of the drawn children of each place, one place after the other, and where those of a place begin.
fn children(tree: &Tree, selection: &Selection) -> (Vec<usize>, Vec<u32>) {
    let parent = |node: u32| selection.place[tree.nodes[node as usize].parent as usize];
    let mut starts = vec![0_usize; selection.nodes.len() + 1];
    for &node in &selection.nodes[1..] {
        debug_assert_ne!(parent(node), LEFT_OUT);
        starts[parent(node) as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut next = starts.clone();
    let mut children = vec![0_u32; selection.nodes.len() - 1];
    for (place, &node) in selection.nodes.iter().enumerate().skip(1) {
        let slot = &mut next[parent(node) as usize];
        children[*slot] = place as u32;
        *slot += 1;
    }
    (starts, children)
}
