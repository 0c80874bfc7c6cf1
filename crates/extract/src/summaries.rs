//! The summary tables, computed from an archive's own event tables: caches that can be made again at any time.

use tracesift_analysis::summaries::METHODS_PER_PROCESS;
use tracesift_analysis::{MethodId, MethodNames, Recording, Span, StackMethods, Summaries, Summary};
use tracesift_archive::{Archive, Error, Projection};
use tracesift_trace::ModuleId;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, FrameRow, ModuleRow, ProcessRow, StackRow, SymbolRow, ThreadRow,
};

use crate::scan_ahead::scan_ahead;

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

/// Reads frames, stacks, samples and switches once and sums them up.
///
/// # Errors
/// When a table cannot be read.
pub(crate) fn summarise(archive: &Archive) -> Result<Summary, Error> {
    let (methods, names) = methods_of_stacks(archive)?;
    let threads: Vec<ThreadRow> = archive.rows()?;
    let processes: Vec<ProcessRow> = archive.rows()?;
    let recording = Recording::from(archive.info());
    let mut summaries = Summaries::new(recording, Span::ALL, &threads, methods);
    scan_ahead(|visit| archive.scan(SAMPLES, None, visit), |row| summaries.sample(row))?;
    scan_ahead(|visit| archive.scan_backwards(SWITCHES, visit), |row| summaries.switch(row))?;
    let ids = processes.iter().map(|row| row.process);
    Ok(summaries.finish(ids, METHODS_PER_PROCESS, |method| names.name(method)))
}

/// The methods of every stack: names from `symbols` where there are some, else module and RVA.
fn methods_of_stacks(archive: &Archive) -> Result<(StackMethods, MethodNames), Error> {
    let mut names = MethodNames::new();
    let mut stacks = StackMethods::new();
    let modules: Vec<ModuleRow> = archive.rows()?;
    let module = |id: ModuleId| modules.get(id.index()).map_or("", |row| row.name.as_str());

    // Without a symbol first; what has one is then named anew.
    archive.scan(FRAMES, None, |row| {
        let method = match (row.module, row.rva) {
            (Some(id), Some(rva)) => names.without_symbol(module(id), rva),
            _ => names.unknown(),
        };
        stacks.add_frame(row.frame, &[method]);
    })?;
    let mut inlined: Vec<MethodId> = Vec::new();
    let mut current = None;
    archive.scan(SYMBOLS, None, |row| {
        // Rows of one frame stand together, the function itself first.
        if current != Some(row.frame) {
            inlined.clear();
            current = Some(row.frame);
        }
        inlined.push(names.function(row.module.as_deref(), &row.function));
        stacks.add_frame(row.frame, &inlined);
    })?;
    archive.scan(Projection::ALL, None, |row: &StackRow| stacks.add_stack(row))?;
    Ok((stacks, names))
}
