//! How the runs of a test begin and are judged.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use tracesift_grammar::Pattern;

/// What happens to the caches of files before each run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// They are full: the command runs once before the first run, without a recording.
    #[default]
    Warm,
    /// They are empty.
    Cold,
    /// Nothing.
    AsIs,
}

/// What tells how long a test took.
#[derive(Clone, Debug, PartialEq)]
pub enum DurationFrom {
    /// From the start of the command to its end.
    Wall,
    /// A line of its output, in which `{ms}`, `{s}`, `{us}` or `{ns}` stands where the figure is, and `*` for anything.
    Line {
        /// What stands before the figure.
        before: String,
        /// What stands behind it.
        behind: String,
        /// ns of its unit.
        unit: f64,
    },
    /// A figure of a JSON document: the output of the command, or a file that it writes.
    Json {
        /// Its keys, from the outside inwards.
        keys: Vec<String>,
        /// ns of its unit.
        unit: f64,
        /// The file; `None`: its output.
        file: Option<PathBuf>,
    },
    /// The exit code, ms; the wall clock where the system cuts it off.
    ExitCode,
}

/// When a run counts as failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FailedWhen {
    /// Exit codes that are fine; `None`: 0.
    pub(super) passing_codes: Option<Vec<i32>>,
    /// A line of the output that says so.
    pub(super) output: Option<Pattern>,
    /// Longer than that.
    pub(super) longer_than: Option<Duration>,
}
