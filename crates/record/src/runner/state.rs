//! The finished runs, kept beside the recordings, so that an interrupted plan continues where it
//! stopped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::measured::Finished;
use super::sessions::Session;
use crate::Error;
use crate::staging::write_document;

/// The file in the directory of the recordings.
const NAME: &str = "tracesift-run.json";

/// All runs of a directory, oldest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Version of this document: 1.
    pub format: u32,
    /// The runs.
    pub runs: Vec<Run>,
    /// Sessions, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) sessions: Vec<Session>,
    /// The session whose runs count; `None`: all.
    #[serde(skip)]
    pub(super) session: Option<u32>,
    #[serde(skip)]
    directory: PathBuf,
}

/// Whether a run was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It was.
    Recorded,
    /// It was not, so that what recording costs is known.
    Bare,
}

/// One run of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Name of the case: that of its test with the values of its parameters.
    pub case: String,
    /// Name of the test; `None`: an older version wrote the document.
    #[serde(default)]
    pub test: Option<String>,
    /// The parameters of its plan and their values; `None`: an older version wrote the document.
    #[serde(default)]
    pub values: Option<BTreeMap<String, String>>,
    /// What it was run as; see [`Case`]'s command and settings.
    pub(super) fingerprint: u64,
    /// The session that it belongs to; 0 before the first one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub session: u32,
    /// Whether it was recorded.
    pub kind: Kind,
    /// Name of the recording, in the same directory.
    pub recording: Option<String>,
    /// Process id of the command.
    pub pid: Option<u32>,
    /// How it ended.
    #[serde(flatten)]
    pub finished: Finished,
}

impl Run {
    pub(super) fn new(
        case: &Case,
        kind: Kind,
        recording: Option<String>,
        pid: Option<u32>,
        finished: Finished,
    ) -> Self {
        Self {
            case: case.name.clone(),
            test: Some(case.test.clone()),
            values: Some(case.values.iter().cloned().collect()),
            fingerprint: case.fingerprint(),
            session: 0,
            kind,
            recording,
            pid,
            finished,
        }
    }

    /// The archive that its recording becomes.
    #[must_use]
    pub fn archive(&self, directory: &Path) -> Option<PathBuf> {
        Some(directory.join(self.recording.as_ref()?).with_extension("sift"))
    }
}

impl State {
    /// That of a directory; an empty one where nothing was run.
    ///
    /// # Errors
    ///
    /// [`Error::File`], also where the document is damaged: what was run must not be run again without anybody knowing.
    pub fn of(directory: &Path) -> Result<Self, Error> {
        let path = directory.join(NAME);
        let empty = Self { format: 1, directory: directory.to_owned(), ..Self::default() };
        match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(empty),
            Err(error) => Err(Error::file(path, error)),
            Ok(bytes) => {
                let read: Self = serde_json::from_slice(&bytes).map_err(|error| Error::file(path, error.into()))?;
                Ok(Self { directory: directory.to_owned(), ..read })
            }
        }
    }

    /// Where the recordings are.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Runs of a case as it stands in the plan now, of the session that was begun ([`State::begin_session`]), or of all. Recordings that
    /// somebody has removed, with their archives, do not count.
    pub fn runs_of<'a>(&'a self, case: &Case, kind: Kind) -> impl Iterator<Item = &'a Run> {
        self.runs_of_any_session(case, kind).filter(|run| self.session.is_none_or(|session| run.session == session))
    }

    /// The same, of all sessions.
    pub fn runs_of_any_session<'a>(&'a self, case: &Case, kind: Kind) -> impl Iterator<Item = &'a Run> {
        let (name, fingerprint) = (case.name.clone(), case.fingerprint());
        self.runs.iter().filter(move |run| {
            run.case == name && run.fingerprint == fingerprint && run.kind == kind && self.is_there(run)
        })
    }

    fn is_there(&self, run: &Run) -> bool {
        let recording = run.recording.as_ref().is_none_or(|name| self.directory.join(name).exists());
        recording || run.archive(&self.directory).is_some_and(|archive| archive.exists())
    }

    /// Adds a run, and writes the document.
    pub(super) fn add(&mut self, run: Run) -> Result<(), Error> {
        let session = self.session.unwrap_or_else(|| self.last_whole());
        self.runs.push(Run { session, ..run });
        self.write()
    }

    pub(super) fn write(&self) -> Result<(), Error> {
        write_document(&self.directory.join(NAME), self)
    }
}

/// What serde asks for.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
