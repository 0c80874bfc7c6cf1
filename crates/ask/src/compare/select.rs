//! The rows that explain a difference: as coarse as one thing explains it, and as fine as several do.

use std::collections::VecDeque;

use super::difference::DifferenceRow;
use super::family::Node;
use super::site::module_of;
use crate::path::rows::{Detail, Name};

/// A child with this part of its parent's difference takes the parent's place.
const DOMINANT: (i128, i128) = (4, 5);

/// Time moved between methods if what they gain and lose together is so many times smaller than the largest of them.
const MOVED: i128 = 4;

/// A smaller difference, ns, is none that anybody reads.
const NOTHING: i128 = 50_000;

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

impl Shown {
    fn weight(&self) -> i128 {
        if let What::Node(node) = &self.what { node.weight() } else { 0 }
    }
}

/// The rows that explain a difference, the largest first, and one of all others. Each row of the finest level is in one of them.
pub(super) fn select(nodes: &[Node], rows: &[DifferenceRow], level: Option<Detail>, top: usize) -> Vec<Shown> {
    let mut found: Vec<&Node> = Vec::new();
    for node in nodes.iter().filter(|node| node.detail == Detail::State) {
        match level {
            _ if node.name.disturbance.is_some() => found.push(node),
            Some(level) => found.extend(nodes.iter().filter(|of| of.detail == level && is_below(&of.name, node))),
            None => divide(node, nodes, &mut found),
        }
    }
    let places_of =
        |node: &Node| (0..rows.len()).filter(|place| is_below(&rows[*place].name, node)).collect::<Vec<_>>();
    let (pairs, others) = moved(merged(found));
    let mut shown: Vec<Shown> =
        others.into_iter().map(|node| Shown { rows: places_of(&node), what: What::Node(Box::new(node)) }).collect();
    shown.sort_by(|a, b| {
        let name = |shown: &Shown| if let What::Node(node) = &shown.what { Some(node.name.clone()) } else { None };
        b.weight().cmp(&a.weight()).then_with(|| name(a).cmp(&name(b)))
    });
    let denominator = nodes.first().map_or(1, |node| node.difference.denominator);
    let is_nothing = |shown: &Shown| shown.weight() < denominator * NOTHING;
    let kept = shown.iter().position(is_nothing).unwrap_or(shown.len()).min(top);
    let others: Vec<usize> = shown.drain(kept..).flat_map(|shown| shown.rows).collect();
    for nodes in pairs {
        let rows = nodes.iter().flat_map(places_of).collect();
        let sites = nodes.into_iter().filter_map(|node| node.name.site).collect();
        shown.push(Shown { what: What::Moved(sites), rows });
    }
    if !others.is_empty() {
        shown.push(Shown { what: What::Others, rows: others });
    }
    shown
}

/// Pairs of methods of a thread of which one lost the time that the other gained, and all other nodes.
///
/// A renamed method is one that has gone and one that is new. What both gain and lose together is what the change costs.
fn moved(nodes: Vec<Node>) -> (Vec<[Node; 2]>, Vec<Node>) {
    let mut rest: Vec<Node> = Vec::new();
    let mut pairs = Vec::new();
    let mut by_weight = nodes;
    by_weight.sort_by(|a, b| b.weight().cmp(&a.weight()).then_with(|| a.name.cmp(&b.name)));
    let mut left: VecDeque<Node> = by_weight.into();
    while let Some(node) = left.pop_front() {
        let net = |other: &Node| (node.own() + other.own()).abs();
        let candidates = (0..left.len()).filter(|place| can_take(&node, &left[*place]));
        let best = candidates.min_by_key(|place| net(&left[*place]));
        match best.filter(|place| net(&left[*place]).saturating_mul(MOVED) < node.weight()) {
            Some(place) => {
                if let Some(other) = left.remove(place) {
                    pairs.push(if node.own() < 0 { [node, other] } else { [other, node] });
                }
            }
            None => rest.push(node),
        }
    }
    (pairs, rest)
}

/// Whether the second method can have the time of the first one: code of the same thread and module, of which one grew and one shrank,
/// both by no chance.
fn can_take(node: &Node, other: &Node) -> bool {
    let is_code = |node: &Node| node.is_flagged && node.name.state == "run" && node.name.disturbance.is_none();
    let module = |node: &Node| node.name.site.as_deref().and_then(module_of).map(str::to_owned);
    is_code(node)
        && is_code(other)
        && node.own().signum() == -other.own().signum()
        && (&node.name.process, &node.name.thread) == (&other.name.process, &other.name.thread)
        && module(node).is_some_and(|of_node| module(other) == Some(of_node))
}

/// A kind of disturbance is one row, whatever state it was found in.
fn merged(found: Vec<&Node>) -> Vec<Node> {
    let mut all: Vec<Node> = Vec::new();
    for node in found {
        let same =
            |known: &&mut Node| node.name.disturbance.is_some() && known.name.disturbance == node.name.disturbance;
        match all.iter_mut().find(same) {
            Some(known) => known.join(node),
            None => all.push(node.clone()),
        }
    }
    all
}

/// Puts a node in the list, or those below it where one of them explains it or is no chance.
fn divide<'a>(node: &'a Node, nodes: &'a [Node], found: &mut Vec<&'a Node>) {
    let Some(next) = next(node.detail) else { return found.push(node) };
    let children: Vec<&Node> =
        nodes.iter().filter(|child| child.detail == next && is_below(&child.name, node)).collect();
    let (part, whole) = DOMINANT;
    let is_dominant =
        |child: &Node| child.own().signum() == node.own().signum() && child.weight() * whole >= node.weight() * part;
    // One flagged row among many is what somebody looks for, however small its part.
    if children.iter().any(|child| child.is_flagged || is_dominant(child)) {
        children.into_iter().for_each(|child| divide(child, nodes, found));
    } else {
        found.push(node);
    }
}

fn next(detail: Detail) -> Option<Detail> {
    match detail {
        Detail::State => Some(Detail::Who),
        Detail::Who => Some(Detail::Tag),
        Detail::Tag => Some(Detail::Site),
        Detail::Site => None,
    }
}

fn is_below(name: &Name, node: &Node) -> bool {
    if node.name.state.is_empty() {
        return name.disturbance == node.name.disturbance;
    }
    name.clone().coarse(node.detail) == node.name
}
