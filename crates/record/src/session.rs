//! Recordings around something that runs already: started by one call of the program, stopped by another.
//!
//! Between the two a process of its own records. What is known of it stands in a file of the user.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process;
use crate::staging::{bytes_in, write_document};
use crate::{Error, marks};

/// Where the started recording is known: one per user.
#[derive(Clone, Debug)]
pub struct Session {
    directory: PathBuf,
}

/// What is known of a started recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The process that records, and when it was started, since ids are used again.
    pub process: Option<process::Identity>,
    /// The file that it will be.
    pub output: PathBuf,
    /// When it was started, local time.
    pub since: String,
    /// Where marks go; `None` until the recorder is at work.
    pub marks: Option<PathBuf>,
    /// Whether it is over.
    pub is_finished: bool,
}

/// A started recording as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The file that it will be.
    pub output: PathBuf,
    /// When it was started, local time.
    pub since: String,
    /// What it does.
    pub course: Course,
    /// Marks that were written.
    pub marks: usize,
    /// Bytes that were written so far.
    pub bytes: u64,
}

/// What a started recording does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// It records.
    Records,
    /// It ended by itself, and is whole.
    Ended,
    /// Its process is gone, and nobody has ended it.
    Gone,
}

const STATE: &str = "session.json";
const SAID: &str = "session.said";
const CANCELLED: &str = "session.cancelled";
/// It appears when the recording is to end: a way to tell a process that every system has.
const STOPPED: &str = "session.stopped";
/// Between two looks.
const TICK: Duration = Duration::from_millis(20);

impl Session {
    /// The session of this user, in the directory for what runs, else in that for caches.
    ///
    /// # Errors
    ///
    /// [`Error::File`] where neither can be made.
    pub fn of_this_user() -> Result<Self, Error> {
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let runtime = absolute("XDG_RUNTIME_DIR").map(|path| path.join("tracesift"));
        let directory = runtime.or_else(|| tracesift_cache::directory("record"));
        let directory = directory.unwrap_or_else(|| std::env::temp_dir().join("tracesift-record"));
        fs::create_dir_all(&directory).map_err(|error| Error::file(&directory, error))?;
        Ok(Self { directory })
    }

    /// Starts a process that records, and comes back when it does: what it has said until then. `command` is told by its last
    /// argument where to [`announce`](Self::announce) itself.
    ///
    /// # Errors
    ///
    /// [`Error::Running`] where one was started before, [`Error::Refused`] with what it said where it ended at once.
    pub fn start(&self, command: &mut Command, output: &Path) -> Result<String, Error> {
        if let Some(state) = self.state().filter(State::is_alive) {
            return Err(Error::Running { output: state.output, since: state.since });
        }
        self.forget();
        let since = chrono::Local::now().format("%Y-%m-%d %H:%M:%S").to_string();
        let state = State { output: output.to_owned(), since, process: process::Identity::own(), ..State::default() };
        // Of two that start at the same instant one finds the file.
        fs::File::create_new(self.file(STATE))
            .map_err(|_| Error::Running { output: output.to_owned(), since: state.since.clone() })?;
        self.write(&state)?;
        let said = self.file(SAID);
        let open = || fs::OpenOptions::new().create(true).append(true).open(&said);
        let log = open().and_then(|file| Ok((file.try_clone()?, file))).map_err(|error| Error::file(&said, error));
        let (out, err) = log?;
        command.arg(&self.directory).stdin(Stdio::null()).stdout(out).stderr(err);
        process::detach(command);
        let failed = |error| Error::Command { command: "the recording".to_owned(), error };
        let mut child = command.spawn().map_err(failed).inspect_err(|_| self.forget())?;
        loop {
            if self.state().is_some_and(|state| state.marks.is_some()) {
                return Ok(self.said());
            }
            if !matches!(child.try_wait(), Ok(None)) {
                let said = self.said();
                self.forget();
                return Err(Error::Refused { tool: "the recorder", said });
            }
            std::thread::sleep(TICK);
        }
    }

    /// The session that [`start`](Self::start) told this process of.
    #[must_use]
    pub fn told(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// This process records from now on.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn announce(&self, marks: &Path) -> Result<(), Error> {
        let mut state = self.state().unwrap_or_default();
        state.process = process::Identity::own();
        state.marks = Some(marks.to_owned());
        self.write(&state)
    }

    /// The recording that was started; `None` without one.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        let state = self.state()?;
        let course = match (state.is_finished, state.is_alive()) {
            (true, _) => Course::Ended,
            (false, true) => Course::Records,
            (false, false) => Course::Gone,
        };
        let marks = state.marks.as_deref();
        let bytes = match course {
            Course::Ended => state.output.metadata().map_or(0, |file| file.len()),
            _ => marks.and_then(Path::parent).map_or(0, bytes_in),
        };
        let marks = marks.map_or(0, |marks| marks::read(marks).len());
        Some(Status { output: state.output, since: state.since, course, marks, bytes })
    }

    /// Sets the flag when somebody [stops](Self::stop) the recording. A thread looks, until this process ends.
    pub fn watch(&self, cancel: &Arc<AtomicBool>) {
        let (stopped, cancel) = (self.file(STOPPED), Arc::clone(cancel));
        std::thread::spawn(move || {
            while !stopped.exists() {
                std::thread::sleep(TICK);
            }
            cancel.store(true, Ordering::Relaxed);
        });
    }

    /// This process has recorded. Tells whether the recording is to be thrown away.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn finish(&self) -> Result<bool, Error> {
        let mut state = self.state().unwrap_or_default();
        state.is_finished = true;
        self.write(&state)?;
        Ok(self.file(CANCELLED).exists())
    }

    /// Ends the recording and waits until it is whole: what its process has said since it was started.
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`].
    pub fn stop(&self) -> Result<String, Error> {
        let state = self.state().ok_or(Error::NotRunning)?;
        let stopped = self.file(STOPPED);
        fs::write(&stopped, "").map_err(|error| Error::file(stopped, error))?;
        // It writes for as long as it takes; when it is gone it is through.
        while state.is_alive() {
            std::thread::sleep(TICK);
        }
        let is_finished = self.state().is_some_and(|state| state.is_finished);
        let said = self.said();
        self.forget();
        if is_finished { Ok(said) } else { Err(Error::Broken { tool: "the recorder", said }) }
    }

    /// Ends the recording and throws it away: the file that it would have been.
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`].
    pub fn cancel(&self) -> Result<PathBuf, Error> {
        let state = self.state().ok_or(Error::NotRunning)?;
        if state.is_finished {
            // It ended by itself and is whole: that is no longer ours to remove.
            self.forget();
            return Err(Error::NotRunning);
        }
        fs::write(self.file(CANCELLED), "").map_err(|error| Error::file(self.file(CANCELLED), error))?;
        self.stop().map(|_| state.output)
    }

    /// Writes a mark into the recording that this process belongs to, else into the one that was started. Returns how many it has now.
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`].
    pub fn mark(&self, text: &str) -> Result<usize, Error> {
        let ours = std::env::var_os(marks::VARIABLE).map(PathBuf::from);
        let started = || self.state().filter(State::is_alive).and_then(|state| state.marks);
        let marks = ours.or_else(started).ok_or(Error::NotRunning)?;
        marks::write(&marks, text)?;
        Ok(marks::read(&marks).len())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn state(&self) -> Option<State> {
        let text = fs::read(self.file(STATE)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn write(&self, state: &State) -> Result<(), Error> {
        write_document(&self.file(STATE), state)
    }

    fn said(&self) -> String {
        let path = self.file(SAID);
        let said = fs::read(&path).unwrap_or_default();
        // What was told once is not told again.
        let _ = fs::OpenOptions::new().write(true).truncate(true).open(&path);
        String::from_utf8_lossy(&said).into_owned()
    }

    fn forget(&self) {
        for name in [STATE, SAID, CANCELLED, STOPPED] {
            let _ = fs::remove_file(self.file(name));
        }
    }
}

impl State {
    fn is_alive(&self) -> bool {
        self.process.is_some_and(process::Identity::is_alive)
    }
}
