//! How the tree grows: a node is a set of stretches of stacks, those of one function below one caller. Their callees, by function, are
//! the nodes below it.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::order::{ABOVE_ALL, Order};
use super::{Depth, Grouping, Kind, Name, Node, Sum, Tree, groups};
use crate::profile::{Catalog, Folded, StackId, StringId, Strings, ThreadId};

/// The tree of one or two profiles.
pub(super) fn grow(profiles: &[&Folded], grouping: Grouping, depth: Depth) -> Tree {
    let mut names = Names::new();
    let all = names.group("all");
    let mut paths = Groups::default();
    let sides: Vec<Side<'_>> =
        profiles.iter().map(|profile| Side::of(profile, grouping, &mut names, &mut paths)).collect();

    let total = sides[0].total();
    let least = match depth.min_share {
        0.0 => 0,
        share => ((total.weight as f64 * share.clamp(0.0, 1.0)).ceil() as u64).max(1),
    };
    let root = Node {
        parent: 0,
        depth: 0,
        name: all,
        sum: total,
        other: sides.get(1).map_or(Sum::default(), Side::total),
        own: 0,
        folded: 0,
        folded_weight: 0,
    };
    let tree = Tree { strings: names.strings, names: names.rows, nodes: vec![root], missing: 0 };
    let mut growing =
        Growing { tree, sides: &sides, least, max_depth: depth.max_depth, waiting: Vec::new(), pieces: Vec::new() };
    growing.grow_groups(&paths);
    growing.grow_code();
    growing.tree
}

/// The names of a tree while they are collected.
struct Names {
    strings: Strings,
    rows: Vec<Name>,
    /// By text, module, and whether it is a group. A function has the origin that it was first seen with.
    known: HashMap<(StringId, StringId, bool), u32, RandomState>,
}

impl Names {
    fn new() -> Self {
        Self { strings: Strings::new(), rows: Vec::new(), known: HashMap::default() }
    }

    fn group(&mut self, text: &str) -> u32 {
        let text = self.strings.intern(text);
        self.intern(Name { text, module: StringId::EMPTY, kind: Kind::Group })
    }

    fn intern(&mut self, name: Name) -> u32 {
        let Self { rows, known, .. } = self;
        *known.entry((name.text, name.module, name.kind == Kind::Group)).or_insert_with(|| {
            rows.push(name);
            rows.len() as u32 - 1
        })
    }

    /// The name of each frame.
    fn of_frames(&mut self, catalog: &Catalog) -> Vec<u32> {
        // Texts are taken over when a frame has them: most catalogs have files, too, which the tree does not ask for.
        let mut texts = vec![None; catalog.texts().count()];
        let names = catalog.frames().iter().map(|frame| {
            let [text, module] = [frame.function, frame.module]
                .map(|id| *texts[id.row()].get_or_insert_with(|| self.strings.intern(catalog.text(id))));
            self.intern(Name { text, module, kind: Kind::Code(frame.origin) })
        });
        names.collect()
    }
}

/// The groups of all profiles. Those of equal names are one.
#[derive(Default)]
struct Groups {
    paths: Vec<[Option<u32>; 2]>,
    known: HashMap<[Option<u32>; 2], u32, RandomState>,
}

impl Groups {
    fn intern(&mut self, path: [Option<u32>; 2]) -> u32 {
        let Self { paths, known } = self;
        *known.entry(path).or_insert_with(|| {
            paths.push(path);
            paths.len() as u32 - 1
        })
    }
}

/// One profile: its weights in the order of groups and, in a group, of the walk over stacks.
struct Side<'a> {
    catalog: &'a Catalog,
    order: Order,
    /// By frame: its name in the tree.
    names: Vec<u32>,
    /// By row: its group and the place of its stack.
    places: Vec<(u32, u32)>,
    /// By row, and one more: the sum of all rows before it.
    sums: Vec<Sum>,
}

impl<'a> Side<'a> {
    fn of(profile: &'a Folded, grouping: Grouping, names: &mut Names, paths: &mut Groups) -> Self {
        let catalog = &profile.catalog;
        let of_thread: Vec<u32> = (0..catalog.threads().len() as u32)
            .map(|row| {
                let path = groups::path(catalog, ThreadId(row), grouping);
                paths.intern(path.map(|name| name.map(|name| names.group(&name))))
            })
            .collect();
        let order = Order::of(catalog);
        let mut rows: Vec<(u32, u32, u32)> = profile
            .weights
            .iter()
            .enumerate()
            .map(|(at, row)| (of_thread[row.thread.row()], order.place(row.stack), at as u32))
            .collect();
        rows.sort_unstable();
        let mut sum = Sum::default();
        let mut sums = Vec::with_capacity(rows.len() + 1);
        sums.push(sum);
        for &(_, _, at) in &rows {
            let row = profile.weights.get(at as usize);
            sum.add(Sum { weight: row.weight, count: row.count });
            sums.push(sum);
        }
        let places = rows.into_iter().map(|(group, place, _)| (group, place)).collect();
        Self { catalog, names: names.of_frames(catalog), order, places, sums }
    }

    fn total(&self) -> Sum {
        self.sum(0, self.places.len())
    }

    /// The sum of the rows from `start` to `end`.
    fn sum(&self, start: usize, end: usize) -> Sum {
        let (before, behind) = (self.sums[start], self.sums[end]);
        Sum { weight: behind.weight - before.weight, count: behind.count - before.count }
    }

    /// The first row from `start` on whose place is `place` or behind, before `end`.
    fn row_of(&self, start: usize, end: usize, place: u32) -> usize {
        start + self.places[start..end].partition_point(|row| row.1 < place)
    }
}

/// A stretch of stacks with the same innermost function below the same callers.
#[derive(Clone, Copy)]
struct Piece {
    /// The name of the function.
    name: u32,
    /// Which profile it is of.
    side: u32,
    /// The stack that the stretch begins with.
    stack: u32,
    /// The rows of weights in it.
    start: usize,
    end: usize,
}

/// A node whose callees were not looked at yet. Its pieces are the last ones, from `pieces` on.
struct Waiting {
    node: u32,
    pieces: usize,
}

struct Growing<'a> {
    tree: Tree,
    sides: &'a [Side<'a>],
    least: u64,
    max_depth: u32,
    waiting: Vec<Waiting>,
    pieces: Vec<Piece>,
}

impl Growing<'_> {
    /// Makes the nodes of groups, with all stacks of each waiting below it.
    fn grow_groups(&mut self, groups: &Groups) {
        let mut rows: Vec<Piece> = Vec::new();
        for (side, of_side) in self.sides.iter().enumerate() {
            let mut start = 0;
            while let Some(&(group, _)) = of_side.places.get(start) {
                let end = start + of_side.places[start..].partition_point(|row| row.0 == group);
                rows.push(Piece { name: group, side: side as u32, stack: ABOVE_ALL, start, end });
                start = end;
            }
        }
        rows.sort_by_key(|piece| {
            (groups.paths[piece.name as usize][0], groups.paths[piece.name as usize][1], piece.side)
        });
        let name = |piece: &Piece, level: usize| groups.paths[piece.name as usize][level];
        for outer in rows.chunk_by(|a, b| name(a, 0) == name(b, 0)) {
            let Some(node) = self.group(0, name(&outer[0], 0), outer) else { continue };
            for inner in outer.chunk_by(|a, b| name(a, 1) == name(b, 1)) {
                let Some(node) = self.group(node, name(&inner[0], 1), inner) else { continue };
                self.waiting.push(Waiting { node, pieces: self.pieces.len() });
                self.pieces.extend_from_slice(inner);
            }
        }
    }

    /// The node of a group, its parent's where it has no name, none where it is too light.
    fn group(&mut self, parent: u32, name: Option<u32>, pieces: &[Piece]) -> Option<u32> {
        match name {
            Some(name) => self.child(parent, name, pieces),
            None => Some(parent),
        }
    }

    fn sum(&self, pieces: &[Piece], side: u32) -> Sum {
        let mut sum = Sum::default();
        for piece in pieces.iter().filter(|piece| piece.side == side) {
            sum.add(self.sides[side as usize].sum(piece.start, piece.end));
        }
        sum
    }

    /// Adds a node with these pieces, if it is heavy enough.
    fn child(&mut self, parent: u32, name: u32, pieces: &[Piece]) -> Option<u32> {
        let (sum, other) = (self.sum(pieces, 0), self.sum(pieces, 1));
        let above = &mut self.tree.nodes[parent as usize];
        let depth = above.depth + 1;
        if sum.weight < self.least || depth > self.max_depth {
            if sum.weight > 0 {
                above.folded += 1;
                above.folded_weight = above.folded_weight.saturating_add(sum.weight);
            } else if above.sum.weight > 0 {
                self.tree.missing = self.tree.missing.saturating_add(other.weight);
            }
            return None;
        }
        self.tree.nodes.push(Node { parent, depth, name, sum, other, own: 0, folded: 0, folded_weight: 0 });
        Some(self.tree.nodes.len() as u32 - 1)
    }

    fn grow_code(&mut self) {
        let (mut mine, mut callees) = (Vec::new(), Vec::new());
        while let Some(Waiting { node, pieces }) = self.waiting.pop() {
            mine.clear();
            mine.extend(self.pieces.drain(pieces..));
            callees.clear();
            for piece in &mine {
                let own = self.split(piece, &mut callees);
                let own_of_node = &mut self.tree.nodes[node as usize].own;
                *own_of_node = own_of_node.saturating_add(own);
            }
            // Stable, so that the same profile always grows the same tree.
            callees.sort_by_key(|piece: &Piece| piece.name);
            for same in callees.chunk_by(|a, b| a.name == b.name) {
                if let Some(child) = self.child(node, same[0].name, same) {
                    self.waiting.push(Waiting { node: child, pieces: self.pieces.len() });
                    self.pieces.extend_from_slice(same);
                }
            }
        }
    }

    /// Adds the callees of a piece, and gives the weight that the first profile has in the piece without any.
    fn split(&self, piece: &Piece, callees: &mut Vec<Piece>) -> u64 {
        let side = &self.sides[piece.side as usize];
        let order = &side.order;
        let (mut row, mut from) = (piece.start, 0);
        if piece.stack != ABOVE_ALL {
            from = order.place(StackId(piece.stack)) + 1;
            row = side.row_of(piece.start, piece.end, from);
        }
        let own = if piece.side == 0 { side.sum(piece.start, row).weight } else { 0 };
        while row < piece.end {
            let stack = order.child(piece.stack, from, side.places[row].1);
            from = order.end(stack);
            let end = side.row_of(row, piece.end, from);
            let name = side.names[side.catalog.leaf(StackId(stack)).row()];
            callees.push(Piece { name, side: piece.side, stack, start: row, end });
            row = end;
        }
        own
    }
}
