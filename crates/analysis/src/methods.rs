//! CPU, wait and ready time per process and method.
//!
//! What makes it fast: everything that all methods of a stack share (sums, counts, the longest, first and last, threads)
//! is added up once per (process, stack) and handed out to the methods at the end. Unions cannot be handed out, but
//! methods that have occurred in the same stacks only have the same unions, and share one: per switch there are
//! as many updates as the stack has such groups, not as it has frames, and no hashing per frame.
//!
//! Rows are added process by process, a few thousand at a time, so that they meet what they update in the processor's cache.
//!
//! What keeps it small: a slot per (process, method), and a cache of stacks with a byte budget. When that is full,
//! its sums are handed out and it starts again; the figures do not depend on it.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

use crate::Recording;
use crate::by_id::ById;
use crate::charges::{Charge, Charges, What};
use crate::cut;
use crate::method_slots::{MethodSlots, ProcessNumber};
use crate::names::MethodId;
use crate::spans::{Pieces, Span, is_switch_in, pieces};
use crate::stack_cache::{EntryNumber, Place, StackCache};
use crate::stacks::MethodSource;

/// Bytes that the cache of stacks may take by default.
pub const DEFAULT_CACHE_BYTES: usize = 64 << 20;

/// Rows that wait to be added may take this part of it besides.
const CHARGES_SHARE: usize = 16;

/// The figures of one method in one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodTotal {
    /// The process.
    pub process: ProcessId,
    /// The method.
    pub method: MethodId,
    /// Samples in which it occurs.
    pub samples: i64,
    /// Inclusive sampled CPU, ns: each sample once, however often the method recurs in its stack.
    pub cpu: i64,
    /// Exclusive sampled CPU, ns: samples whose leaf it is.
    pub exclusive_cpu: i64,
    /// Waits of threads that left the CPU below it.
    pub wait: SpanTotal,
    /// Ready spans of those threads, charged to the method in which they had waited.
    pub ready: SpanTotal,
    /// Switch-ins whose wait stack has it.
    pub switches: i64,
    /// Distinct threads.
    pub threads: u64,
    /// First time at which it was seen in a sample, a span or a switch-in.
    pub first: i64,
    /// Last time at which it was seen in a sample, a span or a switch-in.
    pub last: i64,
}

/// Spans of one kind of one method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanTotal {
    /// The time that the spans cover, overlaps counted once, ns.
    pub union: i64,
    /// Their plain sum, ns.
    pub sum: i64,
    /// Their number.
    pub count: i64,
    /// The longest single one, ns.
    pub longest: i64,
}

/// How many methods one process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodCount {
    /// The process.
    pub process: ProcessId,
    /// All of its methods.
    pub methods: usize,
    /// Those that were kept.
    pub kept: usize,
}

/// The result of a [`MethodAggregator`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodTotals {
    /// By process and method number.
    pub methods: Vec<MethodTotal>,
    /// How many methods each process has, and how many of them are listed; by process.
    pub counts: Vec<MethodCount>,
    /// Switch rows that were not used because they were out of order, overlapped a later row of their thread, or belong
    /// to a thread that is not in the thread table: 0 unless the archive is damaged.
    pub contradictions: u64,
}

/// Adds up samples and switches per process and method.
///
/// Samples may come in any order, before, after or between the switches. Switch rows must come newest first, in
/// descending order of the table.
#[derive(Debug)]
pub struct MethodAggregator<S> {
    source: S,
    range: Span,
    has_ready: bool,
    cache_bytes: usize,
    threads: ById<Thread>,
    /// Number of each thread within each process but its own in which it was seen: an idle thread's interrupts are charged
    /// to another process than the thread itself.
    guest_numbers: FxHashMap<(ProcessNumber, ThreadId), Option<u32>>,
    threads_of_process: Vec<u32>,
    slots: MethodSlots,
    cache: StackCache,
    /// Rows that are not added yet.
    charges: Charges,
    /// Per process: waits that ended before the switch row at hand, at most one per thread. They join the unions in their
    /// turn.
    pending: Vec<BinaryHeap<PendingWait>>,
    now: i64,
    contradictions: u64,
    scratch: Vec<MethodId>,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    process: ProcessNumber,
    /// Its number within its process, once it was seen there.
    number: Option<u32>,
    /// Start of the earliest span taken so far: spans of a thread do not overlap.
    left: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PendingWait {
    span: Span,
    entry: EntryNumber,
}

impl Ord for PendingWait {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.span.end, self.span.start, self.entry).cmp(&(other.span.end, other.span.start, other.entry))
    }
}

impl PartialOrd for PendingWait {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: MethodSource> MethodAggregator<S> {
    /// An aggregator over `range` ([`Span::ALL`] for everything). `threads` tells the process of each thread that
    /// switches.
    #[must_use]
    pub fn new(recording: &Recording, range: Span, threads: &[ThreadRow], source: S) -> Self {
        let mut slots = MethodSlots::default();
        let mut by_id = ById::default();
        for row in threads {
            let process = slots.process(row.process);
            by_id.insert(row.thread.0, Thread { process, number: None, left: i64::MAX });
        }
        Self {
            source,
            range,
            has_ready: recording.has_ready,
            cache_bytes: DEFAULT_CACHE_BYTES,
            threads: by_id,
            guest_numbers: FxHashMap::default(),
            threads_of_process: Vec::new(),
            slots,
            cache: StackCache::default(),
            charges: Charges::of_bytes(DEFAULT_CACHE_BYTES / CHARGES_SHARE),
            pending: Vec::new(),
            now: i64::MAX,
            contradictions: 0,
            scratch: Vec::new(),
        }
    }

    /// Lets the cache of stacks take about this many bytes.
    #[must_use]
    pub fn with_cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self.charges = Charges::of_bytes(bytes / CHARGES_SHARE);
        self
    }

    /// Takes a sample.
    pub fn sample(&mut self, row: &CpuSampleRow) {
        let place = row.stack.map(Place::Stack).or(row.frame.map(Place::Frame));
        let Some(place) = place.filter(|_| self.range.contains(row.time)) else { return };
        let process = self.slots.process(row.process);
        let what = What::Sample { weight: row.weight };
        self.charge(Charge { process, thread: row.thread, place, time: row.time, what });
    }

    /// Takes a switch row; rows come newest first.
    pub fn switch(&mut self, row: &ContextSwitchRow) {
        let thread = self.threads.get_mut(row.thread.0).filter(|thread| row.time <= thread.left);
        let Some(thread) = thread.filter(|_| row.time <= self.now) else {
            self.contradictions += 1;
            return;
        };
        thread.left = row.off_time.min(row.time);
        let process = thread.process;
        self.now = row.time;
        let Some(stack) = row.wait_stack else { return };
        let Pieces { wait, ready, .. } = pieces(row, self.has_ready).clip(self.range);
        let switched_in = is_switch_in(row) && self.range.contains(row.time);
        if wait.is_some() || ready.is_some() || switched_in {
            let what = What::Switch { wait, ready, switched_in };
            self.charge(Charge { process, thread: row.thread, place: Place::Stack(stack), time: row.time, what });
        }
    }

    /// Closes the totals of all methods.
    #[must_use]
    pub fn finish(mut self) -> MethodTotals {
        self.close();
        let order = self.slots.in_order();
        let counts = cut::count(&order, |slot| self.slots.process_of(slot));
        let methods = order.iter().map(|&slot| self.slots.total(slot)).collect();
        MethodTotals { methods, counts, contradictions: self.contradictions }
    }

    /// Closes the totals and gives the slots of all methods, and the number of contradictions.
    pub(crate) fn into_slots(mut self) -> (MethodSlots, u64) {
        self.close();
        (self.slots, self.contradictions)
    }

    fn close(&mut self) {
        self.settle_charges();
        for process in 0..self.pending.len() {
            self.settle_waits(ProcessNumber(u32::try_from(process).unwrap_or(u32::MAX)), i64::MIN);
        }
        self.cache.hand_out(&mut self.slots);
        self.cache = StackCache::default();
    }

    fn charge(&mut self, charge: Charge) {
        if self.charges.push(charge) {
            self.settle_charges();
        }
    }

    fn settle_charges(&mut self) {
        let mut charges = std::mem::replace(&mut self.charges, Charges::of_bytes(0));
        charges.take_out(|charge| self.settle(charge));
        self.charges = charges;
    }

    /// Adds a charge to its methods. Those of switches come newest first in each process.
    fn settle(&mut self, charge: &Charge) {
        let Charge { process, thread, place, time, what } = *charge;
        match what {
            What::Sample { weight } => {
                let entry = self.entry(process, thread, place);
                let sums = self.cache.sums(entry);
                sums.samples += 1;
                sums.cpu = sums.cpu.saturating_add(weight);
                sums.seen(time, time);
                if let Some(leaf) = self.cache.leaf(entry) {
                    self.slots.add_exclusive(leaf, weight);
                }
            }
            What::Switch { wait, ready, switched_in } => {
                // No wait to come ends behind this switch-in, so those that do are next in descending order.
                self.settle_waits(process, time);
                let entry = self.entry(process, thread, place);
                let sums = self.cache.sums(entry);
                if switched_in {
                    sums.switches += 1;
                    sums.seen(time, time);
                }
                if let Some(wait) = wait {
                    sums.wait.add(wait);
                    sums.seen(wait.start, wait.end);
                }
                if let Some(ready) = ready {
                    sums.ready.add(ready);
                    sums.seen(ready.start, ready.end);
                    for &group in self.cache.groups(entry, &mut self.slots) {
                        self.slots.add_ready(group, ready);
                    }
                }
                if let Some(span) = wait {
                    self.pending[process.0 as usize].push(PendingWait { span, entry });
                }
            }
        }
    }

    /// Adds the pending waits of a process that end at `time` or later to the unions of their methods.
    fn settle_waits(&mut self, process: ProcessNumber, time: i64) {
        let index = process.0 as usize;
        if index >= self.pending.len() {
            self.pending.resize_with(index + 1, BinaryHeap::new);
        }
        let pending = &mut self.pending[index];
        while let Some(wait) = pending.peek().filter(|wait| wait.span.end >= time).copied() {
            pending.pop();
            for &group in self.cache.groups(wait.entry, &mut self.slots) {
                self.slots.add_wait(group, wait.span);
            }
        }
    }

    /// The cache entry of a stack in a process, with the thread noted in it.
    fn entry(&mut self, process: ProcessNumber, thread: ThreadId, place: Place) -> EntryNumber {
        let entry = match self.cache.find(process, place) {
            Some(entry) => entry,
            None => self.new_entry(process, place),
        };
        if self.cache.is_new_thread(entry, thread) {
            let number = self.thread_number(process, thread);
            self.cache.add_thread(entry, number);
        }
        entry
    }

    /// Number of a thread among those seen in a process.
    fn thread_number(&mut self, process: ProcessNumber, thread: ThreadId) -> u32 {
        let own = self.threads.get_mut(thread.0).filter(|own| own.process == process);
        let number = match own {
            Some(own) => &mut own.number,
            None => self.guest_numbers.entry((process, thread)).or_default(),
        };
        *number.get_or_insert_with(|| {
            let index = process.0 as usize;
            if index >= self.threads_of_process.len() {
                self.threads_of_process.resize(index + 1, 0);
            }
            self.threads_of_process[index] += 1;
            self.threads_of_process[index] - 1
        })
    }

    fn new_entry(&mut self, process: ProcessNumber, place: Place) -> EntryNumber {
        if self.cache.bytes() > self.cache_bytes {
            self.flush_cache();
        }
        self.scratch.clear();
        match place {
            Place::Stack(stack) => self.source.stack(stack, &mut self.scratch),
            Place::Frame(frame) => self.source.frame(frame, &mut self.scratch),
        }
        self.cache.insert(process, place, &self.scratch, &mut self.slots)
    }

    /// Hands the sums out and empties the cache, except for the stacks that pending waits still need.
    fn flush_cache(&mut self) {
        self.cache.hand_out(&mut self.slots);
        let old = std::mem::take(&mut self.cache);
        let mut moved: FxHashMap<EntryNumber, EntryNumber> = FxHashMap::default();
        for pending in &mut self.pending {
            let mut waits = std::mem::take(pending).into_vec();
            for wait in &mut waits {
                let cache = &mut self.cache;
                wait.entry = *moved.entry(wait.entry).or_insert_with(|| cache.adopt(&old, wait.entry));
            }
            *pending = waits.into();
        }
    }
}
