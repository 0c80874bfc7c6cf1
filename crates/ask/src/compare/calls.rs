//! Which system calls a recording of Linux has. A recording has all of them, or those that somebody chose. The number of these is
//! not the number of system calls, and a mapping of a file is not all that a program does with files.

use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::HandleRow;
use tracesift_trace::schema::Row as _;

use crate::question::overview;

/// System calls that a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    /// All.
    All,
    /// Those that work on files.
    OfFiles,
}

impl Calls {
    /// Reads the word for it.
    pub(super) fn read(word: &str) -> Result<Self, String> {
        match word {
            "all-calls" => Ok(Self::All),
            "file-calls" => Ok(Self::OfFiles),
            other => Err(format!("`{other}` is none of `all-calls` and `file-calls`")),
        }
    }

    /// Why a recording does not tell the number of these calls. `None`: it does, or it is none of Linux.
    pub(super) fn lacking(self, info: &TraceInfo) -> Option<String> {
        if info.kind != "perf" || has_all(info) {
            return None;
        }
        let (what, profile) = match self {
            Self::All => ("system calls", "SysCall"),
            Self::OfFiles => ("file operations", "File"),
        };
        // A profile asks for all calls that it names, as far as the kernel has them.
        if self == Self::OfFiles && overview::recorded_profiles(info).contains(&profile) {
            return None;
        }
        Some(match info.enabled.is_empty() {
            true => format!("the archive does not tell which {what} were recorded: extract the recording again"),
            false => format!("only some {what} were recorded; record with: tracesift record --profile {profile}"),
        })
    }
}

/// Whether all system calls were recorded. An archive tells the tables whose events were enabled. Only the tracepoint of all calls
/// enables the table of handles: calls of many kinds make a descriptor, so no single call tells all of them.
fn has_all(info: &TraceInfo) -> bool {
    info.enabled.iter().any(|table| table == HandleRow::TABLE.name)
}
