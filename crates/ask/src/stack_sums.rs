//! Sums per owner and stack. Recordings have millions of samples of a hundred thousand stacks, and nearly every stack is of one
//! process: its sum stands where the number of the stack says, and only those of several owners are looked up.

use rustc_hash::FxHashMap;
use tracesift_analysis::{Attribution, Weight};
use tracesift_trace::{ProcessId, ThreadId};

/// Whose time it is. What interrupts took from an idle thread is of that thread and of another process. Without a thread: all of the
/// process.
pub(crate) type Owner = (ProcessId, Option<ThreadId>);

/// Stacks below this number have a place in a list: 16 MiB of it, at most. A damaged archive must not take any memory it likes.
const LISTED: usize = 1 << 22;
/// A stack that has no sum yet.
const NONE: u32 = u32::MAX;

/// What an owner has in a stack: nanoseconds, and how many samples or spans they are of, unless it is said otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum<S = Weight> {
    pub(crate) owner: Owner,
    pub(crate) at: Attribution,
    pub(crate) sum: S,
}

/// Sums per owner and stack.
#[derive(Debug)]
pub(crate) struct StackSums<S = Weight> {
    sums: Vec<Sum<S>>,
    /// By number of the stack: the sum that was added to last.
    latest: Vec<u32>,
    /// All sums of stacks that have more than one, and of what is in no list.
    others: FxHashMap<(Owner, Attribution), u32>,
}

impl<S> Default for StackSums<S> {
    fn default() -> Self {
        Self { sums: Vec::new(), latest: Vec::new(), others: FxHashMap::default() }
    }
}

impl StackSums {
    /// Adds what a row has.
    #[inline]
    pub(crate) fn add(&mut self, owner: Owner, at: Attribution, weight: Weight) {
        self.of(owner, at).add(weight);
    }

    /// Adds all of others.
    pub(crate) fn append(self, others: Self) -> Self {
        let (mut all, fewer) = if self.sums.len() < others.sums.len() { (others, self) } else { (self, others) };
        for sum in fewer.sums {
            all.add(sum.owner, sum.at, sum.sum);
        }
        all
    }
}

impl<S: Default> StackSums<S> {
    /// What an owner has in a stack.
    #[inline]
    pub(crate) fn of(&mut self, owner: Owner, at: Attribution) -> &mut S {
        let row = self.row(owner, at) as usize;
        &mut self.sums[row].sum
    }

    /// Bytes in use, about; what a sum has on the heap apart.
    pub(crate) fn bytes(&self) -> usize {
        // An entry takes its key and value and, at worst, as much again for free places.
        let per_other = 2 * size_of::<((Owner, Attribution), u32)>();
        self.sums.capacity() * size_of::<Sum<S>>() + self.latest.capacity() * 4 + self.others.capacity() * per_other
    }

    #[inline]
    fn row(&mut self, owner: Owner, at: Attribution) -> u32 {
        let place = match at {
            Attribution::Stack(stack) => usize::try_from(stack.0).ok().filter(|place| *place < LISTED),
            Attribution::Frame(_) | Attribution::Nowhere => None,
        };
        if let Some(place) = place {
            if place >= self.latest.len() {
                self.latest.resize(place + 1, NONE);
            }
            let latest = self.latest[place];
            match self.sums.get(latest as usize) {
                Some(sum) if sum.owner == owner => {}
                // The first one of this stack: nobody needs to look it up until there is another.
                None => self.latest[place] = self.push(owner, at),
                Some(sum) => {
                    self.others.insert((sum.owner, at), latest);
                    self.latest[place] = self.find(owner, at);
                }
            }
            return self.latest[place];
        }
        self.find(owner, at)
    }

    /// The sums by owner, then in the order of the archive's tables: what is made of them must not depend on hashing, and
    /// neighbouring stacks resemble each other.
    pub(crate) fn finish(mut self) -> Vec<Sum<S>> {
        self.sums.sort_unstable_by_key(|sum| (sum.owner, sum.at));
        self.sums
    }

    fn find(&mut self, owner: Owner, at: Attribution) -> u32 {
        if let Some(&row) = self.others.get(&(owner, at)) {
            return row;
        }
        let row = self.push(owner, at);
        self.others.insert((owner, at), row);
        row
    }

    fn push(&mut self, owner: Owner, at: Attribution) -> u32 {
        // 2^32 sums take more than a hundred gigabytes.
        self.sums.push(Sum { owner, at, sum: S::default() });
        u32::try_from(self.sums.len() - 1).unwrap_or(NONE)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tracesift_analysis::{Attribution, Weight};
    use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

    use super::StackSums;

    #[test]
    fn sums_of_shared_and_own_stacks() {
        let mut sums = StackSums::<Weight>::default();
        let mut truth = BTreeMap::new();
        let mut number = 7_u32;
        for _ in 0..5_000 {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let owner = (ProcessId((number >> 8) as i32 % 3), (number >> 12).is_multiple_of(2).then_some(ThreadId(1)));
            let stack = (number >> 16) as i32 % 40;
            let at = match stack {
                0 => Attribution::Nowhere,
                1 => Attribution::Frame(FrameId(5)),
                2 => Attribution::Stack(StackId(i32::MAX)),
                _ => Attribution::Stack(StackId(stack)),
            };
            let weight = Weight { amount: i64::from(number % 9), count: 1 };
            sums.add(owner, at, weight);
            let sum: &mut Weight = truth.entry((owner, at)).or_default();
            sum.add(weight);
        }
        let found: Vec<_> = sums.finish().into_iter().map(|sum| ((sum.owner, sum.at), sum.sum)).collect();
        assert_eq!(found, truth.into_iter().collect::<Vec<_>>());
    }
}
