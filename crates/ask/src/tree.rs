//! The tree of processes and their creators.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{Origin, ProcessRow};

/// The parents of processes, by index.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    parents: Vec<Option<usize>>,
}

impl Tree {
    /// Finds the parent of every process: the one that the recording names, else the latest process with the parent's pid
    /// in the same session that was alive when the child started.
    #[must_use]
    pub fn new(processes: &[ProcessRow]) -> Self {
        let by_id: FxHashMap<_, _> = processes.iter().enumerate().map(|(index, row)| (row.process, index)).collect();
        let mut by_pid: FxHashMap<i64, Vec<usize>> = FxHashMap::default();
        // What bears the time of interrupts has the pid of the idle loop and started nobody.
        for (index, row) in processes.iter().enumerate().filter(|(_, row)| row.origin != Origin::Pseudo) {
            by_pid.entry(row.pid).or_default().push(index);
        }
        let find = |index: usize, child: &ProcessRow| {
            if let Some(parent) = child.parent.and_then(|parent| by_id.get(&parent)) {
                return Some(*parent).filter(|parent| *parent != index);
            }
            let candidates = by_pid.get(&child.parent_pid?)?;
            candidates
                .iter()
                .copied()
                .filter(|&candidate| {
                    candidate != index
                        && processes.get(candidate).is_some_and(|parent| {
                            (parent.session.is_none() || child.session.is_none() || parent.session == child.session)
                                && was_alive_at_start(parent, child)
                        })
                })
                .max_by_key(|&candidate| processes.get(candidate).map(|parent| parent.start))
        };
        let mut tree = Self { parents: processes.iter().enumerate().map(|(i, row)| find(i, row)).collect() };
        tree.break_cycles();
        tree
    }

    /// Index of the parent of the process at `index`.
    #[must_use]
    pub fn parent(&self, index: usize) -> Option<usize> {
        self.parents.get(index).copied().flatten()
    }

    /// Depth-first order over the processes that `shown` lets through, each with the number of its shown ancestors.
    /// Siblings keep the order of `before`.
    pub fn depth_first(
        &self,
        shown: impl Fn(usize) -> bool,
        mut before: impl FnMut(&usize, &usize) -> std::cmp::Ordering,
    ) -> Vec<(usize, usize)> {
        let mut children: FxHashMap<Option<usize>, Vec<usize>> = FxHashMap::default();
        for index in (0..self.parents.len()).filter(|&index| shown(index)) {
            let mut parent = self.parent(index);
            while let Some(hidden) = parent.filter(|&parent| !shown(parent)) {
                parent = self.parent(hidden);
            }
            children.entry(parent).or_default().push(index);
        }
        for siblings in children.values_mut() {
            siblings.sort_by(&mut before);
        }
        // A stack in place of recursion: a recording may claim a chain of any length.
        let push = |stack: &mut Vec<(usize, usize)>, of: Option<usize>, depth: usize| {
            stack.extend(children.get(&of).into_iter().flatten().rev().map(|&child| (child, depth)));
        };
        let (mut stack, mut order) = (Vec::new(), Vec::new());
        push(&mut stack, None, 0);
        while let Some((index, depth)) = stack.pop() {
            order.push((index, depth));
            push(&mut stack, Some(index), depth + 1);
        }
        order
    }

    /// Cuts every ring of parents at one place, so that each process hangs below a root.
    fn break_cycles(&mut self) {
        // 0 not visited, 1 on the way, 2 known to end at a root.
        let mut states = vec![0_u8; self.parents.len()];
        for start in 0..self.parents.len() {
            let (mut way, mut at) = (Vec::new(), Some(start));
            while let Some(index) = at {
                match states.get(index) {
                    Some(0) => {
                        states[index] = 1;
                        way.push(index);
                        at = self.parent(index);
                    }
                    Some(1) => {
                        // The last of the way points back into it.
                        if let Some(last) = way.last() {
                            self.parents[*last] = None;
                        }
                        break;
                    }
                    _ => break,
                }
            }
            for index in way {
                states[index] = 2;
            }
        }
    }
}

fn was_alive_at_start(parent: &ProcessRow, child: &ProcessRow) -> bool {
    let started_before = match (parent.start, child.start) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(parent), Some(child)) => parent <= child,
    };
    let ended_after = match (parent.end, child.start) {
        (None, _) => true,
        // The child ran before the recording: its parent, alive at the edge, could have started it.
        (Some(_), None) => true,
        (Some(end), Some(child)) => end >= child,
    };
    started_before && ended_after
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracesift_testing::rows::process;

    fn child(id: i32, pid: i64, parent_pid: i64, start: Option<i64>) -> ProcessRow {
        ProcessRow { parent_pid: Some(parent_pid), start, ..process(id, pid, "child.exe") }
    }

    #[test]
    fn a_parent_must_have_been_alive() {
        let mut first = process(0, 5, "first.exe");
        first.end = Some(100);
        let mut second = process(1, 5, "second.exe");
        second.start = Some(200);
        let mut elsewhere = child(4, 12, 5, Some(300));
        elsewhere.session = Some(2);
        second.session = Some(1);
        let tree = Tree::new(&[
            first,
            second,
            child(2, 10, 5, Some(50)),
            child(3, 11, 5, Some(250)),
            elsewhere,
            child(5, 13, 5, Some(150)),
        ]);
        assert_eq!(tree.parent(2), Some(0));
        assert_eq!(tree.parent(3), Some(1));
        assert_eq!(tree.parent(4), None, "another session");
        assert_eq!(tree.parent(5), None, "between two lives of the pid");
    }

    #[test]
    fn what_bears_the_time_of_interrupts_is_no_parent() {
        let interrupts = ProcessRow { origin: Origin::Pseudo, ..process(1, 0, "DPC/ISR") };
        let tree = Tree::new(&[child(0, 0, 0, None), interrupts, child(2, 4, 0, None)]);
        assert_eq!([0, 1, 2].map(|index| tree.parent(index)), [None, None, Some(0)]);
    }

    #[test]
    fn rings_are_cut() {
        let mut rows = [process(0, 0, "Idle"), child(1, 1, 2, None), child(2, 2, 1, None), child(3, 3, 1, None)];
        rows[0].parent_pid = Some(0);
        let tree = Tree::new(&rows);
        let order = tree.depth_first(|_| true, Ord::cmp);
        assert_eq!(order.len(), 4);
        assert!(order.contains(&(0, 0)));
    }

    #[test]
    fn hidden_ancestors_do_not_count_as_depth() {
        let rows = [process(0, 1, "a"), child(1, 2, 1, None), child(2, 3, 2, None)];
        let tree = Tree::new(&rows);
        assert_eq!(tree.depth_first(|_| true, Ord::cmp), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(tree.depth_first(|index| index != 1, Ord::cmp), [(0, 0), (2, 1)]);
    }
}
