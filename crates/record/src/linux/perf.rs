//! A perf that records.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use rustix::process::Signal;

use crate::error::{Error, Shortfall};
use crate::linux::capabilities::Capabilities;
use crate::linux::command::{self, Plan};
use crate::linux::probes::Probes;
use crate::linux::{heap_probes, name_probes, path_probes};
use crate::options::{Options, Scope};
use crate::process;
use crate::staging::Staging;

const TOOL: &str = "perf";
/// The file that perf writes; with a rotation each has a time behind that name.
const DATA: &str = "recording.data";
const CONTROL: &str = "control";
const ACKNOWLEDGEMENT: &str = "acknowledgement";
const SAID: &str = "said";

/// What recordings are called.
pub(crate) const EXTENSION: &str = "data";

/// What will be recorded on this machine, and how.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    machine: Capabilities,
    plan: Plan,
}

/// Looks at the machine and plans.
pub(crate) fn prepare(options: &Options) -> Result<Prepared, Error> {
    let profiles = crate::profiles::complete(&options.profiles);
    let names: Vec<String> = command::tracepoints(&profiles).collect();
    let machine = Capabilities::of_this_machine(&options.sysfs, names.iter().map(String::as_str));
    machine.perf()?;
    let plan = command::plan(options, &machine)?;
    Ok(Prepared { machine, plan })
}

/// The events of the CPUs that perf lists.
pub(crate) fn counters() -> Result<Vec<String>, Error> {
    let machine = Capabilities::of_this_machine(Path::new("/sys"), std::iter::empty());
    let listed = Command::new(&machine.perf()?.path).args(["list", "--no-desc", "hw", "cache", "pmu"]).output();
    let listed = listed.map_err(|error| Error::Command { command: TOOL.to_owned(), error })?;
    if !machine.hardware_counters {
        return Ok(Vec::new());
    }
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let names = text.lines().filter(|line| line.contains("event")).filter_map(|line| line.split_whitespace().next());
    Ok(names.map(str::to_owned).collect())
}

impl Prepared {
    /// What will be missing.
    pub(crate) fn shortfalls(&self) -> &[Shortfall] {
        &self.plan.shortfalls
    }

    /// Whom is recorded.
    pub(crate) fn scope(&self) -> &Scope {
        &self.plan.scope
    }

    /// The recorder, and its version.
    pub(crate) fn recorder(&self) -> (String, String) {
        let version = self.machine.perf.as_ref().map(|perf| perf.version).unwrap_or_default();
        (TOOL.to_owned(), format!("{}.{}", version.0, version.1))
    }

    /// Starts perf, and comes back when it records.
    pub(crate) fn start(
        &self,
        staging: &Staging,
        _program: Option<&OsStr>,
        cancel: &AtomicBool,
    ) -> Result<Running, Error> {
        let perf = self.machine.perf()?;
        let control = (perf.version >= (5, 10)).then(|| Control::new(staging)).transpose()?;
        let said = staging.file(SAID);
        let stderr = File::create_new(&said).map_err(|error| Error::file(&said, error))?;
        let names = self.plan.names.as_ref().map(|_| name_probes::set());
        let paths = self.plan.paths.then(path_probes::set);
        let heap = self.plan.heap.as_ref().map(|(pid, _)| heap_probes::set(*pid));
        let mut command = Command::new(&perf.path);
        command.arg("record").args(&self.plan.arguments);
        if let (Some(Ok(names)), Some(terms)) = (&names, &self.plan.names) {
            command.args(names.arguments(terms));
        }
        if let (Some(Ok(heap)), Some((_, terms))) = (&heap, &self.plan.heap) {
            command.args(heap.arguments(terms));
        }
        if let Some(Ok(paths)) = &paths {
            command.args(paths.arguments(""));
        }
        if self.plan.scope == Scope::Command {
            // Whatever we start from now on is recorded as our child.
            command.args(["-p", &std::process::id().to_string()]);
        }
        if control.is_some() {
            let names = [CONTROL, ACKNOWLEDGEMENT].map(|name| staging.file(name).display().to_string());
            command.arg("--control").arg(format!("fifo:{}", names.join(",")));
        }
        command.arg("-o").arg(staging.file(DATA));
        // perf ends with what it runs, and that ends when our end of the pipe is closed: however we end, perf does not stay.
        command.args(["--", "cat"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(stderr);
        // Ctrl-C in a terminal is for us; perf is told by us.
        process::detach(&mut command);
        let child = command.spawn().map_err(|error| Error::Command { command: TOOL.to_owned(), error })?;
        let (mut probes, mut shortfalls) = (Vec::new(), Vec::new());
        let sets = [
            (names, "queries for names are"),
            (paths, "paths of files that are opened are"),
            (heap, "blocks of the heap are"),
        ];
        for (set, what) in sets {
            match set {
                Some(Ok(set)) => probes.push(set),
                Some(Err(why)) => shortfalls.push(Shortfall::new(format!("{what} not recorded: {why}"))),
                None => {}
            }
        }
        let mut running = Running { child, said, ended: false, _probes: probes, shortfalls };
        match running.wait_until_it_records(control, staging, cancel) {
            Ok(()) => Ok(running),
            Err(error) => {
                running.stop();
                Err(error)
            }
        }
    }
}

/// The pipes by which perf is asked and answers.
struct Control {
    control: File,
    acknowledgement: File,
}

impl Control {
    fn new(staging: &Staging) -> Result<Self, Error> {
        let open = |name: &str| {
            let path = staging.file(name);
            let made = mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).map_err(Into::into);
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            let opened = made.and_then(|()| OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path));
            opened.map_err(|error| Error::file(path, error))
        };
        Ok(Self { control: open(CONTROL)?, acknowledgement: open(ACKNOWLEDGEMENT)? })
    }

    /// Asks for something that is already so: the answer comes when perf is through with its start.
    fn ask(&mut self) -> Result<(), Error> {
        self.control.write_all(b"enable\n").map_err(|error| Error::file(CONTROL, error))
    }

    fn has_answered(&mut self) -> bool {
        let mut answer = [0; 16];
        matches!(self.acknowledgement.read(&mut answer), Ok(length) if length > 0)
    }
}

/// perf at work.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    said: PathBuf,
    ended: bool,
    /// They go when perf has ended.
    _probes: Vec<Probes>,
    shortfalls: Vec<Shortfall>,
}

impl Running {
    fn wait_until_it_records(
        &mut self,
        control: Option<Control>,
        staging: &Staging,
        cancel: &AtomicBool,
    ) -> Result<(), Error> {
        /// Large machines have many processes to describe.
        const PATIENCE: Duration = Duration::from_secs(120);
        let started = Instant::now();
        let mut control = control;
        if let Some(control) = &mut control {
            control.ask()?;
        }
        while started.elapsed() < PATIENCE {
            let is_recording = match &mut control {
                Some(control) => control.has_answered(),
                // An old perf writes when there is something to write.
                None => staging.file(DATA).metadata().is_ok_and(|file| file.len() > 4096),
            };
            if is_recording {
                return Ok(());
            }
            if self.has_ended() {
                return Err(self.refused());
            }
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Err(Error::Refused { tool: TOOL, said: "it does not begin to record".to_owned() })
    }

    /// What is missing, known only now.
    pub(crate) fn shortfalls(&self) -> Vec<Shortfall> {
        self.shortfalls.clone()
    }

    fn refused(&self) -> Error {
        Error::Refused { tool: TOOL, said: self.last_words() }
    }

    /// Whether perf has ended by itself, as when the disk is full.
    pub(crate) fn has_ended(&mut self) -> bool {
        if !self.ended {
            self.ended = !matches!(self.child.try_wait(), Ok(None));
        }
        self.ended
    }

    /// The files that are written and will not change any more: those of a rotation before the current one.
    pub(crate) fn finished(&self, staging: &Staging) -> Vec<PathBuf> {
        let prefix = format!("{DATA}.");
        let is_finished =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
        staging.files().into_iter().filter(is_finished).collect()
    }

    /// Ends the recording and waits until perf has written it: the files, oldest first.
    pub(crate) fn finish(mut self, staging: &Staging) -> Result<Vec<PathBuf>, Error> {
        self.stop();
        let mut files = self.finished(staging);
        files.extend(Some(staging.file(DATA)).filter(|file| file.exists()));
        files.retain(|file| is_whole(file));
        if files.is_empty() { Err(Error::Broken { tool: TOOL, said: self.last_words() }) } else { Ok(files) }
    }

    /// Ends the recording, whatever becomes of it.
    pub(crate) fn stop(&mut self) {
        /// Until then perf has heard that its pipe was closed.
        const GRACE: Duration = Duration::from_secs(5);
        drop(self.child.stdin.take());
        let asked = Instant::now();
        let mut told = false;
        while !self.has_ended() {
            if asked.elapsed() > GRACE && !told {
                told = true;
                process::signal(self.child.id(), Signal::INT);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The end of what perf has said, without what it says every time.
    fn last_words(&self) -> String {
        let text = fs::read(&self.said).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let is_news =
            |line: &&str| !line.is_empty() && !line.starts_with("[ perf record:") && *line != "Events enabled";
        let lines: Vec<&str> = text.lines().map(str::trim).filter(is_news).take(4).collect();
        if lines.is_empty() { "it does not say why".to_owned() } else { lines.join(" ") }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether perf has closed the file: it writes how much there is when all of it is there.
fn is_whole(path: &Path) -> bool {
    const DATA_SIZE: usize = 48;
    let mut head = [0; DATA_SIZE + 8];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    match read {
        Ok(()) => head.starts_with(b"PERFILE2") && head[DATA_SIZE..].iter().any(|byte| *byte != 0),
        Err(_) => false,
    }
}
