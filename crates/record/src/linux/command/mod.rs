//! The command line of perf: from what is asked for and what the machine can do to arguments, without looking at anything else.

mod events;

pub use self::events::tracepoints;

use self::events::Event;
use crate::error::{Error, Shortfall};
use crate::linux::capabilities::Capabilities;
use crate::options::{Each, Options, Scope};
use crate::profiles::{self, Profile, SWITCH};

/// What perf is told to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Arguments behind `perf record`, without files and without what ends the recording.
    pub arguments: Vec<String>,
    /// Whether queries for names are recorded, by probes that are set when the recording starts: terms behind the names of their events.
    pub names: Option<String>,
    /// Whether paths of files that are opened are recorded, by probes that are set when the recording starts.
    pub paths: bool,
    /// The process whose blocks of the heap are recorded, by probes that are set when the recording starts, and terms behind the names of
    /// their events.
    pub heap: Option<(u32, String)>,
    /// Whom is recorded: less than what was asked for where the rights do not allow more.
    pub scope: Scope,
    /// What will be missing.
    pub shortfalls: Vec<Shortfall>,
}

/// Plans a recording.
///
/// # Errors
///
/// [`Error::NoRights`] where nobody is left who may be recorded, [`Error::NothingToRecord`] where nothing is left to record.
pub fn plan(options: &Options, machine: &Capabilities) -> Result<Plan, Error> {
    let mut planner = Planner {
        options,
        machine,
        profiles: profiles::complete(&options.profiles),
        scope: options.scope.clone(),
        arguments: Vec::new(),
        shortfalls: Vec::new(),
    };
    planner.choose_scope()?;
    let events = planner.events();
    if events.is_empty() {
        let why: Vec<String> = planner.shortfalls.into_iter().map(|shortfall| shortfall.what).collect();
        return Err(Error::NothingToRecord(why.join("; ")));
    }
    let (names, paths, heap) = (planner.names(), planner.paths(), planner.heap());
    planner.energy();
    planner.settings(&events);
    planner.arguments.extend(events.into_iter().flat_map(Event::into_arguments));
    let Planner { arguments, scope, shortfalls, .. } = planner;
    Ok(Plan { arguments, names, paths, heap, scope, shortfalls })
}

/// A recording while it is planned.
struct Planner<'a> {
    options: &'a Options,
    machine: &'a Capabilities,
    profiles: Vec<&'static Profile>,
    scope: Scope,
    arguments: Vec<String>,
    shortfalls: Vec<Shortfall>,
}

impl Planner<'_> {
    /// The whole machine where that is allowed, else the command.
    fn choose_scope(&mut self) -> Result<(), Error> {
        // Some distributions have a level above that of the kernel.
        if !self.machine.privileged && self.machine.paranoid > 2 {
            return Err(Error::NoRights {
                what: format!("perf may record nothing: kernel.perf_event_paranoid is {}", self.machine.paranoid),
                remedy: "run as root, or: sudo sysctl kernel.perf_event_paranoid=-1".to_owned(),
            });
        }
        if self.scope == Scope::Machine && !self.machine.may_record_machine() {
            self.scope = Scope::Command;
            self.shortfalls.push(Shortfall::with_remedy(
                format!(
                    "only the command and what it starts are recorded, without others that took the CPU or were waited for: \
                     kernel.perf_event_paranoid is {}",
                    self.machine.paranoid
                ),
                "run as root, or: sudo sysctl kernel.perf_event_paranoid=-1, or for perf alone: \
                 sudo setcap cap_perfmon,cap_sys_ptrace=ep $(command -v perf)",
            ));
        }
        if !self.machine.may_record_kernel() {
            self.shortfalls.push(Shortfall::with_remedy(
                format!(
                    "time and stacks in the kernel are not recorded: kernel.perf_event_paranoid is {}",
                    self.machine.paranoid
                ),
                "run as root, or: sudo sysctl kernel.perf_event_paranoid=1",
            ));
        }
        Ok(())
    }

    fn is_whole_machine(&self) -> bool {
        self.scope == Scope::Machine
    }

    /// All that is not an event.
    fn settings(&mut self, events: &[Event]) {
        let is_since = |version: (u32, u32)| self.machine.perf.as_ref().is_some_and(|perf| perf.version >= version);
        let is_unbound = self.machine.privileged || self.machine.paranoid < 0;
        let mut too_large = false;
        let mut arguments: Vec<String> = Vec::new();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(|word| (*word).to_owned()));
        match &self.scope {
            Scope::Machine => {
                add(&["-a"]);
                // Some kernels leave switches out of the tracepoint, those of idle CPUs first of all, and where there are no tracepoints
                // these records alone tell of waits. One is a fifth of what the tracepoint writes with a stack.
                if self.profiles.iter().any(|profile| profile.linux.events.contains(&SWITCH)) {
                    add(&["--switch-events"]);
                }
            }
            // Threads that come back to a CPU are only seen by these records; the tracepoint is one of whom they take it from.
            Scope::Command | Scope::Processes(_) => add(&["--switch-events"]),
        }
        if let Scope::Processes(pids) = &self.scope {
            let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
            add(&["-p", &pids.join(",")]);
        }
        // A clock that programs can read, too, and whose time of day the recording then knows.
        add(&["-k", "CLOCK_MONOTONIC"]);
        if is_since((5, 12)) && self.machine.kernel >= (5, 12) {
            add(&["--buildid-mmap"]);
        } else {
            add(&["--no-buildid-cache"]);
        }
        if events.iter().any(|event| event.has_address) {
            add(&["-d"]);
        }
        match self.options.ring {
            Some(bytes) => add(&["--overwrite", "-m", &size(ring_per_cpu(bytes, self.machine.cpus))]),
            // Beyond the usual half MiB per CPU only for those whom no limit binds.
            None => match self.options.buffer.map(u64::next_power_of_two) {
                Some(bytes) if is_unbound || bytes <= USUAL_BUFFER => add(&["-m", &size(bytes)]),
                Some(_) => too_large = true,
                None if is_unbound => add(&["-m", "4M"]),
                None => {}
            },
        }
        if let Some(rotation) = &self.options.rotation {
            let each = match rotation.each {
                Each::Time(time) => format!("{}s", time.as_secs().max(1)),
                Each::Bytes(bytes) => format!("{}K", bytes.div_ceil(1 << 10).max(1)),
            };
            add(&[&format!("--switch-output={each}")]);
        }
        self.arguments = arguments;
        if too_large {
            self.shortfalls.push(Shortfall::with_remedy(
                "--buffer is left at 512KiB per CPU: more memory is not for this user",
                "run as root, or: sudo sysctl kernel.perf_event_paranoid=-1",
            ));
        }
    }
}

/// What everybody may have per CPU.
const USUAL_BUFFER: u64 = 512 << 10;

/// The power of two that all CPUs have room for.
fn ring_per_cpu(bytes: u64, cpus: u32) -> u64 {
    const SMALLEST: u64 = 64 << 10;
    let share = (bytes / u64::from(cpus.max(1))).max(SMALLEST);
    1 << share.ilog2()
}

fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{}M", bytes >> 20) } else { format!("{}K", bytes >> 10) }
}
