//! The summary tables, computed from an archive's own event tables: caches that can be made again at any time.

use std::borrow::Cow;
use std::thread;

use tracesift_analysis::summaries::METHODS_PER_PROCESS;
use tracesift_analysis::tags::{Nesting, TagSet, TagSource, TagSummaries};
use tracesift_analysis::{ByProcess, Charge, Recording, Span, Summaries, Summary};
use tracesift_archive::{Archive, Error, Projection};
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, FrameRow, ModuleRow, ProcessRow, SymbolRow, TagSummaryRow, ThreadRow,
};
use tracesift_trace::{FrameId, StackId};

use crate::scan_ahead::{Taker, scan_ahead};
use crate::stack_methods::NamedStacks;

// The columns that sums need.
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

/// Threads that add up methods, at most: each keeps a part of the stacks in memory, and one thread decodes for all of them.
const MAX_PARTS: usize = 4;

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

/// The summary tables of an archive.
#[derive(Debug)]
pub(crate) struct Summarised {
    /// Processes and methods.
    pub(crate) summary: Summary,
    /// Table `tag_summary`, by the built-in tag file.
    pub(crate) tags: Vec<TagSummaryRow>,
}

/// Goes over frames, stacks, samples and switches once and sums them up.
///
/// # Errors
/// When a table cannot be read.
pub(crate) fn summarise(recording: Recording, source: &(impl SummarySource + Sync)) -> Result<Summarised, Error> {
    let NamedStacks { stacks: methods, names } = NamedStacks::by_function(source)?;
    let parts = thread::available_parallelism().map_or(1, |processors| processors.get().min(MAX_PARTS));
    let mut summaries = Summaries::in_parts(recording, Span::ALL, &source.threads()?, vec![&methods; parts]);
    // A test reads our own rules.
    let set = TagSet::built_in(Nesting::Names).ok();
    let mut tags: Vec<_> = (0..parts)
        .map(|_| set.as_ref().map(|set| summaries.tags(TagSource::for_rows(&methods, set, &names))))
        .collect();
    // One thread decodes rows and takes those parts of them that are no stacks, the others have the stacks of some processes each.
    let (rows, stacks) = summaries.halves();
    let scan = |give: &mut dyn FnMut(&Charge)| {
        source.samples(|row| rows.sample(row).iter().for_each(&mut *give))?;
        source.switches_newest_first(|row| rows.switch(row).iter().for_each(&mut *give))
    };
    let mut takers: Vec<_> = stacks
        .iter_mut()
        .zip(&mut tags)
        .map(|(stacks, tags)| {
            let mut by_process = ByProcess::default();
            move |charges: &[Charge]| {
                let charges = by_process.of(charges);
                stacks.charge_all(charges);
                if let Some(tags) = tags {
                    tags.charge_all(charges);
                }
            }
        })
        .collect();
    let takers = takers.iter_mut().map(|taker| taker as Taker<'_, Charge>);
    scan_ahead(scan, |charge| charge.part(parts), takers)?;
    let processes = source.processes()?;
    let ids = processes.iter().map(|row| row.process);
    let charged = summaries.charged_processes();
    Ok(thread::scope(|scope| {
        let tags = set.as_ref().map(|set| {
            let tags = tags.into_iter().flatten().collect();
            scope.spawn(move || TagSummaries::finish(tags, &charged, &set.hash()))
        });
        let summary = summaries.finish(ids, METHODS_PER_PROCESS, |method| names.name(method));
        let tags = tags.map(|tags| tags.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Summarised { summary, tags: tags.unwrap_or_default() }
    }))
}
