//! The rows of all levels as a tree, for pictures: what a part of the path consists of, and how that differs between the sets.

use super::difference::DifferenceRow;
use super::family::Node;
use super::tree::Tree;
use crate::path::rows::{self, Detail, Name};

/// A row of some level.
#[derive(Clone, Debug)]
pub struct GraphNode {
    /// How many rows it is in.
    pub depth: usize,
    /// The word of its level: `state`, `who`, `tag`, `site` or `for`.
    pub level: &'static str,
    /// What it is beside the row that it is in: `worker-#`, `pool2!new_check`.
    pub label: String,
    /// Whether it is a disturbance.
    pub is_disturbance: bool,
    /// Mean times of the two sets, ns.
    pub means: [f64; 2],
    /// The difference of the means, ns: the sum of those of its rows of the finest level.
    pub delta: i128,
    /// The same without what the common factor of all code explains, ns.
    pub own: i128,
    /// Half the width of the interval of that, ns.
    pub half_width: Option<f64>,
}

/// The rows of all levels, each followed by those that divide it, the largest of the second set first. A level that tells nothing about
/// a row is left out. `leaves` are the rows of the finest level in the order of their nodes.
pub(super) fn of(nodes: &[Node], leaves: &[DifferenceRow]) -> Vec<GraphNode> {
    let tree = Tree::of(nodes);
    let largest_first = |places: &mut Vec<usize>| {
        let weight = |place: usize| nodes[place].values.iter().map(|value| i128::from(*value)).sum::<i128>();
        places.sort_by_key(|place| (std::cmp::Reverse(weight(*place)), *place));
    };
    let mut states: Vec<usize> = (0..nodes.len()).filter(|place| nodes[*place].detail == Detail::State).collect();
    largest_first(&mut states);
    let mut found = Vec::new();
    let mut open: Vec<(usize, usize)> = states.into_iter().rev().map(|place| (place, 0)).collect();
    while let Some((place, depth)) = open.pop() {
        let node = &nodes[place];
        let label = label(&node.name, node.detail);
        let below = depth + usize::from(label.is_some());
        if let Some(label) = label {
            let of_node = || tree.leaves(place).iter().filter_map(|leaf| leaves.get(*leaf));
            let mean = |set: usize| of_node().map(|row| row.means[set]).sum();
            found.push(GraphNode {
                depth,
                level: word(node.detail),
                label,
                is_disturbance: node.name.disturbance.is_some(),
                means: [mean(0), mean(1)],
                delta: of_node().map(|row| row.delta).sum(),
                own: of_node().map(DifferenceRow::own).sum(),
                half_width: node.difference.half_width,
            });
        }
        let mut children = tree.children(place).to_vec();
        largest_first(&mut children);
        open.extend(children.into_iter().rev().map(|child| (child, below)));
    }
    found
}

fn word(detail: Detail) -> &'static str {
    match detail {
        Detail::State => "state",
        Detail::Who => "who",
        Detail::Tag => "tag",
        Detail::Site => "site",
        Detail::For => "for",
    }
}

/// What a level tells about a row beside the level above.
fn label(name: &Name, detail: Detail) -> Option<String> {
    match detail {
        Detail::State => Some(rows::text(name)),
        Detail::Who => match (&name.process, &name.thread) {
            (Some(process), Some(thread)) => Some(format!("{process} {thread}")),
            (process, thread) => process.as_ref().or(thread.as_ref()).cloned(),
        },
        Detail::Tag => {
            let tag = name.tag.as_ref().filter(|tag| *tag != "Other");
            match (&name.ended_by, tag) {
                (Some(ended_by), Some(tag)) => Some(format!("{ended_by}: {tag}")),
                (ended_by, tag) => ended_by.as_ref().or(tag).cloned(),
            }
        }
        Detail::Site => name.site.clone(),
        Detail::For => name.for_site.as_ref().or(name.for_tag.as_ref()).map(|whom| format!("for {whom}")),
    }
}
