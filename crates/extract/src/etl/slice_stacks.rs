//! The stacks of a slice of the recording: stack records become halves, and find their events. The records of which there are most are
//! decoded besides.
//!
//! All of it needs only what the first pass has found, so that slices can be worked on in any order and side by side. Numbers of halves
//! and of pairs are those of the worker; whoever has the slices in their order gives them ids.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_etl::class::{EventClass, Group};
use tracesift_etl::payload::{ContextSwitch, Payload, ReadyThread, SampledProfile, Stack, StackReference, ready_flags};
use tracesift_etl::{Record, RecordBatch, Wanted as _};
use tracesift_trace::code_map::CodeMap;
use tracesift_trace::half_finder::HalfFinder;
use tracesift_trace::ids::ProcessId;
use tracesift_trace::owners::Owners;
use tracesift_trace::running::Running;
use tracesift_trace::stack_binder::{LateUserHalf, Part, StackBinder, StackRecord, Untaken, UserHalves};
use tracesift_trace::stack_keys::{Half, StackKeys};
use tracesift_trace::stacks::{HalfId, KeyReference};
use tracesift_trace::{Clock, Health, HealthKind};

use super::brought_stacks::{BroughtStacks, brings_stacks};
use super::inventory::{LateFrames, LatePart, LateStack, LateStacks};
use super::scheduling::{Runner, RunningTid, Scheduling, SchedulingEvent};
use super::slices::Slice;
use crate::event_kinds::WantedHooks;
use crate::table_choice::WantedTables;

/// What all workers read.
pub(super) struct StackSource {
    pub(super) clock: Clock,
    /// Whether stacks are looked for; else no record has one.
    pub(super) has_stacks: bool,
    pub(super) owners: Arc<Owners>,
    pub(super) keys: Arc<StackKeys>,
    pub(super) code: Arc<CodeMap>,
    /// Those that come later than the look-ahead.
    pub(super) late: LateStacks,
    /// How far workers look ahead, ticks.
    pub(super) lead: i64,
    /// Stack records before each cut.
    pub(super) walked: Vec<u64>,
    /// Who runs at each cut, by CPU.
    pub(super) running: Vec<Box<[Option<RunningTid>]>>,
    /// Records were lost: who runs on a CPU is not certain.
    pub(super) lossy: bool,
    pub(super) wanted: WantedTables,
    /// Kernel events that are kept one by one.
    pub(super) events: Option<WantedHooks>,
    /// Bytes for the tables of a worker.
    pub(super) budget: usize,
}

impl StackSource {
    /// Stack records before a slice.
    pub(super) fn walked_before(&self, slice: &Slice) -> u64 {
        self.walked.get(slice.cuts_before).copied().unwrap_or(0)
    }

    /// Who runs where a slice begins, by CPU, as the first pass has it.
    fn runners(&self, slice: &Slice) -> Vec<Option<Runner>> {
        let at_cut = self.running.get(slice.cuts_before).filter(|_| self.wanted.context_switches);
        let running = at_cut.map(|running| &**running).unwrap_or_default();
        let runner = |(running, cpu): (&Option<RunningTid>, u16)| {
            running.map(|running| Runner::at(&self.owners, running.tid, cpu, slice.start()))
        };
        running.iter().zip(0..=u16::MAX).map(runner).collect()
    }
}

/// A record that may become a row, or is kept as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// Its stack.
    pub(super) stack: Bound,
    pub(super) record: RestRecord,
}

/// What is at hand of a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum RestRecord {
    /// Its batch, its place there, and the stack records of the slice before it.
    Raw { batch: u32, index: u32, walked: u32 },
    /// What it says.
    Decoded(Scheduling),
}

/// The stack of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// Nobody has looked for it.
    Open,
    /// It has none.
    None,
    /// This pair of the worker's.
    Pair(u32),
}

/// A half that another record brings for a record of this slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brought {
    /// Place of the record among the rest of the slice.
    pub(super) rest: u32,
    pub(super) half: ToldHalf,
    /// The .NET runtime wrote it; else it belongs to the kernel half in the record.
    pub(super) of_runtime: bool,
}

/// A half that the worker has not told of before.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewHalf {
    pub(super) process: ProcessId,
    pub(super) ticks: i64,
    /// How many of the new addresses are its own.
    pub(super) length: u32,
}

/// A half that the worker has told of: its number among those, in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToldHalf(pub(super) u32);

/// A kernel half and a user half.
pub(super) type ToldPair = [Option<ToldHalf>; 2];

/// Halves that no event took.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftHalves {
    /// Their event; its halves are those of the worker.
    pub(super) event: Untaken,
    pub(super) pair: ToldPair,
}

/// What a worker found out about a slice.
#[derive(Debug, Default)]
pub(super) struct SliceStacks {
    /// The records that may become rows.
    pub(super) rest: Vec<Rest>,
    /// Halves that no event took here, in the order of time.
    pub(super) left: Vec<LeftHalves>,
    pub(super) brought: Vec<Brought>,
    pub(super) new_halves: Vec<NewHalf>,
    pub(super) new_addresses: Vec<u64>,
    /// The next numbers of pairs.
    pub(super) new_pairs: Vec<ToldPair>,
    /// Pids without any record, with the time at which they were met; their processes have the numbers behind the known ones.
    pub(super) new_pids: Vec<(u32, i64)>,
    /// Who was believed to run where the slice begins, by CPU.
    pub(super) began_with: Vec<Option<Runner>>,
    /// Numbers of halves, pairs and processes begin anew with this slice.
    pub(super) is_anew: bool,
    pub(super) health: Health,
}

impl SliceStacks {
    /// Nothing of the slice before, whose memory is used again.
    fn begin(&mut self, is_anew: bool, began_with: Vec<Option<Runner>>) {
        let Self { rest, left, brought, new_halves, new_addresses, new_pairs, new_pids, .. } = self;
        rest.clear();
        left.clear();
        brought.clear();
        new_halves.clear();
        new_addresses.clear();
        new_pairs.clear();
        new_pids.clear();
        (self.is_anew, self.began_with, self.health) = (is_anew, began_with, Health::new());
    }
}

/// Bytes of a pair of halves that a worker remembers, and of a half that it has told of beside its addresses, with the slack of tables.
const PAIR_BYTES: usize = 64;
const TOLD_BYTES: usize = 64;

/// Works on slices, one after the other.
pub(super) struct StackWorker {
    source: Arc<StackSource>,
    halves: HalfFinder,
    pairs: FxHashMap<(Option<HalfId>, Option<HalfId>), u32>,
    /// Those that were told of, by number of the half.
    told: Vec<Option<ToldHalf>>,
    told_count: u32,
    /// Addresses of those.
    told_addresses: usize,
    unknown_pids: FxHashMap<u32, ProcessId>,
    /// Where nobody counts.
    ignored: Health,
}

impl StackWorker {
    pub(super) fn new(source: Arc<StackSource>) -> Self {
        Self {
            halves: HalfFinder::new(Arc::clone(&source.keys), Arc::clone(&source.code), usize::MAX),
            source,
            pairs: FxHashMap::default(),
            told: Vec::new(),
            told_count: 0,
            told_addresses: 0,
            unknown_pids: FxHashMap::default(),
            ignored: Health::new(),
        }
    }

    /// Bytes of its tables, roughly.
    fn bytes(&self) -> usize {
        let told = self.told.len() * size_of::<Option<ToldHalf>>()
            + self.told_count as usize * TOLD_BYTES
            + self.told_addresses * size_of::<u64>();
        self.halves.bytes() + told + (self.pairs.len() + self.unknown_pids.len()) * PAIR_BYTES
    }

    /// Works on a slice. What was found of another one gives its memory.
    pub(super) fn work(&mut self, slice: &Slice, found: &mut SliceStacks) {
        let runners = self.source.runners(slice);
        self.work_from(slice, runners, found);
    }

    /// Works on a slice at whose begin these threads run, by CPU.
    pub(super) fn work_from(&mut self, slice: &Slice, runners: Vec<Option<Runner>>, found: &mut SliceStacks) {
        // Not in the middle of a slice: whether a half is still known must not depend on the slices before.
        let is_anew = self.bytes() > self.source.budget;
        if is_anew {
            *self = Self::new(Arc::clone(&self.source));
        }
        let running = Running::begin(runners.iter().copied());
        found.begin(is_anew, runners);
        let mut at_work = AtWork {
            binder: StackBinder::new(self.source.clock.frequency, self.source.lead),
            brought: BroughtStacks::default(),
            running,
            open_at: i64::MIN,
            open_cpus: FxHashSet::default(),
            walked: self.source.walked_before(slice),
            untaken: Vec::new(),
            found,
            worker: self,
        };
        if at_work.worker.source.has_stacks {
            at_work.late(slice);
        }
        at_work.slice(slice);
    }
}

/// A slice in the making.
struct AtWork<'w> {
    worker: &'w mut StackWorker,
    binder: StackBinder,
    brought: BroughtStacks,
    running: Running<Runner>,
    /// CPUs with a record at this time whose stack nobody has looked for: it may be the stack of the next record of that time.
    open_at: i64,
    open_cpus: FxHashSet<u16>,
    /// Stack records that the cursor ahead has met, from the start of the recording on.
    walked: u64,
    /// Halves that no event has taken.
    untaken: Vec<Untaken>,
    found: &'w mut SliceStacks,
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

    fn slice(&mut self, slice: &Slice) {
        let own_records: usize = slice.own.iter().map(|batch| batch.len()).sum();
        let mut ahead =
            slice.own.iter().chain(&slice.behind).flat_map(|batch| (0..batch.len()).map(move |at| (batch, at)));
        let mut next_ahead = ahead.next();
        let (mut met, mut walked, mut in_rest) = (0, 0_u32, 0_u32);
        let source = Arc::clone(&self.worker.source);
        let (interval, lead) = (source.clock.frequency, source.lead);
        let keeps = |record: &Record<'_>| source.events.as_ref().is_some_and(|events| events.wants(record));
        if !source.has_stacks {
            next_ahead = None;
        }
        for (number, batch) in (0_u32..).zip(&slice.own) {
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
                let is_walk = record.is_stack_walk();
                if !is_walk || keeps(&record) {
                    let (stack, decoded) = if is_walk { (Bound::None, None) } else { self.event(&record, in_rest) };
                    // What is kept one by one is needed whole.
                    let decoded = decoded.filter(|_| !keeps(&record)).map(RestRecord::Decoded);
                    let index = u32::try_from(index).unwrap_or(u32::MAX);
                    let raw = RestRecord::Raw { batch: number, index, walked };
                    self.found.rest.push(Rest { stack, record: decoded.unwrap_or(raw) });
                    in_rest += 1;
                }
                walked += u32::from(is_walk);
            }
        }
        let untaken = &mut self.untaken;
        self.binder.advance(i64::MAX, interval, |halves| untaken.push(halves));
        self.tell_untaken(slice);
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
        let StackWorker { source, halves, unknown_pids, .. } = &mut **worker;
        brought.record(record, |ticks, frames| {
            let process = process_at(&source.owners, unknown_pids, &mut found.new_pids, pid, ticks);
            halves.inline(process, frames, ticks)
        });
    }

    /// A record that is no stack record, the `place`-th of the slice: its stack where only this record tells whose it is, and what it says.
    fn event(&mut self, record: &Record<'_>, place: u32) -> (Bound, Option<Scheduling>) {
        let has_stacks = self.worker.source.has_stacks;
        let is_brought = has_stacks && self.brought(record, place);
        let open = if has_stacks { Bound::Open } else { Bound::None };
        let EventClass::Kernel { group, opcode, version } = record.class() else { return (open, None) };
        let (stack, decoded) = self.kernel_event(record, (group, opcode, version));
        if stack == Bound::Open {
            if self.open_at != record.time() {
                self.open_at = record.time();
                self.open_cpus.clear();
            }
            self.open_cpus.insert(record.cpu());
        }
        (stack, decoded.filter(|_| !is_brought && stack != Bound::Open))
    }

    /// The same for a record of the kernel.
    fn kernel_event(
        &mut self,
        record: &Record<'_>,
        (group, opcode, version): (Group, u8, u8),
    ) -> (Bound, Option<Scheduling>) {
        let open = if self.worker.source.has_stacks { Bound::Open } else { Bound::None };
        let (payload, pointer_size, wanted) = (record.payload(), record.pointer_size(), self.worker.source.wanted);
        let (ticks, cpu) = (record.time(), record.cpu());
        let thread = |this: &Self, tid| this.worker.source.owners.thread_at(tid, cpu, ticks);
        // What does not decode is counted by whoever makes the row.
        let (stack, event) = match (group, opcode) {
            (Group::THREAD, ContextSwitch::OPCODE) if wanted.context_switches => {
                let Ok(event) = ContextSwitch::parse(payload, version, pointer_size) else { return (open, None) };
                let stack = self.take(record, Some(event.new_thread_id), UserHalves::Shared);
                let runner = |tid| Runner::at(&self.worker.source.owners, tid, cpu, ticks);
                let (old, new) = (runner(event.old_thread_id), runner(event.new_thread_id));
                self.running.switch(cpu, old, new);
                let threads = new.thread.zip(old.thread).filter(|_| record.counters().is_empty());
                (stack, threads.map(|(new, old)| SchedulingEvent::Switch { event, new, old }))
            }
            (Group::THREAD, ReadyThread::OPCODE) if wanted.context_switches && !self.worker.source.lossy => {
                let Ok(event) = ReadyThread::parse(payload, version, pointer_size) else { return (open, None) };
                let readier = self.running.on(cpu).map(|runner| runner.of.tid);
                let stack = self.take(record, readier, user_halves(&event));
                let thread = thread(self, event.thread_id);
                (stack, thread.map(|thread| SchedulingEvent::Ready { event, thread }))
            }
            (Group::PERF_INFO, SampledProfile::OPCODE) if wanted.cpu_samples => {
                let Ok(event) = SampledProfile::parse(payload, version, pointer_size) else { return (open, None) };
                let stack = self.take(record, Some(event.thread_id), UserHalves::Shared);
                let thread = thread(self, event.thread_id);
                (stack, thread.map(|thread| SchedulingEvent::Sample { event, thread }))
            }
            _ => return (open, None),
        };
        (stack, event.map(|event| Scheduling { ticks, cpu, event }))
    }

    /// Tells of the halves that another record brings for this one, the `place`-th of the slice; whether there are any.
    fn brought(&mut self, record: &Record<'_>, place: u32) -> bool {
        let brought = [
            self.brought.of_runtime_event(record).map(|half| (half, true)),
            self.brought.of_match(record).map(|half| (half, false)),
        ];
        let before = self.found.brought.len();
        for (half, of_runtime) in brought.into_iter().flatten() {
            if let Some(half) = self.tell(half) {
                self.found.brought.push(Brought { rest: place, half, of_runtime });
            }
        }
        self.found.brought.len() > before
    }

    /// The stack of an event of `tid`.
    fn take(&mut self, record: &Record<'_>, tid: Option<u32>, user: UserHalves) -> Bound {
        if !self.worker.source.has_stacks {
            return Bound::None;
        }
        // Records with one time take stacks in their order.
        if self.open_at == record.time() && self.open_cpus.contains(&record.cpu()) {
            return Bound::Open;
        }
        let pair = self.binder.take(record.time(), tid, record.cpu(), user);
        if pair == (None, None) { Bound::None } else { Bound::Pair(self.number(pair)) }
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
        let StackWorker { halves, told, told_count, told_addresses, .. } = &mut *self.worker;
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
        let times = self.found.rest.iter().filter_map(|rest| match (rest.stack, rest.record) {
            (Bound::Open, RestRecord::Raw { batch, index, .. }) => slice.own.get(batch as usize)?.time(index as usize),
            _ => None,
        });
        let mut open = times.peekable();
        untaken.retain(|halves| {
            while open.next_if(|time| *time < halves.ticks).is_some() {}
            open.peek() == Some(&halves.ticks)
        });
        drop(open);
        for event in untaken {
            let pair = self.tell_pair([event.kernel, event.user]);
            self.found.left.push(LeftHalves { event, pair });
        }
    }

    fn process_at(&mut self, pid: u32, ticks: i64) -> ProcessId {
        let StackWorker { source, unknown_pids, .. } = &mut *self.worker;
        process_at(&source.owners, unknown_pids, &mut self.found.new_pids, pid, ticks)
    }

    fn instance_of(&self, tid: u32, ticks: i64) -> u32 {
        self.worker.source.owners.instance_of(tid, ticks)
    }
}

/// The user halves that the stack of a ready event takes: a deferred procedure call readies on its own account, and what the interrupted
/// thread does later is not its stack.
pub(super) fn user_halves(event: &ReadyThread) -> UserHalves {
    if event.flags & ready_flags::FROM_DPC != 0 { UserHalves::Own } else { UserHalves::Shared }
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
