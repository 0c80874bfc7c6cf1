//! One pass over a table file: projection, row-group pruning, time filter, and the fence around the decoder.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::statistics::Statistics;
use parquet::schema::types::SchemaDescriptor;
use tracesift_trace::info::TableFile;

use crate::decoded::{self, Keeping, OfGroup};
use crate::direct::Direct;
use crate::error::Error;
use crate::guard;
use crate::input::Input;
use crate::library::{Library, TimeFilter};
use crate::pages::Chunk;
use crate::view::{PrimitiveView, primitive};
use crate::watch::Pass;
use tracesift_trace::schema::{TableDefinition, Timing};

/// Rows per batch: columns of that many values stay in the second-level cache.
pub(crate) const BATCH_ROWS: usize = 16 * 1024;

/// Which rows of a table file a pass is about: all by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// Those of these row groups.
    pub(crate) groups: Option<Range<usize>>,
    /// Those that touch a time range.
    pub(crate) time: Option<Range<i64>>,
}

/// A choice among the rows, made before their other columns are decoded.
pub(crate) struct Choice {
    /// The columns that it looks at.
    pub(crate) columns: Vec<&'static str>,
    /// Whether it takes texts as numbers of a dictionary, where the file has them so.
    pub(crate) by_number: bool,
    /// Which rows of a batch of these columns it accepts; an error says which value cannot be.
    pub(crate) accepts: Box<Accepts>,
}

pub(crate) type Accepts = dyn FnMut(&RecordBatch) -> Result<BooleanBuffer, String> + Send;

/// A pass over a table file, from row group to row group.
pub(crate) struct Scan {
    path: PathBuf,
    reader: Reader,
    /// Row groups that are still to be read.
    groups: VecDeque<RowGroup>,
    /// What is left of the one that is being read.
    open: Option<Rows>,
    /// Rows of all row groups.
    rows: u64,
    /// Rows of the batch that was handed out last.
    in_hand: u64,
    pass: Pass,
    /// The pass that follows.
    then: Option<Box<Self>>,
}

struct RowGroup {
    index: usize,
    rows: u64,
    /// The columns that are read of it, by their number.
    chunks: Vec<(usize, Chunk)>,
    /// Where the numbers of its columns are kept.
    kept: Option<OfGroup>,
}

/// The rows of a row group.
enum Rows {
    Read(ParquetRecordBatchReader),
    Kept(decoded::Rows),
}

impl Rows {
    fn next(&mut self, of: &mut Reader) -> Result<Option<RecordBatch>, ParquetError> {
        match (self, of) {
            (Self::Kept(rows), Reader::Direct(direct)) => rows.next()?.map(|batch| direct.chosen(batch)).transpose(),
            (Self::Kept(rows), Reader::Library(_)) => rows.next(),
            (Self::Read(reader), _) => Ok(reader.next().transpose()?),
        }
    }
}

enum Reader {
    /// Decompresses itself: for all rows, and for chosen ones.
    Direct(Direct),
    /// Leaves everything to the library.
    Library(Box<Library>),
}

impl Reader {
    fn open(&mut self, group: RowGroup) -> Result<Option<Rows>, ParquetError> {
        match (self, group.kept) {
            (Self::Direct(direct), Some(kept)) => direct.open_kept(&group.chunks, kept).map(Rows::Kept).map(Some),
            (Self::Direct(direct), None) => Ok(direct.open(group.index, &group.chunks)?.map(Rows::Read)),
            (Self::Library(library), _) => library.open(group.index).map(Rows::Read).map(Some),
        }
    }
}

impl Scan {
    /// Prepares a pass over `input` with the columns of that name that the file has, and the rows of `part`; of these the chosen
    /// ones, where there is a choice.
    pub(crate) fn start(
        path: PathBuf,
        input: Input,
        file: &TableFile,
        table: &TableDefinition,
        columns: &[&str],
        part: Part,
        choice: Option<Choice>,
    ) -> Result<Self, Error> {
        let metadata = open(&path, &input, file)?;
        let schema = metadata.file_metadata().schema_descr();
        let indices = groups_of(&metadata, table, &part);
        let time = part.time.filter(|_| table.timing != Timing::Untimed);
        let times = if time.is_some() { table.timing.columns() } else { Vec::new() };
        if let Some(missing) = times.iter().find(|name| root(schema, name).is_none()) {
            return Err(Error::corrupt(&path, format!("it has no column {missing}")));
        }
        let projection = mask(schema, columns);
        let time = time.map(|time| TimeFilter { columns: mask(schema, &times), timing: table.timing, time });
        let choice = choice.map(|choice| (mask(schema, &choice.columns), choice));
        let mut needed = projection.clone();
        choice.iter().for_each(|(by, _)| needed.union(by));
        time.iter().for_each(|time| needed.union(&time.columns));
        let leaves_out = time.is_some() || choice.is_some();
        let by_number = choice.as_ref().is_some_and(|(_, choice)| choice.by_number);
        let keeping = Keeping::of((&input, &metadata), &needed, &indices, leaves_out).filter(|_| !by_number);
        let mut is_direct = time.is_none() || keeping.is_some();
        let mut groups = VecDeque::new();
        for index in indices {
            let group = metadata.row_group(index);
            let kept = keeping.as_ref().map(|keeping| keeping.of_group(index));
            let mut chunks = Vec::new();
            for (leaf, chunk) in group.columns().iter().enumerate() {
                let is_missing = kept.as_ref().is_none_or(|kept| kept.missing().contains(&leaf));
                if needed.leaf_included(leaf) && is_missing {
                    let pages = guard::check_chunk(&input, chunk).map_err(|reason| Error::corrupt(&path, reason))?;
                    let for_choice = choice.as_ref().is_some_and(|(by, _)| by.leaf_included(leaf));
                    let again = for_choice && projection.leaf_included(leaf) && kept.is_none();
                    match pages.and_then(|pages| Chunk::new(&input, chunk.compression(), pages, again)) {
                        Some(chunk) => chunks.push((leaf, chunk)),
                        None => is_direct = false,
                    }
                }
            }
            groups.push_back(RowGroup { index, rows: rows_of(group), chunks, kept });
        }
        let reader = if is_direct {
            Reader::Direct(Direct::new(metadata, projection, choice, time))
        } else {
            let library = fenced(&path, || Library::new(input, metadata, projection, time, choice))?;
            Reader::Library(Box::new(library))
        };
        let rows = groups.iter().map(|group| group.rows).sum();
        Ok(Self { path, reader, groups, open: None, rows, in_hand: 0, pass: Pass::default(), then: None })
    }

    /// This pass, and the other one behind it.
    pub(crate) fn and_then(self, next: Option<Self>) -> Self {
        let Some(next) = next else { return self };
        let then = match self.then {
            Some(then) => then.and_then(Some(next)),
            None => next,
        };
        Self { then: Some(Box::new(then)), ..self }
    }

    /// What a table file says about its row groups.
    pub(crate) fn metadata(path: &Path, input: &Input, file: &TableFile) -> Result<Arc<ParquetMetaData>, Error> {
        open(path, input, file)
    }

    /// Numbers of the row groups that a pass over a part of a table file reads, and their rows.
    pub(crate) fn extent(
        path: &Path,
        input: &Input,
        file: &TableFile,
        table: &TableDefinition,
        part: &Part,
    ) -> Result<(Vec<usize>, u64), Error> {
        let metadata = open(path, input, file)?;
        let groups = groups_of(&metadata, table, part);
        let rows = groups.iter().map(|index| rows_of(metadata.row_group(*index))).sum();
        Ok((groups, rows))
    }

    /// This pass as a part of another one, for whoever watches that.
    pub(crate) fn part_of(mut self, whole: &mut Pass) -> Self {
        self.pass = whole.share(self.rows);
        self.then = self.then.map(|then| Box::new(then.part_of(whole)));
        self
    }

    /// Rows of the row groups that it reads, also of the passes that follow it.
    pub(crate) fn rows(&self) -> u64 {
        self.rows + self.then.as_ref().map_or(0, |then| then.rows())
    }

    /// Checks that the file can be opened and has as many rows as `file` says.
    pub(crate) fn check(path: &Path, input: Input, file: &TableFile) -> Result<(), Error> {
        open(path, &input, file).map(drop)
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The next batch; `None` at the end. The one before it is done with.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            self.pass.done(std::mem::take(&mut self.in_hand));
            self.pass.check()?;
            if let Some(rows) = &mut self.open {
                let reader = &mut self.reader;
                if let Some(batch) = fenced(&self.path, || rows.next(reader))? {
                    self.in_hand = batch.num_rows() as u64;
                    return Ok(Some(batch));
                }
                self.open = None;
            }
            // Rows that were not chosen are done with as well.
            self.pass.done_but(self.groups.iter().map(|group| group.rows).sum());
            if let Some(group) = self.groups.pop_front() {
                let reader = &mut self.reader;
                self.open = fenced(&self.path, || reader.open(group))?;
            } else if let Some(then) = self.then.take() {
                *self = *then;
            } else {
                return Ok(None);
            }
        }
    }
}

fn open(path: &Path, input: &Input, file: &TableFile) -> Result<Arc<ParquetMetaData>, Error> {
    if let Some(known) = input.known().footer.get() {
        return Ok(known.clone());
    }
    let corrupt = |reason| Error::corrupt(path, reason);
    guard::check_footer(input).map_err(corrupt)?;
    let metadata = fenced(path, || ParquetMetaDataReader::new().parse_and_finish(input))?;
    let rows = guard::check_rows(input, &metadata).map_err(corrupt)?;
    if rows != file.rows {
        return Err(Error::corrupt(path, format!("it has {rows} rows, trace.json says {}", file.rows)));
    }
    let metadata = Arc::new(metadata);
    Ok(input.known().footer.get_or_init(|| metadata).clone())
}

/// Runs a step of the decoder. It answers most damage with an error, but some with a failed assertion or an index out of
/// bounds; those unwind to here. Nothing of the decoder is used after that, so no broken state is seen.
fn fenced<T, E: std::fmt::Display>(path: &Path, step: impl FnOnce() -> Result<T, E>) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Error::corrupt(path, error.to_string())),
        Err(_) => Err(Error::corrupt(path, "it cannot be decoded")),
    }
}

/// Numbers of the row groups that can have rows of a part.
fn groups_of(metadata: &ParquetMetaData, table: &TableDefinition, part: &Part) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..metadata.num_row_groups()).collect();
    groups.retain(|index| part.groups.as_ref().is_none_or(|groups| groups.contains(index)));
    if let Some(time) = &part.time {
        groups.retain(|index| may_touch(metadata.row_group(*index), table.timing, time));
    }
    groups
}

fn rows_of(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.num_rows()).unwrap_or(0)
}

/// Index of a column among the outermost fields.
fn root(schema: &SchemaDescriptor, name: &str) -> Option<usize> {
    schema.root_schema().get_fields().iter().position(|field| field.name() == name)
}

fn mask(schema: &SchemaDescriptor, names: &[&str]) -> ProjectionMask {
    ProjectionMask::roots(schema, names.iter().filter_map(|name| root(schema, name)))
}

/// The smallest and the largest value of a column in a row group, as far as its statistics say.
pub(crate) fn bounds_of(group: &RowGroupMetaData, name: &str) -> Option<(i64, i64)> {
    let chunk = group.columns().iter().find(|chunk| chunk.column_path().string() == name)?;
    match chunk.statistics()? {
        Statistics::Int64(bounds) => Some((*bounds.min_opt()?, *bounds.max_opt()?)),
        _ => None,
    }
}

/// Whether the row group can have a row that touches `time`, as far as its statistics say.
fn may_touch(group: &RowGroupMetaData, timing: Timing, time: &Range<i64>) -> bool {
    let bounds = |name: &str| bounds_of(group, name).unwrap_or((i64::MIN, i64::MAX));
    match timing {
        Timing::Untimed => true,
        _ if time.is_empty() => false,
        Timing::At(at) => {
            let (first, last) = bounds(at);
            first < time.end && last >= time.start
        }
        Timing::Span { start, end } => bounds(start).0 < time.end && bounds(end).1 > time.start,
    }
}

/// Which rows of a batch of time columns touch `time`.
pub(crate) fn touches(batch: &RecordBatch, timing: Timing, time: &Range<i64>) -> Result<BooleanArray, ArrowError> {
    let column = |name: &str| -> Result<PrimitiveView<Int64Type>, ArrowError> {
        primitive(batch, name).map_err(ArrowError::SchemaError)
    };
    let rows = batch.num_rows();
    let touching = match timing {
        Timing::Untimed => BooleanBuffer::new_set(rows),
        Timing::At(at) => {
            let at = column(at)?;
            BooleanBuffer::collect_bool(rows, |row| at.get(row).is_some_and(|at| time.contains(&at)))
        }
        Timing::Span { start, end } => {
            let (start, end) = (column(start)?, column(end)?);
            BooleanBuffer::collect_bool(rows, |row| {
                start.get(row).is_some_and(|start| start < time.end) && end.get(row).is_some_and(|end| end > time.start)
            })
        }
    };
    Ok(BooleanArray::new(touching, None))
}
