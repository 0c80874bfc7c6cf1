//! One pass over a table file: projection, row-group pruning, time filter, and the fence around the decoder.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow_array::types::Int64Type;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowPredicate, ArrowPredicateFn, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowFilter,
};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;
use parquet::schema::types::SchemaDescriptor;
use tracesift_trace::info::TableFile;

use crate::column::{TableDefinition, Timing};
use crate::error::Error;
use crate::guard;
use crate::input::Input;
use crate::view::{PrimitiveView, primitive};

/// Rows per batch: columns of that many values stay in the second-level cache.
const BATCH_ROWS: usize = 16 * 1024;

/// Which rows of a table file a pass is about: all by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// Those of one row group.
    pub(crate) group: Option<usize>,
    /// Those that touch a time range.
    pub(crate) time: Option<Range<i64>>,
}

/// A choice among the rows, made before their other columns are decoded.
pub(crate) struct Choice {
    /// The columns that it looks at.
    pub(crate) columns: Vec<&'static str>,
    /// Which rows of a batch of these columns it accepts; an error says which value cannot be.
    pub(crate) accepts: Box<Accepts>,
}

pub(crate) type Accepts = dyn FnMut(&RecordBatch) -> Result<BooleanBuffer, String> + Send;

/// A pass over a table file.
pub(crate) struct Scan {
    path: PathBuf,
    reader: ParquetRecordBatchReader,
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
        let mut builder = open(&path, &input, file)?;
        let schema = builder.parquet_schema();
        let times = if part.time.is_some() { table.timing.columns() } else { Vec::new() };
        if let Some(missing) = times.iter().find(|name| root(schema, name).is_none()) {
            return Err(Error::corrupt(&path, format!("it has no column {missing}")));
        }
        let projection = mask(schema, columns);
        let time_projection = mask(schema, &times);
        let choice = choice.map(|choice| (mask(schema, &choice.columns), choice.accepts));
        let mut filters: Vec<Box<dyn ArrowPredicate>> = Vec::new();
        let mut groups: Vec<usize> = (0..builder.metadata().num_row_groups()).collect();
        groups.retain(|index| part.group.is_none_or(|group| group == *index));
        if let Some(time) = part.time {
            let metadata = builder.metadata();
            groups.retain(|index| may_touch(metadata.row_group(*index), table.timing, &time));
            if table.timing != Timing::Untimed {
                let timing = table.timing;
                let filter =
                    ArrowPredicateFn::new(time_projection.clone(), move |batch| touches(&batch, timing, &time));
                filters.push(Box::new(filter));
            }
        }
        for group in &groups {
            let group = builder.metadata().row_group(*group);
            for (leaf, chunk) in group.columns().iter().enumerate() {
                let for_choice = choice.as_ref().is_some_and(|(columns, _)| columns.leaf_included(leaf));
                let for_time = !times.is_empty() && time_projection.leaf_included(leaf);
                if projection.leaf_included(leaf) || for_time || for_choice {
                    guard::check_chunk(&input, chunk).map_err(|reason| Error::corrupt(&path, reason))?;
                }
            }
        }
        if let Some((columns, mut accepts)) = choice {
            filters.push(Box::new(ArrowPredicateFn::new(columns, move |batch| {
                accepts(&batch).map(|rows| BooleanArray::new(rows, None)).map_err(ArrowError::SchemaError)
            })));
        }
        if !filters.is_empty() {
            builder = builder.with_row_filter(RowFilter::new(filters));
        }
        let builder = builder.with_projection(projection).with_row_groups(groups).with_batch_size(BATCH_ROWS);
        let reader = fenced(&path, || builder.build())?;
        Ok(Self { path, reader })
    }

    /// Number of row groups of a table file.
    pub(crate) fn row_groups(path: &Path, input: &Input, file: &TableFile) -> Result<usize, Error> {
        open(path, input, file).map(|builder| builder.metadata().num_row_groups())
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
        let reader = &mut self.reader;
        fenced(&self.path, || reader.next().transpose())
    }
}

fn open(path: &Path, input: &Input, file: &TableFile) -> Result<ParquetRecordBatchReaderBuilder<Input>, Error> {
    let corrupt = |reason| Error::corrupt(path, reason);
    guard::check_footer(input).map_err(corrupt)?;
    // A copy of the Arrow schema in a file that others wrote could ask for any type; the Parquet types decide.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = fenced(path, || ParquetRecordBatchReaderBuilder::try_new_with_options(input.clone(), options))?;
    let rows = guard::check_rows(input, builder.metadata()).map_err(corrupt)?;
    if rows != file.rows {
        return Err(Error::corrupt(path, format!("it has {rows} rows, trace.json says {}", file.rows)));
    }
    Ok(builder)
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

/// Whether the row group can have a row that touches `time`, as far as its statistics say.
fn may_touch(group: &RowGroupMetaData, timing: Timing, time: &Range<i64>) -> bool {
    let bounds = |name: &str| {
        let chunk = group.columns().iter().find(|chunk| chunk.column_path().string() == name);
        match chunk.and_then(|chunk| chunk.statistics()) {
            Some(Statistics::Int64(bounds)) => {
                (bounds.min_opt().copied().unwrap_or(i64::MIN), bounds.max_opt().copied().unwrap_or(i64::MAX))
            }
            _ => (i64::MIN, i64::MAX),
        }
    };
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
