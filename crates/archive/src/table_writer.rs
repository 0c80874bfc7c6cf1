//! A table file in the making: its row groups, whose columns are encoded side by side where there are threads for that.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::writer::SerializedFileWriter;
use tracesift_trace::info::TableFile;

use crate::arrow::arrow_schema;
use crate::checked_file::{CheckedFile, checksum_text};
use crate::error::Error;
use crate::format::table_file;
use crate::parquet_layout::{ROW_GROUP_BYTES, group_rows, properties};
use tracesift_trace::schema::TableDefinition;

/// Bytes that a column in the making takes beside its data: the state of its compressor.
const COLUMN_BYTES: usize = 512 << 10;

/// Rows from which on several threads gain more than they cost to start.
const WORTH_THREADS: usize = 1024;

/// The file of one table, open.
pub(crate) struct TableWriter {
    path: PathBuf,
    file: SerializedFileWriter<CheckedFile>,
    groups: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The row group in the making.
    group: Option<RowGroup>,
    rows: u64,
    effort: Effort,
}

/// How a table is encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Threads that encode the columns, at most.
    pub(crate) threads: usize,
    /// Rows of a row group, at most.
    pub(crate) group_rows: usize,
}

struct RowGroup {
    columns: Vec<ArrowColumnWriter>,
    rows: usize,
    most_rows: usize,
}

impl TableWriter {
    /// Creates the file.
    pub(crate) fn create(
        directory: &Path,
        table: &TableDefinition,
        effort: Effort,
    ) -> std::result::Result<Self, Error> {
        let path = directory.join(table_file(table.name));
        let effort = Effort { group_rows: group_rows(table, effort.group_rows), ..effort };
        let file = CheckedFile::create(&path)?;
        // Without the copy of the Arrow schema every reader sees plain Parquet types, and small files stay small.
        let options = ArrowWriterOptions::new()
            .with_properties(properties(table, effort.group_rows))
            .with_skip_arrow_metadata(true);
        let schema = arrow_schema(table);
        let parts = ArrowWriter::try_new_with_options(file, Arc::clone(&schema), options)
            .and_then(ArrowWriter::into_serialized_writer);
        match parts {
            Ok((file, groups)) => Ok(Self { path, file, groups, schema, group: None, rows: 0, effort }),
            Err(error) => Err(Error::encode(&path, error)),
        }
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the row group in the making.
    pub(crate) fn memory(&self) -> usize {
        self.group.as_ref().map_or(0, |group| {
            let data: usize = group.columns.iter().map(ArrowColumnWriter::memory_size).sum();
            // The column `trace` has next to nothing.
            data + group.columns.len().saturating_sub(1) * COLUMN_BYTES
        })
    }

    /// Appends rows.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut at = 0;
        while at < batch.num_rows() {
            let group = match &mut self.group {
                Some(group) => group,
                none => {
                    let columns = self.groups.create_column_writers(self.file.flushed_row_groups().len())?;
                    none.insert(RowGroup { columns, rows: 0, most_rows: self.effort.group_rows })
                }
            };
            let rows = (batch.num_rows() - at).min(group.room());
            if rows > 0 {
                group.write(&self.schema, &batch.slice(at, rows), self.effort.threads)?;
                at += rows;
            }
            if rows == 0 || group.rows >= group.most_rows || group.bytes() >= ROW_GROUP_BYTES {
                self.end_row_group()?;
            }
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Writes the row group in the making.
    pub(crate) fn end_row_group(&mut self) -> Result<()> {
        let Some(group) = self.group.take() else { return Ok(()) };
        let mut into = self.file.next_row_group()?;
        for chunk in group.close(self.effort.threads)? {
            chunk.append_to_row_group(&mut into)?;
        }
        into.close().map(drop)
    }

    /// Closes the file, with `metadata` in it.
    pub(crate) fn close(mut self, name: &str, metadata: &[(String, String)]) -> std::result::Result<TableFile, Error> {
        let encoded = self.end_row_group().and_then(|()| {
            for (key, value) in metadata {
                self.file.append_key_value_metadata(KeyValue::new(key.clone(), value.clone()));
            }
            self.file.into_inner()
        });
        let file = encoded.map_err(|error| Error::encode(&self.path, error))?;
        let (bytes, crc) = file.finish(&self.path)?;
        Ok(TableFile { name: name.to_owned(), rows: self.rows, bytes, crc32: checksum_text(crc) })
    }
}

impl RowGroup {
    fn write(&mut self, schema: &SchemaRef, batch: &RecordBatch, threads: usize) -> Result<()> {
        let columns = schema.fields().iter().zip(batch.columns()).zip(&mut self.columns);
        let encode = |((field, values), column): ((&Arc<Field>, &ArrayRef), &mut ArrowColumnWriter)| {
            // A column of ours, a list as well, is one column of the file.
            compute_leaves(field, values)?.iter().try_for_each(|leaf| column.write(leaf))
        };
        side_by_side(columns.collect(), threads_for(batch.num_rows(), threads), encode)?;
        self.rows += batch.num_rows();
        Ok(())
    }

    /// Rows that it takes, if they are as long as those it has.
    fn room(&self) -> usize {
        let left = self.most_rows - self.rows;
        let Some(row) = self.bytes().checked_div(self.rows).filter(|row| *row > 0) else { return left };
        (ROW_GROUP_BYTES.saturating_sub(self.bytes()) / row).min(left)
    }

    /// Bytes of its file, roughly.
    fn bytes(&self) -> usize {
        self.columns.iter().map(ArrowColumnWriter::get_estimated_total_bytes).sum()
    }

    fn close(self, threads: usize) -> Result<Vec<ArrowColumnChunk>> {
        side_by_side(self.columns, threads_for(self.rows, threads), ArrowColumnWriter::close)
    }
}

fn threads_for(rows: usize, threads: usize) -> usize {
    if rows < WORTH_THREADS { 1 } else { threads }
}

/// Does the same with each of several columns, in at most so many threads: whoever is done takes the next one. The results are in the
/// order of the columns.
fn side_by_side<C: Send, R: Send>(
    columns: Vec<C>,
    threads: usize,
    encode: impl Fn(C) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if threads <= 1 {
        return columns.into_iter().map(encode).collect();
    }
    let waiting = Mutex::new(columns.into_iter().enumerate());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take_all = || -> Result<Vec<(usize, R)>> {
        let mut done = Vec::new();
        while let Some((place, column)) = next() {
            done.push((place, encode(column)?));
        }
        Ok(done)
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(take_all)).collect();
        let mut done = take_all()?;
        for other in others {
            done.append(&mut other.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok::<_, ParquetError>(done)
    })?;
    done.sort_unstable_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
