//! The lines of a call tree with their time.

use rustc_hash::FxHashMap;

use super::path::Step;
use crate::stack_weights::Weight;

/// A line as a number within one tree; 0 stands above all lines.
pub(super) type Number = u32;
pub(super) const TOP: Number = 0;

/// A call tree: a node per distinct path.
#[derive(Clone, Debug)]
pub struct CallTree {
    /// A parent stands before its children.
    pub(super) nodes: Vec<Node>,
    index: FxHashMap<(Number, Step), Number>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) step: Step,
    pub(super) parent: Number,
    /// With all that is below it.
    pub(super) total: Weight,
    /// Of the paths that end here.
    pub(super) own: Weight,
}

impl Default for CallTree {
    fn default() -> Self {
        let top = Node { step: Step::NoStack, parent: TOP, total: Weight::default(), own: Weight::default() };
        Self { nodes: vec![top], index: FxHashMap::default() }
    }
}

impl CallTree {
    /// Adds a path, from its root on. Whatever has no lines has no stack.
    pub fn add(&mut self, path: &[Step], weight: Weight) {
        let path = if path.is_empty() { &[Step::NoStack] } else { path };
        let mut at = TOP;
        for &step in path {
            self.node(at).total.add(weight);
            at = self.child(at, step);
        }
        let end = self.node(at);
        end.total.add(weight);
        end.own.add(weight);
    }

    /// All that was added.
    #[must_use]
    pub fn total(&self) -> Weight {
        self.nodes.first().map_or_else(Weight::default, |top| top.total)
    }

    fn child(&mut self, parent: Number, step: Step) -> Number {
        let nodes = &mut self.nodes;
        *self.index.entry((parent, step)).or_insert_with(|| {
            nodes.push(Node { step, parent, total: Weight::default(), own: Weight::default() });
            // More nodes than that do not fit into memory.
            Number::try_from(nodes.len() - 1).unwrap_or(Number::MAX)
        })
    }

    fn node(&mut self, number: Number) -> &mut Node {
        &mut self.nodes[number as usize]
    }
}
