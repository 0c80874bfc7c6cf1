//! The path of a file key at a time. Keys are reused, and most names come at the end of the
//! session.

use rustc_hash::FxHashMap;

/// What a file-name record reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEdge {
    /// The key stands for this path from now on.
    Begin,
    /// It stood for this path up to now.
    End,
    /// It stands for this path at the end of the recording.
    Rundown,
}

/// Bytes of paths kept at most.
const TEXT_BUDGET: usize = 64 << 20;

#[derive(Clone, Copy, Debug)]
struct Record {
    ticks: i64,
    edge: FileEdge,
    path: u32,
}

/// A path among the file names, dense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathId(pub u32);

/// File keys with their names. Fed in time order.
#[derive(Debug, Default)]
pub struct FileNames {
    by_key: FxHashMap<u64, Vec<Record>>,
    paths: Vec<String>,
    ids: FxHashMap<String, u32>,
    text: usize,
}

impl FileNames {
    /// Nothing known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A file-name record. Returns `false` when the budget for paths is used up and the record was left out.
    pub fn name(&mut self, ticks: i64, key: u64, edge: FileEdge, path: &str) -> bool {
        let Some(PathId(path)) = self.path_id(path) else { return false };
        self.by_key.entry(key).or_default().push(Record { ticks, edge, path });
        true
    }

    /// The number of a path, without a key. `None` when the budget for paths is used up.
    pub fn path_id(&mut self, path: &str) -> Option<PathId> {
        if let Some(id) = self.ids.get(path) {
            return Some(PathId(*id));
        }
        if self.text + path.len() > TEXT_BUDGET {
            return None;
        }
        let id = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        self.text += path.len();
        self.paths.push(path.to_owned());
        self.ids.insert(path.to_owned(), id);
        Some(PathId(id))
    }

    /// The path behind a key at a time. Operations that come after the end of a key's life (lazy writes) still belong to
    /// its last path.
    #[must_use]
    pub fn find(&self, key: u64, ticks: i64) -> Option<PathId> {
        let records = self.by_key.get(&key)?;
        let after = records.partition_point(|record| record.ticks <= ticks);
        let next = records.get(after);
        let last = after.checked_sub(1).map(|index| records[index]);
        let chosen = match (last, next) {
            (Some(last), _) if last.edge != FileEdge::End => last,
            (_, Some(next)) if next.edge != FileEdge::Begin => *next,
            (Some(last), _) => last,
            (None, Some(next)) => *next,
            (None, None) => return None,
        };
        Some(PathId(chosen.path))
    }

    /// The text of a path, as recorded.
    #[must_use]
    pub fn path(&self, id: PathId) -> &str {
        self.paths.get(id.0 as usize).map_or("", String::as_str)
    }

    /// Number of distinct paths.
    #[must_use]
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether no path is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{FileEdge, FileNames};

    #[test]
    fn a_reused_key_means_the_file_of_its_time() {
        let mut names = FileNames::new();
        names.name(100, 1, FileEdge::End, "a");
        names.name(200, 1, FileEdge::Begin, "b");
        names.name(300, 1, FileEdge::End, "b");
        names.name(900, 1, FileEdge::Rundown, "c");
        let at = |ticks| names.find(1, ticks).map(|id| names.path(id));
        assert_eq!(at(50), Some("a"));
        assert_eq!(at(150), Some("a"));
        assert_eq!(at(250), Some("b"));
        assert_eq!(at(400), Some("c"));
        assert_eq!(at(1000), Some("c"));
        assert_eq!(names.find(2, 50), None);
    }
}
