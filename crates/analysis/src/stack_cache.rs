//! The stacks that were seen lately, per process. Each has its slots, its groups and its sums.

use rustc_hash::FxHashMap;
use tracesift_trace::ThreadId;

use crate::attribution::Attribution;
use crate::item::Item;
use crate::method_slots::MethodSlots;
use crate::process_number::ProcessNumber;
use crate::shared_totals::SharedTotals;

/// An entry of the cache, until it is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EntryNumber(u32);

#[derive(Debug, Default)]
pub(crate) struct StackCache {
    index: FxHashMap<(ProcessNumber, Attribution), EntryNumber>,
    entries: Vec<Entry>,
    /// Slots of all entries, leaf first, each once per stack.
    slots: Vec<u32>,
    /// At the same places the groups of each entry; they are never more than its slots.
    groups: Vec<u32>,
    /// Bytes that thread sets took on the heap.
    thread_bytes: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    start: usize,
    end: usize,
    process: ProcessNumber,
    group_count: u32,
    /// Splits in the process when the groups were filled in; 0: never.
    splits: u32,
    last_thread: Option<ThreadId>,
    sums: SharedTotals,
}

impl StackCache {
    pub(crate) fn find(&self, process: ProcessNumber, attribution: Attribution) -> Option<EntryNumber> {
        self.index.get(&(process, attribution)).copied()
    }

    pub(crate) fn insert<I: Item>(
        &mut self,
        process: ProcessNumber,
        attribution: Attribution,
        methods: &[I],
        slots: &mut MethodSlots<I>,
    ) -> EntryNumber {
        let start = self.slots.len();
        slots.add_stack(process, methods, &mut self.slots);
        let entry = self.push(process, start);
        self.index.insert((process, attribution), entry);
        entry
    }

    /// Takes over an entry of an older cache, with its slots and without its sums. It cannot be found, only used.
    pub(crate) fn adopt(&mut self, old: &Self, entry: EntryNumber) -> EntryNumber {
        let entry = &old.entries[entry.0 as usize];
        let start = self.slots.len();
        self.slots.extend_from_slice(&old.slots[entry.start..entry.end]);
        self.push(entry.process, start)
    }

    pub(crate) fn sums(&mut self, entry: EntryNumber) -> &mut SharedTotals {
        &mut self.entries[entry.0 as usize].sums
    }

    /// The slot of the leaf.
    pub(crate) fn leaf(&self, entry: EntryNumber) -> Option<u32> {
        let entry = &self.entries[entry.0 as usize];
        self.slots[entry.start..entry.end].first().copied()
    }

    /// Notes the thread; false when it was the last one noted, too.
    pub(crate) fn is_new_thread(&mut self, entry: EntryNumber, thread: ThreadId) -> bool {
        let last = &mut self.entries[entry.0 as usize].last_thread;
        last.replace(thread) != Some(thread)
    }

    pub(crate) fn add_thread(&mut self, entry: EntryNumber, number: u32) {
        let threads = &mut self.entries[entry.0 as usize].sums.threads;
        let before = threads.heap_bytes();
        threads.insert(number);
        self.thread_bytes += threads.heap_bytes() - before;
    }

    /// The groups of an entry, brought up to date when groups of its process were split meanwhile.
    #[inline]
    pub(crate) fn groups<I: Item>(&mut self, entry: EntryNumber, slots: &mut MethodSlots<I>) -> &[u32] {
        let entry = &mut self.entries[entry.0 as usize];
        let splits = slots.splits(entry.process);
        if entry.splits != splits {
            let count = slots.groups_of(&self.slots[entry.start..entry.end], &mut self.groups[entry.start..entry.end]);
            entry.group_count = u32::try_from(count).unwrap_or(u32::MAX);
            entry.splits = splits;
        }
        &self.groups[entry.start..entry.start + entry.group_count as usize]
    }

    /// Bytes in use, about.
    pub(crate) fn bytes(&self) -> usize {
        // An index entry takes its key and value and, at worst, as much again for free places.
        let per_entry = size_of::<Entry>() + 2 * size_of::<((ProcessNumber, Attribution), EntryNumber)>();
        self.entries.len() * per_entry + self.slots.len() * 2 * size_of::<u32>() + self.thread_bytes
    }

    /// Adds the sums of all entries to their methods.
    pub(crate) fn hand_out<I: Item>(&self, slots: &mut MethodSlots<I>) {
        for entry in &self.entries {
            for &slot in &self.slots[entry.start..entry.end] {
                slots.merge(slot, &entry.sums);
            }
        }
    }

    /// Makes an entry of the slots from `start` on.
    fn push(&mut self, process: ProcessNumber, start: usize) -> EntryNumber {
        let end = self.slots.len();
        self.groups.resize(end, 0);
        let number = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        self.entries.push(Entry {
            start,
            end,
            process,
            group_count: 0,
            splits: 0,
            last_thread: None,
            sums: SharedTotals::default(),
        });
        EntryNumber(number)
    }
}
