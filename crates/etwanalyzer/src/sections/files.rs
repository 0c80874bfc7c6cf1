//! Files that sections name.

use rustc_hash::FxHashMap;
use tracesift_trace::FileId;
use tracesift_trace::rows::FileRow;

/// The files of all sections.
#[derive(Debug, Default)]
pub(crate) struct NamedFiles {
    known: FxHashMap<String, FileId>,
    /// Table `files`.
    pub(crate) rows: Vec<FileRow>,
}

impl NamedFiles {
    /// The file of a path.
    pub(super) fn of(&mut self, path: &str) -> FileId {
        if let Some(file) = self.known.get(path) {
            return *file;
        }
        let file = FileId::from_index(self.rows.len());
        self.known.insert(path.to_owned(), file);
        self.rows.push(FileRow { file, path: path.to_owned() });
        file
    }
}
