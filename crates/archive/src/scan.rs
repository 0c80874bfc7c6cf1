//! One pass over a table file: projection, row-group pruning, time filter, and the fence around the decoder.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowPredicate, ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowFilter,
};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::statistics::Statistics;
use parquet::schema::types::SchemaDescriptor;
use tracesift_trace::info::TableFile;

use crate::direct::Direct;
use crate::error::Error;
use crate::guard;
use crate::input::Input;
use crate::pages::Chunk;
use crate::view::{PrimitiveView, primitive};
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

/// A pass over a table file.
pub(crate) struct Scan {
    path: PathBuf,
    reader: Reader,
    /// Rows of the row groups that it reads.
    rows: u64,
    /// The pass that follows.
    then: Option<Box<Self>>,
}

enum Reader {
    /// Decompresses itself: for all rows, and for chosen ones.
    Direct(Box<Direct>),
    /// Leaves everything to the library, which knows more kinds of pages and filters by time.
    Library(ParquetRecordBatchReader),
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
        let times = if part.time.is_some() { table.timing.columns() } else { Vec::new() };
        if let Some(missing) = times.iter().find(|name| root(schema, name).is_none()) {
            return Err(Error::corrupt(&path, format!("it has no column {missing}")));
        }
        let projection = mask(schema, columns);
        let time_projection = mask(schema, &times);
        let by = choice.as_ref().map(|choice| mask(schema, &choice.columns));
        let mut groups: Vec<usize> = (0..metadata.num_row_groups()).collect();
        groups.retain(|index| part.groups.as_ref().is_none_or(|groups| groups.contains(index)));
        if let Some(time) = &part.time {
            groups.retain(|index| may_touch(metadata.row_group(*index), table.timing, time));
        }
        let rows = groups.iter().map(|index| u64::try_from(metadata.row_group(*index).num_rows()).unwrap_or(0)).sum();
        let mut direct = Direct::new(metadata.clone(), projection.clone(), by.clone());
        for index in &groups {
            let group = metadata.row_group(*index);
            let mut checked = Vec::new();
            for (leaf, chunk) in group.columns().iter().enumerate() {
                let for_choice = by.as_ref().is_some_and(|columns| columns.leaf_included(leaf));
                let for_time = !times.is_empty() && time_projection.leaf_included(leaf);
                if projection.leaf_included(leaf) || for_time || for_choice {
                    let pages = guard::check_chunk(&input, chunk).map_err(|reason| Error::corrupt(&path, reason))?;
                    let again = for_choice && projection.leaf_included(leaf);
                    checked.push(
                        pages
                            .and_then(|pages| Chunk::new(&input, chunk.compression(), pages, again))
                            .map(|chunk| (leaf, chunk)),
                    );
                }
            }
            direct.add(*index, checked);
        }
        if part.time.is_none() && direct.can_read_all() {
            direct.choose(choice);
            return Ok(Self { path, reader: Reader::Direct(Box::new(direct)), rows, then: None });
        }

        let mut filters: Vec<Box<dyn ArrowPredicate>> = Vec::new();
        if let Some(time) = part.time
            && table.timing != Timing::Untimed
        {
            let timing = table.timing;
            filters.push(Box::new(ArrowPredicateFn::new(time_projection, move |batch| touches(&batch, timing, &time))));
        }
        if let (Some(mut choice), Some(by)) = (choice, by) {
            filters.push(Box::new(ArrowPredicateFn::new(by, move |batch| {
                (choice.accepts)(&batch).map(|rows| BooleanArray::new(rows, None)).map_err(ArrowError::SchemaError)
            })));
        }
        let reader = fenced(&path, || {
            // A copy of the Arrow schema in a file that others wrote could ask for any type; the Parquet types decide.
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            let metadata = ArrowReaderMetadata::try_new(metadata, options)?;
            let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(input, metadata);
            if !filters.is_empty() {
                builder = builder.with_row_filter(RowFilter::new(filters));
            }
            builder.with_projection(projection).with_row_groups(groups).with_batch_size(BATCH_ROWS).build()
        })?;
        Ok(Self { path, reader: Reader::Library(reader), rows, then: None })
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

    /// Number of row groups of a table file.
    pub(crate) fn row_groups(path: &Path, input: &Input, file: &TableFile) -> Result<usize, Error> {
        open(path, input, file).map(|metadata| metadata.num_row_groups())
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

    /// The next batch; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            let batch = match &mut self.reader {
                Reader::Direct(reader) => fenced(&self.path, || reader.next()),
                Reader::Library(reader) => fenced(&self.path, || reader.next().transpose()),
            }?;
            match (batch, self.then.take()) {
                (None, Some(then)) => *self = *then,
                (batch, then) => {
                    self.then = then;
                    return Ok(batch);
                }
            }
        }
    }
}

fn open(path: &Path, input: &Input, file: &TableFile) -> Result<Arc<ParquetMetaData>, Error> {
    let corrupt = |reason| Error::corrupt(path, reason);
    guard::check_footer(input).map_err(corrupt)?;
    let metadata = fenced(path, || ParquetMetaDataReader::new().parse_and_finish(input))?;
    let rows = guard::check_rows(input, &metadata).map_err(corrupt)?;
    if rows != file.rows {
        return Err(Error::corrupt(path, format!("it has {rows} rows, trace.json says {}", file.rows)));
    }
    Ok(Arc::new(metadata))
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
fn touches(batch: &RecordBatch, timing: Timing, time: &Range<i64>) -> Result<BooleanArray, ArrowError> {
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
