//! A batch: the next records of all buffers at hand, put in order of time.
//!
//! It is made of short sorted runs of many CPUs, whose times are spread over the batch's span. Laying them into as many equal
//! slices of that span as there are records leaves about one record per slice, so the work is linear; a tree of comparisons
//! would cost a chain of dependent loads or a mispredicted branch per level and record.

use crate::frame::Entry;

/// Places that insertion may move records by, per record; where times lie so unevenly that it takes more, the standard library
/// sorts.
const INSERTION: usize = 8;

/// Keeps what it counts with between batches. Per batch: [`Batch::begin`], [`Batch::count`] for each run, [`Batch::lay_out`],
/// [`Batch::place`] for each run in the same order, [`Batch::finish`].
#[derive(Debug, Default)]
pub(crate) struct Batch {
    entries: Vec<Entry>,
    /// First free place of each slice.
    places: Vec<u32>,
    length: usize,
    low: i64,
    last: i64,
    shift: u32,
}

impl Batch {
    /// Starts a batch for times from `low` to `last`, inclusive, in the memory of `entries`. The batch before it says how many records
    /// are likely.
    pub(crate) fn begin(&mut self, low: i64, last: i64, entries: Vec<Entry>) {
        self.entries = entries;
        // Distances fit into u64 for all i64.
        let span = last.wrapping_sub(low) as u64;
        let slice_bits = (usize::BITS - self.length.leading_zeros()).clamp(6, 15);
        self.shift = (u64::BITS - span.leading_zeros()).saturating_sub(slice_bits);
        (self.low, self.last, self.length) = (low, last, 0);
        self.places.clear();
        self.places.resize(1 << slice_bits, 0);
    }

    /// Counts the records of a run up to the batch's last time.
    pub(crate) fn count(&mut self, run: &[Entry]) -> usize {
        let (low, last, shift) = (self.low, self.last, self.shift);
        let mut count = 0;
        for entry in run {
            if entry.time > last {
                break;
            }
            if let Some(place) = self.places.get_mut(slice_of(entry, low, shift)) {
                *place += 1;
            }
            count += 1;
        }
        self.length += count;
        count
    }

    /// Gives each slice its place.
    pub(crate) fn lay_out(&mut self) {
        let mut next = 0;
        for place in &mut self.places {
            let count = *place;
            *place = next;
            next += count;
        }
        self.entries.resize(self.length, Entry::default());
    }

    /// Puts a run's records, which were counted before, into their slices. They say from now on that they are in buffer `slot`.
    pub(crate) fn place(&mut self, run: &[Entry], slot: usize) {
        let (low, shift) = (self.low, self.shift);
        for entry in run {
            if let Some(place) = self.places.get_mut(slice_of(entry, low, shift))
                && let Some(target) = self.entries.get_mut(*place as usize)
            {
                *target = entry.in_slot(slot as u64);
                *place += 1;
            }
        }
    }

    /// Sorts inside the slices, and gives the records in order. Those of the same time are in the order of their runs.
    pub(crate) fn finish(&mut self) -> Vec<Entry> {
        if !insertion_sort(&mut self.entries) {
            self.entries.sort_by_key(|entry| entry.time);
        }
        std::mem::take(&mut self.entries)
    }
}

#[inline]
fn slice_of(entry: &Entry, low: i64, shift: u32) -> usize {
    (entry.time.wrapping_sub(low) as u64 >> shift) as usize
}

/// For records that are not far from their places; gives up when they are.
fn insertion_sort(entries: &mut [Entry]) -> bool {
    let mut moves = INSERTION * entries.len();
    let mut previous = i64::MIN;
    for index in 0..entries.len() {
        let entry = entries[index];
        if entry.time >= previous {
            previous = entry.time;
            continue;
        }
        let mut at = index;
        while at > 0 && entries[at - 1].time > entry.time {
            entries[at] = entries[at - 1];
            at -= 1;
        }
        entries[at] = entry;
        if index - at > moves {
            return false;
        }
        moves -= index - at;
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Batch;
    use crate::frame::Entry;

    fn time() -> impl Strategy<Value = i64> {
        prop_oneof![any::<i64>(), 0..100i64, 1_000_000..1_001_000i64, Just(7), Just(i64::MIN), Just(i64::MAX)]
    }

    proptest! {
        #[test]
        fn runs_come_out_in_order_and_ties_in_the_order_of_the_runs(
            runs in prop::collection::vec(prop::collection::vec(time(), 0..200), 1..20), limit in time()
        ) {
            let (mut batch, mut entries) = (Batch::default(), Vec::new());
            // Twice, so that the second use meets what the first has left behind.
            for _ in 0..2 {
                let mut expected = Vec::new();
                let runs: Vec<Vec<Entry>> = runs.iter().enumerate().map(|(slot, times)| {
                    let mut times = times.clone();
                    times.sort_unstable();
                    expected.extend(times.iter().enumerate().map(|(at, time)| (*time, slot, 8 * at)));
                    times.iter().enumerate().map(|(at, time)| Entry::new(*time, 8 * at, 16, 0)).collect()
                }).collect();
                let low = runs.iter().flatten().map(|entry| entry.time).min().unwrap_or(0);
                let last = limit.max(low);
                expected.retain(|(time, ..)| *time <= last);
                expected.sort_unstable();
                batch.begin(low, last, entries);
                let counts: Vec<usize> = runs.iter().map(|run| batch.count(run)).collect();
                batch.lay_out();
                for (slot, (run, count)) in runs.iter().zip(&counts).enumerate() {
                    batch.place(&run[..*count], slot);
                }
                entries = batch.finish();
                let found: Vec<_> = entries.iter().map(|e| (e.time, e.slot(), e.offset())).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
