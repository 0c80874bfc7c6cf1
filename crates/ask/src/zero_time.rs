//! `--zero-time`: the instant from which times are counted, found in each recording by what happened there, so that recordings of
//! machines without a common clock line up.

use std::str::FromStr;

use clap::Args;
use rustc_hash::FxHashSet;
use tracesift_archive::Error;
use tracesift_grammar::Patterns;
use tracesift_trace::rows::{EventRow, MarkRow, ProcessRow};
use tracesift_trace::{ProcessId, view};

use crate::filter::{ProcessFilter, ProcessPatterns};
use crate::method_patterns::MethodPatterns;
use crate::processes::Processes;
use crate::recording::OpenRecording;
use crate::sightings;

/// Candidates that lie closer together are one and the same, ns.
const SAME: i64 = 10_000_000;

/// What happened at time zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landmark {
    /// A mark with such a text.
    Mark(Patterns),
    /// The start of a process.
    ProcessStart(ProcessPatterns),
    /// The end of a process.
    ProcessEnd(ProcessPatterns),
    /// The first time at which a method was seen in a sample or a wait.
    First(MethodPatterns),
    /// The last time.
    Last(MethodPatterns),
    /// The first event with such a provider and name or id.
    Event {
        /// Provider.
        provider: Patterns,
        /// Name or id.
        event: Patterns,
    },
}

/// A text that names no landmark.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no instant; write mark:TEXT, process-start:NAME, process-end:NAME, first:METHOD, last:METHOD or event:PROVIDER/NAME"
)]
pub struct LandmarkError(String);

impl FromStr for Landmark {
    type Err = LandmarkError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || LandmarkError(text.to_owned());
        let (kind, what) = text.split_once(':').filter(|(_, what)| !what.trim().is_empty()).ok_or_else(error)?;
        Ok(match kind.trim().to_ascii_lowercase().as_str() {
            "mark" => Self::Mark(Patterns::parse(what)),
            "process-start" => Self::ProcessStart(ProcessPatterns::parse(what)),
            "process-end" => Self::ProcessEnd(ProcessPatterns::parse(what)),
            "first" => Self::First(MethodPatterns::parse(what, false)),
            "last" => Self::Last(MethodPatterns::parse(what, false)),
            "event" => {
                // Names of providers have no slash; those of events may.
                let (provider, event) = what.split_once('/').ok_or_else(error)?;
                Self::Event { provider: Patterns::parse(provider), event: Patterns::parse(event) }
            }
            _ => return Err(error()),
        })
    }
}

/// Where times begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZeroTime {
    /// In the order of preference: the first that a recording has counts.
    pub landmarks: Vec<Landmark>,
    /// Only what these processes did.
    pub process: ProcessFilter,
}

/// The options that name it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Time")]
pub struct ZeroOptions {
    /// Count times from a landmark in each recording: mark:TEXT, process-start:NAME, process-end:NAME, first:METHOD, last:METHOD
    /// or event:PROVIDER/NAME; of several the first that a recording has
    #[arg(long, value_name = "LANDMARK")]
    zero_time: Vec<Landmark>,

    /// The landmark of --zero-time must be of these processes
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, requires = "zero_time")]
    zero_process: ProcessPatterns,

    /// The landmark of --zero-time must be of processes with such a command line
    #[arg(
        long,
        value_name = "PATTERNS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true,
        requires = "zero_time"
    )]
    zero_cmdline: Patterns,
}

impl ZeroOptions {
    /// Where times begin.
    #[must_use]
    pub fn zero(&self) -> ZeroTime {
        let process = ProcessFilter {
            process: self.zero_process.clone(),
            command_line: self.zero_cmdline.clone(),
            ..ProcessFilter::default()
        };
        ZeroTime { landmarks: self.zero_time.clone(), process }
    }
}

/// The instant that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundZero {
    /// When, ns since the session's start.
    pub time: i64,
    /// How many candidates lie apart from each other; more than one makes the choice doubtful.
    pub candidates: usize,
}

impl ZeroTime {
    /// Whether times are counted from the session's start.
    #[must_use]
    pub fn is_session(&self) -> bool {
        self.landmarks.is_empty()
    }

    /// Finds the instant in a recording.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn find(&self, recording: &OpenRecording) -> Result<Option<FoundZero>, Error> {
        let processes: Vec<ProcessRow> = recording.archive().rows()?;
        let accepted: Vec<&ProcessRow> =
            Processes::new(&processes).accepted(&self.process).map(|(_, row)| row).collect();
        for landmark in &self.landmarks {
            let mut times = landmark.times(recording, &accepted, self.process.is_empty())?;
            times.sort_unstable();
            if let Some(&time) = if matches!(landmark, Landmark::Last(_)) { times.last() } else { times.first() } {
                let apart = times.windows(2).filter(|pair| matches!(pair, [a, b] if b - a > SAME)).count();
                return Ok(Some(FoundZero { time, candidates: apart + 1 }));
            }
        }
        Ok(None)
    }
}

impl Landmark {
    /// All instants that it could be.
    fn times(&self, recording: &OpenRecording, processes: &[&ProcessRow], all: bool) -> Result<Vec<i64>, Error> {
        let archive = recording.archive();
        let own: FxHashSet<ProcessId> = processes.iter().map(|row| row.process).collect();
        let is_of = |process: Option<ProcessId>| all || process.is_some_and(|id| own.contains(&id));
        let mut times = Vec::new();
        match self {
            Self::Mark(patterns) => {
                let wanted = |row: &MarkRow| patterns.matches(&row.text) && is_of(row.process);
                archive.scan(None, |row: &MarkRow| times.extend(wanted(row).then_some(row.time)))?;
            }
            Self::ProcessStart(patterns) => {
                let named = processes.iter().filter(|row| patterns.matches(&row.name, row.pid));
                times.extend(named.filter_map(|row| row.start));
            }
            Self::ProcessEnd(patterns) => {
                let named = processes.iter().filter(|row| patterns.matches(&row.name, row.pid));
                times.extend(named.filter_map(|row| row.end));
            }
            Self::First(patterns) | Self::Last(patterns) => {
                let last = matches!(self, Self::Last(_));
                times.extend(sighting(recording, patterns, processes, last)?);
            }
            Self::Event { provider, event } => {
                archive.scan(None, |row: &NamedEvent| {
                    let id = row.id.map(|id| id.to_string()).unwrap_or_default();
                    if provider.matches(&row.provider) && event.matches_any(&[&row.event, &id]) && is_of(row.process) {
                        times.push(row.time);
                    }
                })?;
            }
        }
        Ok(times)
    }
}

view! {
    /// The name and the time of an event.
    #[derive(Clone, Debug)]
    struct NamedEvent of EventRow { time, process, provider, event, id }
}

/// The first or the last time at which a method was seen.
fn sighting(
    recording: &OpenRecording,
    patterns: &MethodPatterns,
    processes: &[&ProcessRow],
    last: bool,
) -> Result<Option<i64>, Error> {
    let own: FxHashSet<ProcessId> = processes.iter().map(|row| row.process).collect();
    let mut best: Option<i64> = None;
    sightings::each(
        recording,
        patterns,
        |process| own.contains(&process),
        |seen| {
            let time = if last { seen.to } else { seen.from };
            best = Some(best.map_or(time, |best| if last { best.max(time) } else { best.min(time) }));
        },
    )?;
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::{Landmark, LandmarkError};

    #[test]
    fn landmarks() {
        assert!(matches!("mark:*Start*".parse(), Ok(Landmark::Mark(_))));
        assert!(matches!("Process-Start:FileWriter".parse(), Ok(Landmark::ProcessStart(_))));
        assert!(matches!("first:std::vec::*".parse(), Ok(Landmark::First(_))));
        assert!(matches!("event:Microsoft-Windows-DNS-Client/3006".parse(), Ok(Landmark::Event { .. })));
        for wrong in ["", "mark:", "start:a", "event:DNS", "mark"] {
            assert!(matches!(wrong.parse::<Landmark>(), Err(LandmarkError(_))), "{wrong}");
        }
    }
}
