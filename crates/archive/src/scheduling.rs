//! The tables of switches and samples in the making, for another thread than that of the other tables.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use tracesift_trace::StackId;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow};

use crate::batch::{Batch, Columns};
use crate::encoder::Entrance;
use crate::kept::KeptColumns;
use crate::row_block::RowBlock;

/// Takes the rows of the tables `context_switches` and `cpu_samples` on another thread than that of the other tables. It is to be dropped
/// before the archive is sealed: then its last rows are written.
pub struct SchedulingTables {
    switches: Batch<ContextSwitchRow>,
    samples: Batch<CpuSampleRow>,
    entrance: Entrance,
    kept: Arc<Mutex<KeptColumns>>,
}

impl SchedulingTables {
    pub(crate) fn new(entrance: Entrance, kept: Arc<Mutex<KeptColumns>>) -> Self {
        Self { switches: Batch::default(), samples: Batch::default(), entrance, kept }
    }

    /// Appends a switch.
    pub fn switch(&mut self, row: &ContextSwitchRow) {
        if let Some(full) = self.switches.push(row) {
            send(&self.entrance, &self.kept, full);
        }
    }

    /// Appends a sample.
    pub fn sample(&mut self, row: &CpuSampleRow) {
        if let Some(full) = self.samples.push(row) {
            send(&self.entrance, &self.kept, full);
        }
    }

    /// Appends some switches of a sealed block. The ids of their stacks are places in `stacks`.
    pub fn switches(&mut self, block: &RowBlock<ContextSwitchRow>, rows: Range<usize>, stacks: &[Option<StackId>]) {
        let Self { switches, entrance, kept, .. } = self;
        switches.append_block(block, rows, stacks, |full| send(entrance, kept, full));
    }

    /// Appends some samples of a sealed block. The ids of their stacks are places in `stacks`.
    pub fn samples(&mut self, block: &RowBlock<CpuSampleRow>, rows: Range<usize>, stacks: &[Option<StackId>]) {
        let Self { samples, entrance, kept, .. } = self;
        samples.append_block(block, rows, stacks, |full| send(entrance, kept, full));
    }
}

impl Drop for SchedulingTables {
    fn drop(&mut self) {
        for rest in [self.switches.take(), self.samples.take()].into_iter().flatten() {
            send(&self.entrance, &self.kept, rest);
        }
    }
}

/// Hands a batch over, of which columns may be kept.
fn send(entrance: &Entrance, kept: &Mutex<KeptColumns>, columns: Columns) {
    kept.lock().unwrap_or_else(PoisonError::into_inner).take(&columns);
    entrance.send(columns);
}
