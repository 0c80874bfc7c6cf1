//! Last branch records are added up while they are read: a sample has 16 to 32 branches, so single ones would be more rows than all
//! other tables have.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::BranchRow;
use tracesift_trace::{FrameId, ProcessId};

/// Pairs of instructions that are kept: about 64 MiB.
const MAX_PAIRS: usize = 1 << 20;

/// The branches of one recording.
#[derive(Debug)]
pub(crate) struct Branches {
    sums: FxHashMap<Key, Sums>,
    max: usize,
}

/// What makes branches one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pair {
    pub(crate) process: ProcessId,
    pub(crate) from: FrameId,
    pub(crate) to: FrameId,
    /// As [`tracesift_trace::rows::branch_kinds`] has it.
    pub(crate) kind: i8,
}

/// The pair, whether it is told how the branches were predicted, and whether their cycles are. Figures of all branches of a row are known, or
/// none is, so that their mean is one over all.
type Key = (Pair, [bool; 2]);

/// What the processor tells of a branch beside its ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    /// Whether it had predicted something else; `None`: it does not say.
    pub(crate) mispredicted: Option<bool>,
    /// Cycles since the branch before; `None`: it does not say.
    pub(crate) cycles: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: i64,
    mispredicted: Option<i64>,
    cycles: Option<i64>,
}

impl Default for Branches {
    fn default() -> Self {
        Self::with_room_for(MAX_PAIRS)
    }
}

impl Branches {
    fn with_room_for(max: usize) -> Self {
        Self { sums: FxHashMap::default(), max }
    }

    /// Adds a branch. `false`: it was left out, as there are too many pairs.
    pub(crate) fn add(&mut self, pair: Pair, told: Told) -> bool {
        let is_full = self.sums.len() >= self.max;
        let key = (pair, [told.mispredicted.is_some(), told.cycles.is_some()]);
        let sums = match self.sums.get_mut(&key) {
            Some(sums) => sums,
            None if is_full => return false,
            None => self.sums.entry(key).or_default(),
        };
        sums.count += 1;
        let add = |sum: &mut Option<i64>, part: Option<i64>| {
            if let Some(part) = part {
                *sum = Some(sum.unwrap_or(0).saturating_add(part));
            }
        };
        add(&mut sums.mispredicted, told.mispredicted.map(i64::from));
        add(&mut sums.cycles, told.cycles.map(i64::from));
        true
    }

    /// The rows of the table.
    pub(crate) fn finish(self) -> Vec<BranchRow> {
        let mut pairs: Vec<(Key, Sums)> = self.sums.into_iter().collect();
        pairs.sort_unstable_by_key(|(key, _)| *key);
        let row = |((pair, _), sums): (Key, Sums)| BranchRow {
            process: Some(pair.process),
            from: pair.from,
            to: pair.to,
            kind: pair.kind,
            count: sums.count,
            mispredicted: sums.mispredicted,
            cycles: sums.cycles,
        };
        pairs.into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use tracesift_trace::rows::BranchRow;
    use tracesift_trace::{FrameId, ProcessId};

    use super::{Branches, Pair, Told};

    fn pair(from: i32, to: i32) -> Pair {
        Pair { process: ProcessId(3), from: FrameId(from), to: FrameId(to), kind: 1 }
    }

    #[test]
    fn branches_of_a_pair_are_one_row() {
        let mut branches = Branches::default();
        branches.add(pair(5, 1), Told { mispredicted: Some(true), cycles: Some(30) });
        branches.add(pair(2, 9), Told::default());
        branches.add(pair(5, 1), Told { mispredicted: Some(false), cycles: Some(40) });
        branches.add(pair(5, 1), Told { mispredicted: Some(false), cycles: None });
        let row = |from, to, count, mispredicted, cycles| BranchRow {
            process: Some(ProcessId(3)),
            from: FrameId(from),
            to: FrameId(to),
            kind: 1,
            count,
            mispredicted,
            cycles,
        };
        // A branch whose cycles are not told has no part in the mean of the others.
        let expected = [row(2, 9, 1, None, None), row(5, 1, 1, Some(0), None), row(5, 1, 2, Some(1), Some(70))];
        assert_eq!(branches.finish(), expected);
    }

    #[test]
    fn the_number_of_pairs_is_bounded() {
        let mut branches = Branches::with_room_for(2);
        let taken = [1, 2, 3, 1].map(|from| branches.add(pair(from, 0), Told::default()));
        assert_eq!(taken, [true, true, false, true]);
        assert_eq!(branches.finish().len(), 2);
    }
}
