//! Single row groups, for those who read several of them at once.

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;

use crate::error::Error;
use crate::reader::{Archive, Wanted};
use crate::scan::{Part, Scan};
use crate::table::{Readable, Table};
use crate::watch::Pass;
use tracesift_trace::schema::ColumnSet;

/// Row groups of a table, which several threads can read, one each. For whoever watches the archive all of them together are one reading.
#[derive(Debug)]
pub struct RowGroups<'a> {
    archive: &'a Archive,
    time: Option<Range<i64>>,
    numbers: Vec<usize>,
    pass: Mutex<Pass>,
}

impl Archive {
    /// The row groups of a table that can have rows in the time; none when the archive does not have it.
    ///
    /// # Errors
    /// [`Error::Corrupt`] or [`Error::Read`].
    pub fn row_groups<T: Table>(&self, time: Option<Range<i64>>) -> Result<RowGroups<'_>, Error> {
        let (numbers, rows) = match self.table_file(T::TABLE.name) {
            None => (Vec::new(), 0),
            Some(file) => {
                let (path, input) = self.input(file)?;
                let part = Part { groups: None, time: time.clone() };
                Scan::extent(&path, &input, file, T::TABLE, &part)?
            }
        };
        Ok(RowGroups { archive: self, time, numbers, pass: Mutex::new(Pass::new(self.watch(), rows)) })
    }
}

impl RowGroups<'_> {
    /// Their numbers in the table.
    #[must_use]
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// As [`Archive::scan`], but the rows of one row group only.
    ///
    /// # Errors
    /// As [`Archive::scan`].
    pub fn scan<V: Readable>(&self, group: usize, mut visit: impl FnMut(&V)) -> Result<(), Error> {
        let wanted = Wanted { time: self.time.clone(), group: Some(group), ..Wanted::default() };
        self.archive.show_scan(ColumnSet::ALL, self.archive.start_part::<V>(&wanted, &self.pass)?, &mut |row| {
            visit(row);
            ControlFlow::Continue(())
        })
    }
}
