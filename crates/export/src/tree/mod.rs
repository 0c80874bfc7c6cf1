//! The tree of calls by function. The stacks of a profile distinguish addresses; people ask for functions, so frames of one function
//! are one node here, whatever address they have. Two profiles can be put into one tree, to be compared.
//!
//! A recording has millions of calls of which a picture shows thousands. So the tree grows from the outermost frames inwards and
//! only where there is enough weight: what is too light is never looked at more closely than to know that.

mod groups;
mod grow;
mod stacked;

pub use self::stacked::Stacked;

use crate::profile::{Origin, StringId, Strings};

/// What stands below the outermost frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// Nothing: stacks of all processes are one tree.
    All,
    /// The name of the program: processes of one name are one. The right one to compare two recordings by, whose process ids differ.
    Program,
    /// The process with its id.
    Process,
    /// The process and the thread, with their ids.
    Thread,
}

/// What a node of the tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// The whole recording, a process or a thread.
    Group,
    /// A function.
    Code(Origin),
}

/// What a node of the tree is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub(crate) text: StringId,
    pub(crate) module: StringId,
    pub(crate) kind: Kind,
}

/// How much of a tree is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth {
    /// The least share of the first profile that a node has, from 0 to 1. With 0 every node is there, of whichever profile.
    pub(crate) min_share: f64,
    /// The most nodes below one another.
    pub(crate) max_depth: u32,
}

impl Depth {
    /// The whole tree.
    pub(crate) const ALL: Self = Self { min_share: 0.0, max_depth: u32::MAX };
}

/// What one profile spent in a node and in what it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    /// Nanoseconds.
    pub(crate) weight: u64,
    /// Samples or spans.
    pub(crate) count: u64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.weight = self.weight.saturating_add(other.weight);
        self.count = self.count.saturating_add(other.count);
    }
}

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The caller; of the whole recording itself.
    pub(crate) parent: u32,
    /// How many nodes are above it.
    pub(crate) depth: u32,
    /// The row of its name.
    pub(crate) name: u32,
    /// The first profile's, with all that is called.
    pub(crate) sum: Sum,
    /// The second profile's, with all that is called.
    pub(crate) other: Sum,
    /// The first profile's nanoseconds without what is called.
    pub(crate) own: u64,
    /// How many of its calls are no nodes, for being too light or too deep.
    pub(crate) folded: u32,
    /// The first profile's nanoseconds in them.
    pub(crate) folded_weight: u64,
}

/// A tree of calls. Node 0 is the whole recording; a parent stands before its children.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    strings: Strings,
    names: Vec<Name>,
    pub(crate) nodes: Vec<Node>,
    /// Nanoseconds of the second profile in calls that the first does not have, where it has their callers.
    pub(crate) missing: u64,
}

impl Tree {
    /// The tree of one profile.
    pub(crate) fn of(profile: Stacked<'_>, grouping: Grouping, depth: Depth) -> Self {
        grow::grow(vec![profile], grouping, depth)
    }

    /// The tree of two profiles. The first one decides what is there.
    pub(crate) fn of_two(first: Stacked<'_>, second: Stacked<'_>, grouping: Grouping, depth: Depth) -> Self {
        grow::grow(vec![first, second], grouping, depth)
    }

    pub(crate) fn name(&self, node: usize) -> Name {
        self.names[self.nodes[node].name as usize]
    }

    pub(crate) fn text(&self, id: StringId) -> &str {
        self.strings.get(id)
    }

    /// `module!function`, or what else nodes are called, by the row of the name.
    pub(crate) fn labels(&self) -> impl Iterator<Item = String> + '_ {
        self.names.iter().map(|name| match self.text(name.module) {
            "" => self.text(name.text).to_owned(),
            module => format!("{module}!{}", self.text(name.text)),
        })
    }
}
