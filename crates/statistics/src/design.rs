//! Which run belongs to which set, and which runs may exchange their labels.

use crate::problem::Problem;

/// The largest number of runs of a comparison. More would take gigabytes for labellings and pairs of runs.
pub const MAX_RUNS: usize = 4_096;

/// One of the two sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The set before, to which the other is compared.
    A,
    /// The set after. A larger value here is an increase.
    B,
}

impl Side {
    /// The other set.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// The plan of a comparison: the label of each run, and the groups in which labels may be exchanged.
///
/// All figures of a comparison share one design. Their values stand in the order in which the runs were given here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// By position: the caller's index.
    order: Vec<usize>,
    /// By position.
    sides: Vec<Side>,
    /// By position: a number below the number of groups. Labels are exchanged within a group.
    groups: Vec<usize>,
    /// By position: a number below the number of strata. Values are compared within a stratum.
    strata: Vec<usize>,
}

impl Design {
    /// A design of runs with unique ids. Nothing that is computed depends on the order in which the runs stand here.
    ///
    /// # Errors
    /// The lists differ in length, a set is empty, or there are more than [`MAX_RUNS`] runs.
    pub fn new(ids: &[&str], sides: &[Side]) -> Result<Self, Problem> {
        let mut design = Self::in_order(sides)?;
        check_length(sides.len(), ids.len())?;
        design.order.sort_by_key(|&index| ids[index]);
        design.sides = design.order.iter().map(|&index| sides[index]).collect();
        Ok(design)
    }

    /// A design of runs without ids. Where labellings are drawn at random, another order of the runs draws others.
    ///
    /// # Errors
    /// As [`Design::new`].
    pub fn in_order(sides: &[Side]) -> Result<Self, Problem> {
        let runs = sides.len();
        if runs > MAX_RUNS {
            return Err(Problem::TooManyRuns(runs));
        }
        for (side, name) in [(Side::A, 'A'), (Side::B, 'B')] {
            if !sides.contains(&side) {
                return Err(Problem::EmptySet(name));
            }
        }
        Ok(Self { order: (0..runs).collect(), sides: sides.to_vec(), groups: vec![0; runs], strata: vec![0; runs] })
    }

    /// Runs exchange labels only with runs of the same block. `blocks` has a number per run, in the caller's order; see
    /// [`order::interleaved_blocks`](crate::order::interleaved_blocks).
    ///
    /// # Errors
    /// The lists differ in length.
    pub fn with_blocks(mut self, blocks: &[usize]) -> Result<Self, Problem> {
        check_length(self.order.len(), blocks.len())?;
        let pairs: Vec<_> =
            self.order.iter().zip(&self.groups).map(|(&index, &group)| (group, blocks[index])).collect();
        self.groups = numbered(&pairs);
        Ok(self)
    }

    /// Runs exchange labels only with runs of the same stratum, and values are compared within a stratum only. `strata`
    /// has a number per run, in the caller's order: a machine, or the value of a fact that varies inside of a set.
    ///
    /// # Errors
    /// The lists differ in length.
    pub fn with_strata(mut self, strata: &[usize]) -> Result<Self, Problem> {
        self = self.with_blocks(strata)?;
        let pairs: Vec<_> = self.order.iter().zip(&self.strata).map(|(&index, &old)| (old, strata[index])).collect();
        self.strata = numbered(&pairs);
        Ok(self)
    }

    /// Number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.order.len()
    }

    /// Number of runs of a set.
    #[must_use]
    pub fn count(&self, side: Side) -> usize {
        self.sides.iter().filter(|&&found| found == side).count()
    }

    /// Whether values are compared within strata.
    #[must_use]
    pub fn has_strata(&self) -> bool {
        self.strata.iter().any(|&stratum| stratum > 0)
    }

    /// By position.
    pub(crate) fn sides(&self) -> &[Side] {
        &self.sides
    }

    /// By the caller's index.
    pub(crate) fn sides_as_given(&self) -> Vec<Side> {
        let mut sides = vec![Side::A; self.order.len()];
        for (&index, &side) in self.order.iter().zip(&self.sides) {
            sides[index] = side;
        }
        sides
    }

    /// The positions of each group.
    pub(crate) fn members(&self) -> Vec<Vec<usize>> {
        members(&self.groups)
    }

    /// The positions of each stratum.
    pub(crate) fn members_of_strata(&self) -> Vec<Vec<usize>> {
        members(&self.strata)
    }

    /// The values by position, checked to be one finite number per run.
    pub(crate) fn by_position(&self, values: &[f64]) -> Result<Vec<f64>, Problem> {
        check_length(self.order.len(), values.len())?;
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(Problem::NotFinite(index));
        }
        Ok(self.order.iter().map(|&index| values[index]).collect())
    }
}

fn check_length(expected: usize, found: usize) -> Result<(), Problem> {
    if expected == found { Ok(()) } else { Err(Problem::Length { expected, found }) }
}

/// Numbers from 0 for the distinct keys, by their first place, so that the caller's numbers do not matter.
fn numbered(keys: &[(usize, usize)]) -> Vec<usize> {
    let mut seen = Vec::new();
    let number = |key| {
        seen.iter().position(|seen| *seen == key).unwrap_or_else(|| {
            seen.push(key);
            seen.len() - 1
        })
    };
    keys.iter().copied().map(number).collect()
}

fn members(groups: &[usize]) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); groups.iter().max().map_or(0, |last| last + 1)];
    for (position, &group) in groups.iter().enumerate() {
        members[group].push(position);
    }
    members
}
