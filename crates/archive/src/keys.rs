//! The columns by which rows are chosen before anything else of them is decoded: ids, and texts that are stored once each.

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{Array as _, RecordBatch, StringArray};
use arrow_buffer::NullBuffer;

use crate::view::{PrimitiveView, primitive};

/// The key columns of some rows.
#[derive(Debug)]
pub struct Keys<'a>(&'a RecordBatch);

impl<'a> Keys<'a> {
    pub(crate) fn new(batch: &'a RecordBatch) -> Self {
        Self(batch)
    }

    /// How many rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.0.num_rows()
    }

    /// A column of ids.
    ///
    /// # Errors
    /// When the file does not have it, or has something else under its name.
    pub fn ids(&self, column: &str) -> Result<Ids, String> {
        let ids = primitive::<Int32Type>(self.0, column)?;
        if ids.is_missing() { Err(format!("it has no column {column}")) } else { Ok(Ids(ids)) }
    }

    /// A column of texts.
    ///
    /// # Errors
    /// When the file does not have it, or has something else under its name.
    pub fn texts(&self, column: &str) -> Result<Texts<'a>, String> {
        let array = self.0.column_by_name(column).ok_or_else(|| format!("it has no column {column}"))?;
        let mismatch = || format!("column {column} has the unexpected type {}", array.data_type());
        if let Some(values) = array.as_string_opt::<i32>() {
            return Ok(Texts { numbers: None, nulls: values.nulls(), rows: values.len(), values });
        }
        let dictionary = array.as_dictionary_opt::<Int32Type>().ok_or_else(mismatch)?;
        let values = dictionary.values().as_string_opt::<i32>().ok_or_else(mismatch)?;
        let keys = dictionary.keys();
        Ok(Texts { numbers: Some(keys.values()), nulls: keys.nulls(), rows: keys.len(), values })
    }
}

/// A column of ids.
#[derive(Debug)]
pub struct Ids(PrimitiveView<Int32Type>);

impl Ids {
    /// The id of a row; `None` beyond the rows.
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize) -> Option<i32> {
        self.0.get(row)
    }
}

/// A column of texts: distinct ones under numbers where the file stores them so, else each row's under its own number. What is found out
/// of a text can be kept under its number for the other rows of the batch.
#[derive(Debug)]
pub struct Texts<'a> {
    numbers: Option<&'a [i32]>,
    nulls: Option<&'a NullBuffer>,
    rows: usize,
    values: &'a StringArray,
}

impl<'a> Texts<'a> {
    /// Numbers are below this.
    #[must_use]
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The number of a row's text; `None` for null, beyond the rows, and for a number that no text has.
    #[must_use]
    #[inline]
    pub fn number(&self, row: usize) -> Option<usize> {
        if row >= self.rows || self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let number = match self.numbers {
            Some(numbers) => usize::try_from(*numbers.get(row)?).ok()?,
            None => row,
        };
        (number < self.values.len()).then_some(number)
    }

    /// The text under a number.
    #[must_use]
    pub fn text(&self, number: usize) -> Option<&'a str> {
        (number < self.values.len()).then(|| self.values.value(number))
    }
}
