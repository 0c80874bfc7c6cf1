//! Waits that a disk ended, and which of its operations that was.
//!
//! The kernel logs the completion of an operation and the wake-up of the thread that asked for it one after
//! the other, so the operation is the one of that thread which completed nearest to the wake-up. It gives a
//! wait its label, never its length.

use rustc_hash::FxHashMap;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{DiskIoRow, DiskOperation};
use tracesift_trace::{ThreadId, view};

/// The most time between a completion and the wake-up that belongs to it, ns.
const NEAR: i64 = 100_000;

/// Waits whose operations are looked for at once: some megabytes, however many there are on a path.
const MOST_WAITS: usize = 1 << 16;

view! {
    /// The completion of an operation.
    #[derive(Clone, Copy, Debug)]
    struct Completion of DiskIoRow { time, thread, disk, operation }
}

/// What a disk did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Operation {
    /// Number of the disk.
    pub(crate) disk: i32,
    /// `read`, `write` or `flush`.
    pub(crate) word: &'static str,
}

impl From<&Completion> for Operation {
    fn from(row: &Completion) -> Self {
        let word = match row.operation {
            DiskOperation::Read => "read",
            DiskOperation::Write => "write",
            DiskOperation::Flush => "flush",
        };
        Self { disk: row.disk, word }
    }
}

/// A wait that a disk ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct DiskWait<T> {
    /// The thread that waited.
    pub(super) thread: ThreadId,
    /// The wake-up.
    pub(super) end: i64,
    /// The wait itself.
    pub(super) wait: T,
}

/// Waits until their operations are looked for.
#[derive(Clone, Debug)]
pub(super) struct DiskWaits<T> {
    waits: Vec<DiskWait<T>>,
}

impl<T> Default for DiskWaits<T> {
    fn default() -> Self {
        Self { waits: Vec::new() }
    }
}

impl<T: Copy> DiskWaits<T> {
    /// Adds the next wait of a path, which ends before the waits that were added. Says whether it is time to
    /// settle them.
    pub(super) fn push(&mut self, wait: DiskWait<T>) -> bool {
        self.waits.push(wait);
        self.waits.len() >= MOST_WAITS
    }

    /// Shows each wait with its operation, in the order in which they came, and forgets them. Without waits
    /// nothing is read.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub(super) fn settle(
        &mut self,
        archive: &Archive,
        mut visit: impl FnMut(T, Option<Operation>),
    ) -> Result<(), Error> {
        let (Some(last), Some(first)) = (self.waits.first(), self.waits.last()) else { return Ok(()) };
        let range = first.end.saturating_sub(NEAR + 1)..last.end.saturating_add(NEAR + 1);
        let mut nearest = Nearest::of(&self.waits);
        archive.scan_backwards(Some(range), |row: &Completion| {
            if let Some(thread) = row.thread {
                nearest.completion(thread, row.time, row.into());
            }
        })?;
        let found = nearest.finish();
        self.waits.drain(..).zip(found).for_each(|(wait, operation)| visit(wait.wait, operation));
        Ok(())
    }
}

/// The completion nearest to each wake-up, by one pass over the completions.
struct Nearest {
    ends: Vec<i64>,
    found: Vec<Option<Operation>>,
    threads: FxHashMap<ThreadId, OfThread>,
}

/// The waits of a thread, the last one first, and what passed of its completions.
#[derive(Default)]
struct OfThread {
    waits: Vec<usize>,
    /// The first of the waits that no completion before its end was seen for.
    next: usize,
    /// The completion that passed last.
    later: Option<(i64, Operation)>,
}

impl Nearest {
    fn of<T>(waits: &[DiskWait<T>]) -> Self {
        let mut threads: FxHashMap<ThreadId, OfThread> = FxHashMap::default();
        for (place, wait) in waits.iter().enumerate() {
            threads.entry(wait.thread).or_default().waits.push(place);
        }
        Self { ends: waits.iter().map(|wait| wait.end).collect(), found: vec![None; waits.len()], threads }
    }

    /// Takes the next older completion.
    fn completion(&mut self, thread: ThreadId, time: i64, operation: Operation) {
        let Some(of_thread) = self.threads.get_mut(&thread) else { return };
        while let Some(place) = of_thread.waits.get(of_thread.next).filter(|place| time <= self.ends[**place]) {
            self.found[*place] = nearest(self.ends[*place], Some((time, operation)), of_thread.later);
            of_thread.next += 1;
        }
        of_thread.later = Some((time, operation));
    }

    fn finish(mut self) -> Vec<Option<Operation>> {
        for of_thread in self.threads.values() {
            for place in of_thread.waits.iter().skip(of_thread.next) {
                self.found[*place] = nearest(self.ends[*place], None, of_thread.later);
            }
        }
        self.found
    }
}

/// Of two completions around a wake-up the near one; of equally near ones the earlier, as a cause comes
/// first.
fn nearest(end: i64, before: Option<(i64, Operation)>, after: Option<(i64, Operation)>) -> Option<Operation> {
    let near = |completion: Option<(i64, Operation)>| {
        let (time, operation) = completion?;
        let distance = time.abs_diff(end);
        (distance <= NEAR.unsigned_abs()).then_some((distance, operation))
    };
    let candidates = [near(before), near(after)];
    candidates.into_iter().flatten().min_by_key(|(distance, _)| *distance).map(|(_, operation)| operation)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracesift_trace::ThreadId;

    use super::{DiskWait, NEAR, Nearest, Operation};

    proptest! {
        #[test]
        fn each_wake_up_finds_the_nearest_completion_of_its_thread(
            mut ends in prop::collection::vec((0..3_i32, 0..40 * NEAR), 0..30),
            mut times in prop::collection::vec((0..3_i32, 0..40 * NEAR), 0..60),
        ) {
            ends.sort_by_key(|(_, end)| std::cmp::Reverse(*end));
            times.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
            // Each completion is of a disk of its own, so that it is known again.
            let disk = |place: usize| Operation { disk: i32::try_from(place).expect("few"), word: "read" };
            let waits: Vec<DiskWait<()>> =
                ends.iter().map(|(thread, end)| DiskWait { thread: ThreadId(*thread), end: *end, wait: () }).collect();
            let mut nearest = Nearest::of(&waits);
            for (place, (thread, time)) in times.iter().enumerate() {
                nearest.completion(ThreadId(*thread), *time, disk(place));
            }
            for ((thread, end), found) in ends.iter().zip(nearest.finish()) {
                let own = times.iter().filter(|(other, time)| other == thread && (time - end).abs() <= NEAR);
                let least = own.map(|(_, time)| (time - end).abs()).min();
                let distance = |operation: Operation| (times[operation.disk as usize].1 - end).abs();
                prop_assert_eq!(found.map(distance), least);
                let is_of_thread = |operation: Operation| times[operation.disk as usize].0 == *thread;
                prop_assert!(found.is_none_or(is_of_thread));
            }
        }
    }
}
