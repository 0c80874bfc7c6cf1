//! The footers of table files, kept for somebody who asks one archive very often: to read one takes as long as to read a row group.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use parquet::file::metadata::ParquetMetaData;

/// The footer of a file, once it was read and checked.
pub(crate) type Footer = Arc<OnceLock<Arc<ParquetMetaData>>>;

/// The footers of the tables of an archive.
#[derive(Debug, Default)]
pub(crate) struct Footers {
    /// By the name of a table: when its file was changed last.
    of: Mutex<HashMap<String, (Option<SystemTime>, Footer)>>,
}

impl Footers {
    /// That of a table. A file that was changed since has another one.
    pub(crate) fn of(&self, table: &str, modified: Option<SystemTime>) -> Footer {
        let mut known = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(table) {
            Some((of, footer)) if *of == modified && modified.is_some() => footer.clone(),
            _ => {
                let footer = Footer::default();
                known.insert(table.to_owned(), (modified, footer.clone()));
                footer
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use super::Footers;

    #[test]
    fn a_changed_file_has_another_footer() {
        let footers = Footers::default();
        let (one, other) = (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_nanos(100));
        let first = footers.of("threads", Some(one));
        assert!(Arc::ptr_eq(&first, &footers.of("threads", Some(one))));
        assert!(!Arc::ptr_eq(&first, &footers.of("processes", Some(one))));
        let second = footers.of("threads", Some(other));
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&second, &footers.of("threads", Some(other))));
        // Where nobody knows, nothing is kept.
        assert!(!Arc::ptr_eq(&footers.of("threads", None), &footers.of("threads", None)));
    }
}
