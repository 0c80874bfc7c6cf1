//! Replaces single tables of an archive, as loading symbols does.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use tracesift_trace::Clock;
use tracesift_trace::info::TraceInfo;

use crate::encoder::Encoder;
use crate::error::{Error, WithPath as _};
use crate::format::{SCHEMA_VERSION, file_metadata, is_plain_name, table_file};
use crate::lock::TargetLock;
use crate::reader::Archive;
use crate::staging::Staging;
use crate::table::Table;
use crate::table_writer::Effort;
use crate::write_rows::{write_each, write_rows, write_trace_file};
use tracesift_trace::rows::{TABLES, table_by_name};
use tracesift_trace::schema::TableDefinition;

/// A new version of an archive: the tables written here, and hard links to the files of all others. It takes the place of
/// the old version when [`Self::finish`] succeeds; dropped before, it leaves nothing.
pub struct ArchiveUpdate {
    encoder: Encoder,
    replaced: BTreeSet<&'static str>,
    old: Archive,
    info: TraceInfo,
    staging: Staging,
    lock: TargetLock,
}

impl ArchiveUpdate {
    /// Starts to change the archive that is locked.
    ///
    /// # Errors
    /// Those of [`Archive::open`], and [`Error::Write`] when the directory beside it cannot be written.
    pub fn begin(lock: TargetLock) -> Result<Self, Error> {
        let old = Archive::open(lock.target())?;
        let info = old.info().clone();
        let staging = Staging::create(lock.target())?;
        let encoder = Encoder::start(staging.directory(), &info.id, Effort::alone())?;
        Ok(Self { encoder, replaced: BTreeSet::new(), old, info, staging, lock })
    }

    /// The archive as it is, to read from.
    #[must_use]
    pub fn old(&self) -> &Archive {
        &self.old
    }

    /// The description, to change what the new tables change in it. The list of tables is made by [`Self::finish`].
    pub fn info_mut(&mut self) -> &mut TraceInfo {
        &mut self.info
    }

    /// Replaces a table by `rows`; called again for the same table, it appends.
    pub fn write_table<'a, T: Table>(&mut self, rows: impl IntoIterator<Item = &'a T>) {
        self.replaced.insert(T::TABLE.name);
        write_rows(&self.encoder, rows);
    }

    /// Replaces a table by rows as they are made: `make` hands over each of them. Called again for the same table, it appends.
    pub fn write_each<T: Table>(&mut self, make: impl FnOnce(&mut dyn FnMut(&T))) {
        self.replaced.insert(T::TABLE.name);
        write_each(&self.encoder, make);
    }

    /// Closes the new tables, links the others and exchanges the archives. Returns the archive's place.
    ///
    /// # Errors
    /// The first error that happened since the start; then the archive is as it was.
    pub fn finish(self) -> Result<PathBuf, Error> {
        let mut info = self.info;
        info.id.clone_from(&self.old.info().id);
        // Tables of a later minor version stay what they are.
        info.schema = self.old.info().schema.max(SCHEMA_VERSION);
        let clock = Clock::new(info.clock_zero, info.clock_frequency);
        let needed: Vec<&TableDefinition> =
            TABLES.into_iter().filter(|table| table.always && self.replaced.contains(table.name)).collect();
        let mut tables = self.encoder.finish(file_metadata(&info, &clock), needed).wait()?;
        for kept in self.old.info().tables.iter().filter(|table| !self.replaced.contains(table.name.as_str())) {
            // Tables that a later minor version added are kept too; a name that is a path is none.
            if table_by_name(&kept.name).is_none() && !is_plain_name(&kept.name) {
                continue;
            }
            let file = table_file(&kept.name);
            let (from, to) = (self.old.path().join(&file), self.staging.directory().join(&file));
            // File systems without hard links get a copy.
            fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)).writing(&to)?;
            tables.push(kept.clone());
        }
        tables.sort_by_key(|table| TABLES.iter().position(|known| known.name == table.name).unwrap_or(TABLES.len()));
        info.tables = tables;
        write_trace_file(self.staging.directory(), &info)?;
        let place = self.staging.install()?;
        drop(self.lock);
        Ok(place)
    }
}
