//! The tree of calls by function. The stacks of a profile distinguish addresses; people ask for functions, so frames of one function
//! are one node here, whatever address they have. Two profiles can be put into one tree, to be compared.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashTable};

use crate::profile::{Catalog, Folded, Origin, StackId, StringId, Strings, ThreadId};

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

/// The weights of one profile, by node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    /// Nanoseconds, with everything called.
    pub(crate) weights: Vec<u64>,
    /// Samples or spans, with everything called.
    pub(crate) counts: Vec<u64>,
}

/// A tree of calls. Node 0 is the whole recording; a parent stands before its children.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    strings: Strings,
    names: Vec<Name>,
    parents: Vec<u32>,
    name_of: Vec<u32>,
    /// The weights of each profile that is in the tree.
    pub(crate) sides: Vec<Side>,
}

impl Tree {
    /// The tree of the profiles, with one side for each of them.
    pub(crate) fn of(profiles: &[&Folded], grouping: Grouping) -> Self {
        let mut growing = Growing::new(profiles.len());
        for (side, profile) in profiles.iter().enumerate() {
            growing.add(profile, side, grouping);
        }
        growing.finish()
    }

    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The parent of a node other than 0.
    pub(crate) fn parent(&self, node: usize) -> usize {
        self.parents[node] as usize
    }

    pub(crate) fn name(&self, node: usize) -> Name {
        self.names[self.name_of[node] as usize]
    }

    pub(crate) fn text(&self, id: StringId) -> &str {
        self.strings.get(id)
    }

    /// `module!function`, or what else the node is called.
    pub(crate) fn label(&self, node: usize) -> String {
        let name = self.name(node);
        match self.text(name.module) {
            "" => self.text(name.text).to_owned(),
            module => format!("{module}!{}", self.text(name.text)),
        }
    }

    /// Weight by node without what is called.
    pub(crate) fn own(&self, side: usize) -> Vec<u64> {
        let totals = &self.sides[side].weights;
        let mut own = totals.clone();
        for node in 1..self.len() {
            let parent = self.parent(node);
            own[parent] = own[parent].saturating_sub(totals[node]);
        }
        own
    }
}

/// A tree while weights are put into it.
struct Growing {
    tree: Tree,
    names: HashMap<Name, u32, RandomState>,
    children: HashTable<u32>,
    state: RandomState,
}

/// The node of a stack that was met before, as long as the group is the same.
#[derive(Clone, Copy)]
struct Known {
    group: u32,
    node: u32,
}

impl Growing {
    fn new(sides: usize) -> Self {
        let tree = Tree {
            strings: Strings::new(),
            names: Vec::new(),
            parents: Vec::new(),
            name_of: Vec::new(),
            sides: vec![Side::default(); sides],
        };
        let mut growing =
            Self { tree, names: HashMap::default(), children: HashTable::new(), state: RandomState::default() };
        let all = growing.group("all");
        growing.child(u32::MAX, all);
        growing
    }

    fn group(&mut self, text: &str) -> u32 {
        let text = self.tree.strings.intern(text);
        self.name(Name { text, module: StringId::EMPTY, kind: Kind::Group })
    }

    fn name(&mut self, name: Name) -> u32 {
        let names = &mut self.tree.names;
        *self.names.entry(name).or_insert_with(|| {
            names.push(name);
            names.len() as u32 - 1
        })
    }

    fn child(&mut self, parent: u32, name: u32) -> u32 {
        let Self { tree: Tree { parents, name_of, sides, .. }, children, state, .. } = self;
        let key = (parent, name);
        let hash = state.hash_one(key);
        let key_of = |node: u32| (parents[node as usize], name_of[node as usize]);
        if let Some(&node) = children.find(hash, |&node| key_of(node) == key) {
            return node;
        }
        let node = parents.len() as u32;
        children.insert_unique(hash, node, |&node| state.hash_one(key_of(node)));
        parents.push(parent);
        name_of.push(name);
        for side in sides {
            side.weights.push(0);
            side.counts.push(0);
        }
        node
    }

    /// The names of the catalog's frames in this tree.
    fn frame_names(&mut self, catalog: &Catalog) -> Vec<u32> {
        // Texts are taken over when a frame has them: most catalogs have files, too, which the tree does not ask for.
        let mut texts = vec![None; catalog.texts().count()];
        catalog
            .frames()
            .iter()
            .map(|frame| {
                let [text, module] = [frame.function, frame.module].map(|id| {
                    *texts[id.row()].get_or_insert_with(|| self.tree.strings.intern(catalog.text(id)))
                });
                self.name(Name { text, module, kind: Kind::Code(frame.origin) })
            })
            .collect()
    }

    /// The node of each thread, which its outermost frames hang below.
    fn groups(&mut self, catalog: &Catalog, grouping: Grouping) -> Vec<u32> {
        let threads = (0..catalog.threads().len() as u32).map(ThreadId);
        threads
            .map(|id| {
                let process = catalog.threads()[id.row()].process;
                match grouping {
                    Grouping::All => 0,
                    Grouping::Program => {
                        let name = self.group(catalog.text(catalog.processes()[process.row()].name));
                        self.child(0, name)
                    }
                    Grouping::Process => {
                        let name = self.group(&catalog.process_label(process));
                        self.child(0, name)
                    }
                    Grouping::Thread => {
                        let process = self.group(&catalog.process_label(process));
                        let process = self.child(0, process);
                        let thread = self.group(&catalog.thread_label(id));
                        self.child(process, thread)
                    }
                }
            })
            .collect()
    }

    fn add(&mut self, profile: &Folded, side: usize, grouping: Grouping) {
        let catalog = &profile.catalog;
        let names = self.frame_names(catalog);
        let groups = self.groups(catalog, grouping);
        // Group by group, so that one table knows the node of each stack; in it stack by stack, since neighbours share memory.
        let mut rows: Vec<u32> = (0..profile.weights.len() as u32).collect();
        let place = |row: u32| {
            let weight = profile.weights.get(row as usize);
            (groups[weight.thread.row()], weight.stack)
        };
        if !rows.is_sorted_by_key(|&row| place(row)) {
            rows.sort_unstable_by_key(|&row| place(row));
        }
        let mut known = vec![Known { group: u32::MAX, node: 0 }; catalog.stack_count()];
        let mut path: Vec<StackId> = Vec::new();
        for row in rows {
            let weight = profile.weights.get(row as usize);
            let group = groups[weight.thread.row()];
            let mut node = group;
            let mut next = Some(weight.stack);
            while let Some(stack) = next {
                let met = known[stack.row()];
                if met.group == group {
                    node = met.node;
                    break;
                }
                path.push(stack);
                next = catalog.caller(stack);
            }
            while let Some(stack) = path.pop() {
                node = self.child(node, names[catalog.leaf(stack).row()]);
                known[stack.row()] = Known { group, node };
            }
            let side = &mut self.tree.sides[side];
            let node = node as usize;
            side.weights[node] = side.weights[node].saturating_add(weight.weight);
            side.counts[node] = side.counts[node].saturating_add(weight.count);
        }
    }

    /// Adds what is called to its callers.
    fn finish(self) -> Tree {
        let mut tree = self.tree;
        for side in &mut tree.sides {
            for node in (1..tree.parents.len()).rev() {
                let parent = tree.parents[node] as usize;
                side.weights[parent] = side.weights[parent].saturating_add(side.weights[node]);
                side.counts[parent] = side.counts[parent].saturating_add(side.counts[node]);
            }
        }
        tree
    }
}
