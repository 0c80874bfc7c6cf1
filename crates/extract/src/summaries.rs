//! The summary tables, computed from an archive's own event tables: caches that can be made again at any time.

use std::borrow::Cow;

use tracesift_analysis::summaries::METHODS_PER_PROCESS;
use tracesift_analysis::{Charge, Recording, Span, Summaries, Summary};
use tracesift_archive::{Archive, Error, Projection};
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, FrameRow, ModuleRow, ProcessRow, SymbolRow, ThreadRow};
use tracesift_trace::{FrameId, StackId};

use crate::scan_ahead::scan_ahead;
use crate::stack_methods::NamedStacks;

// The columns that sums need.
const FRAMES: Projection<FrameRow> = Projection::of(&["frame", "module", "rva"]);
const SYMBOLS: Projection<SymbolRow> = Projection::of(&["frame", "module", "function"]);
const SAMPLES: Projection<CpuSampleRow> =
    Projection::of(&["time", "cpu", "process", "thread", "weight", "stack", "frame", "priority", "flags"]);
const SWITCHES: Projection<ContextSwitchRow> = Projection::of(&[
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

/// The rows that summaries are made of.
pub(crate) trait SummarySource {
    /// Table `modules`.
    fn modules(&self) -> Result<Cow<'_, [ModuleRow]>, Error>;
    /// Table `processes`.
    fn processes(&self) -> Result<Cow<'_, [ProcessRow]>, Error>;
    /// Table `threads`.
    fn threads(&self) -> Result<Cow<'_, [ThreadRow]>, Error>;
    /// Table `frames`.
    fn frames(&self, visit: impl FnMut(&FrameRow)) -> Result<(), Error>;
    /// Table `symbols`: rows of one frame stand together, the function itself first.
    fn symbols(&self, visit: impl FnMut(&SymbolRow)) -> Result<(), Error>;
    /// Table `stacks`.
    fn stacks(&self, visit: impl FnMut(StackId, &[FrameId])) -> Result<(), Error>;
    /// Table `cpu_samples`.
    fn samples(&self, visit: impl FnMut(&CpuSampleRow)) -> Result<(), Error>;
    /// Table `context_switches`, from its end.
    fn switches_newest_first(&self, visit: impl FnMut(&ContextSwitchRow)) -> Result<(), Error>;
}

impl SummarySource for Archive {
    fn modules(&self) -> Result<Cow<'_, [ModuleRow]>, Error> {
        self.rows().map(Cow::Owned)
    }

    fn processes(&self) -> Result<Cow<'_, [ProcessRow]>, Error> {
        self.rows().map(Cow::Owned)
    }

    fn threads(&self) -> Result<Cow<'_, [ThreadRow]>, Error> {
        self.rows().map(Cow::Owned)
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

    fn samples(&self, visit: impl FnMut(&CpuSampleRow)) -> Result<(), Error> {
        self.scan(SAMPLES, None, visit)
    }

    fn switches_newest_first(&self, visit: impl FnMut(&ContextSwitchRow)) -> Result<(), Error> {
        self.scan_backwards(SWITCHES, None, visit)
    }
}

/// Goes over frames, stacks, samples and switches once and sums them up.
///
/// # Errors
/// When a table cannot be read.
pub(crate) fn summarise(recording: Recording, source: &(impl SummarySource + Sync)) -> Result<Summary, Error> {
    let NamedStacks { stacks: methods, names } = NamedStacks::by_function(source)?;
    let mut summaries = Summaries::new(recording, Span::ALL, &source.threads()?, methods);
    // One thread decodes rows and takes those parts of them that are no stacks, the other one has the stacks.
    let (rows, stacks) = summaries.halves();
    let samples =
        |charge: &mut dyn FnMut(&Charge)| source.samples(|row| rows.sample(row).iter().for_each(&mut *charge));
    scan_ahead(samples, |charge| stacks.charge(*charge))?;
    let switches = |charge: &mut dyn FnMut(&Charge)| {
        source.switches_newest_first(|row| rows.switch(row).iter().for_each(&mut *charge))
    };
    scan_ahead(switches, |charge| stacks.charge(*charge))?;
    let processes = source.processes()?;
    let ids = processes.iter().map(|row| row.process);
    Ok(summaries.finish(ids, METHODS_PER_PROCESS, |method| names.name(method)))
}
