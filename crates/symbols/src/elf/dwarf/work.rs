//! Limits of the work for a file.

use std::sync::atomic::{AtomicU64, Ordering};

/// Steps per byte of debug information. A sound file takes less than one: almost each attribute, range and row has bytes of its own. Forged
/// ones let many entries refer to the same long list.
const STEPS_PER_BYTE: u64 = 8;
/// Steps that a small file may always take.
const SMALL: u64 = 1 << 20;
/// What is kept of a file counts as so many steps.
const KEPT: u64 = 8;

/// A bound on all steps together: a file that needs more has none of its debug information used.
#[derive(Debug)]
pub(super) struct Work {
    done: AtomicU64,
    most: u64,
}

/// There was too much to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooMuch;

impl Work {
    pub(super) fn new(bytes: u64) -> Self {
        Self { done: AtomicU64::new(0), most: bytes.saturating_mul(STEPS_PER_BYTE).max(SMALL) }
    }

    pub(super) fn is_exceeded(&self) -> bool {
        self.done.load(Ordering::Relaxed) > self.most
    }

    /// Takes steps.
    pub(super) fn spend(&self, steps: usize) -> Result<(), TooMuch> {
        let steps = steps as u64;
        if self.done.fetch_add(steps, Ordering::Relaxed).saturating_add(steps) > self.most {
            Err(TooMuch)
        } else {
            Ok(())
        }
    }

    /// A share for one unit, which is counted when it is dropped.
    pub(super) fn share(&self) -> Share<'_> {
        Share { work: self, done: 0, most: self.most.saturating_sub(self.done.load(Ordering::Relaxed)) }
    }
}

/// Steps of one thread, so that threads need not wait for each other's count.
#[derive(Debug)]
pub(super) struct Share<'a> {
    work: &'a Work,
    done: u64,
    most: u64,
}

impl Share<'_> {
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TooMuch> {
        self.done += steps as u64;
        if self.done > self.most { Err(TooMuch) } else { Ok(()) }
    }

    /// Something is kept.
    pub(super) fn keep(&mut self) -> Result<(), TooMuch> {
        self.spend(KEPT as usize)
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.work.done.fetch_add(self.done, Ordering::Relaxed);
    }
}
