//! Typed views of the columns of a record batch. A column that an older archive does not have reads as null everywhere.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrowPrimitiveType, BooleanArray, ListArray, PrimitiveArray, RecordBatch, StringArray};

/// A column of numbers, times or ids.
#[derive(Clone, Debug)]
pub struct PrimitiveView<T: ArrowPrimitiveType>(Option<PrimitiveArray<T>>);

impl<T: ArrowPrimitiveType> PrimitiveView<T> {
    /// The value of a row; `None` for null, for a missing column and beyond the batch.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<T::Native> {
        let array = self.0.as_ref()?;
        if array.is_null_checked(row) { None } else { array.values().get(row).copied() }
    }

    /// The largest value; `None` where some are missing, or all are.
    pub(crate) fn largest(&self) -> Option<T::Native>
    where
        T::Native: Ord,
    {
        let array = self.0.as_ref().filter(|array| array.null_count() == 0)?;
        array.values().iter().copied().max()
    }

    /// Whether the batch does not have the column.
    pub(crate) fn is_missing(&self) -> bool {
        self.0.is_none()
    }
}

/// A column of texts.
#[derive(Clone, Debug)]
pub struct TextView(Option<StringArray>);

impl TextView {
    /// The text of a row; `None` for null, for a missing column and beyond the batch.
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        let array = self.0.as_ref()?;
        (row < array.len() && array.is_valid(row)).then(|| array.value(row))
    }

    /// Whether the batch does not have the column.
    pub(crate) fn is_missing(&self) -> bool {
        self.0.is_none()
    }
}

/// A column of truth values.
#[derive(Clone, Debug)]
pub struct BooleanView(Option<BooleanArray>);

impl BooleanView {
    /// The value of a row; `None` for null, for a missing column and beyond the batch.
    pub(crate) fn get(&self, row: usize) -> Option<bool> {
        let array = self.0.as_ref()?;
        (row < array.len() && array.is_valid(row)).then(|| array.value(row))
    }
}

/// A column of lists.
#[derive(Clone, Debug)]
pub struct ListView<T: ArrowPrimitiveType>(Option<(ListArray, PrimitiveArray<T>)>);

impl<T: ArrowPrimitiveType> ListView<T> {
    /// The list of a row, without copying; `None` for null, for a missing column and beyond the batch.
    pub(crate) fn get(&self, row: usize) -> Option<&[T::Native]> {
        let (lists, elements) = self.0.as_ref()?;
        if row >= lists.len() || lists.is_null(row) {
            return None;
        }
        let offsets = lists.value_offsets();
        let start = usize::try_from(*offsets.get(row)?).ok()?;
        let end = usize::try_from(*offsets.get(row + 1)?).ok()?;
        elements.values().get(start..end)
    }

    /// Whether the batch does not have the column.
    pub(crate) fn is_missing(&self) -> bool {
        self.0.is_none()
    }
}

/// A column of lists of texts.
#[derive(Clone, Debug)]
pub struct TextListView(Option<(ListArray, StringArray)>);

impl TextListView {
    /// The texts of a row; `None` for null, for a missing column and beyond the batch.
    pub(crate) fn get(&self, row: usize) -> Option<Vec<String>> {
        let (lists, texts) = self.0.as_ref()?;
        if row >= lists.len() || lists.is_null(row) {
            return None;
        }
        let offsets = lists.value_offsets();
        let start = usize::try_from(*offsets.get(row)?).ok()?;
        let end = usize::try_from(*offsets.get(row + 1)?).ok()?;
        Some((start..end.min(texts.len())).map(|place| texts.value(place).to_owned()).collect())
    }
}

/// The column `name` of numbers.
///
/// # Errors
/// When the column has another type.
pub(crate) fn primitive<T: ArrowPrimitiveType>(batch: &RecordBatch, name: &str) -> Result<PrimitiveView<T>, String> {
    let Some(column) = batch.column_by_name(name) else { return Ok(PrimitiveView(None)) };
    let array = column.as_primitive_opt::<T>().ok_or_else(|| mismatch(name, batch))?;
    Ok(PrimitiveView(Some(array.clone())))
}

/// The column `name` of texts.
///
/// # Errors
/// When the column has another type.
pub(crate) fn text(batch: &RecordBatch, name: &str) -> Result<TextView, String> {
    let Some(column) = batch.column_by_name(name) else { return Ok(TextView(None)) };
    let array = column.as_string_opt::<i32>().ok_or_else(|| mismatch(name, batch))?;
    Ok(TextView(Some(array.clone())))
}

/// The column `name` of truth values.
///
/// # Errors
/// When the column has another type.
pub(crate) fn boolean(batch: &RecordBatch, name: &str) -> Result<BooleanView, String> {
    let Some(column) = batch.column_by_name(name) else { return Ok(BooleanView(None)) };
    let array = column.as_boolean_opt().ok_or_else(|| mismatch(name, batch))?;
    Ok(BooleanView(Some(array.clone())))
}

/// The column `name` of lists of numbers.
///
/// # Errors
/// When the column has another type, or an element is null.
pub(crate) fn list<T: ArrowPrimitiveType>(batch: &RecordBatch, name: &str) -> Result<ListView<T>, String> {
    let Some(column) = batch.column_by_name(name) else { return Ok(ListView(None)) };
    let lists = column.as_list_opt::<i32>().ok_or_else(|| mismatch(name, batch))?;
    let elements = lists.values().as_primitive_opt::<T>().ok_or_else(|| mismatch(name, batch))?;
    if elements.null_count() > 0 {
        return Err(format!("column {name} has a null inside a list"));
    }
    Ok(ListView(Some((lists.clone(), elements.clone()))))
}

/// The column `name` of lists of texts.
///
/// # Errors
/// When the column has another type, or an element is null.
pub(crate) fn text_list(batch: &RecordBatch, name: &str) -> Result<TextListView, String> {
    let Some(column) = batch.column_by_name(name) else { return Ok(TextListView(None)) };
    let lists = column.as_list_opt::<i32>().ok_or_else(|| mismatch(name, batch))?;
    let texts = lists.values().as_string_opt::<i32>().ok_or_else(|| mismatch(name, batch))?;
    if texts.null_count() > 0 {
        return Err(format!("column {name} has a null inside a list"));
    }
    Ok(TextListView(Some((lists.clone(), texts.clone()))))
}

fn mismatch(name: &str, batch: &RecordBatch) -> String {
    let found = batch.column_by_name(name).map_or_else(String::new, |column| column.data_type().to_string());
    format!("column {name} has the unexpected type {found}")
}

/// Null test that does not panic beyond the end.
trait NullChecked {
    fn is_null_checked(&self, row: usize) -> bool;
}

impl<T: ArrowPrimitiveType> NullChecked for PrimitiveArray<T> {
    #[inline]
    fn is_null_checked(&self, row: usize) -> bool {
        self.nulls().is_some_and(|nulls| row < nulls.len() && nulls.is_null(row))
    }
}
