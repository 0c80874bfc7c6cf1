//! Adds up samples per stack before their methods are looked up: threads have a few stacks, or a few tags, in millions of samples.

use std::hash::{Hash as _, Hasher as _};

use rustc_hash::FxHasher;
use tracesift_trace::rows::CpuSampleRow;
use tracesift_trace::{ProcessId, ThreadId, view};

use crate::attribution::Attribution;

/// Samples of one thread with one attribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSum {
    /// The process that they are charged to.
    pub process: ProcessId,
    /// The thread.
    pub thread: ThreadId,
    /// Where they were taken.
    pub attribution: Attribution,
    /// Their number.
    pub samples: i64,
    /// Their weights, ns.
    pub cpu: i64,
    /// Time of the first one, ns.
    pub first: i64,
    /// Time of the last one, ns.
    pub last: i64,
}

view! {
    /// The columns of a sample that are added up by thread.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SampleOfThread of CpuSampleRow { time, process, thread, weight }
}

/// Sums that stand where a sample is looked for: 256 KiB, so that they stay in the processor's cache.
const PLACES: usize = 4_096;
/// Sums behind them, at most, before those of one thread and attribution are added up: 48 MiB.
const MOST: usize = 1 << 20;

/// Samples per process, thread and attribution.
///
/// Each sum has a place, which it shares with others. Who comes takes the place, and who was there goes to a list. In the end the list is
/// sorted, and what is alike in it is added up. Both take less time than to look up sums that the processor's cache does not have.
#[derive(Clone, Debug, Default)]
pub struct SampleSums {
    places: Vec<SampleSum>,
    list: Vec<SampleSum>,
    /// The list is made smaller when it has so many sums.
    room: usize,
}

impl SampleSums {
    /// Adds a sample, as one with this attribution.
    #[inline]
    pub fn sample(&mut self, row: impl Into<SampleOfThread>, attribution: Attribution) {
        let SampleOfThread { time, process, thread, weight } = row.into();
        let one = SampleSum { process, thread, attribution, samples: 1, cpu: weight, first: time, last: time };
        let mut hash = FxHasher::default();
        (process, thread, attribution).hash(&mut hash);
        if self.places.is_empty() {
            self.places = vec![SampleSum { samples: 0, cpu: 0, ..one }; PLACES];
        }
        let place = &mut self.places[hash.finish() as usize % PLACES];
        if place.is_alike(&one) {
            place.add(&one);
            return;
        }
        let before = std::mem::replace(place, one);
        if before.samples > 0 {
            self.list.push(before);
            if self.list.len() >= self.room.max(MOST) {
                add_up(&mut self.list);
                // If hardly two are alike, it must not be sorted again soon.
                self.room = 2 * self.list.len();
            }
        }
    }

    /// The sums, by process and attribution: who adds them up meets what they have in common one after the other.
    #[must_use]
    pub fn finish(mut self) -> Vec<SampleSum> {
        self.list.extend(self.places.into_iter().filter(|sum| sum.samples > 0));
        add_up(&mut self.list);
        self.list
    }
}

/// Makes one sum of those of a thread and an attribution.
fn add_up(sums: &mut Vec<SampleSum>) {
    sums.sort_unstable_by_key(SampleSum::order);
    sums.dedup_by(|next, sum| {
        let are_alike = sum.is_alike(next);
        if are_alike {
            sum.add(next);
        }
        are_alike
    });
}

impl SampleSum {
    /// Whether it is of the same thread and attribution.
    #[inline]
    fn is_alike(&self, other: &Self) -> bool {
        self.thread == other.thread && self.attribution == other.attribution && self.process == other.process
    }

    #[inline]
    fn add(&mut self, more: &Self) {
        self.samples += more.samples;
        self.cpu = self.cpu.saturating_add(more.cpu);
        self.first = self.first.min(more.first);
        self.last = self.last.max(more.last);
    }

    /// Process, attribution and thread as one number, which is compared at once.
    #[inline]
    fn order(&self) -> u128 {
        let (kind, number) = match self.attribution {
            Attribution::Stack(stack) => (0_u128, stack.0),
            Attribution::Frame(frame) => (1, frame.0),
            Attribution::Nowhere => (2, 0),
        };
        // In two's complement with the sign turned over, numbers are in the order of their bits.
        let bits = |number: i32| u128::from(number.cast_unsigned() ^ (1 << 31));
        bits(self.process.0) << 96 | kind << 64 | bits(number) << 32 | bits(self.thread.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

    use super::{SampleOfThread, SampleSum, SampleSums};
    use crate::attribution::Attribution;

    #[test]
    fn stacks_of_few_and_of_many_threads_are_added_up() {
        let mut sums = SampleSums::default();
        let mut truth: BTreeMap<_, SampleSum> = BTreeMap::new();
        let mut number = 7_u32;
        for time in 0..20_000_i64 {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let stack = (number >> 20) as i32 % 40;
            let threads = if stack == 3 { 30 } else { 3 };
            let (process, thread) = (ProcessId((number >> 8) as i32 % 2), ThreadId((number >> 10) as i32 % threads));
            let attribution = match stack {
                0 => Attribution::Nowhere,
                1 => Attribution::Frame(FrameId(5)),
                2 => Attribution::Stack(StackId(i32::MAX)),
                _ => Attribution::Stack(StackId(stack)),
            };
            let weight = i64::from(number % 9);
            sums.sample(SampleOfThread { time, process, thread, weight }, attribution);
            let empty = SampleSum { process, thread, attribution, samples: 0, cpu: 0, first: time, last: time };
            let sum = truth.entry((process, attribution, thread)).or_insert(empty);
            (sum.samples, sum.cpu, sum.last) = (sum.samples + 1, sum.cpu + weight, time);
        }
        assert_eq!(sums.finish(), truth.into_values().collect::<Vec<_>>());
    }
}
