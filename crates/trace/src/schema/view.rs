//! The macro that declares a view: a struct with some of the columns of a table.

/// A number for the name of a column (FNV-1a), by which a type can be asked for it. Two names of one table with the same
/// number do not compile.
#[must_use]
pub const fn column_key(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

/// A row or view with the column whose name has this [key](column_key).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not have a column that is read here",
    note = "add the column to the view that the rows are read as"
)]
pub trait HasColumn<const KEY: u64> {
    /// Type of the column.
    type Value;
    /// Name of the column.
    const NAME: &'static str;

    /// The value.
    fn column(&self) -> &Self::Value;
}

/// Declares a view: a struct with these columns of a row, and no others, to read from an archive or to take from any row
/// or view that has them (`From<&T>`). A function that asks for `impl Into<TheView>` compiles only where its columns were
/// read.
///
/// ```
/// use tracesift_trace::rows::{ContextSwitchRow, MarkRow};
///
/// tracesift_trace::view! {
///     /// When something was marked.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub struct MarkTime of MarkRow { time, cpu }
/// }
///
/// let mark = MarkRow { time: 7, ..MarkRow::default() };
/// assert_eq!(MarkTime::from(&mark), MarkTime { time: 7, cpu: 0 });
/// ```
///
/// A column that the table does not have is an error of the compiler, and so is one that was not read:
///
/// ```compile_fail,E0277
/// # use tracesift_trace::rows::MarkRow;
/// tracesift_trace::view! {
///     /// What was marked.
///     pub struct MarkText of MarkRow { txet }
/// }
/// ```
///
/// ```compile_fail,E0277
/// # use tracesift_trace::rows::MarkRow;
/// tracesift_trace::view! {
///     /// When something was marked.
///     pub struct MarkTime of MarkRow { time }
/// }
/// tracesift_trace::view! {
///     /// What was marked.
///     pub struct MarkText of MarkRow { text }
/// }
///
/// fn text(time: &MarkTime) -> MarkText {
///     MarkText::from(time)
/// }
/// ```
#[macro_export]
macro_rules! view {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $view:ident of $row:ident { $($column:ident),+ $(,)? }
    ) => {
        $(#[$attribute])*
        $visibility struct $view {
            $(
                #[doc = concat!("[`", stringify!($row), "::", stringify!($column), "`]")]
                pub $column: $crate::type_of_column!($row, $column),
            )+
        }

        $crate::fields_of!($view of $row { $($column: $crate::type_of_column!($row, $column)),+ });

        $(
            impl $crate::schema::HasColumn<{ $crate::schema::column_key(stringify!($column)) }> for $view {
                type Value = $crate::type_of_column!($row, $column);
                const NAME: &'static str = stringify!($column);

                #[inline]
                fn column(&self) -> &Self::Value {
                    &self.$column
                }
            }
        )+

        impl<T> From<&T> for $view
        where
            $(
                T: $crate::schema::HasColumn<
                        { $crate::schema::column_key(stringify!($column)) },
                        Value = $crate::type_of_column!($row, $column),
                    >,
            )+
        {
            #[inline]
            fn from(row: &T) -> Self {
                Self {
                    $(
                        $column: Clone::clone(<T as $crate::schema::HasColumn<
                            { $crate::schema::column_key(stringify!($column)) },
                        >>::column(row)),
                    )+
                }
            }
        }
    };
}

/// The type of a column of a row.
#[doc(hidden)]
#[macro_export]
macro_rules! type_of_column {
    ($row:ident, $column:ident) => {
        <$row as $crate::schema::HasColumn<{ $crate::schema::column_key(stringify!($column)) }>>::Value
    };
}
