//! The fields of a row as a list of types, for code that does the same with each field of any row.

use super::{ColumnType, Row};
use crate::ids::{ConnectionId, FileId, FrameId, ModuleId, ProcessId, StackId, ThreadId};
use crate::rows::{DiskOperation, Origin};

/// A type that a field of a row can have.
pub trait Field: Clone + 'static {
    /// Type of the column.
    const DATA: ColumnType;
    /// Whether the column can hold null.
    const NULLABLE: bool;
}

macro_rules! fields {
    ($($field:ty => $data:expr;)+) => { $(
        impl Field for $field {
            const DATA: ColumnType = $data;
            const NULLABLE: bool = false;
        }

        impl Field for Option<$field> {
            const DATA: ColumnType = $data;
            const NULLABLE: bool = true;
        }
    )+ };
}

fields! {
    bool => ColumnType::Boolean;
    i8 => ColumnType::Int8;
    i16 => ColumnType::Int16;
    i32 => ColumnType::Int32;
    i64 => ColumnType::Int64;
    f64 => ColumnType::Float64;
    String => ColumnType::Text;
    ProcessId => ColumnType::Id;
    ThreadId => ColumnType::Id;
    ModuleId => ColumnType::Id;
    FrameId => ColumnType::Id;
    StackId => ColumnType::Id;
    FileId => ColumnType::Id;
    ConnectionId => ColumnType::Id;
    Origin => ColumnType::Code(4);
    DiskOperation => ColumnType::Code(3);
    Vec<FrameId> => ColumnType::ListId;
    Vec<i64> => ColumnType::ListInt64;
    Vec<String> => ColumnType::ListText;
}

/// A list of types: `()`, or a type and the list of the others. `(i64, (ThreadId, ()))` stands for two fields.
///
/// The compiler takes such a list apart, so a trait that is implemented for the empty list and for a list with one more
/// type is implemented for the fields of every row.
pub trait FieldList: Sized + 'static {
    /// A reference to each field.
    type Refs<'a>;
    /// A reference through which each field can be changed.
    type Mut<'a>;
}

impl FieldList for () {
    type Refs<'a> = ();
    type Mut<'a> = ();
}

impl<Head: 'static, Tail: FieldList> FieldList for (Head, Tail) {
    type Refs<'a> = (&'a Head, Tail::Refs<'a>);
    type Mut<'a> = (&'a mut Head, Tail::Mut<'a>);
}

/// The fields of a row or view.
pub type Fields<V> = <V as View>::Fields;

/// Some columns of a table as a type: the fields are exactly the columns. A row is the view of all of them.
pub trait View: Sized + 'static {
    /// The row of the table.
    type Row: Row;
    /// Types of the fields.
    type Fields: FieldList;
    /// Names of the fields, which are those of the columns.
    const NAMES: &'static [&'static str];

    /// A reference to each field.
    fn fields(&self) -> <Self::Fields as FieldList>::Refs<'_>;

    /// A reference through which each field can be changed.
    fn fields_mut(&mut self) -> <Self::Fields as FieldList>::Mut<'_>;

    /// Makes it of its fields.
    fn from_fields(fields: Self::Fields) -> Self;
}
