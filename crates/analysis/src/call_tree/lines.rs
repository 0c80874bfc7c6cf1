//! A call tree as a reader sees it: depth first, the largest line of a level first, small ones summed up.
//!
//! Largest first, since one reads a tree from its root on: the path that took the most time is the one that goes straight down.

use std::cmp::Reverse;

use super::path::Step;
use super::tree::{CallTree, Number, TOP};
use crate::stack_weights::Weight;

/// What of a tree is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Lines of less time, ns, are summed up.
    pub smallest: i64,
    /// Lines below so many are summed up.
    pub depth: Option<usize>,
}

/// What a line stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A step of stacks.
    Step(Step),
    /// So many lines that are not shown, with all below them.
    More(usize),
}

/// A line of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it stands for.
    pub what: What,
    /// The place of the line above it, in this order; `None` for a root.
    pub parent: Option<usize>,
    /// Lines above it.
    pub depth: usize,
    /// Its time with that of all lines below it.
    pub total: Weight,
    /// Its own time. Over all lines it adds up to the total of the tree.
    pub own: Weight,
    /// Whether all of the time of the line above it, or of the tree, is in this line.
    pub goes_on: bool,
    /// Whether no other line stands beside it, further down.
    pub is_last: bool,
}

/// A line whose place is known, and whose lines below are still to come.
#[derive(Clone, Copy)]
struct Pending {
    line: Line,
    node: Option<Number>,
}

impl CallTree {
    /// The lines, depth first. In each level the largest is first, and what is summed up last.
    #[must_use]
    pub fn lines(&self, limits: Limits) -> Vec<Line> {
        let children = Children::of(self);
        let mut lines: Vec<Line> = Vec::new();
        // A stack in place of recursion: a damaged archive may have stacks of any depth.
        let mut pending: Vec<Pending> = Vec::new();
        self.push(TOP, None, 0, &children, limits, &mut pending);
        while let Some(Pending { line, node }) = pending.pop() {
            lines.push(line);
            if let Some(node) = node {
                self.push(node, Some(lines.len() - 1), line.depth + 1, &children, limits, &mut pending);
            }
        }
        lines
    }

    /// Puts the lines below a node on the stack, the last one first.
    fn push(
        &self,
        node: Number,
        parent: Option<usize>,
        depth: usize,
        children: &Children,
        limits: Limits,
        pending: &mut Vec<Pending>,
    ) {
        let children = children.below(node);
        let above = self.nodes[node as usize].total;
        let is_shown = |child: Number| {
            limits.depth.is_none_or(|deepest| depth < deepest)
                && self.nodes[child as usize].total.amount >= limits.smallest
        };
        // The largest come first.
        let (shown, rest) = children.split_at(children.partition_point(|&child| is_shown(child)));
        let start = pending.len();
        if !rest.is_empty() {
            let mut sum = Weight::default();
            rest.iter().for_each(|&child| sum.add(self.nodes[child as usize].total));
            let goes_on = shown.is_empty() && sum == above;
            let what = What::More(rest.len());
            let line = Line { what, parent, depth, total: sum, own: sum, goes_on, is_last: true };
            pending.push(Pending { line, node: None });
        }
        for &child in shown.iter().rev() {
            let node = &self.nodes[child as usize];
            let line = Line {
                what: What::Step(node.step),
                parent,
                depth,
                total: node.total,
                own: node.own,
                goes_on: children.len() == 1 && node.total == above,
                is_last: pending.len() == start,
            };
            pending.push(Pending { line, node: Some(child) });
        }
    }
}

/// The nodes below each node, the largest first.
struct Children {
    order: Vec<Number>,
    /// Where those of each node begin in the order, and, behind the last node, where the order ends.
    starts: Vec<usize>,
}

impl Children {
    fn of(tree: &CallTree) -> Self {
        let count = Number::try_from(tree.nodes.len()).unwrap_or(Number::MAX);
        let mut order: Vec<Number> = (TOP + 1..count).collect();
        order.sort_unstable_by_key(|&number| {
            let node = &tree.nodes[number as usize];
            (node.parent, Reverse(node.total), node.step)
        });
        let mut starts = vec![0_usize; tree.nodes.len() + 1];
        for node in tree.nodes.iter().skip(1) {
            starts[node.parent as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        Self { order, starts }
    }

    fn below(&self, node: Number) -> &[Number] {
        let node = node as usize;
        self.order.get(self.starts[node]..self.starts[node + 1]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CallTree, Limits, Line, Step, What};
    use crate::names::MethodId;
    use crate::stack_weights::Weight;

    fn tree(stacks: &[(&[u32], i64)]) -> CallTree {
        let mut tree = CallTree::default();
        for (path, time) in stacks {
            let path: Vec<Step> = path.iter().map(|&method| Step::Method(MethodId(method))).collect();
            tree.add(&path, Weight { amount: *time, count: 1 });
        }
        tree
    }

    /// `depth what total own`, `=` before a line that goes on.
    fn text(lines: &[Line]) -> Vec<String> {
        let one = |line: &Line| {
            let what = match line.what {
                What::Step(Step::Method(method)) => method.0.to_string(),
                What::Step(_) => "-".to_owned(),
                What::More(lines) => format!("+{lines}"),
            };
            let goes_on = if line.goes_on { "=" } else { "" };
            format!("{}{goes_on} {what} {} {}", line.depth, line.total.amount, line.own.amount)
        };
        lines.iter().map(one).collect()
    }

    const STACKS: [(&[u32], i64); 6] =
        [(&[1, 2, 3], 50), (&[1, 2], 10), (&[1, 2, 4], 3), (&[1, 2, 5], 2), (&[1, 6, 7], 30), (&[], 5)];

    #[test]
    fn the_largest_line_of_a_level_is_first() {
        let lines = tree(&STACKS).lines(Limits::default());
        let expected =
            ["0 1 95 0", "1 2 65 10", "2 3 50 50", "2 4 3 3", "2 5 2 2", "1 6 30 0", "2= 7 30 30", "0 - 5 5"];
        assert_eq!(text(&lines), expected);
        assert_eq!(lines.iter().map(|line| line.parent).collect::<Vec<_>>(), {
            [None, Some(0), Some(1), Some(1), Some(1), Some(0), Some(5), None]
        });
        assert_eq!(lines.iter().filter(|line| line.is_last).count(), 4);
    }

    #[test]
    fn small_and_deep_lines_are_summed_up() {
        let tree = tree(&STACKS);
        let small = tree.lines(Limits { smallest: 6, depth: None });
        assert_eq!(
            text(&small),
            ["0 1 95 0", "1 2 65 10", "2 3 50 50", "2 +2 5 5", "1 6 30 0", "2= 7 30 30", "0 +1 5 5"]
        );
        let deep = tree.lines(Limits { smallest: 0, depth: Some(2) });
        assert_eq!(text(&deep), ["0 1 95 0", "1 2 65 10", "2 +3 55 55", "1 6 30 0", "2= +1 30 30", "0 - 5 5"]);
        assert_eq!(text(&tree.lines(Limits { smallest: 101, depth: None })), ["0= +2 100 100"]);
    }

    #[test]
    fn a_tree_without_stacks_has_no_lines() {
        assert!(CallTree::default().lines(Limits::default()).is_empty());
    }
}
