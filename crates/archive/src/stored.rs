//! Rows that are made when they are asked for.

use std::path::PathBuf;

use arrow_array::RecordBatch;

use crate::error::Error;
use crate::projection::Projection;
use crate::table::{RowReader, Table};

/// The rows of a table as they are stored. Where few of many rows are shown, the texts of the others are never copied.
pub struct StoredRows<T: Table> {
    path: PathBuf,
    parts: Vec<Part<T>>,
}

struct Part<T: Table> {
    batch: RecordBatch,
    reader: RowReader<T>,
}

impl<T: Table> StoredRows<T> {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, parts: Vec::new() }
    }

    pub(crate) fn add(&mut self, batch: RecordBatch, columns: Projection<T>) -> Result<(), Error> {
        let reader = RowReader::<T>::new(&batch, columns).map_err(|reason| Error::corrupt(&self.path, reason))?;
        self.parts.push(Part { batch, reader });
        Ok(())
    }

    /// Every row with these columns only, of those that were read: what rows are chosen by.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a value that cannot be.
    pub fn keys(&self, columns: Projection<T>) -> Result<Vec<T>, Error> {
        let corrupt = |reason| Error::corrupt(&self.path, reason);
        let mut keys = Vec::new();
        for Part { batch, .. } in &self.parts {
            let reader = RowReader::<T>::new(batch, columns).map_err(corrupt)?;
            for index in 0..batch.num_rows() {
                keys.push(reader.row(index).map_err(corrupt)?);
            }
        }
        Ok(keys)
    }

    /// The rows at these places, counted as those of [`Self::keys`], in ascending order. Places beyond the end are passed over.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a value that cannot be.
    pub fn rows(&self, places: impl IntoIterator<Item = usize>) -> Result<Vec<T>, Error> {
        let (mut parts, mut before) = (self.parts.iter(), 0);
        let (mut rows, mut part) = (Vec::new(), parts.next());
        for place in places {
            while let Some(found) = part
                && place - before >= found.batch.num_rows()
            {
                before += found.batch.num_rows();
                part = parts.next();
            }
            let Some(found) = part else { break };
            rows.push(found.reader.row(place - before).map_err(|reason| Error::corrupt(&self.path, reason))?);
        }
        Ok(rows)
    }
}
