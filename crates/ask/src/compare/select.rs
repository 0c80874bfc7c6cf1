//! The rows that explain a difference: as coarse as one thing explains it, and as fine as several do.

use super::difference::DifferenceRow;
use super::family::Node;
use crate::path::rows::{Detail, Name};

/// A child with this part of its parent's difference takes the parent's place.
const DOMINANT: (i128, i128) = (4, 5);

/// A smaller difference, ns, is none that anybody reads.
const NOTHING: i128 = 50_000;

/// A row that is shown.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    /// What it is; `None`: all others.
    pub(super) node: Option<Node>,
    /// Its rows of the finest level, by place.
    pub(super) rows: Vec<usize>,
}

/// The rows that explain a difference, the largest first, and one of all others. Each row of the finest level is in one of them.
pub(super) fn select(nodes: &[Node], rows: &[DifferenceRow], top: usize) -> Vec<Shown> {
    let mut found: Vec<&Node> = Vec::new();
    for node in nodes.iter().filter(|node| node.detail == Detail::State) {
        if node.name.disturbance.is_some() {
            found.push(node);
        } else {
            divide(node, nodes, &mut found);
        }
    }
    let mut shown: Vec<Shown> = Vec::new();
    for node in merged(found) {
        let is_in = |row: &DifferenceRow| is_below(&row.name, &node);
        let places = (0..rows.len()).filter(|place| is_in(&rows[*place])).collect();
        shown.push(Shown { node: Some(node), rows: places });
    }
    shown.sort_by(|a, b| {
        let weight = |shown: &Shown| shown.node.as_ref().map_or(0, Node::weight);
        let name = |shown: &Shown| shown.node.as_ref().map(|node| node.name.clone());
        weight(b).cmp(&weight(a)).then_with(|| name(a).cmp(&name(b)))
    });
    let is_nothing =
        |shown: &Shown| shown.node.as_ref().is_none_or(|node| node.weight() < node.difference.denominator * NOTHING);
    let kept = shown.iter().position(is_nothing).unwrap_or(shown.len()).min(top);
    let others: Vec<usize> = shown.drain(kept..).flat_map(|shown| shown.rows).collect();
    if !others.is_empty() {
        shown.push(Shown { node: None, rows: others });
    }
    shown
}

/// A kind of disturbance is one row, whatever state it was found in.
fn merged(found: Vec<&Node>) -> Vec<Node> {
    let mut all: Vec<Node> = Vec::new();
    for node in found {
        let same =
            |known: &&mut Node| node.name.disturbance.is_some() && known.name.disturbance == node.name.disturbance;
        match all.iter_mut().find(same) {
            Some(known) => {
                known.name.state = "";
                known.values.iter_mut().zip(&node.values).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
                known.leaves.iter_mut().zip(&node.leaves).for_each(|(sum, count)| *sum += count);
                known.difference.numerator += node.difference.numerator;
                // Half widths of parts that go together do not add up.
                known.difference.half_width = None;
            }
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
    let is_dominant = |child: &Node| {
        child.difference.numerator.signum() == node.difference.numerator.signum()
            && child.weight() * whole >= node.weight() * part
    };
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

/// A name as people read it: `worker runs pool2!new_check`.
pub(super) fn text(name: &Name) -> String {
    let who = match (&name.process, &name.thread) {
        (Some(process), Some(thread)) => format!("{process} {thread} "),
        (Some(process), None) => format!("{process} "),
        _ => String::new(),
    };
    let site = name.site.as_ref().filter(|site| !site.starts_with('('));
    let tag = name.tag.as_ref().filter(|tag| site.is_none() || *tag != "Other");
    let place = match (site, tag) {
        (Some(site), Some(tag)) => format!(" {site} ({tag})"),
        (Some(place), None) | (None, Some(place)) => format!(" {place}"),
        (None, None) => String::new(),
    };
    let what = match name.state {
        "run" => format!("{who}runs{place}"),
        "ready" => match (&name.site, &name.tag) {
            (Some(site), _) => format!("{who}ready while {site} had the CPU"),
            (None, Some(tag)) => format!("{who}ready, CPU: {tag}"),
            (None, None) => format!("{who}ready"),
        },
        "wait" => {
            let ended = name.ended_by.map(|ended| format!(" for {ended}")).unwrap_or_default();
            format!("{who}waits{ended}{}", if place.is_empty() { String::new() } else { format!(" in{place}") })
        }
        "" => String::new(),
        _ => format!("{who}unknown{}", name.tag.as_ref().map(|tag| format!(": {tag}")).unwrap_or_default()),
    };
    let whom = name.for_site.as_ref().map(|site| format!(", for {site}")).unwrap_or_default();
    match name.disturbance {
        Some(kind) if what.is_empty() || name.process.is_none() => format!("disturbed: {kind}"),
        Some(kind) => format!("disturbed: {kind}: {what}{whom}"),
        None => format!("{what}{whom}"),
    }
}
