//! A recording from its beginning to its end.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use crate::error::{Error, Shortfall};
use crate::facts::{self, MachineFacts, RecordingFacts};
use crate::marks;
use crate::notes::Notes;
use crate::options::{Options, Scope};
use crate::process;
use crate::staging::{Staging, put_in_place};
use crate::system;
use crate::watch::{Condition, Watch};

/// Between two looks at whether something has ended.
const TICK: Duration = Duration::from_millis(50);

/// Records. Everything that can be known to be missing is known when it has been made.
#[derive(Debug)]
pub struct Recorder {
    options: Options,
    prepared: system::Prepared,
    cancel: Arc<AtomicBool>,
}

/// A recording that was made.
#[derive(Debug)]
pub struct Recorded {
    /// The recording; of a rotation the last file.
    pub path: PathBuf,
    /// All files that were kept, oldest first.
    pub files: Vec<PathBuf>,
    /// When the recorder was at work and the command was started.
    pub started: SystemTime,
    /// How long the command ran; `None` without a command, and where it did not end.
    pub command_duration: Option<Duration>,
    /// Process id of the command.
    pub command_pid: Option<u32>,
    /// How the command ended.
    pub exit_status: Option<ExitStatus>,
    /// What ended the recording.
    pub ended_by: EndedBy,
    /// The facts that were saved beside each file.
    pub facts: MachineFacts,
    /// What is missing, and what went wrong without stopping the recording.
    pub warnings: Vec<Shortfall>,
}

/// What ended a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// The command ended.
    Command,
    /// The user has had enough.
    User,
    /// A condition was met.
    Condition(Condition),
    /// The recorder ended by itself.
    Recorder,
}

impl std::fmt::Display for EndedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Command => f.write_str("end of the command"),
            Self::User => f.write_str("user"),
            Self::Condition(condition) => write!(f, "{condition}"),
            Self::Recorder => f.write_str("recorder"),
        }
    }
}

impl Recorder {
    /// Looks at what this machine can record. Nothing is started yet.
    ///
    /// # Errors
    ///
    /// [`Error::NoRecorder`], [`Error::NoRights`] and [`Error::NothingToRecord`] where nothing could be recorded;
    /// [`Error::UnknownSystem`].
    pub fn new(options: Options) -> Result<Self, Error> {
        let prepared = system::prepare(&options)?;
        Ok(Self { options, prepared, cancel: Arc::default() })
    }

    /// Ends the recording as soon as the flag is set, and the command with it. The recording is kept.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Arc<AtomicBool>) -> Self {
        self.cancel = cancel;
        self
    }

    /// What will be missing, known before anything is recorded.
    #[must_use]
    pub fn shortfalls(&self) -> &[Shortfall] {
        self.prepared.shortfalls()
    }

    /// The extension of recordings of this system, `data` or `etl`.
    #[must_use]
    pub fn extension(&self) -> &'static str {
        system::EXTENSION
    }

    /// Runs a command and records it. Its input and output are as the caller has set them; it is a child of this process.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`], [`Error::Refused`], [`Error::Broken`], [`Error::Command`], [`Error::File`]. After an error nothing is left:
    /// no recorder, no file.
    pub fn record(&self, command: &mut Command, output: &Path) -> Result<Recorded, Error> {
        self.run(Some(command), output, &mut |_| {})
    }

    /// As [`Self::record`]; `ready` is called when the recorder is at work and the command is about to start.
    pub(crate) fn record_telling(
        &self,
        command: &mut Command,
        output: &Path,
        ready: &mut dyn FnMut(),
    ) -> Result<Recorded, Error> {
        self.run(Some(command), output, &mut |_| ready())
    }

    /// Records until the flag of [`Self::with_cancel`] is set or a condition is met; `ready` is called when the recorder is at
    /// work, with the file that takes marks ([`crate::marks::write`]).
    ///
    /// # Errors
    ///
    /// As [`Self::record`]; [`Error::NoRights`] where only a command could be recorded.
    pub fn record_until_cancelled(&self, output: &Path, ready: &mut dyn FnMut(&Path)) -> Result<Recorded, Error> {
        if *self.prepared.scope() == Scope::Command {
            return Err(Error::NoRights {
                what: "without a command there is nothing that may be recorded".to_owned(),
                remedy: "name a command behind --, processes with --only-process=PID, or run as root".to_owned(),
            });
        }
        self.run(None, output, ready)
    }

    fn run(
        &self,
        mut command: Option<&mut Command>,
        output: &Path,
        ready: &mut dyn FnMut(&Path),
    ) -> Result<Recorded, Error> {
        if !self.options.overwrite && output.symlink_metadata().is_ok() {
            return Err(Error::Exists(output.to_owned()));
        }
        let staging = Staging::beside(output)?;
        let words: Vec<String> = command.iter().flat_map(|command| words(command)).collect();
        let marks = staging.file("marks");
        marks::create(&marks)?;
        if let Some(command) = &mut command {
            // The command and whatever it starts may write marks.
            command.env(marks::VARIABLE, &marks);
        }
        let mut facts = MachineFacts::of_this_machine();
        let program = command.as_ref().map(|command| command.get_program().to_owned());
        let mut running = self.prepared.start(&staging, program.as_deref(), &self.cancel)?;
        let (start, started) = (facts::Instant::now(), SystemTime::now());
        let mut notes = Notes::begin(&self.options, &mut facts);
        ready(&marks);
        let mut kept = Kept { options: &self.options, output, files: VecDeque::new() };
        let watched = self.watch(command, &mut running, &staging, &mut kept, &mut || notes.tick());
        let left_out = notes.finish(&mut facts);
        let end = facts::Instant::now();
        let shortfalls = running.shortfalls();
        let files = running.finish(&staging);
        let ended = watched?;
        for file in files? {
            kept.take(&file)?;
        }
        let mut warnings = self.prepared.shortfalls().to_vec();
        warnings.extend(shortfalls.into_iter().chain(left_out));
        warnings.extend(
            (ended.by == EndedBy::Recorder)
                .then(|| Shortfall::new("the recorder ended by itself: the recording ends before the command")),
        );
        let (recorder, recorder_version) = self.prepared.recorder();
        facts.recording = RecordingFacts {
            recorder,
            recorder_version,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            profiles: crate::profiles::complete(&self.options.profiles).iter().map(|one| one.name.to_owned()).collect(),
            command: words,
            command_pid: ended.pid,
            exit_code: ended.status.and_then(|status| status.code()),
            command_ns: ended.duration.and_then(|duration| duration.as_nanos().try_into().ok()),
            ended_by: Some(ended.by.to_string()),
            missing: warnings.iter().map(|warning| warning.what.clone()).collect(),
            start,
            end,
            marks: marks::read(&marks),
        };
        for file in &kept.files {
            // The recording is there; what cannot be written beside it is said.
            if let Err(error) = facts.write_beside(file) {
                warnings.push(Shortfall::new(format!("facts of the machine are not kept: {error}")));
            }
        }
        let files: Vec<PathBuf> = kept.files.into();
        Ok(Recorded {
            path: files.last().cloned().unwrap_or_else(|| output.to_owned()),
            files,
            started,
            command_duration: ended.duration,
            command_pid: ended.pid,
            exit_status: ended.status,
            ended_by: ended.by,
            facts,
            warnings,
        })
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Starts the command and waits for what comes first.
    fn watch(
        &self,
        command: Option<&mut Command>,
        running: &mut system::Running,
        staging: &Staging,
        kept: &mut Kept<'_>,
        look: &mut dyn FnMut(),
    ) -> Result<Ended, Error> {
        let child = command.map(RunningCommand::start).transpose()?;
        let pid = child.as_ref().map(|child| child.pid);
        let mut watch = Watch::new(&self.options.stop_when);
        loop {
            if let Some(child) = &child {
                match child.end.recv_timeout(TICK) {
                    Ok((status, duration)) => {
                        let status = status.map_err(|error| Error::Command { command: child.name.clone(), error })?;
                        // Ctrl-C in a terminal ends the command as well.
                        let by = if self.is_cancelled() { EndedBy::User } else { EndedBy::Command };
                        return Ok(Ended { by, pid, status: Some(status), duration: Some(duration) });
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
                }
            } else {
                std::thread::sleep(TICK);
            }
            look();
            for file in running.finished(staging) {
                kept.take(&file)?;
            }
            let by = match watch.holds() {
                _ if self.is_cancelled() => EndedBy::User,
                Some(condition) => EndedBy::Condition(condition),
                None if running.has_ended() => EndedBy::Recorder,
                None => continue,
            };
            return Ok(match (child, &by) {
                // Where the recording ends by itself the command goes on: its end is waited for, not recorded.
                (Some(child), EndedBy::Condition(_) | EndedBy::Recorder) => {
                    running.stop();
                    child.wait(by, &self.cancel)
                }
                (Some(child), _) => {
                    running.stop();
                    child.end(by)
                }
                (None, _) => Ended { by, pid, status: None, duration: None },
            });
        }
    }
}

/// How a recording ended, and its command.
struct Ended {
    by: EndedBy,
    pid: Option<u32>,
    status: Option<ExitStatus>,
    duration: Option<Duration>,
}

/// A command that runs while a thread waits for its end.
pub(crate) struct RunningCommand {
    pub(crate) name: String,
    pub(crate) pid: u32,
    /// How it ended, and after what time.
    pub(crate) end: Receiver<(std::io::Result<ExitStatus>, Duration)>,
}

impl RunningCommand {
    pub(crate) fn start(command: &mut Command) -> Result<Self, Error> {
        let name = command.get_program().to_string_lossy().into_owned();
        let started = Instant::now();
        // From this thread: perf follows the threads that it was shown, and a new one it may not know yet.
        let mut child = command.spawn().map_err(|error| Error::Command { command: name.clone(), error })?;
        let pid = child.id();
        let (sender, end) = mpsc::channel();
        std::thread::spawn(move || {
            let status = child.wait();
            // Nobody waits any more where the recording has failed.
            let _ = sender.send((status, started.elapsed()));
        });
        Ok(Self { name, pid, end })
    }

    /// Waits for the end, unless the user does not want to.
    fn wait(self, by: EndedBy, cancel: &AtomicBool) -> Ended {
        loop {
            match self.end.recv_timeout(TICK) {
                Ok((status, duration)) => {
                    return Ended { by, pid: Some(self.pid), status: status.ok(), duration: Some(duration) };
                }
                Err(RecvTimeoutError::Timeout) if !cancel.load(Ordering::Relaxed) => {}
                Err(_) => return self.end(by),
            }
        }
    }

    /// Ends the command. In a terminal Ctrl-C has told it already, so it has a moment to end by itself.
    fn end(self, by: EndedBy) -> Ended {
        const STEPS: [(Duration, Option<process::Ending>); 3] = [
            (Duration::from_millis(300), Some(process::Ending::Ask)),
            (Duration::from_secs(5), Some(process::Ending::Force)),
            (Duration::from_secs(5), None),
        ];
        for (patience, next) in STEPS {
            if let Ok((status, duration)) = self.end.recv_timeout(patience) {
                return Ended { by, pid: Some(self.pid), status: status.ok(), duration: Some(duration) };
            }
            if let Some(ending) = next {
                process::end(self.pid, ending);
            }
        }
        Ended { by, pid: Some(self.pid), status: None, duration: None }
    }
}

/// The files of the recording under their final names.
struct Kept<'a> {
    options: &'a Options,
    output: &'a Path,
    files: VecDeque<PathBuf>,
}

impl Kept<'_> {
    /// Gives a finished file its name, and removes the oldest ones beyond what is kept.
    fn take(&mut self, file: &Path) -> Result<(), Error> {
        let target = match self.options.rotation {
            None => self.output.to_owned(),
            Some(_) => self.numbered(file),
        };
        put_in_place(file, &target, self.options.overwrite)?;
        self.files.push_back(target);
        let Some(keep) = self.options.rotation.and_then(|rotation| rotation.keep) else { return Ok(()) };
        let size = |file: &PathBuf| file.metadata().map_or(0, |file| file.len());
        while self.files.len() > 1 && self.files.iter().map(size).sum::<u64>() > keep {
            if let Some(oldest) = self.files.pop_front() {
                std::fs::remove_file(&oldest).map_err(|error| Error::file(oldest, error))?;
            }
        }
        Ok(())
    }

    /// `X_20261122-201500.data`: when the file was complete.
    fn numbered(&self, file: &Path) -> PathBuf {
        let written = file.metadata().and_then(|file| file.modified()).unwrap_or_else(|_| SystemTime::now());
        let time = chrono::DateTime::<chrono::Local>::from(written).format("%Y%m%d-%H%M%S");
        let stem = self.output.file_stem().unwrap_or_default().to_string_lossy();
        let extension = self.output.extension().unwrap_or_default().to_string_lossy();
        let name = |more: &str| self.output.with_file_name(format!("{stem}_{time}{more}.{extension}"));
        let is_free = |path: &PathBuf| !self.files.contains(path) && path.symlink_metadata().is_err();
        // Several in a second only where they are very small.
        (1..).map(|n| if n == 1 { name("") } else { name(&format!("-{n}")) }).find(is_free).unwrap_or_else(|| name(""))
    }
}

/// The command, word by word.
fn words(command: &Command) -> Vec<String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect()
}
