//! Works on a slice of the recording: stack records become halves, and find their events; switches, wake-ups and samples, of which there
//! are most, become rows.
//!
//! All of it needs only what the first pass has found, so that slices can be worked on in any order and side by side. Numbers of halves,
//! of pairs and of stacks are those of the worker; whoever has the slices in their order gives them ids.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_etl::class::EventClass;
use tracesift_etl::payload::{Payload, Stack, StackReference};
use tracesift_etl::{Record, RecordBatch, Wanted as _};
use tracesift_trace::half_finder::HalfFinder;
use tracesift_trace::ids::{ProcessId, StackId};
use tracesift_trace::lifespans::SliceLives;
use tracesift_trace::owners::Owners;
use tracesift_trace::stack_binder::{LateUserHalf, Part, StackBinder, StackRecord, Untaken, UserHalves};
use tracesift_trace::stack_keys::Half;
use tracesift_trace::stacks::{HalfId, KeyReference};
use tracesift_trace::switches::{Runs, SliceTracker};
use tracesift_trace::{Health, HealthKind};

use super::brought_stacks::{BroughtStacks, brings_stacks};
use super::inventory::{LateFrames, LatePart, LateStack};
use super::slice_source::SliceSource;
use super::slices::Slice;
use super::worked_slice::{
    Bound, Brought, LeftHalves, NewHalf, RawStep, RestOf, Step, ToldHalf, ToldPair, WorkedSlice,
};

/// Bytes of a pair of halves that a worker remembers, and of a half that it has told of beside its addresses, with the slack of tables.
const PAIR_BYTES: usize = 64;
const TOLD_BYTES: usize = 64;

/// Works on slices, one after the other.
pub(super) struct SliceWorker {
    pub(super) source: Arc<SliceSource>,
    halves: HalfFinder,
    pairs: FxHashMap<(Option<HalfId>, Option<HalfId>), u32>,
    /// The stack of the slice that each pair is, and since which pace.
    stacks: Vec<(u32, StackId)>,
    /// Paces so far, over all slices.
    pace: u32,
    /// Those that were told of, by number of the half.
    told: Vec<Option<ToldHalf>>,
    told_count: u32,
    /// Addresses of those.
    told_addresses: usize,
    unknown_pids: FxHashMap<u32, ProcessId>,
    /// Who runs and who waits.
    pub(super) tracker: SliceTracker,
    pub(super) lives: SliceLives,
    /// Where nobody counts.
    ignored: Health,
}

impl SliceWorker {
    pub(super) fn new(source: Arc<SliceSource>) -> Self {
        Self {
            halves: HalfFinder::new(Arc::clone(&source.keys), Arc::clone(&source.code), usize::MAX),
            pairs: FxHashMap::default(),
            stacks: Vec::new(),
            pace: 0,
            told: Vec::new(),
            told_count: 0,
            told_addresses: 0,
            unknown_pids: FxHashMap::default(),
            tracker: SliceTracker::new(source.clock, Arc::clone(&source.deaths)),
            lives: SliceLives::new(Arc::clone(&source.owners), i64::MIN),
            ignored: Health::new(),
            source,
        }
    }

    /// Bytes of its tables of stacks, roughly.
    fn bytes(&self) -> usize {
        let told = self.told.len() * size_of::<Option<ToldHalf>>()
            + self.told_count as usize * TOLD_BYTES
            + self.told_addresses * size_of::<u64>();
        self.halves.bytes() + told + (self.pairs.len() + self.unknown_pids.len()) * PAIR_BYTES
    }

    /// Works on a slice. What was found of another one gives its memory.
    pub(super) fn work(&mut self, slice: &Slice, found: &mut WorkedSlice) {
        // Not in the middle of a slice: whether a half is still known must not depend on the slices before.
        let is_anew = self.bytes() > self.source.budget;
        if is_anew {
            *self = Self::new(Arc::clone(&self.source));
        }
        found.begin(is_anew);
        self.lives.begin(slice.start());
        // Stacks are numbered anew.
        self.pace += 1;
        let before = self.source.before(slice);
        let mut at_work = AtWork {
            binder: StackBinder::new(self.source.clock.frequency, self.source.lead),
            brought: BroughtStacks::default(),
            open_at: i64::MIN,
            open_cpus: FxHashSet::default(),
            all_open: false,
            brought_now: [None; 2],
            walked: before.stack_records,
            stacks: 0,
            untaken: Vec::new(),
            found,
            worker: self,
        };
        if at_work.worker.source.has_stacks {
            at_work.late(slice);
        }
        at_work.slice(slice, before.records);
        at_work.end();
    }
}

/// A slice in the making.
pub(super) struct AtWork<'w> {
    pub(super) worker: &'w mut SliceWorker,
    binder: StackBinder,
    brought: BroughtStacks,
    /// CPUs with a record at this time whose stack nobody has looked for: it may be the stack of the next record of that time.
    open_at: i64,
    open_cpus: FxHashSet<u16>,
    /// Whether that holds for all CPUs: it may be the stack of a thread that goes to another one.
    all_open: bool,
    /// Halves that other records bring for the record in hand: from the .NET runtime, and for its kernel half.
    brought_now: [Option<HalfId>; 2],
    /// Stack records that the cursor ahead has met, from the start of the recording on.
    walked: u64,
    /// Stacks of the slice so far.
    stacks: usize,
    /// Halves that no event has taken.
    untaken: Vec<Untaken>,
    pub(super) found: &'w mut WorkedSlice,
}

/// Where a record stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    batch: u32,
    index: u32,
    /// Stack records of the slice before it.
    walked: u32,
    /// Whether it is kept as it is.
    pub(super) is_kept: bool,
}

impl AtWork<'_> {
    /// Halves that the cursor ahead would meet too late.
    fn late(&mut self, slice: &Slice) {
        let (start, end) = (slice.start(), slice.end());
        let source = Arc::clone(&self.worker.source);
        let mut user_halves = Vec::new();
        for late in &source.late.halves {
            let serves = late.first_event_ticks <= end && late.ticks >= start;
            let is_user = late.part == LatePart::Half(Half::User);
            if if is_user { !serves } else { !(start..=end).contains(&late.event_ticks) } {
                continue;
            }
            let Some(half) = self.late_half(late, &source.late.frames) else { continue };
            let LateStack { tid, event_ticks, first_event_ticks, ticks, cpu, .. } = *late;
            let part = match late.part {
                LatePart::Half(Half::User) => {
                    user_halves.push(LateUserHalf { tid, event_ticks, first_event_ticks, ticks, half });
                    continue;
                }
                LatePart::Half(Half::Kernel) => Part::Kernel(half),
                LatePart::Whole => Part::Whole(half),
            };
            let instance = self.instance_of(tid, event_ticks);
            self.binder.add_late(&StackRecord { event_ticks, ticks, tid, instance, cpu, part });
        }
        self.binder.set_late(user_halves);
    }

    fn late_half(&mut self, late: &LateStack, frames: &[u64]) -> Option<HalfId> {
        let process = self.process_at(late.pid, late.event_ticks);
        match &late.frames {
            LateFrames::Key { key, position } => {
                let LatePart::Half(half) = late.part else { return None };
                let reference = KeyReference { half, key: *key, position: *position, ticks: late.event_ticks, process };
                // The stack record itself is counted where it stands.
                self.worker.halves.keyed(&reference, &mut self.worker.ignored)
            }
            LateFrames::Inline(range) => {
                let frames = frames.get(range.clone()).unwrap_or_default();
                self.worker.halves.inline(process, frames.iter().copied(), late.event_ticks)
            }
        }
    }

    /// The records, behind so many others of the recording.
    fn slice(&mut self, slice: &Slice, records: u64) {
        let own_records: usize = slice.own.iter().map(|batch| batch.len()).sum();
        let mut ahead =
            slice.own.iter().chain(&slice.behind).flat_map(|batch| (0..batch.len()).map(move |at| (batch, at)));
        let mut next_ahead = ahead.next();
        let (mut met, mut walked, mut number) = (0, 0_u32, records);
        let source = Arc::clone(&self.worker.source);
        let (interval, lead) = (source.clock.frequency, source.lead);
        let keeps = |record: &Record<'_>| source.events.as_ref().is_some_and(|events| events.wants(record));
        if !source.has_stacks {
            next_ahead = None;
        }
        for (batch_number, batch) in (0_u32..).zip(&slice.own) {
            for index in 0..batch.len() {
                let Some(time) = batch.time(index) else { break };
                let untaken = &mut self.untaken;
                self.binder.advance(time, interval, |halves| untaken.push(halves));
                let reach = time.saturating_add(lead);
                while let Some((of, at)) = next_ahead
                    && of.time(at).is_some_and(|time| time <= reach)
                {
                    self.ahead(of, at, met < own_records);
                    met += 1;
                    next_ahead = ahead.next();
                }
                let Some(record) = batch.record(index) else { break };
                if number.is_multiple_of(source.pace) && source.has_stacks {
                    self.pace();
                }
                number += 1;
                let is_walk = record.is_stack_walk();
                let is_kept = keeps(&record);
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                let place = Place { batch: batch_number, index, walked, is_kept };
                if !is_walk {
                    self.event(&record, place);
                } else if is_kept {
                    // What was brought for the record before is not for this one.
                    self.brought_now = [None; 2];
                    self.raw(&record, place, Bound::None, RestOf::Record);
                }
                walked += u32::from(is_walk);
            }
        }
        let untaken = &mut self.untaken;
        self.binder.advance(i64::MAX, interval, |halves| untaken.push(halves));
        self.tell_untaken(slice);
    }

    fn end(&mut self) {
        self.found.end = self.worker.tracker.end();
        self.found.switches.seal();
        self.found.samples.seal();
    }

    /// Tables of stacks may be dropped: a stack that was asked for before may be another one behind.
    fn pace(&mut self) {
        self.worker.pace += 1;
        self.found.steps.push(Step::Pace);
    }

    /// A record ahead of the events; `is_own` where it is one of the slice.
    fn ahead(&mut self, batch: &RecordBatch, index: usize, is_own: bool) {
        let Some(record) = batch.record(index).filter(brings_stacks) else { return };
        if !record.is_stack_walk() {
            self.event_stack_record(&record);
            return;
        }
        let position = self.walked;
        self.walked += 1;
        if let Some(stack) = self.stack_record(&record, position, is_own) {
            self.binder.add(&stack);
        }
    }

    /// What a stack record says; `None` for one that defines a key, or does not decode, which the first pass has counted.
    fn stack_record(&mut self, record: &Record<'_>, position: u64, is_own: bool) -> Option<StackRecord> {
        let (version, pointer_size) = (record.version(), record.pointer_size());
        let (event_ticks, tid, part) = match record.opcode() {
            Stack::OPCODE => {
                let stack = Stack::parse(record.payload(), version, pointer_size).ok()?;
                let event = stack.event_timestamp.cast_signed();
                let process = self.process_at(stack.process_id, event);
                let half = self.worker.halves.inline(process, stack.frames.iter(), event)?;
                let kernel = |address: Option<u64>| address.is_some_and(|at| self.worker.source.code.is_kernel(at));
                let part = match (kernel(stack.frames.iter().next()), kernel(stack.frames.last())) {
                    (true, false) => Part::Whole(half),
                    (true, true) => Part::Kernel(half),
                    (false, _) => Part::User(half),
                };
                (event, stack.thread_id, part)
            }
            opcode @ (StackReference::KERNEL | StackReference::USER) => {
                let reference = StackReference::parse(record.payload(), version, pointer_size).ok()?;
                let ticks = reference.event_timestamp.cast_signed();
                let process = self.process_at(reference.process_id, ticks);
                let half = if opcode == StackReference::KERNEL { Half::Kernel } else { Half::User };
                let by_key = KeyReference { half, key: reference.stack_key, position, ticks, process };
                // Those behind the slice are counted in the slices that they are of.
                let health = if is_own { &mut self.found.health } else { &mut self.worker.ignored };
                let id = self.worker.halves.keyed(&by_key, health)?;
                let part = if half == Half::Kernel { Part::Kernel(id) } else { Part::User(id) };
                (ticks, reference.thread_id, part)
            }
            _ => return None,
        };
        let (ticks, cpu, instance) = (record.time(), record.cpu(), self.instance_of(tid, event_ticks));
        Some(StackRecord { event_ticks, ticks, tid, instance, cpu, part })
    }

    /// A record of a provider ahead of the events.
    fn event_stack_record(&mut self, record: &Record<'_>) {
        let Some(pid) = record.pid() else { return };
        let Self { worker, found, brought, .. } = self;
        let SliceWorker { source, halves, unknown_pids, .. } = &mut **worker;
        brought.record(record, |ticks, frames| {
            let process = process_at(&source.owners, unknown_pids, &mut found.new_pids, pid, ticks);
            halves.inline(process, frames, ticks)
        });
    }

    /// A record that is no stack record.
    fn event(&mut self, record: &Record<'_>, place: Place) {
        if self.worker.source.has_stacks {
            self.brought_now = [self.brought.of_runtime_event(record), self.brought.of_match(record)];
        }
        let EventClass::Kernel { group, opcode, version } = record.class() else {
            return self.raw(record, place, self.unbound(), RestOf::Record);
        };
        if !self.scheduling(record, (group, opcode, version), place) {
            self.leave_all_of(record, place);
        }
    }

    /// The stack of a record for which nobody looks here.
    pub(super) fn unbound(&self) -> Bound {
        if self.worker.source.has_stacks { Bound::Open } else { Bound::None }
    }

    /// All of a record is left to do.
    pub(super) fn leave_all_of(&mut self, record: &Record<'_>, place: Place) {
        self.leave_open(record);
        self.raw(record, place, self.unbound(), RestOf::Record);
    }

    /// Nobody looks for the stack of a record here: it may be that of the next record of the same time.
    pub(super) fn leave_open(&mut self, record: &Record<'_>) {
        if !self.worker.source.has_stacks {
            return;
        }
        if self.open_at != record.time() {
            self.open_at = record.time();
            self.open_cpus.clear();
            self.all_open = false;
        }
        self.open_cpus.insert(record.cpu());
    }

    /// The same for a record that is open only because of where the slice begins.
    pub(super) fn leave_all_open(&mut self, record: &Record<'_>) {
        self.leave_open(record);
        self.all_open = true;
    }

    /// Something is left to do for a record.
    pub(super) fn raw(&mut self, record: &Record<'_>, place: Place, stack: Bound, rest: RestOf) {
        self.tell_brought();
        let Place { batch, index, walked, .. } = place;
        let runs = self.runs(record.cpu());
        let samples = u32::try_from(self.found.samples.len()).unwrap_or(u32::MAX);
        self.found.steps.push(Step::Raw(RawStep { batch, index, walked, samples, stack, runs, rest }));
    }

    /// Who runs on a CPU.
    pub(super) fn runs(&self, cpu: u16) -> Runs {
        self.worker.tracker.running(cpu)
    }

    /// Tells of the halves that other records bring for this one, which is the next step.
    fn tell_brought(&mut self) {
        let step = u32::try_from(self.found.steps.len()).unwrap_or(u32::MAX);
        let [of_runtime, of_match] = std::mem::take(&mut self.brought_now);
        for (half, of_runtime) in [(of_runtime, true), (of_match, false)] {
            if let Some(half) = half.and_then(|half| self.tell(half)) {
                self.found.brought.push(Brought { step, half, of_runtime });
            }
        }
    }

    /// The stack of an event of `tid`.
    pub(super) fn take(&mut self, record: &Record<'_>, tid: Option<u32>, user: UserHalves) -> Bound {
        if !self.worker.source.has_stacks {
            return Bound::None;
        }
        // Records with one time take stacks in their order.
        if self.open_at == record.time() && (self.all_open || self.open_cpus.contains(&record.cpu())) {
            return Bound::Open;
        }
        let pair = self.binder.take(record.time(), tid, record.cpu(), user);
        if pair == (None, None) { Bound::None } else { Bound::Stack(self.stack_of(pair)) }
    }

    /// The stack of the slice that a pair is.
    fn stack_of(&mut self, pair: (Option<HalfId>, Option<HalfId>)) -> StackId {
        let pair = self.number(pair);
        let (index, pace) = (pair as usize, self.worker.pace);
        if let Some((since, stack)) = self.worker.stacks.get(index)
            && *since == pace
        {
            return *stack;
        }
        let stack = self.next_stack();
        let stacks = &mut self.worker.stacks;
        if stacks.len() <= index {
            stacks.resize(index + 1, (0, stack));
        }
        stacks[index] = (pace, stack);
        self.found.steps.push(Step::Stack { pair });
        stack
    }

    /// The number of the next stack of the slice.
    pub(super) fn next_stack(&mut self) -> StackId {
        self.stacks += 1;
        StackId::from_index(self.stacks - 1)
    }

    /// The number of a pair.
    fn number(&mut self, pair: (Option<HalfId>, Option<HalfId>)) -> u32 {
        if let Some(number) = self.worker.pairs.get(&pair) {
            return *number;
        }
        let told = self.tell_pair([pair.0, pair.1]);
        let number = u32::try_from(self.worker.pairs.len()).unwrap_or(u32::MAX);
        self.worker.pairs.insert(pair, number);
        self.found.new_pairs.push(told);
        number
    }

    fn tell_pair(&mut self, pair: [Option<HalfId>; 2]) -> ToldPair {
        pair.map(|half| half.and_then(|half| self.tell(half)))
    }

    /// The number of a half, of which this tells where that was not done; `None` (and counted) where it is forgotten.
    fn tell(&mut self, id: HalfId) -> Option<ToldHalf> {
        let SliceWorker { halves, told, told_count, told_addresses, .. } = &mut *self.worker;
        let number = id.number() as usize;
        if told.len() <= number {
            told.resize(number + 1, None);
        }
        if told[number].is_some() {
            return told[number];
        }
        let Some(half) = halves.found(id) else {
            self.found.health.count(HealthKind::STACK_HALF_DROPPED, None, || "memory budget for stacks".to_owned());
            return None;
        };
        let length = u32::try_from(half.addresses.len()).unwrap_or(u32::MAX);
        *told_addresses += half.addresses.len();
        self.found.new_addresses.extend_from_slice(half.addresses);
        self.found.new_halves.push(NewHalf { process: half.process, ticks: half.ticks, length });
        told[number] = Some(ToldHalf(*told_count));
        *told_count += 1;
        told[number]
    }

    /// Of the halves that nobody took, only those stay that a record of the slice may take.
    fn tell_untaken(&mut self, slice: &Slice) {
        let mut untaken = std::mem::take(&mut self.untaken);
        untaken.sort_by_key(|halves| halves.ticks);
        let lossy = self.worker.source.lossy;
        let mut open = self.found.steps.iter().filter_map(|step| match step {
            Step::Raw(RawStep { batch, index, stack: Bound::Open, rest, .. }) => {
                let time = slice.own.get(*batch as usize)?.time(*index as usize)?;
                // In a lossy recording all ready events are open.
                let is_by_cut = matches!(rest, RestOf::Switch | RestOf::Ready | RestOf::SampleRow);
                let is_always = !is_by_cut || lossy && *rest == RestOf::Ready;
                Some((time, is_always))
            }
            _ => None,
        });
        let mut next = open.next();
        let mut at = (i64::MIN, false);
        let mut left = Vec::with_capacity(untaken.len());
        for event in untaken {
            while let Some((time, is_always)) = next
                && time <= event.ticks
            {
                at = (time, is_always || time == at.0 && at.1);
                next = open.next();
            }
            if at.0 == event.ticks {
                left.push((event, at.1));
            }
        }
        for (event, for_any) in left {
            let pair = self.tell_pair([event.kernel, event.user]);
            self.found.left.push(LeftHalves { event, pair, for_any });
        }
    }

    fn process_at(&mut self, pid: u32, ticks: i64) -> ProcessId {
        let SliceWorker { source, unknown_pids, .. } = &mut *self.worker;
        process_at(&source.owners, unknown_pids, &mut self.found.new_pids, pid, ticks)
    }

    fn instance_of(&self, tid: u32, ticks: i64) -> u32 {
        self.worker.source.owners.instance_of(tid, ticks)
    }
}

/// The process that owns `pid`; one that no record tells of gets a number behind all others.
fn process_at(
    owners: &Owners,
    unknown: &mut FxHashMap<u32, ProcessId>,
    new: &mut Vec<(u32, i64)>,
    pid: u32,
    ticks: i64,
) -> ProcessId {
    owners.process_at(pid, ticks).unwrap_or_else(|| {
        let next = ProcessId::from_index(owners.process_count() + unknown.len());
        *unknown.entry(pid).or_insert_with(|| {
            new.push((pid, ticks));
            next
        })
    })
}
