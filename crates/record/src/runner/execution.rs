//! Runs a plan.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use chrono::{DateTime, Local, Timelike as _};

use super::cache;
use super::case::Case;
use super::extraction::Extraction;
use super::measured::{Finished, Left, judge};
use super::plan::{Cache, Plan};
use super::state::{Kind, Run, State};
use super::turns;
use crate::process::{self, Ending};
use crate::{EndedBy, Error, MachineFacts, Recorder};

/// Between two looks at whether something has ended.
const TICK: Duration = Duration::from_millis(10);

/// What the plan does not say.
#[derive(Debug)]
pub struct Settings<'a> {
    /// Set: the run at work is thrown away, and nothing further is begun.
    pub cancel: Arc<AtomicBool>,
    /// Who extracts the recordings; `None`: nobody.
    pub extraction: Option<&'a Extraction>,
}

/// What happens meanwhile.
#[derive(Debug)]
pub enum Event<'a> {
    /// So many runs are there from before, so many are left.
    Begins {
        /// From before.
        done: usize,
        /// Left.
        left: usize,
    },
    /// A run begins.
    Run {
        /// Its place, from 1.
        number: usize,
        /// The case.
        case: &'a Case,
        /// Whether it is recorded.
        kind: Kind,
    },
    /// A run has ended.
    Ended(&'a Run),
    /// Something is missing in a recording, or a command beside the tests failed.
    Warning(String),
}

/// Why a plan cannot be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The recorder, or the directory of the recordings.
    #[error(transparent)]
    Record(#[from] Error),
    /// Caches must be empty and cannot be emptied.
    #[error("caches of files cannot be emptied for `{case}`: {error}")]
    Cache {
        /// The case.
        case: String,
        /// Why.
        error: std::io::Error,
    },
    /// A command of `set-up` failed, so the test would not be the test.
    #[error("set-up of `{case}`: {said}")]
    SetUp {
        /// The case.
        case: String,
        /// Which command, and how.
        said: String,
    },
}

/// Runs what is left of a plan. What has been run is in `state` also after an error, and after the flag was set.
///
/// # Errors
///
/// [`Problem`].
pub fn run(
    plan: &Plan,
    state: &mut State,
    settings: &Settings<'_>,
    say: &mut dyn FnMut(Event<'_>),
) -> Result<(), Problem> {
    let stop = Arc::new(AtomicBool::new(false));
    let recorder = Recorder::new(plan.options.clone())?.with_cancel(Arc::clone(&stop));
    for shortfall in recorder.shortfalls() {
        let remedy = shortfall.remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
        say(Event::Warning(format!("{}{remedy}", shortfall.what)));
    }
    let machine = machine();
    let left = turns::left(&plan.cases, state);
    let kinds = [Kind::Recorded, Kind::Bare];
    let done = plan.cases.iter().flat_map(|case| kinds.map(|kind| state.runs_of(case, kind).count())).sum();
    say(Event::Begins { done, left: left.len() });
    let mut runner =
        Runner { recorder, stop, settings, machine, directory: state.directory().to_owned(), warmed: Vec::new() };
    for (number, (case, kind)) in left.into_iter().enumerate() {
        if runner.is_cancelled() {
            break;
        }
        say(Event::Run { number: number + 1, case, kind });
        if let Some(run) = runner.run(case, kind, say)? {
            say(Event::Ended(&run));
            let recording = run.recording.as_ref().map(|name| state.directory().join(name));
            state.add(run)?;
            if let (Some(extraction), Some(recording)) = (settings.extraction, recording) {
                extraction.add(&recording);
            }
        }
    }
    Ok(())
}

struct Runner<'a> {
    recorder: Recorder,
    /// Ends the run at work.
    stop: Arc<AtomicBool>,
    settings: &'a Settings<'a>,
    machine: String,
    directory: PathBuf,
    /// Cases that have run once to fill the caches.
    warmed: Vec<String>,
}

/// A run without its name.
struct Ran {
    left: RanLeft,
    recording: Option<PathBuf>,
    pid: Option<u32>,
}

struct RanLeft {
    status: Option<ExitStatus>,
    wall: Duration,
    timed_out: bool,
    started: SystemTime,
}

impl Runner<'_> {
    fn is_cancelled(&self) -> bool {
        self.settings.cancel.load(Ordering::Relaxed)
    }

    /// One run with everything around it; `None`: the user does not want to wait for it.
    fn run(&mut self, case: &Case, kind: Kind, say: &mut dyn FnMut(Event<'_>)) -> Result<Option<Run>, Problem> {
        for words in &case.set_up {
            beside(case, words).map_err(|said| Problem::SetUp { case: case.name.clone(), said })?;
        }
        let run = self.between(case, kind, say);
        // Also after a failed run: the next one must find what this one found.
        for words in &case.clean_up {
            if let Err(said) = beside(case, words) {
                say(Event::Warning(format!("clean-up of `{}`: {said}", case.name)));
            }
        }
        run
    }

    fn between(&mut self, case: &Case, kind: Kind, say: &mut dyn FnMut(Event<'_>)) -> Result<Option<Run>, Problem> {
        if case.cache == Cache::Warm && !self.warmed.contains(&case.name) {
            let files = self.output_files(&case.name);
            let ran = self.held(|runner| runner.bare(case, &files));
            files.remove();
            ran?;
            self.warmed.push(case.name.clone());
        }
        self.settle(case.settle);
        if self.is_cancelled() {
            return Ok(None);
        }
        let files = self.output_files(&case.name);
        let ran = self.held(|runner| {
            if case.cache == Cache::Cold {
                cache::empty().map_err(|error| Problem::Cache { case: case.name.clone(), error })?;
            }
            match kind {
                Kind::Recorded => runner.recorded(case, &files, say),
                Kind::Bare => Ok(runner.bare(case, &files)?),
            }
        })?;
        let run = match ran {
            Some(ran) => self.named(case, kind, ran, &files).map(Some)?,
            None => None,
        };
        files.remove();
        self.settle(case.settle);
        Ok(run)
    }

    /// Does something while nothing is extracted.
    fn held<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Problem>) -> Result<T, Problem> {
        if let Some(extraction) = self.settings.extraction {
            extraction.hold();
        }
        let result = work(self);
        if let Some(extraction) = self.settings.extraction {
            extraction.release();
        }
        result
    }

    fn settle(&self, time: Duration) {
        let start = Instant::now();
        while !self.is_cancelled() && start.elapsed() < time {
            std::thread::sleep(TICK.min(time.saturating_sub(start.elapsed())));
        }
    }

    fn recorded(
        &mut self,
        case: &Case,
        files: &OutputFiles,
        say: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<Ran>, Problem> {
        let output =
            self.directory.join(format!(".{}.{}.{}", case.name, std::process::id(), self.recorder.extension()));
        let Some(mut command) = command(case, files)? else { return Ok(None) };
        let deadline = Deadline::new(case.timeout, &self.settings.cancel, &self.stop);
        let recorded = self.recorder.record_telling(&mut command, &output, &mut || deadline.begin());
        let timed_out = deadline.end();
        let recorded = match recorded {
            Err(Error::Cancelled) if self.is_cancelled() => return Ok(None),
            recorded => recorded?,
        };
        if self.is_cancelled() || recorded.ended_by == EndedBy::Recorder {
            for file in recorded.files.iter().flat_map(|file| [file.clone(), MachineFacts::path_of(file)]) {
                // It is nobody's recording.
                let _ = std::fs::remove_file(file);
            }
            if !self.is_cancelled() {
                let said = "the recorder ended before the test".to_owned();
                return Err(Error::Broken { tool: "the recorder", said }.into());
            }
            return Ok(None);
        }
        for warning in recorded.warnings.iter().skip(self.recorder.shortfalls().len()) {
            say(Event::Warning(format!("{}: {}", case.name, warning.what)));
        }
        let left = RanLeft {
            status: recorded.exit_status,
            wall: recorded.command_duration.or(case.timeout).unwrap_or_default(),
            timed_out,
            started: recorded.started,
        };
        Ok(Some(Ran { left, recording: Some(recorded.path), pid: recorded.command_pid }))
    }

    /// Runs the command without a recorder.
    fn bare(&mut self, case: &Case, files: &OutputFiles) -> Result<Option<Ran>, Problem> {
        let Some(mut command) = command(case, files)? else { return Ok(None) };
        let name = || case.command.first().cloned().unwrap_or_default();
        let (started, start) = (SystemTime::now(), Instant::now());
        let mut child = command.spawn().map_err(|error| Error::Command { command: name(), error })?;
        let pid = child.id();
        let (sender, end) = mpsc::channel();
        std::thread::spawn(move || {
            let status = child.wait();
            // Nobody waits any more where the user has had enough.
            let _ = sender.send((status, start.elapsed()));
        });
        let mut timed_out = false;
        let (status, wall) = loop {
            if let Ok((status, wall)) = end.recv_timeout(TICK) {
                break (status.map_err(|error| Error::Command { command: name(), error })?, wall);
            }
            timed_out |= case.timeout.is_some_and(|timeout| start.elapsed() > timeout);
            if timed_out || self.is_cancelled() {
                process::end(pid, Ending::Force);
            }
        };
        let left = RanLeft { status: Some(status), wall, timed_out, started };
        Ok((!self.is_cancelled()).then_some(Ran { left, recording: None, pid: Some(pid) }))
    }

    /// Gives a run's files the name that explains them.
    fn named(&self, case: &Case, kind: Kind, ran: Ran, files: &OutputFiles) -> Result<Run, Problem> {
        let RanLeft { status, wall, timed_out, started } = ran.left;
        let cold = case.cache == Cache::Cold;
        let finished = judge(case, &Left { status, wall, timed_out, cold, output: &files.out, started });
        let Some(recording) = ran.recording else { return Ok(Run::new(case, kind, None, ran.pid, finished)) };
        let extension = recording.extension().unwrap_or_default().to_string_lossy().into_owned();
        let name = |at: &DateTime<Local>| format!("{}.{extension}", file_name(case, &finished, &self.machine, at));
        // Two short runs may end in the same second.
        let mut at = Local::now();
        while self.directory.join(name(&at)).symlink_metadata().is_ok() {
            std::thread::sleep(Duration::from_nanos(1_000_000_000 - u64::from(at.nanosecond() % 1_000_000_000)));
            at = Local::now();
        }
        let name = name(&at);
        let target = self.directory.join(&name);
        // Facts first: a recording that has its name is complete.
        let moved = move_file(&MachineFacts::path_of(&recording), &MachineFacts::path_of(&target));
        files.keep(&target)?;
        moved
            .or_else(|error| if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
            .and_then(|()| move_file(&recording, &target))
            .map_err(|error| Error::file(&target, error))?;
        Ok(Run::new(case, kind, Some(name), ran.pid, finished))
    }

    fn output_files(&self, name: &str) -> OutputFiles {
        let file = |what: &str| self.directory.join(format!(".{name}.{}.{what}.txt", std::process::id()));
        OutputFiles { out: file("out"), err: file("err") }
    }
}

/// What a command prints.
struct OutputFiles {
    out: PathBuf,
    err: PathBuf,
}

impl OutputFiles {
    /// Keeps them beside the recording; empty ones say nothing.
    fn keep(&self, recording: &Path) -> Result<(), Error> {
        for (file, extension) in [(&self.out, "out.txt"), (&self.err, "err.txt")] {
            if file.metadata().is_ok_and(|file| file.len() > 0) {
                let target = recording.with_extension(extension);
                move_file(file, &target).map_err(|error| Error::file(target, error))?;
            }
        }
        Ok(())
    }

    fn remove(&self) {
        for file in [&self.out, &self.err] {
            // It may have been kept.
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Ends a recorded run when its time is over, or when the user has had enough.
struct Deadline {
    begin: mpsc::Sender<()>,
    watcher: std::thread::JoinHandle<bool>,
}

impl Deadline {
    /// Time counts from [`Self::begin`] on.
    fn new(timeout: Option<Duration>, cancel: &Arc<AtomicBool>, stop: &Arc<AtomicBool>) -> Self {
        stop.store(false, Ordering::Relaxed);
        let (cancel, stop) = (Arc::clone(cancel), Arc::clone(stop));
        let (begin, begun) = mpsc::channel();
        let watcher = std::thread::spawn(move || {
            let mut start: Option<Instant> = None;
            loop {
                match begun.recv_timeout(TICK) {
                    Ok(()) => start = Some(Instant::now()),
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => return false,
                }
                let late = start.zip(timeout).is_some_and(|(start, timeout)| start.elapsed() > timeout);
                if late || cancel.load(Ordering::Relaxed) {
                    stop.store(true, Ordering::Relaxed);
                    return late;
                }
            }
        });
        Self { begin, watcher }
    }

    /// The command is about to start.
    fn begin(&self) {
        // Nobody listens once the user has had enough.
        let _ = self.begin.send(());
    }

    /// Whether time was over.
    fn end(self) -> bool {
        drop(self.begin);
        self.watcher.join().unwrap_or(false)
    }
}

fn command(case: &Case, files: &OutputFiles) -> Result<Option<Command>, Error> {
    let Some(mut command) = case.to_command(&case.command) else { return Ok(None) };
    let create = |path: &Path| File::create(path).map_err(|error| Error::file(path, error));
    command.stdout(create(&files.out)?).stderr(create(&files.err)?);
    Ok(Some(command))
}

/// Runs a command of set-up or clean-up. What went wrong.
fn beside(case: &Case, words: &[String]) -> Result<(), String> {
    let Some(mut command) = case.to_command(words) else { return Ok(()) };
    let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output();
    let line = words.join(" ");
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().next_back().unwrap_or_default().trim();
            Err(format!("`{line}`: {}{}{said}", output.status, if said.is_empty() { "" } else { ": " }))
        }
        Err(error) => Err(format!("`{line}`: {error}")),
    }
}

/// `{TestCase}_{ms}ms_{Machine}_SINGLE_TestStatus-{Passed|Failed}_{date-time}`: the end of the test, local time.
fn file_name(case: &Case, finished: &Finished, machine: &str, at: &DateTime<Local>) -> String {
    let ms = (finished.duration_ns + 500_000) / 1_000_000;
    let (status, time) = (finished.status().as_str(), at.format("%Y%m%d-%H%M%S"));
    format!("{}_{ms}ms_{machine}_SINGLE_TestStatus-{status}_{time}", case.name)
}

/// The machine's name as it may stand in a file's name.
fn machine() -> String {
    let name = MachineFacts::of_this_machine().host.unwrap_or_default();
    let clean = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '-' };
    let name: String = name.chars().map(clean).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

fn move_file(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::rename(from, to)
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone as _;
    use tracesift_extract::input::name::TestName;

    use super::*;

    #[test]
    fn a_recording_explains_itself() {
        let text = "[[test]]\nname = \"File writer\"\ncommand = [\"x\"]\nmatrix = { threads = [3] }\n";
        let directory = tempfile::TempDir::new().unwrap();
        std::fs::write(directory.path().join("plan.toml"), text).unwrap();
        let plan = Plan::read(&directory.path().join("plan.toml")).unwrap();
        let finished = Finished {
            duration_ns: 1_234_567_890,
            duration_from: "wall".to_owned(),
            failure: Some("exit code 1".to_owned()),
            exit_code: Some(1),
            cold: false,
        };
        let at = Local.with_ymd_and_hms(2026, 11, 22, 20, 15, 1).unwrap();
        let name = file_name(&plan.cases[0], &finished, "box-1", &at);
        assert_eq!(name, "File-writer-threads3_1235ms_box-1_SINGLE_TestStatus-Failed_20261122-201501");
        let read = TestName::parse(&format!("{name}.data")).unwrap();
        assert_eq!(
            (read.test.as_str(), read.duration_ms, read.machine.as_str()),
            ("File-writer-threads3", 1235, "box-1")
        );
    }
}
