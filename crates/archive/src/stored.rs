//! Rows that are made when they are asked for.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use tracesift_trace::schema::{ColumnSet, View};

use crate::error::Error;
use crate::table::{Readable, RowReader};

/// The rows of a table as they are stored. Where few of many rows are shown, the texts of the others are never copied.
/// Rows are chosen by `K`, a view of the same table.
pub struct StoredRows<K: Readable, V: Readable> {
    path: PathBuf,
    parts: Vec<Part<K, V>>,
}

struct Part<K: Readable, V: Readable> {
    rows: usize,
    keys: RowReader<K>,
    reader: RowReader<V>,
}

impl<K: Readable, V: Readable + View<Row = K::Row>> StoredRows<K, V> {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, parts: Vec::new() }
    }

    pub(crate) fn add(&mut self, batch: &RecordBatch, needed: ColumnSet<V>) -> Result<(), Error> {
        let corrupt = |reason| Error::corrupt(&self.path, reason);
        let keys = RowReader::new(batch).map_err(corrupt)?;
        let reader = RowReader::of_needed(batch, needed).map_err(corrupt)?;
        self.parts.push(Part { rows: batch.num_rows(), keys, reader });
        Ok(())
    }

    /// What rows are chosen by, of every row.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a value that cannot be.
    pub fn keys(&self) -> Result<Vec<K>, Error> {
        let mut keys = Vec::new();
        for part in &self.parts {
            for index in 0..part.rows {
                keys.push(part.keys.row(index).map_err(|reason| Error::corrupt(&self.path, reason))?);
            }
        }
        Ok(keys)
    }

    /// The rows at these places, counted as those of [`Self::keys`], in ascending order. Places beyond the end are passed over.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a value that cannot be.
    pub fn rows(&self, places: impl IntoIterator<Item = usize>) -> Result<Vec<V>, Error> {
        let (mut parts, mut before) = (self.parts.iter(), 0);
        let (mut rows, mut part) = (Vec::new(), parts.next());
        for place in places {
            while let Some(found) = part
                && place - before >= found.rows
            {
                before += found.rows;
                part = parts.next();
            }
            let Some(found) = part else { break };
            rows.push(found.reader.row(place - before).map_err(|reason| Error::corrupt(&self.path, reason))?);
        }
        Ok(rows)
    }
}
