//! Receivers of rows. A tracker pushes rows and keeps none. A writer counts its errors and reports
//! them when it finishes.

use crate::{event_tables, rows};

/// Receives the rows of the table `events` on another thread than that of the other tables.
pub trait EventsApart: Send {
    /// An event, in the order of time.
    fn event(&mut self, row: &rows::EventRow);
}

macro_rules! sink {
    (
        $($(#[$doc:meta])* $method:ident($row:ident) in $table:ident),+;
        $($(#[$optional_doc:meta])* $optional:ident($optional_row:ident) in $optional_table:ident),+
    ) => {
        /// Receives the rows of the tables that grow with the recording, each table in the order of its `time`. The rows
        /// of a table whose method is not overridden are dropped.
        pub trait RowSink {
            /// A receiver of all rows of the table `events`, for another thread. It is to be dropped before this sink is
            /// finished or dropped. `None`: they come to this sink.
            fn events_apart(&mut self) -> Option<Box<dyn EventsApart>> {
                None
            }
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
