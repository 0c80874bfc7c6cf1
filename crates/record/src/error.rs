//! Errors of a recording, each with its cure.

use std::io;
use std::path::PathBuf;

use crate::profiles::PROFILES;
use crate::stacks::StackClass;

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no recorder.
    #[error("{tool} is not installed")]
    NoRecorder {
        /// The recorder.
        tool: &'static str,
        /// How it comes here.
        remedy: String,
    },
    /// The recorder may not record.
    #[error("{what}")]
    NoRights {
        /// What is not allowed.
        what: String,
        /// The command that helps.
        remedy: String,
    },
    /// None of the profiles has anything on this machine.
    #[error("none of the profiles records anything here: {0}")]
    NothingToRecord(String),
    /// The system has no recorder that is known.
    #[error("there is no recorder for this system; it is perf on Linux and wpr on Windows")]
    UnknownSystem,
    /// The recorder says no.
    #[error("{tool} cannot record: {said}")]
    Refused {
        /// The recorder.
        tool: &'static str,
        /// The end of what it said.
        said: String,
    },
    /// The recorder ended, and the file is not whole.
    #[error("{tool} ended without a whole recording: {said}")]
    Broken {
        /// The recorder.
        tool: &'static str,
        /// The end of what it said.
        said: String,
    },
    /// The user does not want it any more.
    #[error("cancelled")]
    Cancelled,
    /// The command cannot be started.
    #[error("{command} cannot be started: {error}")]
    Command {
        /// The command.
        command: String,
        /// Why.
        error: io::Error,
    },
    /// The recording exists already.
    #[error("{0} exists already")]
    Exists(PathBuf),
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A recording was started that has not been stopped.
    #[error("a recording runs already since {since}: {output}")]
    Running {
        /// The file that it will be.
        output: PathBuf,
        /// When it was started.
        since: String,
    },
    /// No recording was started.
    #[error("no recording is running")]
    NotRunning,
    /// The rate is no rate, or out of bounds.
    #[error("`{0}` is no sampling rate between 8kHz and 1Hz, 125us and 1000ms")]
    Rate(String),
    /// No such class of stacks.
    #[error("`{0}` is no class of events with stacks; they are all, none, default, {list}", list = class_names())]
    UnknownStackClass(String),
    /// No such way to find stacks.
    #[error("`{0}` is no way to find stacks; they are fp, dwarf, dwarf,BYTES (a multiple of 8 below 65,536) and lbr")]
    UnknownCallGraph(String),
    /// No such profile.
    #[error("there is no profile `{0}`; there are {list}", list = profile_names())]
    UnknownProfile(String),
    /// No condition.
    #[error("`{0}` is no condition; write cpu>90%, cpu<5%, memory>8GiB, memory>90%, file=PATH or time=30s")]
    UnknownCondition(String),
}

impl Error {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoRecorder { remedy, .. } => {
                Some(format!("{remedy}; recordings that were made elsewhere can be extracted and asked without it"))
            }
            Self::NoRights { remedy, .. } => Some(remedy.clone()),
            Self::Exists(_) => Some("--overwrite replaces it".to_owned()),
            Self::Running { .. } => Some("tracesift record --stop ends it, --cancel throws it away".to_owned()),
            Self::NotRunning => Some("tracesift record --start starts one".to_owned()),
            _ => None,
        }
    }

    pub(crate) fn file(path: impl Into<PathBuf>, error: io::Error) -> Self {
        Self::File { path: path.into(), error }
    }
}

fn class_names() -> String {
    StackClass::ALL.map(|(_, name, _)| name).join(", ")
}

fn profile_names() -> String {
    PROFILES.iter().map(|profile| profile.name).collect::<Vec<_>>().join(", ")
}

/// Something that will not be in the recording, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// What is missing, and what cannot be answered for that.
    pub what: String,
    /// The command that helps, if one does.
    pub remedy: Option<String>,
}

impl Shortfall {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: None }
    }

    pub(crate) fn with_remedy(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: Some(remedy.into()) }
    }
}
