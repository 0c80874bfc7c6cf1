//! Chains of threads by number: who waited in which place for whom, from the anchor to the thread that the
//! time belongs to.
//!
//! Threads are roles here, so that chains of different threads with the same role are one.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use tracesift_analysis::path::Link;
use tracesift_trace::{StackId, ThreadId};

/// The number of all chains for which there was no room.
pub(crate) const OTHER_CHAINS: u32 = u32::MAX;

/// Why a chain goes on from one thread to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Wait<W> {
    /// The thread waited in this place, and the next one ended the wait.
    At(W),
    /// The thread was not born yet, and the next one created it.
    Birth,
}

/// A thread of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Step<W> {
    /// Who it is.
    pub(crate) party: u32,
    /// How the one before it waited for it; `None` for the first one.
    pub(crate) wait: Option<Wait<W>>,
}

/// Chains by number, as a tree: each one is a step behind another chain.
#[derive(Clone, Debug)]
pub(crate) struct Chains<W> {
    /// Number of the chain without its last step, and this step.
    chains: Vec<(Option<u32>, Step<W>)>,
    known: FxHashMap<(Option<u32>, Step<W>), u32>,
    /// The links of the chain that was asked for last, each with the number of the chain that it ends.
    last: Vec<(Link, u32)>,
    most: usize,
}

impl<W: Copy + Eq + Hash> Chains<W> {
    /// Without chains; it will have room for so many, counting the beginnings of chains.
    pub(crate) fn new(most: usize) -> Self {
        Self { chains: Vec::new(), known: FxHashMap::default(), last: Vec::new(), most }
    }

    /// The number of a chain, or [`OTHER_CHAINS`] where there is no room for it.
    pub(crate) fn of(
        &mut self,
        chain: &[Link],
        mut party: impl FnMut(ThreadId) -> u32,
        mut place: impl FnMut(Option<StackId>) -> W,
    ) -> u32 {
        // The leaves of a path follow each other, and so do their chains: most links are those of the last one.
        let is_same = |(known, _): &(Link, u32), link: &Link| {
            (known.thread, known.wait_stack, known.unborn) == (link.thread, link.wait_stack, link.unborn)
        };
        let same = self.last.iter().zip(chain).take_while(|(known, link)| is_same(known, link)).count();
        self.last.truncate(same);
        let mut number = self.last.last().map(|(_, number)| *number);
        for (depth, link) in chain.iter().enumerate().skip(same) {
            let wait = (depth > 0).then(|| Wait::At(place(link.wait_stack)));
            let mut steps = [Some(Step { party: party(link.thread), wait }), None];
            if let Some(unborn) = link.unborn {
                let creator = Step { party: party(link.thread), wait: Some(Wait::Birth) };
                steps = [Some(Step { party: party(unborn), wait }), Some(creator)];
            }
            for step in steps.into_iter().flatten() {
                match self.next(number, step) {
                    Some(next) => number = Some(next),
                    None => return OTHER_CHAINS,
                }
            }
            self.last.extend(number.map(|number| (*link, number)));
        }
        number.unwrap_or(OTHER_CHAINS)
    }

    fn next(&mut self, before: Option<u32>, step: Step<W>) -> Option<u32> {
        if let Some(known) = self.known.get(&(before, step)) {
            return Some(*known);
        }
        let number = u32::try_from(self.chains.len()).ok().filter(|_| self.chains.len() < self.most)?;
        self.chains.push((before, step));
        self.known.insert((before, step), number);
        Some(number)
    }

    /// The steps of a chain, the anchor first; none of [`OTHER_CHAINS`].
    pub(crate) fn steps(&self, number: u32) -> Vec<Step<W>> {
        let chain = |number: u32| self.chains.get(number as usize);
        let backwards = std::iter::successors(chain(number), |(before, _)| chain((*before)?));
        let mut steps: Vec<Step<W>> = backwards.map(|(_, step)| *step).collect();
        steps.reverse();
        steps
    }

    /// Whether a chain is the anchor alone.
    pub(crate) fn is_anchor(&self, number: u32) -> bool {
        self.chains.get(number as usize).is_some_and(|(before, _)| before.is_none())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracesift_analysis::path::Link;
    use tracesift_trace::{StackId, ThreadId};

    use super::{Chains, OTHER_CHAINS, Step, Wait};

    fn link(thread: i32, stack: i32, unborn: Option<i32>) -> Link {
        let (wait_stack, unborn) = (Some(StackId(stack)), unborn.map(ThreadId));
        Link { thread: ThreadId(thread), start: 0, wait_stack, unborn }
    }

    /// Two threads are of one role, and two stacks of one place.
    fn number(chains: &mut Chains<i32>, chain: &[Link]) -> u32 {
        chains.of(chain, |thread| thread.0 as u32 / 2, |stack| stack.map_or(0, |stack| stack.0 / 2))
    }

    /// The same, without numbers.
    fn steps(chain: &[Link]) -> Vec<Step<i32>> {
        let mut steps = Vec::new();
        for (depth, link) in chain.iter().enumerate() {
            let mut wait = (depth > 0).then(|| Wait::At(link.wait_stack.map_or(0, |stack| stack.0 / 2)));
            if let Some(unborn) = link.unborn {
                steps.push(Step { party: unborn.0 as u32 / 2, wait });
                wait = Some(Wait::Birth);
            }
            steps.push(Step { party: link.thread.0 as u32 / 2, wait });
        }
        steps
    }

    proptest! {
        #[test]
        fn equal_chains_have_equal_numbers_and_keep_their_steps(
            chains in prop::collection::vec(
                prop::collection::vec((0..6_i32, 0..4_i32, prop::option::weighted(0.1, 0..4_i32)), 1..5),
                1..40,
            ),
        ) {
            let links: Vec<Vec<Link>> =
                chains.iter().map(|chain| chain.iter().map(|(t, s, u)| link(*t, *s, *u)).collect()).collect();
            let mut all = Chains::new(1_000);
            let numbers: Vec<u32> = links.iter().map(|chain| number(&mut all, chain)).collect();
            for (chain, found) in links.iter().zip(&numbers) {
                prop_assert_eq!(all.steps(*found), steps(chain));
                prop_assert_eq!(all.is_anchor(*found), steps(chain).len() == 1);
            }
            for (a, b) in links.iter().zip(&numbers).flat_map(|a| links.iter().zip(&numbers).map(move |b| (a, b))) {
                prop_assert_eq!(a.1 == b.1, steps(a.0) == steps(b.0));
            }
            // With less room some are others, and the rest stays what it is.
            let mut some = Chains::new(5);
            for chain in links.iter().chain(&links) {
                let found = number(&mut some, chain);
                prop_assert!(found == OTHER_CHAINS || some.steps(found) == steps(chain));
            }
            prop_assert!(some.chains.len() <= 5);
        }
    }
}
