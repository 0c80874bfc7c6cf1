//! A profile without times. Most pictures ask only how much, not when; and whoever has sums already need not spread them over samples.

use super::{About, Catalog, Sample, Samples, StackId, ThreadId};

/// What one thread spent in one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// The thread.
    pub thread: ThreadId,
    /// The stack, or [`StackId::NONE`].
    pub stack: StackId,
    /// The sum of the weights in nanoseconds.
    pub weight: u64,
    /// How many samples or spans the sum is made of.
    pub count: u64,
}

/// Sums per thread and stack, as columns.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    threads: Vec<ThreadId>,
    stacks: Vec<StackId>,
    weights: Vec<u64>,
    counts: Vec<u64>,
}

impl Weights {
    /// Adds a row. The same thread and stack may come more than once; writers add them up.
    ///
    /// # Panics
    ///
    /// When there are 2³² rows already, which take 96 GiB.
    pub fn push(&mut self, row: Weight) {
        assert!(self.threads.len() < u32::MAX as usize, "a profile is full");
        self.threads.push(row.thread);
        self.stacks.push(row.stack);
        self.weights.push(row.weight);
        self.counts.push(row.count);
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The row of this number.
    ///
    /// # Panics
    ///
    /// When there is no such row.
    pub fn get(&self, row: usize) -> Weight {
        Weight {
            thread: self.threads[row],
            stack: self.stacks[row],
            weight: self.weights[row],
            count: self.counts[row],
        }
    }

    /// All rows in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = Weight> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The sum of all weights in nanoseconds.
    pub fn total(&self) -> u64 {
        self.weights.iter().fold(0, |sum, &weight| sum.saturating_add(weight))
    }

    /// Adds samples up by thread and stack; rows are in the order of threads and stacks.
    pub fn of(samples: &Samples) -> Self {
        // Sorting is faster than hashing here: neighbours in a table of samples are far apart in one of sums.
        let mut order: Vec<(u64, u32)> = Vec::with_capacity(samples.len());
        let key = |thread: ThreadId, stack: StackId| u64::from(thread.0) << 32 | u64::from(stack.0);
        order.extend(samples.iter().enumerate().map(|(row, sample)| (key(sample.thread, sample.stack), row as u32)));
        order.sort_unstable();
        let mut weights = Self::default();
        for same in order.chunk_by(|a, b| a.0 == b.0) {
            let all = same.iter().map(|&(_, row)| samples.get(row as usize));
            let weight = all.fold(0_u64, |sum, sample| sum.saturating_add(sample.weight));
            let Sample { thread, stack, .. } = samples.get(same[0].1 as usize);
            weights.push(Weight { thread, stack, weight, count: same.len() as u64 });
        }
        weights
    }
}

/// A profile without times: sums per thread and stack.
#[derive(Clone, Debug)]
pub struct Folded {
    /// What the profile says of itself.
    pub about: About,
    /// Names, frames, stacks, processes and threads.
    pub catalog: Catalog,
    /// Sums per thread and stack.
    pub weights: Weights,
}

impl Folded {
    /// A profile without any weights.
    pub fn new(about: About) -> Self {
        Self { about, catalog: Catalog::new(), weights: Weights::default() }
    }
}
