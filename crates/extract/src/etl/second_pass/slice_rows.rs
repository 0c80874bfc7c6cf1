//! Rows of switches and samples on their way from the workers to the archive. Another thread puts them together: those that a worker made,
//! and between them those that needed the slices before.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use tracesift_archive::{RowBlock, SchedulingTables};
use tracesift_trace::RowSink;
use tracesift_trace::ids::StackId;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow};

use crate::etl::worked_slice::WorkedSlice;
use crate::stage::{Stage, StageWatch, watched};

/// Slices that wait for the thread, at most.
const WAITING: usize = 1;

/// The rows of a slice.
#[derive(Default)]
struct RowsOfSlice {
    switches: RowBlock<ContextSwitchRow>,
    samples: RowBlock<CpuSampleRow>,
    /// The stacks that numbers in those rows are.
    stacks: Vec<Option<StackId>>,
    /// Further rows, each with the number of rows of the worker before it.
    more_switches: Vec<(usize, ContextSwitchRow)>,
    more_samples: Vec<(usize, CpuSampleRow)>,
}

/// Takes the rows of one slice after the other.
pub(crate) struct SliceRows {
    /// Those of the slice in hand.
    rows: RowsOfSlice,
    to_thread: Option<SyncSender<RowsOfSlice>>,
    used: Receiver<RowsOfSlice>,
    thread: Option<JoinHandle<()>>,
    /// Whether switches have rows; they may be followed for other tables alone.
    wants_switches: bool,
}

impl SliceRows {
    /// Starts the thread; without tables nothing is written, as their writer has failed.
    pub(crate) fn start(
        tables: Option<SchedulingTables>,
        wants_switches: bool,
        stages: Option<Arc<dyn StageWatch>>,
    ) -> Self {
        let (to_thread, rows) = sync_channel::<RowsOfSlice>(WAITING);
        let (give_back, used) = channel();
        let run = move || {
            let mut tables = tables;
            for (number, mut slice) in rows.into_iter().enumerate() {
                watched(stages.as_deref(), Stage::Rows, number, || {
                    if let Some(tables) = &mut tables {
                        slice.write(tables);
                    }
                    slice.clear();
                });
                // At the end nobody uses its memory again.
                let _ = give_back.send(slice);
            }
        };
        let thread = Builder::new().name("slice rows".to_owned()).spawn(run);
        // Without threads nothing can be extracted: the encoder has one as well.
        let thread = thread.expect("the system has a thread left");
        Self { rows: RowsOfSlice::default(), to_thread: Some(to_thread), used, thread: Some(thread), wants_switches }
    }

    /// The next stack of the slice in hand.
    pub(super) fn stack(&mut self, stack: Option<StackId>) {
        self.rows.stacks.push(stack);
    }

    /// The stack of the slice in hand that has a number.
    pub(super) fn stack_of(&self, number: StackId) -> Option<StackId> {
        self.rows.stacks.get(number.index()).copied().flatten()
    }

    /// Takes switches behind so many rows of the worker.
    pub(super) fn switches_behind(&mut self, rows: usize) -> impl RowSink {
        MoreSwitches { switches: &mut self.rows.more_switches, behind: rows, keeps_rows: self.wants_switches }
    }

    /// A sample behind so many rows of the worker.
    pub(super) fn sample_behind(&mut self, rows: usize, row: CpuSampleRow) {
        self.rows.more_samples.push((rows, row));
    }

    /// The end of a slice: its rows go on their way. It gets room for other rows.
    pub(super) fn end_slice(&mut self, found: &mut WorkedSlice) {
        let next = self.used.try_recv().unwrap_or_default();
        let mut rows = std::mem::replace(&mut self.rows, next);
        rows.switches = std::mem::replace(&mut found.switches, std::mem::take(&mut self.rows.switches));
        rows.samples = std::mem::replace(&mut found.samples, std::mem::take(&mut self.rows.samples));
        self.send(rows);
    }

    fn send(&self, rows: RowsOfSlice) {
        if let Some(to_thread) = &self.to_thread {
            // It fails only when the thread has panicked; joining it goes on with that.
            let _ = to_thread.send(rows);
        }
    }

    /// All rows are there: waits until they are written.
    pub(super) fn finish(mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.switches.seal();
        rows.samples.seal();
        self.send(rows);
        self.to_thread = None;
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            resume_unwind(panic);
        }
    }
}

impl Drop for SliceRows {
    /// Waits for the thread: nobody writes rows any more when the archive is abandoned.
    fn drop(&mut self) {
        self.to_thread = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Switches that needed the slices before.
struct MoreSwitches<'r> {
    switches: &'r mut Vec<(usize, ContextSwitchRow)>,
    behind: usize,
    keeps_rows: bool,
}

impl RowSink for MoreSwitches<'_> {
    fn context_switch(&mut self, row: &ContextSwitchRow) {
        if self.keeps_rows {
            self.switches.push((self.behind, row.clone()));
        }
    }
}

impl RowsOfSlice {
    fn write(&self, tables: &mut SchedulingTables) {
        let mut next = 0;
        for (behind, row) in &self.more_switches {
            tables.switches(&self.switches, next..*behind, &self.stacks);
            tables.switch(row);
            next = *behind;
        }
        tables.switches(&self.switches, next..self.switches.len(), &self.stacks);
        let mut next = 0;
        for (behind, row) in &self.more_samples {
            tables.samples(&self.samples, next..*behind, &self.stacks);
            tables.sample(row);
            next = *behind;
        }
        tables.samples(&self.samples, next..self.samples.len(), &self.stacks);
    }

    /// Forgets the rows and keeps their memory.
    fn clear(&mut self) {
        let Self { switches, samples, stacks, more_switches, more_samples } = self;
        switches.clear();
        samples.clear();
        stacks.clear();
        more_switches.clear();
        more_samples.clear();
    }
}
