//! Weighted samples with times, as columns: 24 bytes each.

use super::{StackId, ThreadId};

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Nanoseconds since time zero. May be negative.
    pub time: i64,
    /// The thread that was sampled.
    pub thread: ThreadId,
    /// Its stack, or [`StackId::NONE`].
    pub stack: StackId,
    /// Nanoseconds that the sample stands for.
    pub weight: u64,
}

/// Samples in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    times: Vec<i64>,
    threads: Vec<ThreadId>,
    stacks: Vec<StackId>,
    weights: Vec<u64>,
}

impl Samples {
    /// Adds a sample.
    ///
    /// # Panics
    ///
    /// When there are 2³² samples already, which take 96 GiB.
    pub fn push(&mut self, sample: Sample) {
        assert!(self.times.len() < u32::MAX as usize, "a profile is full");
        self.times.push(sample.time);
        self.threads.push(sample.thread);
        self.stacks.push(sample.stack);
        self.weights.push(sample.weight);
    }

    /// Makes room for as many more samples.
    pub fn reserve(&mut self, samples: usize) {
        self.times.reserve(samples);
        self.threads.reserve(samples);
        self.stacks.reserve(samples);
        self.weights.reserve(samples);
    }

    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The sample in a row.
    ///
    /// # Panics
    ///
    /// When there is no such row.
    pub fn get(&self, row: usize) -> Sample {
        Sample { time: self.times[row], thread: self.threads[row], stack: self.stacks[row], weight: self.weights[row] }
    }

    /// All samples in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = Sample> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The sum of all weights in nanoseconds.
    pub fn total(&self) -> u64 {
        self.weights.iter().fold(0, |sum, &weight| sum.saturating_add(weight))
    }

    /// The first and the last time, or none without samples.
    pub fn span(&self) -> Option<(i64, i64)> {
        Some((*self.times.iter().min()?, *self.times.iter().max()?))
    }

    /// An index of the rows of each thread in the order of time: four bytes per sample. `threads` is how many threads the catalog has.
    pub fn by_thread(&self, threads: usize) -> ByThread {
        let mut starts = vec![0_usize; threads + 1];
        for thread in &self.threads {
            starts[thread.row() + 1] += 1;
        }
        for thread in 0..threads {
            starts[thread + 1] += starts[thread];
        }
        let mut next = starts.clone();
        let mut rows = vec![0_u32; self.len()];
        for (row, thread) in self.threads.iter().enumerate() {
            let place = &mut next[thread.row()];
            rows[*place] = row as u32;
            *place += 1;
        }
        // Most tables are sorted by time already.
        for thread in 0..threads {
            let rows = &mut rows[starts[thread]..starts[thread + 1]];
            if !rows.is_sorted_by_key(|&row| self.times[row as usize]) {
                rows.sort_by_key(|&row| self.times[row as usize]);
            }
        }
        ByThread { starts, rows }
    }
}

/// The rows of each thread, in the order of time.
#[derive(Clone, Debug)]
pub struct ByThread {
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl ByThread {
    /// The rows of one thread.
    pub fn rows(&self, thread: ThreadId) -> impl ExactSizeIterator<Item = usize> + Clone + '_ {
        let thread = thread.row();
        self.rows[self.starts[thread]..self.starts[thread + 1]].iter().map(|&row| row as usize)
    }
}
