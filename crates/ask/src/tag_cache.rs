//! Sums per stack tag for tag files of the user. They are computed once per archive and kept in the
//! user's cache.
//!
//! The archive itself keeps the tags of the built-in file alone. What others say is not the archive's, and it may lie where it
//! cannot be written.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use tracesift_analysis::tags::TagSet;
use tracesift_archive::{Archive, head_hash, lone_table};
use tracesift_cache::{Folder, directory};
use tracesift_trace::rows::TagSummaryRow;

/// Tags of archives under what they are computed from. What cannot be read or written is computed again.
#[derive(Debug)]
pub struct TagCache {
    folder: Folder,
    written: AtomicUsize,
}

/// Bytes that the tags of all archives may take: some 10 KiB per archive and tag file.
const SIZE: u64 = 256 << 20;
/// How many archives are written between two looks at the size.
const LOOK_AFTER: usize = 256;
/// No tags of one archive are as large.
const LARGEST: u64 = 64 << 20;

impl TagCache {
    /// The cache in a directory, which need not exist.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self { folder: Folder::new(directory, ".tags"), written: AtomicUsize::new(0) }
    }

    /// That of the user, if there is a place for it.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        directory("tags").map(Self::new)
    }

    /// All tags of an archive by these rules.
    pub(crate) fn get(&self, archive: &Archive, set: &TagSet) -> Option<Vec<TagSummaryRow>> {
        let key = key(archive, set);
        let path = self.folder.path(&key);
        let (bytes, modified) = read(&path)?;
        let rows = lone_table::from_bytes(&path, bytes).ok()?;
        modified.into_iter().for_each(|modified| self.folder.note_use(&key, modified));
        Some(rows)
    }

    /// Keeps them, unless somebody cancelled the reading: some may be missing.
    pub(crate) fn put(&self, archive: &Archive, set: &TagSet, rows: &[TagSummaryRow]) {
        if archive.watch().is_cancelled() {
            return;
        }
        // The next question is only slower without it.
        let Ok(bytes) = lone_table::to_bytes(&archive.info().id, rows) else { return };
        if bytes.len() as u64 > LARGEST || self.folder.put(&key(archive, set), &[&bytes]).is_err() {
            return;
        }
        if self.written.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOK_AFTER) {
            let _ = self.folder.prune(Some(SIZE), None);
        }
    }
}

/// What the tags of an archive depend on: its tables, which loading symbols changes, the rules, and the program that added them up. It
/// recognises a changed archive, not a forged one.
fn key(archive: &Archive, set: &TagSet) -> String {
    format!("{}-{}", tables_hash(archive), set.hash())
}

/// What the tables of an archive are, with the program that reads them, in 16 hex digits.
pub(crate) fn tables_hash(archive: &Archive) -> String {
    let info = archive.info();
    let mut tables = format!("{} {}", env!("CARGO_PKG_VERSION"), info.id);
    for table in &info.tables {
        tables.push_str(&format!("\n{} {} {}", table.name, table.rows, table.crc32));
    }
    // Reading from memory cannot fail.
    head_hash(tables.as_bytes()).unwrap_or_default()
}

fn read(path: &Path) -> Option<(Vec<u8>, Option<std::time::SystemTime>)> {
    let file = std::fs::File::open(path).ok()?;
    let facts = file.metadata().ok().filter(|facts| facts.is_file() && facts.len() <= LARGEST)?;
    let mut bytes = Vec::with_capacity(usize::try_from(facts.len()).unwrap_or(0));
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some((bytes, facts.modified().ok()))
}
