//! The account of one window: what its parts are, and how they are read.

use std::ops::ControlFlow;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::path::{Gap, Link, PathSwitch, Walk};
use tracesift_analysis::{Interrupt, RecordingFacts};
use tracesift_archive::Error;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, sample_flags};
use tracesift_trace::{ThreadId, view};

use super::charges::{Charges, Hit};
use super::collector::Collector;
use super::disk_waits::Operation;
use super::parties::Parties;
use super::places::{Place, Places};
use super::window::{People, Window};
use super::witness::{Piece, Witness};
use crate::recording::OpenRecording;

view! {
    /// The thread of a switch.
    #[derive(Clone, Copy, Debug)]
    struct SwitchedThread of ContextSwitchRow { thread }
}

view! {
    /// A sample of a thread.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct PathSample of CpuSampleRow { time, thread, weight, stack, flags }
}

/// For whom the time of a part was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum For {
    /// The thread that the account starts with spent it itself.
    Own,
    /// That thread was not born yet.
    Birth,
    /// That thread waited in this place.
    Wait(Place),
}

/// Which code ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Code {
    /// That of a place.
    At(Place),
    /// An interrupt or a deferred procedure call, which has nothing to do with the thread.
    Interrupt,
}

/// Who had the CPU that a thread was ready to run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Holder {
    /// A thread of this party.
    Party(u32),
    /// Nobody: the CPU was idle.
    Idle,
    /// It is not known.
    Unknown,
}

/// What ended a wait that nobody can be followed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Ended {
    /// A timer or a device.
    Interrupt(Interrupt),
    /// This operation of a disk.
    Disk(Operation),
    /// Nobody, or it was not recorded.
    Nobody,
    /// A thread that the path cannot follow.
    Unfollowed,
}

/// What the thread of a part did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Did {
    /// It ran this code; `None`: no sample tells which.
    Run(Option<Code>),
    /// It could run.
    Ready(Holder),
    /// It waited.
    Wait(Ended, Place),
    /// Nobody knows.
    Unknown(Gap),
    /// The window without the samples of its thread, where the recording has no switches: the thread was not on a CPU, or it was not
    /// sampled.
    NotSampled,
}

/// What the time of a part has in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    /// Who.
    pub(crate) party: u32,
    /// What it did.
    pub(crate) did: Did,
    /// For whom.
    pub(crate) whom: For,
}

/// A part of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    /// What its time has in common.
    pub(crate) key: Key,
    /// Its time, ns. Below zero only for [`Did::NotSampled`], where samples stand for more time than the window has.
    pub(crate) time: i64,
    /// Stretches of time that it consists of. Samples divide the stretches of runs: these are counted with the largest part of each
    /// group of runs.
    pub(crate) leaves: u64,
    /// The longest of these, ns.
    pub(crate) longest: i64,
    /// Sum of the squares of their lengths, ns².
    pub(crate) squares: f64,
    /// Samples.
    pub(crate) samples: u64,
}

/// How much a recording tells of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// CPU samples only.
    Samples,
    /// Context switches without ready events: waits have no cause.
    Switches,
    /// Context switches with ready events.
    Full,
}

impl Level {
    /// That of a recording; `None`: it has neither switches nor samples.
    pub(crate) fn of(recording: &OpenRecording) -> Option<Self> {
        let info = recording.info();
        match (info.has_switches, info.has_ready) {
            (true, true) => Some(Self::Full),
            (true, false) => Some(Self::Switches),
            (false, _) => recording.file.has_samples.then_some(Self::Samples),
        }
    }

    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Samples => "samples",
            Self::Switches => "switches",
            Self::Full => "full",
        }
    }

    /// What an account lacks for it.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Switches => {
                Some("no ready events were recorded: nobody knows who ended a wait, so the account has one thread only")
            }
            Self::Samples => Some(
                "no context switches were recorded: the account has the CPU samples of one thread, and what they leave of the window",
            ),
        }
    }
}

/// The account of a window. The times of its parts add up to the window.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// The window.
    pub(crate) window: Window,
    /// How much is known.
    pub(crate) level: Level,
    /// The parts, in the order of their keys.
    pub(crate) parts: Vec<Part>,
}

/// A warning where so much is unknown that an account is doubtful: more than 2 %.
pub(crate) fn doubt(unknown: i64, window: i64) -> Option<String> {
    let is_doubtful = unknown.saturating_mul(50) > window && window > 0;
    is_doubtful.then(|| format!("{} % of the window is unknown", unknown.saturating_mul(100) / window.max(1)))
}

/// The threads of a recording that have a switch; of others nobody knows what they did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Switched(FxHashSet<ThreadId>);

impl Switched {
    /// Reads them.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub(crate) fn of(recording: &OpenRecording) -> Result<Self, Error> {
        let mut threads = FxHashSet::default();
        let mut last = None;
        recording.archive().scan(None, |row: &SwitchedThread| {
            if last != Some(row.thread) {
                threads.insert(row.thread);
                last = Some(row.thread);
            }
        })?;
        Ok(Self(threads))
    }
}

/// Takes a window apart, and shows its pieces. `follows_requests` says whether a wait for work leads to the
/// thread that ended it for good.
///
/// # Errors
/// When a table cannot be read.
pub(crate) fn of<W: Witness>(
    recording: &OpenRecording,
    window: Window,
    (level, follows_requests): (Level, bool),
    people: People<'_>,
    switched: &Switched,
    (parties, places, witness): (&mut Parties<'_>, &mut Places<'_>, &mut W),
) -> Result<Account, Error> {
    if level == Level::Samples {
        let parts = of_samples(recording, window, (parties, places, witness))?;
        return Ok(Account { window, level, parts });
    }
    let has_samples = recording.file.has_samples;
    let mut walk = Walk::new(&RecordingFacts::from(recording.info()), window.span, window.anchor, people.threads);
    people
        .threads
        .iter()
        .filter(|row| !switched.0.contains(&row.thread))
        .for_each(|row| walk.never_switched(row.thread));
    let mut collector = Collector::new(recording.archive(), (parties, places, witness), follows_requests, has_samples);
    let time = Some(window.span.start..window.span.end);
    recording.archive().scan_backwards_while(time.clone(), |row: &PathSwitch| walk.row(row, &mut collector))?;
    walk.finish(&mut collector);
    if has_samples {
        recording.archive().scan_backwards_while(time, |row: &PathSample| {
            collector.sample(row);
            ControlFlow::Continue(())
        })?;
    }
    Ok(Account { window, level, parts: collector.finish()? })
}

/// The samples of the anchor, and what they leave of the window.
fn of_samples<W: Witness>(
    recording: &OpenRecording,
    window: Window,
    (parties, places, witness): (&mut Parties<'_>, &mut Places<'_>, &mut W),
) -> Result<Vec<Part>, Error> {
    let party = parties.of(window.anchor);
    let anchor = Link { thread: window.anchor, start: window.span.start, wait_stack: None, unborn: None };
    let chain = witness.chain(&[anchor], parties, places);
    let mut charges = Charges::default();
    let mut codes: FxHashMap<Code, (i64, u64)> = FxHashMap::default();
    recording.archive().scan(Some(window.span.start..window.span.end), |row: &PathSample| {
        if row.thread == window.anchor {
            let code = code_of(row, places);
            let (time, samples) = codes.entry(code).or_default();
            *time = time.saturating_add(row.weight);
            *samples += 1;
            if W::SEGMENTS {
                witness.sampled(&Key { party, did: Did::Run(Some(code)), whom: For::Own }, row.time);
            }
            if W::TAKES {
                charges.add(Hit { group: 0, code, chain, time: row.time, weight: row.weight, stack: row.stack });
            }
        }
    })?;
    let key = |did| Key { party, did, whom: For::Own };
    let length = window.span.length();
    if W::TAKES {
        let given = charges.give_weights(length, |code| key(Did::Run(Some(code))), witness);
        let (key, time, length) = (key(Did::NotSampled), window.span.start, length - given);
        witness.piece(&Piece { key, chain, time, length, stack: None });
    }
    let part = |did, time, samples| Part { key: key(did), time, leaves: 0, longest: 0, squares: 0.0, samples };
    let mut parts: Vec<Part> =
        codes.into_iter().map(|(code, (time, samples))| part(Did::Run(Some(code)), time, samples)).collect();
    let sampled = parts.iter().fold(0_i64, |sum, part| sum.saturating_add(part.time));
    parts.push(part(Did::NotSampled, length.saturating_sub(sampled), 0));
    parts.sort_unstable_by_key(|part| part.key);
    Ok(parts)
}

/// The code that a sample hit.
pub(super) fn code_of(row: &PathSample, places: &mut Places<'_>) -> Code {
    if row.flags & (sample_flags::DPC | sample_flags::ISR) != 0 {
        Code::Interrupt
    } else {
        Code::At(places.of(row.stack))
    }
}
