//! Paths and other names, each once, and their rows in the table of files.

use rustc_hash::FxHashMap;
use tracesift_trace::FileId;
use tracesift_trace::file_names::{FileNames, PathId};
use tracesift_trace::rows::FileRow;

/// Names by number.
#[derive(Default)]
pub(super) struct Paths {
    names: FileNames,
    files: FxHashMap<PathId, FileId>,
    /// Those that rows name, in the order of their first row.
    used: Vec<PathId>,
    left_out: i64,
    text: String,
}

impl Paths {
    /// The number of a name; `None` where there is no room for it.
    pub(super) fn id(&mut self, name: &str) -> Option<PathId> {
        let id = self.names.path_id(name);
        self.left_out += i64::from(id.is_none());
        id
    }

    /// The name of a number.
    pub(super) fn name(&self, id: PathId) -> &str {
        self.names.path(id)
    }

    /// A relative path below a directory.
    pub(super) fn below(&mut self, directory: PathId, path: &str) -> Option<PathId> {
        let path = path.strip_prefix("./").unwrap_or(path);
        self.text.clear();
        self.text.push_str(self.names.path(directory).trim_end_matches('/'));
        if path != "." && !path.is_empty() {
            self.text.push('/');
            self.text.push_str(path);
        }
        if self.text.is_empty() {
            self.text.push('/');
        }
        let text = std::mem::take(&mut self.text);
        let id = self.id(&text);
        self.text = text;
        id
    }

    /// The row of a name.
    pub(super) fn file(&mut self, path: PathId) -> FileId {
        let used = &mut self.used;
        *self.files.entry(path).or_insert_with(|| {
            used.push(path);
            FileId::from_index(used.len() - 1)
        })
    }

    /// Rows of the names that other rows point at, and how many names had no room.
    pub(super) fn finish(&self) -> (Vec<FileRow>, i64) {
        let row = |(index, path): (usize, &PathId)| FileRow {
            file: FileId::from_index(index),
            path: self.names.path(*path).to_owned(),
        };
        (self.used.iter().enumerate().map(row).collect(), self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_below_their_directory() {
        let mut paths = Paths::default();
        for (directory, path, whole) in [
            ("/home/x", "a/b", "/home/x/a/b"),
            ("/home/x/", "./a", "/home/x/a"),
            ("/", "etc", "/etc"),
            ("/home", ".", "/home"),
            ("/", ".", "/"),
            ("/home", "../etc", "/home/../etc"),
        ] {
            let directory = paths.id(directory).expect("room");
            let id = paths.below(directory, path).expect("room");
            assert_eq!(paths.name(id), whole);
        }
    }
}
