//! Profiles of paths: the time of a window by the chain of threads that it belongs to, and by the code of the
//! last one.
//!
//! The stack of a piece of time begins with the first thread of the account: the functions in which it
//! waited, then `[waits for]` and the thread that it waited for, and so on to the thread that the time
//! belongs to. The functions of that thread and what it did follow. The weights add up to the length of the
//! windows.

use rustc_hash::FxHashMap;
use tracesift_analysis::path::Link;
use tracesift_archive::Error;
use tracesift_export::{
    About, Catalog, Folded, Frame, FrameId as ExportedFrame, Listed, Measure as Exported, Origin, Profile, Sample,
    ThreadId as ExportedThread, Weight,
};
use tracesift_trace::StackId;

use super::about;
use super::stacks::Stacks;
use super::target::{Target, Threads};
use crate::method_patterns::MethodPatterns;
use crate::path::account::{Account, Code, Did, Key, Level, doubt};
use crate::path::chains::{Chains, OTHER_CHAINS, Step, Wait};
use crate::path::parties::Parties;
use crate::path::places::Places;
use crate::path::rows::Namer;
use crate::path::witness::{Piece, Witness};
use crate::path::{AccountQuery, Missing};
use crate::recording::OpenRecording;

/// Chains of a window that are told apart, with the beginnings of chains.
const MOST_CHAINS: usize = 1 << 17;
/// Stacks of a window that are told apart by their chains.
const MOST_STACKS: usize = 1 << 18;

/// The path of windows as a profile.
#[derive(Clone, Debug, Default)]
pub struct PathQuestion {
    /// The windows, and how they are taken apart.
    pub accounts: AccountQuery,
    /// The instant from which times are counted, ns since the session's start.
    pub origin: i64,
    /// The windows and filters in words, for the titles of files and pictures.
    pub said: String,
}

/// A profile of paths.
#[derive(Clone, Debug)]
pub struct PathProfile<P> {
    /// The profile.
    pub profile: P,
    /// What should be said of it.
    pub notes: Vec<String>,
    /// What makes it doubtful.
    pub warning: Option<String>,
}

/// The profile, or the reason why the recording has none.
pub type Found<P> = Result<PathProfile<P>, String>;

impl PathQuestion {
    /// Sums per stack.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn folded(&self, recording: &OpenRecording) -> Result<Found<Folded>, Error> {
        self.fill(recording, Folded::new(self.about(recording, 0)))
    }

    /// Sums per stack, for pictures.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn listed(&self, recording: &OpenRecording) -> Result<Found<Listed>, Error> {
        self.fill(recording, Listed::new(self.about(recording, 0)))
    }

    /// Every piece of time. Run time stands at the times of its samples.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn timed(&self, recording: &OpenRecording) -> Result<Found<Profile>, Error> {
        self.fill(recording, Profile::new(self.about(recording, 0)))
    }

    fn about(&self, recording: &OpenRecording, duration: i64) -> About {
        about(recording, Exported::PATH, (self.origin, duration), &self.said)
    }

    fn fill<P: Target>(&self, recording: &OpenRecording, mut profile: P) -> Result<Found<P>, Error> {
        let mut stacks = Stacks::of(recording.archive(), &MethodPatterns::default())?;
        let mut threads = Threads { origin: self.origin, ..Threads::default() };
        let (mut windows, mut level, mut length, mut unknown) = (0, None, 0_i64, 0_i64);
        let found = self.accounts.each_with(
            recording,
            || Pieces::new(P::HAS_TIMES),
            |account, namer, pieces| {
                windows += 1;
                level = Some(account.level);
                length = length.saturating_add(account.window.span.length());
                unknown = unknown.saturating_add(unknown_time(account));
                let anchor = account.window.anchor;
                let thread = threads.get(anchor, namer.parties, profile.catalog());
                let anchor = namer.parties.known(anchor);
                let mut painter = Painter { stacks: &mut stacks, namer, anchor, frames: Vec::new() };
                add(&mut profile, &pieces, &mut painter, (thread, self.origin));
            },
        )?;
        if let Err(Missing { what, why }) = found {
            return Ok(Err(if what == "window" { why.to_string() } else { format!("{what}: {why}") }));
        }
        if windows == 0 {
            return Ok(Err(format!("nothing fits {}", self.accounts.windows.shown())));
        }
        *profile.about() = self.about(recording, length);
        let several =
            format!("{windows} windows fit, and the profile has all of them: `#1` behind a window chooses the first");
        let notes = (windows > 1).then_some(several).into_iter();
        let notes = notes.chain(level.and_then(Level::note).map(str::to_owned)).collect();
        Ok(Ok(PathProfile { profile, notes, warning: doubt(unknown, length) }))
    }
}

fn unknown_time(account: &Account) -> i64 {
    let unknown = account.parts.iter().filter(|part| matches!(part.key.did, Did::Unknown(_) | Did::NotSampled));
    unknown.fold(0, |sum, part| sum.saturating_add(part.time))
}

/// A piece of time without its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Leaf {
    chain: u32,
    key: Key,
    stack: Option<StackId>,
}

/// The pieces of a window.
struct Pieces {
    chains: Chains<Option<StackId>>,
    known: FxHashMap<Leaf, u32>,
    /// Each leaf with its time and its number of pieces.
    leaves: Vec<(Leaf, u64, u64)>,
    /// Leaf, time and length of each piece, where somebody wants that.
    times: Option<Vec<(u32, i64, u64)>>,
}

impl Pieces {
    fn new(has_times: bool) -> Self {
        Self {
            chains: Chains::new(MOST_CHAINS),
            known: FxHashMap::default(),
            leaves: Vec::new(),
            times: has_times.then(Vec::new),
        }
    }

    fn number(&mut self, leaf: Leaf) -> u32 {
        let leaves = &mut self.leaves;
        *self.known.entry(leaf).or_insert_with(|| {
            leaves.push((leaf, 0, 0));
            u32::try_from(leaves.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

impl Witness for Pieces {
    fn chain(&mut self, chain: &[Link], parties: &mut Parties<'_>, _: &mut Places<'_>) -> u32 {
        self.chains.of(chain, |thread| parties.of(thread), |stack| stack)
    }

    fn piece(&mut self, piece: &Piece) {
        let Some(length) = u64::try_from(piece.length).ok().filter(|length| *length > 0) else { return };
        let mut leaf = Leaf { chain: piece.chain, key: piece.key, stack: piece.stack };
        if self.leaves.len() >= MOST_STACKS && !self.known.contains_key(&leaf) {
            leaf.chain = OTHER_CHAINS;
        }
        let number = self.number(leaf);
        if let Some((_, sum, count)) = self.leaves.get_mut(number as usize) {
            *sum = sum.saturating_add(length);
            *count += 1;
        }
        if let Some(times) = &mut self.times {
            times.push((number, piece.time, length));
        }
    }
}

/// Adds the pieces of a window. Times count from `origin`.
fn add<P: Target>(
    profile: &mut P,
    pieces: &Pieces,
    painter: &mut Painter<'_, '_, '_>,
    (thread, origin): (ExportedThread, i64),
) {
    let mut stacks = Vec::with_capacity(pieces.leaves.len());
    for (leaf, weight, count) in &pieces.leaves {
        painter.paint(leaf, &pieces.chains, profile.catalog());
        let stack = profile.stack(&painter.frames);
        profile.sum(Weight { thread, stack, weight: *weight, count: *count });
        stacks.push(stack);
    }
    for (leaf, time, weight) in pieces.times.iter().flatten() {
        if let Some(&stack) = stacks.get(*leaf as usize) {
            profile.sample(Sample { time: time.saturating_sub(origin), thread, stack, weight: *weight });
        }
    }
}

/// Makes the frames of leaves.
struct Painter<'a, 'p, 's> {
    stacks: &'a mut Stacks,
    namer: &'a Namer<'a, 'p, 's>,
    /// The party of the thread that the account starts with.
    anchor: Option<u32>,
    /// The frames of the last leaf, outermost first.
    frames: Vec<ExportedFrame>,
}

impl Painter<'_, '_, '_> {
    /// Makes the frames of a leaf.
    fn paint(&mut self, leaf: &Leaf, chains: &Chains<Option<StackId>>, catalog: &mut Catalog) {
        self.frames.clear();
        for step in chains.steps(leaf.chain) {
            self.step(step, catalog);
        }
        if leaf.chain == OTHER_CHAINS {
            self.text("[other chains]", Origin::State, catalog);
            self.party(leaf.key.party, catalog);
        }
        self.code(leaf.stack, catalog);
        self.state(leaf, catalog);
    }

    fn step(&mut self, Step { party, wait }: Step<Option<StackId>>, catalog: &mut Catalog) {
        match wait {
            // The profile's thread is the anchor. A request can come from another one.
            None if self.anchor == Some(party) => return,
            None => {}
            Some(Wait::At(stack)) => {
                self.code(stack, catalog);
                self.text("[waits for]", Origin::State, catalog);
            }
            Some(Wait::Birth) => self.text("[is started by]", Origin::State, catalog),
        }
        self.party(party, catalog);
    }

    fn code(&mut self, stack: Option<StackId>, catalog: &mut Catalog) {
        if let Some(stack) = stack {
            self.frames.extend_from_slice(self.stacks.frames(stack, catalog));
        }
    }

    /// What the thread did that did not run, and whether it lost the time.
    fn state(&mut self, leaf: &Leaf, catalog: &mut Catalog) {
        let name = self.namer.name(&leaf.key);
        let tag = name.tag.as_deref().unwrap_or_default();
        let text = match (leaf.key.did, &name.site) {
            (Did::Run(Some(Code::At(_))), _) if leaf.stack.is_none() => Some("[no stack]".to_owned()),
            (Did::Run(Some(_)), _) => None,
            (Did::Run(None), _) => Some("[not sampled]".to_owned()),
            (Did::NotSampled, _) => Some(format!("[{tag}]")),
            (Did::Ready(_), Some(process)) => Some(format!("[ready while {process} had the CPU]")),
            (Did::Ready(_), None) => Some(format!("[ready, CPU: {tag}]")),
            (Did::Wait(..), _) => Some(format!("[wait: {}]", name.ended_by.as_deref().unwrap_or_default())),
            (Did::Unknown(_), _) => Some(format!("[unknown: {tag}]")),
        };
        if let Some(text) = text {
            self.text(&text, Origin::State, catalog);
        }
        if let Some(kind) = name.disturbance {
            self.text(&format!("[disturbance: {kind}]"), Origin::Disturbance, catalog);
        }
    }

    fn party(&mut self, party: u32, catalog: &mut Catalog) {
        self.text(&self.namer.party_text(party), Origin::State, catalog);
    }

    fn text(&mut self, text: &str, origin: Origin, catalog: &mut Catalog) {
        let function = catalog.string(text);
        self.frames.push(catalog.frame(Frame::named(function, origin)));
    }
}
