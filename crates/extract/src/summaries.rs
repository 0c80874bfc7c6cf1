//! The summary tables, computed from an archive's own event tables: caches that can be made again at any time.

use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{ArrowPrimitiveType, RecordBatch};
use tracesift_analysis::summaries::METHODS_PER_PROCESS;
use tracesift_analysis::{MethodId, MethodNames, Recording, Span, StackMethods, Summaries, Summary};
use tracesift_archive::{Archive, Error, PrimitiveView, list, primitive, text};
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, FrameRow, ModuleRow, ProcessRow, StackRow, SymbolRow, ThreadRow,
};
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

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
    samples(archive, |row| summaries.sample(row))?;
    switches_newest_first(archive, |row| summaries.switch(row))?;
    let ids = processes.iter().map(|row| row.process);
    Ok(summaries.finish(ids, METHODS_PER_PROCESS, |method| names.name(method)))
}

/// The methods of every stack: names from `symbols` where there are some, else module and RVA.
fn methods_of_stacks(archive: &Archive) -> Result<(StackMethods, MethodNames), Error> {
    let mut names = MethodNames::new();
    let mut stacks = StackMethods::new();
    let modules: Vec<ModuleRow> = archive.rows()?;
    let module = |id: i32| usize::try_from(id).ok().and_then(|id| modules.get(id)).map_or("", |row| row.name.as_str());

    // Without a symbol first; what has one is then named anew.
    let mut unreadable = None;
    archive.scan::<FrameRow>(&["frame", "module", "rva"], None, |batch| {
        let columns = (|| {
            let frame = primitive::<Int32Type>(batch, "frame")?;
            Ok::<_, String>((frame, primitive::<Int32Type>(batch, "module")?, primitive::<Int64Type>(batch, "rva")?))
        })();
        let (frame, in_module, rva) = match columns {
            Ok(columns) => columns,
            Err(reason) => return unreadable = Some(reason),
        };
        for row in 0..batch.num_rows() {
            let Some(frame) = frame.get(row) else { continue };
            let method = match (in_module.get(row), rva.get(row)) {
                (Some(id), Some(rva)) => names.without_symbol(module(id), rva),
                _ => names.unknown(),
            };
            stacks.add_frame(FrameId(frame), &[method]);
        }
    })?;
    let mut inlined: Vec<MethodId> = Vec::new();
    let mut current = None;
    archive.scan::<SymbolRow>(&["frame", "depth", "module", "function"], None, |batch| {
        let columns = (|| {
            let frame = primitive::<Int32Type>(batch, "frame")?;
            Ok::<_, String>((frame, text(batch, "module")?, text(batch, "function")?))
        })();
        let (frame, in_module, function) = match columns {
            Ok(columns) => columns,
            Err(reason) => return unreadable = Some(reason),
        };
        for row in 0..batch.num_rows() {
            let (Some(frame), Some(function)) = (frame.get(row), function.get(row)) else { continue };
            // Rows of one frame stand together, the function itself first.
            if current != Some(frame) {
                inlined.clear();
                current = Some(frame);
            }
            inlined.push(names.function(in_module.get(row), function));
            stacks.add_frame(FrameId(frame), &inlined);
        }
    })?;
    let mut stack_row = StackRow { stack: StackId(0), frames: Vec::new() };
    archive.scan::<StackRow>(&["stack", "frames"], None, |batch| {
        let columns =
            primitive::<Int32Type>(batch, "stack").and_then(|stack| Ok((stack, list::<Int32Type>(batch, "frames")?)));
        let (stack, frames) = match columns {
            Ok(columns) => columns,
            Err(reason) => return unreadable = Some(reason),
        };
        for row in 0..batch.num_rows() {
            let (Some(stack), Some(frames)) = (stack.get(row), frames.get(row)) else { continue };
            stack_row.stack = StackId(stack);
            stack_row.frames.clear();
            stack_row.frames.extend(frames.iter().map(|frame| FrameId(*frame)));
            stacks.add_stack(&stack_row);
        }
    })?;
    match unreadable {
        Some(reason) => Err(Error::Corrupt { path: archive.path().to_owned(), reason }),
        None => Ok((stacks, names)),
    }
}

/// Shows the samples with the columns that sums need.
fn samples(archive: &Archive, mut visit: impl FnMut(&CpuSampleRow)) -> Result<(), Error> {
    const COLUMNS: [&str; 9] = ["time", "cpu", "process", "thread", "weight", "stack", "frame", "priority", "flags"];
    let mut unreadable = None;
    archive.scan::<CpuSampleRow>(&COLUMNS, None, |batch| {
        let mut read = || -> Result<(), String> {
            let columns = Columns(batch);
            let (time, weight) = (columns.of::<Int64Type>("time")?, columns.of::<Int64Type>("weight")?);
            let (process, thread) = (columns.of::<Int32Type>("process")?, columns.of::<Int32Type>("thread")?);
            let (stack, frame) = (columns.of::<Int32Type>("stack")?, columns.of::<Int32Type>("frame")?);
            let (priority, flags) = (columns.of::<Int8Type>("priority")?, columns.of::<Int8Type>("flags")?);
            let cpu = columns.of::<Int16Type>("cpu")?;
            for row in 0..batch.num_rows() {
                visit(&CpuSampleRow {
                    time: time.get(row).unwrap_or(0),
                    cpu: cpu.get(row).unwrap_or(0),
                    process: ProcessId(process.get(row).unwrap_or(0)),
                    thread: ThreadId(thread.get(row).unwrap_or(0)),
                    weight: weight.get(row).unwrap_or(0),
                    stack: stack.get(row).map(StackId),
                    frame: frame.get(row).map(FrameId),
                    priority: priority.get(row),
                    flags: flags.get(row).unwrap_or(0),
                });
            }
            Ok(())
        };
        if let Err(reason) = read() {
            unreadable = Some(reason);
        }
    })?;
    corrupt_if(archive, unreadable)
}

/// Shows the switch rows with the columns that sums need, from the last to the first.
fn switches_newest_first(archive: &Archive, mut visit: impl FnMut(&ContextSwitchRow)) -> Result<(), Error> {
    const COLUMNS: [&str; 10] = [
        "time",
        "cpu",
        "thread",
        "prev_thread",
        "off_time",
        "ready_time",
        "wait_stack",
        "priority",
        "flags",
        "off_priority",
    ];
    let mut unreadable = None;
    archive.scan_backwards::<ContextSwitchRow>(&COLUMNS, |batch| {
        let mut read = || -> Result<(), String> {
            let columns = Columns(batch);
            let (time, off_time) = (columns.of::<Int64Type>("time")?, columns.of::<Int64Type>("off_time")?);
            let (thread, previous) = (columns.of::<Int32Type>("thread")?, columns.of::<Int32Type>("prev_thread")?);
            let (ready_time, stack) = (columns.of::<Int64Type>("ready_time")?, columns.of::<Int32Type>("wait_stack")?);
            let (cpu, flags) = (columns.of::<Int16Type>("cpu")?, columns.of::<Int16Type>("flags")?);
            let (priority, off_priority) =
                (columns.of::<Int8Type>("priority")?, columns.of::<Int8Type>("off_priority")?);
            for row in (0..batch.num_rows()).rev() {
                visit(&ContextSwitchRow {
                    time: time.get(row).unwrap_or(0),
                    cpu: cpu.get(row),
                    thread: ThreadId(thread.get(row).unwrap_or(0)),
                    prev_thread: previous.get(row).map(ThreadId),
                    off_time: off_time.get(row).unwrap_or(0),
                    ready_time: ready_time.get(row),
                    wait_stack: stack.get(row).map(StackId),
                    priority: priority.get(row),
                    off_priority: off_priority.get(row),
                    flags: flags.get(row).unwrap_or(0),
                    ..ContextSwitchRow::default()
                });
            }
            Ok(())
        };
        if let Err(reason) = read() {
            unreadable = Some(reason);
        }
    })?;
    corrupt_if(archive, unreadable)
}

struct Columns<'b>(&'b RecordBatch);

impl Columns<'_> {
    fn of<T: ArrowPrimitiveType>(&self, name: &str) -> Result<PrimitiveView<T>, String> {
        primitive(self.0, name)
    }
}

fn corrupt_if(archive: &Archive, reason: Option<String>) -> Result<(), Error> {
    match reason {
        Some(reason) => Err(Error::Corrupt { path: archive.path().to_owned(), reason }),
        None => Ok(()),
    }
}
