//! The source that tells most, of tables in which several sources tell of the same.

use std::ops::ControlFlow;

use tracesift_archive::{Archive, Error, Readable};
use tracesift_trace::schema::ColumnSet;

/// The number of the source of each row: the larger it is, the more the source tells.
#[derive(Debug)]
pub struct BestSource<R> {
    /// The number of a row.
    pub of: fn(&R) -> i8,
    /// The column that has it.
    pub column: ColumnSet<R>,
}

impl<R: Readable> BestSource<R> {
    /// The largest number in an archive; `None`: it has no rows.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn in_archive(&self, archive: &Archive) -> Result<Option<i8>, Error> {
        let mut best = None;
        archive.scan_needed(self.column, None, None::<fn(&R) -> bool>, |row| {
            best = best.max(Some((self.of)(row)));
            ControlFlow::Continue(())
        })?;
        Ok(best)
    }
}
