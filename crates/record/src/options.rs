//! The options of a recording.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::Error;
use crate::profiles::{PROFILES, Profile};
use crate::stacks::{CallGraph, Stacks};
use crate::watch::Condition;

/// What is to be recorded, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The profiles.
    pub profiles: Vec<&'static Profile>,
    /// Profiles from recording profiles of the user's own (Windows).
    pub profile_files: Vec<ProfileFile>,
    /// Hardware counters instead of those of the profiles, as the system calls them.
    pub counters: Vec<String>,
    /// How often the CPU is sampled.
    pub rate: Rate,
    /// Keep only what happened last, in that many bytes of memory.
    pub ring: Option<u64>,
    /// Bytes for events that are not written yet: per CPU on Linux, of each session on Windows. `None`: as usual.
    pub buffer: Option<u64>,
    /// Which events have call stacks.
    pub stacks: Stacks,
    /// How call stacks are found (Linux).
    pub call_graph: CallGraph,
    /// Whom to record.
    pub scope: Scope,
    /// A process whose blocks of the heap are recorded (Linux).
    pub heap: Option<u32>,
    /// Begin a new file from time to time.
    pub rotation: Option<Rotation>,
    /// What ends the recording besides the end of the command.
    pub stop_when: Vec<Condition>,
    /// Whether files that exist are replaced.
    pub overwrite: bool,
    /// Root of sysfs, where counters of energy are looked for (Linux).
    pub sysfs: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            profiles: PROFILES.iter().take(1).collect(),
            profile_files: Vec::new(),
            counters: Vec::new(),
            rate: Rate::default(),
            ring: None,
            buffer: None,
            stacks: Stacks::default(),
            call_graph: CallGraph::default(),
            scope: Scope::default(),
            heap: None,
            rotation: None,
            stop_when: Vec::new(),
            overwrite: false,
            sysfs: PathBuf::from("/sys"),
        }
    }
}

/// A profile of a `.wprp` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileFile {
    /// The file.
    pub path: PathBuf,
    /// Name of the profile in it; `None`: the only one.
    pub profile: Option<String>,
}

/// Whom to record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The whole machine.
    #[default]
    Machine,
    /// The command, and whatever it starts.
    Command,
    /// Processes that run already, and whatever they start.
    Processes(Vec<u32>),
}

/// When the next file begins, and how much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The next file begins after.
    pub each: Each,
    /// Old files are removed beyond so many bytes; `None`: all are kept.
    pub keep: Option<u64>,
}

/// What a file of a rotation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// So much time; perf counts whole seconds.
    Time(Duration),
    /// So many bytes.
    Bytes(u64),
}

/// How often the CPU is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Time between two samples of a CPU, ns.
    interval_ns: u64,
}

impl Rate {
    const SECOND: u64 = 1_000_000_000;

    /// A sample each so many ns, from 125 µs to 1 s.
    ///
    /// # Errors
    ///
    /// [`Error::Rate`] where that is more often or less often.
    pub fn from_interval(interval_ns: u64) -> Result<Self, Error> {
        match interval_ns {
            // 8 kHz is the most that ETW can do.
            122_100..=Self::SECOND => Ok(Self { interval_ns }),
            _ => Err(Error::Rate(format!("{interval_ns} ns"))),
        }
    }

    /// Samples of a CPU per second.
    #[must_use]
    pub fn per_second(self) -> u64 {
        (Self::SECOND + self.interval_ns / 2) / self.interval_ns
    }

    /// Time between two samples in units of 100 ns.
    #[must_use]
    pub fn hundred_ns(self) -> u64 {
        self.interval_ns / 100
    }

    fn from_frequency(hertz: u64) -> Option<Self> {
        let interval = Self::SECOND.checked_div(hertz)?;
        Self::from_interval(interval).ok()
    }
}

impl Default for Rate {
    /// A little less than each ms, so that nothing that happens each ms is met again and again.
    fn default() -> Self {
        Self { interval_ns: Self::SECOND / 999 }
    }
}

impl FromStr for Rate {
    type Err = Error;

    /// A frequency, `8kHz`, `999Hz` or `999`, or a time, `10ms` or `125us`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let error = || Error::Rate(text.to_owned());
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().map_err(|_| error())?;
        let scaled = |factor: u64| number.checked_mul(factor).ok_or_else(error);
        match unit.trim().to_ascii_lowercase().as_str() {
            "" | "hz" => Self::from_frequency(number).ok_or_else(error),
            "khz" => Self::from_frequency(scaled(1000)?).ok_or_else(error),
            "us" | "µs" | "μs" => Self::from_interval(scaled(1000)?).map_err(|_| error()),
            "ms" => Self::from_interval(scaled(1_000_000)?).map_err(|_| error()),
            _ => Err(error()),
        }
    }
}
