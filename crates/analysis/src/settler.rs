//! Adds charges to the methods of their stacks.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use tracesift_trace::{ProcessId, ThreadId};

use crate::by_id::ById;
use crate::charged_to::ChargedTo;
use crate::charger::Charger;
use crate::charges::{Charge, Charges, ChargesByProcess, What};
use crate::method_slots::{MethodSlots, ProcessNumber};
use crate::methods::DEFAULT_CACHE_BYTES;
use crate::names::MethodId;
use crate::spans::Span;
use crate::stack_cache::{EntryNumber, StackCache};
use crate::stacks::MethodSource;

/// Charges that wait to be added may take this part of the cache's bytes besides.
const CHARGES_SHARE: usize = 16;

/// The half of a [`crate::MethodAggregator`] behind the charges.
#[derive(Debug)]
pub(crate) struct Settler<S> {
    source: S,
    /// Whether charges without a stack are anybody's.
    has_no_stack: bool,
    cache_bytes: usize,
    sum_bytes: usize,
    /// There was no room for a further sum: all are worth nothing.
    is_full: bool,
    /// Number of each thread within its own process.
    threads: ById<ThreadNumber>,
    /// Number of each thread within each process but its own in which it was seen: an idle thread's interrupts are charged
    /// to another process than the thread itself.
    guests: FxHashMap<(ProcessNumber, ThreadId), Option<u32>>,
    threads_of_process: Vec<u32>,
    slots: MethodSlots,
    cache: StackCache,
    /// Charges that are not added yet.
    charges: Charges,
    /// Per process: waits that ended before the switch row at hand, at most one per thread. They join the unions in their
    /// turn.
    pending: Vec<BinaryHeap<PendingWait>>,
    scratch: Vec<MethodId>,
}

#[derive(Clone, Copy, Debug)]
struct ThreadNumber {
    process: ProcessNumber,
    /// `None` until the thread is seen in its process.
    number: Option<u32>,
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

impl<S: MethodSource> Settler<S> {
    pub(crate) fn new(charger: &Charger, mut source: S) -> Self {
        let mut scratch = Vec::new();
        source.no_stack(&mut scratch);
        Self {
            source,
            has_no_stack: !scratch.is_empty(),
            cache_bytes: DEFAULT_CACHE_BYTES,
            sum_bytes: usize::MAX,
            is_full: false,
            threads: charger.threads().map(|&process| ThreadNumber { process, number: None }),
            guests: FxHashMap::default(),
            threads_of_process: Vec::new(),
            slots: MethodSlots::default(),
            cache: StackCache::default(),
            charges: Charges::of_bytes(DEFAULT_CACHE_BYTES / CHARGES_SHARE),
            pending: Vec::new(),
            scratch,
        }
    }

    /// Lets the cache of stacks take about this many bytes.
    pub(crate) fn with_cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self.charges = Charges::of_bytes(bytes / CHARGES_SHARE);
        self
    }

    /// Lets the totals take about this many bytes.
    pub(crate) fn with_sum_bytes(self, bytes: usize) -> Self {
        Self { sum_bytes: bytes, ..self }
    }

    /// Whether there was no room for a further total.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Takes a charge; those of switches come newest first.
    pub(crate) fn charge(&mut self, charge: Charge) {
        if self.charges.push(charge) {
            self.settle_charges();
        }
    }

    /// Takes charges that were put together elsewhere.
    pub(crate) fn charge_all(&mut self, charges: ChargesByProcess<'_>) {
        self.settle_charges();
        charges.iter().for_each(|charge| self.settle(charge));
    }

    /// Closes the totals of all methods, and gives the source of stacks back. `processes` are those behind the numbers of processes.
    pub(crate) fn finish(mut self, processes: Vec<ProcessId>) -> (MethodSlots, S) {
        self.settle_charges();
        for process in 0..self.pending.len() {
            self.settle_waits(ProcessNumber(u32::try_from(process).unwrap_or(u32::MAX)), i64::MIN);
        }
        self.cache.hand_out(&mut self.slots);
        self.slots.name_processes(processes);
        (self.slots, self.source)
    }

    /// Bytes of the totals, about; the cache has bounds of its own.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.bytes()
    }

    fn settle_charges(&mut self) {
        let mut charges = std::mem::replace(&mut self.charges, Charges::of_bytes(0));
        charges.take_out(|charge| self.settle(charge));
        self.charges = charges;
    }

    /// Adds a charge to its methods. Those of switches come newest first in each process.
    fn settle(&mut self, charge: &Charge) {
        let Charge { process, thread, place, time, what } = *charge;
        if place == ChargedTo::Nowhere && !self.has_no_stack || self.is_full {
            return;
        }
        match what {
            What::Samples { count, weight, last } => {
                let entry = self.entry(process, thread, place);
                let sums = self.cache.sums(entry);
                sums.samples += count;
                sums.cpu = sums.cpu.saturating_add(weight);
                sums.seen(time, last);
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
    fn entry(&mut self, process: ProcessNumber, thread: ThreadId, place: ChargedTo) -> EntryNumber {
        let place = match place {
            ChargedTo::Stack(stack) => ChargedTo::Stack(self.source.alike(stack)),
            ChargedTo::Frame(_) | ChargedTo::Nowhere => place,
        };
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
            None => self.guests.entry((process, thread)).or_default(),
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

    fn new_entry(&mut self, process: ProcessNumber, place: ChargedTo) -> EntryNumber {
        if self.cache.bytes() > self.cache_bytes {
            self.flush_cache();
        }
        self.is_full |= self.slots.bytes() > self.sum_bytes;
        self.scratch.clear();
        place.methods(&mut self.source, &mut self.scratch);
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
