//! How the tree grows: a node is a range of weights, those whose stacks have begun alike by now. Their next frames, by function, are
//! the nodes below it, and what is below a node that is kept is put together to be a range again.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::stacked::{Row, Stacked};
use super::{Depth, Grouping, Kind, Name, Node, Sum, Tree, groups};
use crate::profile::{Catalog, FrameId, StringId, Strings, ThreadId};

/// The tree of one or two profiles.
pub(super) fn grow(profiles: Vec<Stacked<'_>>, grouping: Grouping, depth: Depth) -> Tree {
    let mut names = Names::new();
    let all = names.group("all");
    let mut paths = Groups::default();
    let groups_of: Vec<Vec<u32>> =
        profiles.iter().map(|profile| of_threads(profile.catalog, grouping, &mut names, &mut paths)).collect();
    let ranks = paths.ranks();
    let sides: Vec<Side<'_>> = profiles
        .into_iter()
        .zip(groups_of)
        .map(|(profile, groups)| Side::of(profile, &groups, &ranks, &mut names))
        .collect();

    let total = sides[0].sum();
    let least = match depth.min_share {
        0.0 => 0,
        share => ((total.weight as f64 * share.clamp(0.0, 1.0)).ceil() as u64).max(1),
    };
    let root = Node {
        parent: 0,
        depth: 0,
        name: all,
        sum: total,
        other: sides.get(1).map_or(Sum::default(), Side::sum),
        own: 0,
        folded: 0,
        folded_weight: 0,
    };
    let slots = Slots { of_name: vec![NONE; names.rows.len()], slots: Vec::new() };
    let tree = Tree { strings: names.strings, names: names.rows, nodes: vec![root], missing: 0 };
    let mut growing =
        Growing { tree, sides, least, max_depth: depth.max_depth, waiting: Vec::new(), slots, scratch: Vec::new() };
    growing.grow_groups(&paths, &ranks);
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

    /// The groups in the order of their paths.
    fn in_order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.paths.len() as u32).collect();
        order.sort_by_key(|&group| self.paths[group as usize]);
        order
    }

    /// By group: its place in that order.
    fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![0; self.paths.len()];
        for (rank, group) in (0..).zip(self.in_order()) {
            ranks[group as usize] = rank;
        }
        ranks
    }
}

/// The group of each thread.
fn of_threads(catalog: &Catalog, grouping: Grouping, names: &mut Names, paths: &mut Groups) -> Vec<u32> {
    let group = |row| {
        let path = groups::path(catalog, ThreadId(row), grouping);
        paths.intern(path.map(|name| name.map(|name| names.group(&name))))
    };
    (0..catalog.threads().len() as u32).map(group).collect()
}

/// One profile: its weights, those of a group together.
struct Side<'a> {
    frames: std::borrow::Cow<'a, [FrameId]>,
    /// By frame: its name in the tree.
    names: Vec<u32>,
    rows: Vec<Row>,
    /// By rank of a group, and one more: where its rows begin.
    starts: Vec<usize>,
}

impl<'a> Side<'a> {
    fn of(profile: Stacked<'a>, groups: &[u32], ranks: &[u32], names: &mut Names) -> Self {
        let rank = |row: &Row| ranks[groups[row.thread.row()] as usize] as usize;
        let mut starts = vec![0; ranks.len() + 1];
        for row in &profile.rows {
            starts[rank(row) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut rows = profile.rows;
        // Stable, so that the same profile always grows the same tree.
        rows.sort_by_key(rank);
        Self { names: names.of_frames(profile.catalog), frames: profile.frames, rows, starts }
    }

    fn sum(&self) -> Sum {
        sum(&self.rows)
    }

    /// The rows of the groups from `start` to `end` in their order.
    fn range(&self, start: usize, end: usize) -> RowRange {
        RowRange { start: self.starts[start], end: self.starts[end] }
    }
}

fn sum(rows: &[Row]) -> Sum {
    rows.iter().fold(Sum::default(), |mut sum, row| {
        sum.add(row.sum);
        sum
    })
}

/// Rows of a side.
#[derive(Clone, Copy, Debug, Default)]
struct RowRange {
    start: usize,
    end: usize,
}

/// A node whose callees were not looked at yet, with its rows in each profile.
struct Waiting {
    node: u32,
    ranges: [RowRange; 2],
}

/// The callees of a node.
struct Slots {
    /// By name: its slot, or [`NONE`].
    of_name: Vec<u32>,
    slots: Vec<Slot>,
}

/// A callee: what all rows have in it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    name: u32,
    sums: [Sum; 2],
    rows: [usize; 2],
    /// Where its rows go; [`usize::MAX`] where it is folded into its caller.
    places: [usize; 2],
}

/// No slot.
const NONE: u32 = u32::MAX;

impl Slots {
    fn add(&mut self, name: u32, side: usize, sum: Sum) {
        let Self { of_name, slots } = self;
        let slot = &mut of_name[name as usize];
        if *slot == NONE {
            *slot = slots.len() as u32;
            slots.push(Slot { name, sums: [Sum::default(); 2], rows: [0; 2], places: [usize::MAX; 2] });
        }
        let slot = &mut slots[*slot as usize];
        slot.sums[side].add(sum);
        slot.rows[side] += 1;
    }

    /// Brings the slots into the order of their names, which depends on nothing but the profiles.
    fn sort(&mut self) {
        let Self { of_name, slots } = self;
        slots.sort_unstable_by_key(|slot| slot.name);
        for (at, slot) in (0..).zip(slots) {
            of_name[slot.name as usize] = at;
        }
    }

    fn clear(&mut self) {
        for slot in self.slots.drain(..) {
            self.of_name[slot.name as usize] = NONE;
        }
    }
}

struct Growing<'a> {
    tree: Tree,
    sides: Vec<Side<'a>>,
    least: u64,
    max_depth: u32,
    waiting: Vec<Waiting>,
    slots: Slots,
    scratch: Vec<Row>,
}

impl Growing<'_> {
    /// Makes the nodes of groups, with all weights of each waiting below it.
    fn grow_groups(&mut self, groups: &Groups, ranks: &[u32]) {
        let paths: Vec<[Option<u32>; 2]> =
            groups.in_order().into_iter().map(|group| groups.paths[group as usize]).collect();
        debug_assert_eq!(paths.len(), ranks.len());
        let mut start = 0;
        for outer in paths.chunk_by(|a, b| a[0] == b[0]) {
            let first = start;
            start += outer.len();
            let Some(node) = self.group(0, outer[0][0], first, start) else { continue };
            for (rank, path) in (first..).zip(outer) {
                if let Some(node) = self.group(node, path[1], rank, rank + 1) {
                    let ranges = self.ranges(rank, rank + 1);
                    self.waiting.push(Waiting { node, ranges });
                }
            }
        }
    }

    fn ranges(&self, start: usize, end: usize) -> [RowRange; 2] {
        [0, 1].map(|side| self.sides.get(side).map_or(RowRange::default(), |side| side.range(start, end)))
    }

    /// The node of some groups, its parent's where they have no name, none where it is too light or nobody is in it.
    fn group(&mut self, parent: u32, name: Option<u32>, start: usize, end: usize) -> Option<u32> {
        let ranges = self.ranges(start, end);
        if ranges.iter().all(|range| range.start == range.end) {
            return None;
        }
        let Some(name) = name else { return Some(parent) };
        let sums = [0, 1].map(|side| {
            let RowRange { start, end } = ranges[side];
            self.sides.get(side).map_or(Sum::default(), |side| sum(&side.rows[start..end]))
        });
        self.child(parent, name, sums)
    }

    /// Adds a node, if it is heavy enough.
    fn child(&mut self, parent: u32, name: u32, [sum, other]: [Sum; 2]) -> Option<u32> {
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
        while let Some(Waiting { node, ranges }) = self.waiting.pop() {
            for (side, range) in ranges.iter().enumerate().take(self.sides.len()) {
                let own = self.count(side, *range);
                if side == 0 {
                    self.tree.nodes[node as usize].own = own;
                }
            }
            self.slots.sort();
            let mut next = ranges.map(|range| range.start);
            for at in 0..self.slots.slots.len() {
                let Slot { name, sums, rows, .. } = self.slots.slots[at];
                let Some(child) = self.child(node, name, sums) else { continue };
                self.slots.slots[at].places = next;
                let ranges = [0, 1].map(|side| RowRange { start: next[side], end: next[side] + rows[side] });
                next = ranges.map(|range| range.end);
                self.waiting.push(Waiting { node: child, ranges });
            }
            for (side, range) in ranges.iter().enumerate().take(self.sides.len()) {
                if next[side] > range.start {
                    self.deal(side, *range, next[side]);
                }
            }
            self.slots.clear();
        }
    }

    /// Adds the rows of a range to the callees that they go on with; gives the weight of those that end here.
    fn count(&mut self, side: usize, range: RowRange) -> u64 {
        let of = &self.sides[side];
        let mut own = 0_u64;
        for row in &of.rows[range.start..range.end] {
            if row.next == row.end {
                own = own.saturating_add(row.sum.weight);
            } else {
                self.slots.add(of.names[of.frames[row.next].row()], side, row.sum);
            }
        }
        own
    }

    /// Puts the rows of each callee that is a node where they belong: into the front of the range, up to `end`. The others are not
    /// looked at again.
    fn deal(&mut self, side: usize, range: RowRange, end: usize) {
        let Self { sides, slots, scratch, .. } = self;
        let of = &mut sides[side];
        let empty = Row { thread: ThreadId(0), next: 0, end: 0, sum: Sum::default() };
        scratch.clear();
        scratch.resize(end - range.start, empty);
        for row in &of.rows[range.start..range.end] {
            if row.next == row.end {
                continue;
            }
            let name = of.names[of.frames[row.next].row()];
            let place = &mut slots.slots[slots.of_name[name as usize] as usize].places[side];
            if *place != usize::MAX {
                scratch[*place - range.start] = Row { next: row.next + 1, ..*row };
                *place += 1;
            }
        }
        of.rows[range.start..end].copy_from_slice(scratch);
    }
}
