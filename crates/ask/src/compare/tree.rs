//! How the rows of the levels lie in each other: each level divides the rows of the one before it.

use super::family::{Node, name_at};
use crate::path::rows::{Detail, Name};

/// The nodes below each node.
#[derive(Debug)]
pub(super) struct Tree {
    children: Vec<Vec<usize>>,
    leaves: Vec<Vec<usize>>,
    has_flag: Vec<bool>,
}

impl Tree {
    /// That of nodes in the order of their levels and names.
    pub(super) fn of(nodes: &[Node]) -> Self {
        let lists = || vec![Vec::new(); nodes.len()];
        let has_flag = nodes.iter().map(|node| node.is_flagged).collect();
        let mut tree = Self { children: lists(), leaves: lists(), has_flag };
        let place = |detail: Detail, name: &Name| {
            nodes.binary_search_by(|node| (node.detail, &node.name).cmp(&(detail, name))).ok()
        };
        let first_leaf = nodes.partition_point(|node| node.detail < Detail::For);
        for (number, node) in nodes.iter().enumerate() {
            let leaf = number.checked_sub(first_leaf);
            tree.leaves[number].extend(leaf);
            let (mut child, mut name, mut detail) = (number, node.name.clone(), node.detail);
            while let Some(above) = above(detail) {
                name = name_at(&name, above);
                let Some(parent) = place(above, &name) else { break };
                if child == number {
                    tree.children[parent].push(number);
                }
                tree.leaves[parent].extend(leaf);
                tree.has_flag[parent] |= node.is_flagged;
                (child, detail) = (parent, above);
            }
        }
        tree
    }

    /// The nodes of the next level in a node.
    pub(super) fn children(&self, place: usize) -> &[usize] {
        &self.children[place]
    }

    /// Whether a node is no chance, or one in it: what one method loses and another one gains is nothing in sum.
    pub(super) fn has_flag(&self, place: usize) -> bool {
        self.has_flag[place]
    }

    /// The rows of the finest level in a node, by their places among these.
    pub(super) fn leaves(&self, place: usize) -> &[usize] {
        &self.leaves[place]
    }

    /// Adds the nodes of a level that are in a node.
    pub(super) fn at_level(&self, nodes: &[Node], place: usize, level: Detail, found: &mut Vec<usize>) {
        if nodes[place].detail == level {
            found.push(place);
        } else {
            self.children(place).iter().for_each(|child| self.at_level(nodes, *child, level, found));
        }
    }
}

fn above(detail: Detail) -> Option<Detail> {
    match detail {
        Detail::State => None,
        Detail::Who => Some(Detail::State),
        Detail::Tag => Some(Detail::Who),
        Detail::Site => Some(Detail::Tag),
        Detail::For => Some(Detail::Site),
    }
}
