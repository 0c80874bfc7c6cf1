//! Adds contributions to the methods of their stacks.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use tracesift_trace::ThreadId;

use crate::attribution::Attribution;
use crate::by_id::ById;
use crate::contribution::{Amount, Contribution, ContributionQueue, ContributionsByProcess};
use crate::method_slots::{MethodSlots, OwnedSlots};
use crate::owner::Owner;
use crate::process_number::ProcessNumber;
use crate::row_contributions::RowContributions;
use crate::sample_total::SampleTotal;
use crate::spans::Span;
use crate::stack_cache::{EntryNumber, StackCache};
use crate::stacks::MethodSource;

/// Bytes that the cache of stacks may take by default.
pub const DEFAULT_CACHE_BYTES: usize = 64 << 20;
/// Waiting contributions may take one part in so many of the cache's bytes, in addition.
const QUEUE_SHARE: usize = 16;

/// The second half of a [`crate::MethodAggregator`]: from contributions to sums. It knows stacks,
/// and no row.
#[derive(Debug)]
pub(crate) struct StackAggregator<S: MethodSource> {
    source: S,
    /// Whether contributions without a stack are charged to a method.
    has_no_stack: bool,
    cache_bytes: usize,
    sum_bytes: usize,
    /// The limit of memory was reached: the sums are incomplete and must not be used.
    is_full: bool,
    /// Number of each thread within its own process.
    threads: ById<ThreadNumber>,
    /// Number of each thread within each process but its own in which it was seen: an idle thread's interrupts are charged
    /// to another process than the thread itself.
    guests: FxHashMap<(ProcessNumber, ThreadId), Option<u32>>,
    threads_of_process: Vec<u32>,
    slots: MethodSlots<S::Item>,
    cache: StackCache,
    /// Contributions that are not added yet.
    contributions: ContributionQueue,
    /// Per process: waits that ended before the switch row at hand, at most one per thread. They join the unions in their
    /// turn.
    pending: Vec<BinaryHeap<PendingWait>>,
    scratch: Vec<S::Item>,
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

impl<S: MethodSource> StackAggregator<S> {
    pub(crate) fn new<O: Owner>(rows: &RowContributions<O>, mut source: S) -> Self {
        let mut scratch = Vec::new();
        source.no_stack(&mut scratch);
        Self {
            source,
            has_no_stack: !scratch.is_empty(),
            cache_bytes: DEFAULT_CACHE_BYTES,
            sum_bytes: usize::MAX,
            is_full: false,
            threads: rows.threads().map(|&process| ThreadNumber { process, number: None }),
            guests: FxHashMap::default(),
            threads_of_process: Vec::new(),
            slots: MethodSlots::default(),
            cache: StackCache::default(),
            contributions: ContributionQueue::of_bytes(DEFAULT_CACHE_BYTES / QUEUE_SHARE),
            pending: Vec::new(),
            scratch,
        }
    }

    /// Lets the cache of stacks take about this many bytes.
    pub(crate) fn with_cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self.contributions = ContributionQueue::of_bytes(bytes / QUEUE_SHARE);
        self
    }

    /// Sets the limit of memory of the totals.
    pub(crate) fn with_sum_bytes(self, bytes: usize) -> Self {
        Self { sum_bytes: bytes, ..self }
    }

    /// Whether the limit of memory was reached.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Takes a contribution; those of switches come newest first.
    pub(crate) fn add(&mut self, contribution: Contribution) {
        if self.contributions.push(contribution) {
            self.add_queued();
        }
    }

    /// Adds samples of a process and a place that were added up elsewhere.
    pub(crate) fn add_samples(&mut self, process: ProcessNumber, attribution: Attribution, total: &SampleTotal) {
        if !self.counts(attribution) {
            return;
        }
        let entry = self.entry(process, attribution);
        for thread in total.threads() {
            self.note(entry, process, thread);
        }
        let sums = self.cache.sums(entry);
        sums.samples += total.samples;
        sums.cpu = sums.cpu.saturating_add(total.cpu);
        sums.seen(total.first, total.last);
        if let Some(leaf) = self.cache.leaf(entry) {
            self.slots.add_exclusive(leaf, total.cpu);
        }
    }

    /// Adds contributions that were grouped elsewhere.
    pub(crate) fn add_all(&mut self, contributions: ContributionsByProcess<'_>) {
        self.add_queued();
        contributions.iter().for_each(|contribution| self.add_now(contribution));
    }

    /// Closes the totals of all methods, and gives the source of stacks back. `owners` are those behind the numbers of processes.
    pub(crate) fn finish<O: Owner>(mut self, owners: Vec<O>) -> (OwnedSlots<S::Item, O>, S) {
        self.add_queued();
        for process in 0..self.pending.len() {
            self.join_waits(ProcessNumber(u32::try_from(process).unwrap_or(u32::MAX)), i64::MIN);
        }
        self.cache.hand_out(&mut self.slots);
        (OwnedSlots::new(self.slots, owners), self.source)
    }

    /// Bytes of the totals, about; the cache has bounds of its own.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.bytes()
    }

    fn add_queued(&mut self) {
        let mut contributions = std::mem::replace(&mut self.contributions, ContributionQueue::of_bytes(0));
        contributions.take_out(|contribution| self.add_now(contribution));
        self.contributions = contributions;
    }

    /// Adds a contribution to its methods. Those of switches come newest first in each process.
    fn add_now(&mut self, contribution: &Contribution) {
        let Contribution { process, thread, attribution, time, amount } = *contribution;
        if !self.counts(attribution) {
            return;
        }
        match amount {
            Amount::Sample { weight } => {
                let entry = self.entry_of_thread(process, thread, attribution);
                let sums = self.cache.sums(entry);
                sums.samples += 1;
                sums.cpu = sums.cpu.saturating_add(weight);
                sums.seen(time, time);
                if let Some(leaf) = self.cache.leaf(entry) {
                    self.slots.add_exclusive(leaf, weight);
                }
            }
            Amount::Switch { wait, ready, switched_in } => {
                // No wait to come ends behind this switch-in, so those that do are next in descending order.
                self.join_waits(process, time);
                let entry = self.entry_of_thread(process, thread, attribution);
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
    fn join_waits(&mut self, process: ProcessNumber, time: i64) {
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

    /// Whether anything is charged to a place.
    fn counts(&self, attribution: Attribution) -> bool {
        (attribution != Attribution::Nowhere || self.has_no_stack) && !self.is_full
    }

    /// The cache entry of a stack in a process, with the thread noted in it.
    fn entry_of_thread(&mut self, process: ProcessNumber, thread: ThreadId, attribution: Attribution) -> EntryNumber {
        let entry = self.entry(process, attribution);
        if self.cache.is_new_thread(entry, thread) {
            self.note(entry, process, thread);
        }
        entry
    }

    /// Notes a thread in an entry of its process.
    fn note(&mut self, entry: EntryNumber, process: ProcessNumber, thread: ThreadId) {
        let number = self.thread_number(process, thread);
        self.cache.add_thread(entry, number);
    }

    /// The cache entry of a stack in a process.
    fn entry(&mut self, process: ProcessNumber, attribution: Attribution) -> EntryNumber {
        let attribution = match attribution {
            Attribution::Stack(stack) => Attribution::Stack(self.source.representative(stack)),
            Attribution::Frame(_) | Attribution::Nowhere => attribution,
        };
        match self.cache.find(process, attribution) {
            Some(entry) => entry,
            None => self.new_entry(process, attribution),
        }
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

    fn new_entry(&mut self, process: ProcessNumber, attribution: Attribution) -> EntryNumber {
        if self.cache.bytes() > self.cache_bytes {
            self.flush_cache();
        }
        self.is_full |= self.slots.bytes() > self.sum_bytes;
        self.scratch.clear();
        attribution.methods(&mut self.source, &mut self.scratch);
        self.cache.insert(process, attribution, &self.scratch, &mut self.slots)
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
