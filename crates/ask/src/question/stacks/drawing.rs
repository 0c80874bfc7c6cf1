//! Draws the lines of a tree.
//!
//! A line is indented only where a tree branches: what goes on from its caller with all of its time stands where that stands, so that a
//! stack of sixty frames remains readable.
//!
//! ```text
//! main
//! run
//! ├ load
//! │ read
//! └ … 3 more
//! ```

use tracesift_analysis::Place;
use tracesift_analysis::call_tree::{Line, What};

use super::trees::Named;

/// Branches that are drawn beside each other; those further in are no longer indented, lest lines grow with the depth of a damaged stack.
const WIDEST: usize = 64;

/// Draws lines, depth first.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// What stands before the lines below the last one.
    branches: String,
    /// For each depth, how much of it stands before the lines below that one.
    lengths: Vec<usize>,
}

impl Drawing {
    /// A line with the branches before it.
    pub(super) fn label(&mut self, line: &Line, named: &Named) -> String {
        self.lengths.truncate(line.depth);
        self.branches.truncate(self.lengths.last().copied().unwrap_or(0));
        let mut label = self.branches.clone();
        if !line.goes_on {
            label.push_str(if line.is_last { "└ " } else { "├ " });
            if self.branches.chars().count() < 2 * WIDEST {
                self.branches.push_str(if line.is_last { "  " } else { "│ " });
            }
        }
        self.lengths.push(self.branches.len());
        label.push_str(&name(line.what, named));
        label
    }
}

fn name(what: What, named: &Named) -> String {
    if let What::More(lines) = what {
        return format!("… {lines} more");
    }
    let mut name = match (&named.module, &named.function) {
        (Some(module), Some(function)) => format!("{module}!{function}"),
        (Some(name), None) | (None, Some(name)) => name.clone(),
        (None, None) => "[no stack]".to_owned(),
    };
    match &named.place {
        Some(Place::Line { file, line }) => {
            let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
            name.push_str(&format!("  {file}:{line}"));
        }
        Some(Place::Address(address)) => name.push_str(&format!("  {address:#x}")),
        None => {}
    }
    name
}

#[cfg(test)]
mod tests {
    use tracesift_analysis::call_tree::{Limits, Step};
    use tracesift_analysis::{CallTree, MethodId, Weight};

    use super::{Drawing, Named, WIDEST};

    fn drawn(stacks: &[(&[u32], i64)]) -> Vec<String> {
        let mut tree = CallTree::default();
        for (path, time) in stacks {
            let path: Vec<Step> = path.iter().map(|&method| Step::Method(MethodId(method))).collect();
            tree.add(&path, Weight { amount: *time, count: 1 });
        }
        let mut drawing = Drawing::default();
        let lines = tree.lines(Limits { smallest: 2, depth: None });
        lines
            .iter()
            .map(|line| {
                let function = match line.what {
                    super::What::Step(Step::Method(method)) => Some(method.0.to_string()),
                    _ => None,
                };
                drawing.label(line, &Named { function, ..Named::default() })
            })
            .collect()
    }

    #[test]
    fn only_branches_are_indented() {
        let lines = drawn(&[(&[1, 2, 3, 4, 5], 50), (&[1, 2, 6, 7], 20), (&[1, 2, 6, 8], 10), (&[1, 2, 9], 1)]);
        assert_eq!(lines, ["1", "2", "├ 3", "│ 4", "│ 5", "├ 6", "│ ├ 7", "│ └ 8", "└ … 1 more"]);
    }

    #[test]
    fn several_roots_are_branches_of_their_process() {
        assert_eq!(drawn(&[(&[1, 2], 50), (&[3, 4], 20), (&[], 10)]), ["├ 1", "│ 2", "├ 3", "│ 4", "└ [no stack]"]);
    }

    #[test]
    fn what_is_very_deep_is_no_longer_indented() {
        let path: Vec<u32> = (0..1000).collect();
        let stacks: Vec<(&[u32], i64)> = (1..1000).map(|end| (&path[..end], 2)).collect();
        let widest = drawn(&stacks).iter().map(|line| line.chars().count()).max();
        assert!(widest <= Some(2 * WIDEST + 10), "{widest:?}");
    }
}
