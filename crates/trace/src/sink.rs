//! Receivers of rows. A tracker pushes rows and keeps none. A writer counts its errors and reports
//! them when it finishes.

use crate::{event_tables, rows};

macro_rules! sink {
    (
        $($(#[$doc:meta])* $method:ident($row:ident) in $table:ident),+;
        $($(#[$optional_doc:meta])* $optional:ident($optional_row:ident) in $optional_table:ident),+
    ) => {
        /// Receives the rows of the tables that grow with the recording, each table in the order of its `time`. The rows
        /// of a table whose method is not overridden are dropped.
        pub trait RowSink {
            $(
                $(#[$doc])*
                #[inline]
                fn $method(&mut self, row: &rows::$row) {
                    let _ = row;
                }
            )+
            $(
                $(#[$optional_doc])*
                #[inline]
                fn $optional(&mut self, row: &rows::$optional_row) {
                    let _ = row;
                }
            )+
        }
    };
}
event_tables!(sink);
