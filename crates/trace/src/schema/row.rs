//! The macro that declares a table.

use super::{TableDefinition, View};

/// A row of a table. [`row!`](crate::row) implements it.
pub trait Row: View<Row = Self> + Clone + Default + PartialEq + std::fmt::Debug {
    /// Name, meaning and columns of the table.
    const TABLE: &'static TableDefinition;
}

/// Declares a table: the row type with its public fields, and the [`TableDefinition`].
///
/// The documentation of the struct is the meaning of the table in `docs/archive-format.md`, that of a field the meaning of
/// the column. `At(time)` names the column of the time, `Span(start, end)` those of a span, by whose end the rows are sorted;
/// rows without an order in time are `Untimed()`. A column has its type, [`Layout`](crate::schema::Layout), unit and source event; `since: 3` where schema 1.3
/// added it to a table that was there before.
///
/// ```
/// use tracesift_trace::schema::Row as _;
///
/// tracesift_trace::row! {
///     /// One beat of a heart.
///     #[derive(Clone, Copy, Debug, Default, PartialEq)]
///     pub struct BeatRow in "beats", always: false, since: 7, At(time) {
///         /// Time of the beat.
///         time: i64, Delta, "ns", "Heart/Beat";
///         /// Pressure; null where nobody measured it.
///         pressure: Option<i32>, Plain, "Pa", "Heart/Beat Pressure";
///     }
/// }
///
/// assert_eq!(BeatRow::TABLE.meaning, "One beat of a heart.");
/// assert!(BeatRow::TABLE.column("pressure").unwrap().nullable);
/// ```
#[macro_export]
macro_rules! row {
    (
        $(#[doc = $meaning:literal])+
        #[derive($($derive:ident),+)]
        pub struct $row:ident in $table:literal, always: $always:literal, since: $since:literal,
            $timing:ident($($at:ident),*)
        {
            $(
                $(#[doc = $text:literal])+
                $column:ident: $cell:ty, $layout:ident, $unit:literal, $source:literal $(, since: $added:literal)?;
            )+
        }
    ) => {
        $(#[doc = $meaning])+
        #[derive($($derive),+)]
        pub struct $row {
            $(
                $(#[doc = $text])+
                pub $column: $cell,
            )+
        }

        $crate::fields_of!($row of $row { $($column: $cell),+ });

        $(
            impl $crate::schema::HasColumn<{ $crate::schema::column_key(stringify!($column)) }> for $row {
                type Value = $cell;
                const NAME: &'static str = stringify!($column);

                #[inline]
                fn column(&self) -> &$cell {
                    &self.$column
                }
            }
        )+

        impl $crate::schema::Row for $row {
            const TABLE: &'static $crate::schema::TableDefinition = &$crate::schema::TableDefinition {
                name: $table,
                meaning: concat!($($meaning),+).trim_ascii(),
                always: $always,
                since: $since,
                timing: $crate::timing!($timing $($at),*),
                columns: &[ $( $crate::schema::Column {
                    name: stringify!($column),
                    data: <$cell as $crate::schema::Field>::DATA,
                    nullable: <$cell as $crate::schema::Field>::NULLABLE,
                    unit: $unit,
                    meaning: concat!($($text),+).trim_ascii(),
                    source: $source,
                    since: 0 $( + $added )?,
                    layout: $crate::schema::Layout::$layout,
                }, )+ ],
            };
        }
    };
}

/// Implements [`View`] for a struct with these fields.
#[doc(hidden)]
#[macro_export]
macro_rules! fields_of {
    ($view:ident of $row:ident { $($column:ident: $cell:ty),+ }) => {
        impl $crate::schema::View for $view {
            type Row = $row;
            type Fields = $crate::field_list!(@types $($cell),+);
            const NAMES: &'static [&'static str] = &[$(stringify!($column)),+];

            #[inline]
            fn fields(&self) -> <Self::Fields as $crate::schema::FieldList>::Refs<'_> {
                let Self { $($column),+ } = self;
                $crate::field_list!(@values $($column),+)
            }

            #[inline]
            fn fields_mut(&mut self) -> <Self::Fields as $crate::schema::FieldList>::Mut<'_> {
                let Self { $($column),+ } = self;
                $crate::field_list!(@values $($column),+)
            }

            #[inline]
            fn from_fields($crate::field_list!(@patterns $($column),+): Self::Fields) -> Self {
                Self { $($column),+ }
            }
        }
    };
}

/// The [`Timing`](crate::schema::Timing) of a table.
#[doc(hidden)]
#[macro_export]
macro_rules! timing {
    (Untimed) => {
        $crate::schema::Timing::Untimed
    };
    (At $time:ident) => {
        $crate::schema::Timing::At(stringify!($time))
    };
    (Span $start:ident, $end:ident) => {
        $crate::schema::Timing::Span { start: stringify!($start), end: stringify!($end) }
    };
}

/// Types, values or patterns as a nested list.
#[doc(hidden)]
#[macro_export]
macro_rules! field_list {
    (@types) => { () };
    (@types $head:ty $(, $tail:ty)*) => { ($head, $crate::field_list!(@types $($tail),*)) };
    (@values) => { () };
    (@values $head:ident $(, $tail:ident)*) => { ($head, $crate::field_list!(@values $($tail),*)) };
    (@patterns) => { () };
    (@patterns $head:ident $(, $tail:ident)*) => { ($head, $crate::field_list!(@patterns $($tail),*)) };
}
