//! Single row groups, for those who read several of them at once.

use std::ops::{ControlFlow, Range};

use crate::error::Error;
use crate::format::table_file;
use crate::input::Input;
use crate::reader::{Archive, Wanted};
use crate::scan::Scan;
use crate::table::{Readable, Table};
use tracesift_trace::schema::ColumnSet;

impl Archive {
    /// Number of row groups of a table; 0 when the archive does not have it.
    ///
    /// # Errors
    /// [`Error::Corrupt`] or [`Error::Read`].
    pub fn row_groups<T: Table>(&self) -> Result<usize, Error> {
        let Some(table) = self.table_file(T::TABLE.name) else { return Ok(0) };
        let path = self.path().join(table_file(T::TABLE.name));
        Scan::row_groups(&path, &Input::open(&path, table)?, table)
    }

    /// As [`Self::scan`], but the rows of one row group only.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn scan_group<V: Readable>(
        &self,
        time: Option<Range<i64>>,
        group: usize,
        mut visit: impl FnMut(&V),
    ) -> Result<(), Error> {
        let (columns, wanted) = (ColumnSet::ALL, Wanted { time, group: Some(group), ..Wanted::default() });
        self.show_scan(columns, self.start_scan(columns, wanted, None)?, &mut |row| {
            visit(row);
            ControlFlow::Continue(())
        })
    }
}
