//! Field types of the rows and the columns that store them: how a value is appended, and how it is read back.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::{Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, ArrowPrimitiveType, BooleanArray, ListArray, PrimitiveArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use tracesift_trace::rows::{DiskOperation, Origin};
use tracesift_trace::{FileId, FrameId, ModuleId, ProcessId, StackId, ThreadId};

use crate::column::{ColumnType, element};
use crate::view::{BooleanView, ListView, PrimitiveView, TextView, boolean, list, primitive, text};

/// A field of a row as a column.
pub(crate) trait Cell: Sized {
    /// Type of the column.
    const DATA: ColumnType;
    /// Whether the column can hold null.
    const NULLABLE: bool;
    /// Collects values.
    type Builder: Default;
    /// Gives values back.
    type View;

    /// Appends the value; returns its bytes beyond the fixed size of a row.
    fn push(&self, builder: &mut Self::Builder) -> usize;
    /// The collected column.
    fn finish(builder: &mut Self::Builder) -> ArrayRef;
    /// The column `name` of `batch`: an error when it has another type, or is missing and not nullable.
    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String>;
    /// The value of a row; `None` when the stored value cannot be a value of this type.
    fn get(view: &Self::View, row: usize) -> Option<Self>;
    /// The value where the column is left out.
    fn left_out() -> Option<Self>;
}

/// A value of fixed size.
pub(crate) trait Value: Copy {
    /// The Arrow type that stores it.
    type Arrow: ArrowPrimitiveType;
    /// The same for the definition.
    const DATA: ColumnType;
    /// As stored.
    fn store(self) -> <Self::Arrow as ArrowPrimitiveType>::Native;
    /// From what is stored; `None` when that is none of the type's values.
    fn load(native: <Self::Arrow as ArrowPrimitiveType>::Native) -> Option<Self>;
}

macro_rules! plain_values {
    ($($value:ty => $arrow:ty, $data:ident;)+) => { $(
        impl Value for $value {
            type Arrow = $arrow;
            const DATA: ColumnType = ColumnType::$data;

            #[inline]
            fn store(self) -> Self {
                self
            }

            #[inline]
            fn load(native: Self) -> Option<Self> {
                Some(native)
            }
        }
    )+ };
}

plain_values! {
    i8 => Int8Type, Int8;
    i16 => Int16Type, Int16;
    i32 => Int32Type, Int32;
    i64 => Int64Type, Int64;
    f64 => Float64Type, Float64;
}

macro_rules! id_values {
    ($($id:ident),+) => { $(
        impl Value for $id {
            type Arrow = Int32Type;
            const DATA: ColumnType = ColumnType::Id;

            #[inline]
            fn store(self) -> i32 {
                self.0
            }

            /// Ids index dense tables, so a damaged file must not bring in a negative one.
            #[inline]
            fn load(native: i32) -> Option<Self> {
                (native >= 0).then_some(Self(native))
            }
        }
    )+ };
}

id_values!(ProcessId, ThreadId, ModuleId, FrameId, StackId, FileId);

impl Value for Origin {
    type Arrow = Int8Type;
    const DATA: ColumnType = ColumnType::Code(4);

    fn store(self) -> i8 {
        self as i8
    }

    fn load(native: i8) -> Option<Self> {
        [Self::Event, Self::Rundown, Self::Inferred, Self::Pseudo].into_iter().find(|value| value.store() == native)
    }
}

impl Value for DiskOperation {
    type Arrow = Int8Type;
    const DATA: ColumnType = ColumnType::Code(3);

    fn store(self) -> i8 {
        self as i8
    }

    fn load(native: i8) -> Option<Self> {
        [Self::Read, Self::Write, Self::Flush].into_iter().find(|value| value.store() == native)
    }
}

impl<V: Value> Cell for V {
    const DATA: ColumnType = <V as Value>::DATA;
    const NULLABLE: bool = false;
    type Builder = Vec<<V::Arrow as ArrowPrimitiveType>::Native>;
    type View = PrimitiveView<V::Arrow>;

    #[inline]
    fn push(&self, builder: &mut Self::Builder) -> usize {
        builder.push(self.store());
        0
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(PrimitiveArray::<V::Arrow>::new(ScalarBuffer::from(taken(builder)), None))
    }

    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String> {
        present(primitive(batch, name)?, PrimitiveView::is_missing, name)
    }

    #[inline]
    fn get(view: &Self::View, row: usize) -> Option<Self> {
        view.get(row).and_then(V::load)
    }

    #[inline]
    fn left_out() -> Option<Self> {
        V::load(Default::default())
    }
}

/// The collected values. The next batch will be as long, so the place for it is taken at once and not in steps.
fn taken<T>(values: &mut Vec<T>) -> Vec<T> {
    let next = Vec::with_capacity(values.len());
    std::mem::replace(values, next)
}

/// Which values are there, a bit each. A switch pushes 15 of these, so they are collected in a register-sized word.
#[derive(Default)]
pub(crate) struct Validity {
    full: Vec<u64>,
    word: u64,
    length: usize,
}

impl Validity {
    #[inline]
    fn push(&mut self, valid: bool) {
        let bit = self.length % 64;
        self.word |= u64::from(valid) << bit;
        self.length += 1;
        if bit == 63 {
            // Arrow counts bits from the lowest of the first byte.
            self.full.push(std::mem::take(&mut self.word).to_le());
        }
    }

    /// The bits, or nothing when all values are there.
    fn finish(&mut self) -> Option<NullBuffer> {
        let (word, length) = (std::mem::take(&mut self.word), std::mem::take(&mut self.length));
        let mut full = taken(&mut self.full);
        full.push(word.to_le());
        let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from(full), 0, length));
        (nulls.null_count() > 0).then_some(nulls)
    }
}

/// Values with a null for each one that is not there.
pub(crate) struct Nullable<N> {
    /// Nulls before the first value: many columns have nothing else, and cost no more than this.
    nulls: usize,
    values: Vec<N>,
    valid: Validity,
}

impl<N> Default for Nullable<N> {
    fn default() -> Self {
        Self { nulls: 0, values: Vec::new(), valid: Validity::default() }
    }
}

impl<N: Copy + Default> Nullable<N> {
    #[inline]
    fn push(&mut self, value: Option<N>) {
        if self.values.is_empty() {
            if value.is_none() {
                self.nulls += 1;
                return;
            }
            self.begin();
        }
        self.values.push(value.unwrap_or_default());
        self.valid.push(value.is_some());
    }

    /// Writes down the nulls before the first value.
    fn begin(&mut self) {
        for _ in 0..std::mem::take(&mut self.nulls) {
            self.values.push(N::default());
            self.valid.push(false);
        }
    }
}

impl<V: Value> Cell for Option<V> {
    const DATA: ColumnType = V::DATA;
    const NULLABLE: bool = true;
    type Builder = Nullable<<V::Arrow as ArrowPrimitiveType>::Native>;
    type View = PrimitiveView<V::Arrow>;

    #[inline]
    fn push(&self, builder: &mut Self::Builder) -> usize {
        builder.push(self.map(Value::store));
        0
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        if builder.values.is_empty() {
            return Arc::new(PrimitiveArray::<V::Arrow>::new_null(std::mem::take(&mut builder.nulls)));
        }
        let values = ScalarBuffer::from(taken(&mut builder.values));
        Arc::new(PrimitiveArray::<V::Arrow>::new(values, builder.valid.finish()))
    }

    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String> {
        primitive(batch, name)
    }

    #[inline]
    fn get(view: &Self::View, row: usize) -> Option<Self> {
        match view.get(row) {
            None => Some(None),
            Some(native) => V::load(native).map(Some),
        }
    }

    #[inline]
    fn left_out() -> Option<Self> {
        Some(None)
    }
}

impl Cell for Option<bool> {
    const DATA: ColumnType = ColumnType::Boolean;
    const NULLABLE: bool = true;
    type Builder = Vec<Self>;
    type View = BooleanView;

    fn push(&self, builder: &mut Self::Builder) -> usize {
        builder.push(*self);
        0
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(BooleanArray::from(std::mem::take(builder)))
    }

    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String> {
        boolean(batch, name)
    }

    fn get(view: &Self::View, row: usize) -> Option<Self> {
        Some(view.get(row))
    }

    #[inline]
    fn left_out() -> Option<Self> {
        Some(None)
    }
}

impl Cell for String {
    const DATA: ColumnType = ColumnType::Text;
    const NULLABLE: bool = false;
    type Builder = StringBuilder;
    type View = TextView;

    fn push(&self, builder: &mut Self::Builder) -> usize {
        builder.append_value(self);
        self.len()
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.finish())
    }

    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String> {
        present(text(batch, name)?, TextView::is_missing, name)
    }

    fn get(view: &Self::View, row: usize) -> Option<Self> {
        view.get(row).map(str::to_owned)
    }

    fn left_out() -> Option<Self> {
        Some(Self::new())
    }
}

impl Cell for Option<String> {
    const DATA: ColumnType = ColumnType::Text;
    const NULLABLE: bool = true;
    type Builder = StringBuilder;
    type View = TextView;

    fn push(&self, builder: &mut Self::Builder) -> usize {
        builder.append_option(self.as_deref());
        self.as_ref().map_or(0, String::len)
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.finish())
    }

    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String> {
        text(batch, name)
    }

    fn get(view: &Self::View, row: usize) -> Option<Self> {
        Some(view.get(row).map(str::to_owned))
    }

    #[inline]
    fn left_out() -> Option<Self> {
        Some(None)
    }
}

/// Lists: the elements of all rows and where each row ends.
pub(crate) struct Lists<N> {
    elements: Vec<N>,
    ends: Vec<i32>,
    valid: Validity,
}

impl<N> Default for Lists<N> {
    fn default() -> Self {
        Self { elements: Vec::new(), ends: vec![0], valid: Validity::default() }
    }
}

impl<N> Lists<N> {
    #[inline]
    fn push(&mut self, elements: Option<impl Iterator<Item = N>>) -> usize {
        self.valid.push(elements.is_some());
        let before = self.elements.len();
        self.elements.extend(elements.into_iter().flatten());
        // A batch is cut at a few MiB; only one list of 2^31 elements could get here, and that does not fit into memory.
        self.ends.push(i32::try_from(self.elements.len()).unwrap_or(i32::MAX));
        (self.elements.len() - before) * size_of::<N>()
    }

    fn finish<T: ArrowPrimitiveType<Native = N>>(&mut self) -> ArrayRef
    where
        N: arrow_buffer::ArrowNativeType,
    {
        let Self { elements, ends, mut valid } = std::mem::take(self);
        let elements = PrimitiveArray::<T>::new(ScalarBuffer::from(elements), None);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        Arc::new(ListArray::new(element(T::DATA_TYPE), offsets, Arc::new(elements), valid.finish()))
    }
}

impl Cell for Vec<FrameId> {
    const DATA: ColumnType = ColumnType::ListId;
    const NULLABLE: bool = false;
    type Builder = Lists<i32>;
    type View = ListView<Int32Type>;

    #[inline]
    fn push(&self, builder: &mut Self::Builder) -> usize {
        builder.push(Some(self.iter().map(|frame| frame.0)))
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish::<Int32Type>()
    }

    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String> {
        present(list(batch, name)?, ListView::is_missing, name)
    }

    fn get(view: &Self::View, row: usize) -> Option<Self> {
        view.get(row)?.iter().map(|frame| FrameId::load(*frame)).collect()
    }

    fn left_out() -> Option<Self> {
        Some(Self::new())
    }
}

impl Cell for Option<Vec<i64>> {
    const DATA: ColumnType = ColumnType::ListInt64;
    const NULLABLE: bool = true;
    type Builder = Lists<i64>;
    type View = ListView<Int64Type>;

    #[inline]
    fn push(&self, builder: &mut Self::Builder) -> usize {
        builder.push(self.as_ref().map(|values| values.iter().copied()))
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish::<Int64Type>()
    }

    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String> {
        list(batch, name)
    }

    fn get(view: &Self::View, row: usize) -> Option<Self> {
        Some(view.get(row).map(<[i64]>::to_vec))
    }

    #[inline]
    fn left_out() -> Option<Self> {
        Some(None)
    }
}

fn present<V>(view: V, is_missing: impl Fn(&V) -> bool, name: &str) -> Result<V, String> {
    if is_missing(&view) { Err(format!("it has no column {name}")) } else { Ok(view) }
}
