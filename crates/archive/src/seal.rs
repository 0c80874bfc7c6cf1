//! An archive whose tables are written but which is not at its place yet: what is computed from the tables themselves
//! joins it before anybody sees it.

use std::path::PathBuf;

use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::HealthRow;
use tracesift_trace::{Clock, Health};

use crate::encoder::{Closing, Encoder};
use crate::error::Error;
use crate::format::file_metadata;
use crate::kept::KeptColumns;
use crate::lock::TargetLock;
use crate::reader::Archive;
use crate::staging::Staging;
use crate::table::Table;
use crate::table_writer::Effort;
use crate::write_rows::{write_each, write_rows, write_trace_file};
use tracesift_trace::rows::TABLES;

/// An archive whose last rows are still being encoded. Dropped before [`Self::wait`], it leaves nothing.
pub struct Sealing {
    // Dropped in this order, as below.
    pub(crate) closing: Closing,
    pub(crate) info: TraceInfo,
    pub(crate) kept: KeptColumns,
    pub(crate) group_rows: usize,
    pub(crate) staging: Staging,
    pub(crate) lock: TargetLock,
}

impl Sealing {
    /// What [`ArchiveWriter::keeping`](crate::ArchiveWriter::keeping) asked for: all rows that were written.
    #[must_use]
    pub fn take_kept(&mut self) -> KeptColumns {
        std::mem::take(&mut self.kept)
    }

    /// Waits until all tables are written.
    ///
    /// # Errors
    /// The first error that happened since the start; then nothing has changed on the disk.
    pub fn wait(mut self) -> Result<SealedArchive, Error> {
        self.info.tables = self.closing.wait()?;
        let effort = Effort { group_rows: self.group_rows, ..Effort::alone() };
        SealedArchive::new(self.info, effort, self.staging, self.lock)
    }
}

/// A readable archive in its staging directory, open for further tables. Dropped before [`Self::finish`], it leaves nothing.
pub struct SealedArchive {
    // Dropped in this order: the encoder stops writing, then the directory goes, then the lock.
    encoder: Encoder,
    archive: Archive,
    effort: Effort,
    staging: Staging,
    lock: TargetLock,
}

impl SealedArchive {
    pub(crate) fn new(info: TraceInfo, effort: Effort, staging: Staging, lock: TargetLock) -> Result<Self, Error> {
        let encoder = Encoder::start(staging.directory(), &info.id, effort)?;
        let archive = Archive::unpublished(staging.directory(), info);
        Ok(Self { encoder, archive, effort, staging, lock })
    }

    /// The tables written so far, to read from.
    #[must_use]
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Appends rows to a table that was not written before the archive was sealed.
    pub fn write_table<'a, T: Table>(&mut self, rows: impl IntoIterator<Item = &'a T>) {
        write_rows(&self.encoder, rows);
    }

    /// Appends rows as they are made, to a table that was not written before the archive was sealed: `make` hands over each of
    /// them. They are encoded meanwhile.
    pub fn write_each<T: Table>(&mut self, make: impl FnOnce(&mut dyn FnMut(&T))) {
        write_each(&self.encoder, make);
    }

    /// Closes the tables that were added so far. From then on they can be read, but no row can be appended to them.
    ///
    /// # Errors
    /// The first error that happened since the archive was sealed.
    pub fn settle(&mut self, clock: &Clock) -> Result<(), Error> {
        let mut info = self.archive.info().clone();
        let encoder = Encoder::start(self.staging.directory(), &info.id, self.effort)?;
        let before = std::mem::replace(&mut self.encoder, encoder);
        info.tables.extend(before.finish(file_metadata(&info, clock), Vec::new()).wait()?);
        self.archive = Archive::unpublished(self.staging.directory(), info);
        Ok(())
    }

    /// Writes the health table and `trace.json` and puts the archive in its place. Returns that place.
    ///
    /// # Errors
    /// The first error that happened since the archive was sealed; then nothing has changed on the disk.
    pub fn finish(mut self, health: &Health, clock: &Clock) -> Result<PathBuf, Error> {
        let rows: Vec<HealthRow> = health
            .iter()
            .map(|(kind, counter)| HealthRow {
                kind: kind.word().to_owned(),
                count: counter.count,
                first_time: counter.first_ticks.map(|ticks| clock.ns(ticks)),
                example: counter.example.clone(),
            })
            .collect();
        self.write_table(&rows);
        let mut info = self.archive.info().clone();
        let missing = |name: &str| info.tables.iter().all(|table| table.name != name);
        let needed = TABLES.into_iter().filter(|table| table.always && missing(table.name)).collect();
        let added = self.encoder.finish(file_metadata(&info, clock), needed).wait()?;
        info.tables.extend(added);
        let place = |name: &str| TABLES.into_iter().position(|table| table.name == name);
        info.tables.sort_by_key(|table| place(&table.name));
        write_trace_file(self.staging.directory(), &info)?;
        let place = self.staging.install()?;
        drop(self.lock);
        Ok(place)
    }
}
