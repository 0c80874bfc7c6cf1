//! The amounts that samples and switches add to methods, grouped by process before they are added.
//!
//! A machine runs hundreds of processes, each with its own methods and stacks. In the order of
//! time, nearly every addition would use memory that the processor's cache has lost since the
//! process was last seen. Process by process, some thousand at a time, additions use memory that is
//! still in the cache. The order within a process stays the same.

use tracesift_trace::ThreadId;

use crate::attribution::Attribution;
use crate::process_number::ProcessNumber;
use crate::spans::Span;

/// Contributions per batch, at most.
const BATCH: usize = 1 << 15;

/// The amount that one row adds to the methods of one stack.
#[derive(Clone, Copy, Debug)]
pub struct Contribution {
    pub(crate) process: ProcessNumber,
    pub(crate) thread: ThreadId,
    pub(crate) attribution: Attribution,
    pub(crate) time: i64,
    pub(crate) amount: Amount,
}

impl Contribution {
    /// The number of the worker that takes it, of `parts` workers. All contributions of a process
    /// go to one worker.
    #[must_use]
    #[inline]
    pub fn part(&self, parts: usize) -> usize {
        self.process.0 as usize % parts.max(1)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Amount {
    /// A sample at the contribution's time.
    Sample { weight: i64 },
    /// A switch row: the spans, and whether the thread was switched in at the contribution's time.
    Switch { wait: Option<Span>, ready: Option<Span>, switched_in: bool },
}

/// Contributions that wait to be added. Keeps its memory between batches.
#[derive(Debug)]
pub(crate) struct ContributionQueue {
    batch: usize,
    waiting: Vec<Contribution>,
    by_process: ByProcess,
}

impl ContributionQueue {
    /// For contributions that take up to about this many bytes.
    pub(crate) fn of_bytes(bytes: usize) -> Self {
        let batch = (bytes / size_of::<Contribution>()).clamp(1, BATCH);
        Self { batch, waiting: Vec::new(), by_process: ByProcess::default() }
    }

    /// Adds a contribution. Returns whether the batch is full and [`Self::take_out`] is due.
    pub(crate) fn push(&mut self, contribution: Contribution) -> bool {
        self.waiting.push(contribution);
        self.waiting.len() >= self.batch
    }

    /// Gives the contributions to `take`, process by process, each process in the order of `push`.
    pub(crate) fn take_out(&mut self, take: impl FnMut(&Contribution)) {
        self.by_process.of(&self.waiting).iter().for_each(take);
        self.waiting.clear();
    }
}

/// Puts contributions in order. Keeps its memory.
#[derive(Debug, Default)]
pub struct ByProcess {
    order: Vec<u32>,
    /// Per process, the place of its next contribution in `order`.
    places: Vec<u32>,
}

/// Contributions process by process, each in the order in which it came.
#[derive(Clone, Copy, Debug)]
pub struct ContributionsByProcess<'a> {
    contributions: &'a [Contribution],
    order: &'a [u32],
}

impl ByProcess {
    /// Up to 2^32 contributions, process by process.
    pub fn of<'a>(&'a mut self, contributions: &'a [Contribution]) -> ContributionsByProcess<'a> {
        let processes = contributions.iter().map(|contribution| contribution.process.0 as usize + 1).max().unwrap_or(0);
        self.places.clear();
        self.places.resize(processes, 0);
        for contribution in contributions {
            self.places[contribution.process.0 as usize] += 1;
        }
        let mut next = 0;
        for place in &mut self.places {
            next += std::mem::replace(place, next);
        }
        self.order.resize(contributions.len(), 0);
        for (index, contribution) in (0..).zip(contributions) {
            let place = &mut self.places[contribution.process.0 as usize];
            self.order[*place as usize] = index;
            *place += 1;
        }
        ContributionsByProcess { contributions, order: &self.order }
    }
}

impl<'a> ContributionsByProcess<'a> {
    pub(crate) fn iter(self) -> impl Iterator<Item = &'a Contribution> {
        self.order.iter().map(move |&index| &self.contributions[index as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::{Amount, Contribution, ContributionQueue};
    use crate::attribution::Attribution;
    use crate::process_number::ProcessNumber;
    use tracesift_trace::{StackId, ThreadId};

    #[test]
    fn come_out_by_process_and_else_as_they_came() {
        let mut contributions = ContributionQueue::of_bytes(1000);
        // Twice, so that the second use meets what the first has left behind.
        for _ in 0..2 {
            for (process, time) in [(7, 1), (0, 2), (7, 3), (2, 4), (0, 5), (7, 6)] {
                let process = ProcessNumber(process);
                let attribution = Attribution::Stack(StackId(0));
                contributions.push(Contribution {
                    process,
                    thread: ThreadId(0),
                    attribution,
                    time,
                    amount: Amount::Sample { weight: 1 },
                });
            }
            let mut found = Vec::new();
            contributions.take_out(|contribution| found.push((contribution.process.0, contribution.time)));
            assert_eq!(found, [(0, 2), (0, 5), (2, 4), (7, 1), (7, 3), (7, 6)]);
        }
        contributions.take_out(|_| panic!("nothing is left"));
    }
}
