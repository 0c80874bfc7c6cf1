//! Decodes the rows of a table on a thread of its own, while worker threads use them.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use tracesift_archive::Error;

/// Rows per chunk. A worker orders the rows of a chunk by process, which pays from some thousand
/// rows on.
const CHUNK: usize = 16 * 1024;
/// Full chunks that wait for a worker, at most.
const WAITING: usize = 1;

/// A worker: it takes rows, a chunk at a time.
pub(crate) type Taker<'a, T> = &'a mut (dyn FnMut(&[T]) + Send);

/// Runs `scan` on a thread of its own. `whose` tells the number of the worker that gets a row. The
/// first worker runs on the calling thread, the others on threads of their own. Each worker gets
/// its rows in the order of `scan`. Chunks are used again, so a row costs no allocation.
///
/// # Errors
/// The errors of `scan`. The workers have the rows before the error.
pub(crate) fn scan_ahead<'a, T: Clone + Send + 'a>(
    scan: impl FnOnce(&mut dyn FnMut(&T)) -> Result<(), Error> + Send,
    whose: impl Fn(&T) -> usize + Send,
    takers: impl IntoIterator<Item = Taker<'a, T>>,
) -> Result<(), Error> {
    thread::scope(|scope| {
        let (mut lanes, mut here) = (Vec::new(), None);
        for taker in takers {
            let (filled, full) = sync_channel(WAITING);
            // One more is being filled, and one looked at.
            let (empty, emptied) = sync_channel(WAITING + 2);
            lanes.push(Lane { chunk: Vec::with_capacity(CHUNK), filled, emptied });
            if here.is_none() {
                here = Some((taker, full, empty));
            } else {
                scope.spawn(move || take_all(taker, &full, &empty));
            }
        }
        let scanning = scope.spawn(move || {
            let result = scan(&mut |row| {
                if let Some(lane) = lanes.get_mut(whose(row)) {
                    lane.push(row.clone());
                }
            });
            lanes.iter_mut().for_each(Lane::hand_over);
            result
        });
        if let Some((taker, full, empty)) = here {
            take_all(taker, &full, &empty);
        }
        scanning.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The queue to a worker.
struct Lane<T> {
    chunk: Vec<T>,
    filled: SyncSender<Vec<T>>,
    emptied: Receiver<Vec<T>>,
}

impl<T> Lane<T> {
    #[inline]
    fn push(&mut self, row: T) {
        self.chunk.push(row);
        if self.chunk.len() == CHUNK {
            self.hand_over();
        }
    }

    /// Sends the current chunk.
    fn hand_over(&mut self) {
        let next = self.emptied.try_recv().unwrap_or_else(|_| Vec::with_capacity(CHUNK));
        drop(self.filled.send(std::mem::replace(&mut self.chunk, next)));
    }
}

fn take_all<T>(taker: Taker<'_, T>, full: &Receiver<Vec<T>>, empty: &SyncSender<Vec<T>>) {
    for mut chunk in full {
        taker(&chunk);
        chunk.clear();
        drop(empty.try_send(chunk));
    }
}

#[cfg(test)]
mod tests {
    use super::{Taker, scan_ahead};

    #[test]
    fn each_row_goes_to_one_taker_in_its_order() {
        let scan = |give: &mut dyn FnMut(&usize)| {
            (0..100_000).for_each(|row| give(&row));
            Ok(())
        };
        let mut seen = [const { Vec::new() }; 3];
        let mut takers = seen.each_mut().map(|seen| |rows: &[usize]| seen.extend_from_slice(rows));
        scan_ahead(scan, |row| row % 3, takers.iter_mut().map(|taker| taker as Taker<'_, usize>)).expect("no error");
        for (first, seen) in seen.into_iter().enumerate() {
            assert!((first..100_000).step_by(3).eq(seen));
        }
    }
}
