//! Field types of the rows and the columns that store them: how a value is appended, and how it is read back.

use std::ops::Range;

use arrow_array::builder::StringBuilder;
use arrow_array::types::{Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{ArrowPrimitiveType, RecordBatch};
use tracesift_trace::rows::{DiskOperation, Origin};
use tracesift_trace::schema::Field;
use tracesift_trace::{ConnectionId, FileId, FrameId, ModuleId, ProcessId, StackId, ThreadId};

use crate::collected::{Collected, Lists, Nullable, TextLists, Values};
use crate::view::{
    BooleanView, ListView, PrimitiveView, TextListView, TextView, boolean, list, primitive, text, text_list,
};

/// A field of a row as a column.
pub trait Cell: Field {
    /// Collects values.
    type Builder: Collected;
    /// Gives values back.
    type View;

    /// Appends the value, the `place`th of its [`BLOCK`](crate::collected::BLOCK); returns its bytes beyond the fixed size of a row.
    fn push(&self, builder: &mut Self::Builder, place: usize) -> usize;
    /// Appends the values of some rows of another column, whose blocks have been ended; the first is the `place`th of
    /// its block. Ids of stacks are places in `stacks`, and become what is there.
    fn extend(
        builder: &mut Self::Builder,
        place: usize,
        from: &Self::Builder,
        rows: Range<usize>,
        _stacks: &[Option<StackId>],
    ) {
        builder.extend(place, from, rows, |_, _| ());
    }
    /// The column `name` of `batch`: an error when it has another type, or is missing and not nullable.
    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String>;
    /// The value of a row; `None` when the stored value cannot be a value of this type.
    fn get(view: &Self::View, row: usize) -> Option<Self>;
    /// Changes the value to that of a row; `None` as above.
    #[inline]
    fn set(&mut self, view: &Self::View, row: usize) -> Option<()> {
        *self = Self::get(view, row)?;
        Some(())
    }
    /// The value where the column is left out.
    fn left_out() -> Option<Self>;
}

/// A value as it is stored.
type Native<V> = <<V as Value>::Arrow as ArrowPrimitiveType>::Native;

/// Gives the stored value for one that is a place among these stacks.
type Settle<V> = fn(Native<V>, &[Option<StackId>]) -> Option<Native<V>>;

/// A value of fixed size.
pub trait Value: Field + Copy {
    /// The Arrow type that stores it.
    type Arrow: ArrowPrimitiveType;
    /// How rows that were made away from the writer get their values; `None`: they have them. A constant, so that the
    /// columns of all other types are copied without a look at each value.
    const SETTLE: Option<Settle<Self>> = None;
    /// As stored.
    fn store(self) -> Native<Self>;
    /// From what is stored; `None` when that is none of the type's values.
    fn load(native: Native<Self>) -> Option<Self>;
}

macro_rules! plain_values {
    ($($value:ty => $arrow:ty;)+) => { $(
        impl Value for $value {
            type Arrow = $arrow;

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
    i8 => Int8Type;
    i16 => Int16Type;
    i32 => Int32Type;
    i64 => Int64Type;
    f64 => Float64Type;
}

macro_rules! id_values {
    ($($id:ident $(settled by $settle:expr)?),+) => { $(
        impl Value for $id {
            type Arrow = Int32Type;
            $(const SETTLE: Option<Settle<Self>> = Some($settle);)?

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

id_values!(ProcessId, ThreadId, ModuleId, FrameId, StackId settled by stack_at, FileId, ConnectionId);

/// The stack at a place; nothing where there is none.
#[inline]
fn stack_at(place: i32, stacks: &[Option<StackId>]) -> Option<i32> {
    usize::try_from(place).ok().and_then(|place| *stacks.get(place)?).map(StackId::store)
}

impl Value for Origin {
    type Arrow = Int8Type;

    fn store(self) -> i8 {
        self as i8
    }

    fn load(native: i8) -> Option<Self> {
        [Self::Event, Self::Rundown, Self::Inferred, Self::Pseudo].into_iter().find(|value| value.store() == native)
    }
}

impl Value for DiskOperation {
    type Arrow = Int8Type;

    fn store(self) -> i8 {
        self as i8
    }

    fn load(native: i8) -> Option<Self> {
        [Self::Read, Self::Write, Self::Flush].into_iter().find(|value| value.store() == native)
    }
}

impl<V: Value> Cell for V {
    type Builder = Values<V::Arrow>;
    type View = PrimitiveView<V::Arrow>;

    #[inline]
    fn push(&self, builder: &mut Self::Builder, place: usize) -> usize {
        builder.push(self.store(), place);
        0
    }

    /// A column that cannot be null keeps the place of a stack that is not there.
    fn extend(
        builder: &mut Self::Builder,
        place: usize,
        from: &Self::Builder,
        rows: Range<usize>,
        stacks: &[Option<StackId>],
    ) {
        builder.extend(place, from, rows, |builder, places| {
            if let Some(settle) = V::SETTLE {
                builder.settle(places, |value| settle(value, stacks));
            }
        });
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

impl<V: Value> Cell for Option<V>
where
    Self: Field,
{
    type Builder = Nullable<V::Arrow>;
    type View = PrimitiveView<V::Arrow>;

    #[inline]
    fn push(&self, builder: &mut Self::Builder, place: usize) -> usize {
        builder.push(self.map(Value::store), place);
        0
    }

    fn extend(
        builder: &mut Self::Builder,
        place: usize,
        from: &Self::Builder,
        rows: Range<usize>,
        stacks: &[Option<StackId>],
    ) {
        builder.extend(place, from, rows, |builder, places| {
            if let Some(settle) = V::SETTLE {
                builder.settle(places, |value| settle(value, stacks));
            }
        });
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
    type Builder = Vec<Self>;
    type View = BooleanView;

    fn push(&self, builder: &mut Self::Builder, _: usize) -> usize {
        builder.push(*self);
        0
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
    type Builder = StringBuilder;
    type View = TextView;

    fn push(&self, builder: &mut Self::Builder, _: usize) -> usize {
        builder.append_value(self);
        self.len()
    }

    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String> {
        present(text(batch, name)?, TextView::is_missing, name)
    }

    fn get(view: &Self::View, row: usize) -> Option<Self> {
        view.get(row).map(str::to_owned)
    }

    fn set(&mut self, view: &Self::View, row: usize) -> Option<()> {
        view.get(row)?.clone_into(self);
        Some(())
    }

    fn left_out() -> Option<Self> {
        Some(Self::new())
    }
}

/// Takes a text or list of a row in the room of the one before, where there is one.
#[inline]
fn set_owned<T: ToOwned + ?Sized>(before: &mut Option<T::Owned>, value: Option<&T>) {
    match (before.as_mut(), value) {
        (Some(before), Some(value)) => value.clone_into(before),
        (_, value) => *before = value.map(T::to_owned),
    }
}

impl Cell for Option<String> {
    type Builder = StringBuilder;
    type View = TextView;

    fn push(&self, builder: &mut Self::Builder, _: usize) -> usize {
        builder.append_option(self.as_deref());
        self.as_ref().map_or(0, String::len)
    }

    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String> {
        text(batch, name)
    }

    fn get(view: &Self::View, row: usize) -> Option<Self> {
        Some(view.get(row).map(str::to_owned))
    }

    fn set(&mut self, view: &Self::View, row: usize) -> Option<()> {
        set_owned(self, view.get(row));
        Some(())
    }

    #[inline]
    fn left_out() -> Option<Self> {
        Some(None)
    }
}

impl Cell for Vec<FrameId> {
    type Builder = Lists<Int32Type>;
    type View = ListView<Int32Type>;

    #[inline]
    fn push(&self, builder: &mut Self::Builder, place: usize) -> usize {
        builder.push(Some(self.iter().map(|frame| frame.0)), place)
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
    type Builder = Lists<Int64Type>;
    type View = ListView<Int64Type>;

    #[inline]
    fn push(&self, builder: &mut Self::Builder, place: usize) -> usize {
        builder.push(self.as_ref().map(|values| values.iter().copied()), place)
    }

    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String> {
        list(batch, name)
    }

    fn get(view: &Self::View, row: usize) -> Option<Self> {
        Some(view.get(row).map(<[i64]>::to_vec))
    }

    fn set(&mut self, view: &Self::View, row: usize) -> Option<()> {
        set_owned(self, view.get(row));
        Some(())
    }

    #[inline]
    fn left_out() -> Option<Self> {
        Some(None)
    }
}

impl Cell for Option<Vec<String>> {
    type Builder = TextLists;
    type View = TextListView;

    fn push(&self, builder: &mut Self::Builder, _: usize) -> usize {
        builder.push(self.as_deref())
    }

    fn view(batch: &RecordBatch, name: &str) -> Result<Self::View, String> {
        text_list(batch, name)
    }

    fn get(view: &Self::View, row: usize) -> Option<Self> {
        Some(view.get(row))
    }

    #[inline]
    fn left_out() -> Option<Self> {
        Some(None)
    }
}

fn present<V>(view: V, is_missing: impl Fn(&V) -> bool, name: &str) -> Result<V, String> {
    if is_missing(&view) { Err(format!("it has no column {name}")) } else { Ok(view) }
}
