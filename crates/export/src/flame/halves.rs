//! Work on many frames that have nothing to do with each other, on two threads.

use std::ops::Range;
use std::thread;

/// So few are done before a second thread has begun.
const FEW: usize = 1_000;

/// What `work` makes of the numbers below `count`, in their order: of all of them, or of each half.
pub(super) fn in_halves<T: Send>(count: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    if count < FEW {
        return vec![work(0..count)];
    }
    let middle = count / 2;
    thread::scope(|scope| {
        let second = scope.spawn(|| work(middle..count));
        let first = work(0..middle);
        vec![first, second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))]
    })
}
