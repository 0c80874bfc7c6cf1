//! Row groups whose pages are decompressed by [`pages`](crate::pages): all rows, or those that are chosen by some columns before the
//! others are decoded.

use std::sync::Arc;

use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field, Fields};
use arrow_select::filter::filter_record_batch;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups as _, RowSelection};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;

use crate::decoded::{OfGroup, Rows};
use crate::library::TimeFilter;
use crate::pages::{Chunk, Group};
use crate::scan::{BATCH_ROWS, Choice, touches};

/// Rows of a batch of columns by which others are chosen: few columns, and what is found out of a dictionary holds for a batch.
const KEY_ROWS: usize = 64 * 1024;

/// How row groups are read.
pub(crate) struct Direct {
    metadata: Arc<ParquetMetaData>,
    columns: ProjectionMask,
    /// The columns by which rows are chosen, and who chooses.
    choice: Option<(ProjectionMask, Choice)>,
    /// The rows that count: those of groups whose columns are kept are read as a whole.
    time: Option<TimeFilter>,
}

impl Direct {
    /// Shows `columns`, of rows that are chosen by others; where columns are kept, also of rows that pass `time`.
    pub(crate) fn new(
        metadata: Arc<ParquetMetaData>,
        columns: ProjectionMask,
        choice: Option<(ProjectionMask, Choice)>,
        time: Option<TimeFilter>,
    ) -> Self {
        Self { metadata, columns, choice, time }
    }

    /// The rows of a group, with the chunks that are needed of it by the number of their column. `None` where none is chosen.
    pub(crate) fn open(&mut self, index: usize, chunks: &[(usize, Chunk)]) -> Result<Option<ParquetRecordBatchReader>> {
        let metadata = self.metadata.clone();
        let group = Group { metadata: &metadata, index, chunks };
        match self.selection(&group)? {
            Some(selection) if !selection.selects_any() => Ok(None),
            selection => self.read(&group, &self.columns, selection, None).map(Some),
        }
    }

    /// The rows of a group whose columns are kept, with the chunks of those that are missing.
    pub(crate) fn open_kept(&self, chunks: &[(usize, Chunk)], kept: OfGroup) -> Result<Rows> {
        let schema = self.metadata.file_metadata().schema_descr();
        let group = Group { metadata: &self.metadata, index: kept.group(), chunks };
        let columns = ProjectionMask::leaves(schema, kept.missing().iter().copied());
        let is_known = kept.missing().is_empty();
        let reader = if is_known { None } else { Some(self.read(&group, &columns, None, None)?) };
        Ok(kept.rows(schema, reader))
    }

    /// Those of some rows that pass the time and are chosen, without columns that only told so; all of them without either.
    pub(crate) fn chosen(&mut self, rows: RecordBatch) -> Result<RecordBatch> {
        if self.time.is_none() && self.choice.is_none() {
            return Ok(rows);
        }
        let mut rows = match &self.time {
            Some(TimeFilter { timing, time, .. }) => filter_record_batch(&rows, &touches(&rows, *timing, time)?)?,
            None => rows,
        };
        if let Some((_, choice)) = &mut self.choice {
            let accepted = (choice.accepts)(&rows).map_err(ParquetError::General)?;
            rows = filter_record_batch(&rows, &BooleanArray::new(accepted, None))?;
        }
        let schema = self.metadata.file_metadata().schema_descr();
        let is_shown = |name: &str| {
            let leaf = schema.columns().iter().position(|column| column.name() == name);
            leaf.is_some_and(|leaf| self.columns.leaf_included(leaf))
        };
        let fields = rows.schema_ref().fields().iter().enumerate();
        let shown: Vec<usize> = fields.filter(|(_, field)| is_shown(field.name())).map(|(place, _)| place).collect();
        Ok(rows.project(&shown)?)
    }

    /// The rows of a group that are chosen; `None` without a choice.
    fn selection(&mut self, group: &Group<'_>) -> Result<Option<RowSelection>> {
        let Some((by, mut choice)) = self.choice.take() else { return Ok(None) };
        let mut accepted = Vec::new();
        for batch in self.read(group, &by, None, Some(&choice))? {
            let rows = (choice.accepts)(&batch?).map_err(ParquetError::General)?;
            accepted.push(BooleanArray::new(rows, None));
        }
        self.choice = Some((by, choice));
        let rows: usize = accepted.iter().map(Array::len).sum();
        if rows != group.num_rows() {
            return Err(ParquetError::General(format!("{rows} rows of {} could be chosen from", group.num_rows())));
        }
        Ok(Some(RowSelection::from_filters(&accepted)))
    }

    fn read(
        &self,
        group: &Group<'_>,
        columns: &ProjectionMask,
        selection: Option<RowSelection>,
        choice: Option<&Choice>,
    ) -> Result<ParquetRecordBatchReader> {
        let schema = self.metadata.file_metadata().schema_descr();
        let hint = choice.filter(|choice| choice.by_number).and_then(|_| self.numbers(group));
        let rows = if hint.is_some() { KEY_ROWS } else { BATCH_ROWS };
        let levels = parquet_to_arrow_field_levels(schema, columns.clone(), hint.as_ref())?;
        ParquetRecordBatchReader::try_new_with_row_groups(&levels, group, rows, selection)
    }

    /// Asks for the numbers of a dictionary in place of texts, wherever a chunk has nothing else. `None` where the table has lists, of
    /// which a hint would have to tell the inside.
    fn numbers(&self, group: &Group<'_>) -> Option<Fields> {
        let schema = self.metadata.file_metadata().schema_descr();
        let numbers = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let roots = schema.root_schema().get_fields().iter().enumerate();
        let hint = |(root, field): (usize, &Arc<parquet::schema::types::Type>)| {
            let leaf = (0..schema.num_columns()).find(|leaf| schema.get_column_root_idx(*leaf) == root);
            let chunk = group.chunks.iter().find(|(found, _)| Some(*found) == leaf);
            let is_text = field.get_basic_info().converted_type() == parquet::basic::ConvertedType::UTF8;
            // A type that fits nothing is no hint.
            let data = if is_text && chunk.is_some_and(|(_, chunk)| chunk.is_dictionary()) {
                numbers.clone()
            } else {
                DataType::Null
            };
            Field::new(field.name(), data, field.is_optional())
        };
        let is_flat = schema.root_schema().get_fields().iter().all(|field| field.is_primitive());
        is_flat.then(|| roots.map(hint).collect())
    }
}
