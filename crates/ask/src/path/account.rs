//! The account of one window: its path, folded into parts as the walk goes down.

use std::ops::ControlFlow;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::path::{
    Cause, Gap, Guide, Leaf, Link, Occupant, PathRuns, PathSwitch, Shares, State, Waker, Walk,
};
use tracesift_analysis::{Interrupt, RecordingFacts, Span};
use tracesift_archive::Error;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, sample_flags};
use tracesift_trace::{StackId, ThreadId, view};

use super::parties::Parties;
use super::places::{Place, Places};
use super::window::{People, Window};
use crate::recording::OpenRecording;

view! {
    /// The thread of a switch.
    #[derive(Clone, Copy, Debug)]
    struct SwitchedThread of ContextSwitchRow { thread }
}

view! {
    /// A sample of a thread.
    #[derive(Clone, Copy, Debug)]
    struct PathSample of CpuSampleRow { time, thread, weight, stack, flags }
}

/// Tags of waits for work, at which a request goes on in another thread.
const WAITS_FOR_WORK: [&str; 10] = [
    "Waits\\Work (thread pool)",
    "Waits\\Completion port",
    "Waits\\Messages",
    "Waits\\Poll",
    ".NET\\Thread pool",
    ".NET\\Tasks",
    "Rust\\Async executors",
    "Windows\\Worker threads",
    "JavaScript\\Event loop",
    "Go\\Scheduler",
];

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

/// Takes a window apart. `follows_requests` says whether a wait for work leads to the thread that ended it for good.
///
/// # Errors
/// When a table cannot be read.
pub(crate) fn of(
    recording: &OpenRecording,
    window: Window,
    (level, follows_requests): (Level, bool),
    people: People<'_>,
    switched: &Switched,
    (parties, places): (&mut Parties<'_>, &mut Places<'_>),
) -> Result<Account, Error> {
    if level == Level::Samples {
        let parts = of_samples(recording, window, parties, places)?;
        return Ok(Account { window, level, parts });
    }
    let has_samples = recording.file.has_samples;
    let mut walk = Walk::new(&RecordingFacts::from(recording.info()), window.span, window.anchor, people.threads);
    people
        .threads
        .iter()
        .filter(|row| !switched.0.contains(&row.thread))
        .for_each(|row| walk.never_switched(row.thread));
    let mut collector = Collector::new(parties, places, follows_requests, has_samples);
    let time = Some(window.span.start..window.span.end);
    recording.archive().scan_backwards_while(time.clone(), |row: &PathSwitch| walk.row(row, &mut collector))?;
    walk.finish(&mut collector);
    if has_samples {
        recording.archive().scan_backwards_while(time, |row: &PathSample| {
            collector.sample(row);
            ControlFlow::Continue(())
        })?;
    }
    Ok(Account { window, level, parts: collector.finish() })
}

/// The samples of the anchor, and what they leave of the window.
fn of_samples(
    recording: &OpenRecording,
    window: Window,
    parties: &mut Parties<'_>,
    places: &mut Places<'_>,
) -> Result<Vec<Part>, Error> {
    let party = parties.of(window.anchor);
    let mut codes: FxHashMap<Code, (i64, u64)> = FxHashMap::default();
    recording.archive().scan(Some(window.span.start..window.span.end), |row: &PathSample| {
        if row.thread == window.anchor {
            let (time, samples) = codes.entry(code_of(row, places)).or_default();
            *time = time.saturating_add(row.weight);
            *samples += 1;
        }
    })?;
    let part = |did, time, samples| Part {
        key: Key { party, did, whom: For::Own },
        time,
        leaves: 0,
        longest: 0,
        squares: 0.0,
        samples,
    };
    let mut parts: Vec<Part> =
        codes.into_iter().map(|(code, (time, samples))| part(Did::Run(Some(code)), time, samples)).collect();
    let sampled = parts.iter().fold(0_i64, |sum, part| sum.saturating_add(part.time));
    parts.push(part(Did::NotSampled, window.span.length().saturating_sub(sampled), 0));
    parts.sort_unstable_by_key(|part| part.key);
    Ok(parts)
}

fn code_of(row: &PathSample, places: &mut Places<'_>) -> Code {
    if row.flags & (sample_flags::DPC | sample_flags::ISR) != 0 {
        Code::Interrupt
    } else {
        Code::At(places.of(row.stack))
    }
}

/// Stretches of time.
#[derive(Clone, Copy, Debug, Default)]
struct Stretches {
    time: i64,
    leaves: u64,
    longest: i64,
    squares: f64,
}

impl Stretches {
    fn add(&mut self, span: Span) {
        let length = span.length();
        self.time = self.time.saturating_add(length);
        self.leaves += 1;
        self.longest = self.longest.max(length);
        self.squares += (length as f64).powi(2);
    }
}

/// The runs of a party for one purpose, which samples divide.
type Group = (u32, For);

/// Folds the leaves of a path.
struct Collector<'a, 'p, 's> {
    parties: &'a mut Parties<'p>,
    places: &'a mut Places<'s>,
    follows_requests: bool,
    has_samples: bool,
    others: FxHashMap<Key, Stretches>,
    groups: Vec<(Group, Stretches)>,
    numbers: FxHashMap<Group, u32>,
    runs: PathRuns,
    shares: Shares<u32, Code>,
    interrupts: FxHashMap<Option<StackId>, Interrupt>,
    for_work: FxHashMap<StackId, bool>,
}

impl<'a, 'p, 's> Collector<'a, 'p, 's> {
    fn new(
        parties: &'a mut Parties<'p>,
        places: &'a mut Places<'s>,
        follows_requests: bool,
        has_samples: bool,
    ) -> Self {
        Self {
            parties,
            places,
            follows_requests,
            has_samples,
            others: FxHashMap::default(),
            groups: Vec::new(),
            numbers: FxHashMap::default(),
            runs: PathRuns::default(),
            shares: Shares::default(),
            interrupts: FxHashMap::default(),
            for_work: FxHashMap::default(),
        }
    }

    fn group(&mut self, group: Group) -> u32 {
        let groups = &mut self.groups;
        *self.numbers.entry(group).or_insert_with(|| {
            groups.push((group, Stretches::default()));
            u32::try_from(groups.len() - 1).unwrap_or(u32::MAX)
        })
    }

    fn run(&mut self, leaf: &Leaf, group: Group, ends_with: Option<StackId>) {
        let number = self.group(group);
        if let Some((_, stretches)) = self.groups.get_mut(number as usize) {
            stretches.add(leaf.span);
        }
        self.shares.run(number, leaf.span.length());
        if self.has_samples {
            self.runs.leaf(leaf, number);
        } else if ends_with.is_some() {
            // Without samples the way in which a run ends is all that is known of its code.
            self.shares.sample(number, Code::At(self.places.of(ends_with)), leaf.span.length());
        }
    }

    fn sample(&mut self, row: &PathSample) {
        if let Some(group) = self.runs.group_of(row.time, row.thread) {
            self.shares.sample(group, code_of(row, self.places), row.weight);
        }
    }

    fn finish(self) -> Vec<Part> {
        let of_others = |(key, of): (Key, Stretches)| Part {
            key,
            time: of.time,
            leaves: of.leaves,
            longest: of.longest,
            squares: of.squares,
            samples: 0,
        };
        let mut parts: Vec<Part> = self.others.into_iter().map(of_others).collect();
        // Of each group its largest part.
        let mut largest: FxHashMap<u32, (i64, usize)> = FxHashMap::default();
        for share in self.shares.finish() {
            let Some(((party, whom), _)) = self.groups.get(share.group as usize) else { continue };
            let key = Key { party: *party, did: Did::Run(share.code), whom: *whom };
            let samples = if self.has_samples { share.samples } else { 0 };
            let best = largest.entry(share.group).or_insert((share.run, parts.len()));
            if share.run > best.0 {
                *best = (share.run, parts.len());
            }
            parts.push(Part { key, time: share.run, leaves: 0, longest: 0, squares: 0.0, samples });
        }
        for (group, (_, place)) in largest {
            if let (Some(part), Some((_, of))) = (parts.get_mut(place), self.groups.get(group as usize)) {
                (part.leaves, part.longest, part.squares) = (of.leaves, of.longest, of.squares);
            }
        }
        parts.sort_unstable_by_key(|part| part.key);
        parts
    }
}

impl Guide for Collector<'_, '_, '_> {
    fn waker(&mut self, row: &PathSwitch) -> Waker {
        let Some(readier) = row.readier else { return Waker::Nobody };
        if row.flags & crate::threads::Waker::FLAGS == 0 && !self.parties.is_idle(readier) {
            return Waker::Thread(readier);
        }
        let places = &mut *self.places;
        let interrupt = self.interrupts.entry(row.ready_stack).or_insert_with(|| places.interrupt(row.ready_stack));
        Waker::Interrupt(*interrupt)
    }

    fn hands_over(&mut self, row: &PathSwitch) -> bool {
        let Some(stack) = row.wait_stack.filter(|_| self.follows_requests) else { return false };
        let places = &mut *self.places;
        *self.for_work.entry(stack).or_insert_with(|| WAITS_FOR_WORK.contains(&places.tag(Some(stack))))
    }

    fn leaf(&mut self, leaf: &Leaf, chain: &[Link]) {
        let party = self.parties.of(leaf.thread);
        let whom = match chain {
            [anchor] if anchor.unborn.is_some() => For::Birth,
            [] | [_] => For::Own,
            [_, second, ..] => For::Wait(self.places.of(second.wait_stack)),
        };
        let did = match leaf.state {
            State::Run { ends_with } => return self.run(leaf, (party, whom), ends_with),
            State::Ready { occupant: Occupant::Thread(thread), .. } => {
                Did::Ready(Holder::Party(self.parties.of(thread)))
            }
            State::Ready { occupant: Occupant::Idle, .. } => Did::Ready(Holder::Idle),
            State::Ready { occupant: Occupant::Unknown, .. } => Did::Ready(Holder::Unknown),
            State::Wait { cause, stack } => Did::Wait(ended(cause), self.places.of(stack)),
            State::Unknown(gap) => Did::Unknown(gap),
        };
        self.others.entry(Key { party, did, whom }).or_default().add(leaf.span);
    }
}

fn ended(cause: Cause) -> Ended {
    match cause {
        Cause::Interrupt(interrupt) => Ended::Interrupt(interrupt),
        Cause::Nobody => Ended::Nobody,
        Cause::Unfollowed { .. } => Ended::Unfollowed,
    }
}
