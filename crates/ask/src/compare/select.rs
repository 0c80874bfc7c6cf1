//! The rows that explain a difference: as coarse as one thing explains it, and as fine as several do.

use std::collections::VecDeque;

use super::family::Node;
use super::site::module_of;
use super::tree::Tree;
use crate::path::rows::Detail;

/// A child with this part of its parent's difference takes the parent's place.
const DOMINANT: (i128, i128) = (4, 5);

/// Time moved between methods if what they gain and lose together is so many times smaller than the largest of them.
const MOVED: i128 = 4;

/// A smaller difference, ns, is none that anybody reads, unless it is a larger part of the duration.
const NOTHING: i128 = 50_000;

/// Such a part of the duration.
const NOTHING_OF: i128 = 1_000;

/// What a part that is shown is.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// A row of some level.
    Node(Box<Node>),
    /// Time that went from some methods to others, by their names.
    Moved(Vec<String>),
    /// All others.
    Others,
}

/// A part that is shown.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    /// What it is.
    pub(super) what: What,
    /// Its rows of the finest level, by place.
    pub(super) rows: Vec<usize>,
}

/// A node that may be shown, with its rows of the finest level.
struct Candidate {
    node: Node,
    rows: Vec<usize>,
}

/// The rows that explain a difference, the largest first, and one of all others. Each row of the finest level is in one of them.
/// `duration` is the mean duration of the first set, ns.
pub(super) fn select(nodes: &[Node], level: Option<Detail>, top: usize, duration: f64) -> Vec<Shown> {
    let tree = Tree::of(nodes);
    let mut found: Vec<usize> = Vec::new();
    for place in (0..nodes.len()).filter(|place| nodes[*place].detail == Detail::State) {
        match level {
            _ if nodes[place].name.disturbance.is_some() => found.push(place),
            Some(level) => tree.at_level(nodes, place, level, &mut found),
            None => divide(place, nodes, &tree, &mut found),
        }
    }
    let candidate = |place: usize| Candidate { node: nodes[place].clone(), rows: tree.leaves(place).to_vec() };
    let (pairs, mut others) = moved(found.into_iter().map(candidate).collect());
    others.sort_by(|a, b| b.node.weight().cmp(&a.node.weight()).then_with(|| a.node.name.cmp(&b.node.name)));
    let denominator = nodes.first().map_or(1, |node| node.difference.denominator);
    let least = NOTHING.min(duration as i128 / NOTHING_OF);
    let is_nothing = |candidate: &Candidate| candidate.node.weight() < denominator.saturating_mul(least);
    let kept = others.iter().position(is_nothing).unwrap_or(others.len()).min(top);
    let rest: Vec<usize> = others.drain(kept..).flat_map(|candidate| candidate.rows).collect();
    let shown = |Candidate { node, rows }: Candidate| Shown { what: What::Node(Box::new(node)), rows };
    let mut shown: Vec<Shown> = others.into_iter().map(shown).collect();
    for pair in pairs {
        let rows = pair.iter().flat_map(|candidate| candidate.rows.iter().copied()).collect();
        let sites = pair.into_iter().filter_map(|candidate| candidate.node.name.site).collect();
        shown.push(Shown { what: What::Moved(sites), rows });
    }
    if !rest.is_empty() {
        shown.push(Shown { what: What::Others, rows: rest });
    }
    shown
}

/// Pairs of methods of a thread of which one lost the time that the other gained, and all other nodes.
///
/// A renamed method is one that has gone and one that is new. What both gain and lose together is what the change costs.
fn moved(candidates: Vec<Candidate>) -> (Vec<[Candidate; 2]>, Vec<Candidate>) {
    let is_code =
        |of: &Candidate| of.node.is_flagged && of.node.name.state == "run" && of.node.name.disturbance.is_none();
    let (mut code, mut rest): (Vec<Candidate>, Vec<Candidate>) = candidates.into_iter().partition(is_code);
    let mut pairs = Vec::new();
    code.sort_by(|a, b| b.node.weight().cmp(&a.node.weight()).then_with(|| a.node.name.cmp(&b.node.name)));
    let mut left: VecDeque<Candidate> = code.into();
    while let Some(first) = left.pop_front() {
        let net = |other: &Candidate| (first.node.own() + other.node.own()).abs();
        let takers = (0..left.len()).filter(|place| can_take(&first.node, &left[*place].node));
        let best = takers.min_by_key(|place| net(&left[*place]));
        match best.filter(|place| net(&left[*place]).saturating_mul(MOVED) < first.node.weight()) {
            Some(place) => {
                if let Some(other) = left.remove(place) {
                    pairs.push(if first.node.own() < 0 { [first, other] } else { [other, first] });
                }
            }
            None => rest.push(first),
        }
    }
    (pairs, rest)
}

/// Whether the second method can have the time of the first one: code of the same thread and module, of which one grew and one shrank.
fn can_take(node: &Node, other: &Node) -> bool {
    let module = |node: &Node| node.name.site.as_deref().and_then(module_of).map(str::to_owned);
    node.own().signum() == -other.own().signum()
        && (&node.name.process, &node.name.thread) == (&other.name.process, &other.name.thread)
        && module(node).is_some_and(|of_node| module(other) == Some(of_node))
}

/// Puts a node in the list, or those below it where one of them explains it or is no chance.
fn divide(place: usize, nodes: &[Node], tree: &Tree, found: &mut Vec<usize>) {
    let (node, children) = (&nodes[place], tree.children(place));
    let (part, whole) = DOMINANT;
    let is_dominant = |child: &Node| {
        child.own().signum() == node.own().signum()
            && child.weight().saturating_mul(whole) >= node.weight().saturating_mul(part)
    };
    // One flagged row among many is what somebody looks for, however small its part.
    let explains = |child: &&usize| tree.has_flag(**child) || is_dominant(&nodes[**child]);
    if children.iter().any(|child| explains(&child)) {
        children.iter().for_each(|child| divide(*child, nodes, tree, found));
    } else {
        found.push(place);
    }
}
