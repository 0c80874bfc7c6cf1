//! One file of an answer: what every question takes from the description of a recording.

use std::path::{Path, PathBuf};

use tracesift_archive::Table as _;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::CpuSampleRow;

use crate::answer::Section;
use crate::time_format::Zero;

/// A recording as an answer names it.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Path as it was found; the column `file`.
    pub path: PathBuf,
    /// Name without `.etl`, `.zip`, `.sift`: what `-f` matches.
    pub name: String,
    /// Time zero.
    pub zero: Zero,
    /// Start of the recorded span, ns since time zero.
    pub start: i64,
    /// End of the recorded span, ns since time zero.
    pub end: i64,
    /// Whether it has samples of the CPU.
    pub has_samples: bool,
    /// Losses and what else limits the figures, one sentence each.
    pub warnings: Vec<String>,
}

impl File {
    /// The file at `path` with what its description says.
    #[must_use]
    pub fn new(path: &Path, name: String, info: &TraceInfo) -> Self {
        Self {
            path: path.to_owned(),
            name,
            zero: Zero { filetime: info.start_filetime, utc_offset_minutes: info.utc_offset_minutes },
            start: info.start_ns,
            end: info.end_ns,
            has_samples: info.tables.iter().any(|table| table.name == CpuSampleRow::DEFINITION.name && table.rows > 0),
            warnings: [losses(info.events_lost, info.buffers_lost), info.caveats.clone()].concat(),
        }
    }

    /// The path as text, with `/` on every system so that answers compare across machines.
    #[must_use]
    pub fn path_text(&self) -> String {
        path_text(&self.path)
    }

    /// An empty section for this file.
    #[must_use]
    pub fn section(&self) -> Section {
        Section {
            title: self.name.clone(),
            path: Some(self.path.clone()),
            zero: Some(self.zero),
            warnings: self.warnings.clone(),
            ..Section::default()
        }
    }
}

/// A path as text, with `/` on every system.
#[must_use]
pub fn path_text(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

/// What the recorder says it lost, one sentence each.
pub(crate) fn losses(events: u64, buffers: u64) -> Vec<String> {
    let sentence = |count: u64, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one} was lost while recording: figures may be too small")),
        _ => Some(format!("{count} {many} were lost while recording: figures may be too small")),
    };
    [sentence(events, "event", "events"), sentence(buffers, "buffer", "buffers")].into_iter().flatten().collect()
}
