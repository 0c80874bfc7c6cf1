//! Threads that run, are runnable, or wait.

use std::collections::VecDeque;

use crate::rng::SplitMix64;

/// One lasting thread in so many is busy, and four of five that are woken are busy ones.
const BUSY_SHARE: u32 = 16;

/// A CPU.
#[derive(Debug, Default)]
pub(super) struct Cpu {
    /// Thread that runs; `None`: idle.
    pub(super) running: Option<u32>,
    pub(super) runnable: VecDeque<u32>,
}

/// The threads that wait.
#[derive(Debug)]
pub(super) struct Waiting {
    busy: Vec<u32>,
    quiet: Vec<u32>,
    lasting: u32,
}

impl Waiting {
    /// All threads that last.
    pub(super) fn all(lasting: u32) -> Self {
        let mut waiting = Self { busy: Vec::new(), quiet: Vec::new(), lasting };
        (0..lasting).for_each(|thread| waiting.put(thread));
        waiting
    }

    /// Who was born has something to do, or would never end.
    pub(super) fn put(&mut self, thread: u32) {
        let busy = thread >= self.lasting || thread.is_multiple_of(BUSY_SHARE);
        if busy { self.busy.push(thread) } else { self.quiet.push(thread) }
    }

    pub(super) fn take(&mut self, rng: &mut SplitMix64) -> Option<u32> {
        let (first, second) =
            if rng.chance(80) { (&mut self.busy, &mut self.quiet) } else { (&mut self.quiet, &mut self.busy) };
        let threads = if first.is_empty() { second } else { first };
        let count = std::num::NonZeroUsize::new(threads.len())?;
        Some(threads.swap_remove(rng.index(count.get())))
    }
}
