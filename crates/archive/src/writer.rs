//! Writes an archive. The calling thread fills column builders, a second one encodes, compresses and writes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracesift_trace::info::TraceInfo;
use tracesift_trace::sink::EventsApart;
use tracesift_trace::{Clock, Health, RowSink, event_tables, rows};

use crate::batch::{Batch, Columns};
use crate::encoder::{Encoder, Entrance};
use crate::error::Error;
use crate::format::{SCHEMA_VERSION, file_metadata};
use crate::kept::KeptColumns;
use crate::lock::{TargetLock, WhenBusy};
use crate::scheduling::SchedulingTables;
use crate::seal::Sealing;
use crate::staging::Staging;
use crate::table::Table;
use crate::table_writer::Effort;
use crate::write_rows::{write_each, write_rows};

/// How to write an archive.
#[derive(Clone, Debug, Default)]
pub struct WriterOptions {
    /// Id of the recording, 32 hex digits: the column `trace` of every table.
    pub trace: String,
    /// What to do when another process writes the same archive.
    pub when_busy: WhenBusy,
    /// Rows of a row group, at most; `None`: as many as suit most questions.
    pub group_rows: Option<usize>,
}

/// An archive in the making. It appears at its place when [`Self::finish`] succeeds; dropped before, it leaves nothing.
///
/// Rows of the tables that grow with the recording come through [`RowSink`], the others through [`Self::write_table`].
/// Errors on the way are kept and reported by [`Self::finish`]; [`Self::has_failed`] lets a producer stop early.
pub struct ArchiveWriter {
    // Dropped in this order: the encoder stops writing, then the directory goes, then the lock.
    encoder: Encoder,
    /// Some hundred KiB, which would be moved along with the writer.
    batches: Box<Batches>,
    /// Also for those tables that another thread fills.
    kept: Arc<Mutex<KeptColumns>>,
    trace: String,
    group_rows: usize,
    staging: Staging,
    lock: TargetLock,
}

impl ArchiveWriter {
    /// Locks `target` and starts an archive for it. An existing archive stays until the new one is complete.
    ///
    /// # Errors
    /// [`Error::Busy`], [`Error::Occupied`] when `target` is something else than an archive, [`Error::Write`] when the
    /// directory of `target` cannot be written.
    pub fn create(target: &Path, options: WriterOptions) -> Result<Self, Error> {
        let lock = TargetLock::acquire(target, options.when_busy)?;
        Self::create_locked(lock, options)
    }

    /// Starts an archive for a target that is locked already: for callers that look at the old archive first.
    ///
    /// # Errors
    /// As [`Self::create`], but never [`Error::Busy`].
    pub fn create_locked(lock: TargetLock, options: WriterOptions) -> Result<Self, Error> {
        let staging = Staging::create(lock.target())?;
        let effort = Effort::beside();
        let group_rows = options.group_rows.unwrap_or(effort.group_rows).max(1);
        let trace = options.trace;
        let encoder = Encoder::start(staging.directory(), &trace, Effort { group_rows, ..effort })?;
        let (batches, kept) = (Box::default(), Arc::default());
        Ok(Self { encoder, batches, kept, trace, group_rows, staging, lock })
    }

    /// Has columns of the tables that come through [`RowSink`] kept in memory; [`Sealing::take_kept`] gives them. To be said before the
    /// first row.
    #[must_use]
    pub fn keeping(self, kept: KeptColumns) -> Self {
        Self { kept: Arc::new(Mutex::new(kept)), ..self }
    }

    /// Whether all rows so far had room among those that are kept.
    #[must_use]
    pub fn keeps_all(&self) -> bool {
        self.kept().are_whole()
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

    /// The tables of switches and samples, for another thread: no rows of them come here from then on. They are to be dropped before this
    /// writer is sealed. `None` where it has failed.
    #[must_use]
    pub fn scheduling_apart(&self) -> Option<SchedulingTables> {
        Some(SchedulingTables::new(self.encoder.entrance()?, Arc::clone(&self.kept)))
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
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        let Self { group_rows, staging, lock, .. } = self;
        Sealing { closing, info, kept, group_rows, staging, lock }
    }

    /// Closes all tables, writes `trace.json` and puts the archive in its place. Returns that place.
    ///
    /// # Errors
    /// As [`Sealing::wait`] and [`SealedArchive::finish`](crate::SealedArchive::finish).
    pub fn finish(self, info: TraceInfo, health: &Health, clock: &Clock) -> Result<PathBuf, Error> {
        self.seal(info, clock).wait()?.finish(health, clock)
    }

    fn flush(&mut self) {
        for columns in self.batches.take() {
            self.send(columns);
        }
    }

    fn send(&mut self, columns: Columns) {
        self.kept().take(&columns);
        self.encoder.send(columns);
    }

    fn kept(&self) -> MutexGuard<'_, KeptColumns> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The table `events` in the making, where another thread makes its rows.
struct Events {
    batch: Batch<rows::EventRow>,
    entrance: Entrance,
}

impl EventsApart for Events {
    fn event(&mut self, row: &rows::EventRow) {
        if let Some(full) = self.batch.push(row) {
            self.entrance.send(full);
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(rest) = self.batch.take() {
            self.entrance.send(rest);
        }
    }
}

macro_rules! sink {
    (
        $($(#[$doc:meta])* $method:ident($row:ident) in $table:ident),+;
        $($(#[$optional_doc:meta])* $optional:ident($optional_row:ident) in $optional_table:ident),+
    ) => {
        /// The batch in the making of each table that grows with the recording.
        #[derive(Default)]
        struct Batches {
            $($table: Batch<rows::$row>,)+
            $($optional_table: Batch<rows::$optional_row>,)+
        }

        impl Batches {
            /// The rows of all tables that no batch has taken yet.
            fn take(&mut self) -> Vec<Columns> {
                let rest = [$(self.$table.take(),)+ $(self.$optional_table.take(),)+];
                rest.into_iter().flatten().collect()
            }
        }

        impl RowSink for ArchiveWriter {
            fn events_apart(&mut self) -> Option<Box<dyn EventsApart>> {
                Some(Box::new(Events { batch: Batch::default(), entrance: self.encoder.entrance()? }))
            }

            $(
                #[inline]
                fn $method(&mut self, row: &rows::$row) {
                    if let Some(full) = self.batches.$table.push(row) {
                        self.send(full);
                    }
                }
            )+
            $(
                #[inline]
                fn $optional(&mut self, row: &rows::$optional_row) {
                    if let Some(full) = self.batches.$optional_table.push(row) {
                        self.send(full);
                    }
                }
            )+
        }
    };
}
event_tables!(sink);
