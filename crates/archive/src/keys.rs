//! The columns by which rows are chosen before anything else of them is decoded: ids, and texts that are stored once each.

use std::marker::PhantomData;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use arrow_array::{Array as _, RecordBatch, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use tracesift_trace::schema::HasColumn;

use crate::view::{PrimitiveView, primitive};

/// The columns of a view `K` of some rows.
#[derive(Debug)]
pub struct Keys<'a, K> {
    batch: &'a RecordBatch,
    view: PhantomData<fn() -> K>,
}

impl<'a, K> Keys<'a, K> {
    pub(crate) fn new(batch: &'a RecordBatch) -> Self {
        Self { batch, view: PhantomData }
    }

    /// How many rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// A column of ids, by the [key](tracesift_trace::schema::column_key) of its name.
    ///
    /// # Errors
    /// When the file does not have it, or has something else under its name.
    pub fn ids<const COLUMN: u64>(&self) -> Result<Ids, String>
    where
        K: HasColumn<COLUMN>,
    {
        let column = <K as HasColumn<COLUMN>>::NAME;
        let ids = primitive::<Int32Type>(self.batch, column)?;
        if ids.is_missing() { Err(format!("it has no column {column}")) } else { Ok(Ids(ids)) }
    }

    /// A column of whole numbers or ids, by the [key](tracesift_trace::schema::column_key) of its name.
    ///
    /// # Errors
    /// When the file does not have it, or has something else under its name.
    pub fn numbers<const COLUMN: u64>(&self) -> Result<Numbers, String>
    where
        K: HasColumn<COLUMN>,
    {
        let column = <K as HasColumn<COLUMN>>::NAME;
        let array = self.batch.column_by_name(column).ok_or_else(|| format!("it has no column {column}"))?;
        match array.data_type() {
            DataType::Int16 => primitive::<Int16Type>(self.batch, column).map(Numbers::Int16),
            DataType::Int32 => primitive::<Int32Type>(self.batch, column).map(Numbers::Int32),
            _ => primitive::<Int64Type>(self.batch, column).map(Numbers::Int64),
        }
    }

    /// A column of texts, by the [key](tracesift_trace::schema::column_key) of its name.
    ///
    /// # Errors
    /// When the file does not have it, or has something else under its name.
    pub fn texts<const COLUMN: u64>(&self) -> Result<Texts<'a>, String>
    where
        K: HasColumn<COLUMN>,
    {
        let column = <K as HasColumn<COLUMN>>::NAME;
        let array = self.batch.column_by_name(column).ok_or_else(|| format!("it has no column {column}"))?;
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

/// A column of whole numbers or ids.
#[derive(Debug)]
pub enum Numbers {
    /// Of 16 bits.
    Int16(PrimitiveView<Int16Type>),
    /// Of 32 bits.
    Int32(PrimitiveView<Int32Type>),
    /// Of 64 bits.
    Int64(PrimitiveView<Int64Type>),
}

impl Numbers {
    /// The number of a row; `None` for null and beyond the rows.
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize) -> Option<i64> {
        match self {
            Self::Int16(numbers) => numbers.get(row).map(i64::from),
            Self::Int32(numbers) => numbers.get(row).map(i64::from),
            Self::Int64(numbers) => numbers.get(row),
        }
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
