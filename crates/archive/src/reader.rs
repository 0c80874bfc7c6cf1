//! Reads an archive: whole tables, or rows of chosen columns and times one by one.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::RecordBatch;
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use tracesift_trace::info::{SourceFile, TableFile, TraceInfo};
use tracesift_trace::schema::{ColumnSet, TableDefinition, View};

use crate::around::Nearest;
use crate::checked_file::checksum_text;
use crate::error::{Error, WithPath as _};
use crate::format::{SCHEMA_VERSION, TRACE_FILE, is_plain_name, table_file};
use crate::freshness;
use crate::input::Input;
use crate::keys::Keys;
use crate::known_files::KnownFiles;
use crate::long_spans::{Groups, Near};
use crate::scan::{Choice, Part, Scan};
use crate::staging::recover_interrupted;
use crate::stored::StoredRows;
use crate::table::{Readable, RowReader, Table, table_of};
use crate::watch::{Pass, Watch};
use tracesift_trace::rows::TABLES;

/// Largest `trace.json`: it lists volumes, disks and tables, some KiB.
const MAX_TRACE_FILE: u64 = 64 << 20;

/// The version of an archive, whatever else its description says.
#[derive(Default, serde::Deserialize)]
struct Version {
    #[serde(default)]
    schema: serde_json::Value,
}

/// An archive, open for reading. Opening reads `trace.json` only; a table costs when it is asked for.
#[derive(Clone, Debug)]
pub struct Archive {
    path: PathBuf,
    info: TraceInfo,
    rows_read: Arc<AtomicU64>,
    watch: Watch,
    /// The row groups of the switches, once somebody has looked at them.
    pub(crate) switch_groups: Arc<OnceLock<Option<Groups>>>,
    /// `None`: nothing is kept from one reading to the next.
    known: Option<Arc<KnownFiles>>,
}

impl Archive {
    /// Opens the archive at `path`. If a replacement of it was interrupted, the archive is put back first.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::NotAnArchive`], [`Error::Unfinished`], [`Error::Version`] for another major version, or
    /// [`Error::Corrupt`] when `trace.json` is damaged.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let trace_file = path.join(TRACE_FILE);
        let mut file = File::open(&trace_file);
        if file.is_err() && !path.exists() && path.file_name().is_some() {
            // Whatever recovery cannot do, the next lines say what is there.
            let _ = recover_interrupted(path);
            file = File::open(&trace_file);
        }
        let file = match file {
            Ok(file) => file,
            Err(_) if !path.exists() => return Err(Error::Missing { path: path.to_owned() }),
            // What may not be read is there, although nobody can see it.
            Err(source) if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(not_an_archive(path));
            }
            Err(source) => return Err(Error::Read { path: trace_file, source }),
        };
        let mut text = Vec::new();
        file.take(MAX_TRACE_FILE + 1).read_to_end(&mut text).reading(&trace_file)?;
        if text.len() as u64 > MAX_TRACE_FILE {
            return Err(Error::corrupt(&trace_file, format!("it is larger than {} MiB", MAX_TRACE_FILE >> 20)));
        }
        let corrupt = |error: serde_json::Error| Error::corrupt(&trace_file, error.to_string());
        // The version first: another major version may spell everything else differently.
        let version = match serde_json::from_slice::<Version>(&text) {
            Ok(version) => version,
            Err(error) if error.is_data() => Version::default(),
            Err(error) => return Err(corrupt(error)),
        };
        let found = version.schema.get(0).and_then(serde_json::Value::as_u64);
        let Some(found) = found.and_then(|major| u32::try_from(major).ok()) else {
            return Err(Error::corrupt(&trace_file, "it has no schema version"));
        };
        if found != SCHEMA_VERSION[0] {
            return Err(Error::Version { path: path.to_owned(), found, supported: SCHEMA_VERSION[0] });
        }
        let info = serde_json::from_slice(&text).map_err(corrupt)?;
        Ok(Self {
            path: path.to_owned(),
            info,
            rows_read: Arc::default(),
            watch: Watch::default(),
            switch_groups: Arc::default(),
            known: None,
        })
    }

    /// The same archive, all readings of which somebody watches: they also fail with [`Error::Cancelled`].
    #[must_use]
    pub fn watched_by(self, watch: &Watch) -> Self {
        Self { watch: watch.clone(), ..self }
    }

    /// The same archive for somebody who asks very often: the footers of its files are kept, some 100 KiB of a long recording, and up to
    /// `room` bytes of the numbers that were read last.
    #[must_use]
    pub fn keeping(self, room: u64) -> Self {
        Self { known: Some(Arc::new(KnownFiles::new(room))), ..self }
    }

    /// Opens a table that `trace.json` lists.
    pub(crate) fn input(&self, table: &TableFile) -> Result<(PathBuf, Input), Error> {
        let path = self.path.join(table_file(&table.name));
        let input = Input::open(&path, table, self.known.as_deref())?;
        Ok((path, input))
    }

    /// Who watches the readings; by default nobody has another clone of it.
    #[must_use]
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The tables in a staging directory.
    pub(crate) fn unpublished(path: &Path, info: TraceInfo) -> Self {
        Self {
            path: path.to_owned(),
            info,
            rows_read: Arc::default(),
            watch: Watch::default(),
            switch_groups: Arc::default(),
            known: None,
        }
    }

    /// Whether the archive at `path` is complete and the extract of exactly these files by this major version: then there
    /// is nothing to do.
    #[must_use]
    pub fn is_current(path: &Path, sources: &[SourceFile]) -> bool {
        Self::open(path).is_ok_and(|archive| freshness::describes(&archive.info, sources))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was recorded, where and when.
    #[must_use]
    pub fn info(&self) -> &TraceInfo {
        &self.info
    }

    /// Number of rows of a table; 0 when the archive does not have it.
    #[must_use]
    pub fn row_count<T: Table>(&self) -> u64 {
        self.table_file(T::TABLE.name).map_or(0, |table| table.rows)
    }

    /// All rows of a table, with the columns of the row or view; none when the archive does not have the table. For the
    /// tables that describe things; events are better [scanned](Self::scan).
    ///
    /// # Errors
    /// [`Error::Corrupt`] or [`Error::Read`].
    pub fn rows<V: Readable>(&self) -> Result<Vec<V>, Error> {
        self.needed_rows(ColumnSet::ALL)
    }

    /// As [`Self::rows`], with these columns only: the others are not read and have their default value in every row.
    ///
    /// # Errors
    /// As [`Self::rows`].
    pub fn needed_rows<V: Readable>(&self, needed: ColumnSet<V>) -> Result<Vec<V>, Error> {
        let mut rows = Vec::new();
        let Some(mut scan) = self.start_scan(needed, Wanted::default(), None)? else { return Ok(rows) };
        while let Some(batch) = scan.next()? {
            let corrupt = |reason| Error::corrupt(scan.path(), reason);
            let reader = RowReader::of_needed(&batch, needed).map_err(corrupt)?;
            rows.reserve(batch.num_rows());
            for index in 0..batch.num_rows() {
                rows.push(reader.row(index).map_err(corrupt)?);
            }
        }
        Ok(rows)
    }

    /// All rows of a table with these columns, each to be made when it is asked for, and the columns of `K`, by which they
    /// are chosen; none when the archive does not have it.
    ///
    /// # Errors
    /// [`Error::Corrupt`] or [`Error::Read`].
    pub fn stored_rows<K: Readable, V: Readable + View<Row = K::Row>>(
        &self,
        needed: ColumnSet<V>,
    ) -> Result<StoredRows<K, V>, Error> {
        let mut rows = StoredRows::new(self.path.join(table_file(table_of::<V>().name)));
        let mut names = needed.names();
        names.extend(K::NAMES.iter().filter(|name| !needed.names().contains(name)));
        let Some(mut scan) = self.start_scan_of(table_of::<V>(), &names, &Wanted::default(), None)? else {
            return Ok(rows);
        };
        while let Some(batch) = scan.next()? {
            rows.add(&batch, needed)?;
        }
        Ok(rows)
    }

    /// Shows `visit` the rows of a table that touch `time` (all rows without it), in their order, with the columns of the
    /// row or view. Row groups outside of the time are not read. What touching means is the table's [`Timing`](tracesift_trace::schema::Timing). Nullable columns
    /// that an older archive does not have are null.
    ///
    /// # Errors
    /// [`Error::Corrupt`] or [`Error::Read`]; `visit` may have seen rows before that.
    pub fn scan<V: Readable>(&self, time: Option<Range<i64>>, mut visit: impl FnMut(&V)) -> Result<(), Error> {
        self.scan_while(time, |row| {
            visit(row);
            ControlFlow::Continue(())
        })
    }

    /// As [`Self::scan`], until `visit` breaks off.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn scan_while<V: Readable>(
        &self,
        time: Option<Range<i64>>,
        mut visit: impl FnMut(&V) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let (columns, wanted) = (ColumnSet::ALL, Wanted { time, ..Wanted::default() });
        self.show_scan(columns, self.start_scan(columns, wanted, None)?, &mut visit)
    }

    /// As [`Self::scan_while`], but only those rows that `choose` accepts when it sees them as `K`: of all others nothing
    /// else is decoded.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn scan_chosen<K: Readable, V: Readable + View<Row = K::Row>>(
        &self,
        time: Option<Range<i64>>,
        choose: impl FnMut(&K) -> bool + Send + 'static,
        visit: impl FnMut(&V) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        self.scan_needed::<K, V>(ColumnSet::ALL, time, Some(choose), visit)
    }

    /// As [`Self::scan_chosen`], or all rows where nothing chooses, with the columns that are `needed`; the others have their
    /// default value in every row.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn scan_needed<K: Readable, V: Readable + View<Row = K::Row>>(
        &self,
        needed: ColumnSet<V>,
        time: Option<Range<i64>>,
        choose: Option<impl FnMut(&K) -> bool + Send + 'static>,
        mut visit: impl FnMut(&V) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let choice = choose.map(|mut choose| {
            let accepts = move |batch: &RecordBatch| {
                let reader = RowReader::<K>::new(batch)?;
                let mut accepted = BooleanBufferBuilder::new(batch.num_rows());
                for row in 0..batch.num_rows() {
                    accepted.append(choose(&reader.row(row)?));
                }
                Ok(accepted.finish())
            };
            Choice { columns: K::NAMES.to_vec(), by_number: false, accepts: Box::new(accepts) }
        });
        self.show_scan(needed, self.start_scan(needed, Wanted { time, ..Wanted::default() }, choice)?, &mut visit)
    }

    /// Shows `visit` those rows of a table that `choose` accepts, one answer per row, when it sees their columns of `K`, with
    /// the columns that are `needed`; the others have their default value in every row. Where it accepts none of a row group, nothing else of that is decoded; texts come as the file stores them, distinct ones once.
    ///
    /// # Errors
    /// As [`Self::scan`], and what `choose` says is wrong with the columns.
    pub fn scan_by_keys<K: Readable, V: Readable + View<Row = K::Row>>(
        &self,
        needed: ColumnSet<V>,
        mut choose: impl FnMut(&Keys<'_, K>) -> Result<Vec<bool>, String> + Send + 'static,
        mut visit: impl FnMut(&V),
    ) -> Result<(), Error> {
        let accepts = move |batch: &RecordBatch| {
            let accepted = choose(&Keys::new(batch))?;
            let is_whole = accepted.len() == batch.num_rows();
            is_whole.then(|| BooleanBuffer::from(accepted)).ok_or_else(|| "not every row was looked at".to_owned())
        };
        let choice = Choice { columns: K::NAMES.to_vec(), by_number: true, accepts: Box::new(accepts) };
        self.show_scan(needed, self.start_scan(needed, Wanted::default(), Some(choice))?, &mut |row| {
            visit(row);
            ControlFlow::Continue(())
        })
    }

    /// Shows `visit` the rows of a table, many at once, as the columns of `K` that are `needed`, and returns the state that it
    /// leaves. Texts come as the file stores them, distinct ones once: the way to count rows by their texts.
    ///
    /// # Errors
    /// As [`Self::scan`], and what `visit` says is wrong with the columns.
    pub fn fold_keys<K: Readable, S: Send + 'static>(
        &self,
        needed: ColumnSet<K>,
        state: S,
        mut visit: impl FnMut(&mut S, &Keys<'_, K>) -> Result<(), String> + Send + 'static,
    ) -> Result<S, Error> {
        let held = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&held);
        let accepts = move |batch: &RecordBatch| {
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            visit(&mut state, &Keys::new(batch))?;
            // All has been seen: nothing is read as rows.
            Ok(BooleanBuffer::new_unset(batch.num_rows()))
        };
        let choice = Choice { columns: needed.names(), by_number: true, accepts: Box::new(accepts) };
        if let Some(mut scan) = self.start_scan_of(table_of::<K>(), &[], &Wanted::default(), Some(choice))? {
            while scan.next()?.is_some() {}
        }
        let state = Arc::try_unwrap(held).map_err(|_| Error::corrupt(&self.path, "a pass over it has not ended"))?;
        Ok(state.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn show_scan<V: Readable>(
        &self,
        columns: ColumnSet<V>,
        scan: Option<Scan>,
        visit: &mut impl FnMut(&V) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let Some(mut scan) = scan else { return Ok(()) };
        while let Some(batch) = scan.next()? {
            let shown = show(&batch, columns, 0..batch.num_rows(), visit)
                .map_err(|reason| Error::corrupt(scan.path(), reason))?;
            if shown.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// As [`Self::scan`], the last row first. What can be said of a span only from its end is computed in this direction.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn scan_backwards<V: Readable>(
        &self,
        time: Option<Range<i64>>,
        mut visit: impl FnMut(&V),
    ) -> Result<(), Error> {
        self.scan_backwards_while(time, |row| {
            visit(row);
            ControlFlow::Continue(())
        })
    }

    /// As [`Self::scan_backwards`], until `visit` breaks off. Row groups before that row are not read.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn scan_backwards_while<V: Readable>(
        &self,
        time: Option<Range<i64>>,
        mut visit: impl FnMut(&V) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        self.show_backwards(Wanted { time, ..Wanted::default() }, &mut visit)
    }

    pub(crate) fn show_backwards<V: Readable>(
        &self,
        wanted: Wanted,
        visit: &mut impl FnMut(&V) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let table = table_of::<V>();
        let Some(file) = self.table_file(table.name) else { return Ok(()) };
        let (path, input) = self.input(file)?;
        let near = self.near(table, &wanted)?;
        let mut nearest = near.as_ref().and_then(|_| wanted.nearest());
        let part = Part { groups: near.as_ref().map(|near| near.groups.clone()), time: wanted.touching() };
        let (groups, rows) = Scan::extent(&path, &input, file, table, &part)?;
        let mut pass = Pass::new(&self.watch, rows);
        let of_index = |rows: Option<Range<i64>>| {
            rows.map_or(Ok(None), |rows| self.start_long_spans(V::NAMES, rows, wanted.touching()))
        };
        let behind = of_index(near.as_ref().map(|near| near.behind.clone()))?;
        if self.show_reversed(behind, &mut pass, &mut nearest, visit)?.is_break() {
            return Ok(());
        }
        // One row group at a time is held decoded.
        for group in groups.into_iter().rev() {
            let part = Part { groups: Some(group..group + 1), time: wanted.touching() };
            let (path, input) = self.input(file)?;
            let scan = Scan::start(path, input, file, table, V::NAMES, part, None)?;
            if self.show_reversed(Some(scan), &mut pass, &mut nearest, visit)?.is_break() {
                return Ok(());
            }
        }
        let before = of_index(near.filter(|_| wanted.around).map(|near| near.before))?;
        self.show_reversed(before, &mut pass, &mut nearest, visit).map(drop)
    }

    fn show_reversed<V: Readable>(
        &self,
        scan: Option<Scan>,
        pass: &mut Pass,
        nearest: &mut Option<Nearest>,
        visit: &mut impl FnMut(&V) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let Some(scan) = scan else { return Ok(ControlFlow::Continue(())) };
        let mut scan = self.counted(scan, pass);
        let mut batches = Vec::new();
        while let Some(batch) = scan.next()? {
            batches.push(batch);
        }
        for batch in batches.iter().rev() {
            self.watch.check()?;
            let shown = match nearest.as_mut().and_then(|nearest| nearest.of(batch)) {
                Some(rows) => show(batch, ColumnSet::ALL, rows.iter().copied().rev(), visit),
                None => show(batch, ColumnSet::ALL, (0..batch.num_rows()).rev(), visit),
            };
            let shown = shown.map_err(|reason| Error::corrupt(scan.path(), reason))?;
            if shown.is_break() {
                return Ok(shown);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Checks that every table has the size, checksum and number of rows that `trace.json` says.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for the first one that does not, or [`Error::Read`].
    pub fn verify(&self) -> Result<(), Error> {
        for table in TABLES.iter().filter(|table| table.always) {
            if self.table_file(table.name).is_none() {
                let reason = format!("it does not list the table {}", table.name);
                return Err(Error::corrupt(&self.path.join(TRACE_FILE), reason));
            }
        }
        for table in &self.info.tables {
            if !is_plain_name(&table.name) {
                let reason = format!("it lists a table with the impossible name {:?}", table.name);
                return Err(Error::corrupt(&self.path.join(TRACE_FILE), reason));
            }
            self.watch.check()?;
            let (path, input) = self.input(table)?;
            if checksum_of(&path)? != table.crc32 {
                return Err(Error::corrupt(&path, "its checksum is not the one in trace.json"));
            }
            Scan::check(&path, input, table)?;
        }
        Ok(())
    }

    pub(crate) fn table_file(&self, name: &str) -> Option<&TableFile> {
        self.info.tables.iter().find(|table| table.name == name)
    }

    pub(crate) fn start_scan<V: Readable>(
        &self,
        columns: ColumnSet<V>,
        wanted: Wanted,
        choice: Option<Choice>,
    ) -> Result<Option<Scan>, Error> {
        self.start_scan_of(table_of::<V>(), &columns.names(), &wanted, choice)
    }

    /// One that is a part of a reading which was announced.
    pub(crate) fn start_part<V: Readable>(&self, wanted: &Wanted, pass: &Mutex<Pass>) -> Result<Option<Scan>, Error> {
        let scan = self.prepare_scan(table_of::<V>(), V::NAMES, wanted, None)?;
        let mut pass = pass.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(scan.map(|scan| self.counted(scan, &mut pass)))
    }

    fn start_scan_of(
        &self,
        table: &TableDefinition,
        columns: &[&str],
        wanted: &Wanted,
        choice: Option<Choice>,
    ) -> Result<Option<Scan>, Error> {
        let scan = self.prepare_scan(table, columns, wanted, choice)?;
        Ok(scan.map(|scan| self.counted_alone(scan)))
    }

    pub(crate) fn prepare_scan(
        &self,
        table: &TableDefinition,
        columns: &[&str],
        wanted: &Wanted,
        choice: Option<Choice>,
    ) -> Result<Option<Scan>, Error> {
        let Some(file) = self.table_file(table.name) else { return Ok(None) };
        let (path, input) = self.input(file)?;
        let one = wanted.group.map(|group| group..group.saturating_add(1));
        // A choice sees every row of a row group, so the index, whose rows are of many, is of no use to it.
        let near = if choice.is_some() { None } else { self.near(table, wanted)? };
        let groups = near.as_ref().map(|near| near.groups.clone()).or(one);
        let part = Part { groups, time: wanted.touching() };
        let scan = Scan::start(path, input, file, table, columns, part, choice)?;
        Ok(Some(match near {
            None => scan,
            Some(near) => {
                let of_index = |rows| self.start_long_spans(columns, rows, wanted.touching());
                let with_behind = scan.and_then(of_index(near.behind)?);
                match if wanted.around { of_index(near.before)? } else { None } {
                    Some(before) => before.and_then(Some(with_behind)),
                    None => with_behind,
                }
            }
        }))
    }

    /// What a range of time needs of a table; `None` where nothing tells, so that every row group has to be looked at.
    pub(crate) fn near(&self, table: &TableDefinition, wanted: &Wanted) -> Result<Option<Near>, Error> {
        // Nothing touches an empty range, and that needs no index.
        let time = wanted.time.as_ref().filter(|time| wanted.around || !time.is_empty());
        let Some(time) = time else { return Ok(None) };
        let Some(groups) = self.indexed_groups(table.name)? else { return Ok(None) };
        // Both ends included, so that what begins or ends there is among them.
        let mut near = groups.near(time.start, time.end.max(time.start));
        if let Some(group) = wanted.group {
            let rows = groups.rows_of(group);
            let inside = |all: Range<i64>| all.start.max(rows.start)..all.end.min(rows.end);
            (near.before, near.behind) = (inside(near.before), inside(near.behind));
            let (start, end) = (near.groups.start.max(group), near.groups.end.min(group.saturating_add(1)));
            near.groups = start..end.max(start);
        }
        Ok(Some(near))
    }

    /// Rows of all row groups that were read so far through this archive and its clones: what questions cost, whatever the machine.
    #[must_use]
    pub fn rows_read(&self) -> u64 {
        self.rows_read.load(Ordering::Relaxed)
    }

    /// A reading that is no part of an announced one.
    pub(crate) fn counted_alone(&self, scan: Scan) -> Scan {
        self.counted(scan, &mut Pass::new(&self.watch, 0))
    }

    /// Every reading goes through here: what it costs is counted, and whoever watches sees it as a part of `pass`.
    fn counted(&self, scan: Scan, pass: &mut Pass) -> Scan {
        self.rows_read.fetch_add(scan.rows(), Ordering::Relaxed);
        scan.part_of(pass)
    }
}

/// Which rows of a table somebody wants: all of them by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Those of one row group.
    pub(crate) group: Option<usize>,
    /// Those that touch a time range.
    pub(crate) time: Option<Range<i64>>,
    /// And those around it, from which can be told what happens in it.
    pub(crate) around: bool,
}

impl Wanted {
    /// The range that every row has to touch.
    fn touching(&self) -> Option<Range<i64>> {
        self.time.clone().filter(|_| !self.around)
    }

    /// What chooses among the rows around the range.
    pub(crate) fn nearest(&self) -> Option<Nearest> {
        self.time.clone().filter(|_| self.around).map(Nearest::new)
    }
}

/// Shows rows of a batch until `visit` breaks off.
pub(crate) fn show<V: Readable>(
    batch: &RecordBatch,
    columns: ColumnSet<V>,
    mut rows: impl Iterator<Item = usize>,
    visit: &mut impl FnMut(&V) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, String> {
    let reader = RowReader::<V>::of_needed(batch, columns)?;
    let Some(first) = rows.next() else { return Ok(ControlFlow::Continue(())) };
    // One row is changed again and again: of wide tables most columns are left out.
    let mut row = reader.row(first)?;
    loop {
        if visit(&row).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let Some(next) = rows.next() else { return Ok(ControlFlow::Continue(())) };
        reader.change(&mut row, next)?;
    }
}

fn not_an_archive(path: &Path) -> Error {
    let has_tables = fs::read_dir(path).is_ok_and(|entries| {
        entries
            .filter_map(Result::ok)
            .any(|entry| Path::new(&entry.file_name()).extension().is_some_and(|e| e == "parquet"))
    });
    let path = path.to_owned();
    if has_tables { Error::Unfinished { path } } else { Error::NotAnArchive { path } }
}

fn checksum_of(path: &Path) -> Result<String, Error> {
    let mut file = File::open(path).reading(path)?;
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = file.read(&mut buffer).reading(path)?;
        if read == 0 {
            return Ok(checksum_text(hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
    }
}
