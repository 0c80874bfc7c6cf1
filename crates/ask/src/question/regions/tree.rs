//! Regions below the regions that they lie in.

use rustc_hash::FxHashMap;
use tracesift_analysis::Span;

use super::columns::Row;
use super::sums::Sums;
use super::{Found, Part, Question, part};

/// The regions of one definition and name that lie in those of another node.
#[derive(Default)]
struct Node {
    parent: Option<usize>,
    definition: u32,
    name: u32,
    sums: Sums,
}

/// The rows of the tree: each stands behind the one that it lies below, and siblings stand in ascending order.
pub(super) fn rows(question: &Question, found: &Found, range: Span) -> Vec<Row> {
    let nodes = nodes(question, found, range);
    let mut rows: Vec<Row> = Vec::new();
    let mut children: FxHashMap<Option<usize>, Vec<usize>> = FxHashMap::default();
    for (place, node) in nodes.into_iter().enumerate() {
        children.entry(node.parent).or_default().push(place);
        rows.push(question.row(found, (None, None, Some(node.definition), Some(node.name)), node.sums));
    }
    for siblings in children.values_mut() {
        siblings.sort_by_cached_key(|place| (question.figure(&rows[*place]), rows[*place].order()));
        question.top.apply(siblings);
    }
    let mut order: Vec<Row> = Vec::new();
    // The next one on top: siblings go on in reverse order.
    let mut next: Vec<(usize, usize)> = Vec::new();
    let push = |next: &mut Vec<(usize, usize)>, of: Option<usize>, depth: usize| {
        next.extend(children.get(&of).into_iter().flatten().rev().map(|place| (*place, depth)));
    };
    push(&mut next, None, 0);
    while let Some((place, depth)) = next.pop() {
        order.push(Row { depth: Some(depth), ..std::mem::take(&mut rows[place]) });
        push(&mut next, Some(place), depth + 1);
    }
    order
}

/// The nodes. One stands behind the one that it lies below.
fn nodes(question: &Question, found: &Found, range: Span) -> Vec<Node> {
    let regions = &found.regions.regions;
    let exclusive = found.nesting.exclusive(regions, range);
    let mut nodes: Vec<Node> = Vec::new();
    let mut known: FxHashMap<(Option<usize>, u32, u32), usize> = FxHashMap::default();
    // The node of each region; of one that is not asked for the node around it.
    let mut node_of: Vec<Option<usize>> = vec![None; regions.len()];
    for place in found.nesting.order() {
        let region = &regions[*place];
        let parent = found.nesting.parents[*place].and_then(|parent| node_of[parent]);
        node_of[*place] = parent;
        let part = part(region, range);
        if matches!(part, Part::None) || !question.takes(found, region) {
            continue;
        }
        let (definition, name) = (region.definition, region.name.0);
        let node = *known.entry((parent, definition, name)).or_insert_with(|| {
            nodes.push(Node { parent, definition, name, ..Node::default() });
            nodes.len() - 1
        });
        node_of[*place] = Some(node);
        match part {
            Part::Of(part) => nodes[node].sums.region(part, exclusive[*place]),
            _ => nodes[node].sums.open(),
        }
    }
    nodes
}
