//! How much of a recording a name is about, and when: samples of methods and modules, operations on files, by buckets of time.

mod counting;
mod files;
mod subjects;

use rustc_hash::FxHashSet;
use tracesift_analysis::timeline::Grid;
use tracesift_archive::Error;
use tracesift_trace::ProcessId;

pub use self::files::files;
pub use self::subjects::{Subject, Subjects};
use crate::processes::{ProcessKey, all_but_idle};
use crate::recording::OpenRecording;

/// What the rows of a name add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of samples or operations.
    pub count: i64,
    /// Their CPU or duration, ns.
    pub time: i64,
    /// The time of the first and of the last one; `None`: there are none.
    pub seen: Option<(i64, i64)>,
    /// The figure of each bucket.
    pub values: Vec<i64>,
}

/// What the buckets of methods and modules have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// CPU, ns.
    Cpu,
    /// The number of samples.
    Samples,
}

impl Tally {
    fn empty(grid: Grid) -> Self {
        Self { values: vec![0; grid.buckets()], ..Self::default() }
    }

    /// Adds rows of one bucket, with the first and the last instant of them.
    fn add(&mut self, bucket: usize, (count, time): (i64, i64), seen: (i64, i64), amount: i64) {
        self.count = self.count.saturating_add(count);
        self.time = self.time.saturating_add(time);
        let (first, last) = self.seen.unwrap_or(seen);
        self.seen = Some((first.min(seen.0), last.max(seen.1)));
        if let Some(value) = self.values.get_mut(bucket) {
            *value = value.saturating_add(amount);
        }
    }
}

impl Subjects {
    /// The samples of each subject, in the order of [`Self::all`]: those of all processes but the idle loop, in the range of the grid. A
    /// sample counts once for a method or module, however often it is on the stack. Without samples there is the CPU alone, from context
    /// switches.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn count(&self, recording: &OpenRecording, grid: Grid, amount: Amount) -> Result<Vec<Tally>, Error> {
        counting::count(self, recording, &counted(recording)?, grid, amount)
    }

    /// As [`Self::count`], of these processes.
    pub(crate) fn count_in(
        &self,
        recording: &OpenRecording,
        processes: &FxHashSet<ProcessId>,
        grid: Grid,
        amount: Amount,
    ) -> Result<Vec<Tally>, Error> {
        counting::count(self, recording, processes, grid, amount)
    }
}

/// The processes that are counted where nobody chooses.
fn counted(recording: &OpenRecording) -> Result<FxHashSet<ProcessId>, Error> {
    Ok(all_but_idle(recording.archive().rows::<ProcessKey>()?))
}
