//! Runs a plan.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use chrono::{DateTime, Local, Timelike as _};

use super::cache;
use super::case::{Case, cleaned};
use super::extraction::Extraction;
use super::measured::{Ended, Finished, judge};
use super::plan::Plan;
use super::settings::Cache;
use super::state::{Kind, Run, State};
use super::turns;
use crate::process::{self, Ending};
use crate::run::RunningCommand;
use crate::staging::Staging;
use crate::{EndedBy, Error, MachineFacts, Recorded, Recorder};

/// Between two looks at whether something has ended.
const TICK: Duration = Duration::from_millis(10);
/// What a command prints on standard output and standard error.
const OUT: &str = "out.txt";
const ERR: &str = "err.txt";

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
    let left = turns::left(&plan.cases, state);
    let kinds = [Kind::Recorded, Kind::Bare];
    let done = plan.cases.iter().flat_map(|case| kinds.map(|kind| state.runs_of(case, kind).count())).sum();
    say(Event::Begins { done, left: left.len() });
    let mut runner = Runner { recorder, stop, settings, directory: state.directory().to_owned(), warmed: Vec::new() };
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
    directory: PathBuf,
    /// Cases that have run once to fill the caches.
    warmed: Vec<String>,
}

/// A run without its name.
struct Ran {
    ended: Ended,
    pid: Option<u32>,
    recording: Option<Recorded>,
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
            let staging = self.staging(case)?;
            self.held(|runner| runner.bare(case, &staging).map_err(Problem::from))?;
            self.warmed.push(case.name.clone());
        }
        self.settle(case.settle);
        if self.is_cancelled() {
            return Ok(None);
        }
        let staging = self.staging(case)?;
        let ran = self.held(|runner| {
            if case.cache == Cache::Cold {
                cache::empty().map_err(|error| Problem::Cache { case: case.name.clone(), error })?;
            }
            match kind {
                Kind::Recorded => runner.recorded(case, &staging, say),
                Kind::Bare => runner.bare(case, &staging).map_err(Problem::from),
            }
        })?;
        let run = ran.map(|ran| self.named(case, kind, ran, &staging)).transpose()?;
        drop(staging);
        self.settle(case.settle);
        Ok(run)
    }

    /// Where the files of a run are until they have their names; what does not get one goes with it.
    fn staging(&self, case: &Case) -> Result<Staging, Error> {
        Staging::beside(&self.directory.join(&case.name))
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
        staging: &Staging,
        say: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<Ran>, Problem> {
        let output = staging.file(&format!("recording.{}", self.recorder.extension()));
        let Some(mut command) = command(case, staging)? else { return Ok(None) };
        let deadline = Deadline::new(case.timeout, &self.settings.cancel, &self.stop);
        let recorded = self.recorder.record_telling(&mut command, &output, &mut || deadline.begin());
        let timed_out = deadline.end();
        let recorded = match recorded {
            Err(Error::Cancelled) if self.is_cancelled() => return Ok(None),
            recorded => recorded?,
        };
        if self.is_cancelled() {
            return Ok(None);
        }
        if recorded.ended_by == EndedBy::Recorder {
            let said = "the recorder ended before the test".to_owned();
            return Err(Error::Broken { tool: "the recorder", said }.into());
        }
        for warning in recorded.warnings.iter().skip(self.recorder.shortfalls().len()) {
            say(Event::Warning(format!("{}: {}", case.name, warning.what)));
        }
        let ended = Ended {
            status: recorded.exit_status,
            wall: recorded.command_duration.or(case.timeout).unwrap_or_default(),
            timed_out,
            started: recorded.started,
        };
        Ok(Some(Ran { ended, pid: recorded.command_pid, recording: Some(recorded) }))
    }

    /// Runs the command without a recorder.
    fn bare(&mut self, case: &Case, staging: &Staging) -> Result<Option<Ran>, Error> {
        let Some(mut command) = command(case, staging)? else { return Ok(None) };
        let (started, start) = (SystemTime::now(), Instant::now());
        let RunningCommand { name, pid, end } = RunningCommand::start(&mut command)?;
        let mut timed_out = false;
        let (status, wall) = loop {
            if let Ok((status, wall)) = end.recv_timeout(TICK) {
                break (status.map_err(|error| Error::Command { command: name, error })?, wall);
            }
            timed_out |= case.timeout.is_some_and(|timeout| start.elapsed() > timeout);
            if timed_out || self.is_cancelled() {
                process::end(pid, Ending::Force);
            }
        };
        let ended = Ended { status: Some(status), wall, timed_out, started };
        Ok((!self.is_cancelled()).then_some(Ran { ended, pid: Some(pid), recording: None }))
    }

    /// Gives a run's files the name that explains them.
    fn named(&self, case: &Case, kind: Kind, ran: Ran, staging: &Staging) -> Result<Run, Problem> {
        let finished = judge(case, &ran.ended, &staging.file(OUT));
        let Some(Recorded { path: recording, facts, .. }) = ran.recording else {
            return Ok(Run::new(case, kind, None, ran.pid, finished));
        };
        let machine = machine(&facts);
        let extension = self.recorder.extension();
        let name = |at: &DateTime<Local>| format!("{}.{extension}", file_name(case, &finished, &machine, at));
        // Two short runs may end in the same second.
        let mut at = Local::now();
        while self.directory.join(name(&at)).symlink_metadata().is_ok() {
            std::thread::sleep(Duration::from_nanos(1_000_000_000 - u64::from(at.nanosecond() % 1_000_000_000)));
            at = Local::now();
        }
        let name = name(&at);
        let target = self.directory.join(&name);
        let place = |from: PathBuf, to: PathBuf| std::fs::rename(from, &to).map_err(|error| Error::file(to, error));
        for (file, target) in [
            (MachineFacts::path_of(&recording), MachineFacts::path_of(&target)),
            (staging.file(OUT), target.with_extension(OUT)),
            (staging.file(ERR), target.with_extension(ERR)),
        ] {
            // Facts may be missing, and who prints nothing needs no file of it.
            if file.metadata().is_ok_and(|file| file.len() > 0) {
                place(file, target)?;
            }
        }
        // Last: a recording that has its name is complete.
        place(recording, target)?;
        Ok(Run::new(case, kind, Some(name), ran.pid, finished))
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

fn command(case: &Case, staging: &Staging) -> Result<Option<Command>, Error> {
    let Some(mut command) = case.to_command(&case.command) else { return Ok(None) };
    let create = |name: &str| {
        let path = staging.file(name);
        File::create(&path).map_err(|error| Error::file(path, error))
    };
    command.stdout(create(OUT)?).stderr(create(ERR)?);
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
fn machine(facts: &MachineFacts) -> String {
    let name = cleaned(facts.host.as_deref().unwrap_or_default(), "-");
    if name.is_empty() { "unknown".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone as _;
    use tracesift_grammar::TestName;

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
        let read = TestName::parse(&name).unwrap();
        assert_eq!(
            (read.test.as_str(), read.duration_ms, read.machine.as_str()),
            ("File-writer-threads3", 1235, "box-1")
        );
    }
}
