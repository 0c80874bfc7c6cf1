//! What is known of table files, kept for somebody who asks one archive very often: to read a footer takes as long as to read a row group.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use parquet::file::metadata::ParquetMetaData;

use crate::decoded::Decoded;

/// What is known of a file.
#[derive(Debug, Default)]
pub(crate) struct KnownFile {
    /// Its footer, once it was read and checked.
    pub(crate) footer: OnceLock<Arc<ParquetMetaData>>,
    /// Its number among all files whose columns are kept, and these; `None`: they are not.
    pub(crate) decoded: Option<(u64, Arc<Decoded>)>,
}

/// What is known of the tables of an archive.
#[derive(Debug)]
pub(crate) struct KnownFiles {
    files: Mutex<Files>,
    decoded: Arc<Decoded>,
}

#[derive(Debug, Default)]
struct Files {
    last: u64,
    /// By the name of a table: when its file was changed last.
    of: HashMap<String, (Option<SystemTime>, Arc<KnownFile>)>,
}

impl KnownFiles {
    /// Decoded columns may take so many bytes.
    pub(crate) fn new(room: u64) -> Self {
        Self { files: Mutex::default(), decoded: Arc::new(Decoded::new(room)) }
    }

    /// That of a table. A file that was changed since is another one.
    pub(crate) fn of(&self, table: &str, modified: Option<SystemTime>) -> Arc<KnownFile> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        match files.of.get(table) {
            Some((of, file)) if *of == modified && modified.is_some() => file.clone(),
            _ => {
                files.last += 1;
                let decoded = Some((files.last, self.decoded.clone()));
                let file = Arc::new(KnownFile { footer: OnceLock::new(), decoded });
                files.of.insert(table.to_owned(), (modified, file.clone()));
                file
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use super::KnownFiles;

    #[test]
    fn a_changed_file_has_another_footer() {
        let files = KnownFiles::new(0);
        let (one, other) = (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_nanos(100));
        let first = files.of("threads", Some(one));
        assert!(Arc::ptr_eq(&first, &files.of("threads", Some(one))));
        assert!(!Arc::ptr_eq(&first, &files.of("processes", Some(one))));
        let second = files.of("threads", Some(other));
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&second, &files.of("threads", Some(other))));
        // Where nobody knows, nothing is kept.
        assert!(!Arc::ptr_eq(&files.of("threads", None), &files.of("threads", None)));
    }
}
