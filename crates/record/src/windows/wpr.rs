//! A wpr that records.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use crate::error::{Error, Shortfall};
use crate::options::{Options, Scope};
use crate::staging::Staging;
use crate::windows::{command, profile};

const TOOL: &str = "wpr";

/// What recordings are called.
pub(crate) const EXTENSION: &str = "etl";

const DATA: &str = "recording.etl";
const PROFILE: &str = "tracesift.wprp";

/// What will be recorded.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    options: Options,
    shortfalls: Vec<Shortfall>,
}

/// Looks whether wpr is here.
pub(crate) fn prepare(options: &Options) -> Result<Prepared, Error> {
    wpr(&["-status".to_owned()]).map_err(|error| match error {
        Error::Command { error, .. } if error.kind() == std::io::ErrorKind::NotFound => Error::NoRecorder {
            tool: TOOL,
            remedy: "it is part of Windows 10 and later; for others install the Windows Performance Toolkit".to_owned(),
        },
        other => other,
    })?;
    let nowhere = PathBuf::new();
    let shortfalls = command::plan(options, &nowhere, &nowhere, &nowhere).shortfalls;
    Ok(Prepared { options: options.clone(), shortfalls })
}

/// The counters that wpr lists.
pub(crate) fn counters() -> Result<Vec<String>, Error> {
    let said = wpr(&["-pmcsources".to_owned()])?;
    let is_counter = |line: &&str| line.split_whitespace().next().is_some_and(|id| id.parse::<u32>().is_ok());
    let name = |line: &str| line.split_whitespace().nth(1).map(str::to_owned);
    Ok(said.lines().filter(is_counter).filter_map(name).filter(|name| name != "Timer").collect())
}

/// Runs wpr: what it says, also where it fails.
fn wpr(arguments: &[String]) -> Result<String, Error> {
    let mut command = Command::new(TOOL);
    let output = command.args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| Error::Command { command: TOOL.to_owned(), error })?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let failed = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() {
        return Ok(said);
    }
    let said = if failed.is_empty() { said } else { failed };
    // E_ACCESSDENIED, and what it is for users without the right to profile the system.
    if said.contains("0x80070005") || said.contains("0xc5585011") {
        return Err(Error::NoRights {
            what: format!("{TOOL} may not record: {said}"),
            remedy: "start it in a console that runs as administrator".to_owned(),
        });
    }
    Err(Error::Refused { tool: TOOL, said })
}

impl Prepared {
    /// What will be missing.
    pub(crate) fn shortfalls(&self) -> &[Shortfall] {
        &self.shortfalls
    }

    /// Whom is recorded: the kernel's events are those of the machine.
    pub(crate) fn scope(&self) -> &Scope {
        &Scope::Machine
    }

    /// The recorder, and its version.
    pub(crate) fn recorder(&self) -> (String, String) {
        let said = wpr(&["-help".to_owned()]).unwrap_or_default();
        let version = said.split_once("Version ").and_then(|(_, rest)| rest.split_whitespace().next());
        (TOOL.to_owned(), version.unwrap_or_default().to_owned())
    }

    /// Starts wpr, which comes back when it records. `program` is what will be run.
    pub(crate) fn start(
        &self,
        staging: &Staging,
        program: Option<&OsStr>,
        _cancel: &AtomicBool,
    ) -> Result<Running, Error> {
        let file = staging.file(PROFILE);
        let program = program.and_then(|program| Path::new(program).file_name()).map(OsStr::to_string_lossy);
        let process = profile::process_filter(&self.options, program.as_deref());
        let text = profile::recording_profile(&self.options, process.as_deref());
        std::fs::write(&file, text).map_err(|error| Error::file(&file, error))?;
        let plan = command::plan(&self.options, &file, &staging.file(""), &staging.file(DATA));
        plan.before.iter().try_for_each(|call| wpr(call).map(drop))?;
        let running = Running { plan, is_stopped: false, failure: None };
        // What fails is ended when it goes.
        wpr(&running.plan.start).map(|_| running)
    }
}

/// wpr at work.
#[derive(Debug)]
pub(crate) struct Running {
    plan: command::Plan,
    is_stopped: bool,
    failure: Option<Error>,
}

impl Running {
    /// wpr does not end by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        false
    }

    /// What is missing, known only now.
    pub(crate) fn shortfalls(&self) -> Vec<Shortfall> {
        Vec::new()
    }

    /// There is one file, at the end.
    pub(crate) fn finished(&self, _staging: &Staging) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Ends the recording and waits until wpr has written it.
    pub(crate) fn finish(mut self, staging: &Staging) -> Result<Vec<PathBuf>, Error> {
        self.stop();
        match self.failure.take() {
            Some(error) => Err(error),
            None => Ok(vec![staging.file(DATA)]),
        }
    }

    /// Ends the recording.
    pub(crate) fn stop(&mut self) {
        if !self.is_stopped {
            self.is_stopped = true;
            self.failure = wpr(&self.plan.stop).err();
            if self.failure.is_some() {
                let _ = wpr(&self.plan.cancel);
            }
            self.plan.after.iter().for_each(|call| drop(wpr(call)));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_stopped {
            let _ = wpr(&self.plan.cancel);
            self.plan.after.iter().for_each(|call| drop(wpr(call)));
        }
    }
}
