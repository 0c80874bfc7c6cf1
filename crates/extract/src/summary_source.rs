//! The rows that summaries are made of: of an archive, or kept in memory.

use std::borrow::Cow;
use std::ops::Range;

use tracesift_archive::{Archive, Error, Projection};
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, FrameRow, ModuleRow, ProcessRow, SymbolRow, ThreadRow};
use tracesift_trace::{FrameId, StackId};

// The columns that sums need.
const PROCESSES: Projection<ProcessRow> = Projection::of(&["process"]);
const THREADS: Projection<ThreadRow> = Projection::of(&["thread", "process", "tid", "start", "end"]);
pub(crate) const FRAMES: Projection<FrameRow> = Projection::of(&["frame", "module", "rva"]);
pub(crate) const SYMBOLS: Projection<SymbolRow> = Projection::of(&["frame", "module", "function"]);
pub(crate) const SAMPLES: Projection<CpuSampleRow> =
    Projection::of(&["time", "cpu", "process", "thread", "weight", "stack", "frame", "priority", "flags"]);
pub(crate) const SWITCHES: Projection<ContextSwitchRow> = Projection::of(&[
    "time",
    "cpu",
    "thread",
    "prev_thread",
    "off_time",
    "ready_time",
    "wait_stack",
    "priority",
    "off_priority",
    "flags",
]);

/// A range of times of rows; `None`: all rows.
pub(crate) type Times = Option<Range<i64>>;

/// A source of the rows from which summaries are computed.
pub(crate) trait SummarySource {
    /// Table `modules`.
    fn modules(&self) -> Result<Cow<'_, [ModuleRow]>, Error>;
    /// Table `processes`, at least its ids.
    fn processes(&self) -> Result<Cow<'_, [ProcessRow]>, Error>;
    /// Table `threads`, at least whose they are and when they lived.
    fn threads(&self, visit: impl FnMut(&ThreadRow)) -> Result<(), Error>;
    /// Table `frames`.
    fn frames(&self, visit: impl FnMut(&FrameRow)) -> Result<(), Error>;
    /// Table `symbols`: rows of one frame stand together, the function itself first.
    fn symbols(&self, visit: impl FnMut(&SymbolRow)) -> Result<(), Error>;
    /// Table `stacks`.
    fn stacks(&self, visit: impl FnMut(StackId, &[FrameId])) -> Result<(), Error>;
    /// Table `cpu_samples`, at least its rows of these times.
    fn samples(&self, times: Times, visit: impl FnMut(&CpuSampleRow)) -> Result<(), Error>;
    /// Table `context_switches`, from its end, at least its rows of these times.
    fn switches_newest_first(&self, times: Times, visit: impl FnMut(&ContextSwitchRow)) -> Result<(), Error>;
}

impl SummarySource for Archive {
    fn modules(&self) -> Result<Cow<'_, [ModuleRow]>, Error> {
        self.rows().map(Cow::Owned)
    }

    fn processes(&self) -> Result<Cow<'_, [ProcessRow]>, Error> {
        let mut rows = Vec::new();
        self.scan(PROCESSES, None, |row| rows.push(row.clone()))?;
        Ok(Cow::Owned(rows))
    }

    fn threads(&self, visit: impl FnMut(&ThreadRow)) -> Result<(), Error> {
        self.scan(THREADS, None, visit)
    }

    fn frames(&self, visit: impl FnMut(&FrameRow)) -> Result<(), Error> {
        self.scan(FRAMES, None, visit)
    }

    fn symbols(&self, visit: impl FnMut(&SymbolRow)) -> Result<(), Error> {
        self.scan(SYMBOLS, None, visit)
    }

    fn stacks(&self, visit: impl FnMut(StackId, &[FrameId])) -> Result<(), Error> {
        self.scan_stacks(visit)
    }

    fn samples(&self, times: Times, visit: impl FnMut(&CpuSampleRow)) -> Result<(), Error> {
        self.scan(SAMPLES, times, visit)
    }

    fn switches_newest_first(&self, times: Times, visit: impl FnMut(&ContextSwitchRow)) -> Result<(), Error> {
        self.scan_backwards(SWITCHES, times, visit)
    }
}
