//! Sums of disk operations per path and operation.

use serde::Deserialize;
use tracesift_trace::Health;
use tracesift_trace::rows::{DiskOperation, DiskSummaryRow};

use super::files::NamedFiles;
use crate::bounded::{Entries, List};
use crate::document::{Disk, Moment, ProcessKey, ProcessReference};
use crate::identity::Identities;
use crate::limits::{DEVICES, FILES, PROCESSES};
use crate::processes::us;
use crate::values::Integer;

/// A drive or a disk.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct PathData {
    /// By path, then by `Read`, `Write` or `Flush`.
    pub file_path_to_disk_events: Entries<Entries<DiskActivity, DEVICES>, FILES>,
}

/// Sums of the operations of a kind on a path.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DiskActivity {
    /// Pid and start of each process that asked.
    pub processes: List<Asked, PROCESSES>,
    /// Bits of all priorities.
    pub priorities: Integer,
    /// Sum of the service times, each cut to whole µs.
    #[serde(rename = "DiskServiceTimeInus")]
    pub service_us: Integer,
    /// Bytes.
    pub size_in_bytes: Integer,
}

/// A process that asked.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Asked {
    /// Pid.
    pub key: Integer,
    /// Start; the start of year 1 when it ran before.
    pub value: Option<Moment>,
}

/// The sums as rows.
#[derive(Debug, Default)]
pub(crate) struct DiskRows {
    /// Table `disk_summary`.
    pub(crate) sums: Vec<DiskSummaryRow>,
}

impl DiskRows {
    pub(super) fn read(
        part: &mut Disk,
        files: &mut NamedFiles,
        identities: &mut Identities,
        health: &mut Health,
    ) -> Self {
        let mut rows = Self::default();
        for (drive, paths) in std::mem::take(&mut part.drive_to_path).0 {
            let disk = drive.strip_prefix("Id").and_then(|number| number.parse().ok()).filter(|disk| *disk >= 0);
            for (path, operations) in paths.file_path_to_disk_events.0 {
                // Without a path ETWAnalyzer writes the operation, or the address of the file object.
                let has_path = disk.is_none() && !path.is_empty() && !path.starts_with("Unknown (");
                let file = has_path.then(|| files.of(&path));
                for (word, activity) in operations.0 {
                    match operation(&word).zip(activity.size_in_bytes.count()).zip(activity.service_us.count()) {
                        Some(((operation, size), service)) => rows.sums.push(DiskSummaryRow {
                            process: activity.process(identities, health),
                            disk,
                            operation,
                            file,
                            size,
                            service: us(service),
                            priority: priority(activity.priorities),
                        }),
                        None => super::unreadable(health, || format!("disk operations {word:.20} without figures")),
                    }
                }
            }
        }
        rows
    }
}

impl DiskActivity {
    /// The process that asked, if a single one did. Pid 0 stands for none.
    fn process(&self, identities: &mut Identities, health: &mut Health) -> Option<tracesift_trace::ProcessId> {
        let [Asked { key, value }] = self.processes.0.as_slice() else { return None };
        let pid = key.count().filter(|pid| *pid != 0)?;
        let key = ProcessKey { name: String::new(), pid, start_time: *value };
        identities.find(&ProcessReference::Key(key), health)
    }
}

fn operation(word: &str) -> Option<DiskOperation> {
    Some(match word {
        "Read" => DiskOperation::Read,
        "Write" => DiskOperation::Write,
        "Flush" => DiskOperation::Flush,
        _ => return None,
    })
}

/// ETWAnalyzer has a bit per priority, and none for the lowest one: with that one there may have been others.
fn priority(bits: Integer) -> Option<i8> {
    match bits.0? {
        0 => Some(1),
        _ => None,
    }
}
