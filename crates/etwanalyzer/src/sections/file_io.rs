//! Sums of operations on files per path and process.

use serde::Deserialize;
use tracesift_trace::rows::{FileSummaryRow, file_operations as operations};
use tracesift_trace::{FileId, Health, ProcessId};

use super::files::NamedFiles;
use crate::bounded::{Entries, List};
use crate::document::ProcessReference;
use crate::identity::Identities;
use crate::limits::{EVENTS, FILES, PROCESSES, STATUSES};
use crate::processes::us;
use crate::values::{Integer, Present};

/// `FileIO`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct FileIo {
    /// By path.
    #[serde(rename = "FileName2PerProcessMapping")]
    pub files: Entries<FileOfProcesses, FILES>,
}

/// What processes did with a file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct FileOfProcesses {
    /// By the place of the process in the list of processes.
    pub process: Entries<FileStatistics, PROCESSES>,
}

/// What a process did with a file, by kind of operation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct FileStatistics {
    /// Opens.
    pub open: Option<FileOpens>,
    /// Closes and cleanups.
    pub close: Option<FileCloses>,
    /// Reads.
    pub read: Option<FileTransfers>,
    /// Writes.
    pub write: Option<FileTransfers>,
    /// Changes of owner or rights.
    pub set_security: Option<FileSecurity>,
    /// Deletes.
    pub delete: Option<FileCount>,
    /// Renames.
    pub rename: Option<FileCount>,
}

/// Opens.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct FileOpens {
    /// The errors of those that failed, each once.
    pub nt_status: List<Integer, STATUSES>,
    /// Sum of the durations in µs, each rounded.
    #[serde(rename = "Durationus")]
    pub duration_us: Integer,
    /// How many.
    pub count: Integer,
}

/// Closes and cleanups.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct FileCloses {
    /// Sum of the durations of both in µs, each rounded.
    #[serde(rename = "Durationus")]
    pub duration_us: Integer,
    /// How many closes.
    pub count: Integer,
    /// How many cleanups.
    pub cleanups: Integer,
}

/// Reads or writes.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct FileTransfers {
    /// Largest offset to which they came.
    pub max_file_position: Integer,
    /// Bytes that they asked for.
    pub accessed_bytes: Integer,
    /// How many.
    pub count: Integer,
    /// Sum of the durations in µs, each rounded.
    #[serde(rename = "Durationus")]
    pub duration_us: Integer,
}

/// Changes of owner or rights.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct FileSecurity {
    /// When, one per change.
    pub times: List<Present, EVENTS>,
    /// The errors of those that failed, each once.
    pub nt_status: List<Integer, STATUSES>,
}

/// Operations of which the number is known.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct FileCount {
    /// How many.
    pub count: Integer,
}

/// The sums that can be rows. The rows are larger than what they are made of.
#[derive(Debug, Default)]
pub(crate) struct FileSums(Vec<(Option<ProcessId>, Option<FileId>, FileStatistics)>);

impl FileSums {
    pub(super) fn read(part: FileIo, files: &mut NamedFiles, identities: &mut Identities, health: &mut Health) -> Self {
        let mut sums = Vec::new();
        for (path, FileOfProcesses { process: by_process }) in part.files.0 {
            let file = (!path.is_empty()).then(|| files.of(&path));
            for (process, statistics) in by_process.0 {
                let process = identities.find(&ProcessReference::parse(&process), health);
                if !statistics.has_figures() {
                    super::unreadable(health, || format!("operations on {path:.40} without figures"));
                    continue;
                }
                sums.push((process, file, statistics));
            }
        }
        Self(sums)
    }

    /// Table `file_summary`, row by row.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(&FileSummaryRow)) {
        for (process, file, statistics) in &self.0 {
            statistics.rows(&mut |row| visit(&FileSummaryRow { process: *process, file: *file, ..row }));
        }
    }
}

impl FileStatistics {
    /// Whether the numbers of all operations are known.
    fn has_figures(&self) -> bool {
        let Self { open, close, read, write, delete, rename, .. } = self;
        let counts = [
            open.as_ref().map(|open| open.count),
            close.map(|close| close.count),
            read.map(|read| read.count),
            write.map(|write| write.count),
            delete.map(|delete| delete.count),
            rename.map(|rename| rename.count),
        ];
        counts.into_iter().flatten().all(|count| count.count().is_some())
    }

    /// A row per kind of operation, without process and file.
    fn rows(&self, visit: &mut dyn FnMut(FileSummaryRow)) {
        let mut add = |operation, count: i64, row: FileSummaryRow| {
            if count > 0 {
                visit(FileSummaryRow { operation, count, ..row });
            }
        };
        let nothing = FileSummaryRow::default();
        if let Some(FileOpens { nt_status, duration_us, count }) = &self.open {
            let row = FileSummaryRow { duration: ns(*duration_us), errors: Some(errors(nt_status)), ..nothing.clone() };
            add(operations::OPEN, figure(*count), row);
        }
        if let Some(FileCloses { duration_us, count, cleanups }) = self.close {
            let (count, cleanups) = (figure(count), figure(cleanups));
            let time = FileSummaryRow { duration: ns(duration_us), ..nothing.clone() };
            let of_cleanups = if count > 0 { nothing.clone() } else { time.clone() };
            add(operations::CLOSE, count, time);
            add(operations::CLEANUP, cleanups, of_cleanups);
        }
        for (operation, transfers) in [(operations::READ, self.read), (operations::WRITE, self.write)] {
            let Some(FileTransfers { max_file_position, accessed_bytes, count, duration_us }) = transfers else {
                continue;
            };
            let row = FileSummaryRow {
                asked: accessed_bytes.count(),
                position: max_file_position.count(),
                duration: ns(duration_us),
                ..nothing.clone()
            };
            add(operation, figure(count), row);
        }
        if let Some(FileSecurity { times, nt_status }) = &self.set_security {
            let count = i64::try_from(times.0.len()).unwrap_or(i64::MAX);
            let row = FileSummaryRow { errors: Some(errors(nt_status)), ..nothing.clone() };
            add(operations::SET_SECURITY, count, row);
        }
        add(operations::DELETE, self.delete.map_or(0, |delete| figure(delete.count)), nothing.clone());
        add(operations::RENAME, self.rename.map_or(0, |rename| figure(rename.count)), nothing);
    }
}

/// A number, of which nothing is none.
fn figure(count: Integer) -> i64 {
    count.count().unwrap_or(0)
}

fn ns(duration_us: Integer) -> Option<i64> {
    duration_us.count().map(us)
}

/// The errors as unsigned numbers: the extract has them as signed ones.
fn errors(statuses: &List<Integer, STATUSES>) -> Vec<i64> {
    statuses.0.iter().filter_map(|status| status.0).map(|status| i64::from(status as u32)).collect()
}
