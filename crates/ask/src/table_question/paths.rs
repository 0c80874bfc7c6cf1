//! Groups as the nodes of a tree of paths, with `--tree`: a node has the figures of everything below it.

use rustc_hash::FxHashMap;

use super::groups::Group;
use crate::order::Top;
use crate::question::paths::steps;

/// Number of nodes above a path.
pub(super) fn depth(path: &str) -> usize {
    steps(path).len().saturating_sub(1)
}

/// The last name of a path, indented by its depth.
pub(super) fn branch(path: &str) -> String {
    let steps = steps(path);
    let above = steps.iter().rev().nth(1).map_or(0, |above| above.len());
    let last = steps.last().copied().unwrap_or_default();
    let name = last.get(above..).unwrap_or_default().trim_start_matches(['\\', '/']);
    let name = if steps.len() > 1 { name } else { last };
    format!("{:1$}{name}", "", 2 * steps.len().saturating_sub(1))
}

/// The groups in the order of the tree: each behind the node above it, siblings ascending by their figure. Of each node as many children
/// stay as `top` says.
pub(super) fn depth_first(groups: Vec<(i64, Group)>, path: impl Fn(&Group) -> Option<String>, top: Top) -> Vec<Group> {
    let paths: Vec<Option<String>> = groups.iter().map(|(_, group)| path(group)).collect();
    let places: FxHashMap<&str, usize> =
        paths.iter().enumerate().filter_map(|(place, path)| Some((path.as_deref()?, place))).collect();
    let mut children: FxHashMap<Option<usize>, Vec<usize>> = FxHashMap::default();
    for (place, path) in paths.iter().enumerate() {
        let above = path.as_deref().map(steps).unwrap_or_default();
        // A limit of groups can have left out the node above.
        let parent = above.iter().rev().skip(1).find_map(|step| places.get(step)).copied();
        children.entry(parent).or_default().push(place);
    }
    for siblings in children.values_mut() {
        siblings.sort_by(|a, b| (groups[*a].0, &paths[*a]).cmp(&(groups[*b].0, &paths[*b])));
        top.apply(siblings);
    }
    let mut order = Vec::with_capacity(groups.len());
    // A stack in place of recursion: paths can have any number of parts.
    let mut stack: Vec<usize> = children.get(&None).into_iter().flatten().rev().copied().collect();
    while let Some(place) = stack.pop() {
        order.push(place);
        stack.extend(children.get(&Some(place)).into_iter().flatten().rev());
    }
    let mut groups: Vec<Option<Group>> = groups.into_iter().map(|(_, group)| Some(group)).collect();
    order.into_iter().filter_map(|place| groups.get_mut(place)?.take()).collect()
}

#[cfg(test)]
mod tests {
    use super::{branch, depth};

    #[test]
    fn branches_are_names_with_an_indent() {
        for (path, expected) in [
            ("C:", "C:"),
            (r"C:\Windows", "  Windows"),
            (r"C:\Windows\a.dll", "    a.dll"),
            (r"\\server\share\a", "  a"),
            ("/", "/"),
            ("/usr", "  usr"),
            ("/usr/lib", "    lib"),
            ("", ""),
        ] {
            assert_eq!(branch(path), expected, "{path}");
            assert_eq!(depth(path) * 2, expected.len() - expected.trim_start().len(), "{path}");
        }
    }
}
