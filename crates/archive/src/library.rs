//! Row groups that the Parquet library reads by itself: it knows more kinds of pages than [`direct`](crate::direct), and leaves out rows
//! outside of a time range.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::BooleanArray;
use arrow_schema::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowPredicate, ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowFilter,
};
use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;
use tracesift_trace::schema::Timing;

use crate::input::Input;
use crate::scan::{BATCH_ROWS, Choice, touches};

/// How row groups of a table file are read.
pub(crate) struct Library {
    input: Input,
    metadata: ArrowReaderMetadata,
    columns: ProjectionMask,
    time: Option<TimeFilter>,
    choice: Option<(ProjectionMask, Arc<Mutex<Choice>>)>,
}

/// The rows that touch a time range.
#[derive(Clone)]
pub(crate) struct TimeFilter {
    /// The columns that tell.
    pub(crate) columns: ProjectionMask,
    pub(crate) timing: Timing,
    pub(crate) time: Range<i64>,
}

impl Library {
    /// Shows `columns`, of rows that pass `time` and are chosen by others.
    pub(crate) fn new(
        input: Input,
        metadata: Arc<ParquetMetaData>,
        columns: ProjectionMask,
        time: Option<TimeFilter>,
        choice: Option<(ProjectionMask, Choice)>,
    ) -> Result<Self> {
        // A copy of the Arrow schema in a file that others wrote could ask for any type; the Parquet types decide.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = ArrowReaderMetadata::try_new(metadata, options)?;
        let choice = choice.map(|(by, choice)| (by, Arc::new(Mutex::new(choice))));
        Ok(Self { input, metadata, columns, time, choice })
    }

    /// The rows of a group.
    pub(crate) fn open(&self, group: usize) -> Result<ParquetRecordBatchReader> {
        let mut filters: Vec<Box<dyn ArrowPredicate>> = Vec::new();
        if let Some(TimeFilter { columns, timing, time }) = self.time.clone() {
            filters.push(Box::new(ArrowPredicateFn::new(columns, move |batch| touches(&batch, timing, &time))));
        }
        if let Some((by, choice)) = &self.choice {
            let choice = Arc::clone(choice);
            filters.push(Box::new(ArrowPredicateFn::new(by.clone(), move |batch| {
                let mut choice = choice.lock().unwrap_or_else(PoisonError::into_inner);
                let accepted = (choice.accepts)(&batch).map_err(ArrowError::SchemaError)?;
                Ok(BooleanArray::new(accepted, None))
            })));
        }
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.input.clone(), self.metadata.clone());
        if !filters.is_empty() {
            builder = builder.with_row_filter(RowFilter::new(filters));
        }
        builder.with_projection(self.columns.clone()).with_row_groups(vec![group]).with_batch_size(BATCH_ROWS).build()
    }
}
