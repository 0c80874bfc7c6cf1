//! Writes an archive. The calling thread fills column builders, a second one encodes, compresses and writes.

use std::path::{Path, PathBuf};

use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    ContextSwitchRow, CounterSampleRow, CounterValueRow, CpuFrequencyRow, CpuIdleStateRow, CpuSampleRow, DiskIoRow,
    EventRow, FileIoRow, FrameRow, HardFaultRow, ManagedCodeRow, MarkRow, PageFaultRow, StackRow, SymbolRow,
    SyscallRow,
};
use tracesift_trace::{Clock, Health, RowSink};

use crate::batch::{Batch, Columns, LAST_BATCH_ROWS};
use crate::checked_file::CheckedFile;
use crate::encoder::Encoder;
use crate::error::{Error, WithPath as _};
use crate::format::{SCHEMA_VERSION, TRACE_FILE, file_metadata};
use crate::kept::KeptColumns;
use crate::lock::{TargetLock, WhenBusy};
use crate::seal::Sealing;
use crate::staging::Staging;
use crate::table::Table;

/// How to write an archive.
#[derive(Clone, Debug, Default)]
pub struct WriterOptions {
    /// Id of the recording, 32 hex digits: the column `trace` of every table.
    pub trace: String,
    /// What to do when another process writes the same archive.
    pub when_busy: WhenBusy,
}

/// An archive in the making. It appears at its place when [`Self::finish`] succeeds; dropped before, it leaves nothing.
///
/// Rows of the tables that grow with the recording come through [`RowSink`], the others through [`Self::write_table`].
/// Errors on the way are kept and reported by [`Self::finish`]; [`Self::has_failed`] lets a producer stop early.
pub struct ArchiveWriter {
    // Dropped in this order: the encoder stops writing, then the directory goes, then the lock.
    encoder: Encoder,
    batches: Batches,
    kept: KeptColumns,
    trace: String,
    staging: Staging,
    lock: TargetLock,
}

#[derive(Default)]
struct Batches {
    cpu_samples: Batch<CpuSampleRow>,
    counter_samples: Batch<CounterSampleRow>,
    context_switches: Batch<ContextSwitchRow>,
    disk_io: Batch<DiskIoRow>,
    hard_faults: Batch<HardFaultRow>,
    page_faults: Batch<PageFaultRow>,
    syscalls: Batch<SyscallRow>,
    file_io: Batch<FileIoRow>,
    counter_values: Batch<CounterValueRow>,
    cpu_frequencies: Batch<CpuFrequencyRow>,
    cpu_idle_states: Batch<CpuIdleStateRow>,
    marks: Batch<MarkRow>,
    events: Batch<EventRow>,
    frames: Batch<FrameRow>,
    stacks: Batch<StackRow>,
    symbols: Batch<SymbolRow>,
    managed_code: Batch<ManagedCodeRow>,
}

impl ArchiveWriter {
    /// Locks `target` and starts an archive for it. An existing archive stays until the new one is complete.
    ///
    /// # Errors
    /// [`Error::Busy`], [`Error::Occupied`] when `target` is something else than an archive, [`Error::Write`] when the
    /// directory of `target` cannot be written.
    pub fn create(target: &Path, options: WriterOptions) -> Result<Self, Error> {
        Self::create_locked(TargetLock::acquire(target, options.when_busy)?, options.trace)
    }

    /// Starts an archive for a target that is locked already: for callers that look at the old archive first.
    ///
    /// # Errors
    /// As [`Self::create`], but never [`Error::Busy`].
    pub fn create_locked(lock: TargetLock, trace: String) -> Result<Self, Error> {
        let staging = Staging::create(lock.target())?;
        let encoder = Encoder::start(staging.directory(), &trace, 1)?;
        Ok(Self { encoder, batches: Batches::default(), kept: KeptColumns::default(), trace, staging, lock })
    }

    /// Has columns of the tables that come through [`RowSink`] kept in memory; [`Sealing::take_kept`] gives them. To be said before the
    /// first row.
    #[must_use]
    pub fn keeping(self, kept: KeptColumns) -> Self {
        Self { kept, ..self }
    }

    /// Whether all rows so far had room among those that are kept.
    #[must_use]
    pub fn keeps_all(&self) -> bool {
        self.kept.are_whole()
    }

    /// Whether writing has failed, so that producing more rows is of no use. [`Self::finish`] says why.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.encoder.failed()
    }

    /// Appends rows to their table. For the tables that the model knows only at the end: processes, threads, modules,
    /// files, summaries.
    pub fn write_table<'a, T: Table>(&mut self, rows: impl IntoIterator<Item = &'a T>) {
        write_rows(&self.encoder, rows);
    }

    /// Appends rows as they are made: `make` hands over each of them, and what else it makes is given back. They are encoded meanwhile.
    pub fn write_each<T: Table, Made>(&mut self, make: impl FnOnce(&mut dyn FnMut(&T)) -> Made) -> Made {
        write_each(&self.encoder, make)
    }

    /// Closes all tables written so far: whoever waits for it gets them back for reading, before the archive appears at its
    /// place. The summaries are computed from them.
    ///
    /// `info` gets the id, schema and clock of this archive, its tables and, where empty, the tool's version.
    #[must_use]
    pub fn seal(mut self, mut info: TraceInfo, clock: &Clock) -> Sealing {
        self.flush();
        info.id = self.trace;
        info.schema = SCHEMA_VERSION;
        info.clock_frequency = clock.frequency;
        info.clock_zero = clock.zero;
        if info.tool_version.is_empty() {
            env!("CARGO_PKG_VERSION").clone_into(&mut info.tool_version);
        }
        let closing = self.encoder.finish(file_metadata(&info, clock), Vec::new());
        Sealing { closing, info, kept: self.kept, staging: self.staging, lock: self.lock }
    }

    /// Closes all tables, writes `trace.json` and puts the archive in its place. Returns that place.
    ///
    /// # Errors
    /// As [`Sealing::wait`] and [`SealedArchive::finish`](crate::SealedArchive::finish).
    pub fn finish(self, info: TraceInfo, health: &Health, clock: &Clock) -> Result<PathBuf, Error> {
        self.seal(info, clock).wait()?.finish(health, clock)
    }

    fn flush(&mut self) {
        let Batches {
            cpu_samples,
            counter_samples,
            context_switches,
            disk_io,
            hard_faults,
            page_faults,
            syscalls,
            file_io,
            counter_values,
            cpu_frequencies,
            cpu_idle_states,
            marks,
            events,
            frames,
            stacks,
            symbols,
            managed_code,
        } = &mut self.batches;
        let rest = [
            frames.take(),
            stacks.take(),
            symbols.take(),
            managed_code.take(),
            cpu_samples.take(),
            counter_samples.take(),
            context_switches.take(),
            disk_io.take(),
            hard_faults.take(),
            page_faults.take(),
            syscalls.take(),
            file_io.take(),
            counter_values.take(),
            cpu_frequencies.take(),
            cpu_idle_states.take(),
            marks.take(),
            events.take(),
        ];
        for columns in rest.into_iter().flatten() {
            self.send(columns);
        }
    }

    fn send(&mut self, columns: Columns) {
        self.kept.take(&columns);
        self.encoder.send(columns);
    }
}

macro_rules! sink {
    ($($method:ident($row:ty) into $batch:ident;)+) => {
        impl RowSink for ArchiveWriter { $(
            #[inline]
            fn $method(&mut self, row: &$row) {
                if let Some(full) = self.batches.$batch.push(row) {
                    self.send(full);
                }
            }
        )+ }
    };
}

sink! {
    cpu_sample(CpuSampleRow) into cpu_samples;
    counter_sample(CounterSampleRow) into counter_samples;
    context_switch(ContextSwitchRow) into context_switches;
    disk_io(DiskIoRow) into disk_io;
    hard_fault(HardFaultRow) into hard_faults;
    page_fault(PageFaultRow) into page_faults;
    syscall(SyscallRow) into syscalls;
    file_io(FileIoRow) into file_io;
    counter_value(CounterValueRow) into counter_values;
    cpu_frequency(CpuFrequencyRow) into cpu_frequencies;
    cpu_idle_state(CpuIdleStateRow) into cpu_idle_states;
    mark(MarkRow) into marks;
    event(EventRow) into events;
    frame(FrameRow) into frames;
    stack(StackRow) into stacks;
    symbol(SymbolRow) into symbols;
    managed_code(ManagedCodeRow) into managed_code;
}

/// Sends rows to the encoder in batches.
pub(crate) fn write_rows<'a, T: Table>(encoder: &Encoder, rows: impl IntoIterator<Item = &'a T>) {
    write_each(encoder, |write| rows.into_iter().for_each(write));
}

/// Sends the rows that `make` hands over to the encoder in batches.
pub(crate) fn write_each<T: Table, Made>(encoder: &Encoder, make: impl FnOnce(&mut dyn FnMut(&T)) -> Made) -> Made {
    let mut batch = Batch::new(LAST_BATCH_ROWS);
    let made = make(&mut |row| {
        if let Some(full) = batch.push(row) {
            encoder.send(full);
        }
    });
    if let Some(rest) = batch.take() {
        encoder.send(rest);
    }
    made
}

/// Writes `trace.json`, the last file of an archive.
pub(crate) fn write_trace_file(directory: &Path, info: &TraceInfo) -> Result<(), Error> {
    use std::io::Write as _;
    let path = directory.join(TRACE_FILE);
    let mut text = serde_json::to_vec_pretty(info).map_err(std::io::Error::from).writing(&path)?;
    text.push(b'\n');
    let mut file = CheckedFile::create(&path)?;
    file.write_all(&text).writing(&path)?;
    file.finish(&path).map(drop)
}
