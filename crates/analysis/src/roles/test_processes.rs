//! The processes of a test.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use tracesift_trace::ProcessId;

/// The process of a test with all that it started, directly or over others.
///
/// `processes` are the processes of the recording, each with the one that created it: column `parent` of
/// `processes`, or what a search by the pid of the creator found. A pid is used again, so the creator of a
/// process is the process with that pid that was alive when it started, and a pid alone tells nothing.
/// Parents in a ring do no harm.
#[must_use]
pub fn of_test(
    root: ProcessId,
    processes: impl IntoIterator<Item = (ProcessId, Option<ProcessId>)>,
) -> BTreeSet<ProcessId> {
    let mut children: FxHashMap<ProcessId, Vec<ProcessId>> = FxHashMap::default();
    for (process, parent) in processes {
        if let Some(parent) = parent {
            children.entry(parent).or_default().push(process);
        }
    }
    let (mut found, mut next) = (BTreeSet::new(), vec![root]);
    while let Some(process) = next.pop() {
        if found.insert(process) {
            next.extend(children.get(&process).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use tracesift_trace::ProcessId;

    use super::of_test;

    proptest! {
        /// A process is of the test if the way over its creators leads to the root, also where creators
        /// form rings.
        #[test]
        fn all_descendants_and_no_others(
            root in 0..12_i32,
            parents in prop::collection::vec(prop::option::of(0..14_i32), 0..12),
        ) {
            let parent = |process: i32| parents.get(process as usize).copied().flatten();
            let leads_to_root = |process: &i32| {
                let way = std::iter::successors(Some(*process), |at| parent(*at)).take(20);
                way.into_iter().any(|at| at == root)
            };
            let expected: BTreeSet<_> = (0..14).filter(leads_to_root).map(ProcessId).collect();
            let rows = (0..).zip(&parents).map(|(process, parent)| (ProcessId(process), parent.map(ProcessId)));
            prop_assert_eq!(of_test(ProcessId(root), rows), expected);
        }
    }

    #[test]
    fn a_long_chain_is_no_recursion() {
        let chain = (1..200_000).map(|process| (ProcessId(process), Some(ProcessId(process - 1))));
        assert_eq!(of_test(ProcessId(100_000), chain).len(), 100_000);
    }
}
