//! Extracts on the disk, and what comes of them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use tracesift_archive::{Archive, Table};
use tracesift_etwanalyzer::{Error, Options, Outcome, import};
use tracesift_trace::rows::HealthRow;

/// A directory with files.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("written");
        path
    }

    /// Packs files into a 7z container.
    pub(crate) fn pack(&self, name: &str, members: &[(&str, &[u8])]) -> PathBuf {
        let path = self.path(name);
        let mut writer = sevenz_rust2::ArchiveWriter::create(&path).expect("a container");
        let entries = members.iter().map(|(name, _)| sevenz_rust2::ArchiveEntry::new_file(name)).collect();
        let readers: Vec<sevenz_rust2::SourceReader<&[u8]>> =
            members.iter().map(|(_, content)| (*content).into()).collect();
        writer.push_archive_entries(entries, readers).expect("packed");
        writer.finish().expect("finished");
        path
    }
}

pub(crate) fn imported(path: &Path) -> Archive {
    match import(path, &Options::default()).expect("imported") {
        Outcome::Imported(report) => {
            let archive = Archive::open(&report.archive).expect("an archive");
            archive.verify().expect("a sound archive");
            archive
        }
        Outcome::UpToDate(path) => panic!("{} was there", path.display()),
    }
}

pub(crate) fn refused(path: &Path) -> String {
    let error: Error = import(path, &Options::default()).expect_err("refused");
    let text = error.to_string();
    assert!(!text.contains('\n') && text.len() < 2000, "{text}");
    text
}

/// A document that is as small as one can be, with more members.
pub(crate) fn document(members: Value) -> String {
    let mut document = json!({ "SessionStart": "2024-05-01T10:00:00.0000000+02:00" });
    let Value::Object(members) = members else { panic!("an object") };
    document.as_object_mut().expect("an object").extend(members);
    document.to_string()
}

pub(crate) fn rows<T: Table>(archive: &Archive) -> Vec<T> {
    archive.rows().expect("rows")
}

pub(crate) fn health(archive: &Archive, kind: &str) -> i64 {
    let rows: Vec<HealthRow> = archive.rows().expect("rows");
    rows.iter().filter(|row| row.kind == kind).map(|row| row.count).sum()
}
