//! Folds the leaves of a path into the parts of an account, as the walk goes down.

use rustc_hash::FxHashMap;
use tracesift_analysis::path::{Cause, Guide, Leaf, Link, Occupant, PathRuns, PathSwitch, Shares, State, Waker};
use tracesift_analysis::{Interrupt, Span};
use tracesift_archive::{Archive, Error};
use tracesift_trace::{StackId, ThreadId};

use super::account::{Code, Did, Ended, For, Holder, Key, Part, PathSample, code_of};
use super::charges::{Charges, Hit};
use super::disk_waits::{DiskWait, DiskWaits};
use super::parties::Parties;
use super::places::Places;
use super::witness::{Piece, Segment, Witness};

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

/// A leaf that is no run.
#[derive(Clone, Copy, Debug)]
struct Other {
    thread: ThreadId,
    key: Key,
    chain: u32,
    span: Span,
    stack: Option<StackId>,
}

/// Folds the leaves of a path.
pub(super) struct Collector<'a, 'p, 's, W> {
    archive: &'a Archive,
    parties: &'a mut Parties<'p>,
    places: &'a mut Places<'s>,
    witness: &'a mut W,
    follows_requests: bool,
    has_samples: bool,
    others: FxHashMap<Key, Stretches>,
    /// Waits that a disk ended, which will be among the others.
    disk_waits: DiskWaits<Other>,
    /// The wake-up that the walk asked about last: that of the wait which comes next.
    wake_up: Option<i64>,
    /// What went wrong when their operations were looked for.
    failure: Option<Error>,
    groups: Vec<(Group, Stretches)>,
    numbers: FxHashMap<Group, u32>,
    /// Runs with their kinds: a group and, for the witness, a chain.
    runs: PathRuns,
    kinds: Vec<(u32, u32)>,
    kind_numbers: FxHashMap<(u32, u32), u32>,
    charges: Charges,
    shares: Shares<u32, Code>,
    interrupts: FxHashMap<Option<StackId>, Interrupt>,
    /// What ends waits with these stacks that nobody is known to have ended.
    sleeps: FxHashMap<Option<StackId>, Option<Interrupt>>,
    for_work: FxHashMap<StackId, bool>,
}

impl<'a, 'p, 's, W: Witness> Collector<'a, 'p, 's, W> {
    /// A collector for a window of an archive.
    pub(super) fn new(
        archive: &'a Archive,
        (parties, places, witness): (&'a mut Parties<'p>, &'a mut Places<'s>, &'a mut W),
        follows_requests: bool,
        has_samples: bool,
    ) -> Self {
        Self {
            archive,
            parties,
            places,
            witness,
            follows_requests,
            has_samples,
            others: FxHashMap::default(),
            disk_waits: DiskWaits::default(),
            wake_up: None,
            failure: None,
            groups: Vec::new(),
            numbers: FxHashMap::default(),
            runs: PathRuns::default(),
            kinds: Vec::new(),
            kind_numbers: FxHashMap::default(),
            charges: Charges::default(),
            shares: Shares::default(),
            interrupts: FxHashMap::default(),
            sleeps: FxHashMap::default(),
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

    fn kind(&mut self, group: u32, chain: u32) -> u32 {
        let kinds = &mut self.kinds;
        *self.kind_numbers.entry((group, chain)).or_insert_with(|| {
            kinds.push((group, chain));
            u32::try_from(kinds.len() - 1).unwrap_or(u32::MAX)
        })
    }

    fn run(&mut self, leaf: &Leaf, (party, whom): Group, chain: u32, ends_with: Option<StackId>) {
        let group = self.group((party, whom));
        if let Some((_, stretches)) = self.groups.get_mut(group as usize) {
            stretches.add(leaf.span);
        }
        if W::SEGMENTS {
            let key = Key { party, did: Did::Run(None), whom };
            self.witness.segment(&Segment { span: leaf.span, thread: leaf.thread, key, chain });
        }
        let length = leaf.span.length();
        self.shares.run(group, length);
        if self.has_samples || W::TAKES {
            let kind = self.kind(group, chain);
            self.runs.leaf(leaf, kind);
        }
        if !self.has_samples && ends_with.is_some() {
            // Without samples the way in which a run ends is all that is known of its code.
            let code = Code::At(self.places.of(ends_with));
            self.hit(Hit { group, code, chain, time: leaf.span.start, weight: length, stack: ends_with });
        }
    }

    /// Takes the next older sample, when all leaves are there.
    pub(super) fn sample(&mut self, row: &PathSample) {
        let kind = self.runs.group_of(row.time, row.thread);
        if let Some((group, chain)) = kind.and_then(|kind| self.kinds.get(kind as usize)).copied() {
            let code = code_of(row, self.places);
            if let Some(((party, whom), _)) = self.groups.get(group as usize).filter(|_| W::SEGMENTS) {
                let key = Key { party: *party, did: Did::Run(Some(code)), whom: *whom };
                self.witness.sampled(&key, row.time);
            }
            self.hit(Hit { group, code, chain, time: row.time, weight: row.weight, stack: row.stack });
        }
    }

    fn hit(&mut self, hit: Hit) {
        self.shares.sample(hit.group, hit.code, hit.weight);
        if W::TAKES {
            self.charges.add(hit);
        }
    }

    /// Adds a leaf that is no run.
    fn other(&mut self, other: Other) {
        let Other { thread, key, chain, span, stack } = other;
        self.others.entry(key).or_default().add(span);
        if W::SEGMENTS {
            self.witness.segment(&Segment { span, thread, key, chain });
        }
        if W::TAKES {
            self.witness.piece(&Piece { key, chain, time: span.start, length: span.length(), stack });
        }
    }

    /// Finds the operations of the disks that ended waits.
    fn settle_disk_waits(&mut self) {
        let mut waits = std::mem::take(&mut self.disk_waits);
        let settled = waits.settle(self.archive, |wait: Other, operation| {
            let did = match (wait.key.did, operation) {
                (Did::Wait(_, place), Some(operation)) => Did::Wait(Ended::Disk(operation), place),
                (did, _) => did,
            };
            self.other(Other { key: Key { did, ..wait.key }, ..wait });
        });
        if let Err(error) = settled {
            self.failure.get_or_insert(error);
        }
    }

    /// The parts of the account, in the order of their keys.
    ///
    /// # Errors
    /// When the table of operations of disks could not be read.
    pub(super) fn finish(mut self) -> Result<Vec<Part>, Error> {
        self.settle_disk_waits();
        if let Some(error) = self.failure {
            return Err(error);
        }
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
        let shares = self.shares.finish();
        let key_of = |group: u32, code: Option<Code>| {
            let ((party, whom), _) = self.groups.get(group as usize)?;
            Some(Key { party: *party, did: Did::Run(code), whom: *whom })
        };
        if W::TAKES {
            self.charges.give(&shares, (&self.runs, &self.kinds), key_of, self.witness);
        }
        for share in shares {
            let Some(key) = key_of(share.group, share.code) else { continue };
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
        Ok(parts)
    }

    fn ended(&mut self, cause: Cause, stack: Option<StackId>) -> Ended {
        match cause {
            Cause::Interrupt(interrupt) => Ended::Interrupt(interrupt),
            Cause::Nobody => {
                let places = &mut *self.places;
                let sleep = *self.sleeps.entry(stack).or_insert_with(|| places.sleep_ends(stack));
                sleep.map_or(Ended::Nobody, Ended::Interrupt)
            }
            Cause::Unfollowed { .. } => Ended::Unfollowed,
        }
    }
}

impl<W: Witness> Guide for Collector<'_, '_, '_, W> {
    fn waker(&mut self, row: &PathSwitch) -> Waker {
        self.wake_up = row.ready_time;
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
        let number = if W::TAKES || W::SEGMENTS { self.witness.chain(chain, self.parties, self.places) } else { 0 };
        let (did, stack) = match leaf.state {
            State::Run { ends_with } => return self.run(leaf, (party, whom), number, ends_with),
            State::Ready { occupant, stack, .. } => {
                let holder = match occupant {
                    Occupant::Thread(thread) => Holder::Party(self.parties.of(thread)),
                    Occupant::Idle => Holder::Idle,
                    Occupant::Unknown => Holder::Unknown,
                };
                (Did::Ready(holder), stack)
            }
            State::Wait { cause, stack } => (Did::Wait(self.ended(cause, stack), self.places.of(stack)), stack),
            State::Unknown(gap) => (Did::Unknown(gap), None),
        };
        let key = Key { party, did, whom };
        let other = Other { thread: leaf.thread, key, chain: number, span: leaf.span, stack };
        if let Did::Wait(Ended::Interrupt(Interrupt::Disk), _) = did {
            // A window that ends before the wake-up cuts the leaf.
            let end = self.wake_up.unwrap_or(leaf.span.end);
            if self.disk_waits.push(DiskWait { thread: leaf.thread, end, wait: other }) {
                self.settle_disk_waits();
            }
            return;
        }
        self.other(other);
    }
}
